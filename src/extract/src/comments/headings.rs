//! Headings of lists of comments: `3 条评论`, `Comments on this`. In: a short text. Out: whether it is one. Never for
//! long texts: a sentence may say anything.

use std::sync::LazyLock;

use regex::Regex;

use crate::cues;
use crate::cues::phrases::without_signs;
use crate::literals::{Beginnings, Literals, compiled};

/// Longest heading, in bytes.
const MAX_BYTES: usize = 90;

/// The sections of its words: counters and what else stands before, the words themselves, what stands behind.
const SECTIONS: [&str; 4] = [
    "comment.heading.counter",
    "comment.heading.before",
    "comment.heading",
    "comment.heading.after",
];

pub(super) static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    let [counter, before, words, after] = SECTIONS.map(cues::alternatives);
    let on = cues::alternatives("comment.heading.on");
    let number = r"(?:\d[\d,.]*\s*)?";
    compiled(&format!(
        r"(?i)^[\W_]*{number}(?:{counter})?\s*(?:(?:{before})\s*(?:{number}(?:{counter}))?\s*)*(?:{words})(?:\s*(?:{after}))?(?:\s*[（(]?\s*(?:{before})?\s*\d+\s*(?:{counter})?\s*[）)]?)?(?:\s+(?:{on})(?-u:\b).{{0,80}})?[\W\d_]*$",
    ))
});

/// One of them stands in every heading of comments.
static WORDS: LazyLock<Literals> = LazyLock::new(|| {
    let words = cues::words_in_cases(SECTIONS[2]).into_iter();
    Literals::of(words.map(|word| (word, 1)))
});

/// Every heading begins with one of these, behind signs and a number.
static FIRST: LazyLock<Beginnings> = LazyLock::new(|| {
    let words = SECTIONS
        .iter()
        .take(3)
        .flat_map(|section| cues::words_in_cases(section));
    Beginnings::of(words.map(|word| (word, 1)))
});

/// The heading of a list of comments.
pub(super) fn is_heading(text: &str) -> bool {
    text.len() <= MAX_BYTES
        && begins_like_one(text)
        && WORDS.stand_in(text)
        && HEADING.is_match(text)
}

/// A text begins with such a word. Spares most texts the look for the words.
pub(super) fn begins_like_one(text: &str) -> bool {
    let outer = |c: char| !c.is_alphabetic();
    let first = without_signs(text).trim_start_matches(outer);
    FIRST.of_text(first).next().is_some()
}
