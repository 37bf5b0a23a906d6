//! Which of many words stand in a text. In: words with bits, once; then texts. Out: the bits of all words that a text
//! has. Never allocates for a text, never judges: that a word is there is at most a reason to look closer.
//!
//! Of each place of a text four bytes tell whether a word may begin there, and only then the tree of the words is gone
//! down from there. What is looked up most is eight kilobytes: the table of all steps of an automaton (Aho and Corasick
//! 1975) takes hundreds for the same words, and waits for memory at each step.

mod bytes;
mod lean;

pub use bytes::{byte_set, count_bytes};
pub use lean::compiled;
#[cfg(test)]
use lean::lean;

/// Rows of places.
const ROWS: usize = 1 << 10;

/// Row of the first two bytes of a word. ASCII letters share it with their capitals.
#[inline]
fn row(first: u8, second: u8) -> usize {
    let pair = u32::from(first | 0x20) | u32::from(second | 0x20) << 8;
    (pair.wrapping_mul(0x9E37_79B1) >> 22) as usize
}

/// Bit of the next two bytes in a row: one of 16 for the third, times one of 4 for the fourth.
#[inline]
fn bit(third: u8, fourth: u8) -> u32 {
    let of = |byte: u8| u32::from(byte | 0x20).wrapping_mul(0x9E37_79B1);
    of(third) >> 28 | of(fourth) >> 30 << 4
}

/// Where a chain of nodes ends; node 0 stands for nothing.
const NONE: u16 = 0;

/// A beginning of words: one byte longer than that of the node it is a child of.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// Its last byte, or the only two where it is the first of its words' nodes; in lower case.
    bytes: [u8; 2],
    /// The first of the nodes that go on.
    child: u16,
    /// The next node that begins like this one.
    next: u16,
    /// Bits of the words that end here.
    bits: u32,
}

/// Words that are looked for in a text.
#[derive(Debug)]
pub struct Literals {
    /// By the first two bytes that words begin with, a bit for each of the next two.
    begun: Vec<u64>,
    /// The first node of each row.
    rows: Vec<u16>,
    nodes: Vec<Node>,
}

impl Literals {
    /// Words of two bytes at least, with the bits that each stands for. ASCII letters match in both cases. What goes
    /// beyond some 65,000 bytes of words is left out.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let mut out = Self {
            begun: vec![0; ROWS],
            rows: vec![NONE; ROWS],
            nodes: vec![Node::default()],
        };
        for (word, bits) in words {
            debug_assert!(word.as_ref().len() > 1, "a word of two bytes at least");
            out.add(&word.as_ref().to_ascii_lowercase(), bits);
        }
        out
    }

    fn add(&mut self, word: &[u8], bits: u32) {
        let Some((pair, rest)) = word.split_first_chunk::<2>() else {
            return;
        };
        let row = row(pair[0], pair[1]);
        // Behind a short word any byte may stand.
        let spelled = |at: usize| match rest.get(at) {
            Some(byte) => *byte..=*byte,
            None => 0..=u8::MAX,
        };
        let pairs = spelled(0).flat_map(|third| spelled(1).map(move |fourth| (third, fourth)));
        self.begun[row] |= pairs.fold(0, |set, (third, fourth)| set | 1 << bit(third, fourth));
        let Some((mut node, first)) = self.go_on(self.rows[row], *pair) else {
            return;
        };
        self.rows[row] = first;
        for byte in rest {
            let child = self.nodes[node].child;
            let Some((next, first)) = self.go_on(child, [*byte, 0]) else {
                return;
            };
            self.nodes[node].child = first;
            node = next;
        }
        self.nodes[node].bits |= bits;
    }

    /// The node of these bytes in a chain, a new one in front of it if there is none, and the first of the chain then.
    fn go_on(&mut self, chain: u16, bytes: [u8; 2]) -> Option<(usize, u16)> {
        if let Some(node) = self.find(chain, bytes) {
            return Some((usize::from(node), chain));
        }
        let new = u16::try_from(self.nodes.len()).ok()?;
        self.nodes.push(Node {
            bytes,
            next: chain,
            ..Node::default()
        });
        Some((usize::from(new), new))
    }

    /// The node of these bytes in a chain.
    #[inline]
    fn find(&self, chain: u16, bytes: [u8; 2]) -> Option<u16> {
        let mut at = chain;
        while at != NONE {
            let node = self.nodes.get(usize::from(at))?;
            if node.bytes == bytes {
                return Some(at);
            }
            at = node.next;
        }
        None
    }

    /// The bits of all words in `text`.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let mut seen = 0;
        self.walk(text, |bits| {
            seen |= bits;
            true
        });
        seen
    }

    /// True if any word stands in `text`.
    pub fn stand_in(&self, text: &str) -> bool {
        let mut found = false;
        self.walk(text.as_bytes(), |bits| {
            found = bits != 0;
            !found
        });
        found
    }

    /// The bits of all words that `text` begins with.
    pub fn begin_with(&self, text: &[u8]) -> u32 {
        let mut seen = 0;
        self.words_at(text, &mut |bits| {
            seen |= bits;
            true
        });
        seen
    }

    /// Hands the bits of each word to `go_on` until that says no.
    fn walk(&self, text: &[u8], mut go_on: impl FnMut(u32) -> bool) {
        for (at, four) in text.windows(4).enumerate() {
            let begun = self.begun.get(row(four[0], four[1]));
            let begins = begun.is_some_and(|begun| begun >> bit(four[2], four[3]) & 1 == 1);
            if begins && !self.words_at(text.get(at..).unwrap_or_default(), &mut go_on) {
                return;
            }
        }
        // A short word may stand in the last three bytes.
        for at in text.len().saturating_sub(3)..text.len() {
            if !self.words_at(text.get(at..).unwrap_or_default(), &mut go_on) {
                return;
            }
        }
    }

    /// Hands the bits of each word to `go_on` that `text` begins with; false when that says no.
    fn words_at(&self, text: &[u8], go_on: &mut impl FnMut(u32) -> bool) -> bool {
        let Some((pair, rest)) = text.split_first_chunk::<2>() else {
            return true;
        };
        let row = self.rows.get(row(pair[0], pair[1]));
        let mut chain = row.copied().unwrap_or_default();
        let mut bytes = pair.map(|byte| byte.to_ascii_lowercase());
        let mut rest = rest.iter();
        loop {
            let found = self.find(chain, bytes);
            let Some(node) = found.and_then(|node| self.nodes.get(usize::from(node))) else {
                return true;
            };
            if node.bits != 0 && !go_on(node.bits) {
                return false;
            }
            let Some(byte) = rest.next() else {
                return true;
            };
            (chain, bytes) = (node.child, [byte.to_ascii_lowercase(), 0]);
        }
    }
}

#[cfg(test)]
mod tests;
