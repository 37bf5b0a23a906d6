//! Optional sequences of a template: what pages may have between two essential nodes, as alternatives with their shares of the
//! pages (丘骏鹏 2013, §5.1–5.3).
//!
//! As in the thesis, what the pages have in one gap falls into clusters, and what the pages of a cluster have in common is
//! an alternative; what only some of them have besides is optional within it, and so on. Here the pages are laid on one
//! row of nodes already, so that the common subsequence of two of them is what both have of it.
//!
//! [`learn_gaps`] finds the alternatives, [`choose`] lets a page have one of them in each gap: that which it is aligned
//! with best.

use serde::{Deserialize, Serialize};

use super::align::{Symbol, align};
use super::cluster::cluster_sets;
use super::nodes::QUORUM;
use super::observation::KeySet;

/// Greatest distance of two pages that have the same alternative, as of pages of one template (the thesis takes 0.5 for both).
const MAX_DISTANCE: f32 = 0.5;
/// Alternatives of one gap, those of most pages first; a page of another one is aligned with the nodes as they come.
const MAX_ALTERNATIVES: usize = 12;
/// Optional sequences within optional sequences.
const MAX_NESTED: u32 = 4;
/// Gaps of a template; those behind them have no alternatives.
const MAX_GAPS: usize = 1_000;

/// What may be before a node: one of several sequences, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The number of the node behind it; that of the nodes at the end.
    pub before: usize,
    /// Sequences of which a page has at most one, that of most pages first.
    pub alternatives: Vec<Alternative>,
}

/// A sequence of nodes that some pages have in a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// Numbers of its nodes, rising: (almost) all pages that have it have each of them.
    pub nodes: Vec<usize>,
    /// Pages that have it, of those aligned.
    pub pages: u32,
    /// What some of these pages have between its nodes.
    pub gaps: Vec<Gap>,
}

impl Alternative {
    /// Share of `pages` that have it, 0 to 1.
    pub fn share_of(&self, pages: u32) -> f32 {
        self.pages as f32 / pages.max(1) as f32
    }

    /// Whether it or a sequence within it has such a node.
    fn has_any(&self, is_such: &impl Fn(usize) -> bool) -> bool {
        let mut within = self.gaps.iter().flat_map(|gap| &gap.alternatives);
        self.nodes.iter().any(|node| is_such(*node))
            || within.any(|alternative| alternative.has_any(is_such))
    }

    /// Its nodes and those of all sequences within it, rising.
    pub fn all_nodes(&self) -> Vec<usize> {
        let within = self.gaps.iter().flat_map(|gap| &gap.alternatives);
        let within = within.flat_map(Self::all_nodes);
        let mut nodes: Vec<usize> = self.nodes.iter().copied().chain(within).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// A node of a template as it is listed, in document order: essential ones, and between them the sequences of each gap one after
/// the other. A node of two sequences comes twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutlineNode {
    /// Its number.
    pub node: usize,
    /// Sequences that it is in: 0 for an essential one.
    pub level: usize,
    /// It is the first of its sequence.
    pub begins: Option<SequenceShare>,
}

/// How many pages have a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequenceShare {
    /// Share of the pages, 0 to 1; of a sequence within another one, of the pages that have that one.
    pub share: f32,
    /// It comes instead of the sequence listed before it.
    pub is_alternative: bool,
}

/// Lists the nodes of `count` of which those for which `is_common` holds are essential. `pages` are aligned, and as many as
/// `on` says have each node.
pub(super) fn outline(
    gaps: &[Gap],
    pages: u32,
    count: usize,
    is_common: impl Fn(usize) -> bool,
    on: impl Fn(usize) -> u32,
) -> Vec<OutlineNode> {
    let mut listed = Vec::with_capacity(count);
    let mut in_sequence = vec![false; count];
    // What is in no sequence: what a person lets vary, and what is beyond the bounds.
    let single = |node: usize| OutlineNode {
        node,
        level: 1,
        begins: Some(SequenceShare {
            share: on(node) as f32 / pages.max(1) as f32,
            is_alternative: false,
        }),
    };
    let mut gaps = gaps.iter().peekable();
    let mut from = 0;
    for before in 0..=count {
        let gap = gaps.next_if(|gap| gap.before <= before);
        let is_essential = before < count && is_common(before);
        if before < count && !is_essential && gap.is_none() {
            continue;
        }
        let own = listed.len();
        if let Some(gap) = gap {
            list_gap(gap, pages, 1, &mut listed);
        }
        for it in &listed[own..] {
            in_sequence[it.node] = true;
        }
        listed.extend((from..before).filter(|at| !in_sequence[*at]).map(single));
        if is_essential {
            listed.push(OutlineNode {
                node: before,
                level: 0,
                begins: None,
            });
        } else if before < count {
            listed.push(single(before));
        }
        from = before + 1;
    }
    listed
}

fn list_gap(gap: &Gap, pages: u32, level: usize, listed: &mut Vec<OutlineNode>) {
    for (number, alternative) in gap.alternatives.iter().enumerate() {
        let mut begins = Some(SequenceShare {
            share: alternative.share_of(pages),
            is_alternative: number > 0,
        });
        let mut gaps = alternative.gaps.iter().peekable();
        for node in &alternative.nodes {
            while let Some(gap) = gaps.next_if(|gap| gap.before <= *node) {
                list_gap(gap, alternative.pages, level + 1, listed);
            }
            listed.push(OutlineNode {
                node: *node,
                level,
                begins: begins.take(),
            });
        }
        for gap in gaps {
            list_gap(gap, alternative.pages, level + 1, listed);
        }
    }
}

/// Finds what is between the nodes `common`, rising, of `count` nodes: `pages` has for each page the other nodes that it has,
/// rising.
pub(super) fn learn_gaps(common: &[usize], count: usize, pages: &[Vec<usize>]) -> Vec<Gap> {
    let pages: Vec<&[usize]> = pages.iter().map(Vec::as_slice).collect();
    find_gaps(common, count, &pages, MAX_NESTED)
}

fn find_gaps(common: &[usize], count: usize, pages: &[&[usize]], nested: u32) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut rest: Vec<&[usize]> = pages.to_vec();
    for before in common.iter().copied().chain([count]) {
        let mut pieces: Vec<&[usize]> = Vec::new();
        for page in &mut rest {
            let (piece, behind) = page.split_at(page.partition_point(|node| *node < before));
            *page = behind.strip_prefix(&[before]).unwrap_or(behind);
            if !piece.is_empty() {
                pieces.push(piece);
            }
        }
        if !pieces.is_empty() && gaps.len() < MAX_GAPS {
            let alternatives = find_alternatives(&pieces, count, nested);
            gaps.push(Gap {
                before,
                alternatives,
            });
        }
    }
    gaps
}

/// The alternatives of what some pages have in one gap.
fn find_alternatives(pieces: &[&[usize]], count: usize, nested: u32) -> Vec<Alternative> {
    let set = |piece: &&[usize]| KeySet::new(piece.iter().map(|node| *node as u64).collect());
    let sets: Vec<KeySet> = pieces.iter().map(set).collect();
    let mut clusters: Vec<Vec<&[usize]>> = Vec::new();
    for (piece, cluster) in pieces.iter().zip(cluster_sets(&sets, MAX_DISTANCE)) {
        clusters.resize_with(clusters.len().max(cluster + 1), Vec::new);
        clusters[cluster].push(piece);
    }
    // Stable: of as many pages the one that comes first.
    clusters.sort_by_key(|members| std::cmp::Reverse(members.len()));
    clusters.truncate(MAX_ALTERNATIVES);
    let alternative = |members: Vec<&[usize]>| {
        let nodes = find_common(&members);
        let gaps = if nested > 0 {
            find_gaps(&nodes, count, &members, nested - 1)
        } else {
            Vec::new()
        };
        Alternative {
            nodes,
            pages: members.len() as u32,
            gaps,
        }
    };
    clusters.into_iter().map(alternative).collect()
}

/// What (almost) all of some pages have; where that is nothing, what most of them have.
fn find_common(members: &[&[usize]]) -> Vec<usize> {
    let mut all = members.concat();
    all.sort_unstable();
    let runs: Vec<(usize, usize)> = all
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect();
    let most = runs.iter().map(|(_, pages)| *pages).max().unwrap_or(0);
    let least = (QUORUM * members.len() as f32).min(most as f32);
    let common = runs.iter().filter(|(_, pages)| *pages as f32 >= least);
    common.map(|(node, _)| *node).collect()
}

/// A node that gaps name and `count` nodes do not have, if there is one.
pub(super) fn find_missing_node(gaps: &[Gap], count: usize) -> Option<usize> {
    gaps.iter()
        .flat_map(|gap| &gap.alternatives)
        .find_map(|alternative| {
            let mut nodes = alternative.nodes.iter().copied();
            nodes
                .find(|node| *node >= count)
                .or_else(|| find_missing_node(&alternative.gaps, count))
        })
}

/// Lets a page have one alternative in each gap. `own` has the symbol of each node, none for one that takes no part; `page` the
/// symbols of the page, and `matched` for each node the one that it is aligned with so far.
pub(super) fn choose(
    gaps: &[Gap],
    own: &[Option<Symbol>],
    page: &[Symbol],
    matched: &mut [Option<usize>],
) {
    for gap in gaps {
        let has_any = |alternative: &Alternative| {
            let is_matched = |node: usize| matched[node].is_some();
            alternative.has_any(&is_matched)
        };
        if !gap.alternatives.iter().any(has_any) {
            continue;
        }
        if let [only] = &gap.alternatives[..] {
            choose(&only.gaps, own, page, matched);
            continue;
        }
        let nodes: Vec<Vec<usize>> = gap
            .alternatives
            .iter()
            .map(Alternative::all_nodes)
            .collect();
        let all = || nodes.iter().flatten().copied();
        let found: Vec<usize> = all().filter(|at| matched[*at].is_some()).collect();
        let (Some(first), Some(last)) = (all().min(), all().max()) else {
            continue;
        };
        let is_in = |nodes: &Vec<usize>| found.iter().all(|at| nodes.binary_search(at).is_ok());
        let chosen = nodes.iter().position(is_in).or_else(|| {
            let from = matched[..first].iter().rev().find_map(|at| *at);
            let to = matched[last + 1..].iter().find_map(|at| *at);
            let between = from.map_or(0, |at| at + 1)..to.unwrap_or(page.len());
            let fit = align_best(&nodes, own, &page[between.clone()])?;
            matched[first..=last].fill(None);
            for (node, symbol) in fit.pairs {
                matched[node] = Some(between.start + symbol);
            }
            Some(fit.number)
        });
        if let Some(chosen) = chosen.and_then(|number| gap.alternatives.get(number)) {
            choose(&chosen.gaps, own, page, matched);
        }
    }
}

/// How an alternative fits a page.
struct Fit {
    number: usize,
    weight: u32,
    /// Nodes and symbols of the page.
    pairs: Vec<(usize, usize)>,
}

/// The alternative that some symbols are aligned with best; of equal ones the first.
fn align_best(alternatives: &[Vec<usize>], own: &[Option<Symbol>], page: &[Symbol]) -> Option<Fit> {
    let fit = |(number, nodes): (usize, &Vec<usize>)| {
        let taking_part = nodes.iter().filter_map(|at| Some((*at, own[*at]?)));
        let (nodes, symbols): (Vec<usize>, Vec<Symbol>) = taking_part.unzip();
        let pairs = align(&symbols, page);
        Fit {
            number,
            weight: pairs.iter().map(|(at, _)| symbols[*at].weight).sum(),
            pairs: pairs
                .into_iter()
                .map(|(at, symbol)| (nodes[at], symbol))
                .collect(),
        }
    };
    let fits = alternatives.iter().enumerate().map(fit);
    fits.reduce(|best, next| {
        if next.weight > best.weight {
            next
        } else {
            best
        }
    })
}
