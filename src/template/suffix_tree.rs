//! Suffix tree (Ukkonen, "On-line construction of suffix trees", 1995) and the repeated subtrees that it finds: the
//! reference for the merging by hashes that is used. In: a sequence. Out: repeated runs, groups of equal subtrees.
//! Construction is linear in the length.
//!
//! The printed algorithm of Qiu 2013 loses repeats that end at an inner node and takes runs that are no whole subtrees;
//! here a run counts when it is the whole subtree of its first element.

use std::collections::HashMap;

use super::repeats::{Token, ends};
use crate::similarity::mix;

/// The root.
const ROOT: u32 = 0;

#[derive(Debug, Clone, Copy)]
struct Node {
    /// The edge that leads here: `start..end` of the text; a leaf's end is the text's.
    start: u32,
    end: u32,
    link: u32,
    /// First child and next sibling: kept as lists, walked only after the building.
    parent: u32,
}

/// A suffix tree over numbers. The text ends with a symbol of its own.
#[derive(Debug, Clone)]
pub struct SuffixTree {
    text: Vec<u64>,
    nodes: Vec<Node>,
    /// Child by node and first symbol of its edge.
    edges: HashMap<(u32, u64), u32>,
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
        let mut text = symbols.to_vec();
        let last = symbols.iter().fold(0x5u64, |h, s| mix(h, *s));
        let free = (0..).map(|n| mix(last, n)).find(|s| !symbols.contains(s));
        text.push(free.unwrap_or(last));
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * text.len()),
            edges: HashMap::with_capacity(2 * text.len()),
            text,
        };
        tree.nodes.push(Node {
            start: 0,
            end: 0,
            link: ROOT,
            parent: ROOT,
        });
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

    fn len_of(&self, node: u32, upto: u32) -> u32 {
        let node = self.nodes[node as usize];
        node.end.min(upto) - node.start
    }

    fn add(&mut self, start: u32, end: u32, parent: u32) -> u32 {
        self.nodes.push(Node {
            start,
            end,
            link: ROOT,
            parent,
        });
        let own = self.nodes.len() as u32 - 1;
        self.edges.insert((parent, self.text[start as usize]), own);
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
            match self.edges.get(&(active.node, first)).copied() {
                None => {
                    self.add(at, u32::MAX, active.node);
                    self.link(&mut unlinked, active.node);
                }
                Some(next) => {
                    let length = self.len_of(next, at + 1);
                    if active.length >= length {
                        active.edge += length;
                        active.length -= length;
                        active.node = next;
                        continue;
                    }
                    let start = self.nodes[next as usize].start;
                    if self.text[(start + active.length) as usize] == symbol {
                        self.link(&mut unlinked, active.node);
                        active.length += 1;
                        break;
                    }
                    let split = self.add(start, start + active.length, active.node);
                    self.add(at, u32::MAX, split);
                    let below = &mut self.nodes[next as usize];
                    below.start += active.length;
                    below.parent = split;
                    let symbol = self.text[below.start as usize];
                    self.edges.insert((split, symbol), next);
                    self.link(&mut unlinked, split);
                    unlinked = Some(split);
                }
            }
            active.waiting -= 1;
            if active.node == ROOT && active.length > 0 {
                active.length -= 1;
                active.edge = at - active.waiting + 1;
            } else {
                active.node = self.nodes[active.node as usize].link;
            }
        }
    }

    fn link(&mut self, unlinked: &mut Option<u32>, to: u32) {
        if let Some(from) = unlinked.take() {
            self.nodes[from as usize].link = to;
        }
    }

    /// Number of nodes, the root counted.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Depth of each node in symbols, children of each node, and for leaves the start of their suffix.
    fn walk(&self) -> Walk {
        let upto = self.text.len() as u32;
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for node in 1..self.nodes.len() as u32 {
            children[self.nodes[node as usize].parent as usize].push(node);
        }
        let mut depths = vec![0u32; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = vec![ROOT];
        while let Some(node) = open.pop() {
            order.push(node);
            for child in &children[node as usize] {
                depths[*child as usize] = depths[node as usize] + self.len_of(*child, upto);
                open.push(*child);
            }
        }
        Walk {
            children,
            depths,
            order,
        }
    }

    /// Every run of symbols that ends at an inner node, as start, length and how often it occurs; in order of length.
    pub fn repeated_runs(&self) -> Vec<(usize, usize, usize)> {
        let walk = self.walk();
        let length = self.text.len() as u32;
        let mut leaves = vec![0usize; self.nodes.len()];
        let mut start = vec![u32::MAX; self.nodes.len()];
        for node in walk.order.iter().rev() {
            let at = *node as usize;
            if walk.children[at].is_empty() {
                leaves[at] = 1;
                start[at] = length - walk.depths[at];
            }
            let parent = self.nodes[at].parent as usize;
            if at != parent {
                leaves[parent] += leaves[at];
                start[parent] = start[parent].min(start[at]);
            }
        }
        let mut runs: Vec<(usize, usize, usize)> = (1..self.nodes.len())
            .filter(|at| !walk.children[*at].is_empty())
            .map(|at| (start[at] as usize, walk.depths[at] as usize, leaves[at]))
            .collect();
        runs.sort_unstable_by_key(|(start, len, _)| (*len, *start));
        runs
    }
}

struct Walk {
    children: Vec<Vec<u32>>,
    depths: Vec<u32>,
    /// Parents before children.
    order: Vec<u32>,
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
        if walk.children[node as usize].is_empty()
            && start < symbols.len()
            && start.is_multiple_of(2)
        {
            let at = start / 2;
            // Without the step after the last element: it belongs to what follows.
            let wanted = (2 * (ends[at] - at) - 1) as u32;
            let place = path.partition_point(|n| walk.depths[*n as usize] < wanted);
            if let Some(locus) = path.get(place) {
                groups.entry((*locus, wanted)).or_default().push(at);
            }
        }
        for child in &walk.children[node as usize] {
            open.push((*child, level + 1));
        }
    }
    let mut found: Vec<Vec<usize>> = groups.into_values().filter(|g| g.len() > 1).collect();
    found.iter_mut().for_each(|g| g.sort_unstable());
    found.sort_unstable();
    found
}
