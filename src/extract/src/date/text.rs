//! Finds dates in a short text: Chinese, Japanese, Korean and European forms, and times relative to the fetch. Each comes
//! with the words before it. Implausible dates are dropped.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, NaiveTime, TimeDelta};

use super::clues::{
    Clues, Label, find_label_before, parse_month, to_half_width, with_common_years,
    with_republic_years,
};
use super::stamp::{CHINA_OFFSET_MIN, Clock, LAST_YEAR, Stamp, parse_iso, zone_offset_min};
use crate::times::{self, Day, TimeParts, TimeUnit};

/// Longest text checked, in bytes; a longer one is cut.
const MAX_BYTES: usize = 4_000;
/// Most dates taken from one text.
const MAX_FOUND: usize = 64;

/// How a date was written; surer forms first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DateForm {
    /// Year, month and day.
    Full,
    /// Month and day; the year is the latest that is not in the future.
    NoYear,
    /// Told from the time of the fetch: `3小时前`, `yesterday`.
    Relative,
}

/// One date of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundDate {
    /// Byte offset in the text (after full width forms became half width).
    pub at: usize,
    /// The date.
    pub stamp: Stamp,
    /// How it was written.
    pub form: DateForm,
    /// What the words before it call it.
    pub label: Label,
}

/// Every plausible date of `text`, in order of place. Where two forms overlap the one that begins first
/// stays, and of those the surer.
pub(crate) fn find_dates(text: &str, clock: &Clock) -> Vec<FoundDate> {
    let mut text = Cow::Borrowed(cut_text(text));
    let mut clues = Clues::new(&text);
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    if !digits && !clues.tell_without_digits(&text) {
        return Vec::new();
    }
    if clues.are_wide() {
        text = to_half_width(&text).into();
        clues = Clues::new(&text);
    }
    if clues.tell_odd_years() {
        text = with_common_years(&text).into_owned().into();
    }
    if clock.republic {
        text = with_republic_years(&text).into_owned().into();
    }
    let mut found: Vec<FoundDate> = Vec::new();
    let mut from = 0;
    times::days(&text, clues.tell_from_now(), |day| {
        if found.len() >= MAX_FOUND {
            return false;
        }
        let before = text.get(from..day.range.start).unwrap_or_default();
        let plausible = |(stamp, _): &(Stamp, DateForm)| clock.plausible(stamp.date);
        let Some((stamp, form)) = resolve_day(&day, before, clock).filter(plausible) else {
            // What remains of a day with an odd year is not taken for a day of this one.
            return matches!(day.parts, TimeParts::DayOfMonth { year, .. } if !year.is_empty());
        };
        let hour = match day.parts {
            TimeParts::DayOfMonth { day_end, .. } => day_end,
            _ => day.range.end,
        };
        found.push(FoundDate {
            at: day.range.start,
            stamp: with_time(stamp, &text, hour),
            form,
            label: find_label_before(before),
        });
        from = day.range.end;
        true
    });
    found
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
    if let Some(stamp) = parse_iso_value(value, clock) {
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
        .find(|f| f.form == DateForm::Full)
        .or(found.first())
        .map(|f| f.stamp)
}

/// A value that is a plausible date of ISO 8601, with signs between its numbers or without: `20190907T1343+0800`.
pub(crate) fn parse_iso_value(value: &str, clock: &Clock) -> Option<Stamp> {
    let value = value.trim();
    let stamp = parse_iso(value).or_else(|| {
        let (day, time) = value.split_once('T')?;
        let part = |text: &str, from: usize| text.get(from..from + 2).map(str::to_owned);
        let (month, second) = (
            part(day, 4)?,
            part(time, 4).filter(|s| s.bytes().all(|b| b.is_ascii_digit())),
        );
        let zone = time.get(if second.is_some() { 6 } else { 4 }..)?;
        let (year, day, hour, minute) =
            (day.get(..4)?, part(day, 6)?, part(time, 0)?, part(time, 2)?);
        let second = second.unwrap_or_else(|| "00".to_owned());
        parse_iso(&format!(
            "{year}-{month}-{day}T{hour}:{minute}:{second}{zone}"
        ))
    });
    stamp.filter(|stamp| clock.plausible(stamp.date))
}

fn cut_text(text: &str) -> &str {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let end = (0..=MAX_BYTES).rev().find(|i| text.is_char_boundary(*i));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The day in a text, with how it is stated; `None` where that is no day, or not surely one.
fn resolve_day(day: &Day<'_>, before: &str, clock: &Clock) -> Option<(Stamp, DateForm)> {
    let number = |digits: &str| digits.parse::<u32>().ok();
    match day.parts {
        TimeParts::Day { year, month, day } => {
            let stamp = Stamp::day(year.parse().ok()?, number(month)?, number(day)?)?;
            Some((stamp, DateForm::Full))
        }
        TimeParts::NamedMonth { year, month, day } => {
            let stamp = Stamp::day(year.parse().ok()?, parse_month(month)?, number(day)?)?;
            Some((stamp, DateForm::Full))
        }
        TimeParts::Numbers {
            first,
            second,
            year,
            dotted,
        } => Some((
            day_in_numbers([first, second, year], dotted, clock)?,
            DateForm::Full,
        )),
        TimeParts::DayOfMonth {
            year,
            month,
            day,
            sign,
            ..
        } => {
            // A score or a part of something may be written so too, and where a slash is the day may come first.
            let sure = sign.is_empty() || (sign == "-" && month.len() == 2 && day.len() == 2);
            let (month, day) = (number(month)?, number(day)?);
            if year.is_empty() {
                day_of_month(month, day, clock).filter(|_| sure)
            } else {
                let stamp = Stamp::day(short_year(year, clock)?, month, day)?;
                sure.then_some((stamp, DateForm::Full))
            }
        }
        // Two numbers alone are a day only where they are called one.
        TimeParts::TwoNumbers { month, day } => (find_label_before(before) == Label::Published)
            .then(|| day_of_month(number(month)?, number(day)?, clock))
            .flatten(),
        TimeParts::Ago {
            count,
            unit,
            smaller,
        } => {
            let (ago, exact) = resolve_ago(count, unit)?;
            if smaller.is_some_and(|(_, less)| less >= unit) {
                return None;
            }
            let smaller = smaller.and_then(|(count, unit)| self::resolve_ago(count, unit));
            let (less, tells_hour) = smaller.unwrap_or((TimeDelta::zero(), false));
            let exact = exact || tells_hour;
            Some((Stamp::before(clock, ago + less, exact)?, DateForm::Relative))
        }
        TimeParts::DayByName(name) => {
            let days = match name {
                "今天" | "今日" => 0,
                "昨天" | "昨日" => 1,
                "前天" => 2,
                other if other.eq_ignore_ascii_case("yesterday") => 1,
                _ => return None,
            };
            let stamp = Stamp::before(clock, TimeDelta::days(days), false)?;
            Some((stamp, DateForm::Relative))
        }
        TimeParts::Now => Some((
            Stamp::before(clock, TimeDelta::zero(), true)?,
            DateForm::Relative,
        )),
        TimeParts::Other => None,
    }
}

/// A day of two numbers and a year, in whichever order the page has them.
fn day_in_numbers([first, second, year]: [&str; 3], dotted: bool, clock: &Clock) -> Option<Stamp> {
    let (a, b): (u32, u32) = (first.parse().ok()?, second.parse().ok()?);
    // Version numbers and phone parts look like this too: only the dotted form with both zeros counts.
    let short = year.len() == 2;
    if short && !(dotted && first.len() == 2 && second.len() == 2) {
        return None;
    }
    let year: i32 = year.parse().ok()?;
    let month_first = b > 12 || (a <= 12 && clock.month_first && !dotted);
    let (day, month) = if month_first { (b, a) } else { (a, b) };
    Stamp::day(if short { year + 2000 } else { year }, month, day)
}

/// A day without a year: the last that is not in the future.
fn day_of_month(month: u32, day: u32, clock: &Clock) -> Option<(Stamp, DateForm)> {
    let now = clock.now()?.year();
    let stamp = Stamp::day(now, month, day)
        .filter(|stamp| clock.plausible(stamp.date))
        .or_else(|| Stamp::day(now - 1, month, day))?;
    Some((stamp, DateForm::NoYear))
}

/// The year before month and day. One of four digits is another pattern's, and where that found no date there is none;
/// one of two digits is first only in China.
fn short_year(year: &str, clock: &Clock) -> Option<i32> {
    let year: i32 = (year.len() == 2 && clock.offset_min == Some(CHINA_OFFSET_MIN))
        .then_some(year)?
        .parse()
        .ok()?;
    let now = clock.now().map_or(LAST_YEAR, |now| now.year());
    let century = now / 100 * 100;
    [century + year, century - 100 + year]
        .into_iter()
        .find(|year| *year <= now)
}

/// How long ago, and whether that contains the hour.
fn resolve_ago(count: &str, unit: TimeUnit) -> Option<(TimeDelta, bool)> {
    if count == "半" {
        let ago = match unit {
            TimeUnit::Hour => TimeDelta::minutes(30),
            TimeUnit::Day => TimeDelta::hours(12),
            TimeUnit::Month => TimeDelta::days(15),
            TimeUnit::Year => TimeDelta::days(182),
            _ => return None,
        };
        return Some((ago, ago < TimeDelta::days(1)));
    }
    let n: i64 = count.parse().ok()?;
    Some(match unit {
        TimeUnit::Second => (TimeDelta::seconds(n), true),
        TimeUnit::Minute => (TimeDelta::minutes(n), true),
        TimeUnit::Hour => (TimeDelta::hours(n), true),
        TimeUnit::Day => (TimeDelta::days(n), false),
        TimeUnit::Week => (TimeDelta::days(7 * n), false),
        TimeUnit::Month => (TimeDelta::days(30 * n), false),
        TimeUnit::Year => (TimeDelta::days(365 * n), false),
    })
}

/// Adds the time of day that is right after the date, which ends at `end`.
fn with_time(mut stamp: Stamp, text: &str, end: usize) -> Stamp {
    let Some(time) = times::time_of_day(text, end).filter(|_| stamp.time.is_none()) else {
        return stamp;
    };
    let number = |digits: &str| digits.parse::<u32>().ok();
    let (Some(mut hour), Some(minute)) = (number(time.hour), number(time.minute)) else {
        return stamp;
    };
    match time.half {
        "下午" | "晚上" | "晚" | "傍晚" | "오후" | "午後" if hour < 12 => hour += 12,
        "凌晨" | "上午" | "오전" | "午前" if hour == 12 => hour = 0,
        h if h.starts_with(['p', 'P']) && hour < 12 => hour += 12,
        h if h.starts_with(['a', 'A']) && hour == 12 => hour = 0,
        _ => {}
    }
    let second = number(time.second).unwrap_or(0).min(59);
    stamp.time = NaiveTime::from_hms_opt(hour, minute, second);
    if stamp.time.is_some() {
        stamp.offset_min = Some(time.zone)
            .filter(|zone| !zone.is_empty())
            .and_then(zone_offset_min);
    }
    stamp
}
