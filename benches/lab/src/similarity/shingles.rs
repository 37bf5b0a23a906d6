//! Shingles of paths (Buttler 2004). In: two skeletons. Out: `|S₁ ∩ S₂| / |S₁ ∪ S₂|` over windows of paths in document
//! order, as sets or as bags, exactly or estimated from the k least hashes of each (Broder 1997; standard error about
//! `sqrt(r(1-r)/k)`). Time `O(n log n)`, comparing sketches `O(k)`.

use taojin_extract::similarity::{Skeleton, mix};

use super::path_bag::Bag;
use super::tree::path_hashes;

/// Similarity of two trees that are not empty; `sketch` 0 compares all shingles.
pub(super) fn similarity(
    a: &Skeleton,
    b: &Skeleton,
    window: usize,
    bag: bool,
    sketch: usize,
) -> f64 {
    let (x, y) = (Shingles::of(a, window), Shingles::of(b, window));
    match (bag, sketch) {
        (true, _) => x.bag_resemblance(&y),
        (false, 0) => x.resemblance(&y),
        (false, k) => x.sketch(k).resemblance(&y.sketch(k)),
    }
}

/// The shingles of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shingles {
    bag: Bag,
}

impl Shingles {
    /// Windows of `window` paths (at least one); a tree with fewer has one shingle of all.
    pub(super) fn of(tree: &Skeleton, window: usize) -> Self {
        let paths = path_hashes(tree);
        let window = window.clamp(1, paths.len().max(1));
        let hashes = paths
            .windows(window)
            .map(|paths| paths.iter().fold(window as u64, |h, p| mix(h, *p)))
            .collect();
        Self {
            bag: Bag::new(hashes),
        }
    }

    /// Shared over all, each shingle counted once; 1 for two empty sets.
    pub(super) fn resemblance(&self, other: &Shingles) -> f64 {
        let shared = self.set().shared(&other.set()) as f64;
        ratio(shared, self.distinct() + other.distinct() - shared)
    }

    /// Shared over all, with counts.
    pub(super) fn bag_resemblance(&self, other: &Shingles) -> f64 {
        let shared = self.bag.shared(&other.bag) as f64;
        ratio(
            shared,
            (self.bag.total() + other.bag.total()) as f64 - shared,
        )
    }

    /// The `k` least hashes.
    pub(super) fn sketch(&self, k: usize) -> Sketch {
        // Hashes are kept sorted; mixing once more makes the least ones a fair sample whatever made them.
        let mut hashes: Vec<u64> = self.bag.counts().map(|(h, _)| mix(h, 0x5EED)).collect();
        hashes.sort_unstable();
        hashes.truncate(k);
        Sketch { hashes, k }
    }

    fn set(&self) -> Bag {
        Bag::counted(self.bag.counts().map(|(h, _)| (h, 1)).collect())
    }

    fn distinct(&self) -> f64 {
        self.bag.counts().count() as f64
    }
}

/// The k least hashes of a set of shingles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sketch {
    hashes: Vec<u64>,
    k: usize,
}

impl Sketch {
    /// Estimate of the resemblance of the whole sets: the share of the k least hashes of both that stands in each.
    /// Exact when neither set has more than k.
    pub(super) fn resemblance(&self, other: &Sketch) -> f64 {
        let k = self.k.min(other.k);
        let (mut i, mut j, mut seen, mut shared) = (0, 0, 0usize, 0usize);
        while seen < k {
            match (self.hashes.get(i), other.hashes.get(j)) {
                (Some(x), Some(y)) if x == y => {
                    (i, j, shared) = (i + 1, j + 1, shared + 1);
                }
                (Some(x), Some(y)) if x < y => i += 1,
                (Some(_), None) => i += 1,
                (_, Some(_)) => j += 1,
                (None, None) => break,
            }
            seen += 1;
        }
        ratio(shared as f64, seen as f64)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 1.0 } else { part / whole }
}
