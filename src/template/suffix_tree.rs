//! Suffix tree (Ukkonen, "On-line construction of suffix trees", 1995) and the repeated subtrees that it finds: the
//! reference for the merging by hashes that is used. In: a sequence. Out: repeated runs, groups of equal subtrees.
//! Construction is linear in the length.
//!
//! The printed algorithm of Qiu 2013 loses repeats that end at an inner node and takes runs that are no whole subtrees;
//! here a run counts when it is the whole subtree of its first element.

use std::collections::HashMap;
use std::ops::Range;

use super::repeats::{Token, ends};
use crate::similarity::mix;

/// The root.
const ROOT: u32 = 0;
/// Names of leaves have this bit; the rest is the number of the leaf.
const LEAF: u32 = 1 << 31;
/// A free place of the table.
const FREE: u32 = u32::MAX;
/// Of four places of the table, so many may be taken.
const FULL: usize = 3;

/// An inner node.
#[derive(Debug, Clone, Copy)]
struct Inner {
    /// The edge that leads here: `start..end` of the text.
    start: u32,
    end: u32,
    link: u32,
    parent: u32,
}

/// A leaf; its edge goes to the end of the text. Most nodes are leaves: they are kept small, and apart.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    start: u32,
    parent: u32,
}

/// A suffix tree over numbers. The text ends with a symbol of its own.
#[derive(Debug, Clone)]
pub struct SuffixTree {
    /// Symbols numbered in order of appearance.
    text: Vec<u32>,
    inner: Vec<Inner>,
    leaves: Vec<Leaf>,
    /// Children by parent and first symbol of their edges: a hash table with open addressing whose keys stand in the
    /// nodes. What is small stays in the caches: the time of building is that of memory.
    table: Vec<u32>,
}

/// Where the building stands.
struct Active {
    node: u32,
    edge: u32,
    length: u32,
    waiting: u32,
}

impl SuffixTree {
    /// Builds the tree of a text, to which one last symbol is added that stands nowhere else in it.
    pub fn of(symbols: &[u64]) -> Self {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut text: Vec<u32> = Vec::with_capacity(symbols.len() + 1);
        for symbol in symbols {
            let next = numbers.len() as u32;
            text.push(*numbers.entry(*symbol).or_insert(next));
        }
        text.push(numbers.len() as u32);
        let root = Inner {
            start: 0,
            end: 0,
            link: ROOT,
            parent: ROOT,
        };
        let mut tree = Self {
            inner: vec![root],
            leaves: Vec::with_capacity(text.len()),
            table: vec![FREE; (text.len() * 3 / 2).next_power_of_two()],
            text,
        };
        let mut active = Active {
            node: ROOT,
            edge: 0,
            length: 0,
            waiting: 0,
        };
        for at in 0..tree.text.len() as u32 {
            tree.extend(at, &mut active);
        }
        tree
    }

    /// Where the edge of a node begins, and the node above.
    fn edge(&self, id: u32) -> (u32, u32) {
        if id & LEAF == 0 {
            let node = self.inner[id as usize];
            (node.start, node.parent)
        } else {
            let leaf = self.leaves[(id & !LEAF) as usize];
            (leaf.start, leaf.parent)
        }
    }

    /// Symbols of the edge of a node when the text goes to `upto`.
    fn len_of(&self, id: u32, upto: u32) -> u32 {
        if id & LEAF == 0 {
            let node = self.inner[id as usize];
            node.end - node.start
        } else {
            upto - self.leaves[(id & !LEAF) as usize].start
        }
    }

    /// Where the child of a node whose edge begins with a symbol stands in the table, or would stand.
    fn slot(&self, parent: u32, symbol: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut at = mix(u64::from(parent), u64::from(symbol)) as usize & mask;
        loop {
            let id = self.table[at];
            if id == FREE {
                return at;
            }
            let (start, above) = self.edge(id);
            if above == parent && self.text[start as usize] == symbol {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts a node into the table; it takes the place of the one that stood under the same symbol.
    fn enter(&mut self, id: u32) {
        let (start, parent) = self.edge(id);
        let slot = self.slot(parent, self.text[start as usize]);
        self.table[slot] = id;
    }

    fn add_leaf(&mut self, start: u32, parent: u32) {
        let id = self.leaves.len() as u32 | LEAF;
        self.leaves.push(Leaf { start, parent });
        self.enter(id);
        if self.node_count() * 4 > self.table.len() * FULL {
            let all =
                (1..self.inner.len() as u32).chain((0..self.leaves.len() as u32).map(|n| n | LEAF));
            self.table = vec![FREE; self.table.len() * 2];
            all.for_each(|id| self.enter(id));
        }
    }

    /// Parts the edge of `below` after so many symbols; the new node between.
    fn split(&mut self, below: u32, length: u32) -> u32 {
        let (start, parent) = self.edge(below);
        let own = self.inner.len() as u32;
        self.inner.push(Inner {
            start,
            end: start + length,
            link: ROOT,
            parent,
        });
        self.enter(own);
        if below & LEAF == 0 {
            let node = &mut self.inner[below as usize];
            (node.start, node.parent) = (start + length, own);
        } else {
            let leaf = &mut self.leaves[(below & !LEAF) as usize];
            (leaf.start, leaf.parent) = (start + length, own);
        }
        self.enter(below);
        own
    }

    /// Takes up the symbol at `at`.
    fn extend(&mut self, at: u32, active: &mut Active) {
        let symbol = self.text[at as usize];
        let mut unlinked: Option<u32> = None;
        active.waiting += 1;
        while active.waiting > 0 {
            if active.length == 0 {
                active.edge = at;
            }
            let first = self.text[active.edge as usize];
            let next = self.table[self.slot(active.node, first)];
            if next == FREE {
                self.add_leaf(at, active.node);
                self.link(&mut unlinked, active.node);
            } else {
                let length = self.len_of(next, at + 1);
                if active.length >= length {
                    active.edge += length;
                    active.length -= length;
                    active.node = next;
                    continue;
                }
                let (start, _) = self.edge(next);
                if self.text[(start + active.length) as usize] == symbol {
                    self.link(&mut unlinked, active.node);
                    active.length += 1;
                    break;
                }
                let split = self.split(next, active.length);
                self.add_leaf(at, split);
                self.link(&mut unlinked, split);
                unlinked = Some(split);
            }
            active.waiting -= 1;
            if active.node == ROOT && active.length > 0 {
                active.length -= 1;
                active.edge = at - active.waiting + 1;
            } else {
                active.node = self.inner[active.node as usize].link;
            }
        }
    }

    fn link(&mut self, unlinked: &mut Option<u32>, to: u32) {
        if let Some(from) = unlinked.take() {
            self.inner[from as usize].link = to;
        }
    }

    /// Number of nodes, the root counted.
    pub fn node_count(&self) -> usize {
        self.inner.len() + self.leaves.len()
    }

    /// All nodes as numbers, inner ones first: depth of each in symbols, and its children.
    fn walk(&self) -> Walk {
        let upto = self.text.len() as u32;
        let inner = self.inner.len() as u32;
        let name = |at: u32| if at < inner { at } else { (at - inner) | LEAF };
        let count = self.node_count();
        let parents: Vec<u32> = (0..count as u32).map(|at| self.edge(name(at)).1).collect();
        let mut firsts = vec![0u32; count + 1];
        for parent in parents.iter().skip(1) {
            firsts[*parent as usize + 1] += 1;
        }
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut free = firsts.clone();
        let mut children = vec![ROOT; count - 1];
        for (at, parent) in (0u32..).zip(&parents).skip(1) {
            let place = &mut free[*parent as usize];
            children[*place as usize] = at;
            *place += 1;
        }
        let mut walk = Walk {
            firsts,
            children,
            parents,
            depths: vec![0u32; count],
            order: Vec::with_capacity(count),
        };
        let mut open = vec![ROOT];
        while let Some(node) = open.pop() {
            walk.order.push(node);
            for at in walk.range(node) {
                let child = walk.children[at];
                walk.depths[child as usize] =
                    walk.depths[node as usize] + self.len_of(name(child), upto);
                open.push(child);
            }
        }
        walk
    }

    /// Every run of symbols that ends at an inner node, as start, length and how often it occurs; in order of length.
    pub fn repeated_runs(&self) -> Vec<(usize, usize, usize)> {
        let walk = self.walk();
        let length = self.text.len() as u32;
        let mut leaves = vec![0usize; self.node_count()];
        let mut start = vec![u32::MAX; self.node_count()];
        for node in walk.order.iter().rev() {
            let at = *node as usize;
            if walk.is_leaf(*node) {
                leaves[at] = 1;
                start[at] = length - walk.depths[at];
            }
            let parent = walk.parents[at] as usize;
            if at != parent {
                leaves[parent] += leaves[at];
                start[parent] = start[parent].min(start[at]);
            }
        }
        let mut runs: Vec<(usize, usize, usize)> = (1..self.inner.len())
            .map(|at| (start[at] as usize, walk.depths[at] as usize, leaves[at]))
            .collect();
        runs.sort_unstable_by_key(|(start, len, _)| (*len, *start));
        runs
    }
}

struct Walk {
    /// Children of node `n` are `children[firsts[n]..firsts[n + 1]]`.
    firsts: Vec<u32>,
    children: Vec<u32>,
    parents: Vec<u32>,
    depths: Vec<u32>,
    /// Parents before children.
    order: Vec<u32>,
}

impl Walk {
    fn range(&self, node: u32) -> Range<usize> {
        let at = node as usize;
        self.firsts[at] as usize..self.firsts[at + 1] as usize
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.range(node).is_empty()
    }
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
    let tree = SuffixTree::of(&symbols);
    let walk = tree.walk();
    let length = tree.text.len() as u32;
    // For each leaf, the first node on its way down at or below the end of the subtree: equal subtrees meet there.
    let mut groups: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    let mut path: Vec<u32> = Vec::new();
    let mut open = vec![(ROOT, 0usize)];
    while let Some((node, level)) = open.pop() {
        path.truncate(level);
        path.push(node);
        let start = (length - walk.depths[node as usize]) as usize;
        if walk.is_leaf(node) && start < symbols.len() && start.is_multiple_of(2) {
            let at = start / 2;
            // Without the step after the last element: it belongs to what follows.
            let wanted = (2 * (ends[at] - at) - 1) as u32;
            let place = path.partition_point(|n| walk.depths[*n as usize] < wanted);
            if let Some(locus) = path.get(place) {
                groups.entry((*locus, wanted)).or_default().push(at);
            }
        }
        for child in &walk.children[walk.range(node)] {
            open.push((*child, level + 1));
        }
    }
    let mut found: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
    found.iter_mut().for_each(|g| g.sort_unstable());
    found.sort_unstable();
    found
}
