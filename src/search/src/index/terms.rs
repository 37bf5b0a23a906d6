//! The terms of the lexicons as they are typed. In: a dictionary. Out: terms by what they begin with, sound like or
//! look like. Made once for each dictionary; never looks at documents.

use std::collections::HashMap;

use super::pinyin;
use crate::analyze::{Dictionary, is_cjk};

/// Longest term that is looked for by its sound, in characters.
const MAX_SOUNDING_CHARS: usize = 10;
/// Longest text that is read as pinyin, in letters.
const MAX_SPELT_LETTERS: usize = 48;
/// Terms that it may be, one behind the other.
const MAX_SPELT_TERMS: usize = 3;
/// Readings of one text that are tried.
const MOST_SPELT: usize = 8;
/// Likeness (Jaro-Winkler) at which a Latin word is taken for another.
const LEAST_LIKENESS: f64 = 0.88;

/// A term and its syllables.
#[derive(Debug)]
struct Typed {
    text: String,
    syllables: String,
}

/// All terms of one dictionary.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) version: u64,
    all: Vec<Typed>,
    by_sound: HashMap<String, Vec<usize>>,
}

impl Terms {
    pub(super) fn new(dictionary: &Dictionary) -> Self {
        let mut texts: Vec<&str> = dictionary.terms().collect();
        // Shorter ones first, and in the same order in every run.
        texts.sort_unstable_by_key(|text| (text.len(), *text));
        let all: Vec<Typed> = texts
            .into_iter()
            .map(|text| Typed {
                text: text.to_owned(),
                syllables: pinyin::syllables(text),
            })
            .collect();
        let mut by_sound: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, term) in all.iter().enumerate() {
            if term.text.chars().all(is_cjk) {
                let alike = by_sound.entry(term.syllables.clone()).or_default();
                alike.push(index);
            }
        }
        Self {
            version: dictionary.version(),
            all,
            by_sound,
        }
    }

    /// Terms that begin as typed (see [`pinyin::begins`]), then those that have the typed text inside.
    pub(super) fn beginning(&self, typed: &str, most: usize) -> Vec<(bool, &str)> {
        let begins = |term: &&Typed| pinyin::begins(&term.text, &term.syllables, typed);
        let first = self.all.iter().filter(begins).map(|term| (true, term));
        let inside = self
            .all
            .iter()
            .filter(|term| !typed.is_ascii() && term.text.contains(typed) && !begins(term))
            .map(|term| (false, term));
        first
            .chain(inside)
            .filter(|(_, term)| term.text != typed)
            .take(most)
            .map(|(begins, term)| (begins, term.text.as_str()))
            .collect()
    }

    /// The longest part of a text that sounds like a term without being it, and the text with the term in its
    /// place.
    pub(super) fn sounding(&self, text: &str) -> Option<(String, String)> {
        let chars: Vec<char> = text.chars().collect();
        for length in (2..=chars.len().min(MAX_SOUNDING_CHARS)).rev() {
            for (at, part) in chars.windows(length).enumerate() {
                if !part.iter().copied().all(is_cjk) {
                    continue;
                }
                let part: String = part.iter().collect();
                let term = self
                    .by_sound
                    .get(&pinyin::syllables(&part))
                    .and_then(|alike| self.all.get(*alike.first()?))
                    .filter(|term| pinyin::sound_alike(&term.text, &part));
                let Some(term) = term else { continue };
                if term.text == part {
                    return None;
                }
                let before: String = chars.iter().take(at).collect();
                let after: String = chars.iter().skip(at + length).collect();
                return Some((part, format!("{before}{}{after}", term.text)));
            }
        }
        None
    }

    /// The terms that are spelt so in pinyin, one behind the other: `yeyanqi` is 页岩气, `yeyanqichuceng` 页岩气储层. Of
    /// terms that sound alike all are given.
    pub(super) fn spelt(&self, letters: &str) -> Vec<String> {
        if !letters.bytes().all(|b| b.is_ascii_lowercase()) || letters.len() > MAX_SPELT_LETTERS {
            return Vec::new();
        }
        self.spelt_in(letters, MAX_SPELT_TERMS)
    }

    fn spelt_in(&self, letters: &str, parts: usize) -> Vec<String> {
        let named = |alike: &Vec<usize>| -> Vec<String> {
            let terms = alike.iter().filter_map(|at| self.all.get(*at));
            terms.map(|term| term.text.clone()).collect()
        };
        if let Some(alike) = self.by_sound.get(letters) {
            return named(alike);
        }
        // The longest first term decides: what is left must be terms as well.
        for end in (2..letters.len()).rev().filter(|_| parts > 1) {
            let Some((head, tail)) = letters.split_at_checked(end) else {
                continue;
            };
            if let Some(alike) = self.by_sound.get(head) {
                let tails = self.spelt_in(tail, parts - 1);
                let heads = named(alike).into_iter();
                let both =
                    heads.flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}")));
                let both: Vec<String> = both.take(MOST_SPELT).collect();
                if !both.is_empty() {
                    return both;
                }
            }
        }
        Vec::new()
    }

    /// A term that looks like the text: a character or two are others, or a letter is missing or too much.
    pub(super) fn like(&self, text: &str) -> Option<&str> {
        let latin = !text.chars().any(is_cjk);
        let like = |term: &&str| {
            let spelt = || latin && strsim::jaro_winkler(text, term) >= LEAST_LIKENESS;
            *term != text && (alike(term, text) || spelt())
        };
        self.all.iter().map(|term| term.text.as_str()).find(like)
    }
}

/// Of equal length and typed alike, or different in one character of three to five, in two of more.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let cjk = |text: &str| text.chars().all(is_cjk);
    let allowed = match a.chars().count() {
        0..3 => 0,
        3..6 => 1,
        _ => 2,
    };
    let close = strsim::hamming(a, b).is_ok_and(|distance| distance <= allowed);
    // Numbers and names that differ in a digit are different things.
    let digits = |text: &str| -> Vec<char> { text.chars().filter(char::is_ascii_digit).collect() };
    // What reaches over the end of a sentence is not what was meant.
    let letters = || a.chars().all(|c| c.is_alphanumeric() || b.contains(c));
    (cjk(a) && cjk(b) && pinyin::sound_alike(a, b))
        || (close && letters() && digits(a) == digits(b))
}
