//! Dates in running text. In: a short text. Out: every date in it with what stands before it. Chinese,
//! Japanese, Korean and European forms, times relative to the fetch. Never fails; implausible dates are
//! dropped.

use std::borrow::Cow;
use std::sync::LazyLock;

use chrono::{DateTime, Datelike, NaiveTime, TimeDelta};
use regex::{Captures, Regex};

use super::clues::{Clues, half_width};
use super::iso::iso;
use super::label::{Label, label_before};
use super::months::month_number;
use super::stamp::{Clock, Stamp, zone_offset_min};
use super::years::with_common_years;
use crate::CHINA_OFFSET_MIN;
use crate::literals::compiled;

/// Longest text looked at, in bytes; a longer one is cut.
const MAX_BYTES: usize = 4_000;
/// Most dates taken from one text.
const MAX_FOUND: usize = 64;

/// How a date was written; surer forms first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Year, month and day.
    Full,
    /// Month and day; the year is the latest that is not in the future.
    NoYear,
    /// Told from the time of the fetch: `3小时前`, `yesterday`.
    Relative,
}

/// One date of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Byte offset in the text (after full width forms became half width).
    pub at: usize,
    /// The date.
    pub stamp: Stamp,
    /// How it was written.
    pub form: Form,
    /// What the words before it call it.
    pub label: Label,
}

static YEAR_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(\d{4})(?:\s?[-–/._年년]\s?|[-/]0?)(\d{1,2})\s?[-–/._月월]\s?(\d{1,2})(?:\s?[日号號일])?|((?:19|20)\d{2})([01]\d)([0-3]\d)",
    )
});
static DAY_FIRST: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?[-/.]\s?(\d{4}|\d{2})"));
static DAY_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(\d{1,2})(?:st|nd|rd|th|er|º|\.)?[\s-]+(?:de\s+|of\s+)?(\p{L}{3,12})\.?[,،]?[\s-]*(?:de\s+|del\s+)?(\d{4})",
    )
});
static NAME_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(\p{L}{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,|\s)\s*(?:at\s+[\d:]+\s*[apAP][mM],?\s*)?(\d{4})",
    )
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"((?:\d{2})?\d{2}\s?[年./-]\s?)?(?:(\d{1,2})\s?月\s?(\d{1,2})\s?[日号號]|(\d{2})-(\d{2})(\s+\d{1,2}:\d{2}(?::\d{2})?))|:\s?(\d{2})-(\d{2})(?:\s*$|\s*[^\d\s:./-])",
    )
});
static RELATIVE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)(\d{1,3}|半)\s*(?:个|個)?\s*(秒|分钟|分鐘|分|小时|小時|时间|時間|天|日|周|週|星期|月|年|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\s*(?:钟|鐘)?\s*(?:之|以)?(?:前|ago)|(今天|今日|昨天|昨日|前天|刚刚|剛剛|yesterday|just now)",
    )
});
pub(crate) static TIME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?ix)^[\s,，|·/]*(?:[（(]?(?:星期|周|週)[一二三四五六日天][)）]?)?[\s,，|·/]*(?:T|at|um|à|kl\.?|-|–|—|[|])?\s*
        (上午|下午|晚上|晚|凌晨|早上|中午|傍晚|오전|오후|午前|午後)?\s*(\d{1,2})\s?[:：时點点時h.]\s?(\d{2})(?:\s?[:：分]\s?(\d{2}))?(?:[.,]\d{1,9})?分?
        (?:\s*(am|pm|a\.m\.|p\.m\.))?
        (?:\s*(Z\b|UTC|GMT|(?:UTC|GMT)?\s?[+-]\d{1,2}:?(?:\d{2})?|CST|EST|EDT|PST|PDT|CET|CEST|BST|JST|KST|MSK)(?:\b|$))?",
    )
});
/// Every plausible date of `text`, in order of place. Where two forms overlap the one that begins first
/// stays, and of those the surer.
pub(crate) fn find_dates(text: &str, clock: &Clock) -> Vec<Found> {
    let mut text = Cow::Borrowed(cut(text));
    let mut clues = Clues::of(&text);
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    if !digits && !clues.tell_without_digits(&text) {
        return Vec::new();
    }
    if clues.are_wide() {
        text = half_width(&text).into();
        clues = Clues::of(&text);
    }
    if clues.tell_odd_years() {
        text = with_common_years(&text).into_owned().into();
    }
    let mut spans = spans(&text, clues, clock);
    spans.sort_by_key(|s| (s.0, s.2));
    let mut found: Vec<Found> = Vec::new();
    let mut from = 0;
    for (start, end, form, stamp) in spans {
        if start < from || !clock.plausible(stamp.date) || found.len() >= MAX_FOUND {
            continue;
        }
        let stamp = if stamp.time.is_some() {
            stamp
        } else {
            with_time(stamp, text.get(end..).unwrap_or_default())
        };
        let label = label_before(text.get(from..start).unwrap_or_default());
        found.push(Found {
            at: start,
            stamp,
            form,
            label,
        });
        from = end;
    }
    found
}

/// A date with where it stands and how it is written.
type Span = (usize, usize, Form, Stamp);

/// All that the patterns find in a text.
fn spans(text: &str, clues: Clues, clock: &Clock) -> Vec<Span> {
    let mut spans = Vec::new();
    let full = |stamp: Option<Stamp>| stamp.map(|s| (s, Form::Full));
    collect(&YEAR_FIRST, text, &mut spans, |c| full(year_first(c)));
    collect(&DAY_NAME, text, &mut spans, |c| full(day_name(c)));
    collect(&NAME_DAY, text, &mut spans, |c| full(name_day(c)));
    collect(&DAY_FIRST, text, &mut spans, |c| full(day_first(c, clock)));
    collect(&MONTH_DAY, text, &mut spans, |c| month_day(c, text, clock));
    if clues.tell_from_now() {
        collect(&RELATIVE, text, &mut spans, |c| {
            relative(c, clock).map(|s| (s, Form::Relative))
        });
    }
    spans
}

/// The first plausible date of a machine-readable value (`content`, `datetime`, JSON); Unix seconds and
/// milliseconds are understood too.
pub(crate) fn parse_value(value: &str, clock: &Clock) -> Option<Stamp> {
    let value = value.trim();
    if (10..=13).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit()) {
        let number: i64 = value.parse().ok()?;
        let ms = if value.len() == 10 {
            number * 1000
        } else {
            number
        };
        return Stamp::from_unix_ms(ms, clock).filter(|s| clock.plausible(s.date));
    }
    if let Some(stamp) = iso(value).filter(|s| clock.plausible(s.date)) {
        return Some(stamp);
    }
    // As C and JavaScript print it.
    if let Ok(time) = DateTime::parse_from_str(value, "%a %b %d %H:%M:%S %z %Y") {
        return Stamp::from_unix_ms(time.timestamp_millis(), clock)
            .filter(|s| clock.plausible(s.date));
    }
    let found = find_dates(value, clock);
    found
        .iter()
        .find(|f| f.form == Form::Full)
        .or(found.first())
        .map(|f| f.stamp)
}

fn cut(text: &str) -> &str {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let end = (0..=MAX_BYTES).rev().find(|i| text.is_char_boundary(*i));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Adds what `read` makes of each match that no digit touches.
fn collect(
    regex: &Regex,
    text: &str,
    spans: &mut Vec<Span>,
    read: impl Fn(&Captures<'_>) -> Option<(Stamp, Form)>,
) {
    for captures in regex.captures_iter(text).take(MAX_FOUND) {
        let whole = captures.get(0).expect("group 0 always takes part");
        let bytes = text.as_bytes();
        let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
        let (start, end) = (whole.start(), whole.end());
        let longer_number = digit(end) && end.checked_sub(1).is_some_and(digit);
        if longer_number || (digit(start) && start.checked_sub(1).is_some_and(digit)) {
            continue;
        }
        if let Some((stamp, form)) = read(&captures) {
            spans.push((whole.start(), whole.end(), form, stamp));
        }
    }
}

fn number<T: std::str::FromStr>(captures: &Captures<'_>, group: usize) -> Option<T> {
    captures.get(group)?.as_str().parse().ok()
}

fn year_first(c: &Captures<'_>) -> Option<Stamp> {
    let base = if c.get(1).is_some() { 1 } else { 4 };
    Stamp::day(number(c, base)?, number(c, base + 1)?, number(c, base + 2)?)
}

fn day_name(c: &Captures<'_>) -> Option<Stamp> {
    Stamp::day(
        number(c, 3)?,
        month_number(c.get(2)?.as_str())?,
        number(c, 1)?,
    )
}

fn name_day(c: &Captures<'_>) -> Option<Stamp> {
    Stamp::day(
        number(c, 3)?,
        month_number(c.get(1)?.as_str())?,
        number(c, 2)?,
    )
}

fn day_first(c: &Captures<'_>, clock: &Clock) -> Option<Stamp> {
    let (a, b): (u32, u32) = (number(c, 1)?, number(c, 3)?);
    let mut year: i32 = number(c, 4)?;
    if c.get(4)?.as_str().len() == 2 {
        // Version numbers and phone parts look like this too: only the dotted form with both zeros counts.
        if c.get(1)?.as_str().len() != 2
            || c.get(3)?.as_str().len() != 2
            || c.get(2)?.as_str() != "."
        {
            return None;
        }
        year += 2000;
    }
    let month_first = b > 12 || (a <= 12 && clock.month_first && c.get(2)?.as_str() != ".");
    let (day, month) = if month_first { (b, a) } else { (a, b) };
    Stamp::day(year, month, day)
}

fn month_day(c: &Captures<'_>, text: &str, clock: &Clock) -> Option<(Stamp, Form)> {
    let base = [2, 4, 7]
        .into_iter()
        .find(|group| c.get(*group).is_some())?;
    let (month, day) = (number(c, base)?, number(c, base + 1)?);
    // Two numbers alone are a day only where they are called one.
    let before = text.get(..c.get(0)?.start()).unwrap_or_default();
    if base == 7 && label_before(before) != Label::Published {
        return None;
    }
    let now = clock.now().year();
    let (stamp, form) = match c.get(1) {
        Some(year) => {
            let year = year
                .as_str()
                .trim_end_matches(|c: char| !c.is_ascii_digit());
            (
                Stamp::day(short_year(year, clock)?, month, day)?,
                Form::Full,
            )
        }
        None => {
            let stamp = Stamp::day(now, month, day)
                .filter(|s| clock.plausible(s.date))
                .or_else(|| Stamp::day(now - 1, month, day))?;
            (stamp, Form::NoYear)
        }
    };
    let time = c.get(6).map(|time| time.as_str());
    Some((time.map_or(stamp, |time| with_time(stamp, time)), form))
}

/// The year before month and day. One of four digits is another pattern's, and where that found no date there is none;
/// one of two digits stands first only in China.
fn short_year(year: &str, clock: &Clock) -> Option<i32> {
    let year: i32 = (year.len() == 2 && clock.offset_min == Some(CHINA_OFFSET_MIN))
        .then_some(year)?
        .parse()
        .ok()?;
    let century = clock.now().year() / 100 * 100;
    [century + year, century - 100 + year]
        .into_iter()
        .find(|year| *year <= clock.now().year())
}

fn relative(c: &Captures<'_>, clock: &Clock) -> Option<Stamp> {
    if let Some(word) = c.get(3) {
        let (days, exact) = match word.as_str() {
            "今天" | "今日" => (0, false),
            "昨天" | "昨日" => (1, false),
            "前天" => (2, false),
            "刚刚" | "剛剛" => (0, true),
            other if other.eq_ignore_ascii_case("just now") => (0, true),
            _ => (1, false),
        };
        return Stamp::before(clock, TimeDelta::days(days), exact);
    }
    let unit = c.get(2)?.as_str().to_lowercase();
    if c.get(1)?.as_str() == "半" {
        let ago = match unit.as_str() {
            "小时" | "小時" | "时间" | "時間" => TimeDelta::minutes(30),
            "天" | "日" => TimeDelta::hours(12),
            "月" => TimeDelta::days(15),
            "年" => TimeDelta::days(182),
            _ => return None,
        };
        return Stamp::before(clock, ago, ago < TimeDelta::days(1));
    }
    let n: i64 = number(c, 1)?;
    let (ago, exact) = match unit.as_str() {
        "秒" => (TimeDelta::seconds(n), true),
        "分钟" | "分鐘" | "分" => (TimeDelta::minutes(n), true),
        "小时" | "小時" | "时间" | "時間" => (TimeDelta::hours(n), true),
        "天" | "日" => (TimeDelta::days(n), false),
        "周" | "週" | "星期" => (TimeDelta::days(7 * n), false),
        "月" => (TimeDelta::days(30 * n), false),
        "年" => (TimeDelta::days(365 * n), false),
        u if u.starts_with("sec") => (TimeDelta::seconds(n), true),
        u if u.starts_with("min") => (TimeDelta::minutes(n), true),
        u if u.starts_with('h') => (TimeDelta::hours(n), true),
        u if u.starts_with("day") => (TimeDelta::days(n), false),
        u if u.starts_with("week") => (TimeDelta::days(7 * n), false),
        u if u.starts_with("month") => (TimeDelta::days(30 * n), false),
        _ => (TimeDelta::days(365 * n), false),
    };
    Stamp::before(clock, ago, exact)
}

/// Adds the time of day that stands right after the date.
fn with_time(mut stamp: Stamp, rest: &str) -> Stamp {
    if !begins_with_hour(rest) {
        return stamp;
    }
    let Some(c) = TIME.captures(rest) else {
        return stamp;
    };
    let (Some(mut hour), Some(minute)) = (number::<u32>(&c, 2), number::<u32>(&c, 3)) else {
        return stamp;
    };
    let half = c.get(1).or(c.get(5)).map_or("", |m| m.as_str());
    match half {
        "下午" | "晚上" | "晚" | "傍晚" | "오후" | "午後" if hour < 12 => hour += 12,
        "凌晨" | "上午" | "오전" | "午前" if hour == 12 => hour = 0,
        h if h.starts_with(['p', 'P']) && hour < 12 => hour += 12,
        h if h.starts_with(['a', 'A']) && hour == 12 => hour = 0,
        _ => {}
    }
    let second = number(&c, 4).unwrap_or(0).min(59);
    stamp.time = NaiveTime::from_hms_opt(hour, minute, second);
    if stamp.time.is_some() {
        stamp.offset_min = c.get(6).and_then(|m| zone_offset_min(m.as_str()));
    }
    stamp
}

/// True if the first number of a text may be the hour of a time: one or two digits and the sign that follows an hour.
pub(crate) fn begins_with_hour(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(number) = text.find(is_digit).and_then(|at| text.get(at..)) else {
        return false;
    };
    let behind = number.trim_start_matches(is_digit);
    let sign = behind.trim_start().chars().next();
    number.len() - behind.len() <= 2
        && sign
            .is_some_and(|c| matches!(c, ':' | '：' | '时' | '點' | '点' | '時' | 'h' | 'H' | '.'))
}
