//! Which numbers may stand in the configuration. In: a key and its value. Out: nothing, or what to write instead. Every
//! number of `taojin.toml` and of a site's file has a row here: a test compares.

use taojin_search::index::Query;
use taojin_search::query::MAX_QUERY_CHARS;
use toml::{Table, Value};

/// Ten years: with longer times, sums of Unix milliseconds would mean nothing.
const LONGEST_MS: f64 = 10.0 * 366.0 * 86_400_000.0;
/// The largest number of TOML.
const MANY: f64 = 9.3e18;

/// The numbers that a key may have.
#[derive(Debug, Clone, Copy)]
struct Limit {
    key: &'static str,
    least: f64,
    most: f64,
    /// The ends themselves are left out.
    open: bool,
}

const fn between(key: &'static str, least: f64, most: f64) -> Limit {
    Limit {
        key,
        least,
        most,
        open: false,
    }
}

const fn inside(key: &'static str, least: f64, most: f64) -> Limit {
    Limit {
        open: true,
        ..between(key, least, most)
    }
}

/// Zero is allowed.
const fn any(key: &'static str) -> Limit {
    between(key, 0.0, MANY)
}

/// With zero nothing would work.
const fn positive(key: &'static str) -> Limit {
    between(key, 1.0, MANY)
}

const fn time(key: &'static str) -> Limit {
    between(key, 0.0, LONGEST_MS)
}

/// A time limit of zero would end everything before it began.
const fn time_limit(key: &'static str) -> Limit {
    between(key, 1.0, LONGEST_MS)
}

/// Numbers of `taojin.toml`.
const CONFIG: &[Limit] = &[
    between("crawl.max_connections", 1.0, 10_000.0),
    between("crawl.article_pages", 1.0, 1_000.0),
    positive("crawl.max_outbox"),
    between("crawl.crawl_log_bytes", 1024.0, MANY),
    between("crawl.crawl_log_files", 0.0, 10_000.0),
    time("crawl.stop_grace_ms"),
    time("crawl.pass_patience_ms"),
    any("crawl.min_free_bytes"),
    between("crawl.min_free_percent", 0.0, 99.0),
    between("documents.keep_versions", 0.0, 10_000.0),
    between("documents.keep_versions_days", 0.0, 36_500.0),
    between("documents.keep_deleted_days", 1.0, 36_500.0),
    time("frontier.min_delay_ms"),
    time("frontier.max_delay_ms"),
    between("frontier.delay_factor", 0.0, 1000.0),
    between("frontier.jitter", 0.0, 1.0),
    time("frontier.max_crawl_delay_ms"),
    time("frontier.max_retry_after_ms"),
    time("frontier.throttle_backoff_ms"),
    time("frontier.forgive_after_ms"),
    time("frontier.connect_backoff_ms"),
    time("frontier.max_backoff_ms"),
    any("frontier.park_after_errors"),
    time("frontier.park_ms"),
    between("frontier.connections_per_host", 1.0, 10_000.0),
    between("frontier.connections_per_ip", 1.0, 10_000.0),
    positive("frontier.pages_per_host_per_cycle"),
    positive("frontier.max_urls_per_site"),
    between("frontier.queue_batch", 1.0, 1e6),
    between("frontier.active_hosts", 1.0, 1e8),
    inside("frontier.seen_error", 0.0, 1.0),
    between("frontier.seen_capacity", 1.0, 1e10),
    time("revisit.first_ms"),
    time("revisit.min_ms"),
    time("revisit.max_ms"),
    between("revisit.grow", 1.0, 1000.0),
    between("revisit.shrink", 0.001, 1.0),
    time("revisit.gone_after_ms"),
    time("revisit.retry_ms"),
    time("revisit.max_retry_ms"),
    positive("revisit.give_up_errors"),
    time("revisit.hub_max_ms"),
    time_limit("fetch.connect_timeout_ms"),
    time_limit("fetch.idle_timeout_ms"),
    time_limit("fetch.whole_timeout_ms"),
    time_limit("fetch.dns_timeout_ms"),
    positive("fetch.max_body_bytes"),
    positive("fetch.max_sitemap_bytes"),
    positive("fetch.max_ratio"),
    between("fetch.max_redirects", 0.0, 100.0),
    time("fetch.max_retry_after_ms"),
    time("fetch.robots_ttl_ms"),
    positive("warc.max_bytes"),
    positive("page.max_decoded_bytes"),
    between("page.max_nodes", 1.0, 1e8),
    between("page.max_depth", 1.0, 10_000.0),
    positive("page.max_attribute_bytes"),
    any("extract.min_tokens"),
    positive("extract.max_outlinks"),
    positive("templates.learn_at"),
    positive("templates.learn_small_at"),
    between("templates.max_distance", 0.0, 1.0),
    positive("templates.min_pages"),
    positive("templates.max_pending"),
    positive("templates.max_per_site"),
    any("templates.samples"),
    between("terms.accept_above", 0.0, 1.0),
    positive("terms.min_count"),
    positive("terms.max_terms"),
    positive("terms.max_chars"),
    between("index.memory_mb", 15.0, 4000.0),
    between("index.threads", 1.0, 8.0),
    between("index.utc_offset_minutes", -840.0, 840.0),
    between("index.title_boost", 0.0, 1000.0),
    between("index.term_boost", 0.0, 1000.0),
    between("index.phrase_boost", 0.0, 1000.0),
    between("index.all_words_bonus", 0.0, 1000.0),
    between("index.half_life_days", 1.0, 36_500.0),
    // The most that engines make of one index.
    between("search.shards", 1.0, 1024.0),
    between("search.replicas", 0.0, 16.0),
    between("serve.query_chars", 1.0, MAX_QUERY_CHARS as f64),
    between("serve.window", 1.0, Query::MAX_WINDOW as f64),
    between("serve.limit_max", 1.0, Query::MAX_LIMIT as f64),
    time_limit("serve.time_limit_ms"),
    between("serve.concurrent_searches", 1.0, 100_000.0),
    between("serve.connections", 1.0, 1_000_000.0),
    time_limit("serve.idle_ms"),
    time_limit("serve.request_ms"),
    time("serve.max_lag_ms"),
    any("serve.requests_per_minute"),
];

/// Numbers of a site's file.
const SITE: &[Limit] = &[
    positive("max_pages_per_cycle"),
    time("delay_ms"),
    between("queues", 1.0, 64.0),
    between("scope.max_hops", 0.0, 65_535.0),
    between("scope.max_redirects", 0.0, 255.0),
    between("scope.max_path_segments", 1.0, 100_000.0),
    between("scope.max_repeated_segments", 1.0, 100_000.0),
    between("scope.max_url_bytes", 16.0, 65_536.0),
];

/// What to write for the number of this key: `use 1 or more`.
pub(super) fn allowed(key: &str) -> Option<String> {
    let limit = CONFIG.iter().chain(SITE).find(|l| l.key == key)?;
    let (least, most) = (limit.least, limit.most);
    Some(if limit.open {
        format!("use more than {least} and less than {most}")
    } else if most >= MANY.min(LONGEST_MS) {
        format!("use {least} or more")
    } else {
        format!("use a number from {least} to {most}")
    })
}

/// Whether the number of this key may be below zero.
pub(super) fn may_be_negative(key: &str) -> bool {
    CONFIG.iter().any(|l| l.key == key && l.least < 0.0)
}

/// Key and value of every number that cannot be used.
pub(super) fn unusable(settings: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk("", settings, &mut |key, value| {
        let limit = CONFIG.iter().chain(SITE).find(|l| l.key == key);
        let (number, text) = match value {
            Value::Integer(number) => (*number as f64, number.to_string()),
            Value::Float(number) => (*number, shortest(*number)),
            _ => return,
        };
        let Some(limit) = limit else { return };
        let inside = (limit.least..=limit.most).contains(&number);
        let at_end = limit.open && (number <= limit.least || number >= limit.most);
        // `nan` is inside of nothing.
        if !inside || at_end {
            found.push((key.to_owned(), text));
        }
    });
    found
}

/// A number as it was written, also one that is kept in fewer digits.
fn shortest(number: f64) -> String {
    let short = number as f32;
    match f64::from(short) == number {
        true => short.to_string(),
        false => number.to_string(),
    }
}

/// Every value that is no section, with the names of its sections.
pub(super) fn walk(prefix: &str, settings: &Table, look: &mut impl FnMut(&str, &Value)) {
    for (name, value) in settings {
        let key = match prefix {
            "" => name.clone(),
            _ => format!("{prefix}.{name}"),
        };
        match value {
            Value::Table(section) => walk(&key, section, look),
            value => look(&key, value),
        }
    }
}

/// The keys of all numbers.
#[cfg(test)]
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    CONFIG.iter().chain(SITE).map(|limit| limit.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use taojin_crawl::schedule::Site;

    #[test]
    fn every_number_of_the_settings_has_limits_and_the_defaults_keep_them() {
        let site = Site {
            delay_ms: Some(2000),
            max_pages_per_cycle: Some(5000),
            ..Site::default()
        };
        for (settings, limits) in [
            (Table::try_from(Config::default()).unwrap(), CONFIG),
            (Table::try_from(site).unwrap(), SITE),
        ] {
            assert_eq!(unusable(&settings), []);
            let mut numbers = Vec::new();
            walk("", &settings, &mut |key, value| {
                if value.is_integer() || value.is_float() {
                    numbers.push(key.to_owned());
                }
            });
            for key in &numbers {
                assert!(limits.iter().any(|l| l.key == key), "{key} has no limits");
            }
            for limit in limits.iter().filter(|l| l.key != "terms.accept_above") {
                assert!(numbers.iter().any(|k| k == limit.key), "{}", limit.key);
            }
        }
    }

    #[test]
    fn what_is_outside_is_named() {
        for (text, wrong) in [
            ("[frontier]\nseen_error = 0.0", true),
            ("[frontier]\nseen_error = 0.5", false),
            ("[frontier]\nseen_error = 1.0", true),
            ("[frontier]\njitter = 1.1", true),
            ("[frontier]\ndelay_factor = nan", true),
            ("[frontier]\ndelay_factor = -1.0", true),
            ("[frontier]\nmin_delay_ms = 9223372036854775807", true),
            ("[crawl]\nmin_free_percent = 100", true),
            ("[index]\nutc_offset_minutes = -300", false),
            ("queues = 65", true),
            ("[serve]\nlimit_max = 0", true),
            ("[serve]\nwindow = 1000000", true),
            ("[serve]\nquery_chars = 5000", true),
        ] {
            let settings = text.parse::<Table>().unwrap();
            assert_eq!(!unusable(&settings).is_empty(), wrong, "{text}");
        }
        assert_eq!(
            allowed("crawl.max_connections").unwrap(),
            "use a number from 1 to 10000"
        );
        assert_eq!(allowed("crawl.max_outbox").unwrap(), "use 1 or more");
    }
}
