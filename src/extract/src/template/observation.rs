//! What is kept of a page for learning. In: a page, its keys, its lines with the votes of the extraction. Out: an
//! [`Observation`]: the simplified sequence and, of each line, where it stands, a hash of its text and the field that
//! the extraction gave it. The page itself is not kept.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::field::Field;
use super::keys::{KeySet, Keys};
use crate::page::{NodeId, Page};
use crate::similarity::{name_hash, name_of};

/// Blocks kept of one page; the rest of a longer page is left out.
const MAX_NODES: usize = 6_000;
/// Lines kept of one page.
const MAX_LINES: usize = 4_000;

/// One block of the simplified sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedNode {
    /// Hash of its name.
    pub name: u64,
    /// Blocks above it.
    pub depth: u16,
    /// Its fine key.
    pub key: u64,
}

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
    /// Its blocks in document order.
    pub nodes: Vec<ObservedNode>,
    /// Its lines in document order.
    pub lines: Vec<ObservedLine>,
    /// Names of the blocks by hash, for people.
    pub names: HashMap<u64, String>,
}

impl Observation {
    /// Observes a page. `lines` come from the extraction.
    pub fn of(page: &Page, keys: &Keys, lines: Vec<ObservedLine>) -> Self {
        let mut seen = Self {
            url: page
                .url
                .as_ref()
                .map(|u| u.as_str().to_owned())
                .unwrap_or_default(),
            lines,
            ..Self::default()
        };
        seen.lines.truncate(MAX_LINES);
        let mut ends: Vec<NodeId> = Vec::new();
        let mut at: NodeId = 0;
        while let Some(node) = page.nodes().get(at as usize) {
            if seen.nodes.len() == MAX_NODES {
                break;
            }
            if node.tag.is_invisible() {
                at = node.end;
                continue;
            }
            if node.tag.is_block() {
                while ends.last().is_some_and(|end| *end <= at) {
                    ends.pop();
                }
                let name = name_hash(page, at);
                seen.names.entry(name).or_insert_with(|| name_of(page, at));
                seen.nodes.push(ObservedNode {
                    name,
                    depth: u16::try_from(ends.len()).unwrap_or(u16::MAX),
                    key: keys.fine(at),
                });
                ends.push(node.end);
            }
            at += 1;
        }
        seen
    }

    /// The different keys of its blocks.
    pub fn key_set(&self) -> KeySet {
        KeySet::of(self.nodes.iter().map(|node| node.key).collect())
    }
}
