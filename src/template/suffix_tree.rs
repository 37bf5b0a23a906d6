//! Suffix trees and the repeated subtrees that they find: the reference for the merging by hashes that is used. In: a
//! sequence. Out: repeated runs, groups of equal subtrees. Linear in the length: short texts by Ukkonen's construction,
//! long ones, whose tree would not fit the caches, from the order of their suffixes; both make the same tree.
//!
//! The printed algorithm of Qiu 2013 loses repeats that end at an inner node and takes runs that are no whole subtrees;
//! here a run counts when it is the whole subtree of its first element.

use super::repeats::{Token, ends};
use super::{suffix_order, ukkonen};
use crate::similarity::mix;

/// Texts up to this length are built symbol by symbol: their trees fit the second cache of a core (1 MB).
const SHORT: usize = 32_768;
/// A free place of the table of symbols.
const FREE: u32 = u32::MAX;

/// An inner node: the suffixes that begin with the same symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    /// How many symbols.
    pub(super) depth: u32,
    /// Which suffixes: `from..upto` of [`Nodes::suffixes`].
    pub(super) from: u32,
    pub(super) upto: u32,
}

/// A tree, flat.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    /// Where the suffixes begin, those of each node side by side.
    pub(super) suffixes: Vec<u32>,
    /// Inner nodes, children before their parents and from left to right; the root is the last.
    pub(super) inner: Vec<Node>,
}

/// A suffix tree over numbers. The text ends with a symbol of its own.
#[derive(Debug, Clone)]
pub struct SuffixTree {
    pub(super) nodes: Nodes,
}

impl SuffixTree {
    /// Builds the tree of a text, to which one last symbol is added that stands nowhere else in it.
    pub fn of(symbols: &[u64]) -> Self {
        let (text, kinds) = numbered(symbols);
        let nodes = if text.len() <= SHORT {
            ukkonen::nodes(&text)
        } else {
            suffix_order::nodes(text, kinds)
        };
        Self { nodes }
    }

    /// Number of nodes, the root counted.
    pub fn node_count(&self) -> usize {
        self.nodes.inner.len() + self.nodes.suffixes.len()
    }

    /// Every run of symbols that ends at an inner node, as start, length and how often it occurs; in order of length.
    pub fn repeated_runs(&self) -> Vec<(usize, usize, usize)> {
        let Nodes { suffixes, inner } = &self.nodes;
        let mut runs: Vec<[u32; 3]> = Vec::with_capacity(inner.len());
        // Nodes whose parent did not come yet, and where in the text the first of their suffixes begins.
        let mut waiting: Vec<(Node, u32)> = Vec::new();
        for node in inner {
            let (mut at, mut start) = (node.upto, u32::MAX);
            while at > node.from {
                let below = waiting.pop_if(|(below, _)| below.upto == at);
                let first = below.map_or_else(|| suffixes[at as usize - 1], |(_, first)| first);
                at = below.map_or(at - 1, |(below, _)| below.from);
                start = start.min(first);
            }
            waiting.push((*node, start));
            runs.push([start, node.depth, node.upto - node.from]);
        }
        // The root is no run.
        runs.pop();
        let kinds = suffixes.len();
        let runs = counted(&counted(&runs, kinds, |run| run[0]), kinds, |run| run[1]);
        let wide = |run: &[u32; 3]| (run[0] as usize, run[1] as usize, run[2] as usize);
        runs.iter().map(wide).collect()
    }

    /// For each suffix, in the order of the nodes from the last on: where it begins, and the numbers of the inner nodes
    /// above it, the root first.
    fn each_suffix(&self, mut work: impl FnMut(u32, &[u32])) {
        let Nodes { suffixes, inner } = &self.nodes;
        let node = |number: u32| &inner[number as usize];
        let mut path: Vec<u32> = Vec::new();
        // From the last node on, parents come before their children.
        let mut next = (0..inner.len() as u32).rev().peekable();
        for (at, suffix) in (0..suffixes.len() as u32).zip(suffixes).rev() {
            while path.pop_if(|number| node(*number).from > at).is_some() {}
            while let Some(number) = next.next_if(|number| node(*number).upto == at + 1) {
                path.push(number);
            }
            work(*suffix, &path);
        }
    }
}

/// Things in the order of a number below `kinds`; those with the same number stay as they were.
fn counted<T: Copy + Default>(things: &[T], kinds: usize, number: impl Fn(&T) -> u32) -> Vec<T> {
    let mut places = vec![0u32; kinds + 1];
    for thing in things {
        places[number(thing) as usize + 1] += 1;
    }
    for kind in 0..kinds {
        places[kind + 1] += places[kind];
    }
    let mut sorted = vec![T::default(); things.len()];
    for thing in things {
        let place = &mut places[number(thing) as usize];
        sorted[*place as usize] = *thing;
        *place += 1;
    }
    sorted
}

/// Symbols numbered in order of appearance with one more at the end, and how many there are.
fn numbered(symbols: &[u64]) -> (Vec<u32>, usize) {
    let mut kinds: Vec<u64> = Vec::new();
    let mut table = vec![FREE; 64];
    let mut text = Vec::with_capacity(symbols.len() + 1);
    for symbol in symbols {
        if kinds.len() * 2 > table.len() {
            table = vec![FREE; table.len() * 2];
            for (number, kind) in (0u32..).zip(&kinds) {
                let place = place_of(&table, &kinds, *kind);
                table[place] = number;
            }
        }
        let place = place_of(&table, &kinds, *symbol);
        if table[place] == FREE {
            table[place] = kinds.len() as u32;
            kinds.push(*symbol);
        }
        text.push(table[place]);
    }
    text.push(kinds.len() as u32);
    (text, kinds.len() + 1)
}

/// Where the number of a symbol stands in a table, or would stand.
fn place_of(table: &[u32], kinds: &[u64], symbol: u64) -> usize {
    let mask = table.len() - 1;
    let mut at = mix(symbol, 0x5EED) as usize & mask;
    while table[at] != FREE && kinds[table[at] as usize] != symbol {
        at = (at + 1) & mask;
    }
    at
}

/// Groups of places (two or more, rising) whose subtrees are equal, relative depths counted. The symbols of the tree are
/// labels with the step of depth from the element before, so that a record is the same wherever it stands.
pub fn equal_subtrees(sequence: &[Token]) -> Vec<Vec<usize>> {
    let depths: Vec<u16> = sequence.iter().map(|t| t.depth).collect();
    let ends = ends(&depths);
    // The first symbol of a subtree must not tell the depth: it is the label alone; inner ones carry their step, which
    // stands in the symbol before.
    let symbols: Vec<u64> = (0..sequence.len())
        .flat_map(|at| {
            let step = depths
                .get(at + 1)
                .map_or(0, |next| i64::from(*next) - i64::from(depths[at]));
            let label = mix(sequence[at].label, u64::from(sequence[at].plus));
            [label, mix(step as u64, 0x57E9)]
        })
        .collect();
    // Equal subtrees meet at the first node on their way that is at or below their end, and no others do: what comes
    // after the same symbols and is not at its end yet has left them before.
    let tree = SuffixTree::of(&symbols);
    let mut met: Vec<(u32, u32)> = Vec::new();
    tree.each_suffix(|start, path| {
        let at = start as usize / 2;
        if start.is_multiple_of(2) && at < sequence.len() {
            // Without the step after the last element: it belongs to what follows.
            let wanted = (2 * (ends[at] - at) - 1) as u32;
            let depth = |number: &u32| tree.nodes.inner[*number as usize].depth;
            let place = path.partition_point(|number| depth(number) < wanted);
            met.extend(path.get(place).map(|number| (*number, at as u32)));
        }
    });
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of = vec![FREE; tree.nodes.inner.len()];
    for (number, at) in counted(&met, sequence.len(), |(_, at)| *at) {
        let group = &mut group_of[number as usize];
        if *group == FREE {
            *group = groups.len() as u32;
            groups.push(Vec::new());
        }
        groups[*group as usize].push(at as usize);
    }
    groups.retain(|group| group.len() > 1);
    groups
}
