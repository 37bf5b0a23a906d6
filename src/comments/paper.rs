//! Comment blocks as the paper finds them (Zhu et al., "Web comment extraction based on path of leaf", 2013), for
//! comparison. In: a [`Page`], a measure, a threshold. Out: the subtrees taken for comments. Production does not use it.
//!
//! From the body down, for a node of height greater than `level`: a child qualifies when at least `b - 1` of its
//! siblings are more similar to it than `a`; with at least `b` such children (the paper: more than `b`) they are
//! comments. All children are looked at in turn, so hits nest; of nested ones the one with most text stays.

use crate::page::{NodeId, Page, Tag};
use crate::similarity::{Labels, Measure, Skeleton};

/// Most children of one node that are compared: the rest of a longer list is like its beginning.
const MOST: usize = 120;

/// Parameters; the paper's are `a = 0.8`, `level = 6`, `b = 5`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// How alike two trees are.
    pub measure: Measure,
    /// Similarity above which siblings are alike.
    pub alike: f64,
    /// Height in nodes that a node must exceed.
    pub level: usize,
    /// Fewest comments.
    pub least: usize,
}

/// The subtrees that the paper's method takes for comments, in document order.
pub fn blocks(page: &Page, detection: &Detection) -> Vec<NodeId> {
    let heights = heights(page);
    let Some(body) = page.body() else {
        return Vec::new();
    };
    let mut hits: Vec<(NodeId, Vec<NodeId>, usize)> = Vec::new();
    for id in page.subtree(body) {
        let node = page.node(id);
        if node.tag == Tag::TEXT
            || node.tag.is_invisible()
            || usize::from(heights[id as usize]) <= detection.level
        {
            continue;
        }
        let found = qualified(page, id, detection);
        if found.len() >= detection.least {
            let bytes = found.iter().map(|c| text_bytes(page, *c)).sum();
            hits.push((id, found, bytes));
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

/// Children that are alike to at least `least - 1` siblings.
fn qualified(page: &Page, id: NodeId, detection: &Detection) -> Vec<NodeId> {
    let children: Vec<NodeId> = page
        .children(id)
        .filter(|c| page.node(*c).tag != Tag::TEXT && !page.node(*c).tag.is_invisible())
        .take(MOST)
        .collect();
    if children.len() < detection.least {
        return Vec::new();
    }
    let trees: Vec<Skeleton> = children
        .iter()
        .map(|c| Skeleton::of(page, *c, Labels::Tags))
        .collect();
    let mut alike = vec![0usize; children.len()];
    for a in 0..trees.len() {
        for b in a + 1..trees.len() {
            let done = alike[a] + 1 >= detection.least && alike[b] + 1 >= detection.least;
            if !done && detection.measure.similarity(&trees[a], &trees[b]) > detection.alike {
                alike[a] += 1;
                alike[b] += 1;
            }
        }
    }
    let enough = alike.iter().map(|count| count + 1 >= detection.least);
    children
        .into_iter()
        .zip(enough)
        .filter(|(_, enough)| *enough)
        .map(|(child, _)| child)
        .collect()
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
