//! Longest common subsequence with weights that fall with depth (Qiu 2013). In: two skeletons. Out:
//! `t / max(Σ f(a), Σ f(b))` with `f(d) = 0.8^d`, `t` the weight of the heaviest common subsequence. Label and depth must
//! agree, so that a match has one weight. Time `O(n·m)` within a limit of nodes.

use taojin_extract::similarity::Skeleton;

use super::tree::top;

/// Weight of a node of depth d is this to the power d; the paper asks for a falling function and names none.
const BASE: f64 = 0.8;
/// Longest sequence compared; of a longer tree only the upper levels count, which hold most of the weight.
const MAX_NODES: usize = 2_048;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    weighted(a, b, |depth| BASE.powi(i32::from(depth)))
}

/// Similarity with any weights of depths.
pub(super) fn weighted(a: &Skeleton, b: &Skeleton, weight: impl Fn(u16) -> f64) -> f64 {
    let (a, b) = (top(a, MAX_NODES), top(b, MAX_NODES));
    let weights =
        |tree: &Skeleton| -> Vec<f64> { tree.depths().iter().map(|d| weight(*d)).collect() };
    let (of_a, of_b) = (weights(&a), weights(&b));
    let mut row = vec![0.0f64; b.len() + 1];
    for (i, weight) in of_a.iter().enumerate() {
        let mut diagonal = 0.0;
        for j in 0..b.len() {
            let above = row[j + 1];
            let same = a.labels()[i] == b.labels()[j] && a.depths()[i] == b.depths()[j];
            let matched = if same { diagonal + weight } else { 0.0 };
            row[j + 1] = above.max(row[j]).max(matched);
            diagonal = above;
        }
    }
    let most = of_a.iter().sum::<f64>().max(of_b.iter().sum::<f64>());
    row[b.len()] / most
}
