//! Tests of the schedule: pure functions, tables of cases.

mod cron;
mod feed;
mod revisit;
mod site;
mod sitemap;

use super::*;

fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}

/// Milliseconds of an RFC 3339 time.
fn at(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text)
        .unwrap()
        .timestamp_millis()
}
