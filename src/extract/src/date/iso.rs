//! Dates as machines write them. In: a value. Out: the date, if the value is nothing else. Never guesses; what is
//! written in any other way is left to [`super::text`].

use chrono::NaiveTime;

use super::stamp::{Stamp, zone_offset_min};

/// A value that is nothing but a date of ISO 8601 with dashes, as most are: `2019-09-07`, `2019-09-07T13:43:00+08:00`.
pub(crate) fn iso(value: &str) -> Option<Stamp> {
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
