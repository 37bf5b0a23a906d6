//! Tree path models. In: two skeletons. Out: `½ (mean over paths of the best match in the other tree, both ways)`.
//!
//! Traditional (after Joshi et al., KDD 2003): root-to-leaf paths, a match is the common beginning over the longer path.
//! Improved (Wang et al. 2015): distinct paths with the number of same-label siblings of each node and the places where
//! the path occurs; `sim = content · length · location`. As printed, content divides by the length of the match, so that
//! a shorter match scores higher; mended, by the shorter path. The divisor of the distances in location is the greater
//! number of leaves: the printed one with 1 added does not give the paper's own example.

use std::collections::HashMap;

use taojin_extract::similarity::{Skeleton, mix, shared};

use super::Mode;

/// Nodes of one path; deeper ones are cut at the root's end.
const MAX_DEPTH: usize = 48;
/// Distinct paths of one tree; of more, evenly chosen ones stand for all.
const MAX_PATHS: usize = 300;
/// Longest common subsequences of two paths that are tried.
const MAX_MATCHES: usize = 8;

/// A distinct root-to-leaf path.
struct Path {
    labels: Vec<u64>,
    /// The same in rising order.
    sorted: Vec<u64>,
    /// Same-label siblings of each node, itself counted.
    siblings: Vec<u32>,
    /// Places among all leaf paths, from 1.
    places: Vec<u32>,
}

/// The distinct paths in order of their first leaf, and the number of leaves.
fn paths(tree: &Skeleton) -> (Vec<Path>, usize) {
    let siblings = sibling_counts(tree);
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut paths: Vec<Path> = Vec::new();
    let mut place = 0;
    for leaf in (0..tree.len()).filter(|at| tree.is_leaf(*at)) {
        place += 1;
        let nodes = tree.path(leaf, MAX_DEPTH);
        let hash = nodes
            .iter()
            .fold(nodes.len() as u64, |h, at| mix(h, tree.labels()[*at]));
        if let Some(at) = known.get(&hash) {
            paths[*at].places.push(place);
            continue;
        }
        known.insert(hash, paths.len());
        let labels: Vec<u64> = nodes.iter().map(|at| tree.labels()[*at]).collect();
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        paths.push(Path {
            labels,
            sorted,
            siblings: nodes.iter().map(|at| siblings[*at]).collect(),
            places: vec![place],
        });
    }
    let step = paths.len().div_ceil(MAX_PATHS).max(1);
    let kept = paths.into_iter().step_by(step).collect();
    (kept, place as usize)
}

fn sibling_counts(tree: &Skeleton) -> Vec<u32> {
    let mut counts = vec![1; tree.len()];
    let mut of_label: HashMap<u64, u32> = HashMap::new();
    for at in 0..tree.len() {
        of_label.clear();
        for child in tree.children(at) {
            *of_label.entry(tree.labels()[child]).or_default() += 1;
        }
        for child in tree.children(at) {
            counts[child] = of_label.get(&tree.labels()[child]).copied().unwrap_or(1);
        }
    }
    counts
}

/// Mean of the best matches, both ways; `weigh` says how often a path counts. `similar` is told below which similarity it
/// may say anything that is not more.
fn both_ways(
    a: &[Path],
    b: &[Path],
    weigh: impl Fn(&Path) -> f64,
    similar: impl Fn(&Path, &Path, f64) -> f64,
) -> f64 {
    let mut best_a = vec![0.0f64; a.len()];
    let mut best_b = vec![0.0f64; b.len()];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            let similarity = similar(p, q, best_a[i].min(best_b[j]));
            best_a[i] = best_a[i].max(similarity);
            best_b[j] = best_b[j].max(similarity);
        }
    }
    let mean = |paths: &[Path], best: &[f64]| {
        let weights: f64 = paths.iter().map(&weigh).sum();
        let sum: f64 = paths.iter().zip(best).map(|(p, s)| weigh(p) * s).sum();
        sum / weights
    };
    (mean(a, &best_a) + mean(b, &best_b)) / 2.0
}

/// Traditional similarity of two trees that are not empty.
pub(super) fn traditional(a: &Skeleton, b: &Skeleton) -> f64 {
    let ((x, _), (y, _)) = (paths(a), paths(b));
    both_ways(
        &x,
        &y,
        |path| path.places.len() as f64,
        |p, q, _| {
            let pairs = p.labels.iter().zip(&q.labels);
            let common = pairs.take_while(|(l, m)| l == m).count();
            common as f64 / p.labels.len().max(q.labels.len()) as f64
        },
    )
}

/// Improved similarity of two trees that are not empty.
pub(super) fn improved(a: &Skeleton, b: &Skeleton, mode: Mode) -> f64 {
    let ((x, leaves_a), (y, leaves_b)) = (paths(a), paths(b));
    let most = leaves_a.max(leaves_b);
    let similar = |p: &Path, q: &Path, least: f64| path_similarity(p, q, most, mode, least);
    both_ways(&x, &y, |_| 1.0, similar)
}

/// `content · length · location` of two paths; 0 where it cannot be more than `least`.
fn path_similarity(p: &Path, q: &Path, most_leaves: usize, mode: Mode, least: f64) -> f64 {
    if p.labels[0] != q.labels[0] {
        return 0.0;
    }
    let (short, long) = {
        let (m, n) = (p.labels.len(), q.labels.len());
        (m.min(n) as f64, m.max(n) as f64)
    };
    let location = location(p, q, most_leaves);
    // No node of a match counts for more than 1, and there are no more of them than labels that both paths have.
    let most = match mode {
        Mode::Literal => 1.0,
        Mode::Fixed => shared(&p.sorted, &q.sorted) as f64 / short,
    };
    if most * (short / long) * location <= least {
        return 0.0;
    }
    let mut content = 0.0f64;
    for (of_p, of_q) in matches(&p.labels, &q.labels) {
        let divisor = match mode {
            Mode::Literal => of_p.len() as f64,
            Mode::Fixed => short,
        };
        content = content.max(sum_of_nodes(p, q, &of_p, &of_q) / divisor);
    }
    content * (short / long) * location
}

fn sum_of_nodes(p: &Path, q: &Path, of_p: &[usize], of_q: &[usize]) -> f64 {
    let z: Vec<u64> = of_p.iter().map(|i| p.labels[*i]).collect();
    let (uses_p, uses_q) = (uses(&z, &p.labels, of_p), uses(&z, &q.labels, of_q));
    let ratio = |a: f64, b: f64| a.min(b) / a.max(b);
    (0..z.len())
        .map(|n| {
            let (i, j) = (of_p[n], of_q[n]);
            let siblings = ratio(f64::from(p.siblings[i]), f64::from(q.siblings[j]));
            let apart = i.abs_diff(j) as f64 + 1.0;
            (ratio(uses_p[n], uses_q[n]) + siblings) / 2.0 / apart
        })
        .sum()
}

/// Longest common subsequences that begin at the roots, as places in both paths, leftmost; at most [`MAX_MATCHES`].
fn matches(p: &[u64], q: &[u64]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let width = q.len() + 1;
    // Length of the longest common subsequence of what begins at (i, j).
    let mut longest = vec![0u16; (p.len() + 1) * width];
    for i in (0..p.len()).rev() {
        for j in (0..q.len()).rev() {
            longest[i * width + j] = if p[i] == q[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut found = Vec::new();
    let mut open = vec![(vec![0usize], vec![0usize])];
    while let Some((of_p, of_q)) = open.pop() {
        let (i, j) = (of_p[of_p.len() - 1] + 1, of_q[of_q.len() - 1] + 1);
        let left = longest[i * width + j];
        if left == 0 {
            found.push((of_p, of_q));
            if found.len() == MAX_MATCHES {
                break;
            }
            continue;
        }
        let mut tried: Vec<u64> = Vec::new();
        for next in i..p.len() {
            if tried.contains(&p[next]) {
                continue;
            }
            tried.push(p[next]);
            let Some(other) = (j..q.len()).find(|k| q[*k] == p[next]) else {
                continue;
            };
            if longest[(next + 1) * width + other + 1] + 1 == left {
                let (mut more_p, mut more_q) = (of_p.clone(), of_q.clone());
                more_p.push(next);
                more_q.push(other);
                open.push((more_p, more_q));
            }
        }
    }
    found
}

/// In how many embeddings of `z` into `labels` the nodes `at` stand, each in its place of `z`.
fn uses(z: &[u64], labels: &[u64], at: &[usize]) -> Vec<f64> {
    let (k, n) = (z.len(), labels.len());
    // before[m][i]: ways to embed the first m of z into the first i labels; after[m][i]: the rest into the rest.
    let width = n + 1;
    let mut before = vec![0.0f64; (k + 1) * width];
    let mut after = vec![0.0f64; (k + 1) * width];
    before[..width].fill(1.0);
    after[k * width..].fill(1.0);
    for m in 1..=k {
        for i in 1..=n {
            let matched = if labels[i - 1] == z[m - 1] {
                before[(m - 1) * width + i - 1]
            } else {
                0.0
            };
            before[m * width + i] = before[m * width + i - 1] + matched;
        }
    }
    for m in (0..k).rev() {
        for i in (0..n).rev() {
            let matched = if labels[i] == z[m] {
                after[(m + 1) * width + i + 1]
            } else {
                0.0
            };
            after[m * width + i] = after[m * width + i + 1] + matched;
        }
    }
    // A node may stand in for several equal labels of z.
    let through = |m: usize, i: usize| before[m * width + i] * after[(m + 1) * width + i + 1];
    at.iter()
        .map(|i| {
            (0..k)
                .filter(|m| z[*m] == labels[*i])
                .map(|m| through(m, *i))
                .sum()
        })
        .collect()
}

/// `1 - (Σ distances to the nearest place of the other path) / ((f₁ + f₂) · D)`.
fn location(p: &Path, q: &Path, most_leaves: usize) -> f64 {
    let distances = nearest(&p.places, &q.places) + nearest(&q.places, &p.places);
    let all = (p.places.len() + q.places.len()) as f64 * most_leaves as f64;
    (1.0 - distances / all).max(0.0)
}

/// Sum of the distances from each place to the nearest one of `others`; both rise.
fn nearest(places: &[u32], others: &[u32]) -> f64 {
    let mut at = 0;
    places
        .iter()
        .map(|place| {
            while others
                .get(at + 1)
                .is_some_and(|next| next.abs_diff(*place) <= others[at].abs_diff(*place))
            {
                at += 1;
            }
            f64::from(others[at].abs_diff(*place))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::parse;

    /// Wang et al. 2015, the example of figure 2: the path abc of both trees.
    #[test]
    fn the_printed_similarity_of_two_paths() {
        let (a, b) = (parse("a(b(c),b(c),d)"), parse("a(b(c),e(d))"));
        let ((x, leaves_a), (y, leaves_b)) = (paths(&a), paths(&b));
        for mode in [Mode::Literal, Mode::Fixed] {
            let similarity = path_similarity(&x[0], &y[0], leaves_a.max(leaves_b), mode, 0.0);
            assert!((similarity - 22.0 / 27.0).abs() < 1e-9, "{similarity}");
        }
    }
}
