//! Finds the parts of a text that its normal form leaves out because people take the text for the same without them: the
//! separators of thousands (`1,280`, `3 200 000`), the zeros at the end of a decimal (`7.50`), the second half of a Chinese
//! dash, and, in the text of documents, blanks between ideographs, which PDF files put into words. Never looks at a word.
//!
//! A list of numbers is no number: groups have three digits, the first one begins with no zero, and neighbours such as
//! `101,102` are counted on. What may be a day or a version keeps its zeros (`2026.10`, `3.10`).

use std::ops::Range;

use super::cut::is_cjk;
use super::normalize::{ideographs_at_start, is_ideograph};

/// A part of a text that its normal form does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Omission {
    /// Bytes of the text.
    pub(super) at: Range<usize>,
    pub(super) kind: Kind,
}

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What stands between two characters.
    Between,
    /// The end of a number: what marks the number marks it as well.
    Tail,
    /// A comma of a sentence between two numbers, which is written as [`PAUSE`]: as a comma it would join them.
    Comma,
}

/// The mark between the members of a list.
pub(super) const PAUSE: char = '、';

/// Digits of a group of thousands.
const GROUP: usize = 3;
/// Numbers of a list of neighbours, such as rooms or bus lines, differ by so much at most.
const MAX_STEP: u16 = 20;

/// The parts that are left out, in order; blanks between ideographs only `of_document`.
pub(super) fn omissions(text: &str, of_document: bool) -> Vec<Omission> {
    let mut out = Vec::new();
    let mut before = '\0';
    let mut at = 0;
    loop {
        // Most of a text, and none of what follows.
        let rest = text.get(at..).unwrap_or_default();
        let plain = ideographs_at_start(rest).len();
        let letters = rest.bytes().skip(plain).take_while(u8::is_ascii_alphabetic);
        let plain = plain + letters.count();
        if let Some(last) = rest.get(..plain).and_then(last_char) {
            (before, at) = (last, at + plain);
        }
        let Some(c) = char_at(text, at) else {
            return out;
        };
        let next = at + c.len_utf8();
        if digit(c).is_some() {
            let end = number(text, at, before, &mut out);
            before = text.get(at..end).and_then(last_char).unwrap_or(c);
            at = end;
            continue;
        }
        if is_dash(c) && c == before {
            out.push(Omission {
                at: at..next,
                kind: Kind::Between,
            });
        }
        if of_document && is_blank(c) && is_ideograph(before) {
            let rest = text.get(at..).unwrap_or_default();
            let end = text.len() - rest.trim_start_matches(is_blank).len();
            if char_at(text, end).is_some_and(is_ideograph) {
                out.push(Omission {
                    at: at..end,
                    kind: Kind::Between,
                });
            }
            (before, at) = (' ', end);
            continue;
        }
        (before, at) = (c, next);
    }
}

/// Dashes that are written twice for one.
fn is_dash(c: char) -> bool {
    matches!(c, '—' | '─' | '―')
}

/// White space within a line.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        && !matches!(
            c,
            '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

fn last_char(text: &str) -> Option<char> {
    text.chars().next_back()
}

/// The value of a digit, full-width or not.
fn digit(c: char) -> Option<u16> {
    let ascii = match c {
        '０'..='９' => u32::from(c) - 0xFEE0,
        c => u32::from(c),
    };
    char::from_u32(ascii)?
        .to_digit(10)
        .and_then(|value| u16::try_from(value).ok())
}

/// Digits that stand next to each other.
struct Digits {
    at: Range<usize>,
    count: usize,
    /// Of three digits at most.
    value: u16,
    is_wide: bool,
}

fn digits(text: &str, start: usize) -> Option<Digits> {
    let mut found = Digits {
        at: start..start,
        count: 0,
        value: 0,
        is_wide: false,
    };
    while let Some((c, value)) = char_at(text, found.at.end).and_then(|c| Some((c, digit(c)?))) {
        found.at.end += c.len_utf8();
        found.count += 1;
        found.value = found.value.wrapping_mul(10).wrapping_add(value);
        found.is_wide = !c.is_ascii();
    }
    (found.count > 0).then_some(found)
}

/// Takes the number that begins at `start`, or the list of numbers; returns where it ends.
fn number(text: &str, start: usize, before: char, out: &mut Vec<Omission>) -> usize {
    // Part of a name (`v2.50`), or of a longer chain of points.
    let is_part = (before.is_alphanumeric() && !is_cjk(before)) || is_point(before);
    let groups = groups(text, start);
    let Some(last) = groups.last() else {
        return start + 1;
    };
    let mut end = last.at.end;
    if groups.len() > 1 {
        let fraction = fraction(text, end);
        let separator = char_at(text, groups[0].at.end).unwrap_or_default();
        let are_groups =
            |separator| !is_part && are_thousands(text, &groups, separator, fraction.is_some());
        let kind = if are_groups(separator) {
            Some(Kind::Between)
        } else if separator == '，' && are_groups(',') {
            Some(Kind::Comma)
        } else {
            None
        };
        let joined = if kind == Some(Kind::Comma) {
            1
        } else {
            groups.len()
        };
        for pair in groups.windows(2).take(joined) {
            if let ([first, second], Some(kind)) = (pair, kind) {
                let at = first.at.end..second.at.start;
                out.push(Omission { at, kind });
            }
        }
        match kind {
            Some(Kind::Between) => {}
            // What follows may be a number by itself.
            _ if kind.is_some() || is_blank(separator) => return groups[0].at.end,
            _ => return end,
        }
    }
    let Some(decimals) = fraction(text, end) else {
        return end;
    };
    let point = end;
    end = decimals.at.end;
    let goes_on = fraction(text, end).is_some();
    if is_part || goes_on {
        return end;
    }
    let whole = text.get(start..point).unwrap_or_default();
    if let Some(zeros) = spare_zeros(text, whole, groups.len(), point, &decimals) {
        out.push(Omission {
            at: zeros..end,
            kind: Kind::Tail,
        });
    }
    end
}

fn is_point(c: char) -> bool {
    matches!(c, '.' | '．')
}

/// The digits behind a decimal point.
fn fraction(text: &str, at: usize) -> Option<Digits> {
    let point = char_at(text, at).filter(|c| is_point(*c))?;
    digits(text, at + point.len_utf8())
}

/// The digits at this place and those that commas, or single blanks, join to them.
fn groups(text: &str, start: usize) -> Vec<Digits> {
    let mut all: Vec<Digits> = digits(text, start).into_iter().collect();
    let separates = |c: char| match c {
        ',' | '，' => Some(c),
        c if is_blank(c) => Some(' '),
        _ => None,
    };
    let mut kind = None;
    while let Some(end) = all.last().map(|last| last.at.end) {
        let Some(separator) = char_at(text, end) else {
            break;
        };
        let found = separates(separator);
        if found.is_none() || (kind.is_some() && found != kind) {
            break;
        }
        let Some(next) = digits(text, end + separator.len_utf8()) else {
            break;
        };
        // A blank may as well stand between two numbers.
        if found == Some(' ') && next.count != GROUP {
            break;
        }
        kind = found;
        all.push(next);
    }
    all
}

/// Whether groups of digits with this character between them are one number.
fn are_thousands(text: &str, groups: &[Digits], separator: char, has_fraction: bool) -> bool {
    let [first, rest @ ..] = groups else {
        return false;
    };
    let starts = |group: &Digits| char_at(text, group.at.start).and_then(digit);
    if first.count > GROUP
        || starts(first) == Some(0)
        || rest.iter().any(|group| group.count != GROUP)
    {
        return false;
    }
    // No number of its own begins with a zero.
    let has_zero = rest.iter().any(|group| starts(group) == Some(0));
    let is_short = first.count < GROUP;
    match separator {
        ',' => {}
        // A mark of a sentence elsewhere.
        '，' if first.is_wide => {}
        '，' => return is_short || has_zero,
        _ => return has_zero || (is_short && rest.len() > 1),
    }
    let is_next = |pair: &[Digits]| match pair {
        [a, b] => (1..=MAX_STEP).contains(&b.value.wrapping_sub(a.value)),
        _ => false,
    };
    let is_list = !is_short && !has_fraction && groups.windows(2).all(is_next);
    !is_list
}

/// Where the zeros begin, with the point before them, that a number is the same without.
fn spare_zeros(
    text: &str,
    whole: &str,
    groups: usize,
    point: usize,
    decimals: &Digits,
) -> Option<usize> {
    let is_zero = |c: char| digit(c) == Some(0);
    let fraction = text.get(decimals.at.clone())?;
    let kept = fraction.trim_end_matches(is_zero);
    if kept.is_empty() {
        // `3.0` may be a version, `1.000` a thousand in other countries.
        return (decimals.count == 2).then_some(point);
    }
    // The 10th of a month, October of a year, or the version after 3.9.
    let is_year = whole.chars().count() == 4 && whole.starts_with(['1', '2', '１', '２']);
    let is_short = groups == 1 && whole.chars().count() <= 2;
    let is_tens = decimals.count == 2 && decimals.value.is_multiple_of(10) && decimals.value <= 30;
    let is_spare = kept.len() < fraction.len() && !(is_tens && (is_short || is_year));
    is_spare.then_some(decimals.at.start + kept.len())
}
