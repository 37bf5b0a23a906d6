//! Formats times for people and for machines: the one form of a moment, on the pages and in the terminal.
//!
//! A time of day always has its zone. A time is ISO 8601 if extraction could parse it, else as it is printed on its page; the meaning of a printed time is never
//! guessed.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, SecondsFormat};

use crate::pages::words::Lang;

/// Longest text of a time that is shown, in characters.
const CHARS_MAX: usize = 40;
/// Bytes of `2026-05-01` and of `08:30`.
const DATE_BYTES: usize = 10;
const CLOCK_BYTES: usize = 5;

/// How exactly a moment is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// `2026-05-01 08:30 +08:00`.
    Minute,
    /// `2026-05-01 08:30:05 +08:00`.
    Second,
}

/// Returns a moment (Unix milliseconds) with its zone, that many minutes east of UTC; `None` for what no calendar has.
pub fn show_time(ms: i64, utc_offset_minutes: i32, precision: Precision) -> Option<String> {
    let zone = FixedOffset::east_opt(utc_offset_minutes.checked_mul(60)?)?;
    let then = DateTime::from_timestamp_millis(ms)?.with_timezone(&zone);
    let form = match precision {
        Precision::Minute => "%Y-%m-%d %H:%M %:z",
        Precision::Second => "%Y-%m-%d %H:%M:%S %:z",
    };
    Some(then.format(form).to_string())
}

/// A time as printed and as read by machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// ISO 8601; empty where the text is none.
    pub(crate) machine: String,
    pub(crate) shown: String,
    /// `3 小时前`; empty where there is no time of day, or no zone.
    pub(crate) ago: String,
}

/// Where and when times are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) lang: Lang,
    pub(crate) now_ms: i64,
    /// Zone of the readers, in which our own times are shown.
    pub(crate) utc_offset_minutes: i32,
}

impl Clock {
    /// `2026-05-01T08:30:00+08:00` → `2026-05-01 08:30 +08:00`, without a zone where the text names none; what is no ISO 8601
    /// as it is, but short; none for an empty text.
    pub(crate) fn read(&self, text: &str) -> Option<Moment> {
        let text: String = text.trim().chars().take(CHARS_MAX).collect();
        if text.is_empty() {
            return None;
        }
        let shown = shown(&text);
        let as_printed = || Moment {
            machine: String::new(),
            shown: text.clone(),
            ago: String::new(),
        };
        let Some(shown) = shown else {
            return Some(as_printed());
        };
        let ago = DateTime::parse_from_rfc3339(&text)
            .map(|then| self.lang.relative(then.timestamp_millis(), self.now_ms))
            .unwrap_or_default();
        Some(Moment {
            machine: text.clone(),
            shown,
            ago,
        })
    }

    /// A moment in the readers' zone, Unix milliseconds.
    pub(crate) fn at(&self, ms: i64) -> Option<Moment> {
        let zone = FixedOffset::east_opt(self.utc_offset_minutes.checked_mul(60)?)?;
        let then = DateTime::from_timestamp_millis(ms)?.with_timezone(&zone);
        self.read(&then.to_rfc3339_opts(SecondsFormat::Secs, false))
    }

    /// The day by the readers' calendar.
    pub(crate) fn today(&self) -> NaiveDate {
        let offset_ms = i64::from(self.utc_offset_minutes) * 60_000;
        let local = DateTime::from_timestamp_millis(self.now_ms.saturating_add(offset_ms));
        local.unwrap_or_default().date_naive()
    }
}

/// A time as a document has it, for people: with its zone where it names one, and what is no ISO 8601 as it is.
pub fn show_written(text: &str) -> String {
    shown(text).unwrap_or_else(|| text.to_owned())
}

/// An ISO 8601 time as people read it; `None` for what is none.
fn shown(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(DATE_BYTES)?;
    NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    if rest.is_empty() {
        return Some(date.to_owned());
    }
    let (clock, rest) = rest
        .strip_prefix(['T', ' '])?
        .split_at_checked(CLOCK_BYTES)?;
    NaiveTime::parse_from_str(clock, "%H:%M").ok()?;
    let fraction = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ',');
    // A zone begins with a sign or is a Z; what stands before it are seconds.
    let zone = match rest.strip_prefix(':') {
        Some(seconds) => seconds.trim_start_matches(fraction),
        None => rest,
    };
    let zone = shown_zone(zone)?;
    Some(format!("{date} {clock}{zone}"))
}

/// A zone as it is shown behind a time, ` +08:00`; nothing where none is named, `None` for what is no zone.
fn shown_zone(zone: &str) -> Option<String> {
    if zone.is_empty() {
        return Some(String::new());
    }
    if matches!(zone, "Z" | "z") {
        return Some(" +00:00".to_owned());
    }
    let digits = zone.strip_prefix(['-', '+'])?;
    let time = NaiveTime::parse_from_str(digits, "%H:%M")
        .or_else(|_| NaiveTime::parse_from_str(digits, "%H%M"))
        .ok()?;
    let sign = if zone.starts_with('-') { '-' } else { '+' };
    Some(format!(" {sign}{}", time.format("%H:%M")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(lang: Lang) -> Clock {
        let now = DateTime::parse_from_rfc3339("2026-05-03T17:20:00+08:00").unwrap();
        Clock {
            lang,
            now_ms: now.timestamp_millis(),
            utc_offset_minutes: 480,
        }
    }

    #[test]
    fn a_time_reads_like_a_time() {
        for (text, shown) in [
            ("2026-05-03T14:20:00+08:00", "2026-05-03 14:20 +08:00"),
            ("2026-05-03T14:20:31.123+0800", "2026-05-03 14:20 +08:00"),
            ("2026-05-03 14:20", "2026-05-03 14:20"),
            ("2026-05-03T14:20:00", "2026-05-03 14:20"),
            ("2026-05-03T06:20:00.000Z", "2026-05-03 06:20 +00:00"),
            ("2026-05-03T02:20:00-04:00", "2026-05-03 02:20 -04:00"),
            ("2026-05-03T11:50:00+05:30", "2026-05-03 11:50 +05:30"),
            ("2026-05-03", "2026-05-03"),
        ] {
            let read = clock(Lang::Zh).read(text).unwrap();
            assert_eq!((read.shown.as_str(), read.machine.as_str()), (shown, text));
            assert_eq!(show_written(text), shown);
        }
    }

    #[test]
    fn show_time_names_its_zone() {
        use Precision::{Minute, Second};
        for (ms, minutes, precision, shown) in [
            (0, 480, Minute, Some("1970-01-01 08:00 +08:00")),
            (0, 0, Second, Some("1970-01-01 00:00:00 +00:00")),
            (61_999, -210, Second, Some("1969-12-31 20:31:01 -03:30")),
            (
                1_900_000_000_000,
                345,
                Minute,
                Some("2030-03-17 23:31 +05:45"),
            ),
            (i64::MAX, 0, Minute, None),
            (0, i32::MAX, Minute, None),
        ] {
            assert_eq!(show_time(ms, minutes, precision).as_deref(), shown);
        }
        let at = clock(Lang::Zh).at(0).expect("a moment");
        assert_eq!(Some(at.shown), show_time(0, 480, Minute));
    }

    #[test]
    fn what_is_no_time_of_ours_stays_as_printed() {
        for text in [
            "昨天 08:30",
            "May 3, 2026 at 2:20 pm",
            "2026-05-03T25:00",
            "2026年5月",
            "2026-05-03 下午",
        ] {
            let read = clock(Lang::Zh).read(text).unwrap();
            assert_eq!((read.shown.as_str(), read.machine.as_str()), (text, ""));
        }
        assert_eq!(clock(Lang::Zh).read("  "), None);
        let long = "很".repeat(1_000);
        assert_eq!(
            clock(Lang::Zh).read(&long).unwrap().shown.chars().count(),
            CHARS_MAX
        );
    }

    #[test]
    fn how_long_ago_is_said_where_it_is_known() {
        let ago = |lang, text| clock(lang).read(text).unwrap().ago;
        assert_eq!(ago(Lang::Zh, "2026-05-03T14:20:00+08:00"), "3 小时前");
        assert_eq!(ago(Lang::En, "2026-05-03T06:20:00Z"), "3 h ago");
        assert_eq!(ago(Lang::En, "2026-05-03"), "");
    }
}
