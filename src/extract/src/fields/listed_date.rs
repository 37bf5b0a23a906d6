//! Reads the day of a page as a feed or sitemap writes it: in the form that its standard asks for, or in any other.

use chrono::{DateTime, NaiveDateTime};

use crate::date::stamp::{CHINA_OFFSET_MIN, Clock, Stamp, zone_offset_min};
use crate::date::text::parse_value;

/// Forms of a time without a zone, behind the name of the day of the week.
const LOCAL: [&str; 8] = [
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%b %d %Y %H:%M:%S",
    "%b %d %Y %H:%M",
    "%b %d %H:%M:%S %Y",
    "%d-%b-%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
];
/// The day and time, ISO 8601. What names no zone is in that of the clock, and what names another is converted to it, so
/// that the day is that of the site.
pub fn read_listed_date(text: &str, clock: &Clock) -> Option<String> {
    let text = text.trim();
    let stamp = read_zoned(text, clock)
        .or_else(|| read_local(text))
        .or_else(|| parse_value(text, clock))?;
    let stamp = in_zone(stamp, clock);
    clock.plausible(stamp.date).then(|| stamp.iso(clock))
}

/// A time with its zone, in the zone of the clock if that has one.
fn in_zone(stamp: Stamp, clock: &Clock) -> Stamp {
    let there = || {
        let (time, offset_min) = (stamp.time?, stamp.offset_min?);
        let utc = stamp.date.and_time(time).and_utc().timestamp_millis();
        clock.offset_min?;
        Stamp::from_unix_ms(utc - i64::from(offset_min) * 60_000, clock)
    };
    there().unwrap_or(stamp)
}

fn read_zoned(text: &str, clock: &Clock) -> Option<Stamp> {
    let bare = without_weekday(text);
    let at = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z"))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z"));
    if let Ok(at) = at {
        return Some(stamp(at.naive_local(), at.offset().local_minus_utc() / 60));
    }
    let (local, zone) = bare.rsplit_once(' ')?;
    stamp_in_zone(&local.replace(',', ""), zone, clock).or_else(|| {
        // `May 16 04:45:26 +0000 2026`, as C prints it with a zone.
        let (local, year) = (local.rsplit_once(' ')?, zone);
        stamp_in_zone(&format!("{} {year}", local.0), local.1, clock)
    })
}

fn stamp_in_zone(local: &str, zone: &str, clock: &Clock) -> Option<Stamp> {
    let offset_min = read_zone(zone, clock)?;
    Some(stamp(read_naive(local)?, offset_min))
}

fn read_local(text: &str) -> Option<Stamp> {
    let local = read_naive(&without_weekday(text).replace(',', ""))?;
    Some(Stamp {
        offset_min: None,
        ..stamp(local, 0)
    })
}

fn read_naive(text: &str) -> Option<NaiveDateTime> {
    let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    LOCAL
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(&text, form).ok())
}

fn stamp(local: NaiveDateTime, offset_min: i32) -> Stamp {
    Stamp {
        date: local.date(),
        time: Some(local.time()),
        offset_min: Some(offset_min),
    }
}

/// `+0800`, `+08:00`, `GMT+8`, `JST`. `CST` is China's where the site is there.
fn read_zone(zone: &str, clock: &Clock) -> Option<i32> {
    let zone = zone.trim_matches(['(', ')']);
    if zone.eq_ignore_ascii_case("CST") {
        let is_china = clock.offset_min == Some(CHINA_OFFSET_MIN);
        return Some(if is_china { CHINA_OFFSET_MIN } else { -360 });
    }
    // Else it is the year.
    let is_zone = zone.starts_with(|c: char| matches!(c, '+' | '-') || c.is_ascii_alphabetic());
    is_zone.then(|| zone_offset_min(zone)).flatten()
}

/// A date without the name of its day of the week, which is wrong in many feeds.
fn without_weekday(text: &str) -> &str {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let name = text.split([',', ' ']).next().unwrap_or_default();
    let begin = name.get(..3).unwrap_or_default().to_ascii_lowercase();
    if DAYS.contains(&begin.as_str()) && name.bytes().all(|b| b.is_ascii_alphabetic()) {
        text.get(name.len()..)
            .unwrap_or_default()
            .trim_start_matches([',', ' '])
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_dates_of_many_forms() {
        let clock = Clock {
            now_ms: None,
            offset_min: Some(480),
            month_first: false,
            republic: false,
        };
        for (text, want) in [
            (
                "Wed, 03 Jun 2026 07:15:00 +0800",
                "2026-06-03T07:15:00+08:00",
            ),
            // A wrong day of the week, a zone in which it is still the day before.
            ("Sun, 3 Jun 2026 18:15 GMT", "2026-06-04T02:15:00+08:00"),
            ("03 Jun 2026 18:15:00 Z", "2026-06-04T02:15:00+08:00"),
            (
                "Wed, Jun 3 2026 18:15:00 +0000",
                "2026-06-04T02:15:00+08:00",
            ),
            ("Wed Jun  3 18:15:00 UTC 2026", "2026-06-04T02:15:00+08:00"),
            ("Wed, 03 Jun 2026 07:15:00 CST", "2026-06-03T07:15:00+08:00"),
            (
                "Wed, 03 Jun 2026 07:15:00 GMT+8",
                "2026-06-03T07:15:00+08:00",
            ),
            ("Wed, 03 Jun 2026 07:15:00", "2026-06-03T07:15:00+08:00"),
            ("2026-06-03 07:15:00", "2026-06-03T07:15:00+08:00"),
            ("2026-06-03T18:15:00Z", "2026-06-04T02:15:00+08:00"),
            ("2026-06-03T07:15:00", "2026-06-03T07:15:00+08:00"),
            ("2026-06-03", "2026-06-03"),
            ("2026/6/3", "2026-06-03"),
            ("2026年6月3日", "2026-06-03"),
            ("2026年6月3日 7:15", "2026-06-03T07:15:00+08:00"),
            ("03 June 2026", "2026-06-03"),
            ("1780442100", "2026-06-03T07:15:00+08:00"),
        ] {
            let found = read_listed_date(text, &clock);
            assert_eq!(found.as_deref(), Some(want), "{text}");
        }
        for text in [
            "",
            "soon",
            "Wed, 45 Jun 2026 07:15:00 +0800",
            "0000-00-00 00:00:00",
        ] {
            assert_eq!(read_listed_date(text, &clock), None, "{text}");
        }
    }
}
