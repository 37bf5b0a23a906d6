//! Dates as documents print them. In: ISO 8601 text. Out: Unix milliseconds. Never guesses.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, TimeZone};

/// Reads `2026-11-05`, `2026-11-05T10:30`, `2026-11-05 10:30:00` or a full RFC 3339 time. A text without offset
/// is local to `utc_offset_minutes`; a date alone is its first moment.
pub fn parse_published(text: &str, utc_offset_minutes: i32) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    if let Ok(time) = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z") {
        return Some(time.timestamp_millis());
    }
    let local = parse_local(text)?;
    let offset = FixedOffset::east_opt(utc_offset_minutes.checked_mul(60)?)?;
    offset
        .from_local_datetime(&local)
        .single()
        .map(|time| time.timestamp_millis())
}

fn parse_local(text: &str) -> Option<NaiveDateTime> {
    const FORMS: &[&str] = &[
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
    ];
    FORMS
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
        .or_else(|| {
            NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .ok()?
                .and_hms_opt(0, 0, 0)
        })
}
