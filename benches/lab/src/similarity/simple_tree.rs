//! The body and its direct children alone. In: two skeletons. Out: `2(W + 1) / (|a| + |b|)`, W being the longest common
//! subsequence of the children's labels, sizes with the root (after Reis et al., WWW 2004, who cluster news pages by
//! restricted tree matching). As printed, a page that wraps everything in one element has one child; mended, such
//! wrappers are looked through.

use taojin_extract::similarity::Skeleton;

use super::Mode;
use super::lcs::lcs_len;

/// Single wrappers looked through.
const MAX_WRAPPERS: usize = 12;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton, mode: Mode) -> f64 {
    if a.labels()[0] != b.labels()[0] {
        return 0.0;
    }
    let (x, y) = (blocks(a, mode), blocks(b, mode));
    2.0 * (lcs_len(&x, &y) + 1) as f64 / (x.len() + y.len() + 2) as f64
}

fn blocks(tree: &Skeleton, mode: Mode) -> Vec<u64> {
    let mut at = 0;
    if mode == Mode::Fixed {
        for _ in 0..MAX_WRAPPERS {
            let mut children = tree.children(at);
            match (children.next(), children.next()) {
                (Some(only), None) if !tree.is_leaf(only) => at = only,
                _ => break,
            }
        }
    }
    tree.children(at)
        .map(|child| tree.labels()[child])
        .collect()
}
