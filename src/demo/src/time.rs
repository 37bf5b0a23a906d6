//! Beijing time, which the sample web uses.

use chrono::{DateTime, FixedOffset};

pub(super) const MINUTE_MS: i64 = 60_000;
pub(super) const HOUR_MS: i64 = 60 * MINUTE_MS;
const OFFSET_S: i32 = 8 * 3600;

/// The time in Beijing.
pub(super) fn beijing(ms: i64) -> DateTime<FixedOffset> {
    let zone = FixedOffset::east_opt(OFFSET_S).expect("eight hours are a valid offset");
    DateTime::from_timestamp_millis(ms)
        .unwrap_or_default()
        .with_timezone(&zone)
}

/// The time in Beijing, in a `strftime` format.
pub(super) fn clock(ms: i64, format: &str) -> String {
    beijing(ms).format(format).to_string()
}
