//! A collection of pages of many sites. In: the names and paths of each page. Out: distances of all pairs, `1 - cosine` of
//! the vectors `(1 + ln c)·ln((n + 1) / d)`: c how often the page has a name or path, d how many of the n pages have it.
//!
//! What all pages share says nothing of where a page comes from, what few share says much; so pages of one site are found
//! together though its layout changed over the years, and one threshold does for sites that have little and much in common.
//! Within one site it is the wrong measure: there the common part is the template.

use std::collections::HashMap;

use super::label::mix;
use super::path_bag::Bag;
use super::skeleton::{Labels, Skeleton};
use crate::page::Page;

/// Distance up to which clusters of a mixed collection are joined; by the bake-off.
pub const COLLECTION_DISTANCE: f32 = 0.79;
/// Keeps paths apart from names.
const PATHS: u64 = 0x9A78;

/// Names of the elements of a page and its tag paths.
pub fn names_and_paths(page: &Page) -> Bag {
    let names = Skeleton::of_page(page, Labels::Names);
    let tags = Skeleton::of_page(page, Labels::Tags);
    let paths = tags.path_hashes().into_iter().map(|path| mix(path, PATHS));
    Bag::of(names.labels().iter().copied().chain(paths).collect())
}

/// Half a matrix, row by row: the distances of page i from those before it.
pub fn collection_distances(pages: &[Bag]) -> Vec<f32> {
    let count = pages.len() as f64;
    let mut postings: HashMap<u64, Vec<(u32, f64)>> = HashMap::new();
    for (page, bag) in (0u32..).zip(pages) {
        for (hash, n) in bag.counts() {
            let often = 1.0 + f64::from(n).ln();
            postings.entry(hash).or_default().push((page, often));
        }
    }
    let mut norms = vec![0.0f64; pages.len()];
    let mut half = vec![0.0f64; pages.len() * pages.len().saturating_sub(1) / 2];
    // In order of hashes: sums of floats depend on it.
    let mut hashes: Vec<u64> = postings.keys().copied().collect();
    hashes.sort_unstable();
    for list in hashes.iter().filter_map(|hash| postings.get(hash)) {
        let rare = ((count + 1.0) / list.len() as f64).ln();
        for (at, (i, often)) in list.iter().enumerate() {
            let i = *i as usize;
            norms[i] += (often * rare).powi(2);
            let row = i * i.saturating_sub(1) / 2;
            for (j, other) in list.iter().take(at) {
                half[row + *j as usize] += often * other * rare * rare;
            }
        }
    }
    let mut distances = Vec::with_capacity(half.len());
    for i in 0..pages.len() {
        let row = i * i.saturating_sub(1) / 2;
        distances.extend((0..i).map(|j| {
            let length = (norms[i] * norms[j]).sqrt();
            let cosine = if length > 0.0 {
                half[row + j] / length
            } else {
                1.0
            };
            (1.0 - cosine).clamp(0.0, 1.0) as f32
        }));
    }
    distances
}
