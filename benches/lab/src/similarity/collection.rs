//! A collection of pages of many sites. In: the [`Vocabulary`] of each page: what its markup says to machines (names of
//! `meta`, `rel`, `itemprop`, types) and what it calls its elements (parts of class and id words). Out: distances of all
//! pairs: of either vocabulary `1 - cosine` of the vectors `ln((n + 1) / d)³` of its words, d being how many of the n pages
//! have the word; the mean of both.
//!
//! What all pages share says nothing of where a page comes from, what few share says much; and a site that is drawn anew
//! keeps more of these words than of its tree. One threshold does for sites that have little and much in common.
//! Within one site it is the wrong measure: there the common part is the template.

use std::collections::HashMap;

use taojin_extract::page::{Attr, Page};
use taojin_extract::similarity::{mix, stable_word};
use taojin_extract::template::cluster::Distances;
use xxhash_rust::xxh3::xxh3_64;

/// Distance up to which clusters of a mixed collection are joined; by the bake-off.
pub(crate) const COLLECTION_DISTANCE: f32 = 0.85;
/// Rare words count more than their information: the cube of it parts sites best.
const RARITY: i32 = 3;
/// Shortest part of a word.
const PART_BYTES: usize = 2;
/// Longest value that is a name; longer ones are data.
const NAME_BYTES: usize = 80;

/// The words of a page, each once, as rising hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    /// Names in the markup that machines read.
    declared: Vec<u64>,
    /// Parts of class and id words.
    called: Vec<u64>,
}

impl Vocabulary {
    /// The words of a page.
    pub(crate) fn of(page: &Page) -> Self {
        let mut words = Self::default();
        let body = page.body().unwrap_or_default();
        for (at, node) in (0..).zip(page.nodes()) {
            for (attr, value) in page.attributes_of(at) {
                match attr {
                    Attr::Id | Attr::Class if at >= body => {
                        for word in value.split_ascii_whitespace().filter_map(stable_word) {
                            let parts = word.split(['-', '_']).filter(|p| p.len() >= PART_BYTES);
                            words.called.extend(parts.map(|part| hash_letters(0, part)));
                        }
                    }
                    Attr::Name
                    | Attr::Property
                    | Attr::Rel
                    | Attr::Itemprop
                    | Attr::HttpEquiv
                    | Attr::Type
                        if value.len() <= NAME_BYTES =>
                    {
                        let place = mix(u64::from(node.tag.0), attr as u64);
                        words.declared.push(hash_letters(place, value));
                    }
                    _ => {}
                }
            }
        }
        for list in [&mut words.declared, &mut words.called] {
            list.sort_unstable();
            list.dedup();
        }
        words
    }
}

/// Hash of a word without its digits, which number pages.
fn hash_letters(place: u64, word: &str) -> u64 {
    word.split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .fold(place, |hash, part| mix(hash, xxh3_64(part.as_bytes())))
}

/// Distances of all pairs of pages.
pub(crate) fn collection_distances(pages: &[Vocabulary]) -> Distances {
    let declared = cosines(pages, |page| &page.declared);
    let called = cosines(pages, |page| &page.called);
    let both = declared.into_iter().zip(called);
    let half = both.map(|pair| {
        let similarity = match pair {
            (Some(a), Some(b)) => (a + b) / 2.0,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => 1.0,
        };
        (1.0 - similarity).clamp(0.0, 1.0) as f32
    });
    Distances::from_half(pages.len(), half.collect())
}

/// Cosine of each pair, `None` for two pages without any word that tells pages apart.
fn cosines(pages: &[Vocabulary], words: impl Fn(&Vocabulary) -> &Vec<u64>) -> Vec<Option<f64>> {
    let count = pages.len() as f64;
    let mut postings: HashMap<u64, Vec<u32>> = HashMap::new();
    for (number, page) in (0u32..).zip(pages) {
        for word in words(page) {
            postings.entry(*word).or_default().push(number);
        }
    }
    let mut norms = vec![0.0f64; pages.len()];
    let mut half = vec![0.0f64; pages.len() * pages.len().saturating_sub(1) / 2];
    // In order of hashes: sums of floats depend on it.
    let mut lists: Vec<(u64, Vec<u32>)> = postings.into_iter().collect();
    lists.sort_unstable_by_key(|(word, _)| *word);
    for (_, list) in lists.iter().filter(|(_, list)| list.len() < pages.len()) {
        let weight = ((count + 1.0) / list.len() as f64).ln().powi(2 * RARITY);
        for (at, i) in list.iter().enumerate() {
            let i = *i as usize;
            norms[i] += weight;
            let row = i * i.saturating_sub(1) / 2;
            for j in list.iter().take(at) {
                half[row + *j as usize] += weight;
            }
        }
    }
    let mut cosines = Vec::with_capacity(half.len());
    for i in 0..pages.len() {
        let row = i * i.saturating_sub(1) / 2;
        cosines.extend((0..i).map(|j| {
            let length = (norms[i] * norms[j]).sqrt();
            if length > 0.0 {
                Some(half[row + j] / length)
            } else {
                (norms[i] + norms[j] > 0.0).then_some(0.0)
            }
        }));
    }
    cosines
}
