//! Suffix trees and the repeated subtrees that they find: the reference for the merging by hashes that is used. In: a
//! sequence. Out: repeated runs, groups of equal subtrees. Linear in the length: the tree is made from the order of the
//! suffixes, whose steps go through memory from end to end.
//!
//! The printed algorithm of Qiu 2013 loses repeats that end at an inner node and takes runs that are no whole subtrees;
//! here a run counts when it is the whole subtree of its first element.

mod order;
#[cfg(test)]
mod tests;

use crate::repeats::{Token, ends};
use taojin_extract::similarity::mix;

use order::Leaves;

/// Leaves that are read at once.
const AT_ONCE: usize = 256;
/// A free place of the table of symbols.
const FREE: u32 = u32::MAX;

/// A run of symbols that ends at an inner node: where it first stands, how many symbols, how often it occurs.
pub type Run = (u32, u32, u32);

/// A suffix tree over numbers. The text ends with a symbol of its own.
#[derive(Debug, Clone)]
pub struct SuffixTree {
    leaves: Leaves,
}

impl SuffixTree {
    /// Builds the tree of a text, to which one last symbol is added that stands nowhere else in it.
    pub fn of(symbols: &[u64]) -> Self {
        let (text, kinds) = numbered(symbols);
        Self {
            leaves: order::leaves(text, kinds),
        }
    }

    /// Number of nodes, the root counted.
    pub fn node_count(&self) -> usize {
        let mut inner = 1;
        self.each_inner(|_| inner += 1);
        inner + self.leaves.suffixes.len()
    }

    /// Every run of symbols that ends at an inner node, longer ones before those they begin with.
    pub fn repeated_runs(&self) -> Vec<Run> {
        let mut runs = Vec::with_capacity(self.leaves.suffixes.len());
        self.each_inner(|run| runs.push(run));
        runs
    }

    /// The leaves from left to right: where the suffix begins, what it shares with the one before, and what is asked of
    /// it. Both answers stand at places far apart, so many leaves are asked at once, none of which waits for another.
    fn each_leaf<T: Copy + Default>(
        &self,
        ask: impl Fn(u32) -> T,
        mut work: impl FnMut(u32, u32, T),
    ) {
        let mut answers = [(0u32, T::default()); AT_ONCE];
        for suffixes in self.leaves.suffixes.chunks(AT_ONCE) {
            for (answer, suffix) in answers.iter_mut().zip(suffixes) {
                *answer = (self.leaves.shared[*suffix as usize], ask(*suffix));
            }
            for (suffix, (shared, answer)) in suffixes.iter().zip(&answers) {
                work(*suffix, *shared, *answer);
            }
        }
    }

    /// The inner nodes but the root, children before their parents.
    fn each_inner(&self, mut found: impl FnMut(Run)) {
        // What is open: symbols shared, the first leaf, and the least suffix of those that are done.
        let mut open: Vec<(u32, u32, u32)> = vec![(0, 0, u32::MAX)];
        let (mut at, mut last) = (0u32, u32::MAX);
        let mut next = |suffix: u32, shared: u32| {
            let (mut from, mut start) = (at.wrapping_sub(1), last);
            while let Some((depth, first, least)) = open.pop_if(|(depth, ..)| *depth > shared) {
                (from, start) = (first, start.min(least));
                found((start, depth, at - first));
            }
            match open.last_mut() {
                Some((depth, _, least)) if *depth == shared => *least = start.min(*least),
                _ => open.push((shared, from, start)),
            }
            (at, last) = (at + 1, suffix);
        };
        self.each_leaf(|_| (), |suffix, shared, ()| next(suffix, shared));
        next(u32::MAX, 0);
    }
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
    let tree = SuffixTree::of(&symbols(sequence));
    let lengths = lengths(sequence);
    let length = |suffix: u32| match (suffix.is_multiple_of(2), suffix as usize / 2) {
        (true, at) => lengths.get(at).copied().unwrap_or(0),
        (false, _) => 0,
    };
    let mut group_of = vec![FREE; sequence.len()];
    let mut sizes: Vec<u32> = Vec::new();
    // Equal subtrees stand side by side in the order of suffixes and share all their symbols, and no others do: what
    // begins alike and is not at its end yet goes on with another step. Open are subtrees that a later suffix may be
    // equal to: symbols, and number of the group.
    let mut open: Vec<(u32, u32)> = Vec::new();
    tree.each_leaf(length, |suffix, shared, length| {
        while open.pop_if(|(length, _)| *length > shared).is_some() {}
        if length == 0 {
            return;
        }
        if open.last().is_none_or(|(last, _)| *last != length) {
            open.push((length, sizes.len() as u32));
            sizes.push(0);
        }
        if let Some((_, group)) = open.last() {
            group_of[suffix as usize / 2] = *group;
            sizes[*group as usize] += 1;
        }
    });
    gathered(&group_of, &sizes)
}

/// Two symbols an element: its label, and the step to the next depth. The first symbol of a subtree does not tell the
/// depth.
fn symbols(sequence: &[Token]) -> Vec<u64> {
    let mut symbols = Vec::with_capacity(2 * sequence.len());
    for (at, token) in sequence.iter().enumerate() {
        let step = sequence
            .get(at + 1)
            .map_or(0, |next| i64::from(next.depth) - i64::from(token.depth));
        symbols.push(mix(token.label, u64::from(token.plus)));
        symbols.push(mix(step as u64, 0x57E9));
    }
    symbols
}

/// How many symbols the subtree of each element has, without the step after its last: that belongs to what follows.
fn lengths(sequence: &[Token]) -> Vec<u32> {
    let ends = ends(sequence.iter().map(|t| t.depth));
    let length = |(at, end): (u32, u32)| 2 * (end - at) - 1;
    (0u32..).zip(ends).map(length).collect()
}

/// Members of each group with two or more, groups in the order of their first.
fn gathered(group_of: &[u32], sizes: &[u32]) -> Vec<Vec<usize>> {
    let mut place_of = vec![FREE; sizes.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, group) in group_of.iter().map(|group| *group as usize).enumerate() {
        if sizes[group] < 2 {
            continue;
        }
        if place_of[group] == FREE {
            place_of[group] = groups.len() as u32;
            groups.push(Vec::with_capacity(sizes[group] as usize));
        }
        groups[place_of[group] as usize].push(at);
    }
    groups
}
