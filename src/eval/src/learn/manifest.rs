//! The manifest of weights: one [`Source`] for each set, so that anyone can learn them again.

use taojin_extract::learn::Source;
use xxhash_rust::xxh3::Xxh3;

use super::super::corpus::Set;
use super::labelled::Labelled;

/// Each set that `pages` are of.
pub(super) fn list_sources(sets: &[Set], pages: &[&Labelled]) -> Vec<Source> {
    let of_set = |set: &Set| {
        let mut hash = Xxh3::new();
        let mut count = 0;
        for page in pages.iter().filter(|p| p.set == set.name) {
            hash.update(&page.hash.to_le_bytes());
            count += 1;
        }
        let about = set.about();
        (count > 0).then(|| Source {
            set: set.name.clone(),
            source: about.source,
            licence: about.licence,
            pages: count,
            hash: format!("{:016x}", hash.digest()),
        })
    };
    sets.iter().filter_map(of_set).collect()
}
