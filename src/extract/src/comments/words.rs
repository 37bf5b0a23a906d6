//! The words of comment blocks: names of classes, buttons, counts, and headings such as `3 条评论`. Long texts are not
//! compared, since a sentence may contain any word.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::cues;
use crate::cues::phrases::strip_signs;
use crate::literals::{Beginnings, Literals};

/// A list of parts of class and id values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameParts(u32);

/// Parts of class and id values of a reader's name.
pub(super) const AUTHOR: NameParts = NameParts(1);
/// Parts of class and id values near a name that are not the name.
pub(super) const NOT_AUTHOR: NameParts = NameParts(1 << 1);
/// Parts of class and id values of the text of a comment.
pub(super) const CONTENT: NameParts = NameParts(1 << 2);
/// Parts of class and id values of what is next to the text: the writer's card, buttons.
pub(super) const BESIDE: NameParts = NameParts(1 << 3);
/// Parts of class and id values of what a comment answers to, never of a part of its own text.
pub(super) const ANSWERED: NameParts = NameParts(1 << 4);
/// Parts of class and id values of what a comment answers to.
pub(super) const QUOTE: NameParts = NameParts(1 << 5);
/// Parts of class and id values of posts of a thread, as opposed to comments under an article.
pub(super) const POST: NameParts = NameParts(1 << 6);
/// Parts of class and id values of comments.
pub(super) const COMMENT: NameParts = NameParts(1 << 7);
/// Parts of class and id values of places for votes.
pub(super) const VOTES: NameParts = NameParts(1 << 8);
/// Parts of the same for votes against.
pub(super) const VOTES_AGAINST: NameParts = NameParts(1 << 9);

static ALL_PARTS: LazyLock<Literals> = LazyLock::new(|| {
    cues::compile_seen(&[
        ("parts.author", AUTHOR.0),
        ("parts.not_author", NOT_AUTHOR.0),
        ("parts.content", CONTENT.0),
        ("parts.beside", BESIDE.0),
        ("parts.answered", ANSWERED.0),
        ("parts.quote", QUOTE.0),
        ("parts.post", POST.0),
        ("parts.comment", COMMENT.0),
        ("parts.votes", VOTES.0),
        ("parts.votes_against", VOTES_AGAINST.0),
    ])
});

impl NameParts {
    /// True if any of the list is in a class or id value, in whatever case.
    pub(super) fn stand_in(self, value: &str) -> bool {
        ALL_PARTS.seen(value.as_bytes()) & self.0 != 0
    }
}

/// Words that a short text may be. Most texts are none: their first byte and their length show that.
struct WordSet {
    words: HashSet<String>,
    /// For each first byte the lengths of the words that have it, a bit each.
    lengths: [u64; 256],
}

impl WordSet {
    /// The words of the sections, which are in small letters.
    fn from_sections(sections: &[&str]) -> Self {
        let words: HashSet<String> = sections
            .iter()
            .flat_map(|section| cues::words(section))
            .collect();
        let mut lengths = [0; 256];
        for word in &words {
            let first = word.as_bytes().first().copied().unwrap_or_default();
            lengths[usize::from(first)] |= 1 << word.len().min(63);
        }
        Self { words, lengths }
    }

    /// True if the text is one of the words, in whatever case.
    fn hold(&self, text: &str) -> bool {
        let Some(first) = text.as_bytes().first() else {
            return false;
        };
        if !keeps_length(text) {
            return self.words.contains(text.to_lowercase().as_str());
        }
        let lengths = self.lengths[usize::from(first.to_ascii_lowercase())];
        let is_upper = |any, byte: u8| any | byte.is_ascii_uppercase();
        lengths >> text.len().min(63) & 1 == 1
            && if text.bytes().fold(false, is_upper) {
                self.words.contains(text.to_ascii_lowercase().as_str())
            } else {
                self.words.contains(text)
            }
    }
}

/// True for a text of ASCII and of characters from U+3000 to U+9FFF: of these only ASCII has letters in two cases.
fn keeps_length(text: &str) -> bool {
    let other = |byte: u8| byte >= 0xC0 && !(0xE3..=0xE9).contains(&byte);
    !text.bytes().fold(false, |any, byte| any | other(byte))
}

static TOOL_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| WordSet::from_sections(&["comment.tools", "comment.answer_tools"]));
static ANSWER_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| WordSet::from_sections(&["comment.answer_tools"]));
static COUNTED_WORDS: LazyLock<WordSet> =
    LazyLock::new(|| WordSet::from_sections(&["comment.counted"]));
static BEGINNINGS: LazyLock<Beginnings> =
    LazyLock::new(|| cues::compile_begun(&["comment.tools.begins"]));

/// A short text without signs at its ends and without the number before or behind it.
fn core(text: &str) -> &str {
    let outer = |c: char| !c.is_alphanumeric() || c.is_ascii_digit();
    let inner = if has_letters_at_ends(text.as_bytes()) {
        text
    } else {
        text.trim_matches(outer)
    };
    // A number of ten thousands is `1.2万`.
    if inner == "万" || inner == "k" || inner == "K" {
        ""
    } else {
        inner
    }
}

/// Told by bytes, for most texts that are buttons; a character from U+5000 to U+9FFF is a letter.
pub(super) fn has_letters_at_ends(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let is_han = |byte: &u8| (0xE5..=0xE9).contains(byte);
    text.first()
        .is_some_and(|first| is_letter(first) || is_han(first))
        && (text.last().is_some_and(is_letter) || text.iter().nth_back(2).is_some_and(is_han))
}

/// A button or a label: 回复, 举报, Reply, 沙发.
pub(super) fn is_tool(text: &str) -> bool {
    if text.len() > 48 {
        return false;
    }
    let core = core(text);
    let begins = |core: &str| BEGINNINGS.of_text(core).next().is_some();
    TOOL_WORDS.hold(core)
        || if keeps_length(core) {
            begins(core)
        } else {
            begins(&core.to_lowercase())
        }
}

/// A button that only comments and posts have.
pub(super) fn is_answer_tool(text: &str) -> bool {
    text.len() <= 40 && ANSWER_WORDS.hold(core(text))
}

/// A number alone, or one with what it counts; signs alone.
pub(super) fn is_count(text: &str) -> bool {
    if text.len() > 40 {
        return false;
    }
    let core = core(text);
    if core.is_empty() {
        return !text.chars().any(is_pictograph);
    }
    text.bytes().any(|b| b.is_ascii_digit()) && COUNTED_WORDS.hold(core)
}

/// Emoji are a comment, signs are decoration.
fn is_pictograph(char: char) -> bool {
    matches!(u32::from(char), 0x1F300..=0x1FAFF | 0x2600..=0x27BF)
}

/// The number of a count, `1.2万` and `3.4k` included; `None` for a text without one.
pub(super) fn number(text: &str) -> Option<i64> {
    let digits: String = text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect();
    let value: f64 = digits.trim_end_matches('.').parse().ok()?;
    let after = text
        .rsplit(|c: char| c.is_ascii_digit())
        .next()
        .unwrap_or_default()
        .trim_start();
    let factor = match after.chars().next() {
        Some('万' | '萬' | 'w' | 'W') => 10_000.0,
        Some('千' | 'k' | 'K') => 1_000.0,
        _ => 1.0,
    };
    (value < 1e12).then_some((value * factor) as i64)
}

/// Longest heading, in bytes.
const MAX_BYTES: usize = 90;

pub(super) static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    cues::compile_pattern(
        r"(?i)^[\W_]*(?:\d[\d,.]*\s*)?(?:<comment.heading.counter>)?\s*(?:(?:<comment.heading.before>)\s*(?:(?:\d[\d,.]*\s*)?(?:<comment.heading.counter>))?\s*)*(?:<comment.heading>)(?:\s*(?:<comment.heading.after>))?(?:\s*[（(]?\s*(?:<comment.heading.before>)?\s*\d+\s*(?:<comment.heading.counter>)?\s*[）)]?)?(?:\s+(?:<comment.heading.on>)(?-u:\b).{0,80})?[\W\d_]*$",
    )
});

/// One of them is in every heading of comments.
static WORDS: LazyLock<Literals> = LazyLock::new(|| cues::compile_seen(&[("comment.heading", 1)]));

/// Every heading begins with one of these, behind signs and a number.
static FIRST: LazyLock<Beginnings> = LazyLock::new(|| {
    cues::compile_begun(&[
        "comment.heading.counter",
        "comment.heading.before",
        "comment.heading",
    ])
});

/// The heading of a list of comments.
pub(super) fn is_heading(text: &str) -> bool {
    text.len() <= MAX_BYTES
        && has_heading_start(text)
        && WORDS.stand_in(text)
        && HEADING.is_match(text)
}

/// What is behind the label of a comment that names its writer: `Our reader's comment: Anna`.
pub(super) fn strip_comment_label(text: &str) -> Option<&str> {
    let head = text.get(..text.floor_char_boundary(MAX_BYTES))?;
    let (label, _) = head.split_once([':', '：'])?;
    let (_, rest) = text.split_at_checked(label.len())?;
    let rest = rest.trim_start_matches([':', '：']);
    let is_label = has_heading_start(label) && WORDS.stand_in(label);
    Some(rest.trim()).filter(|rest| is_label && !rest.is_empty())
}

/// A text begins with such a word. Spares most texts the look for the words.
pub(super) fn has_heading_start(text: &str) -> bool {
    let outer = |c: char| !c.is_alphabetic();
    let first = strip_signs(text).trim_start_matches(outer);
    FIRST.of_text(first).next().is_some()
}
