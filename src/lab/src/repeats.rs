//! Merging of repeated records. In: a sequence of elements with depths. Out: the same with equal sibling subtrees kept
//! once and marked `+`. Bottom up by hashes of subtrees, so that outer repeats that become equal by the merging of inner
//! ones are merged too; linear in the length.

use taojin_extract::similarity::mix;

/// A free place of the table of children.
const FREE: u32 = u32::MAX;

/// One element of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// Hash of its name.
    pub label: u64,
    /// Depth; the root has 0.
    pub depth: u16,
    /// It stands for one or more equal siblings.
    pub plus: bool,
}

/// A merged sequence, and for each of its tokens where it stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// What is left.
    pub tokens: Vec<Token>,
    /// Index of each in the sequence that was merged.
    pub places: Vec<usize>,
}

/// For each element of a preorder sequence, one past the end of its subtree.
pub fn ends(depths: impl ExactSizeIterator<Item = u16>) -> Vec<u32> {
    let mut ends = vec![depths.len() as u32; depths.len()];
    // Elements that are not at their end yet, with their depths.
    let mut open: Vec<(u32, u16)> = Vec::new();
    for (at, depth) in (0u32..).zip(depths) {
        while let Some((last, _)) = open.pop_if(|(_, above)| *above >= depth) {
            ends[last as usize] = at;
        }
        open.push((at, depth));
    }
    ends
}

/// Merges equal siblings, from the leaves up.
pub fn merge(sequence: &[Token]) -> Merged {
    let ends = ends(sequence.iter().map(|t| t.depth));
    let mut hashes = vec![0u64; sequence.len()];
    let mut plus: Vec<bool> = sequence.iter().map(|t| t.plus).collect();
    let mut dropped = vec![false; sequence.len()];
    let mut table: Vec<u32> = Vec::new();
    for at in (0..sequence.len()).rev() {
        mark_equal(at, &ends, &hashes, &mut table, |same, child| {
            plus[same] = true;
            dropped[child] = true;
        });
        let mut hash = mix(sequence[at].label, 0x7EE);
        let mut child = at + 1;
        while child < ends[at] as usize {
            if !dropped[child] {
                hash = mix(mix(hash, hashes[child]), u64::from(plus[child]));
            }
            child = ends[child] as usize;
        }
        hashes[at] = hash;
    }
    let mut merged = Merged::default();
    let mut at = 0;
    while at < sequence.len() {
        if dropped[at] {
            at = ends[at] as usize;
            continue;
        }
        merged.tokens.push(Token {
            plus: plus[at],
            ..sequence[at]
        });
        merged.places.push(at);
        at += 1;
    }
    merged
}

/// Calls `found` with the first of some equal children and with each other one. The table is of use again: of it only
/// as much is cleared as there are children, so that a wide element does not make all others dear.
fn mark_equal(
    parent: usize,
    ends: &[u32],
    hashes: &[u64],
    table: &mut Vec<u32>,
    mut found: impl FnMut(usize, usize),
) {
    let first = parent + 1;
    let children = || {
        let inside = |child: usize| (child < ends[parent] as usize).then_some(child);
        std::iter::successors(inside(first), move |child| inside(ends[*child] as usize))
    };
    let places = (2 * children().count()).next_power_of_two();
    // An only child is like no other.
    if places <= 2 {
        return;
    }
    if table.len() < places {
        table.resize(places, FREE);
    }
    let table = &mut table[..places];
    table.fill(FREE);
    for child in children() {
        let mut place = hashes[child] as usize & (places - 1);
        while table[place] != FREE && hashes[table[place] as usize] != hashes[child] {
            place = (place + 1) & (places - 1);
        }
        if table[place] == FREE {
            table[place] = child as u32;
        } else {
            found(table[place] as usize, child);
        }
    }
}
