//! Finds the short texts and `<time>` elements of a page that contain a time, as [`TimeSign`]s in document order. Times are
//! not resolved; one pass, long texts are skipped.

use std::sync::LazyLock;

use crate::cues;
use crate::literals::Literals;
use crate::page::{Attr, NodeId, Page, Tag};
use crate::times::{self, forms};

/// Longest text that is checked, in bytes: a line of name, place and time, not a paragraph.
const MAX_BYTES: usize = 160;
/// Longest text, in bytes, that may be short for the time that its element's title states.
const MAX_SHORTENED: usize = 24;
/// Levels above a text on which a `<time>` that is a sign makes the text one.
pub(super) const TIME_LEVELS: usize = 3;
/// Most signs of one page; what follows is not checked.
const MAX_SIGNS: usize = 4_000;

/// A place that says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeSign {
    /// The text node, or the `<time>` element.
    pub node: NodeId,
    /// Characters of its text that are not part of the time.
    pub rest: u32,
}

/// The part of a text that says when, as a byte range; `None` when nothing does.
pub(super) fn find_time(text: &str) -> Option<std::ops::Range<usize>> {
    (text.len() <= MAX_BYTES && may_tell_time(text))
        .then(|| times::find(text))
        .flatten()
}

/// Between a number and its unit are other letters than these only in words for other things.
static ANY_UNIT: LazyLock<Literals> = LazyLock::new(|| cues::compile_seen(&[("time.units", 1)]));

/// Days and moments of short texts with a number.
static ANY_DAY: LazyLock<Literals> = LazyLock::new(|| {
    let moments = ["just now", "fa ", "刚", "剛"];
    let words = forms::DAYS.into_iter().chain(moments);
    Literals::new(words.map(|word| (word, 1)))
});

/// The first three letters are those of a month in English.
fn begins_with_month(text: &[u8]) -> bool {
    let first = text.first_chunk::<3>();
    first.is_some_and(|first| {
        let is_first = |month: &&str| first.eq_ignore_ascii_case(month.as_bytes());
        forms::MONTHS.iter().any(is_first)
    })
}

/// What the digits of a text are part of.
#[derive(Debug, Default)]
struct NumberRuns {
    /// Two with a sign between that parts days or hours, or a year and such a sign behind it.
    parted: bool,
    /// A year.
    year: bool,
    /// A number of one or two digits.
    short: bool,
}

impl NumberRuns {
    fn count(text: &[u8]) -> Self {
        let mut out = Self::default();
        let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        let mut at = 0;
        while at < text.len() {
            if !digit(at) {
                at += 1;
                continue;
            }
            let from = at;
            while digit(at) {
                at += 1;
            }
            out.short |= at - from <= 2;
            let run = text.get(from..at).unwrap_or_default();
            let is_year = |four: &[u8]| four.starts_with(b"19") || four.starts_with(b"20");
            let year = run.len() >= 4 && run.windows(4).any(is_year);
            out.year |= year;
            out.parted |= matches!(text.get(at), Some(b'-' | b'/' | b'.' | b':')) && digit(at + 1);
            // A blank and a sign of many bytes may be behind a year.
            let behind = text.get(at + usize::from(text.get(at) == Some(&b' ')));
            out.parted |= year && matches!(behind, Some(b'-' | b'/' | b'.' | 0x80..));
        }
        out
    }
}

/// Cheap look that spares most texts the forms: two numbers with a sign between, a year next to a day, a word of days and
/// hours.
fn may_tell_time(text: &str) -> bool {
    if is_like_time_without_number(text) {
        return true;
    }
    let bytes = text.as_bytes();
    if !bytes.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let numbers = NumberRuns::count(bytes);
    if numbers.parted || (numbers.year && (numbers.short || text.contains('\''))) {
        return true;
    }
    // A number alone, as most short texts with digits are, is no time.
    let word = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80;
    (text.len() <= 6 && bytes.iter().any(word))
        || text.contains('\'')
        || ANY_UNIT.stand_in(text)
        || (bytes.len() <= 24 && (begins_with_month(bytes) || ANY_DAY.stand_in(text)))
}

/// Beginnings of times that may be stated without a number.
const WORDS: [&str; 12] = [
    "刚",
    "剛",
    "昨",
    "前",
    "今",
    "半",
    "たった",
    "yest",
    "Yest",
    "just",
    "Just",
    "toda",
];

/// Begins or ends like a time that may be stated without a number.
fn is_like_time_without_number(text: &str) -> bool {
    WORDS.iter().any(|word| text.starts_with(word)) || text.ends_with("ago")
}

/// All signs of time of a page.
pub(super) fn find_time_signs(page: &Page) -> Vec<TimeSign> {
    let mut out = Vec::new();
    let mut at: NodeId = 0;
    while let Some(node) = page.nodes().get(at as usize) {
        if out.len() >= MAX_SIGNS {
            break;
        }
        if node.tag == Tag::TEXT {
            let text = page.text(at);
            if text.len() <= 2 * MAX_BYTES
                && let Some(sign) = sign_of_text(page, at, text)
            {
                out.push(sign);
            }
        } else if node.tag == Tag::TIME {
            out.push(TimeSign { node: at, rest: 0 });
            at = node.end;
            continue;
        } else if node.tag.is_invisible() {
            at = node.end;
            continue;
        }
        at += 1;
    }
    out
}

fn sign_of_text(page: &Page, at: NodeId, text: &str) -> Option<TimeSign> {
    let number = text.bytes().any(|b| b.is_ascii_digit());
    let text = text.trim();
    if !number && !is_like_time_without_number(text) {
        return None;
    }
    if let Some(range) = find_time(text) {
        let rest =
            text.get(..range.start)?.chars().count() + text.get(range.end..)?.chars().count();
        return Some(TimeSign {
            node: at,
            rest: rest as u32,
        });
    }
    (number && page.text(at).len() <= MAX_SHORTENED)
        .then(|| sign_of_title(page, at))
        .flatten()
}

/// A few characters with a number whose element states day and hour when it is pointed at: `May '22`, `2022 年 5 月`.
fn sign_of_title(page: &Page, at: NodeId) -> Option<TimeSign> {
    let title = page.attr(page.node(at).parent, Attr::Title)?.trim();
    let whole = find_time(title)?;
    let day_and_hour = title.get(whole)?.contains(':');
    day_and_hour.then_some(TimeSign { node: at, rest: 0 })
}

/// What a sign says: the machine's form where the element has one, else the words.
pub(super) fn print_time(page: &Page, sign: NodeId) -> Option<String> {
    let own = |id: NodeId| {
        let values = [Attr::Datetime, Attr::Title, Attr::Content].map(|a| page.attr(id, a));
        let told = values.into_iter().flatten().map(str::trim);
        told.filter(|v| v.bytes().filter(u8::is_ascii_digit).count() >= 6)
            .find(|v| find_time(v).is_some())
            .map(str::to_owned)
    };
    let words = if page.node(sign).tag == Tag::TEXT {
        page.text(sign).trim().to_owned()
    } else {
        page.inline_text(sign)
    };
    let elements = std::iter::once(sign).chain(page.ancestors(sign).take(2));
    elements
        .filter(|id| page.node(*id).tag != Tag::TEXT)
        .find_map(own)
        .or_else(|| {
            let range = find_time(&words)?;
            words.get(range).map(|w| w.trim().to_owned())
        })
        .or(Some(words).filter(|w| !w.is_empty() && w.len() <= MAX_BYTES))
}
