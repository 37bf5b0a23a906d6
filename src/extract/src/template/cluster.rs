//! Agglomerative clustering over distances of all pairs; returns a cluster number for each, and the merges for drawing.
//! Average linkage, exact by chains of nearest neighbours (Murtagh 1983), `O(n²)` time and half a matrix of `f32`.
//!
//! Distances of key sets are counted without comparing pairs of sets: equal sets are one row, keys that are on the
//! same pages are one column with a weight, and each column adds its weight to the pairs of its pages. That is exact, and
//! on pages of a few templates, where most keys come in company, it is far less than all pairs times all keys.

use std::collections::HashMap;

use super::observation::KeySet;
use crate::similarity::mix;

/// Distances of all pairs, 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distances {
    count: usize,
    half: Vec<f32>,
}

impl Distances {
    /// Asks `distance` for each pair `(i, j)` with `j < i`.
    pub fn from_fn(count: usize, mut distance: impl FnMut(usize, usize) -> f32) -> Self {
        let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
        Self {
            count,
            half: pairs.map(|(i, j)| distance(i, j)).collect(),
        }
    }

    /// From half a matrix, row by row: the distances of thing i from those before it.
    pub fn from_half(count: usize, mut half: Vec<f32>) -> Self {
        half.resize(count * count.saturating_sub(1) / 2, 1.0);
        Self { count, half }
    }

    /// Number of things.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Distance of two things.
    pub fn get(&self, i: usize, j: usize) -> f32 {
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => self.half[row(i) + j],
            std::cmp::Ordering::Less => self.half[row(j) + i],
        }
    }

    fn set(&mut self, i: usize, j: usize, value: f32) {
        let (i, j) = (i.max(j), i.min(j));
        self.half[row(i) + j] = value;
    }
}

fn row(i: usize) -> usize {
    i * i.saturating_sub(1) / 2
}

/// Two clusters become one. Clusters are named by one of their things.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// One.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// Their mean distance.
    pub height: f32,
}

/// Merges of all things into one cluster, in order of height; `sizes` says how many things each stands for.
pub fn average_linkage(mut distances: Distances, sizes: &[u32]) -> Vec<Merge> {
    let count = distances.count;
    let mut sizes: Vec<f32> = sizes.iter().map(|s| *s as f32).collect();
    let mut alive: Vec<usize> = (0..count).collect();
    let mut chain: Vec<usize> = Vec::new();
    let mut merges = Vec::with_capacity(count.saturating_sub(1));
    while alive.len() > 1 {
        if chain.is_empty() {
            chain.push(alive[0]);
        }
        let last = chain[chain.len() - 1];
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        // Of equally near ones the one before in the chain, so that the chain ends.
        let mut best = before.map(|b| (distances.get(last, b), b));
        for other in alive.iter().copied().filter(|o| *o != last) {
            let distance = distances.get(last, other);
            if best.is_none_or(|(d, _)| distance < d) {
                best = Some((distance, other));
            }
        }
        let Some((height, near)) = best else { break };
        if before != Some(near) {
            chain.push(near);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (kept, gone) = (last.min(near), last.max(near));
        let (m, n) = (sizes[kept], sizes[gone]);
        for other in alive.iter().copied() {
            if other != kept && other != gone {
                let mean =
                    (distances.get(kept, other) * m + distances.get(gone, other) * n) / (m + n);
                distances.set(kept, other, mean);
            }
        }
        sizes[kept] = m + n;
        alive.retain(|o| *o != gone);
        merges.push(Merge {
            a: kept,
            b: gone,
            height,
        });
    }
    // Average linkage never falls but for rounding; stable, so that equal heights keep their order.
    merges.sort_by(|x, y| x.height.total_cmp(&y.height));
    merges
}

/// Cluster number of each of `count` things when merges up to `max_distance` are made: 0 for that of the first thing,
/// rising in order of first members.
pub fn cut(count: usize, merges: &[Merge], max_distance: f32) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..count).collect();
    for merge in merges.iter().filter(|m| m.height <= max_distance) {
        let (a, b) = (root(&mut parent, merge.a), root(&mut parent, merge.b));
        parent[a.max(b)] = a.min(b);
    }
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    (0..count)
        .map(|at| {
            let root = root(&mut parent, at);
            let next = numbers.len();
            *numbers.entry(root).or_insert(next)
        })
        .collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Equal sets as one: for each set its row, one set of each row, and how many sets it stands for.
pub(super) fn rows(sets: &[KeySet]) -> (Vec<usize>, Vec<usize>, Vec<u32>) {
    let mut known: HashMap<&[u64], usize> = HashMap::new();
    let (mut row_of, mut first, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (at, set) in sets.iter().enumerate() {
        let row = *known.entry(set.keys()).or_insert_with(|| {
            first.push(at);
            sizes.push(0);
            first.len() - 1
        });
        sizes[row] += 1;
        row_of.push(row);
    }
    (row_of, first, sizes)
}

/// `1 - 2·|a ∩ b| / (|a| + |b|)` of the sets `chosen` of `sets`.
pub(super) fn set_distances(sets: &[KeySet], chosen: &[usize]) -> Distances {
    let columns = columns(sets, chosen);
    let mut of_row: Vec<Vec<u32>> = vec![Vec::new(); chosen.len()];
    for (number, (rows, _)) in (0u32..).zip(&columns) {
        for row in rows {
            of_row[*row as usize].push(number);
        }
    }
    let mut shared = vec![0u32; chosen.len()];
    let size = |row: usize| sets[chosen[row]].keys().len() as f32;
    let mut half = Vec::with_capacity(chosen.len() * chosen.len().saturating_sub(1) / 2);
    for (i, own) in of_row.iter().enumerate() {
        shared[..i].fill(0);
        for (rows, weight) in own.iter().map(|c| &columns[*c as usize]) {
            for j in rows.iter().take_while(|j| (**j as usize) < i) {
                shared[*j as usize] += weight;
            }
        }
        half.extend((0..i).map(|j| {
            let all = size(i) + size(j);
            if all == 0.0 {
                0.0
            } else {
                1.0 - 2.0 * shared[j] as f32 / all
            }
        }));
    }
    Distances::from_half(chosen.len(), half)
}

/// Rows of each group of keys that are in the same rows, and how many keys it has.
fn columns(sets: &[KeySet], chosen: &[usize]) -> Vec<(Vec<u32>, u32)> {
    let mut pairs: Vec<(u64, u32)> = Vec::new();
    for (row, set) in (0u32..).zip(chosen) {
        pairs.extend(sets[*set].keys().iter().map(|key| (*key, row)));
    }
    pairs.sort_unstable();
    let mut groups: HashMap<u64, usize> = HashMap::new();
    let mut columns: Vec<(Vec<u32>, u32)> = Vec::new();
    for run in pairs.chunk_by(|a, b| a.0 == b.0) {
        // One page alone shares the key with nobody.
        if run.len() < 2 {
            continue;
        }
        let hash = run.iter().fold(0, |h, (_, row)| mix(h, u64::from(*row)));
        match groups.get(&hash) {
            Some(at) => columns[*at].1 += 1,
            None => {
                groups.insert(hash, columns.len());
                columns.push((run.iter().map(|(_, row)| *row).collect(), 1));
            }
        }
    }
    columns
}

/// Clusters of key sets: a number for each set.
pub fn cluster_sets(sets: &[KeySet], max_distance: f32) -> Vec<usize> {
    let (row_of, first, sizes) = rows(sets);
    let merges = average_linkage(set_distances(sets, &first), &sizes);
    let of_row = cut(first.len(), &merges, max_distance);
    row_of.iter().map(|row| of_row[*row]).collect()
}
