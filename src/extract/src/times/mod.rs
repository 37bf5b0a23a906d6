//! Scans short texts for times in any of the [`forms`]. Comments use the first place of [`find`]; documents read [`days()`]
//! and resolve them (`date`); the kind of a page needs whole days only, from [`holds_whole_day`]. Times are not resolved
//! here.
//!
//! Each form is read from the places where one may begin. The patterns in the tests say what each form is; one regex of
//! them all costs 3.7 % of bytes to Document more.

pub(crate) mod cursor;
mod days;
pub(crate) mod forms;
#[cfg(test)]
mod tests;

use std::ops::Range;

use cursor::Cursor;
pub(crate) use days::{Day, days};
use forms::{
    ReadTime, ago_behind_a_word, ago_elsewhere, ago_in_english, ago_in_han, alone_in_english,
    alone_in_han, day_and_hour, day_before_month, day_by_name, day_in_han_alone, day_in_numbers,
    day_of_month, day_of_week, day_of_year, just_now, just_now_in_han, month_alone,
    month_before_day,
};
pub(crate) use forms::{TimeOfDay, TimeParts, TimeUnit};

/// Reads on behind what it reads from a place, `None` where that does not be.
type FormReader = for<'a> fn(Cursor<'a>) -> ReadTime<'a>;

/// The first time in a text with the time of day behind it, as a byte range.
pub(crate) fn find(text: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.iter().skip(at);
        let number = at + rest.take_while(|byte| !is_digit(byte)).count();
        let digits = bytes.iter().skip(number);
        let end = number + digits.take_while(|byte| is_digit(byte)).count();
        let found = with_word(text, at..number).or_else(|| with_number(text, number..end));
        if let Some((from, end)) = found {
            let hour = |end| Some(forms::time_of_day(end)?.0);
            return Some(from.at()..end.maybe(hour).at());
        }
        at = end;
    }
    None
}

/// The time of day that is at `at`, behind a day.
pub(crate) fn time_of_day(text: &str, at: usize) -> Option<TimeOfDay<'_>> {
    Some(forms::time_of_day(Cursor::new(text, at))?.1)
}

/// True if a year from 1990 on with month and day behind it is in the text.
pub(crate) fn holds_whole_day(text: &str) -> bool {
    memchr::memchr2_iter(b'1', b'2', text.as_bytes()).any(|at| {
        let year = text.get(at..).unwrap_or_default();
        (year.starts_with("20") || year.starts_with("199"))
            && day_of_year(Cursor::new(text, at)).is_some()
    })
}

/// A time that begins with a word between two numbers, and what is behind it.
fn with_word(text: &str, between: Range<usize>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let month = last_word(text, between.end);
    // What is before is part of a word of ASCII.
    let mut inside = between.start > 0;
    let bytes = text.as_bytes();
    for at in between {
        let (first, second) = (*bytes.get(at)?, bytes.get(at + 1).copied());
        let from = Cursor::new(text, at);
        if begins(from, first, inside) {
            let forms = words_from(first, second.unwrap_or_default());
            let end = forms
                .iter()
                .find_map(|form| form(from))
                .or_else(|| month_before_day(from.bound().filter(|_| at >= month)?))
                .or_else(|| (at == 0).then(|| month_alone(from))?);
            if let Some((end, _)) = end {
                return Some((from, end));
            }
        }
        inside = first.is_ascii_alphabetic() || first == b'_';
    }
    None
}

/// Where the last word before a number begins at the earliest.
fn last_word(text: &str, number: usize) -> usize {
    let before = text.as_bytes().get(..number).unwrap_or_default();
    let end = before
        .iter()
        .rposition(|byte| byte.is_ascii() && !matches!(byte, b' ' | b'\t'..=b'\r' | b'.'));
    let word = before.get(..=end.unwrap_or(0)).unwrap_or_default();
    let start = word
        .iter()
        .rposition(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
    start.map_or(0, |start| start + 1)
}

/// A form may begin with the letter that is here.
fn begins(place: Cursor, byte: u8, inside: bool) -> bool {
    let of_form = |char| {
        matches!(
            char,
            '昨' | '前' | '今' | '刚' | '剛' | 'た' | '半' | '几' | '一' | '两' | '二' | '三'
        )
    };
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' => !inside,
        // The first bytes of these characters.
        0xE3..=0xE6 => inside || place.char().is_some_and(of_form),
        0xC0.. => inside || place.at() == 0,
        _ => false,
    }
}

/// A time that begins with the last digits of a number, and what is behind it.
fn with_number(text: &str, number: Range<usize>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let last = |digits: usize| Cursor::new(text, number.end - digits);
    let read = |digits: usize, forms: &[FormReader]| {
        let (end, _) = forms.iter().find_map(|form| form(last(digits)))?;
        Some((last(digits), end))
    };
    let forms = numbers_before(Cursor::new(text, number.end));
    match number.len() {
        0..=2 => read(number.len(), forms),
        3 => read(3, forms).or_else(|| read(2, &[day_of_month])),
        // What takes three digits would take fewer of them as well.
        _ => read(4, &[with_day_of_week])
            .or_else(|| read(3, forms))
            .or_else(|| read(2, &[day_of_month])),
    }
}

/// Forms that do not begin within a word of ASCII.
const NUMBERS: FormReader = |place| day_in_numbers(place.bound()?);
const NUMBERS_AND_HOUR: FormReader = |place| day_and_hour(place.bound()?);
const DAY_BEFORE_MONTH: FormReader = |place| day_before_month(place.bound()?);

fn with_day_of_week(place: Cursor<'_>) -> ReadTime<'_> {
    let (end, parts) = day_of_year(place)?;
    Some((end.maybe(day_of_week), parts))
}

/// The forms whose number may be before this place, best first.
fn numbers_before(place: Cursor) -> &'static [FormReader] {
    match place.byte() {
        Some(b'-' | b'/' | b'.') => return &[NUMBERS, NUMBERS_AND_HOUR, DAY_BEFORE_MONTH],
        Some(b' ' | b'\t'..=b'\r' | b'A'..=b'Z' | b'a'..=b'z' | 0x80..) => {}
        _ => return &[],
    }
    match place.blanks().byte() {
        Some(b'A'..=b'Z' | b'a'..=b'z') => &[
            ago_in_english,
            alone_in_english,
            ago_elsewhere,
            DAY_BEFORE_MONTH,
        ],
        Some(b'-') => &[DAY_BEFORE_MONTH],
        // No letter of ASCII in another spelling.
        Some(0xE3..) => &[
            day_of_month,
            ago_in_han,
            alone_in_han,
            ago_elsewhere,
            DAY_BEFORE_MONTH,
        ],
        Some(0x80..) => &[
            day_of_month,
            ago_in_han,
            ago_in_english,
            alone_in_english,
            alone_in_han,
            ago_elsewhere,
            DAY_BEFORE_MONTH,
        ],
        _ => &[],
    }
}

/// The forms but those of months that may begin with a letter and what is behind it, best first.
fn words_from(first: u8, second: u8) -> &'static [FormReader] {
    match (first.to_ascii_lowercase(), second.to_ascii_lowercase()) {
        (0x80.., _) => &[day_in_han_alone, just_now_in_han, ago_in_han],
        (_, 0x80..) => &[day_by_name, just_now, ago_in_english, ago_behind_a_word],
        (b'a', b'y') => &[day_by_name, ago_in_english],
        (b'a', b'n' | b'd' | b'h' | b'm' | b's' | b'w' | b' ' | b'\t'..=b'\r') | (b'o', b'n') => {
            &[ago_in_english]
        }
        (b'g' | b'h' | b'y', b'e') | (b'h', b'i') | (b'h' | b't', b'o') => &[day_by_name],
        (b'f' | b'h', b'a') | (b'i', b'l') | (b'v', b'o') => &[ago_behind_a_word],
        (b'j', b'u') | (b'm', b'o') => &[just_now],
        _ => &[],
    }
}
