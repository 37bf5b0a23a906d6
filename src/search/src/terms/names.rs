//! Tells names of persons from terms: by their characters (surname and given name, or characters that stand for
//! sounds), and by the titles and verbs of speech next to them. The weights of characters come from the names of the
//! general dictionary (`build.rs`).

use std::sync::LazyLock;

use fst::raw::Fst;

use crate::analyze::is_cjk;

static TABLE: LazyLock<Fst<&[u8]>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/names.fst"));
    Fst::new(bytes).expect("the table is part of the program")
});

/// Log-odds from which characters make a Chinese name whatever stands next to it; with syllables of foreign names among
/// them it may be one of a place or a brand, and takes more.
const SURE: f64 = 5.0;
const SURE_THOUGH_TRANSCRIBED: f64 = 8.0;
/// Log-odds of a Chinese name, and mean log-odds of a transcribed one, that need the support of a title or a verb.
const LIKELY: f64 = 2.0;
const LIKELY_TRANSCRIBED: f64 = 0.8;
/// Share of its occurrences next to a title or a verb of speech that supports it: companies speak and have titles
/// before them too, though they are rarely written like persons.
const SUPPORT: f64 = 0.04;
/// Words of the dictionary that are too long for a Chinese name, but names there (`麻生太郎`), need more.
const SUPPORT_OF_LONG: f64 = 0.1;
/// A word that is nothing but syllables of foreign names: their mean log-odds, and the least.
const SYLLABLES: f64 = 1.0;
const LEAST_SYLLABLE: f64 = -1.0;

/// Whether a candidate is the name of a person. `beside` is the share of its occurrences next to a title or a verb of
/// speech; `is_name` whether the dictionary takes it for a name, which it does with many words that are none.
pub(super) fn is_person(term: &str, beside: f64, is_name: bool) -> bool {
    if !term.chars().all(is_cjk) {
        return false;
    }
    let chinese = chinese(term).unwrap_or(f64::MIN);
    let (transcribed, _) = syllables(term);
    let sure = if transcribed < LIKELY_TRANSCRIBED {
        SURE
    } else {
        SURE_THOUGH_TRANSCRIBED
    };
    let likely = chinese >= LIKELY || transcribed >= LIKELY_TRANSCRIBED;
    chinese >= sure
        || (likely && beside >= SUPPORT)
        || (is_name && term.chars().count() > 3 && beside >= SUPPORT_OF_LONG)
}

/// Whether a word is a transcribed name: of a person, a place, a brand.
pub(super) fn is_transcribed(term: &str) -> bool {
    let (mean, least) = syllables(term);
    let is_long = term.chars().count() > 2 && term.chars().all(is_cjk);
    is_long && mean >= SYLLABLES && least >= LEAST_SYLLABLE
}

/// How much a character at a place speaks for a name; nothing where the dictionary never has it.
fn weight(place: char, c: char) -> f64 {
    let found = TABLE.get(format!("{place}{c}"));
    found.map_or(0.0, |output| (output.value() as f64 - 128.0) / 16.0)
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
