//! What is kept of a page for learning. In: a page, its keys, its lines with the votes of the extraction. Out: an
//! [`Observation`]: its sequence and, of each line, where it stands, a hash of its text and the field that
//! the extraction gave it. The page itself is not kept.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::field::Field;
use super::keys::{KeySet, Keys};
use super::sequence::{Layout, Token};
use crate::page::Page;

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
    /// Address of the page, or the name of its file.
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
    pub fn of(page: &Page, keys: &Keys, lines: Vec<ObservedLine>) -> Self {
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
        let blocks = self.tokens.iter().zip(Layout::of(&self.tokens).keys);
        let blocks = blocks.filter(|(token, _)| token.is_block());
        KeySet::of(blocks.map(|(_, key)| key).collect())
    }
}
