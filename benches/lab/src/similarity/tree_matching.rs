//! Simple tree matching (Yang 1991). In: two skeletons. Out: `2M / (|a| + |b|)`, M being the greatest number of nodes
//! paired so that labels, parents and the order of siblings agree. Level by level from the leaves, `O(n·m)` at worst.

use taojin_extract::similarity::Skeleton;

use super::tree::top;

/// Nodes of one tree; of a larger one only the upper levels count.
const MAX_NODES: usize = 4_096;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (a, b) = (top(a, MAX_NODES), top(b, MAX_NODES));
    2.0 * f64::from(matching(&a, &b)) / (a.len() + b.len()) as f64
}

/// Nodes of one level: the node, and its children as a range of the next level.
struct Level {
    nodes: Vec<(usize, std::ops::Range<usize>)>,
}

fn levels(tree: &Skeleton) -> Vec<Level> {
    let deepest = tree.depths().iter().copied().max().unwrap_or_default();
    let mut levels: Vec<Level> = (0..=deepest).map(|_| Level { nodes: Vec::new() }).collect();
    for at in 0..tree.len() {
        let depth = usize::from(tree.depths()[at]);
        let below = levels.get(depth + 1).map_or(0, |l| l.nodes.len());
        levels[depth].nodes.push((at, below..below));
        if depth > 0
            && let Some(parent) = levels[depth - 1].nodes.last_mut()
        {
            parent.1.end += 1;
        }
    }
    levels
}

/// Most nodes that can be paired.
pub(super) fn matching(a: &Skeleton, b: &Skeleton) -> u32 {
    let (of_a, of_b) = (levels(a), levels(b));
    let mut below: Vec<u32> = Vec::new();
    let mut width = 0;
    let mut row = Vec::new();
    for depth in (0..of_a.len().min(of_b.len())).rev() {
        let (upper, other) = (&of_a[depth].nodes, &of_b[depth].nodes);
        let mut here = vec![0u32; upper.len() * other.len()];
        for (i, (x, children)) in upper.iter().enumerate() {
            for (j, (y, others)) in other.iter().enumerate() {
                if a.labels()[*x] == b.labels()[*y] {
                    let paired = pair(&below, width, children, others, &mut row);
                    here[i * other.len() + j] = 1 + paired;
                }
            }
        }
        below = here;
        width = other.len();
    }
    below.first().copied().unwrap_or_default()
}

/// Best pairing of two rows of children that keeps their order; `below` holds what each pair is worth.
fn pair(
    below: &[u32],
    width: usize,
    children: &std::ops::Range<usize>,
    others: &std::ops::Range<usize>,
    row: &mut Vec<u32>,
) -> u32 {
    if children.is_empty() || others.is_empty() || width == 0 {
        return 0;
    }
    row.clear();
    row.resize(others.len() + 1, 0);
    for i in children.clone() {
        let mut diagonal = 0;
        for (n, j) in others.clone().enumerate() {
            let above = row[n + 1];
            let worth = below.get(i * width + j).copied().unwrap_or_default();
            row[n + 1] = above.max(row[n]).max(diagonal + worth);
            diagonal = above;
        }
    }
    row[others.len()]
}
