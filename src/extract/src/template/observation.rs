//! What is kept of a page for learning: an [`Observation`] has its sequence and, of each line, a key of its place, a hash
//! of its text and the field that the extraction assigned. The page itself is not kept.
//!
//! A key identifies the place of a node by a number that is the same on all pages of a template, made of the names of all
//! blocks from the root. Inline elements come and go with what an author writes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::sequence::{Layout, Sequence, Token};
use crate::page::{NodeId, Page};
use crate::similarity::shared;

/// Lines kept of one page.
const MAX_LINES: usize = 4_000;

/// One line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedLine {
    /// Fine key of its block.
    pub key: u64,
    /// Hash of its text.
    pub text: u64,
    /// Its tokens.
    pub tokens: u32,
    /// The field that the extraction gave it.
    pub vote: Option<Field>,
}

/// What is kept of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// URL of the page, or the name of its file.
    pub url: String,
    /// Its elements and texts in document order.
    pub tokens: Vec<Token>,
    /// Its lines in document order.
    pub lines: Vec<ObservedLine>,
    /// Names of elements and words of short texts by hash, for people.
    pub names: HashMap<u64, String>,
}

impl Observation {
    /// Observes a page. `lines` come from the extraction.
    pub fn new(page: &Page, keys: &Keys, lines: Vec<ObservedLine>) -> Self {
        let mut seen = Self {
            tokens: keys.sequence.tokens.clone(),
            names: keys.sequence.names(page),
            url: page
                .url
                .as_ref()
                .map(|u| u.as_str().to_owned())
                .unwrap_or_default(),
            lines,
        };
        seen.lines.truncate(MAX_LINES);
        seen
    }

    /// The different keys of its blocks.
    pub fn key_set(&self) -> KeySet {
        let blocks = self.tokens.iter().zip(Layout::new(&self.tokens).keys);
        let blocks = blocks.filter(|(token, _)| token.is_block());
        KeySet::new(blocks.map(|(_, key)| key).collect())
    }
}

/// The field of a document that a region fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// Headline.
    Title,
    /// Time of publication.
    Published,
    /// Writer.
    Author,
    /// Media source.
    Source,
    /// Main text.
    Body,
    /// Readers' comments.
    Comments,
    /// The same on every page, or not part of any document.
    Boilerplate,
}

impl Field {
    /// All fields in the order in which they are shown.
    pub const ALL: [Field; 7] = [
        Field::Title,
        Field::Published,
        Field::Author,
        Field::Source,
        Field::Body,
        Field::Comments,
        Field::Boilerplate,
    ];

    /// Name in commands, files and URLs.
    pub fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Published => "published",
            Field::Author => "author",
            Field::Source => "source",
            Field::Body => "body",
            Field::Comments => "comments",
            Field::Boilerplate => "boilerplate",
        }
    }

    /// The field of a name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// The keys of a page, and the sequence that they are made from.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// Elements and texts of the page.
    pub sequence: Sequence,
    fine: Vec<u64>,
    set: KeySet,
}

impl Keys {
    /// The keys of every node; invisible parts have none.
    pub fn new(page: &Page) -> Self {
        let sequence = Sequence::new(page);
        let of_tokens = &sequence.layout.keys;
        let mut fine = vec![0; page.nodes().len()];
        for (node, key) in sequence.nodes.iter().zip(of_tokens) {
            fine[*node as usize] = *key;
        }
        let blocks = sequence.tokens.iter().zip(of_tokens);
        let blocks = blocks.filter(|(token, _)| token.is_block());
        Self {
            set: KeySet::new(blocks.map(|(_, key)| *key).collect()),
            sequence,
            fine,
        }
    }

    /// The first block with this fine key.
    pub fn first_of(&self, key: u64) -> Option<NodeId> {
        let at = self.fine.iter().position(|k| *k == key)?;
        NodeId::try_from(at).ok()
    }

    /// Fine key of a node.
    pub fn fine(&self, node: NodeId) -> u64 {
        self.fine.get(node as usize).copied().unwrap_or_default()
    }

    /// The different fine keys of the page.
    pub fn set(&self) -> &KeySet {
        &self.set
    }
}

/// Different keys in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct KeySet {
    keys: Vec<u64>,
}

impl KeySet {
    /// The set of these keys.
    pub fn new(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self { keys }
    }

    /// In rising order.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Keys that are in both.
    pub fn shared(&self, other: &KeySet) -> usize {
        shared(&self.keys, &other.keys)
    }

    /// `2·|a ∩ b| / (|a| + |b|)`; 1 for two empty sets.
    pub fn similarity(&self, other: &KeySet) -> f32 {
        let all = self.keys.len() + other.keys.len();
        if all == 0 {
            return 1.0;
        }
        2.0 * self.shared(other) as f32 / all as f32
    }

    /// Whether a key is in the set.
    pub fn contains(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

/// Hash of what a line says. White space does not count, nor do digits among more of other characters: counters must not
/// hide what repeats. Where a line is mostly digits (three for two others), as a date is, they are what it says.
pub fn text_hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let (mut words, mut all) = (START, START);
    let (mut digits, mut others) = (0u32, 0u32);
    for byte in texts.flat_map(str::bytes) {
        if byte.is_ascii_whitespace() {
            continue;
        }
        all = step(all, byte);
        if byte.is_ascii_digit() {
            digits += 1;
        } else {
            words = step(words, byte);
            // The bytes that begin a character.
            others += u32::from(byte & 0xC0 != 0x80);
        }
    }
    let counted = digits * 2 > others * 3;
    crate::similarity::mix(if counted { all } else { words }, 0)
}
