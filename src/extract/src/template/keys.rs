//! Where a node stands, as numbers that are the same on all pages of a template. In: a page. Out: for each node its fine
//! key, made of the names of all blocks from the root. Only blocks count: inline elements come and go with what an author
//! writes.

use super::sequence::Sequence;
use crate::page::{NodeId, Page};
use crate::similarity::shared;

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
    pub fn of(page: &Page) -> Self {
        let sequence = Sequence::of(page);
        let of_tokens = &sequence.layout.keys;
        let mut fine = vec![0; page.nodes().len()];
        for (node, key) in sequence.nodes.iter().zip(of_tokens) {
            fine[*node as usize] = *key;
        }
        let blocks = sequence.tokens.iter().zip(of_tokens);
        let blocks = blocks.filter(|(token, _)| token.is_block());
        Self {
            set: KeySet::of(blocks.map(|(_, key)| *key).collect()),
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
    pub fn of(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self { keys }
    }

    /// In rising order.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Keys that stand in both.
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
