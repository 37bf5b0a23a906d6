//! Longest common subsequence of elements (Qiu 2013). In: two skeletons. Out: `|lcs| / max(|a|, |b|)`; two elements are
//! the same when label and depth are. Time `O(n·m / 64)` by bit-parallel rows (Hyyrö 2004), bounded by a limit of nodes.

use std::collections::HashMap;

use taojin_extract::similarity::{Skeleton, lcs_step, mix};

use super::tree::top;

/// Longest sequence compared; of a longer tree only the upper levels count.
const MAX_NODES: usize = 8_192;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (a, b) = (top(a, MAX_NODES), top(b, MAX_NODES));
    let (x, y) = (tokens(&a), tokens(&b));
    lcs_len(&x, &y) as f64 / x.len().max(y.len()) as f64
}

fn tokens(tree: &Skeleton) -> Vec<u64> {
    tree.labels()
        .iter()
        .zip(tree.depths())
        .map(|(label, depth)| mix(*label, u64::from(*depth)))
        .collect()
}

/// Length of the longest common subsequence. Common ends are taken off first, which is exact.
pub(super) fn lcs_len(a: &[u64], b: &[u64]) -> usize {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[head..], &b[head..]);
    let pairs = a.iter().rev().zip(b.iter().rev());
    let tail = pairs.take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    head + tail + middle(a, b)
}

fn middle(a: &[u64], b: &[u64]) -> usize {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let words = a.len().div_ceil(64);
    let mut places: HashMap<u64, Vec<u64>> = HashMap::new();
    for (i, token) in a.iter().enumerate() {
        places.entry(*token).or_insert_with(|| vec![0; words])[i / 64] |= 1 << (i % 64);
    }
    let mut row = vec![u64::MAX; words];
    for token in b {
        let Some(matches) = places.get(token) else {
            continue;
        };
        lcs_step(&mut row, matches);
    }
    let zeros: usize = row.iter().map(|word| word.count_zeros() as usize).sum();
    // Bits past the end of `a` never become zero: nothing matches there and no carry is subtracted.
    zeros.min(a.len())
}
