//! The two trees laid over each other. In: two skeletons. Out: shared nodes over all nodes of the combined tree; nodes are
//! the same when labels and orders among all siblings agree from the root down. Time `O(n + m)`.

use std::collections::HashSet;

use taojin_extract::similarity::{Skeleton, mix};

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (x, y) = (places(a), places(b));
    let shared = x.intersection(&y).count();
    shared as f64 / (x.len() + y.len() - shared) as f64
}

fn places(tree: &Skeleton) -> HashSet<u64> {
    let mut hashes = vec![0u64; tree.len()];
    for at in 0..tree.len() {
        if at == 0 {
            hashes[0] = mix(tree.labels()[0], 1);
        }
        for (order, child) in (1u64..).zip(tree.children(at)) {
            hashes[child] = mix(hashes[at], mix(tree.labels()[child], order));
        }
    }
    hashes.into_iter().collect()
}
