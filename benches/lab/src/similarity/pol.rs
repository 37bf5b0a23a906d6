//! Leaf paths (POL, Zhu et al. 2013) as printed: orders count all siblings, and equal pairs of one path collapse. The mended
//! form is the one that production uses, `taojin_extract::similarity::pol`.

use taojin_extract::similarity::pol::{LeafPaths, MAX_DEPTH};
use taojin_extract::similarity::{Skeleton, mix};

use super::Mode;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton, mode: Mode) -> f64 {
    let paths = match mode {
        Mode::Literal => as_printed,
        Mode::Fixed => LeafPaths::new,
    };
    paths(a).similarity(&paths(b))
}

fn as_printed(tree: &Skeleton) -> LeafPaths {
    let mut orders = vec![1u64; tree.len()];
    for at in 0..tree.len() {
        for (n, child) in (1..).zip(tree.children(at)) {
            orders[child] = n;
        }
    }
    let leaves = (0..tree.len()).filter(|at| tree.is_leaf(*at));
    LeafPaths::from_paths(leaves.map(|leaf| {
        let nodes = tree.path(leaf, MAX_DEPTH);
        let pair = |at: &usize| mix(tree.labels()[*at], orders[*at]);
        let mut pairs: Vec<u64> = nodes.iter().map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        (pairs, nodes.len())
    }))
}
