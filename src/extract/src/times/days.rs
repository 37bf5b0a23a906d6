//! Finds all days in a text, for documents; each [`Day`] is passed to a closure. Numbers that continue to either side are
//! skipped.

use std::ops::Range;

use super::FormReader;
use super::cursor::{Cursor, is_letter};
use super::forms::{
    TimeParts, ago_in_english, ago_in_han, day_and_hour, day_before_month, day_by_name, day_in_han,
    day_in_numbers, day_of_month, day_of_short_year, day_of_year, eight_digits, just_now,
    just_now_in_han, month_before_day, two_numbers, year_before_month,
};

/// A day in a text.
#[derive(Debug)]
pub(crate) struct Day<'a> {
    /// Where it is.
    pub range: Range<usize>,
    /// What it says.
    pub parts: TimeParts<'a>,
}

/// Offers each day of `text` in order of place, of those that begin at one place the surer first. What is in a day that
/// `takes` says yes to is not checked again. Times relative to now are searched for only if `from_now`.
pub(crate) fn days<'a>(text: &'a str, from_now: bool, mut takes: impl FnMut(Day<'a>) -> bool) {
    let mut take = |from: usize, forms: &[FormReader]| {
        forms.iter().find_map(|form| {
            let (end, parts) = form(Cursor::new(text, from))?;
            let end = end.at();
            let range = from..end;
            (!parts_number(text, end) && takes(Day { range, parts })).then_some(end)
        })
    };
    let mut at = 0;
    while at < text.len() {
        let number = number_from(text, at);
        let word =
            words(text, at..number.start, from_now).find_map(|(from, forms)| take(from, forms));
        at = word
            .or_else(|| take(number.start, of_number(text, &number)))
            .unwrap_or(number.end);
    }
}

/// The digits from the first behind `at` on; nothing at the end of a text without.
fn number_from(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let rest = bytes.get(at..).unwrap_or_default();
    let start = at + rest.iter().take_while(|byte| !is_digit(byte)).count();
    let digits = bytes.get(start..).unwrap_or_default();
    start..start + digits.iter().take_while(|byte| is_digit(byte)).count()
}

/// True between two digits.
fn parts_number(text: &str, at: usize) -> bool {
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    digit(at) && at.checked_sub(1).is_some_and(digit)
}

/// Where words that a day may begin with are between two numbers, with the forms that begin so.
fn words(
    text: &str,
    between: Range<usize>,
    from_now: bool,
) -> impl Iterator<Item = (usize, &'static [FormReader])> {
    let bytes = text.as_bytes();
    let month = word_before(text, between.clone());
    let first = if from_now { between.start } else { between.end };
    let told_from_now = (first..between.end).filter_map(move |at| {
        let forms: &[FormReader] = match bytes.get(at..at + 2)? {
            [0xE3..=0xE6, _] if text.is_char_boundary(at) => {
                &[day_in_han, just_now_in_han, ago_in_han]
            }
            [b'y' | b'Y', b'e' | b'E'] => &[day_by_name],
            [b'j' | b'J', b'u' | b'U'] => &[just_now],
            _ => return None,
        };
        Some((at, forms))
    });
    let month = month.map(|at| (at, &[month_before_day as FormReader] as &[FormReader]));
    told_from_now.chain(month)
}

/// The last word before a number, if white space is between.
fn word_before(text: &str, between: Range<usize>) -> Option<usize> {
    let gap = text.get(between.clone())?;
    let word = gap.trim_end();
    if word.len() == gap.len() {
        return None;
    }
    let word = word.strip_suffix('.').unwrap_or(word);
    let letters = word.chars().rev().take_while(|char| is_letter(*char));
    let bytes: usize = letters.map(char::len_utf8).sum();
    (bytes > 0).then(|| between.start + word.len() - bytes)
}

/// The forms that may begin with a number.
fn of_number(text: &str, number: &Range<usize>) -> &'static [FormReader] {
    let before = text.get(..number.start).unwrap_or_default();
    let behind_colon = || before.trim_end_matches(char::is_whitespace).ends_with(':');
    match number.len() {
        2 if behind_colon() => &[
            day_before_month,
            day_in_numbers,
            day_of_short_year,
            day_of_month,
            day_and_hour,
            two_numbers,
            ago_in_han,
            ago_in_english,
        ],
        1 | 2 => &[
            day_before_month,
            day_in_numbers,
            day_of_short_year,
            day_of_month,
            day_and_hour,
            ago_in_han,
            ago_in_english,
        ],
        3 => &[day_of_short_year, ago_in_han, ago_in_english],
        4 => &[day_of_year, year_before_month, day_of_short_year],
        8 => &[eight_digits, day_of_short_year],
        0 => &[],
        _ => &[day_of_short_year],
    }
}
