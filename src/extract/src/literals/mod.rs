//! Searches texts for many words at once. A set is made of words with bits and returns the bits of all words in a text,
//! without an allocation; a word that is there is at most a reason to look closer.

use std::iter::Peekable;
use std::str::Chars;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::dfa::DFA;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, StartKind};
use regex::Regex;

/// Words that are searched for anywhere in a text.
#[derive(Debug)]
pub struct Literals {
    words: DFA,
    /// What each word stands for.
    bits: Vec<u32>,
}

impl Literals {
    /// Words with the bits that each stands for. ASCII letters match in both cases.
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let (words, bits): (Vec<W>, Vec<u32>) = words.into_iter().unzip();
        // One step a byte: each line of a page is asked.
        let words = DFA::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Unanchored)
            .build(words)
            .expect("the words are constants of the program");
        Self { words, bits }
    }

    /// The bits of all words in `text`.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let Ok(mut state) = self.words.start_state(Anchored::No) else {
            return 0;
        };
        let mut seen = 0;
        for &byte in text {
            state = self.words.next_state(Anchored::No, state, byte);
            if self.words.is_match(state) {
                for at in 0..self.words.match_len(state) {
                    seen |= self.bits[self.words.match_pattern(state, at).as_usize()];
                }
            }
        }
        seen
    }

    /// True if any word is in `text`.
    pub fn stand_in(&self, text: &str) -> bool {
        let found = self.words.try_find(&Input::new(text).earliest(true));
        found.is_ok_and(|word| word.is_some())
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
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let (words, bits): (Vec<W>, Vec<u32>) = words.into_iter().unzip();
        // Few bytes are read of a text, so the small form does.
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Anchored)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words)
            .expect("the words are constants of the program");
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

/// A pattern that is a constant of the program.
///
/// # Panics
/// When the pattern is wrong; tests compile each.
pub fn compile_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

#[cfg(test)]
mod tests;

/// How many bytes of `text` are such.
pub fn count_bytes(text: &[u8], is_such: impl Fn(u8) -> bool) -> usize {
    // As `filter(..).count()`, but in blocks that a byte can count, so that the compiler counts many at once: 2.5 % of
    // the way from bytes to document.
    let blocks = text.chunks(128);
    let counts = blocks.map(|block| block.iter().map(|b| u8::from(is_such(*b))).sum::<u8>());
    counts.map(usize::from).sum()
}

/// Every word that `words` stands for.
pub fn expand_spelling(words: &str) -> Vec<String> {
    alternatives(&mut words.chars().peekable())
}

/// The words up to the end of a group.
fn alternatives(chars: &mut Peekable<Chars<'_>>) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        all.append(&mut one(chars));
        if chars.next_if_eq(&'|').is_none() {
            return all;
        }
    }
}

/// The words of one alternative.
fn one(chars: &mut Peekable<Chars<'_>>) -> Vec<String> {
    let mut out = vec![String::new()];
    while let Some(char) = chars.next_if(|c| !matches!(c, '|' | ')')) {
        let mut choices = match char {
            '(' => {
                let inside = alternatives(chars);
                chars.next();
                inside
            }
            '[' => {
                let inside = chars.by_ref().take_while(|c| *c != ']');
                inside.map(String::from).collect()
            }
            char => vec![char.into()],
        };
        if chars.next_if_eq(&'?').is_some() {
            choices.push(String::new());
        }
        let longer = |word: &String| {
            let with = |choice: &String| format!("{word}{choice}");
            choices.iter().map(with).collect::<Vec<_>>()
        };
        out = out.iter().flat_map(longer).collect();
    }
    out
}
