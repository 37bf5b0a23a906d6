//! Addresses that a program invents without end: calendars, sessions, paths that repeat themselves. In: a URL and the
//! present time. Out: what is suspicious about it. Judges one address by its form; never remembers others.

use std::ops::RangeInclusive;

use chrono::Datelike as _;
use url::form_urlencoded;

use taojin_uri::CrawlUri;

/// A calendar that shows a year before the web is walking away.
const FIRST_YEAR: i32 = 1990;
/// And so is one that shows a year so far ahead: plans and announcements seldom name one beyond.
const YEARS_AHEAD: i32 = 10;

/// Times that a segment may stand in a path beyond its first.
pub(super) fn repeated_segments(uri: &CrawlUri, allowed: usize) -> bool {
    let mut sorted: Vec<&str> = uri.segments().collect();
    sorted.sort_unstable();
    let mut run = 0;
    sorted.windows(2).any(|pair| {
        run = if pair[0] == pair[1] { run + 1 } else { 0 };
        run > allowed
    })
}

/// Number of path segments that are not empty.
pub(super) fn path_segments(uri: &CrawlUri) -> usize {
    uri.segments().count()
}

/// A query that carries the same key again and again, or an address inside the address.
pub(super) fn growing_query(uri: &CrawlUri, max_parameters: usize) -> bool {
    let Some(query) = uri.query() else {
        return false;
    };
    let mut keys: Vec<&str> = query
        .split('&')
        .map(|pair| pair.split('=').next().unwrap_or_default())
        .collect();
    if keys.len() > max_parameters {
        return true;
    }
    keys.sort_unstable();
    // `a[]=1&a[]=2` is how lists are sent; three of a kind that are no list is a query that grows by itself.
    keys.chunk_by(|a, b| a == b)
        .any(|run| run.len() > 3 && !run[0].ends_with("[]") && !run[0].ends_with("%5B%5D"))
}

/// A calendar that has left the years that pages are from: `/2087/03/`, `?year=1873`, `?date=2190-01-01`.
pub(super) fn calendar(uri: &CrawlUri, now_ms: i64) -> bool {
    let now = chrono::DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    let years = FIRST_YEAR..=now.year() + YEARS_AHEAD;
    let odd_year = |text: &str| is_odd_year(text, &years);
    let mut parts = uri.path().split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let month_follows = parts
            .peek()
            .and_then(|p| number(p))
            .is_some_and(|m| (1..=12).contains(&m));
        if month_follows && odd_year(part) {
            return true;
        }
    }
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let named = ["year", "date", "month", "day", "y", "cal", "calendar"]
            .iter()
            .any(|name| key == *name || (name.len() > 3 && key.contains(name)));
        named && value.split(['-', '/', '.']).next().is_some_and(&odd_year)
    })
}

/// Four digits, or eight as in 20261103, that begin with a year out of range.
fn is_odd_year(text: &str, years: &RangeInclusive<i32>) -> bool {
    if !(text.len() == 4 || text.len() == 6 || text.len() == 8) {
        return false;
    }
    let year = text
        .get(..4)
        .filter(|_| number(text).is_some())
        .and_then(number);
    year.is_some_and(|y| {
        (1000..3000).contains(&y) && !i32::try_from(y).is_ok_and(|y| years.contains(&y))
    })
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}
