//! The elements of a subtree as flat arrays, each with a label. Text, scripts, styles and comments are excluded.

use super::label::name_hash;
use crate::page::{NodeId, Page, Tag};

/// Most elements of one skeleton; a longer page is cut off.
const MAX_NODES: usize = 60_000;

/// The elements of a subtree in document order. Of each it holds the label (a hash, or the number of its tag), the depth
/// below the root, the parent, and one past the last element of its subtree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skeleton {
    labels: Vec<u64>,
    depths: Vec<u16>,
    parents: Vec<u32>,
    ends: Vec<u32>,
}

impl Skeleton {
    /// The elements of the subtree at `root`, which has depth 0, with the labels that `label` gives them. Where it gives
    /// none, the element is skipped and its children take its place.
    pub fn new(page: &Page, root: NodeId, label: impl Fn(NodeId) -> Option<u64>) -> Self {
        let mut skeleton = Self::default();
        if page.nodes().is_empty() {
            return skeleton;
        }
        let mut open: Vec<(NodeId, u32)> = Vec::new();
        let mut at = root;
        let end = page.node(root).end;
        while at < end && skeleton.len() < MAX_NODES {
            let node = page.node(at);
            while open.last().is_some_and(|(end, _)| *end <= at) {
                skeleton.close(&mut open);
            }
            if node.tag.is_invisible() && at != root {
                at = node.end;
                continue;
            }
            if node.tag != Tag::TEXT
                && let Some(label) = label(at)
            {
                let own = skeleton.push(label, &open);
                open.push((node.end, own));
            }
            at += 1;
        }
        while !open.is_empty() {
            skeleton.close(&mut open);
        }
        skeleton
    }

    /// The same with the tags as labels.
    pub fn of_tags(page: &Page, root: NodeId) -> Self {
        Self::new(page, root, |id| Some(u64::from(page.node(id).tag.0)))
    }

    /// The same with tags and stable words of class and id as labels.
    pub fn of_names(page: &Page, root: NodeId) -> Self {
        Self::new(page, root, |id| Some(name_hash(page, id)))
    }

    /// A tree from labels with depths in document order; the first has depth 0, and a child is one deeper than its
    /// parent (deeper ones are taken for children).
    pub fn from_depths(nodes: impl IntoIterator<Item = (u64, u16)>) -> Self {
        let mut skeleton = Self::default();
        let mut open: Vec<(NodeId, u32)> = Vec::new();
        for (label, depth) in nodes {
            let depth = usize::from(depth).max(usize::from(!skeleton.is_empty()));
            while open.len() > depth {
                skeleton.close(&mut open);
            }
            let own = skeleton.push(label, &open);
            open.push((0, own));
        }
        while !open.is_empty() {
            skeleton.close(&mut open);
        }
        skeleton
    }

    fn push(&mut self, label: u64, open: &[(NodeId, u32)]) -> u32 {
        let own = self.labels.len() as u32;
        self.labels.push(label);
        self.depths
            .push(u16::try_from(open.len()).unwrap_or(u16::MAX));
        self.parents.push(open.last().map_or(own, |(_, at)| *at));
        self.ends.push(own + 1);
        own
    }

    fn close(&mut self, open: &mut Vec<(NodeId, u32)>) {
        if let Some((_, own)) = open.pop() {
            self.ends[own as usize] = self.labels.len() as u32;
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Labels in document order.
    pub fn labels(&self) -> &[u64] {
        &self.labels
    }

    /// Depths in document order; the root has 0.
    pub fn depths(&self) -> &[u16] {
        &self.depths
    }

    /// Parents in document order; the root is its own.
    pub fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// For each element one past the last of its subtree.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Children of node `at`, in order.
    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.ends[at] as usize;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.ends[child] as usize;
                child
            })
        })
    }

    /// True for a node without children.
    pub fn is_leaf(&self, at: usize) -> bool {
        self.ends[at] as usize == at + 1
    }

    /// Nodes from the root to `at`, at most `limit` of them, nearest the node.
    pub fn path(&self, at: usize, limit: usize) -> Vec<usize> {
        let mut path = vec![at];
        let mut node = at;
        while node != 0 && path.len() < limit {
            node = self.parents[node] as usize;
            path.push(node);
        }
        path.reverse();
        path
    }
}
