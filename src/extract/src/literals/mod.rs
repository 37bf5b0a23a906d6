//! Which of many words stand in a text. In: words with bits, once; then texts. Out: the bits of all words that a text
//! has. Never allocates for a text, never judges: that a word is there is at most a reason to look closer.

mod bytes;
mod expanded;

pub use bytes::count_bytes;
pub use expanded::spelled;

use aho_corasick::automaton::OverlappingState;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, StartKind};
use regex::Regex;

/// Words that are looked for anywhere in a text.
#[derive(Debug)]
pub struct Literals {
    words: AhoCorasick,
    /// What each word stands for.
    bits: Vec<u32>,
}

impl Literals {
    /// Words with the bits that each stands for. ASCII letters match in both cases.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let (words, bits): (Vec<W>, Vec<u32>) = words.into_iter().unzip();
        // One step a byte: each line of a page is asked.
        let words = automaton(words, StartKind::Unanchored, AhoCorasickKind::DFA);
        Self { words, bits }
    }

    /// The bits of all words in `text`.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let words = self.words.find_overlapping_iter(text);
        words.fold(0, |seen, word| seen | self.bits[word.pattern().as_usize()])
    }

    /// True if any word stands in `text`.
    pub fn stand_in(&self, text: &str) -> bool {
        self.words.is_match(text)
    }
}

/// Words that a text may begin with.
#[derive(Debug)]
pub struct Beginnings {
    words: AhoCorasick,
    bits: Vec<u32>,
}

impl Beginnings {
    /// Words with the bits that each stands for. ASCII letters match in both cases.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let (words, bits): (Vec<W>, Vec<u32>) = words.into_iter().unzip();
        // Few bytes are read of a text, so the small form does.
        let kind = AhoCorasickKind::ContiguousNFA;
        let words = automaton(words, StartKind::Anchored, kind);
        Self { words, bits }
    }

    /// The bits and the length of each word that `text` begins with.
    pub fn of_text(&self, text: &str) -> impl Iterator<Item = (u32, usize)> {
        let input = Input::new(text).anchored(Anchored::Yes);
        let mut state = OverlappingState::start();
        let words = std::iter::from_fn(move || {
            self.words.find_overlapping(input.clone(), &mut state);
            state.get_match()
        });
        // A word that ends another ends with it, wherever it begins.
        let begins = words.filter(|word| word.start() == 0);
        begins.map(|word| (self.bits[word.pattern().as_usize()], word.len()))
    }
}

fn automaton<W: AsRef<[u8]>>(
    words: Vec<W>,
    start: StartKind,
    kind: AhoCorasickKind,
) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .start_kind(start)
        .kind(Some(kind))
        .build(words)
        .expect("the words are constants of the program")
}

/// A pattern that is a constant of the program.
///
/// # Panics
/// When the pattern is wrong; tests compile each.
pub fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

#[cfg(test)]
mod tests;
