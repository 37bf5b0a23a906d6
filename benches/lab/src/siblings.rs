//! Comment blocks as the paper finds them (朱毅华等, 基于子树相似度计算的网页评论提取算法研究, 2013), for
//! comparison with the extraction. In: a [`Page`], a measure, a threshold. Out: the subtrees taken for comments.
//!
//! From the body down, for a node of height greater than `level`: a child qualifies when at least `b - 1` of its
//! siblings are more similar to it than `a`; with at least `b` such children (the paper: more than `b`) they are
//! comments. The paper's parameters are `a = 0.8`, `level = 6`, `b = 5`. All children are looked at in turn, so hits nest; of nested ones the one with most text stays.

use taojin_extract::page::{NodeId, Page, Tag};
use taojin_extract::similarity::Skeleton;

use crate::similarity::Measure;

/// Most children of one node that are compared: the rest of a longer list is like its beginning.
const MOST: usize = 120;

/// The lists of a page in which comments may stand, all pairs measured: asked for one threshold after the other.
pub(crate) struct Siblings<'a> {
    page: &'a Page,
    least: usize,
    lists: Vec<List>,
}

/// Children of one node.
struct List {
    parent: NodeId,
    children: Vec<NodeId>,
    /// For each child the number of its shape.
    shapes: Vec<usize>,
    /// Similarity of each shape with those before it: half a matrix, row by row. Equal shapes have 1.
    half: Vec<f64>,
}

impl<'a> Siblings<'a> {
    /// Measures the children of all nodes higher than `level` nodes that have at least `least` of them.
    pub(crate) fn of(page: &'a Page, measure: Measure, level: usize, least: usize) -> Self {
        let heights = heights(page);
        let nodes = page.body().map_or(0..0, |body| page.subtree(body));
        let lists = nodes
            .filter(|id| {
                let tag = page.node(*id).tag;
                tag != Tag::TEXT
                    && !tag.is_invisible()
                    && usize::from(heights[*id as usize]) > level
            })
            .filter_map(|id| List::of(page, id, measure, least))
            .collect();
        Self { page, least, lists }
    }

    /// The subtrees that are comments when similarity above `alike` makes siblings alike.
    pub(crate) fn above(&self, alike: f64) -> Vec<NodeId> {
        let page = self.page;
        let mut hits: Vec<(NodeId, Vec<NodeId>, usize)> = Vec::new();
        for list in &self.lists {
            let found = list.above(alike, self.least);
            if found.len() >= self.least {
                let bytes = found.iter().map(|c| text_bytes(page, *c)).sum();
                hits.push((list.parent, found, bytes));
            }
        }
        // Of nested hits the one with most text; of equals the deeper.
        hits.sort_by(|a, b| b.2.cmp(&a.2).then(b.0.cmp(&a.0)));
        let mut kept: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        for (id, found, _) in hits {
            let apart = |other: NodeId| {
                let (a, b) = (page.subtree(id), page.subtree(other));
                a.end <= b.start || b.end <= a.start
            };
            if kept.iter().all(|(other, _)| apart(*other)) {
                kept.push((id, found));
            }
        }
        let mut out: Vec<NodeId> = kept.into_iter().flat_map(|(_, found)| found).collect();
        out.sort_unstable();
        out
    }
}

impl List {
    fn of(page: &Page, parent: NodeId, measure: Measure, least: usize) -> Option<Self> {
        let shown = |id: &NodeId| {
            let tag = page.node(*id).tag;
            tag != Tag::TEXT && !tag.is_invisible()
        };
        let children: Vec<NodeId> = page.children(parent).filter(shown).take(MOST).collect();
        if children.len() < least {
            return None;
        }
        let mut trees: Vec<Skeleton> = Vec::new();
        let mut shapes = Vec::with_capacity(children.len());
        for child in &children {
            let tree = Skeleton::of_tags(page, *child);
            let known = trees.iter().position(|other| *other == tree);
            shapes.push(known.unwrap_or(trees.len()));
            if known.is_none() {
                trees.push(tree);
            }
        }
        let mut half = Vec::with_capacity(trees.len() * trees.len().saturating_sub(1) / 2);
        for (n, tree) in trees.iter().enumerate() {
            half.extend(
                trees
                    .iter()
                    .take(n)
                    .map(|other| measure.similarity(tree, other)),
            );
        }
        Some(Self {
            parent,
            children,
            shapes,
            half,
        })
    }

    fn similarity(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.shapes[a], self.shapes[b]);
        let (low, high) = (a.min(b), a.max(b));
        if low == high {
            return 1.0;
        }
        self.half[high * (high - 1) / 2 + low]
    }

    /// Children that are alike to at least `least - 1` siblings.
    fn above(&self, alike: f64, least: usize) -> Vec<NodeId> {
        let mut counts = vec![1usize; self.children.len()];
        for a in 0..counts.len() {
            for b in a + 1..counts.len() {
                if self.similarity(a, b) > alike {
                    counts[a] += 1;
                    counts[b] += 1;
                }
            }
        }
        let enough = self
            .children
            .iter()
            .zip(counts)
            .filter(|(_, n)| *n >= least);
        enough.map(|(child, _)| *child).collect()
    }
}

/// Nodes on the longest way down from each element, itself included.
fn heights(page: &Page) -> Vec<u16> {
    let mut out = vec![1u16; page.nodes().len()];
    for at in (1..page.nodes().len()).rev() {
        let node = page.node(at as NodeId);
        if node.tag != Tag::TEXT {
            let parent = node.parent as usize;
            out[parent] = out[parent].max(out[at].saturating_add(1));
        }
    }
    out
}

fn text_bytes(page: &Page, id: NodeId) -> usize {
    page.shown_texts(page.subtree(id))
        .map(|t| page.text(t).trim().len())
        .sum()
}
