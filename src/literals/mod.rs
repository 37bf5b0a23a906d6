//! Which of many words stand in a text. In: words with bits, once; then texts. Out: the bits of all words that a text
//! has, found in one pass without allocating (Aho and Corasick 1975, every step in a table). Never judges: that a word
//! is there is at most a reason to look closer.

mod lean;

use std::collections::VecDeque;

pub use lean::compiled;
#[cfg(test)]
use lean::lean;

/// No transition yet, while the table is made. State 0 is the start, to which no transition leads but by failing.
const NONE: u16 = 0;

/// Bits for the first three bytes of words: what stands before such bytes need not be looked at closely.
const PLACES: usize = 1 << 15;

/// Words that begin at one place in so many are found sooner by reading every byte than by looking where they may begin.
const DENSE: u32 = 16;

/// Place of three bytes; few that stand in texts share one.
#[inline]
fn place(bytes: [u8; 3]) -> usize {
    // Spelled out: a call for the three is not always inlined, and this runs for every byte of a page.
    let [first, second, third] = bytes;
    let (first, second) = (usize::from(first), usize::from(second));
    (first & 0x3F) << 9 | (second << 4 ^ usize::from(third)) & 0x1FF
}

/// Words that are looked for anywhere in a text.
#[derive(Debug)]
pub struct Literals {
    /// A bit for the place of each three bytes that a word may begin with; none where that is nearly everywhere.
    begun: Vec<u64>,
    /// Class of each byte; 0 for those that stand in no word.
    classes: [u8; 256],
    /// Number of classes.
    width: usize,
    /// Next state by state and class.
    next: Vec<u16>,
    /// Bits of the words that end in each state.
    bits: Vec<u32>,
}

impl Literals {
    /// Words with the bits that each stands for. ASCII letters match in both cases. Words beyond 65,535 states are left
    /// out.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        Self::folded(words, |byte| byte.to_ascii_lowercase())
    }

    /// The same where bytes are alike that `fold` maps to one.
    pub fn folded<W: AsRef<[u8]>>(
        words: impl IntoIterator<Item = (W, u32)>,
        fold: fn(u8) -> u8,
    ) -> Self {
        let words: Vec<(Vec<u8>, u32)> = words
            .into_iter()
            .map(|(word, bits)| (word.as_ref().iter().map(|b| fold(*b)).collect(), bits))
            .collect();
        let mut known = [0u8; 256];
        let mut width = 1u8;
        for byte in words.iter().flat_map(|(word, _)| word) {
            let class = &mut known[usize::from(*byte)];
            if *class == 0 {
                *class = width;
                width = width.saturating_add(1);
            }
        }
        let mut classes = [0u8; 256];
        for (byte, class) in (0u8..=255).zip(&mut classes) {
            *class = known[usize::from(fold(byte))];
        }
        let mut out = Self {
            begun: vec![0; PLACES / 64],
            classes,
            width: usize::from(width),
            next: vec![NONE; usize::from(width)],
            bits: vec![0],
        };
        for (word, bits) in &words {
            out.add(word, *bits);
            out.begin(word, fold);
        }
        let begun: u32 = out.begun.iter().map(|places| places.count_ones()).sum();
        if begun > PLACES as u32 / DENSE {
            out.begun.clear();
        }
        out.link();
        out
    }

    /// Notes the bytes that the word begins with in any spelling; behind a short word any may stand.
    fn begin(&mut self, word: &[u8], fold: fn(u8) -> u8) {
        let spelled = |at: usize| -> Vec<u8> {
            let folded = word.get(at);
            let alike = |byte: &u8| folded.is_none_or(|folded| fold(*byte) == *folded);
            (0..=255).filter(alike).collect()
        };
        let (second, third) = (spelled(1), spelled(2));
        for a in spelled(0) {
            for b in &second {
                for c in &third {
                    let at = place([a, *b, *c]);
                    self.begun[at / 64] |= 1 << (at % 64);
                }
            }
        }
    }

    fn add(&mut self, word: &[u8], bits: u32) {
        let mut state = 0;
        for byte in word {
            let at = state * self.width + usize::from(self.classes[usize::from(*byte)]);
            if self.next[at] == NONE {
                let Ok(new) = u16::try_from(self.bits.len()) else {
                    return;
                };
                self.next[at] = new;
                self.bits.push(0);
                self.next.extend(std::iter::repeat_n(NONE, self.width));
            }
            state = usize::from(self.next[at]);
        }
        self.bits[state] |= bits;
    }

    /// Fills the table: where a word does not go on, the longest end of what was read that begins one does.
    fn link(&mut self) {
        let mut fails = vec![0usize; self.bits.len()];
        let mut queue: VecDeque<usize> = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            self.bits[state] |= self.bits[fails[state]];
            for class in 0..self.width {
                let at = state * self.width + class;
                let other = self.next[fails[state] * self.width + class];
                match self.next[at] {
                    NONE => self.next[at] = if state == 0 { 0 } else { other },
                    child => {
                        let child = usize::from(child);
                        fails[child] = if state == 0 { 0 } else { usize::from(other) };
                        queue.push_back(child);
                    }
                }
            }
        }
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

    /// The state after a byte.
    fn step(&self, state: usize, byte: u8) -> usize {
        let at = state * self.width + usize::from(self.classes[usize::from(byte)]);
        usize::from(self.next[at])
    }

    /// Hands the bits of each state to `go_on` until that says no. Where no word has begun, only three bytes at a time are
    /// looked at: no step has to wait for the one before it then.
    fn walk(&self, text: &[u8], mut go_on: impl FnMut(u32) -> bool) {
        let mut state = 0;
        if self.begun.is_empty() {
            for byte in text {
                state = self.step(state, *byte);
                if !go_on(self.bits[state]) {
                    return;
                }
            }
            return;
        }
        let mut rest = text;
        loop {
            let begins = |bytes: &[u8]| {
                let at = place([bytes[0], bytes[1], bytes[2]]);
                self.begun[at / 64] >> (at % 64) & 1 == 1
            };
            // The last two bytes may be a word, and have no third.
            let from = rest.windows(3).position(begins);
            rest = rest
                .get(from.unwrap_or(rest.len().saturating_sub(2))..)
                .unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            let mut read = 0;
            for byte in rest {
                read += 1;
                state = self.step(state, *byte);
                if state == 0 {
                    break;
                }
                if !go_on(self.bits[state]) {
                    return;
                }
            }
            rest = rest.get(read..).unwrap_or_default();
            state = 0;
        }
    }
}

/// A word in lower case with its bits.
type Word = (Vec<u8>, u32);

/// Words that are looked for at the beginning of a text.
#[derive(Debug)]
pub struct Beginnings {
    /// The first two bytes of each word, sorted.
    keys: Vec<[u8; 2]>,
    /// Words in lower case, in the order of the keys.
    words: Vec<Word>,
}

impl Beginnings {
    /// Words of two bytes at least, with the bits that each stands for. ASCII letters match in both cases.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let words = words.into_iter();
        let mut keyed: Vec<([u8; 2], Word)> = words
            .map(|(word, bits)| (word.as_ref().to_ascii_lowercase(), bits))
            .filter_map(|(word, bits)| Some((*word.first_chunk()?, (word, bits))))
            .collect();
        keyed.sort_unstable();
        let (keys, words) = keyed.into_iter().unzip();
        Self { keys, words }
    }

    /// The bits of all words that `text` begins with.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let Some(key) = text
            .first_chunk::<2>()
            .map(|key| key.map(|b| b.to_ascii_lowercase()))
        else {
            return 0;
        };
        let from = self.keys.partition_point(|known| *known < key);
        let alike = self.keys.iter().zip(&self.words).skip(from);
        alike
            .take_while(|(known, _)| **known == key)
            .map(|(_, word)| word)
            .filter(|(word, _)| {
                text.get(..word.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(word))
            })
            .fold(0, |seen, (_, bits)| seen | bits)
    }
}

#[cfg(test)]
mod tests;
