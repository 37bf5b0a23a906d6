//! Headings of lists of comments: `3 条评论`, `Comments on this`. In: a short text. Out: whether it is one. Never for
//! long texts: a sentence may say anything.

use std::sync::LazyLock;

use regex::Regex;

use crate::cues;
use crate::cues::phrases::without_signs;
use crate::literals::{Beginnings, Literals};

/// Longest heading, in bytes.
const MAX_BYTES: usize = 90;

pub(super) static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    cues::pattern(
        r"(?i)^[\W_]*(?:\d[\d,.]*\s*)?(?:<comment.heading.counter>)?\s*(?:(?:<comment.heading.before>)\s*(?:(?:\d[\d,.]*\s*)?(?:<comment.heading.counter>))?\s*)*(?:<comment.heading>)(?:\s*(?:<comment.heading.after>))?(?:\s*[（(]?\s*(?:<comment.heading.before>)?\s*\d+\s*(?:<comment.heading.counter>)?\s*[）)]?)?(?:\s+(?:<comment.heading.on>)(?-u:\b).{0,80})?[\W\d_]*$",
    )
});

/// One of them stands in every heading of comments.
static WORDS: LazyLock<Literals> = LazyLock::new(|| cues::seen(&[("comment.heading", 1)]));

/// Every heading begins with one of these, behind signs and a number.
static FIRST: LazyLock<Beginnings> = LazyLock::new(|| {
    cues::begun(&[
        "comment.heading.counter",
        "comment.heading.before",
        "comment.heading",
    ])
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
