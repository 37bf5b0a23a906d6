//! Multisets of paths from the root to every node (Buttler 2004, path similarity). In: two skeletons. Out:
//! `2 Σ min(c₁, c₂) / Σ (c₁ + c₂)` for the binary form; the partial form pairs paths that are left over by their common
//! beginnings, the weighted one counts a step less the deeper it lies. Time `O(n log n)`.
//!
//! Pairing each path with its best partner is an assignment problem; here paths are paired deepest common beginning
//! first, which needs no matrix and gives the best pairing whenever two paths share more than any third.

use std::collections::HashMap;

use taojin_extract::similarity::Skeleton;

use super::tree::path_hashes;

/// Levels below which the partial and the weighted form do not look: a hostile page is as deep as it is long.
const MAX_DEPTH: u16 = 64;

/// How paths are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PathMatch {
    /// Equal ones only.
    Binary,
    /// By common beginning, as a share of the longer path.
    Partial,
    /// The same with steps weighted 2^-depth.
    Weighted,
}

/// A multiset of hashes, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bag {
    counts: Vec<(u64, u32)>,
    total: u64,
}

impl Bag {
    /// The bag of these hashes.
    pub(super) fn new(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let counts = hashes
            .chunk_by(|a, b| a == b)
            .filter_map(|run| Some((*run.first()?, run.len() as u32)))
            .collect();
        Self {
            counts,
            total: hashes.len() as u64,
        }
    }

    /// A bag of hashes with counts, each hash once.
    pub(super) fn counted(mut counts: Vec<(u64, u32)>) -> Self {
        counts.sort_unstable();
        let total = counts.iter().map(|(_, n)| u64::from(*n)).sum();
        Self { counts, total }
    }

    /// Hashes with counts in rising order of hashes.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.counts.iter().copied()
    }

    /// How often a hash occurs.
    pub(super) fn count(&self, hash: u64) -> u32 {
        self.counts
            .binary_search_by_key(&hash, |(h, _)| *h)
            .map_or(0, |at| self.counts[at].1)
    }

    /// Sum of all counts.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Sum of the lesser counts of both bags.
    pub(super) fn shared(&self, other: &Bag) -> u64 {
        let (mut i, mut j, mut sum) = (0, 0, 0);
        while let (Some(x), Some(y)) = (self.counts.get(i), other.counts.get(j)) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    sum += u64::from(x.1.min(y.1));
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        sum
    }
}

/// `2 Σ min / Σ (c₁ + c₂)`; 1 for two empty bags.
pub(super) fn bag_similarity(a: &Bag, b: &Bag) -> f64 {
    let all = a.total + b.total;
    if all == 0 {
        return 1.0;
    }
    2.0 * a.shared(b) as f64 / all as f64
}

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton, matching: PathMatch) -> f64 {
    let (x, y) = (path_hashes(a), path_hashes(b));
    if matching == PathMatch::Binary {
        return bag_similarity(&Bag::new(x), &Bag::new(y));
    }
    let mut trie: HashMap<u64, TrieNode> = HashMap::new();
    let mut paths = 0usize;
    for (tree, hashes, side) in [(a, &x, 0), (b, &y, 1)] {
        let upper = (0..tree.len()).filter(|at| tree.depths()[*at] <= MAX_DEPTH);
        for (at, hash) in upper.map(|at| (at, &hashes[at])) {
            paths += 1;
            let parent = hashes[tree.parents()[at] as usize];
            let depth = tree.depths()[at];
            let node = trie.entry(*hash).or_insert_with(|| TrieNode {
                parent,
                depth,
                open: [Vec::new(), Vec::new()],
            });
            push(&mut node.open[side], depth, 1);
        }
    }
    2.0 * paired(trie, matching) / paths as f64
}

/// `2·|a ∩ b| / (|a| + |b|)` of the sets of paths: a list of three records is like one of thirty.
pub(super) fn set_similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let set = |tree: &Skeleton| {
        let bag = Bag::new(path_hashes(tree));
        Bag::counted(bag.counts().map(|(hash, _)| (hash, 1)).collect())
    };
    bag_similarity(&set(a), &set(b))
}

/// A path of either tree, and the paths that begin with it and have no partner yet: depths with counts, per tree.
struct TrieNode {
    parent: u64,
    depth: u16,
    open: [Vec<(u16, u32)>; 2],
}

fn push(open: &mut Vec<(u16, u32)>, depth: u16, count: u32) {
    match open.iter_mut().find(|(d, _)| *d == depth) {
        Some((_, n)) => *n += count,
        None => open.push((depth, count)),
    }
}

/// Sum of the worth of all pairs, the deepest common beginnings first.
fn paired(mut trie: HashMap<u64, TrieNode>, matching: PathMatch) -> f64 {
    let mut order: Vec<(u16, u64)> = trie
        .iter()
        .map(|(hash, node)| (node.depth, *hash))
        .collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = 0.0;
    for (common, hash) in order {
        let Some(mut node) = trie.remove(&hash) else {
            continue;
        };
        for open in &mut node.open {
            open.sort_unstable();
        }
        let [left, right] = &mut node.open;
        while let (Some((p, m)), Some((q, n))) = (left.first_mut(), right.first_mut()) {
            let pairs = (*m).min(*n);
            sum += f64::from(pairs) * worth(common, (*p).max(*q), matching);
            (*m, *n) = (*m - pairs, *n - pairs);
            left.retain(|(_, count)| *count > 0);
            right.retain(|(_, count)| *count > 0);
        }
        if let Some(parent) = trie.get_mut(&node.parent) {
            for (side, open) in node.open.into_iter().enumerate() {
                for (depth, count) in open {
                    push(&mut parent.open[side], depth, count);
                }
            }
        }
    }
    sum
}

/// Worth of a pair: depth of the last common step against that of the longer path.
fn worth(common: u16, longer: u16, matching: PathMatch) -> f64 {
    match matching {
        PathMatch::Binary => f64::from(u8::from(common == longer)),
        PathMatch::Partial => (f64::from(common) + 1.0) / (f64::from(longer) + 1.0),
        PathMatch::Weighted => {
            // Σ 2^-d for d = 0 … n is 2 - 2^-n.
            let weight = |deepest: u16| 2.0 - 0.5f64.powi(i32::from(deepest));
            weight(common) / weight(longer)
        }
    }
}
