//! A date with an optional time as printed ([`Stamp`]) and its ISO 8601 form. The current time is passed in with [`Clock`].

use chrono::{
    DateTime, Datelike as _, Days, FixedOffset, NaiveDate, NaiveTime, TimeDelta, Timelike,
};

/// First day a web page can have been published; older dates are history that a text mentions.
const FIRST_YEAR: i32 = 1995;
/// Last year that a page can name; a year of two digits means one of this hundred.
pub(crate) const LAST_YEAR: i32 = FIRST_YEAR + 99;

/// Time zone of Chinese pages that name none, in minutes east of UTC.
pub(crate) const CHINA_OFFSET_MIN: i32 = 8 * 60;

/// What dates are judged against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// When the page was fetched, Unix milliseconds, if that is known.
    pub now_ms: Option<i64>,
    /// Minutes east of UTC of a time that names no zone; `None` leaves such times without one.
    pub offset_min: Option<i32>,
    /// Whether `03/04/2019` means the fourth of March.
    pub month_first: bool,
    /// Whether `113/05/20` means a day of 2024, as in Taiwan.
    pub republic: bool,
}

impl Clock {
    /// The local date and time of the fetch.
    pub fn now(&self) -> Option<DateTime<FixedOffset>> {
        let utc = DateTime::from_timestamp_millis(self.now_ms?)?;
        Some(utc.with_timezone(&parse_zone(self.offset_min.unwrap_or(0))))
    }

    /// True for a day from 1995 to the day after the fetch, or to 2094 if that is not known.
    pub fn plausible(&self, date: NaiveDate) -> bool {
        let tomorrow = self
            .now()
            .and_then(|now| now.date_naive().checked_add_days(Days::new(1)));
        (FIRST_YEAR..=LAST_YEAR).contains(&date.year()) && tomorrow.is_none_or(|t| date <= t)
    }
}

fn parse_zone(offset_min: i32) -> FixedOffset {
    FixedOffset::east_opt(offset_min.clamp(-14 * 60, 14 * 60) * 60)
        .expect("14 hours are within a day")
}

/// A day, with the time of day and the zone where the page gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The day as printed, in the zone of the page.
    pub date: NaiveDate,
    /// Time of day as printed.
    pub time: Option<NaiveTime>,
    /// Minutes east of UTC, when the page says so.
    pub offset_min: Option<i32>,
}

impl Stamp {
    /// A stamp of a calendar day; `None` for days such as 2016-02-30.
    pub fn day(year: i32, month: u32, day: u32) -> Option<Self> {
        Some(Self {
            date: NaiveDate::from_ymd_opt(year, month, day)?,
            time: None,
            offset_min: None,
        })
    }

    /// A stamp from Unix milliseconds, stated in the page's zone.
    pub fn from_unix_ms(ms: i64, clock: &Clock) -> Option<Self> {
        let offset_min = clock.offset_min.unwrap_or(0);
        let local = DateTime::from_timestamp_millis(ms)?.with_timezone(&parse_zone(offset_min));
        Some(Self {
            date: local.date_naive(),
            time: local.time().with_nanosecond(0),
            offset_min: Some(offset_min),
        })
    }

    /// The stamp `ago` before the fetch; with a time of day only when `exact`.
    pub fn before(clock: &Clock, ago: TimeDelta, exact: bool) -> Option<Self> {
        let local = clock.now()?.checked_sub_signed(ago)?;
        Some(Self {
            date: local.date_naive(),
            time: local.time().with_nanosecond(0).filter(|_| exact),
            offset_min: None,
        })
    }

    /// `2019-09-07T13:43:00+08:00` when the time is known, else `2019-09-07`. A time without a zone is
    /// given that of the clock; without one in the clock either, it stays bare.
    pub fn iso(&self, clock: &Clock) -> String {
        let date = self.date.format("%Y-%m-%d");
        let Some(time) = self.time else {
            return date.to_string();
        };
        match self.offset_min.or(clock.offset_min) {
            Some(offset) => format!("{date}T{}{}", time.format("%H:%M:%S"), parse_zone(offset)),
            None => format!("{date}T{}", time.format("%H:%M:%S")),
        }
    }
}

/// Minutes east of UTC of `Z`, `+08:00`, `GMT+8` or a well-known zone name.
pub(crate) fn zone_offset_min(text: &str) -> Option<i32> {
    let upper = text.trim().to_ascii_uppercase();
    let named = match upper.as_str() {
        "Z" | "UTC" | "UT" | "GMT" => Some(0),
        "CET" | "BST" => Some(60),
        "CEST" => Some(120),
        "MSK" => Some(180),
        "JST" | "KST" => Some(540),
        "HKT" | "BJT" => Some(CHINA_OFFSET_MIN),
        "EST" | "CDT" => Some(-300),
        "MST" => Some(-420),
        "EDT" => Some(-240),
        "PST" => Some(-480),
        "PDT" => Some(-420),
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    let sign = if upper.contains('-') { -1 } else { 1 };
    let digits: Vec<i32> = upper
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|b| i32::from(b - b'0'))
        .collect();
    let (hours, minutes) = match digits[..] {
        [h] => (h, 0),
        [a, b] => (a * 10 + b, 0),
        [h, m, n] => (h, m * 10 + n),
        [a, b, m, n] => (a * 10 + b, m * 10 + n),
        _ => return None,
    };
    (hours <= 14).then_some(sign * (hours * 60 + minutes))
}

/// A value that is nothing but a date of ISO 8601 with dashes, as most are: `2019-09-07`, `2019-09-07T13:43:00+08:00`.
pub(crate) fn parse_iso(value: &str) -> Option<Stamp> {
    let number = |from: usize, to: usize| -> Option<u32> {
        let digits = value.get(from..to)?;
        let all = digits.bytes().all(|b| b.is_ascii_digit());
        all.then(|| digits.parse().ok()).flatten()
    };
    let bytes = value.as_bytes();
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    let year = i32::try_from(number(0, 4)?).ok()?;
    let mut stamp = Stamp::day(year, number(5, 7)?, number(8, 10)?)?;
    if bytes.len() == 10 {
        return Some(stamp);
    }
    if !matches!(bytes.get(10), Some(b'T' | b' ')) || bytes.get(13) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let (second, zone) = match bytes.get(16) {
        Some(b':') => (number(17, 19)?, value.get(19..)?),
        _ => (0, value.get(16..)?),
    };
    let zone = match zone.strip_prefix('.') {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => zone,
    };
    let is_zone = matches!(
        zone.as_bytes(),
        [] | [b'Z']
            | [
                b'+' | b'-',
                b'0'..=b'9',
                b'0'..=b'9',
                b'0'..=b'9',
                b'0'..=b'9'
            ]
            | [
                b'+' | b'-',
                b'0'..=b'9',
                b'0'..=b'9',
                b':',
                b'0'..=b'9',
                b'0'..=b'9'
            ]
    );
    if !is_zone {
        return None;
    }
    stamp.time = Some(NaiveTime::from_hms_opt(hour, minute, second.min(59))?);
    stamp.offset_min = (!zone.is_empty()).then(|| zone_offset_min(zone)).flatten();
    Some(stamp)
}
