//! Sets of labels (Buttler 2004). In: two skeletons. Out: `|a ∩ b| / |a ∪ b|`.

use std::collections::HashSet;

use taojin_extract::similarity::Skeleton;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let x: HashSet<u64> = a.labels().iter().copied().collect();
    let y: HashSet<u64> = b.labels().iter().copied().collect();
    let shared = x.intersection(&y).count();
    shared as f64 / (x.len() + y.len() - shared) as f64
}
