//! Parses dates as people write them, in a query, a parameter or an option, into the moment at which a range begins or
//! ends, in Unix milliseconds. Never guesses; never reads a clock.

use chrono::{DateTime, Datelike, Days, FixedOffset, Months, NaiveDate, TimeZone};

const HOUR_MS: i64 = 3_600_000;
/// Years that stand for themselves: other numbers are no dates.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2999;

/// Why a date cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// Not a date.
    #[error("{0:?} is not a date: write 2026-11-05, 2026-11, 2026, or 7d for the last seven days")]
    Date(String),
}

/// What dates are read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    /// Offset from UTC of days that name none.
    pub utc_offset_minutes: i32,
    /// What time it is, for periods such as `7d`, Unix milliseconds.
    pub now_ms: i64,
}

impl Calendar {
    /// First moment of a day, month or year (`2026-11-05`, `2026/11`, `2026年`); a moment itself (RFC 3339); or
    /// that long before now (`24h`, `7d`, `4w`, `6m`, `1y`).
    pub fn since(&self, text: &str) -> Result<i64, DateError> {
        self.ends(text)
            .map(|(first, _)| first)
            .ok_or_else(|| DateError::Date(text.to_owned()))
    }

    /// First moment after a day, month or year; else as [`Calendar::since`].
    pub fn until(&self, text: &str) -> Result<i64, DateError> {
        self.ends(text)
            .map(|(_, after)| after)
            .ok_or_else(|| DateError::Date(text.to_owned()))
    }

    /// Both ends of a range given as options, in whichever order; an empty text is no limit.
    pub fn range<'t>(
        &self,
        since: Option<&'t str>,
        until: Option<&'t str>,
    ) -> Result<(Option<i64>, Option<i64>), DateError> {
        let given = |text: Option<&'t str>| text.map(str::trim).filter(|text| !text.is_empty());
        let (since, until) = (given(since), given(until));
        let first = since.map(|text| self.since(text)).transpose()?;
        let after = until.map(|text| self.until(text)).transpose()?;
        match (since.zip(first), until.zip(after)) {
            (Some((since, first)), Some((until, after))) if first >= after => {
                Ok((Some(self.since(until)?), Some(self.until(since)?)))
            }
            _ => Ok((first, after)),
        }
    }

    /// Both ends of a time given as one text: a day, month or year, a range of these (`2026-11-01..2026-11-05`, one end may
    /// be left out), or all that lies after a moment or within a period before now (`7d`).
    pub fn span(&self, text: &str) -> Result<(Option<i64>, Option<i64>), DateError> {
        if let Some((first, last)) = text.split_once("..") {
            return self.range(Some(first), Some(last));
        }
        match self.ends(text) {
            Some((first, after)) if first == after => Ok((Some(first), None)),
            Some((first, after)) => Ok((Some(first), Some(after))),
            None => Err(DateError::Date(text.to_owned())),
        }
    }

    fn ends(&self, text: &str) -> Option<(i64, i64)> {
        let text = text.trim();
        let moment = |ms| (ms, ms);
        self.days(text)
            .or_else(|| moment_ms(text).map(moment))
            .or_else(|| {
                let period = period_ms(text)?;
                Some(moment(self.now_ms.saturating_sub(period)))
            })
    }

    /// A day, month or year, from its first moment to the first after it.
    fn days(&self, text: &str) -> Option<(i64, i64)> {
        let text: String = text
            .chars()
            .map(|c| match c {
                '０'..='９' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
                '/' | '.' | '年' | '月' | '－' => '-',
                c => c,
            })
            .collect();
        let text = text.trim_end_matches('日').trim_end_matches('-');
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next(), parts.next());
        let year_number: u32 = number(year, 4)?;
        // A whole date of a year without web pages is still a day.
        let whole = day.is_some() && year.len() == 4;
        if parts.next().is_some() || !(whole || YEARS.contains(&year_number)) {
            return None;
        }
        let part = |part: Option<&str>| part.map_or(Some(1), |digits| number(digits, 2));
        let first = NaiveDate::from_ymd_opt(year_number.cast_signed(), part(month)?, part(day)?)?;
        let after = match (month, day) {
            (_, Some(_)) => first.checked_add_days(Days::new(1))?,
            (Some(_), None) => first.checked_add_months(Months::new(1))?,
            (None, None) => NaiveDate::from_ymd_opt(first.year() + 1, 1, 1)?,
        };
        let offset = FixedOffset::east_opt(self.utc_offset_minutes.checked_mul(60)?)?;
        let ms = |date: NaiveDate| {
            offset
                .from_local_datetime(&date.and_hms_opt(0, 0, 0)?)
                .single()
                .map(|time| time.timestamp_millis())
        };
        Some((ms(first)?, ms(after)?))
    }
}

/// Length of a period: `24h`, `7d`, `4w`, `6m`, `1y` (months of 30 and years of 365 days).
pub fn period_ms(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        'm' => 24 * 30,
        'y' => 24 * 365,
        _ => return None,
    };
    let count = number(text.strip_suffix(unit)?, 4)?;
    Some(i64::from(count) * hours * HOUR_MS)
}

/// RFC 3339; a `+` that a form turned into a space is taken back.
fn moment_ms(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(&text.replace(' ', "+"))
        .ok()
        .map(|time| time.timestamp_millis())
}

/// Digits alone: `parse` would take a sign as well.
fn number(digits: &str, most: usize) -> Option<u32> {
    let fine = (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| fine)
}
