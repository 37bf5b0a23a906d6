//! Longest common run of labels, breadth first. In: two skeletons. Out: its length over the longer sequence. Time
//! `O(n·m)` within a limit of nodes.

use std::collections::HashMap;

use taojin_extract::similarity::Skeleton;

/// Nodes of one tree; breadth first, a cut tree loses its deepest levels.
const MAX_NODES: usize = 6_000;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (x, y) = (breadth_first(a), breadth_first(b));
    longest_run(&x, &y) as f64 / x.len().max(y.len()) as f64
}

fn breadth_first(tree: &Skeleton) -> Vec<u64> {
    let mut order: Vec<usize> = (0..tree.len()).collect();
    // Stable: within a level document order is the order of a breadth-first walk.
    order.sort_by_key(|at| tree.depths()[*at]);
    order.truncate(MAX_NODES);
    order.into_iter().map(|at| tree.labels()[at]).collect()
}

/// Length of the longest run that stands in both; only places of equal labels are looked at.
fn longest_run(a: &[u64], b: &[u64]) -> usize {
    let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
    for (j, label) in (0u32..).zip(b) {
        places.entry(*label).or_default().push(j);
    }
    let (mut row, mut next) = (vec![0u32; b.len() + 1], vec![0u32; b.len() + 1]);
    let mut touched: [&[u32]; 2] = [&[], &[]];
    let mut best = 0;
    for label in a {
        let here = places.get(label).map_or(&[][..], Vec::as_slice);
        for j in touched[0] {
            next[*j as usize + 1] = 0;
        }
        for j in here {
            let run = row[*j as usize] + 1;
            next[*j as usize + 1] = run;
            best = best.max(run);
        }
        std::mem::swap(&mut row, &mut next);
        touched = [touched[1], here];
    }
    best as usize
}
