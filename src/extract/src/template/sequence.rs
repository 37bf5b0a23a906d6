//! The sequence of a page (Qiu 2013, §3.2): its elements and texts in document order, each with a name and a depth. Inline
//! elements and texts are included, because a label of a field is a text and its value is often in a `<span>`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::page::{NodeId, Page, Tag};
use crate::similarity::{NameHashes, mix, name_of};

/// Tokens kept of one page; the rest of a longer page is skipped.
pub const MAX_TOKENS: usize = 12_000;
/// A label ends within so many bytes.
const MAX_LABEL: usize = 60;
/// Longest text whose words are kept, in characters: labels are short.
const MAX_WORDS: usize = 40;
/// Elements above a token that its place is known by. An element set around a part of a page moves all of that part a level
/// down: so the way from the root says less of where something is than what is right above it.
const ABOVE: usize = 3;
/// Stands for a text in the hash of a place.
const TEXT: u64 = 2;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// A block element.
    Block,
    /// A cell of a table, a block as well.
    Cell,
    /// Another element.
    Inline,
    /// A text.
    Text,
    /// A text that a colon follows, or that ends with one.
    Label,
}

impl TokenKind {
    /// It is that of a text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Label)
    }
}

/// One element or text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Hash of the element's name, or of the text.
    pub name: u64,
    /// Elements above it; the root has 0.
    pub depth: u16,
    /// What it is.
    pub kind: TokenKind,
    /// Hash of the part of a text up to its first colon, 0 if there is none: `片长: 171 分钟`.
    pub label: u64,
}

impl Token {
    /// It is a block element.
    pub fn is_block(&self) -> bool {
        matches!(self.kind, TokenKind::Block | TokenKind::Cell)
    }

    /// It is a text.
    pub fn is_text(&self) -> bool {
        self.kind.is_text()
    }
}

/// The tokens of a page, and the nodes that they are of.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    /// Tokens in document order.
    pub tokens: Vec<Token>,
    /// The node of each.
    pub nodes: Vec<NodeId>,
    /// Where they are.
    pub layout: Layout,
}

impl Sequence {
    /// The sequence of a page without what is invisible and without texts of signs alone.
    pub fn new(page: &Page) -> Self {
        let mut out = Self::default();
        // Depths of open elements with where they end.
        let mut open: Vec<NodeId> = Vec::new();
        let mut names = NameHashes::default();
        let mut at: NodeId = 0;
        while let Some(node) = page.nodes().get(at as usize) {
            if out.tokens.len() == MAX_TOKENS {
                break;
            }
            if node.tag.is_invisible() {
                at = node.end;
                continue;
            }
            while open.pop_if(|end| *end <= at).is_some() {}
            let depth = u16::try_from(open.len()).unwrap_or(u16::MAX);
            if node.tag == Tag::TEXT {
                out.push_text(page.text(at), depth, at);
            } else {
                let kind = match node.tag {
                    Tag::TD | Tag::TH => TokenKind::Cell,
                    tag if tag.is_block() => TokenKind::Block,
                    _ => TokenKind::Inline,
                };
                out.push(names.get(page, at), depth, kind, 0, at);
                open.push(node.end);
            }
            at += 1;
        }
        out.layout = Layout::new(&out.tokens);
        out
    }

    fn push(&mut self, name: u64, depth: u16, kind: TokenKind, label: u64, node: NodeId) {
        self.tokens.push(Token {
            name,
            depth,
            kind,
            label,
        });
        self.nodes.push(node);
    }

    fn push_text(&mut self, text: &str, depth: u16, node: NodeId) {
        let text = text.trim();
        if text.starts_with([':', '：'])
            && let Some(last) = self.tokens.iter_mut().rev().find(|token| token.is_text())
        {
            last.kind = TokenKind::Label;
        }
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let kind = if text.ends_with([':', '：']) {
            TokenKind::Label
        } else {
            TokenKind::Text
        };
        let label = split_label(text).map_or(0, |(label, _)| text_id(label));
        self.push(text_id(text), depth, kind, label, node);
    }

    /// Names of elements and words of short texts by the hashes of tokens, for people.
    pub fn names(&self, page: &Page) -> HashMap<u64, String> {
        let mut names = HashMap::new();
        for (token, node) in self.tokens.iter().zip(&self.nodes) {
            if !token.is_text() {
                let name = || name_of(page, *node);
                names.entry(token.name).or_insert_with(name);
                continue;
            }
            let text = page.text(*node).trim();
            if let Some((label, _)) = split_label(text) {
                names.entry(token.label).or_insert_with(|| label.to_owned());
            }
            if text.chars().nth(MAX_WORDS).is_none() {
                names.entry(token.name).or_insert_with(|| text.to_owned());
            }
        }
        names
    }
}

/// A text's label up to its first colon, and what it says of it; none for an address (`http://`) or a time of day.
pub(super) fn split_label(text: &str) -> Option<(&str, &str)> {
    let beginning = text.as_bytes().get(..MAX_LABEL).unwrap_or(text.as_bytes());
    // A full-width colon begins with this byte, as do its like.
    let mut colons = memchr::memchr2_iter(b':', 0xEF, beginning);
    let at = colons.find(|at| {
        text.get(*at..)
            .is_some_and(|rest| rest.starts_with([':', '：']))
    })?;
    let (label, rest) = text.split_at(at);
    let value = rest.trim_start_matches([':', '：']);
    let is_label = label.chars().next_back().is_some_and(char::is_alphabetic)
        && !value.starts_with("//")
        && value.contains(char::is_alphanumeric);
    is_label.then_some((label, value.trim()))
}

fn text_id(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Where the tokens of a sequence are.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// For each token a hash of its name, or that it is a text, and the names of the [`ABOVE`] elements above it, cells of a
    /// row distinguished by their numbers, and the number of the cell that it is in. Equal for what is at the same place on
    /// the pages of a template.
    pub(super) places: Vec<u64>,
    /// For each token the name of the element that it is in, 0 for the root.
    pub(super) parents: Vec<u64>,
    /// For each token the fine key of its block, as [`super::Keys`] has them.
    pub(super) keys: Vec<u64>,
    /// For each token one past the end of its subtree.
    pub(super) ends: Vec<usize>,
}

impl Layout {
    /// The layout of some tokens.
    pub fn new(tokens: &[Token]) -> Self {
        struct Open {
            at: usize,
            depth: u16,
            /// Its name.
            name: u64,
            /// Its name, and of a cell its number.
            step: u64,
            key: u64,
            /// Number of the cell that it is in, or is.
            cell: u64,
            /// Cells right in it so far.
            cells: u64,
        }
        let mut out = Self {
            places: Vec::with_capacity(tokens.len()),
            parents: Vec::with_capacity(tokens.len()),
            keys: Vec::with_capacity(tokens.len()),
            ends: vec![tokens.len(); tokens.len()],
        };
        let mut open: Vec<Open> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            while let Some(last) = open.pop_if(|last| last.depth >= token.depth) {
                out.ends[last.at] = at;
            }
            let is_cell = token.kind == TokenKind::Cell;
            let (parent, key, cell) = open.last_mut().map_or((0, 0, 0), |last| {
                last.cells += u64::from(is_cell);
                let cell = if is_cell { last.cells } else { last.cell };
                (last.name, last.key, cell)
            });
            let name = if token.is_text() { TEXT } else { token.name };
            let step = if is_cell { mix(name, cell) } else { name };
            let above = open.iter().rev().take(ABOVE);
            let place = above.fold(step, |place, element| mix(element.step, place));
            let key = if token.is_block() {
                mix(key, token.name)
            } else {
                key
            };
            out.places.push(mix(place, cell));
            out.parents.push(parent);
            out.keys.push(key);
            if token.is_text() {
                out.ends[at] = at + 1;
            } else {
                open.push(Open {
                    at,
                    depth: token.depth,
                    name: token.name,
                    step,
                    key,
                    cell,
                    cells: 0,
                });
            }
        }
        out
    }
}
