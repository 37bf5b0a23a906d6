//! The elements of a subtree as flat arrays. In: a [`Page`] and a node, or a tree written as `a(b(c),d)`. Out: a
//! [`Skeleton`]. Text, scripts, styles and comments are left out.

use super::label::{hash_text, mix, name_hash};
use crate::page::{NodeId, Page, Tag};

/// Most elements of one skeleton; a longer page is cut off.
const MAX_NODES: usize = 60_000;

/// What an element is called when trees are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Labels {
    /// Its tag alone, as the papers have it.
    Tags,
    /// Its tag with the stable words of class and id.
    Names,
    /// The same, and inline elements left out: they come and go with what an author writes.
    #[default]
    Blocks,
}

/// The elements of a subtree in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skeleton {
    pub(super) labels: Vec<u64>,
    pub(super) depths: Vec<u16>,
    pub(super) parents: Vec<u32>,
    pub(super) ends: Vec<u32>,
}

impl Skeleton {
    /// The elements of the subtree at `root`, which has depth 0.
    pub fn of(page: &Page, root: NodeId, labels: Labels) -> Self {
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
            let inline = labels == Labels::Blocks && !node.tag.is_block() && at != root;
            if node.tag == Tag::TEXT || (inline && !node.tag.is_invisible()) {
                at += 1;
            } else if node.tag.is_invisible() && at != root {
                at = node.end;
            } else {
                let label = match labels {
                    Labels::Tags => u64::from(node.tag.0),
                    Labels::Names | Labels::Blocks => name_hash(page, at),
                };
                let own = skeleton.push(label, &open);
                open.push((node.end, own));
                at += 1;
            }
        }
        while !open.is_empty() {
            skeleton.close(&mut open);
        }
        skeleton
    }

    /// The body of a page.
    pub fn of_page(page: &Page, labels: Labels) -> Self {
        page.body()
            .map_or_else(Self::default, |body| Self::of(page, body, labels))
    }

    /// A tree written as `a(b(c),d)`; what cannot be read is skipped.
    pub fn parse(text: &str) -> Self {
        let mut skeleton = Self::default();
        let mut open: Vec<(NodeId, u32)> = Vec::new();
        let mut name = String::new();
        let mut last = None;
        for char in text.chars().chain(std::iter::once(',')) {
            if !matches!(char, '(' | ')' | ',') {
                name.push(char);
                continue;
            }
            if !name.is_empty() {
                last = Some(skeleton.push(hash_text(name.as_bytes()), &open));
                name.clear();
            }
            match (char, last) {
                ('(', Some(own)) => open.push((0, own)),
                (')', _) if !open.is_empty() => skeleton.close(&mut open),
                _ => {}
            }
        }
        while !open.is_empty() {
            skeleton.close(&mut open);
        }
        skeleton
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

    /// Children of node `at`, in order.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
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
    pub(super) fn is_leaf(&self, at: usize) -> bool {
        self.ends[at] as usize == at + 1
    }

    /// Nodes from the root to `at`, at most `limit` of them, nearest the node.
    pub(super) fn path(&self, at: usize, limit: usize) -> Vec<usize> {
        let mut path = vec![at];
        let mut node = at;
        while node != 0 && path.len() < limit {
            node = self.parents[node] as usize;
            path.push(node);
        }
        path.reverse();
        path
    }

    /// For each node a hash of the labels from the root to it.
    pub fn path_hashes(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = Vec::with_capacity(self.len());
        for (at, label) in self.labels.iter().enumerate() {
            let above = if at == 0 {
                0
            } else {
                hashes[self.parents[at] as usize]
            };
            hashes.push(mix(above, *label));
        }
        hashes
    }

    /// The tree with only its upper levels, as many as hold at most `limit` nodes (the root always stays).
    pub(super) fn top(&self, limit: usize) -> std::borrow::Cow<'_, Skeleton> {
        if self.len() <= limit {
            return std::borrow::Cow::Borrowed(self);
        }
        let deepest = self.depths.iter().copied().max().unwrap_or_default();
        let mut counts = vec![0usize; usize::from(deepest) + 1];
        for depth in &self.depths {
            counts[usize::from(*depth)] += 1;
        }
        let mut sum = 0;
        let levels = counts
            .iter()
            .take_while(|count| {
                sum += **count;
                sum <= limit
            })
            .count()
            .max(1);
        let kept = (0..self.len()).filter(|at| usize::from(self.depths[*at]) < levels);
        std::borrow::Cow::Owned(Skeleton::from_depths(
            kept.map(|at| (self.labels[at], self.depths[at])),
        ))
    }
}
