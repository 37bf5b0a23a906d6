//! Finds days in a text in normal form, however they are written: `2026年11月10日`, `2026-11-10`, `2026/11/10`,
//! `2026.11.10`, `11月10日`. A day is indexed as terms of its own beside the grams, so that each form finds the others.

use chrono::{FixedOffset, NaiveDate, TimeZone};

/// A day that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// None where the text does not say it.
    pub year: Option<u16>,
    /// From 1.
    pub month: u16,
    /// Of the month.
    pub day: u16,
}

impl Day {
    /// The term of a day with its year.
    pub(crate) fn full_term(year: u16, month: u16, day: u16) -> String {
        format!("{year}-{month:02}-{day:02}")
    }

    /// The term of that day in any year, or in none.
    pub(crate) fn any_year_term(&self) -> String {
        format!("{:02}-{:02}", self.month, self.day)
    }

    /// The term of that day where the text names no year.
    pub(crate) fn no_year_term(&self) -> String {
        format!("--{}", self.any_year_term())
    }

    /// What it is indexed as. No gram looks like one: a hyphen stands in no run.
    fn terms(&self) -> [String; 2] {
        let named = match self.year {
            Some(year) => Self::full_term(year, self.month, self.day),
            None => self.no_year_term(),
        };
        [named, self.any_year_term()]
    }

    /// Returns whether both mean the same day: of a year that one of them does not name any will do.
    pub(crate) fn agrees_with(&self, other: &Day) -> bool {
        let same = (self.month, self.day) == (other.month, other.day);
        same && (self.year == other.year || self.year.is_none() || other.year.is_none())
    }

    /// Its first moment in a year, Unix milliseconds.
    pub(crate) fn start_ms(&self, year: u16, utc_offset_minutes: i32) -> Option<i64> {
        let date = NaiveDate::from_ymd_opt(year.into(), self.month.into(), self.day.into())?;
        let offset = FixedOffset::east_opt(utc_offset_minutes.checked_mul(60)?)?;
        let midnight = offset.from_local_datetime(&date.and_hms_opt(0, 0, 0)?);
        midnight.single().map(|time| time.timestamp_millis())
    }
}

/// Smaller numbers are no years.
const FIRST_YEAR: u16 = 1900;

/// The days of a text, in order.
pub fn find_days(text: &str) -> Vec<Day> {
    let bytes = text.as_bytes();
    let mut days = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes.get(at..).and_then(|rest| {
        let next = rest.iter().position(u8::is_ascii_digit);
        next.map(|next| at + next)
    }) {
        let before = next.checked_sub(1).and_then(|before| bytes.get(before));
        let is_begin = !before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.');
        let day = text.get(next..).filter(|_| is_begin).and_then(day_at);
        at = match day {
            Some((day, length)) => {
                days.push(Day {
                    start: next,
                    end: next + length,
                    ..day
                });
                next + length
            }
            None => {
                let digits = bytes.get(next..).unwrap_or_default().iter();
                next + digits.take_while(|b| b.is_ascii_digit()).count()
            }
        };
    }
    days
}

/// The terms of the days of a text, each with its place, counted in characters without blanks.
pub(super) fn day_terms(text: &str) -> Vec<(usize, String)> {
    let (mut place, mut counted) = (0, 0);
    let mut terms = Vec::new();
    for day in find_days(text) {
        let between = text.get(counted..day.start).unwrap_or_default();
        place += between.chars().filter(|c| *c != ' ').count();
        counted = day.start;
        terms.extend(day.terms().map(|term| (place, term)));
    }
    terms
}

/// The day that a text begins with, and how many bytes it takes.
fn day_at(text: &str) -> Option<(Day, usize)> {
    let (first, rest) = number(text, 4)?;
    let (year, month, day, rest) = match rest.chars().next()? {
        sign @ ('-' | '/' | '.') => {
            let (month, rest) = number(rest.get(1..)?, 2)?;
            let (day, rest) = number(rest.strip_prefix(sign)?, 2)?;
            // Behind a dash another day may begin.
            let next = rest.strip_prefix(sign).and_then(|rest| number(rest, 4));
            if next.is_some_and(|(next, _)| sign != '-' || next < FIRST_YEAR) {
                return None;
            }
            (Some(first), month, day, rest)
        }
        _ => {
            let (year, month, rest) = match marked(rest, &['年']) {
                Some(rest) => {
                    let (month, rest) = number(rest, 2)?;
                    (Some(first), month, rest)
                }
                None => (None, first, rest),
            };
            let (day, rest) = number(marked(rest, &['月'])?, 2)?;
            (year, month, day, marked(rest, &['日', '号'])?)
        }
    };
    // Where no year is named, the 29th of February may be meant.
    let checked = NaiveDate::from_ymd_opt(year.unwrap_or(2000).into(), month.into(), day.into());
    let is_day = checked.is_some() && year.is_none_or(|year| (FIRST_YEAR..3000).contains(&year));
    let (start, end) = (0, 0);
    let found = Day {
        start,
        end,
        year,
        month,
        day,
    };
    is_day.then_some((found, text.len() - rest.len()))
}

/// A number of so many digits at most, and what follows; a space before it does not count.
fn number(text: &str, most: usize) -> Option<(u16, &str)> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    let number = number.parse().ok().filter(|_| digits <= most)?;
    Some((number, rest))
}

/// What follows one of these marks; a space before it does not count.
fn marked<'t>(text: &'t str, marks: &[char]) -> Option<&'t str> {
    text.strip_prefix(' ').unwrap_or(text).strip_prefix(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_days_in_each_form() {
        for (text, found) in [
            ("于2026年11月10日投产", vec!["2026-11-10"]),
            ("2026 年 11 月 5 日", vec!["2026-11-05"]),
            (
                "2026-11-5 08:00, 2026/11/05",
                vec!["2026-11-05", "2026-11-05"],
            ),
            ("2026.11.10日", vec!["2026-11-10"]),
            ("11月10号", vec!["--11-10"]),
            ("去年2月29日", vec!["--02-29"]),
            ("13月1日,11月31日", vec![]),
            ("t2026-11-10,12026-11-10,1.2026-11-10", vec![]),
            ("2026-11-10-3", vec![]),
            ("2026-11-10-2026-11-12", vec!["2026-11-10", "2026-11-12"]),
            ("11-10,2026年11月", vec![]),
        ] {
            let days = find_days(text);
            let terms: Vec<String> = days.iter().map(|day| day.terms()[0].clone()).collect();
            assert_eq!(terms, found, "{text}");
        }
        let text = "石油,2026年11月10日";
        let day = find_days(text)[0];
        assert_eq!(text.get(day.start..day.end), Some("2026年11月10日"));
        assert_eq!(day_terms(text)[1], (3, "11-10".to_owned()));
    }
}
