//! Tells names of persons from terms: by their characters (surname and given name, or characters that stand for
//! sounds), by the titles and the verbs of speech and of persons next to them, and by titles within them. The weights
//! of characters come from the names of the general dictionary (`build.rs`), surnames of two characters from
//! `index/boilerplate.txt`.
//!
//! [`is_person`] is strict, and what it takes for a person is no candidate. [`may_be_person`] is generous: such a
//! candidate is shown for review, and never enters by itself.

use std::sync::LazyLock;

use foldhash::HashMap;
use fst::Streamer as _;
use fst::raw::Fst;

use super::corpus::given_name;
use crate::analyze::{Dictionary, is_cjk};

/// How much characters speak for a name, by their place in it. As a table in memory: some are looked up for every candidate.
static TABLE: LazyLock<HashMap<(char, char), f64>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/names.fst"));
    let names = Fst::new(bytes).expect("the table is part of the program");
    let mut table = HashMap::default();
    let mut entries = names.stream();
    while let Some((key, output)) = entries.next() {
        let mut chars = std::str::from_utf8(key).unwrap_or_default().chars();
        if let (Some(place), Some(c)) = (chars.next(), chars.next()) {
            table.insert((place, c), (output.value() as f64 - 128.0) / 16.0);
        }
    }
    table
});

/// Log-odds from which characters make a Chinese name whatever stands next to it; with syllables of foreign names among
/// them it may be one of a place or a brand, and takes more.
const SURE: f64 = 5.0;
const SURE_THOUGH_TRANSCRIBED: f64 = 8.0;
/// Log-odds of a Chinese name, and mean log-odds of a transcribed one, that need the support of a title or a verb.
const LIKELY: f64 = 2.0;
const LIKELY_TRANSCRIBED: f64 = 0.8;
/// The same of names that a reader has to decide about.
const POSSIBLE: f64 = 1.0;
const POSSIBLY_TRANSCRIBED: f64 = 0.5;
/// Share of its occurrences next to a title or a verb of speech that supports it: companies speak and have titles
/// before them too, though they are rarely written like persons.
const SUPPORT: f64 = 0.04;
/// Words of the dictionary that are too long for a Chinese name, but names there (`麻生太郎`), need more.
const SUPPORT_OF_LONG: f64 = 0.1;
/// A word that is nothing but syllables of foreign names: their mean log-odds, and the least.
const SYLLABLES: f64 = 1.0;
const LEAST_SYLLABLE: f64 = -1.0;

/// Longest given name behind a surname of two characters (`纯一郎`).
const GIVEN_CHARS: usize = 3;
/// A given name that is more frequent than this in a million words is a word (`松下电器`).
const COMMON_PER_MILLION: f64 = 0.2;

/// The same for a name next to a title, which is often in the dictionary (`普京`), and the longest such name.
const COMMON_WITH_TITLE: f64 = 2.0;
const TITLED_CHARS: usize = 6;

/// What shows whether a candidate is a person, its characters aside.
pub(super) struct Signs<'a> {
    /// The share of its occurrences next to a title or a verb of persons.
    pub(super) beside: f64,
    /// Whether the dictionary takes its words for names, which it does with many words that are none.
    pub(super) is_name: bool,
    /// The general dictionary: a frequent word is no name by its characters alone.
    pub(super) dictionary: &'a Dictionary,
}

impl Signs<'_> {
    fn is_common(&self, word: &str, limit: f64) -> bool {
        let per_million = self.dictionary.per_million(word);
        per_million.is_some_and(|times| times > limit)
    }
}

/// Whether a candidate is the name of a person.
pub(super) fn is_person(term: &str, signs: &Signs<'_>) -> bool {
    if !term.chars().all(is_cjk) {
        return false;
    }
    let beside = signs.beside;
    let is_long = signs.is_name && term.chars().count() > 3;
    is_chinese_surely(term)
        || (is_likely(term) && beside >= SUPPORT)
        || (is_long && beside >= SUPPORT_OF_LONG)
        || given_name(term).is_some_and(|given| is_given(given, signs))
}

/// Whether what stands behind a surname of two characters is a given name.
fn is_given(given: &str, signs: &Signs<'_>) -> bool {
    match given.chars().count() {
        0 | 1 => signs.beside >= SUPPORT,
        2..=GIVEN_CHARS => {
            !signs.is_common(given, COMMON_PER_MILLION) || signs.beside >= SUPPORT_OF_LONG
        }
        _ => false,
    }
}

/// Whether a candidate that nothing next to it makes a person may be one all the same.
pub(super) fn may_be_person(term: &str) -> bool {
    let ends_in_sound = term
        .chars()
        .next_back()
        .is_some_and(|c| weight('t', c) >= 0.0);
    let surname = given_name(term);
    let is_family = surname.is_some_and(|given| given.chars().count() <= GIVEN_CHARS);
    term.chars().all(is_cjk)
        && (is_family
            || chinese(term).is_some_and(|weight| weight >= POSSIBLE)
            || (ends_in_sound && syllables(term).0 >= POSSIBLY_TRANSCRIBED))
}

/// Whether what stands next to a title within a candidate (`总统拜登`) is a name: by its characters, or because the
/// dictionary takes it for one. What is frequent in general text needs more (`卓越教师`).
pub(super) fn is_name_with_title(word: &str, signs: &Signs<'_>) -> bool {
    let is_common = signs.is_common(word, COMMON_WITH_TITLE);
    let is_short = word.chars().count() <= TITLED_CHARS && word.chars().all(is_cjk);
    is_chinese_surely(word) || (!is_common && ((is_short && signs.is_name) || is_likely(word)))
}

fn is_chinese_surely(word: &str) -> bool {
    let sure = if syllables(word).0 < LIKELY_TRANSCRIBED {
        SURE
    } else {
        SURE_THOUGH_TRANSCRIBED
    };
    chinese(word).is_some_and(|weight| weight >= sure)
}

fn is_likely(word: &str) -> bool {
    let is_transcribed = word.chars().all(is_cjk) && syllables(word).0 >= LIKELY_TRANSCRIBED;
    is_transcribed || chinese(word).is_some_and(|weight| weight >= LIKELY)
}

/// Whether a word is a transcribed name: of a person, a place, a brand.
pub(super) fn is_transcribed(term: &str) -> bool {
    let (mean, least) = syllables(term);
    let is_long = term.chars().count() > 2 && term.chars().all(is_cjk);
    is_long && mean >= SYLLABLES && least >= LEAST_SYLLABLE
}

/// How much a character at a place speaks for a name; nothing where the dictionary never has it.
fn weight(place: char, c: char) -> f64 {
    TABLE.get(&(place, c)).copied().unwrap_or_default()
}

/// How much the characters of a word speak for a Chinese name; none if it has not two or three.
fn chinese(word: &str) -> Option<f64> {
    let weights = "123".chars().zip(word.chars());
    let weights = weights.map(|(place, c)| weight(place, c));
    (2..=3)
        .contains(&word.chars().count())
        .then(|| weights.sum())
}

/// How much the characters of a word speak for a transcribed name: the mean, and the least.
fn syllables(word: &str) -> (f64, f64) {
    let weights = word.chars().map(|c| weight('t', c));
    let (sum, least) = weights.fold((0.0, f64::MAX), |(sum, least), weight| {
        (sum + weight, weight.min(least))
    });
    (sum / word.chars().count().max(1) as f64, least)
}
