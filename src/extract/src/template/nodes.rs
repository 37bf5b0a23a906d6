//! Essential and optional nodes of a template, and how a page is aligned with them (丘骏鹏 2013, §5.1–5.3).
//!
//! The thesis folds the longest common subsequence page by page, so that one odd page empties the template. Here a node
//! keeps the number of the pages that have it: the sequences are folded into one that holds every node of several pages,
//! essential ones are those of almost all. What some pages have between them is in [`Gap`]s.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::align::{Symbol, align};
use super::observation::KeySet;
use super::optional::{self, Gap, OutlineNode, choose, learn_gaps};
use super::sequence::{Layout, Token, TokenKind};
use crate::similarity::mix;

/// Share of the pages on which an essential node is.
pub(super) const QUORUM: f32 = 0.95;
/// Share of the pages on which an optional node is at least, and so many of them.
const OPTIONAL: f32 = 0.1;
const OPTIONAL_PAGES: u32 = 2;
/// A place of labels is one where this share of the texts is on this share of the pages.
const LABELS: f32 = 0.6;
/// A text that is on this share of the pages at the same place, and on so many of them, is no text of one page.
const REPEATED: f32 = 1.0 / 3.0;
const REPEATED_PAGES: u32 = 3;
/// Nodes while sequences are folded; above it, those of one page go.
const MAX_NODES: usize = 12_000;
/// In the hash of a place: the part of a text before its first colon, and that behind it.
const LABEL: u64 = 3;
const VALUE: u64 = 4;
/// In the hash of a record: a text that is no label.
const VARIES: u64 = 5;

/// One node of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateNode {
    /// Equal for what is aligned with it: of an element its name and that of the element that it is in, of a text its words
    /// and its place.
    pub id: u64,
    /// Hash of its name or words.
    pub name: u64,
    /// Elements above it.
    pub depth: u16,
    /// What it is.
    pub kind: TokenKind,
    /// Of a text only its label, up to the first colon: the rest of it varies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_begun: bool,
    /// Pages that have it, of those aligned.
    pub pages: u32,
    /// An element that some pages have several times in a row, all alike: `+` in the thesis.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// A text that a person called a value, so that it holds no page to its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_value: bool,
}

impl TemplateNode {
    /// It is a text.
    pub fn is_text(&self) -> bool {
        self.kind.is_text()
    }

    /// How it is listed under a name: a text in quotes, what repeats with a plus.
    pub fn listed(&self, name: &str) -> String {
        if self.is_text() {
            format!("“{name}”")
        } else if self.repeats {
            format!("{name}+")
        } else {
            name.to_owned()
        }
    }

    fn symbol(&self) -> Symbol {
        Symbol::new(self.id, self.depth, self.is_text())
    }
}

/// The nodes of a template in order. Reading them refuses gaps that name nodes which are not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedNodes")]
pub struct Nodes {
    /// In document order.
    pub nodes: Vec<TemplateNode>,
    /// Pages that were aligned for them.
    pub pages: u32,
    /// What pages may have between essential nodes, in document order.
    gaps: Vec<Gap>,
    /// Their ids.
    known: KeySet,
    /// Ids of texts that several pages have at the same place, nodes or not.
    repeated: KeySet,
}

/// The nodes as a file has them, which may be damaged.
#[derive(Deserialize)]
struct SavedNodes {
    nodes: Vec<TemplateNode>,
    pages: u32,
    gaps: Vec<Gap>,
    known: KeySet,
    repeated: KeySet,
}

impl TryFrom<SavedNodes> for Nodes {
    type Error = String;

    fn try_from(saved: SavedNodes) -> Result<Self, String> {
        let count = saved.nodes.len();
        if let Some(node) = optional::find_missing_node(&saved.gaps, count) {
            return Err(format!("a gap names node {node} of {count}"));
        }
        let SavedNodes {
            nodes,
            pages,
            gaps,
            known,
            repeated,
        } = saved;
        Ok(Self {
            nodes,
            pages,
            gaps,
            known,
            repeated,
        })
    }
}

/// A page laid on the nodes of a template.
#[derive(Debug, Clone, Default)]
pub struct Alignment {
    /// For each token of the page the node that it is, or else the last one before it.
    pub at: Vec<Option<usize>>,
    /// For each token its place; that of a value behind a label in the same text is another.
    pub places: Vec<u64>,
    /// For each token whether all of it is a node of the template: no part of it is a value.
    pub is_node: Vec<bool>,
    /// For each token whether it is aligned by the label that it begins with, and the rest is a value.
    pub is_labelled: Vec<bool>,
    /// Share of the essential nodes that the page lacks.
    pub missing: f32,
}

/// A page's sequence with the eyes of a template.
struct Simplified {
    /// For each token what it is aligned by; none for a text that varies.
    ids: Vec<Option<u64>>,
    /// For a token of a record that is like the one before it, the token there.
    twins: Vec<Option<usize>>,
    places: Vec<u64>,
    /// For each token whether it is aligned by its label, and the rest of it varies.
    is_labelled: Vec<bool>,
}

impl Simplified {
    fn new(tokens: &[Token], layout: &Layout, is_constant: impl Fn(u64) -> bool) -> Self {
        let mut places = layout.places.clone();
        let mut ids = Vec::with_capacity(tokens.len());
        let mut is_labelled = vec![false; tokens.len()];
        for (at, token) in tokens.iter().enumerate() {
            let (text, label) = text_ids(token, places[at]);
            ids.push(if !token.is_text() {
                Some(mix(token.name, layout.parents[at]))
            } else if token.label != 0 && is_constant(label) {
                is_labelled[at] = true;
                places[at] = mix(places[at], VALUE);
                Some(label)
            } else {
                is_constant(text).then_some(text)
            });
        }
        Self {
            twins: merge_twins(tokens, &layout.ends, &ids),
            ids,
            places,
            is_labelled,
        }
    }

    /// The token that a token stands for: itself, or that of the first of the records that it is in.
    fn first_twin(&self, token: usize) -> Option<usize> {
        std::iter::successors(Some(token), |at| self.twins[*at]).last()
    }

    /// Places and symbols of what is aligned.
    fn symbols(&self, tokens: &[Token]) -> (Vec<usize>, Vec<Symbol>) {
        let aligned = (0..tokens.len()).filter(|at| self.twins[*at].is_none());
        let symbol = |at: usize| {
            let token = &tokens[at];
            let symbol = Symbol::new(self.ids[at]?, token.depth, token.is_text());
            Some((at, symbol))
        };
        aligned.filter_map(symbol).unzip()
    }
}

/// What a text is known by: as a whole, and by its label.
fn text_ids(token: &Token, place: u64) -> (u64, u64) {
    (mix(token.name, place), mix(token.label, mix(place, LABEL)))
}

/// Finds records: an element with the same content as the sibling before it. Only neighbours, since of `dt dd dt dd` the
/// second `dd` is another field. From the leaves up, so that outer records become equal by the merging of inner ones.
///
/// `ends` has for each token one past the end of its subtree, `ids` what it is compared by, `None` for a text that varies. Returns
/// for each token of a record that is like the one before it the token there.
///
/// # Panics
/// If `ends` or `ids` are shorter than `tokens`.
pub fn merge_twins(tokens: &[Token], ends: &[usize], ids: &[Option<u64>]) -> Vec<Option<usize>> {
    let mut hashes = vec![0u64; tokens.len()];
    let mut twins: Vec<Option<usize>> = vec![None; tokens.len()];
    for at in (0..tokens.len()).rev() {
        let mut hash = mix(ids[at].unwrap_or(VARIES), LABEL);
        let mut before: Option<usize> = None;
        let mut child = at + 1;
        while child < ends[at] {
            match before {
                Some(like) if hashes[like] == hashes[child] && !tokens[child].is_text() => {
                    let merged = |from: usize, twins: &[Option<usize>]| -> Vec<usize> {
                        (from..ends[from])
                            .filter(|at| twins[*at].is_none())
                            .collect()
                    };
                    let (first, second) = (merged(like, &twins), merged(child, &twins));
                    for (one, other) in first.into_iter().zip(second) {
                        twins[other] = Some(one);
                    }
                }
                _ => {
                    hash = mix(hash, hashes[child]);
                    before = Some(child);
                }
            }
            child = ends[child];
        }
        hashes[at] = hash;
    }
    twins
}

/// The texts that hold the pages together: those of almost all pages, and those of some that are where labels are. Then
/// all that several pages say at the same place.
fn find_constants(pages: &[&[Token]]) -> (HashSet<u64>, KeySet) {
    let mut texts: Vec<Vec<(u64, u64)>> = Vec::with_capacity(pages.len());
    for tokens in pages {
        let mut own = Vec::new();
        for (token, place) in tokens.iter().zip(Layout::new(tokens).places) {
            if token.is_text() {
                let (text, label) = text_ids(token, place);
                own.push((text, place));
                if token.label != 0 {
                    own.push((label, mix(place, LABEL)));
                }
            }
        }
        texts.push(own);
    }
    let mut on: HashMap<u64, (u32, usize)> = HashMap::new();
    for (page, own) in (1..).zip(&texts) {
        for (text, _) in own {
            let (count, last) = on.entry(*text).or_default();
            *count += u32::from(*last != page);
            *last = page;
        }
    }
    let share =
        |text: &u64| on.get(text).map_or(0, |(count, _)| *count) as f32 / pages.len() as f32;
    let mut by_place: HashMap<u64, (u32, u32)> = HashMap::new();
    for (text, place) in texts.iter().flatten() {
        let (all, labels) = by_place.entry(*place).or_default();
        *all += 1;
        *labels += u32::from(share(text) >= LABELS);
    }
    let least = least_pages(pages.len()) as f32 / pages.len() as f32;
    let is_constant = |(text, place): &&(u64, u64)| {
        let (all, labels) = by_place.get(place).copied().unwrap_or_default();
        let holds_labels = labels as f32 >= LABELS * all as f32;
        share(text) >= QUORUM || (holds_labels && share(text) >= least)
    };
    let constant = texts.iter().flatten().filter(is_constant);
    let repeated = on
        .iter()
        .filter(|(text, (count, _))| *count >= REPEATED_PAGES && share(text) >= REPEATED);
    (
        constant.map(|(text, _)| *text).collect(),
        KeySet::new(repeated.map(|(text, _)| *text).collect()),
    )
}

fn least_pages(pages: usize) -> u32 {
    ((OPTIONAL * pages as f32).ceil() as u32).max(OPTIONAL_PAGES)
}

impl Nodes {
    /// Learns them from the pages of one layout, the one in the middle first.
    pub(super) fn learn(pages: &[&[Token]]) -> Self {
        let (constants, repeated) = find_constants(pages);
        let mut nodes: Vec<TemplateNode> = Vec::new();
        for tokens in pages {
            let simplified =
                Simplified::new(tokens, &Layout::new(tokens), |id| constants.contains(&id));
            let (places, symbols) = simplified.symbols(tokens);
            let node = |at: &usize| {
                let token = &tokens[places[*at]];
                let is_label = simplified.is_labelled[places[*at]];
                TemplateNode {
                    id: symbols[*at].id,
                    name: if is_label { token.label } else { token.name },
                    depth: token.depth,
                    kind: if is_label {
                        TokenKind::Label
                    } else {
                        token.kind
                    },
                    is_begun: is_label,
                    pages: 1,
                    repeats: false,
                    is_value: false,
                }
            };
            fold(&mut nodes, &symbols, node);
            if nodes.len() > MAX_NODES {
                nodes.retain(|node| node.pages > 1);
            }
        }
        // One page alone is all that there is.
        let least = least_pages(pages.len()).min(pages.len() as u32);
        nodes.retain(|node| node.pages >= least);
        let mut learned = Self {
            nodes,
            pages: pages.len() as u32,
            gaps: Vec::new(),
            known: KeySet::default(),
            repeated,
        };
        learned.know();
        learned.learn_gaps(pages);
        learned
    }

    /// Lays the pages on the nodes: finds what each has between essential ones, and what repeats.
    fn learn_gaps(&mut self, pages: &[&[Token]]) {
        let mut optional: Vec<Vec<usize>> = Vec::with_capacity(pages.len());
        let mut repeats = Vec::new();
        for tokens in pages {
            let layout = Layout::new(tokens);
            let (simplified, node_of) = self.lay(tokens, &layout);
            let found = node_of.iter().flatten().copied();
            optional.push(
                found
                    .filter(|at| !self.is_essential(&self.nodes[*at]))
                    .collect(),
            );
            let mut end = 0;
            for (at, twin) in simplified.twins.iter().enumerate() {
                if at >= end && twin.is_some() {
                    end = layout.ends[at];
                    repeats.extend(simplified.first_twin(at).and_then(|first| node_of[first]));
                }
            }
        }
        for at in repeats {
            self.nodes[at].repeats = true;
        }
        let essential = self.nodes.iter().enumerate();
        let essential = essential.filter(|(_, node)| self.is_essential(node));
        let essential: Vec<usize> = essential.map(|(at, _)| at).collect();
        self.gaps = learn_gaps(&essential, self.nodes.len(), &optional);
    }

    fn know(&mut self) {
        let held = self.nodes.iter().filter(|node| !node.is_value);
        self.known = KeySet::new(held.map(|node| node.id).collect());
    }

    /// Lets a text vary that so far held pages to its place, wherever the template has it.
    pub fn release(&mut self, at: usize) {
        if let Some(id) = self.nodes.get(at).map(|node| node.id) {
            let same = self.nodes.iter_mut().filter(|node| node.id == id);
            same.for_each(|node| node.is_value = true);
            self.know();
        }
    }

    /// What pages may have between essential nodes, in document order; of a page that was aligned each gap has one
    /// alternative or none.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The nodes in order, optional sequences with their shares of the pages.
    pub fn outline(&self) -> Vec<OutlineNode> {
        let (gaps, nodes) = (&self.gaps, &self.nodes);
        let is_essential = |at: usize| self.is_essential(&nodes[at]);
        optional::outline(gaps, self.pages, nodes.len(), is_essential, |at| {
            nodes[at].pages
        })
    }

    /// A node is on almost every page.
    pub fn is_essential(&self, node: &TemplateNode) -> bool {
        !node.is_value && node.pages as f32 >= QUORUM * self.pages as f32
    }

    /// Whether several pages say the same at the same place.
    pub fn is_repeated(&self, token: &Token, place: u64) -> bool {
        self.repeated.contains(text_ids(token, place).0)
    }

    /// Lays a page on the template.
    pub fn align(&self, tokens: &[Token], layout: &Layout) -> Alignment {
        let (simplified, node_of) = self.lay(tokens, layout);
        let is_essential = |at: &&usize| self.is_essential(&self.nodes[**at]);
        let found = node_of.iter().flatten().filter(is_essential).count() as f32;
        let essential = self.nodes.iter().filter(|node| self.is_essential(node));
        let lacking = essential.count() as f32 - found;
        let mut last = None;
        let at = (0..tokens.len()).map(|token| {
            let first = simplified.first_twin(token);
            last = first.and_then(|first| node_of[first]).or(last);
            last
        });
        Alignment {
            at: at.collect(),
            is_node: std::iter::zip(&node_of, &simplified.is_labelled)
                .map(|(node, is_labelled)| node.is_some() && !is_labelled)
                .collect(),
            places: simplified.places,
            is_labelled: simplified.is_labelled,
            missing: lacking / (lacking + found).max(1.0),
        }
    }

    /// The tokens of a page as the template sees them, and for each the node that it is.
    fn lay(&self, tokens: &[Token], layout: &Layout) -> (Simplified, Vec<Option<usize>>) {
        let simplified = Simplified::new(tokens, layout, |id| self.known.contains(id));
        let (places, symbols) = simplified.symbols(tokens);
        let symbol = |node: &TemplateNode| (!node.is_value).then(|| node.symbol());
        let all: Vec<Option<Symbol>> = self.nodes.iter().map(symbol).collect();
        let own = all.iter().enumerate();
        let own = own.filter_map(|(at, symbol)| Some((at, (*symbol)?)));
        let (own_places, own): (Vec<usize>, Vec<Symbol>) = own.unzip();
        let mut matched: Vec<Option<usize>> = vec![None; all.len()];
        for (node, symbol) in align(&own, &symbols) {
            matched[own_places[node]] = Some(symbol);
        }
        choose(&self.gaps, &all, &symbols, &mut matched);
        let mut node_of: Vec<Option<usize>> = vec![None; tokens.len()];
        for (node, symbol) in matched.into_iter().enumerate() {
            if let Some(symbol) = symbol {
                node_of[places[symbol]] = Some(node);
            }
        }
        (simplified, node_of)
    }
}

/// Counts the nodes that a page shares with those so far, and sets its others between them.
fn fold(nodes: &mut Vec<TemplateNode>, symbols: &[Symbol], node: impl Fn(&usize) -> TemplateNode) {
    let own: Vec<Symbol> = nodes.iter().map(TemplateNode::symbol).collect();
    let mut folded = Vec::with_capacity(nodes.len().max(symbols.len()));
    let (mut i, mut j) = (0, 0);
    let pairs = align(&own, symbols);
    for (x, y) in pairs.into_iter().chain([(own.len(), symbols.len())]) {
        folded.extend_from_slice(&nodes[i..x]);
        folded.extend((j..y).map(|at| node(&at)));
        folded.extend(nodes.get(x).map(|node| TemplateNode {
            pages: node.pages + 1,
            ..*node
        }));
        (i, j) = (x + 1, y + 1);
    }
    *nodes = folded;
}
