//! Similarity of subtrees by their leaf paths (POL: 朱毅华等, 基于子树相似度计算的网页评论提取算法研究, 2013).
//!
//! A leaf path is the set of pairs of tag and order on the way from the root to a leaf; two paths are compared by the
//! cosine of their sets. `Sim = (Σᵢ Max(Pᵢ)·Len(Pᵢ) + Σⱼ Max(Qⱼ)·Len(Qⱼ)) / (Σᵢ Len(Pᵢ) + Σⱼ Len(Qⱼ))`, Max being the best
//! cosine in the other tree and Len the nodes of the path. As printed, order counts all siblings and equal pairs of one
//! path collapse; here order counts siblings of the same tag, so that a picture set into the middle does not shift
//! what follows, and pairs are counted. The order of the compared roots is 1 in both: they are siblings of each other.

use foldhash::{HashMap, HashMapExt as _};

use super::label::{mix, shared};
use super::skeleton::Skeleton;

/// Distinct paths without an equal in the other tree that are compared one with one; of more, evenly chosen ones are
/// for all.
const MAX_PATHS: usize = 400;
/// Nodes of one path; deeper ones are cut at the root's end.
pub const MAX_DEPTH: usize = 64;

/// The leaf paths of a tree, made once and compared often.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeafPaths {
    /// Distinct paths in order of their hashes.
    paths: Vec<LeafPath>,
    /// Sorted pairs of all paths.
    pairs: Vec<u64>,
    /// Hash of all paths with their counts: equal for trees that are the same here.
    shape: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct LeafPath {
    /// Hash of its pairs.
    hash: u64,
    start: u32,
    /// Number of pairs; in a set, less than the nodes.
    pairs: u32,
    /// Nodes of the path.
    nodes: u32,
    /// Leaves with this path.
    count: u32,
}

impl LeafPaths {
    /// The leaf paths of a tree.
    pub fn new(tree: &Skeleton) -> Self {
        let orders = orders(tree);
        let pair = |at: &usize| mix(tree.labels()[*at], u64::from(orders[*at]));
        let leaves = (0..tree.len()).filter(|at| tree.is_leaf(*at));
        Self::from_paths(leaves.map(|leaf| {
            let nodes = tree.path(leaf, MAX_DEPTH);
            (nodes.iter().map(pair).collect(), nodes.len())
        }))
    }

    /// From the path of each leaf: a hash for each of its pairs of tag and order, and its number of nodes.
    pub fn from_paths(paths: impl IntoIterator<Item = (Vec<u64>, usize)>) -> Self {
        let mut made = Self::default();
        let mut known: HashMap<u64, usize> = HashMap::new();
        for (mut pairs, nodes) in paths {
            pairs.sort_unstable();
            let hash = pairs.iter().fold(nodes as u64, |h, p| mix(h, *p));
            if let Some(at) = known.get(&hash) {
                made.paths[*at].count += 1;
                continue;
            }
            known.insert(hash, made.paths.len());
            made.paths.push(LeafPath {
                hash,
                start: made.pairs.len() as u32,
                pairs: pairs.len() as u32,
                nodes: nodes as u32,
                count: 1,
            });
            made.pairs.extend(pairs);
        }
        made.paths.sort_unstable_by_key(|p| p.hash);
        made.shape = made
            .paths
            .iter()
            .fold(0, |h, p| mix(mix(h, p.hash), u64::from(p.count)));
        made
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.paths.iter().map(|p| p.count as usize).sum()
    }

    /// The similarity, 0 to 1; 1 for two empty trees, 0 when one is empty.
    pub fn similarity(&self, other: &LeafPaths) -> f64 {
        if self.shape == other.shape && self.paths.len() == other.paths.len() {
            return 1.0;
        }
        if self.paths.is_empty() || other.paths.is_empty() {
            return 0.0;
        }
        let (sum_a, weight_a) = self.best_in(other);
        let (sum_b, weight_b) = other.best_in(self);
        ((sum_a + sum_b) / (weight_a + weight_b)).clamp(0.0, 1.0)
    }

    /// `Σ Max·Len` over the paths of this tree, and `Σ Len`.
    fn best_in(&self, other: &LeafPaths) -> (f64, f64) {
        let len = |p: &LeafPath| f64::from(p.nodes) * f64::from(p.count);
        let total: f64 = self.paths.iter().map(len).sum();
        let (mut sum, mut rest) = (0.0, Vec::new());
        let mut at = 0;
        for path in &self.paths {
            while other.paths.get(at).is_some_and(|q| q.hash < path.hash) {
                at += 1;
            }
            if other.paths.get(at).is_some_and(|q| q.hash == path.hash) {
                sum += len(path);
            } else {
                rest.push(path);
            }
        }
        let (step, other_step) = (
            rest.len().div_ceil(MAX_PATHS).max(1),
            other.paths.len().div_ceil(MAX_PATHS).max(1),
        );
        let (mut found, mut looked, mut wanted) = (0.0, 0.0, 0.0);
        for (n, path) in rest.iter().enumerate() {
            wanted += len(path);
            if n % step != 0 {
                continue;
            }
            let best = other
                .paths
                .iter()
                .step_by(other_step)
                .fold(0.0, |best, q| self.better(path, other, q, best));
            found += best * len(path);
            looked += len(path);
        }
        if looked > 0.0 {
            sum += found * wanted / looked;
        }
        (sum, total)
    }

    /// The greater of `best` and the cosine of two paths; not counted when it cannot be greater.
    fn better(&self, path: &LeafPath, other: &LeafPaths, q: &LeafPath, best: f64) -> f64 {
        let (a, b) = (f64::from(path.pairs), f64::from(q.pairs));
        let root = (a * b).sqrt();
        if a.min(b) <= best * root {
            return best;
        }
        let shared = shared(self.pairs_of(path), other.pairs_of(q));
        best.max(shared as f64 / root)
    }

    fn pairs_of(&self, path: &LeafPath) -> &[u64] {
        let start = path.start as usize;
        self.pairs
            .get(start..start + path.pairs as usize)
            .unwrap_or_default()
    }
}

/// For each node its order among its siblings with the same label, from 1; the root has 1.
fn orders(tree: &Skeleton) -> Vec<u32> {
    let mut orders = vec![1u32; tree.len()];
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for at in 0..tree.len() {
        seen.clear();
        for child in tree.children(at) {
            let n = seen.entry(tree.labels()[child]).or_default();
            *n += 1;
            orders[child] = *n;
        }
    }
    orders
}
