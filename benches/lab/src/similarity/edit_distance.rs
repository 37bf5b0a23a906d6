//! Ordered tree edit distance with unit costs (Zhang and Shasha, SIAM J. Comput. 1989). In: two skeletons. Out:
//! `1 - ED / (|a| + |b|)`; the printed `1 - ED / max(|a|, |b|)` (Buttler 2004, Zhu et al. 2013) can fall below 0, where it
//! is cut: a chain and a star of eight equal labels are 12 steps apart. Time `O(n·m·min(depth, leaves)²)`, so the trees are cut to their upper levels.

use taojin_extract::similarity::Skeleton;

use super::Mode;
use super::tree::top;

/// Nodes of one tree: beyond it one pair takes longer than a page may.
const MAX_NODES: usize = 200;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton, mode: Mode) -> f64 {
    let (a, b) = (top(a, MAX_NODES), top(b, MAX_NODES));
    let most = match mode {
        Mode::Literal => a.len().max(b.len()),
        Mode::Fixed => a.len() + b.len(),
    };
    (1.0 - f64::from(edit_distance(&a, &b)) / most as f64).max(0.0)
}

/// A tree in postorder: labels, the leftmost leaf below each node, and the key roots in rising order.
struct Postorder {
    labels: Vec<u64>,
    leftmost: Vec<usize>,
    key_roots: Vec<usize>,
}

impl Postorder {
    fn of(tree: &Skeleton) -> Self {
        let mut order: Vec<usize> = (0..tree.len()).collect();
        // A node ends after all that ends within it; of nodes with one end the deepest is first.
        order.sort_by_key(|at| (tree.ends()[*at], std::cmp::Reverse(tree.depths()[*at])));
        let mut place = vec![0; tree.len()];
        for (n, at) in order.iter().enumerate() {
            place[*at] = n;
        }
        let mut leftmost = vec![0; tree.len()];
        for at in (0..tree.len()).rev() {
            leftmost[place[at]] = if tree.is_leaf(at) {
                place[at]
            } else {
                // The first child directly follows its parent and was done before.
                leftmost[place[at + 1]]
            };
        }
        let mut last = vec![None; tree.len()];
        for (n, leaf) in leftmost.iter().enumerate() {
            last[*leaf] = Some(n);
        }
        let mut key_roots: Vec<usize> = last.into_iter().flatten().collect();
        key_roots.sort_unstable();
        Self {
            labels: order.iter().map(|at| tree.labels()[*at]).collect(),
            leftmost,
            key_roots,
        }
    }
}

/// Fewest insertions, deletions and relabellings of nodes that make one tree the other. Not limited: the caller cuts.
pub(super) fn edit_distance(a: &Skeleton, b: &Skeleton) -> u32 {
    if a.is_empty() || b.is_empty() {
        return (a.len() + b.len()) as u32;
    }
    let (x, y) = (Postorder::of(a), Postorder::of(b));
    let width = b.len() + 1;
    let mut trees = vec![0u32; a.len() * b.len()];
    let mut forests = vec![0u32; (a.len() + 1) * width];
    for i in &x.key_roots {
        for j in &y.key_roots {
            fill(&x, &y, *i, *j, width, &mut trees, &mut forests);
        }
    }
    trees[a.len() * b.len() - 1]
}

/// Distances of all forests that end in the trees at `i` and `j`.
fn fill(
    x: &Postorder,
    y: &Postorder,
    i: usize,
    j: usize,
    width: usize,
    trees: &mut [u32],
    forests: &mut [u32],
) {
    let (first_i, first_j) = (x.leftmost[i], y.leftmost[j]);
    let columns = y.labels.len();
    forests[first_i * width + first_j] = 0;
    for at in first_i..=i {
        forests[(at + 1) * width + first_j] = forests[at * width + first_j] + 1;
    }
    for at in first_j..=j {
        forests[first_i * width + at + 1] = forests[first_i * width + at] + 1;
    }
    for s in first_i..=i {
        for t in first_j..=j {
            let step = 1 + forests[s * width + t + 1].min(forests[(s + 1) * width + t]);
            let (left_s, left_t) = (x.leftmost[s], y.leftmost[t]);
            let value = if left_s == first_i && left_t == first_j {
                let change = u32::from(x.labels[s] != y.labels[t]);
                let value = step.min(forests[s * width + t] + change);
                trees[s * columns + t] = value;
                value
            } else {
                step.min(forests[left_s * width + left_t] + trees[s * columns + t])
            };
            forests[(s + 1) * width + t + 1] = value;
        }
    }
}
