//! Searches texts for many words at once. A set is made of words with bits and returns the bits of all words in a text,
//! without an allocation; a word that is there is at most a reason to look closer.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use aho_corasick::automaton::{Automaton, OverlappingState, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, PatternID, StartKind};
use regex::Regex;

/// Bytes of a word that the automaton has. With all bytes of all words that of the largest list takes 10 MB, and what a text visits of
/// it fits no cache.
const PREFIX_BYTES: usize = 8;

/// Words that are searched for anywhere in a text.
#[derive(Debug)]
pub struct Literals {
    prefixes: DFA,
    /// The words with each prefix.
    words: Vec<Vec<Word>>,
}

/// A word that is searched for.
#[derive(Debug)]
struct Word {
    /// What is behind its prefix.
    rest: Box<[u8]>,
    /// What it stands for.
    bits: u32,
}

impl Literals {
    /// Words with the bits that each stands for. ASCII letters match in both cases.
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = (W, u32)>) -> Self {
        let mut by_prefix: BTreeMap<Vec<u8>, Vec<Word>> = BTreeMap::new();
        for (word, bits) in words {
            let word = word.as_ref();
            let (prefix, rest) = word.split_at(word.len().min(PREFIX_BYTES));
            let rest = rest.into();
            let same = by_prefix.entry(prefix.to_ascii_lowercase());
            same.or_default().push(Word { rest, bits });
        }
        let (prefixes, words): (Vec<Vec<u8>>, Vec<Vec<Word>>) = by_prefix.into_iter().unzip();
        // One step a byte: each line of a page is asked.
        let prefixes = DFA::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Unanchored)
            .build(prefixes)
            .expect("the words are constants of the program");
        Self { prefixes, words }
    }

    /// The bits of all words in `text`.
    pub fn seen(&self, text: &[u8]) -> u32 {
        let Ok(mut state) = self.prefixes.start_state(Anchored::No) else {
            return 0;
        };
        let mut seen = 0;
        let mut rest = text.iter();
        while let Some(&byte) = rest.next() {
            state = self.prefixes.next_state(Anchored::No, state, byte);
            if self.prefixes.is_match(state) {
                seen |= self.bits_at(state, rest.as_slice());
            }
        }
        seen
    }

    /// The bits of all words that end, or whose prefixes end, where the automaton is in this state.
    #[cold]
    fn bits_at(&self, state: StateID, behind: &[u8]) -> u32 {
        let prefixes = 0..self.prefixes.match_len(state);
        let prefixes = prefixes.map(|which| self.prefixes.match_pattern(state, which));
        let words = prefixes.flat_map(|prefix| self.words_with(prefix, behind));
        words.fold(0, |seen, word| seen | word.bits)
    }

    /// True if any word is in `text`.
    pub fn stand_in(&self, text: &str) -> bool {
        let input = Input::new(text);
        // Hardly a text has as much as a prefix, and to look for one is faster than for all.
        let first = self.prefixes.try_find(&input.clone().earliest(true));
        if !first.is_ok_and(|found| found.is_some()) {
            return false;
        }
        let mut state = OverlappingState::start();
        loop {
            let searched = self.prefixes.try_find_overlapping(&input, &mut state);
            let Some(found) = searched.ok().and_then(|()| state.get_match()) else {
                return false;
            };
            let behind = text.as_bytes().get(found.end()..).unwrap_or_default();
            if self.words_with(found.pattern(), behind).next().is_some() {
                return true;
            }
        }
    }

    /// The words with this prefix whose rest is what comes after it.
    fn words_with(&self, prefix: PatternID, behind: &[u8]) -> impl Iterator<Item = &Word> {
        let words = self.words.get(prefix.as_usize()).into_iter().flatten();
        words.filter(move |word| {
            let own = behind.get(..word.rest.len());
            own.is_some_and(|own| own.eq_ignore_ascii_case(&word.rest))
        })
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
