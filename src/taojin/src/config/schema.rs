//! Parses TOML as people write it, and checks its values.
//!
//! [`parse`] takes the text of a file, in which `"6h"` or `"4 MiB"` may be written for a number, and reports every mistake with
//! its line, its key, the value, and an example of a valid one. What a key takes follows from its default, or from its example if
//! it has none. A key with a mistake is skipped, so that the next one is found as well. Every number of `taojin.toml` and of a
//! site's file has its limits here: a test compares.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::dropped::is_dropped;
use super::{ConfigProblem, nearest};
use taojin_search::index::Query;
use taojin_search::query::MAX_QUERY_CHARS;

/// Mistakes of one file that are named.
const MAX_PROBLEMS: usize = 50;
/// Longest value that is shown, in characters.
const SHOWN_CHARS: usize = 60;

/// Examples for keys that are empty or absent by default.
const EXAMPLES: &[(&str, &str)] = &[
    ("seeds", "[\"https://www.example.com/\"]"),
    ("feeds", "[\"https://www.example.com/feed.xml\"]"),
    ("sitemaps", "[\"https://www.example.com/sitemap.xml\"]"),
    ("name", "\"example\""),
    ("title", "\"西部油气网\""),
    ("lexicons", "[\"oil-gas\"]"),
    ("synonyms", "[\"oil-gas\"]"),
    ("scope.hosts", "[\"www.example.com\"]"),
    ("scope.include", "[\"/news/\"]"),
    ("scope.exclude", "[\"/login\"]"),
    ("scope.documents", "[\"/film/\"]"),
    ("terms.lexicon", "\"terms.txt\""),
    ("terms.patterns", "\"term-patterns.txt\""),
    ("fetch.robots_agent", "\"taojin\""),
    ("fetch.allow_addresses", "[\"10.0.0.0/8\"]"),
    ("fetch.hosts", "{ \"news.example\" = \"127.0.0.1:8080\" }"),
    ("fetch.proxy", "\"http://127.0.0.1:3128\""),
    ("warc.dir", "\"/var/lib/taojin/warc\""),
    ("serve.public_url", "\"https://search.example.org/\""),
    ("serve.allowed_hosts", "[\"search.example.org\"]"),
    ("serve.token_file", "\"$CREDENTIALS_DIRECTORY/token\""),
    ("serve.client_header", "\"x-forwarded-for\""),
    ("follow.name", "\"deep-sea\""),
    ("follow.title", "\"深海油气\""),
    ("follow.query", "\"深海 OR 深水\""),
    ("follow.sites", "[\"example\"]"),
    ("follow.webhook", "\"http://127.0.0.1:9000/taojin\""),
    ("follow.secret", "\"a long random text\""),
    ("follow.secret_file", "\"$CREDENTIALS_DIRECTORY/secret\""),
    ("follow.tell", "[\"new\", \"gone\"]"),
    ("follow.match", "\"all\""),
];

/// Keys that their section must have.
const REQUIRED: &[&str] = &["follow.name", "follow.query"];

/// A key of a file: where it and its value are.
struct KeyEntry {
    /// With the names of its sections.
    key: String,
    name: Range<usize>,
    value: Range<usize>,
    is_section: bool,
    is_string: bool,
    is_array: bool,
}

/// Parses a file. `defaults` has all of its keys that have no example. Returns no value if the text is no TOML at all.
pub(super) fn parse<T: DeserializeOwned>(
    file: &Path,
    text: &str,
    defaults: &Table,
) -> (Option<T>, Vec<ConfigProblem>) {
    let mut rest = resolved(text);
    let mut problems = Vec::new();
    while problems.len() < MAX_PROBLEMS {
        let error = match toml::from_str(&rest) {
            Ok(value) => return (Some(value), problems),
            Err(error) => error,
        };
        let at = error.span().map_or(0, |span| span.start);
        let entry = entries(&rest).and_then(|all| entry_at(all, at));
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        problems.push(ConfigProblem {
            file: Some(file.to_owned()),
            line: Some(line_at(&rest, at)),
            text: match &entry {
                Some(entry) => explain(&rest, entry, &message, defaults),
                None => {
                    format!("this is not TOML: {message}; write key = value, texts in \"quotes\"")
                }
            },
        });
        match entry {
            Some(entry) => leave_out(&mut rest, &entry),
            None => break,
        }
    }
    (None, problems)
}

/// The line on which a key stands; the first of its elements if it has several.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let all = entries(text)?;
    let entry = all.iter().find(|e| e.key == key)?;
    Some(line_at(text, entry.name.start))
}

/// The example of what may stand for a key: the default, where there is one.
pub(super) fn example(key: &str, defaults: &Table) -> Option<String> {
    let written = EXAMPLES.iter().find(|(k, _)| *k == key);
    if let Some((_, example)) = written {
        return Some((*example).to_owned());
    }
    let value = default_of(key, defaults)?;
    (!value.is_table()).then(|| value.to_string())
}

fn default_of<'a>(key: &str, defaults: &'a Table) -> Option<&'a Value> {
    let mut names = key.split('.');
    let first = defaults.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// Returns a value of the kind that a key takes; `None` if there is no such key.
fn expected(key: &str, defaults: &Table) -> Option<Value> {
    for (name, example) in EXAMPLES {
        // A table that is an example has keys of the operator's choice.
        let is_inside = key.strip_prefix(name).is_some_and(|k| k.starts_with('.'));
        if *name == key || is_inside {
            let parsed: Table = format!("example = {example}").parse().ok()?;
            let value = parsed.get("example")?;
            return match value {
                Value::Table(table) if is_inside => table.values().next().cloned(),
                _ => Some(value.clone()),
            };
        }
    }
    default_of(key, defaults).cloned()
}

/// Returns the names of all keys of a section; those of the file itself if `section` is empty.
fn known_keys(section: &str, defaults: &Table) -> Vec<String> {
    let table = match section {
        "" => Some(defaults),
        _ => default_of(section, defaults).and_then(Value::as_table),
    };
    let mut known: Vec<String> = table.into_iter().flat_map(Table::keys).cloned().collect();
    for key in extra_keys() {
        if let Some((of, name)) = key.rsplit_once('.')
            && of == section
        {
            known.push(name.to_owned());
        }
    }
    known.sort();
    known.dedup();
    known
}

/// Keys that have an example of their own, those without a default among them.
pub(super) fn extra_keys() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|(key, _)| *key)
}

/// Every key of a text that is TOML, in the order in which they are kept.
fn entries(text: &str) -> Option<Vec<KeyEntry>> {
    let table = DeTable::parse(text).ok()?;
    let mut all = Vec::new();
    collect("", table.get_ref(), text, &mut all);
    Some(all)
}

fn collect(prefix: &str, table: &DeTable<'_>, text: &str, all: &mut Vec<KeyEntry>) {
    for (name, value) in table {
        let key = match prefix {
            "" => name.get_ref().to_string(),
            _ => format!("{prefix}.{}", name.get_ref()),
        };
        let after = text.get(name.span().end..).unwrap_or_default();
        all.push(KeyEntry {
            name: name.span(),
            value: value.span(),
            is_section: after
                .trim_start_matches([' ', '\t', '"', '\''])
                .starts_with(']'),
            is_string: value.get_ref().is_str(),
            is_array: value.get_ref().is_array(),
            key: key.clone(),
        });
        match value.get_ref() {
            DeValue::Table(section) => collect(&key, section, text, all),
            DeValue::Array(items) => {
                for section in items.iter().filter_map(|i| i.get_ref().as_table()) {
                    collect(&key, section, text, all);
                }
            }
            _ => {}
        }
    }
}

/// The innermost key that a place belongs to.
fn entry_at(all: Vec<KeyEntry>, at: usize) -> Option<KeyEntry> {
    let holds = |e: &KeyEntry| e.name.contains(&at) || e.value.contains(&at);
    all.into_iter()
        .filter(holds)
        .max_by_key(|e| e.key.matches('.').count())
}

/// Takes a key, or a whole section, out of the text; lines keep their numbers.
fn leave_out(text: &mut String, entry: &KeyEntry) {
    let range = if entry.is_section {
        let before = text.get(..entry.name.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let after = text.get(entry.name.end..).unwrap_or_default();
        let end = after.find("\n[").map_or(text.len(), |n| entry.name.end + n);
        start..end
    } else {
        entry.name.start..entry.value.end.max(entry.name.end)
    };
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    let old = text.get(range.clone()).unwrap_or_default();
    let new: String = old.chars().map(blank).collect();
    text.replace_range(range, &new);
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

/// The value as it is written, in short; a secret is not shown.
fn shown(text: &str, entry: &KeyEntry) -> String {
    if entry.key.ends_with("token") || entry.key.ends_with("secret") {
        return "…".to_owned();
    }
    let value = text.get(entry.value.clone()).unwrap_or_default();
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

/// Says what to write for a key that the parser refused with `message`.
fn explain(text: &str, entry: &KeyEntry, message: &str, defaults: &Table) -> String {
    let key = &entry.key;
    let for_example = |key: &str| {
        let example = example(key, defaults);
        example.map_or(String::new(), |e| format!(", for example {e}"))
    };
    let Some(expected) = expected(key, defaults) else {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        let known = known_keys(section, defaults);
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        return match nearest(name, &names) {
            Some(near) => format!("unknown key `{name}`; did you mean `{near}`?"),
            None => format!("unknown key `{name}`; known here: {}", names.join(", ")),
        };
    };
    if entry.is_section
        && let Some(missing) = missing_key(text, entry)
    {
        return format!("{missing} is missing: write it{}", for_example(missing));
    }
    let mend = match expected {
        Value::Table(_) => {
            return format!(
                "{key} is a section: write [{key}] on a line of its own, its keys below"
            );
        }
        Value::Boolean(_) => "write true or false".to_owned(),
        Value::Array(_) if !entry.is_array => "write a list in [brackets]".to_owned(),
        Value::String(_) if !entry.is_string => "write a text in \"quotes\"".to_owned(),
        Value::String(example) if example.parse::<SocketAddr>().is_ok() => {
            "write an address and a port in \"quotes\"".to_owned()
        }
        Value::Float(_) => write_number("a number", allowed(key)),
        Value::Integer(_) => {
            let allowed = allowed(key).map(|allowed| allowed + &hint(key));
            write_number("a whole number", allowed)
        }
        _ => message.to_owned(),
    };
    let shown = shown(text, entry);
    format!("{key} = {shown}: {mend}{}", for_example(key))
}

fn write_number(kind: &str, allowed: Option<String>) -> String {
    allowed.map_or_else(|| format!("write {kind}"), |a| format!("write {kind}: {a}"))
}

/// Returns the first required key that a section does not have.
fn missing_key(text: &str, section: &KeyEntry) -> Option<&'static str> {
    let after = text.get(section.name.end..).unwrap_or_default();
    let end = section.name.end + after.find("\n[").unwrap_or(after.len());
    let all = entries(text).unwrap_or_default();
    REQUIRED.iter().copied().find(|required| {
        let is_there = |e: &KeyEntry| {
            e.key == *required && section.name.end <= e.name.start && e.name.end <= end
        };
        let of = required.rsplit_once('.').map(|(of, _)| of);
        of == Some(&section.key) && !all.iter().any(is_there)
    })
}

/// Ten years: with longer times, sums of Unix milliseconds would mean nothing.
const LONGEST_MS: f64 = 10.0 * 366.0 * 86_400_000.0;
/// The largest number of TOML.
const MANY: f64 = 9.3e18;

/// A key, and the least and the most that its number may be.
type Limit = (&'static str, f64, f64);
/// The one key whose ends themselves are left out.
const OPEN: &str = "frontier.seen_error";

/// Numbers of `taojin.toml`.
const CONFIG: &[Limit] = &[
    ("crawl.max_connections", 1.0, 10_000.0),
    ("crawl.site_share", 0.01, 1.0),
    ("crawl.article_pages", 1.0, 1_000.0),
    ("crawl.crawl_log_bytes", 1024.0, MANY),
    ("crawl.crawl_log_files", 0.0, 10_000.0),
    ("crawl.pass_patience_ms", 0.0, LONGEST_MS),
    ("crawl.min_free_bytes", 0.0, MANY),
    ("crawl.min_free_percent", 0.0, 99.0),
    ("documents.keep_versions", 0.0, 10_000.0),
    ("documents.keep_versions_days", 0.0, 36_500.0),
    ("documents.keep_deleted_days", 1.0, 36_500.0),
    ("frontier.min_delay_ms", 0.0, LONGEST_MS),
    ("frontier.max_delay_ms", 0.0, LONGEST_MS),
    ("frontier.delay_factor", 0.0, 1000.0),
    ("frontier.jitter", 0.0, 1.0),
    ("frontier.max_crawl_delay_ms", 0.0, LONGEST_MS),
    ("frontier.max_retry_after_ms", 0.0, LONGEST_MS),
    ("frontier.throttle_backoff_ms", 0.0, LONGEST_MS),
    ("frontier.forgive_after_ms", 0.0, LONGEST_MS),
    ("frontier.connect_backoff_ms", 0.0, LONGEST_MS),
    ("frontier.max_backoff_ms", 0.0, LONGEST_MS),
    ("frontier.park_after_errors", 0.0, MANY),
    ("frontier.park_ms", 0.0, LONGEST_MS),
    ("frontier.connections_per_host", 1.0, 10_000.0),
    ("frontier.connections_per_ip", 1.0, 10_000.0),
    ("frontier.pages_per_host_per_cycle", 1.0, MANY),
    ("frontier.max_urls_per_site", 1.0, MANY),
    ("frontier.queue_batch", 1.0, 1e6),
    ("frontier.active_hosts", 1.0, 1e8),
    ("frontier.seen_error", 0.0, 1.0),
    ("frontier.seen_capacity", 1.0, 1e10),
    ("revisit.first_ms", 0.0, LONGEST_MS),
    ("revisit.min_ms", 0.0, LONGEST_MS),
    ("revisit.max_ms", 0.0, LONGEST_MS),
    ("revisit.grow", 1.0, 1000.0),
    ("revisit.shrink", 0.001, 1.0),
    ("revisit.gone_after_ms", 0.0, LONGEST_MS),
    ("revisit.retry_ms", 0.0, LONGEST_MS),
    ("revisit.max_retry_ms", 0.0, LONGEST_MS),
    ("revisit.give_up_errors", 1.0, MANY),
    ("revisit.hub_max_ms", 0.0, LONGEST_MS),
    ("fetch.connect_timeout_ms", 1.0, LONGEST_MS),
    ("fetch.idle_timeout_ms", 1.0, LONGEST_MS),
    ("fetch.whole_timeout_ms", 1.0, LONGEST_MS),
    ("fetch.dns_timeout_ms", 1.0, LONGEST_MS),
    ("fetch.max_body_bytes", 1.0, MANY),
    ("fetch.max_sitemap_bytes", 1.0, MANY),
    ("fetch.max_attachment_bytes", 1.0, MANY),
    ("fetch.max_ratio", 1.0, MANY),
    ("fetch.max_redirects", 0.0, 100.0),
    ("fetch.max_retry_after_ms", 0.0, LONGEST_MS),
    ("fetch.robots_ttl_ms", 0.0, LONGEST_MS),
    ("warc.max_bytes", 1.0, MANY),
    ("page.max_decoded_bytes", 1.0, MANY),
    ("page.max_nodes", 1.0, 1e8),
    ("page.max_depth", 1.0, 10_000.0),
    ("page.max_attribute_bytes", 1.0, MANY),
    ("extract.min_tokens", 0.0, MANY),
    ("extract.max_outlinks", 1.0, MANY),
    ("extract.max_text_bytes", 1_000.0, MANY),
    ("templates.learn_at", 1.0, MANY),
    ("templates.learn_small_at", 1.0, MANY),
    ("templates.max_distance", 0.0, 1.0),
    ("templates.min_pages", 1.0, MANY),
    ("templates.max_pending", 1.0, MANY),
    ("templates.max_per_site", 1.0, MANY),
    ("templates.samples", 0.0, MANY),
    ("terms.accept_above", 0.0, 1.0),
    ("terms.min_count", 1.0, MANY),
    ("terms.max_terms", 1.0, MANY),
    ("terms.max_chars", 1.0, MANY),
    ("index.memory_mb", 15.0, 4000.0),
    ("index.threads", 1.0, 8.0),
    ("index.utc_offset_minutes", -840.0, 840.0),
    ("index.title_boost", 0.0, 1000.0),
    ("index.term_boost", 0.0, 1000.0),
    ("index.phrase_boost", 0.0, 1000.0),
    ("index.all_words_bonus", 0.0, 1000.0),
    ("index.half_life_days", 1.0, 36_500.0),
    ("search.threads", 0.0, 256.0),
    // The most that engines make of one index.
    ("search.shards", 1.0, 1024.0),
    ("search.replicas", 0.0, 16.0),
    ("serve.query_chars", 1.0, MAX_QUERY_CHARS as f64),
    ("serve.window", 1.0, Query::MAX_WINDOW as f64),
    ("serve.limit_max", 1.0, Query::MAX_LIMIT as f64),
    ("serve.time_limit_ms", 1.0, LONGEST_MS),
    ("serve.concurrent_searches", 1.0, 100_000.0),
    ("serve.connections", 1.0, 1_000_000.0),
    ("serve.idle_ms", 1.0, LONGEST_MS),
    ("serve.request_ms", 1.0, LONGEST_MS),
    ("serve.max_lag_ms", 0.0, LONGEST_MS),
    ("serve.requests_per_minute", 0.0, MANY),
];

/// Numbers of a site's file.
const SITE: &[Limit] = &[
    ("max_attachment_bytes", 1.0, MANY),
    ("max_pages_per_cycle", 1.0, MANY),
    ("delay_ms", 0.0, LONGEST_MS),
    ("queues", 1.0, 64.0),
    ("scope.max_hops", 0.0, 65_535.0),
    ("scope.max_redirects", 0.0, 255.0),
    ("scope.max_path_segments", 1.0, 100_000.0),
    ("scope.max_repeated_segments", 1.0, 100_000.0),
    ("scope.max_url_bytes", 16.0, 65_536.0),
];

fn limit(key: &str) -> Option<&'static Limit> {
    CONFIG.iter().chain(SITE).find(|limit| limit.0 == key)
}

/// What to write for the number of this key: `use 1 or more`.
pub(super) fn allowed(key: &str) -> Option<String> {
    let (_, least, most) = *limit(key)?;
    Some(if key == OPEN {
        format!("use more than {least} and less than {most}")
    } else if most >= MANY.min(LONGEST_MS) {
        format!("use {least} or more")
    } else {
        format!("use a number from {least} to {most}")
    })
}

/// Whether the number of this key may be below zero.
fn may_be_negative(key: &str) -> bool {
    limit(key).is_some_and(|limit| limit.1 < 0.0)
}

/// Key and value of every number that cannot be used.
pub(super) fn unusable(settings: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk("", settings, &mut |key, value| {
        let (number, text) = match value {
            Value::Integer(number) => (*number as f64, number.to_string()),
            Value::Float(number) => (*number, shortest(*number)),
            _ => return,
        };
        let Some(&(_, least, most)) = limit(key) else {
            return;
        };
        // `nan` is inside of nothing.
        let is_inside = (least..=most).contains(&number);
        if !is_inside || (key == OPEN && (number <= least || number >= most)) {
            found.push((key.to_owned(), text));
        }
    });
    found
}

/// A number as it was written, also one that is kept in fewer digits.
fn shortest(number: f64) -> String {
    let short = number as f32;
    if f64::from(short) == number {
        short.to_string()
    } else {
        number.to_string()
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
    CONFIG.iter().chain(SITE).map(|limit| limit.0)
}

/// Units of time, in milliseconds.
const TIMES: &[(&str, f64)] = &[
    ("ms", 1.0),
    ("s", 1_000.0),
    ("min", 60_000.0),
    ("m", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
    ("w", 604_800_000.0),
];
/// Units of size, in bytes.
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// What the end of a key says of its number: the units that may be written, how many of the smallest make one of the key's,
/// and an example.
type Measure = (
    &'static str,
    &'static [(&'static str, f64)],
    f64,
    &'static str,
);
const MEASURES: &[Measure] = &[
    ("_ms", TIMES, 1.0, "\"90s\", \"6h\" or \"7d\""),
    ("_minutes", TIMES, 60_000.0, "\"8h\""),
    ("_days", TIMES, 86_400_000.0, "\"90d\" or \"4w\""),
    ("_bytes", SIZES, 1.0, "\"4 MiB\" or \"2 GB\""),
    ("_mb", SIZES, 1_048_576.0, "\"256 MiB\""),
];

/// The text with numbers for all values that have a unit.
pub(super) fn resolved(text: &str) -> String {
    let mut resolved = text.to_owned();
    let mut values = entries(text).unwrap_or_default();
    values.sort_by_key(|entry| std::cmp::Reverse(entry.value.start));
    for entry in values {
        if is_dropped(&entry.key) {
            leave_out(&mut resolved, &entry);
            continue;
        }
        let written = text.get(entry.value.clone()).unwrap_or_default();
        let value = DeValue::parse(written).ok();
        let string = value.as_ref().and_then(|v| v.get_ref().as_str());
        if let Some(number) = string.and_then(|string| number(&entry.key, string)) {
            resolved.replace_range(entry.value, &number.to_string());
        }
    }
    resolved
}

/// The end of a message about a wrong number: which units may be written.
pub(super) fn hint(key: &str) -> String {
    measure(key).map_or(String::new(), |(.., example)| {
        format!(", or with its unit in \"quotes\" like {example}")
    })
}

/// The number of the key's own unit that `text` means; it must come out whole. What may be below zero, an offset from UTC,
/// may have a sign.
fn number(key: &str, text: &str) -> Option<i64> {
    let (_, units, whole, _) = measure(key)?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(above) if may_be_negative(key) => (-1, above),
        _ => (1, text),
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (amount, unit) = text.split_at_checked(end)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    let value = amount.parse::<f64>().ok()? * factor / whole;
    // Beyond 2^53 not every whole number can be told from its neighbours.
    (value.fract() == 0.0 && value < 9e15).then_some(sign * value as i64)
}

fn measure(key: &str) -> Option<&'static Measure> {
    allowed(key)?;
    MEASURES.iter().find(|(end, ..)| key.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, read::site_defaults};

    #[test]
    fn limits_cover_all_numbers() {
        for (settings, limits) in [
            (Table::try_from(Config::default()).unwrap(), CONFIG),
            (site_defaults(), SITE),
        ] {
            assert_eq!(unusable(&settings), []);
            let mut numbers = Vec::new();
            walk("", &settings, &mut |key, value| {
                if value.is_integer() || value.is_float() {
                    numbers.push(key.to_owned());
                }
            });
            for key in &numbers {
                assert!(limits.iter().any(|l| l.0 == key), "{key} has no limits");
            }
            for limit in limits {
                assert!(numbers.iter().any(|k| k == limit.0), "{}", limit.0);
            }
        }
    }

    #[test]
    fn limits_report_values_outside() {
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
    }

    #[test]
    fn units_resolve_to_numbers() {
        let text = "[crawl] # \"6h\"\npass_patience_ms = \"4s\"\nmin_free_bytes = \"1.5 GiB\"\n\n[documents]\n\
                    keep_versions_days = '4w'\n[index]\nmemory_mb = \"256 MiB\"\nutc_offset_minutes = \"8h\"\n\
                    [fetch]\nuser_agent = \"6h\"\nhosts = { \"a\" = \"6h\" }\n[revisit]\nmin_ms = \"6 years\"\nmax_ms = 5\n";
        let wanted = "[crawl] # \"6h\"\npass_patience_ms = 4000\nmin_free_bytes = 1610612736\n\n[documents]\n\
                      keep_versions_days = 28\n[index]\nmemory_mb = 256\nutc_offset_minutes = 480\n\
                      [fetch]\nuser_agent = \"6h\"\nhosts = { \"a\" = \"6h\" }\n[revisit]\nmin_ms = \"6 years\"\nmax_ms = 5\n";
        assert_eq!(resolved(text), wanted);
        assert_eq!(number("index.utc_offset_minutes", "-5h"), Some(-300));
        assert_eq!(resolved("delay_ms = \"2s\"\n"), "delay_ms = 2000\n");
        for (key, wrong) in [
            ("documents.keep_versions_days", "36h"),
            ("crawl.pass_patience_ms", "4 MiB"),
            ("crawl.pass_patience_ms", "-4s"),
            ("index.utc_offset_minutes", "--5h"),
            ("crawl.min_free_bytes", "2 gb"),
            ("crawl.min_free_bytes", "99999999 TiB"),
            ("crawl.min_free_percent", "5s"),
            ("crawl.pass_patience_ms", "油"),
        ] {
            assert_eq!(number(key, wrong), None, "{key} = {wrong}");
        }
    }

    #[test]
    fn units_cover_times_and_sizes() {
        const AMOUNTS: [&str; 10] = [
            "ms", "seconds", "minutes", "hours", "days", "bytes", "kb", "mb", "gb", "ttl",
        ];
        for key in keys() {
            let is_amount = key.split(['_', '.']).any(|word| AMOUNTS.contains(&word));
            assert_eq!(measure(key).is_some(), is_amount, "{key}");
        }
    }
}
