//! Aligns a template with a page: a longest common subsequence in which a node counts more the nearer it is to the root
//! (eLCS, 丘骏鹏 2013, §4.2.4). Nodes that both have exactly once divide the sequences first, and a band bounds the table
//! between two of them: linear for pages that fit, bounded for all others.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// One node as the alignment sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Equal for nodes that may be aligned.
    pub(super) id: u64,
    /// What it counts.
    pub(super) weight: u32,
}

/// Cells of a table that is filled whole; a larger one only in a band around its diagonal.
const MAX_CELLS: usize = 1 << 10;
/// Cells of a table that is filled without looking for anchors first.
const FEW_CELLS: usize = 36;
/// Half the width of the band.
const BAND: usize = 16;
/// How often what lies between two such nodes is divided again.
const MAX_DIVIDED: u32 = 4;
/// Weight of the root.
const ROOT: f32 = 1000.0;
/// Share of a node's weight that one a level lower has (the thesis leaves the function open).
const FALL: f32 = 0.93;
/// A node however deep weighs so much.
const LEAST: u32 = 20;
/// A text counts like so many elements: two pages agree by chance in a `<div>`, hardly in a label.
const TEXT: u32 = 3;
/// Weights by depth.
const WEIGHTS: [u32; 64] = {
    let (mut weights, mut weight, mut depth) = ([0; 64], ROOT, 0);
    while depth < weights.len() {
        weights[depth] = weight as u32 + LEAST;
        weight *= FALL;
        depth += 1;
    }
    weights
};

impl Symbol {
    /// That of a node at a depth.
    pub(super) fn new(id: u64, depth: u16, is_text: bool) -> Self {
        let weight = weight(depth, is_text);
        Self { id, weight }
    }
}

/// Weight of a node at a depth.
pub(super) fn weight(depth: u16, is_text: bool) -> u32 {
    let weight = WEIGHTS.get(usize::from(depth)).copied().unwrap_or(LEAST);
    if is_text { TEXT * weight } else { weight }
}

/// Pairs of places `(in a, in b)` of a heaviest common subsequence, rising in both.
pub(super) fn align(a: &[Symbol], b: &[Symbol]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::with_capacity(a.len().min(b.len()));
    divide_at_anchors(a, b, (0, 0), MAX_DIVIDED, &mut pairs);
    pairs
}

/// Takes off what both begin and end with, divides the rest at what both have once, and fills tables where nothing is.
fn divide_at_anchors(
    a: &[Symbol],
    b: &[Symbol],
    from: (usize, usize),
    left: u32,
    pairs: &mut Vec<(usize, usize)>,
) {
    let same = |(x, y): &(&Symbol, &Symbol)| x.id == y.id;
    let head = a.iter().zip(b).take_while(same).count();
    let (rest_a, rest_b) = (&a[head..], &b[head..]);
    let tail = rest_a.iter().rev().zip(rest_b.iter().rev());
    let tail = tail.take_while(same).count();
    let (end_a, end_b) = (a.len() - tail, b.len() - tail);
    let mut add = |(x, y): (usize, usize)| pairs.push((from.0 + x, from.1 + y));
    (0..head).for_each(|at| add((at, at)));
    let from_rest = (from.0 + head, from.1 + head);
    align_between(&a[head..end_a], &b[head..end_b], from_rest, left, pairs);
    pairs.extend((0..tail).map(|at| (from.0 + end_a + at, from.1 + end_b + at)));
}

/// Aligns what differs at both ends.
fn align_between(
    a: &[Symbol],
    b: &[Symbol],
    from: (usize, usize),
    left: u32,
    pairs: &mut Vec<(usize, usize)>,
) {
    if a.len() * b.len() <= FEW_CELLS {
        if !a.is_empty() && !b.is_empty() {
            let a: Vec<(usize, Symbol)> = a.iter().copied().enumerate().collect();
            let b: Vec<(usize, Symbol)> = b.iter().copied().enumerate().collect();
            fill_table(&a, &b, from, pairs);
        }
        return;
    }
    let mut counts: HashMap<u64, Count, RandomState> =
        HashMap::with_capacity_and_hasher(b.len(), RandomState::default());
    for (at, symbol) in b.iter().enumerate() {
        let count = counts.entry(symbol.id).or_default();
        (count.place, count.in_b) = (at, count.in_b + 1);
    }
    // What only one has is no part of any alignment.
    let mut shared: Vec<(usize, Symbol)> = Vec::new();
    for (at, symbol) in a.iter().enumerate() {
        if let Some(count) = counts.get_mut(&symbol.id) {
            count.in_a += 1;
            shared.push((at, *symbol));
        }
    }
    if shared.is_empty() {
        return;
    }
    let chain = if left > 0 {
        find_anchors(&shared, &counts)
    } else {
        Vec::new()
    };
    if chain.is_empty() {
        let of_b = |(at, symbol): (usize, &Symbol)| {
            let count = counts.get(&symbol.id)?;
            (count.in_a > 0).then_some((at, *symbol))
        };
        let in_b: Vec<(usize, Symbol)> = b.iter().enumerate().filter_map(of_b).collect();
        fill_table(&shared, &in_b, from, pairs);
        return;
    }
    let (mut i, mut j) = (0, 0);
    for (x, y) in chain {
        divide_at_anchors(
            &a[i..x],
            &b[j..y],
            (from.0 + i, from.1 + j),
            left - 1,
            pairs,
        );
        pairs.push((from.0 + x, from.1 + y));
        (i, j) = (x + 1, y + 1);
    }
    divide_at_anchors(&a[i..], &b[j..], (from.0 + i, from.1 + j), left - 1, pairs);
}

/// How often a symbol is in two sequences, and where in the second.
#[derive(Default)]
struct Count {
    place: usize,
    in_a: u32,
    in_b: u32,
}

/// The longest chain of what is once in both, by patience: for each length the pair that ends the lowest chain, and of
/// each pair the one before.
fn find_anchors(
    a: &[(usize, Symbol)],
    counts: &HashMap<u64, Count, RandomState>,
) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new();
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (at, symbol) in a {
        let Some(Count {
            place,
            in_a: 1,
            in_b: 1,
        }) = counts.get(&symbol.id)
        else {
            continue;
        };
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        let before = length.checked_sub(1).map(|before| ends[before]);
        match ends.get_mut(length) {
            Some(end) => *end = pairs.len(),
            None => ends.push(pairs.len()),
        }
        pairs.push((*at, *place, before));
    }
    let chain = std::iter::successors(ends.last().copied(), |at| pairs[*at].2);
    let mut chain: Vec<(usize, usize)> = chain.map(|at| (pairs[at].0, pairs[at].1)).collect();
    chain.reverse();
    chain
}

/// The table of the thesis between two anchors, filled from its end.
fn fill_table(
    a: &[(usize, Symbol)],
    b: &[(usize, Symbol)],
    from: (usize, usize),
    pairs: &mut Vec<(usize, usize)>,
) {
    let band = if a.len() * b.len() <= MAX_CELLS {
        b.len()
    } else {
        BAND
    };
    let width = (2 * band + 1).min(b.len()) + 1;
    // The first column of a row that is filled.
    let first = |i: usize| {
        (i * b.len() / a.len())
            .saturating_sub(band)
            .min(b.len() + 1 - width)
    };
    let mut heaviest = vec![0u32; (a.len() + 1) * width];
    let get = |heaviest: &[u32], i: usize, j: usize| {
        let column = j.wrapping_sub(first(i.min(a.len())));
        if column < width {
            heaviest[i * width + column]
        } else {
            0
        }
    };
    for i in (0..a.len()).rev() {
        let from = first(i);
        for j in (from..(from + width).min(b.len())).rev() {
            let skip = get(&heaviest, i + 1, j).max(get(&heaviest, i, j + 1));
            let best = if a[i].1.id == b[j].1.id {
                skip.max(get(&heaviest, i + 1, j + 1) + a[i].1.weight)
            } else {
                skip
            };
            heaviest[i * width + j - from] = best;
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (down, right) = (get(&heaviest, i + 1, j), get(&heaviest, i, j + 1));
        let both = get(&heaviest, i + 1, j + 1) + a[i].1.weight;
        if a[i].1.id == b[j].1.id && both >= down.max(right) {
            pairs.push((from.0 + a[i].0, from.1 + b[j].0));
            (i, j) = (i + 1, j + 1);
        } else if down >= right {
            i += 1;
        } else {
            j += 1;
        }
    }
}
