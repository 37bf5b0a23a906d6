//! Which of many words stand in a text. In: words with bits, once; then texts. Out: the bits of all words that a text
//! has. Never allocates for a text, never judges: that a word is there is at most a reason to look closer.
//!
//! Of each place of a text four bytes tell whether a word may begin there, and only then the words that begin so are
//! compared, eight bytes in one step. What is looked up at each place is eight kilobytes: the table of all steps of an
//! automaton (Aho and Corasick 1975) takes hundreds for the same words, and waits for memory at each step.

mod bytes;
pub(crate) mod expanded;
mod lean;

pub use bytes::{byte_set, count_bytes};
pub use expanded::spelled;
#[cfg(test)]
use lean::lean;
pub use lean::{compiled, is_sign};

use std::collections::BTreeMap;

/// Rows of places, as a power of two.
const ROWS: u32 = 10;
/// Lists of words of four bytes at least, and of shorter ones, as powers of two.
const LONG: u32 = 10;
const SHORT: u32 = 6;
/// Bytes of a word that are compared in one step.
const HEAD: usize = 8;

/// As many of the highest bits of a number as asked for, which depend on all of it.
#[inline]
fn hashed(number: u32, bits: u32) -> usize {
    (number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - bits)) as usize
}

/// Row of the first two bytes of a word. ASCII letters share it with their capitals.
#[inline]
fn row(four: [u8; 4]) -> usize {
    hashed((u32::from_le_bytes(four) | 0x2020) & 0xFFFF, ROWS)
}

/// Bit of the next two bytes in a row: one of 16 for the third, times one of 4 for the fourth.
#[inline]
fn bit(four: [u8; 4]) -> u32 {
    u32::from(four[2] & 0xF) | u32::from(four[3] & 3) << 4
}

/// List of the words of four bytes at least that may begin so.
#[inline]
fn long(four: [u8; 4]) -> usize {
    hashed(u32::from_le_bytes(four) | 0x2020_2020, LONG)
}

/// List of the shorter words that may begin so, behind the others.
#[inline]
fn short(four: [u8; 4]) -> usize {
    (1 << LONG) + hashed((u32::from_le_bytes(four) | 0x2020) & 0xFFFF, SHORT)
}

/// Eight bytes with ASCII letters in lower case.
#[inline]
fn lowercase(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let low = bytes & (0x7F * EACH);
    // The highest bit of each byte says whether it is at least `A`, and whether it is beyond `Z`.
    let from_a = low + (0x80 - b'A' as u64) * EACH;
    let beyond_z = low + (0x7F - b'Z' as u64) * EACH;
    let capitals = (from_a ^ beyond_z) & !bytes & (0x80 * EACH);
    bytes | capitals >> 2
}

/// Eight bytes of a text from a place on, with zeros behind its last one.
#[inline]
fn eight(text: &[u8], at: usize) -> u64 {
    if let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
        return u64::from_le_bytes(*bytes);
    }
    match text.last_chunk() {
        Some(last) => u64::from_le_bytes(*last) >> (8 * (at + HEAD - text.len())),
        None => text
            .iter()
            .skip(at)
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte)),
    }
}

/// The first four of eight bytes.
#[inline]
fn four_of(eight: u64) -> [u8; 4] {
    (eight as u32).to_le_bytes()
}

/// A word, in lower case.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// Its first bytes, with zeros behind them.
    head: u64,
    /// Its bits.
    bits: u32,
    /// Where its other bytes stand.
    tail: u16,
    /// How many they are.
    tail_len: u8,
    /// Bits of the head that it does not have.
    free: u8,
}

impl Word {
    fn len(&self) -> usize {
        HEAD - usize::from(self.free) / 8 + usize::from(self.tail_len)
    }
}

/// Words that are looked for in a text.
#[derive(Debug)]
pub struct Literals {
    /// By the first two bytes that words begin with, a bit for each of the next two.
    begun: Box<[u64; 1 << ROWS]>,
    /// For each list where its words begin; one more entry at the end.
    lists: Vec<u16>,
    /// The words of each list.
    words: Vec<Word>,
    /// What words longer than a head have behind it.
    tails: Vec<u8>,
}

impl Literals {
    /// Words of two bytes at least, with the bits that each stands for; none holds a zero byte. ASCII letters match in
    /// both cases. Words of more than 263 bytes are left out, and what goes beyond some 65,000 words or bytes of them.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let mut known: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        for (word, bits) in words {
            let word = word.as_ref().to_ascii_lowercase();
            debug_assert!(word.len() > 1, "a word of two bytes at least");
            debug_assert!(!word.contains(&0), "a word without zeros");
            *known.entry(word).or_default() |= bits;
        }
        let mut begun = Box::new([0; 1 << ROWS]);
        let mut lists: Vec<Vec<Word>> = vec![Vec::new(); (1 << LONG) + (1 << SHORT)];
        let mut tails = Vec::new();
        for (word, bits) in &known {
            let Some(kept) = kept(word, *bits, &mut tails) else {
                continue;
            };
            for four in beginnings(word) {
                begun[row(four)] |= 1 << bit(four);
            }
            let four = four_of(eight(word, 0));
            let list = if word.len() < 4 {
                short(four)
            } else {
                long(four)
            };
            lists[list].push(kept);
        }
        let mut out = Self {
            begun,
            lists: vec![0],
            words: Vec::new(),
            tails,
        };
        for mut list in lists {
            list.truncate(usize::from(u16::MAX) - out.words.len());
            out.words.append(&mut list);
            out.lists.push(out.words.len() as u16);
        }
        out
    }

    /// The bits of all words in `text`.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let mut seen = 0;
        self.walk(text, |word| {
            seen |= word.bits;
            true
        });
        seen
    }

    /// True if any word stands in `text`.
    pub fn stand_in(&self, text: &str) -> bool {
        let mut found = false;
        self.walk(text.as_bytes(), |word| {
            found = word.bits != 0;
            !found
        });
        found
    }

    /// The bits of all words that `text` begins with.
    pub fn begin_with(&self, text: &[u8]) -> u32 {
        let mut seen = 0;
        self.beginnings(text, |bits, _| seen |= bits);
        seen
    }

    /// Hands the bits of each word that `text` begins with and its length to `each`.
    pub fn beginnings(&self, text: &[u8], mut each: impl FnMut(u32, usize)) {
        self.words_at(text, 0, &mut |word| {
            each(word.bits, word.len());
            true
        });
    }

    /// Hands each word to `go_on` until that says no.
    #[inline]
    fn walk(&self, text: &[u8], mut go_on: impl FnMut(&Word) -> bool) {
        for (at, four) in text.windows(4).enumerate() {
            let four = [four[0], four[1], four[2], four[3]];
            if self.may_begin(four) && !self.words_at(text, at, &mut go_on) {
                return;
            }
        }
        // A short word may stand in the last three bytes or in the last two.
        for at in [3, 2].map(|len| text.len().saturating_sub(len)) {
            if self.may_begin(four_of(eight(text, at))) && !self.words_at(text, at, &mut go_on) {
                return;
            }
        }
    }

    /// False if no word begins with these bytes.
    #[inline]
    fn may_begin(&self, four: [u8; 4]) -> bool {
        let begun = self.begun.get(row(four));
        begun.is_some_and(|begun| begun >> bit(four) & 1 == 1)
    }

    /// Hands each word to `go_on` that stands in `text` at this place; false when that says no.
    fn words_at(&self, text: &[u8], at: usize, go_on: &mut impl FnMut(&Word) -> bool) -> bool {
        let head = lowercase(eight(text, at));
        let four = four_of(head);
        let text = text.get(at..).unwrap_or_default();
        for list in [short(four), long(four)] {
            for word in self.list(list) {
                let begins = (head ^ word.head) << word.free == 0 && self.ends(word, text);
                if begins && !go_on(word) {
                    return false;
                }
            }
        }
        true
    }

    #[inline]
    fn list(&self, list: usize) -> &[Word] {
        let bounds = self.lists.get(list..list + 2);
        let range = bounds.map_or(0..0, |b| usize::from(b[0])..usize::from(b[1]));
        self.words.get(range).unwrap_or_default()
    }

    /// True if `text`, which begins with the head of a word, goes on with the rest of it.
    #[inline]
    fn ends(&self, word: &Word, text: &[u8]) -> bool {
        let (from, len) = (usize::from(word.tail), usize::from(word.tail_len));
        let tail = self.tails.get(from..from + len).unwrap_or_default();
        let rest = text.get(HEAD..).unwrap_or_default();
        tail.is_empty()
            || rest
                .get(..len)
                .is_some_and(|rest| rest.eq_ignore_ascii_case(tail))
    }
}

/// A word as it is kept, its tail among the others'; nothing when there is no more room.
fn kept(word: &[u8], bits: u32, tails: &mut Vec<u8>) -> Option<Word> {
    let tail = word.get(HEAD..).unwrap_or_default();
    let at = u16::try_from(tails.len()).ok()?;
    let tail_len = u8::try_from(tail.len()).ok()?;
    tails.extend_from_slice(tail);
    Some(Word {
        head: eight(word, 0),
        bits,
        tail: at,
        tail_len,
        free: 8 * (HEAD - word.len().min(HEAD)) as u8,
    })
}

/// Beginnings that stand for those of all texts that begin with a word: behind a short one any byte may stand, and of a
/// fourth only the last two bits count.
fn beginnings(word: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    let [first, second, ..] = four_of(eight(word, 0));
    let third = match word.get(2) {
        Some(byte) => *byte..=*byte,
        None => 0..=u8::MAX,
    };
    let fourth = match word.get(3) {
        Some(byte) => *byte..=*byte,
        None => 0..=3,
    };
    let ends = third.flat_map(move |third| fourth.clone().map(move |fourth| (third, fourth)));
    ends.map(move |(third, fourth)| [first, second, third, fourth])
}

#[cfg(test)]
mod tests;
