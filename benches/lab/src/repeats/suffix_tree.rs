//! A suffix tree (Ukkonen, "On-line construction of suffix trees", Algorithmica 14, 1995). In: a text of symbols. Out: its
//! nodes; an inner node stands for a string that occurs at least twice. Linear in the length, but for the look-up of a child.

use std::collections::BTreeMap;

/// Number of the root.
pub(super) const ROOT: usize = 0;

/// One node with the edge that leads to it.
#[derive(Debug, Clone, Default)]
pub(super) struct TreeNode {
    /// Place in the text where the string of the edge begins.
    start: usize,
    /// One past its end; `None` for a leaf, whose edge reaches to the end of the text.
    end: Option<usize>,
    /// The node of the same string without its first symbol.
    link: usize,
    /// By the first symbol of the edge; the last symbol of all is a number of its own.
    pub(super) children: BTreeMap<u64, usize>,
}

/// The suffix tree of a text, to which one last symbol is added that stands nowhere else in it.
#[derive(Debug)]
pub(super) struct SuffixTree {
    nodes: Vec<TreeNode>,
    /// Length of the text with its last symbol.
    length: usize,
}

/// Where the construction stands between two symbols.
struct ActivePoint {
    node: usize,
    /// Place in the text of the symbol that begins the active edge.
    edge: usize,
    length: usize,
    /// Suffixes that are in the tree only as beginnings of others.
    remaining: usize,
}

impl SuffixTree {
    /// Builds the tree. No symbol of the text may be `u64::MAX`.
    pub(super) fn new(text: &[u64]) -> Self {
        let length = text.len() + 1;
        let symbol = |at: usize| text.get(at).copied().unwrap_or(u64::MAX);
        let mut tree = Self {
            nodes: vec![TreeNode::default()],
            length,
        };
        tree.nodes[ROOT].end = Some(0);
        let mut active = ActivePoint {
            node: ROOT,
            edge: 0,
            length: 0,
            remaining: 0,
        };
        for at in 0..length {
            tree.extend(at, &symbol, &mut active);
        }
        tree
    }

    /// A node.
    pub(super) fn node(&self, id: usize) -> &TreeNode {
        &self.nodes[id]
    }

    /// Whether a node is a leaf.
    pub(super) fn is_leaf(&self, id: usize) -> bool {
        self.nodes[id].end.is_none()
    }

    /// Where the string of the edge to a node stands in the text, the last symbol of all included.
    pub(super) fn edge(&self, id: usize) -> std::ops::Range<usize> {
        let node = &self.nodes[id];
        node.start..node.end.unwrap_or(self.length)
    }

    /// Adds one symbol to all suffixes.
    fn extend(&mut self, at: usize, symbol: &impl Fn(usize) -> u64, active: &mut ActivePoint) {
        active.remaining += 1;
        // The inner node of this round whose link is not known yet.
        let mut unlinked: Option<usize> = None;
        while active.remaining > 0 {
            if active.length == 0 {
                active.edge = at;
            }
            let Some(next) = self.child(active.node, symbol(active.edge)) else {
                let leaf = self.add(at, None);
                let children = &mut self.nodes[active.node].children;
                children.insert(symbol(active.edge), leaf);
                self.set_link(&mut unlinked, active.node);
                self.move_on(at, active);
                continue;
            };
            let edge = self.edge(next);
            let reach = edge.end.min(at + 1) - edge.start;
            if active.length >= reach {
                active.edge += reach;
                active.length -= reach;
                active.node = next;
                continue;
            }
            if symbol(edge.start + active.length) == symbol(at) {
                active.length += 1;
                self.set_link(&mut unlinked, active.node);
                return;
            }
            let middle = self.split(next, active, symbol);
            let leaf = self.add(at, None);
            self.nodes[middle].children.insert(symbol(at), leaf);
            self.set_link(&mut unlinked, middle);
            unlinked = Some(middle);
            self.move_on(at, active);
        }
    }

    /// Puts a node into the edge to `next`, where the active point is.
    fn split(
        &mut self,
        next: usize,
        active: &ActivePoint,
        symbol: &impl Fn(usize) -> u64,
    ) -> usize {
        let start = self.nodes[next].start;
        let middle = self.add(start, Some(start + active.length));
        let children = &mut self.nodes[active.node].children;
        children.insert(symbol(active.edge), middle);
        self.nodes[next].start += active.length;
        let rest = symbol(self.nodes[next].start);
        self.nodes[middle].children.insert(rest, next);
        middle
    }

    /// To the next shorter suffix.
    fn move_on(&self, at: usize, active: &mut ActivePoint) {
        active.remaining -= 1;
        if active.node == ROOT && active.length > 0 {
            active.length -= 1;
            active.edge = at + 1 - active.remaining;
        } else if active.node != ROOT {
            active.node = self.nodes[active.node].link;
        }
    }

    fn set_link(&mut self, unlinked: &mut Option<usize>, to: usize) {
        if let Some(node) = unlinked.take() {
            self.nodes[node].link = to;
        }
    }

    fn child(&self, node: usize, symbol: u64) -> Option<usize> {
        self.nodes[node].children.get(&symbol).copied()
    }

    fn add(&mut self, start: usize, end: Option<usize>) -> usize {
        self.nodes.push(TreeNode {
            start,
            end,
            ..TreeNode::default()
        });
        self.nodes.len() - 1
    }
}
