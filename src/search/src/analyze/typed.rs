//! Looks up the terms of a dictionary by what they begin with, sound like or look like, typed in characters or in
//! pinyin. A character with several readings has its most common one; none is guessed from the context. Never looks at
//! documents.

use std::collections::HashMap;

use pinyin::ToPinyin;

use super::cut::is_cjk;
use super::general::{words_beginning, words_by_sound};
use super::syllables::syllables;

/// Longest term that is searched for by its sound, in characters.
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
struct Spelling {
    text: String,
    syllables: String,
}

/// All terms of one dictionary.
#[derive(Debug)]
pub(crate) struct TypedTerms {
    all: Vec<Spelling>,
    by_sound: HashMap<String, Vec<usize>>,
}

impl TypedTerms {
    pub(super) fn new<'t>(terms: impl Iterator<Item = &'t str>) -> Self {
        let mut texts: Vec<&str> = terms.collect();
        // Shorter ones first, and in the same order in every run.
        texts.sort_unstable_by_key(|text| (text.len(), *text));
        let all: Vec<Spelling> = texts
            .into_iter()
            .map(|text| Spelling {
                text: text.to_owned(),
                syllables: syllables(text),
            })
            .collect();
        let mut by_sound: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, term) in all.iter().enumerate() {
            if term.text.chars().all(is_cjk) {
                let alike = by_sound.entry(term.syllables.clone()).or_default();
                alike.push(index);
            }
        }
        Self { all, by_sound }
    }

    /// Terms that begin as typed (see [`begins`]), then those that have the typed text inside.
    pub(crate) fn beginning(&self, typed: &str, most: usize) -> Vec<(bool, &str)> {
        let starts = |term: &&Spelling| begins(&term.text, &term.syllables, typed);
        let first = self.all.iter().filter(starts).map(|term| (true, term));
        let inside = self
            .all
            .iter()
            .filter(|term| !typed.is_ascii() && term.text.contains(typed) && !starts(term))
            .map(|term| (false, term));
        first
            .chain(inside)
            .filter(|(_, term)| term.text != typed)
            .take(most)
            .map(|(is_first, term)| (is_first, term.text.as_str()))
            .collect()
    }

    /// The longest part of a text that sounds like a term or, if none does, like a frequent word of the general
    /// dictionary, without being it; and the text with each of these in its place. Where documents were found, only the whole
    /// text is compared with the general dictionary: every search looks.
    pub(crate) fn sounding(&self, text: &str, is_found: bool) -> Option<(String, Vec<String>)> {
        let chars: Vec<char> = text.chars().collect();
        for is_general in [false, true] {
            for length in (2..=chars.len().min(MAX_SOUNDING_CHARS)).rev() {
                // Nearly every two characters sound like some word.
                let is_part = length < chars.len();
                if is_general && is_part && (length == 2 || is_found) {
                    continue;
                }
                for (at, part) in chars.windows(length).enumerate() {
                    if !part.iter().copied().all(is_cjk) {
                        continue;
                    }
                    let part: String = part.iter().collect();
                    let sound = syllables(&part);
                    let mut words = if is_general {
                        words_by_sound(&sound, true)
                    } else {
                        let mut terms = self.terms_by_sound(&sound);
                        terms.truncate(1);
                        terms
                    };
                    words.retain(|word| sound_alike(word, &part));
                    if words.contains(&part) {
                        return None;
                    }
                    if words.is_empty() {
                        continue;
                    }
                    words.truncate(MOST_SPELT);
                    let before: String = chars.iter().take(at).collect();
                    let after: String = chars.iter().skip(at + length).collect();
                    let texts = words.iter().map(|word| format!("{before}{word}{after}"));
                    return Some((part, texts.collect()));
                }
            }
        }
        None
    }

    fn terms_by_sound(&self, sound: &str) -> Vec<String> {
        let alike = self.by_sound.get(sound).into_iter().flatten();
        let terms = alike.filter_map(|at| self.all.get(*at));
        terms.map(|term| term.text.clone()).collect()
    }

    /// The terms, or frequent words of the general dictionary, that are spelt so in pinyin, one behind the other: `yeyanqi` is
    /// 页岩气, `yeyanqichuceng` 页岩气储层. Of those that sound alike all are given.
    pub(crate) fn spelt(&self, letters: &str) -> Vec<String> {
        if !letters.bytes().all(|b| b.is_ascii_lowercase()) || letters.len() > MAX_SPELT_LETTERS {
            return Vec::new();
        }
        self.spelt_in(letters, MAX_SPELT_TERMS)
    }

    fn spelt_in(&self, letters: &str, parts: usize) -> Vec<String> {
        let named = |letters: &str| -> Vec<String> {
            let mut words = self.terms_by_sound(letters);
            if words.is_empty() {
                words = words_by_sound(letters, true);
                words.truncate(MOST_SPELT);
            }
            words
        };
        let whole = named(letters);
        if !whole.is_empty() {
            return whole;
        }
        // The longest first term decides: what is left must be terms as well.
        for end in (2..letters.len()).rev().filter(|_| parts > 1) {
            let Some((head, tail)) = letters.split_at_checked(end) else {
                continue;
            };
            let heads = named(head).into_iter();
            if heads.len() > 0 {
                let tails = self.spelt_in(tail, parts - 1);
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
    pub(crate) fn like(&self, text: &str) -> Option<&str> {
        let latin = !text.chars().any(is_cjk);
        let like = |term: &&str| {
            let spelt = || latin && strsim::jaro_winkler(text, term) >= LEAST_LIKENESS;
            *term != text && (alike(term, text) || spelt())
        };
        self.all.iter().map(|term| term.text.as_str()).find(like)
    }
}

/// Words of the general dictionary that are longer than what was typed and begin so, in characters or syllables; those most
/// frequent in general text first.
pub(crate) fn frequent_beginning(typed: &str) -> Vec<String> {
    if typed.chars().all(is_cjk) {
        words_beginning(typed)
    } else if typed.len() > 1 && typed.bytes().all(|b| b.is_ascii_lowercase()) {
        words_by_sound(typed, false)
    } else {
        Vec::new()
    }
}

/// Of equal length and typed alike, or different in one character of three to five, in two of more.
pub(crate) fn alike(a: &str, b: &str) -> bool {
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
    (cjk(a) && cjk(b) && sound_alike(a, b)) || (close && letters() && digits(a) == digits(b))
}

/// First letter of a character's syllable, or the character itself.
fn initial(c: char) -> char {
    let syllable = c.to_pinyin().map(|syllable| syllable.plain());
    syllable.and_then(|s| s.chars().next()).unwrap_or(c)
}

/// Whether two texts of Chinese characters are typed alike.
pub(crate) fn sound_alike(a: &str, b: &str) -> bool {
    a.chars().count() == b.chars().count()
        && a.chars().zip(b.chars()).all(|(a, b)| {
            a == b
                || match (a.to_pinyin(), b.to_pinyin()) {
                    (Some(a), Some(b)) => a.plain() == b.plain(),
                    _ => false,
                }
        })
}

/// Whether what was typed is the begin of a word, each of its characters typed as itself or as its first letter
/// (`页岩q`), or the whole by its syllables (`yeyanq`).
pub(crate) fn begins(word: &str, syllables: &str, typed: &str) -> bool {
    let mut rest = word.chars();
    let by_character = typed
        .chars()
        .all(|t| rest.next().is_some_and(|c| c == t || initial(c) == t));
    by_character || (typed.is_ascii() && syllables.starts_with(typed))
}
