//! Parses robots.txt (RFC 9309). [`Robots`] decides for a URL whether it may be fetched, and by which rule of which
//! line. Never fetches anything and never fails: what is not a rule is skipped.
//!
//! Groups, the longest match, the forgiven typos and the cut of long lines follow google/robotstxt, the reference
//! of RFC 9309. It is written here since the crates for it do not say on which line the deciding rule stands, and
//! an operator who asks why a page is refused needs just that. Matching takes time linear in path and pattern.
//!
//! There are two ways to ask. [`Robots::decide_written`] compares escapes as they are written, as the reference
//! does. [`Robots::decide`] takes an address in canonical form and brings the patterns into the same form first
//! (RFC 9309 §2.2.2), so that `%7E` in a file meets `~` in an address.
//!
//! The parser returns the rules of the groups for our agent in the order of the file, with their line numbers.
//!
//! As sloppy as google/robotstxt: any line end, missing colons, frequent typos, keys with something behind them.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taojin_uri::{self as uri, CrawlUri};

/// What a robots.txt says to one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Robots {
    /// Rules with their escapes as written, the one that wins first.
    written: Vec<Rule>,
    /// The same with canonical escapes, if that makes any difference.
    canonical: Option<Vec<Rule>>,
    /// The named group's delay, else that of `*`, in milliseconds.
    crawl_delay_ms: Option<i64>,
    sitemaps: Vec<String>,
}

impl Robots {
    /// Reads a file for the agent of this product token; a file over [`MAX_ROBOTS_BYTES`](super::MAX_ROBOTS_BYTES) up to the last whole line
    /// before the limit.
    pub fn parse(bytes: &[u8], agent: &str) -> Self {
        let group = read(bytes, agent);
        let written = sorted(group.rules);
        let canonical: Vec<Rule> = written.iter().map(canonical).collect();
        Robots {
            canonical: (canonical != written).then(|| sorted(canonical)),
            written,
            crawl_delay_ms: group.crawl_delay_ms,
            sitemaps: group.sitemaps,
        }
    }

    /// Whether the page may be fetched, `Ok`, or not, `Err`; with the rule that decided, if any matched.
    pub fn decide(&self, uri: &CrawlUri) -> Result<Option<&Rule>, &Rule> {
        // in an address these two are plain characters, in a pattern they are not
        let path = uri.path_and_query().replace('*', "%2A").replace('$', "%24");
        decide(self.canonical.as_ref().unwrap_or(&self.written), &path)
    }

    /// The same for a URL taken as it is written, not brought into any form.
    pub fn decide_written(&self, url: &str) -> Result<Option<&Rule>, &Rule> {
        decide(&self.written, &path_of(url))
    }

    /// The delay asked for between two fetches, in milliseconds.
    pub fn crawl_delay_ms(&self) -> Option<i64> {
        self.crawl_delay_ms
    }

    /// The sitemaps named in the file at `base`, those that can be crawled, each once, in order.
    pub fn sitemaps(&self, base: &CrawlUri) -> Vec<CrawlUri> {
        let mut found = Vec::new();
        for text in &self.sitemaps {
            if let Ok(uri) = base.join(text)
                && !found.contains(&uri)
            {
                found.push(uri);
            }
        }
        found
    }

    /// About how much memory it holds, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let rules = self.written.iter().chain(self.canonical.iter().flatten());
        let rules: usize = rules.map(|r| size_of::<Rule>() + r.pattern.len()).sum();
        rules + self.sitemaps.iter().map(|s| s.len() + 24).sum::<usize>()
    }
}

/// The first of the rules, sorted so that the winner stands first, which matches the path.
fn decide<'r>(rules: &'r [Rule], path: &str) -> Result<Option<&'r Rule>, &'r Rule> {
    match rules.iter().find(|rule| matches(&rule.pattern, path)) {
        Some(rule) if !rule.allow => Err(rule),
        rule => Ok(rule),
    }
}

/// Whether the pattern matches a prefix of the path, or all of it if the pattern ends in `$`. The pieces between
/// wildcards are searched for from left to right, each at its first place, which leaves the most for those after it.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return !anchored || rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    if anchored {
        rest.ends_with(last)
    } else {
        rest.contains(last)
    }
}

/// Path, parameters and query of a URL that may be anything at all, as the reference takes them.
fn path_of(url: &str) -> String {
    let from = |start: usize, set: &[char]| {
        let rest = url.get(start..).unwrap_or_default();
        rest.find(set).map(|at| start + at)
    };
    let start = if url.starts_with("//") { 2 } else { 0 };
    let early_path = from(start, &['/', '?', ';']).unwrap_or(usize::MAX);
    let scheme_end = url.get(start..).and_then(|rest| rest.find("://"));
    let host = match scheme_end.map(|at| start + at) {
        Some(end) if early_path >= end => end + 3,
        _ => start,
    };
    let Some(path_start) = from(host, &['/', '?', ';']) else {
        return "/".to_owned();
    };
    let end = from(start, &['#']).unwrap_or(url.len());
    match url.get(path_start..end) {
        None => "/".to_owned(),
        Some(path) if path.starts_with('/') => path.to_owned(),
        Some(path) => format!("/{path}"),
    }
}

/// The longest pattern first; of equal ones allow before disallow; then by line. Doubles go.
fn sorted(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.sort_by(|a, b| {
        let rank = |r: &Rule| (Reverse(r.pattern.len()), Reverse(r.allow));
        rank(a)
            .cmp(&rank(b))
            .then_with(|| a.pattern.cmp(&b.pattern))
            .then_with(|| a.line.cmp(&b.line))
    });
    rules.dedup_by(|b, a| a.allow == b.allow && a.pattern == b.pattern);
    rules
}

/// The rule with the escapes of canonical addresses; `*` stays a wildcard, a final `$` an anchor, and both become
/// escapes where they are meant literally.
fn canonical(rule: &Rule) -> Rule {
    let (body, anchor) = match rule.pattern.strip_suffix('$') {
        Some(body) => (body, "$"),
        None => (rule.pattern.as_str(), ""),
    };
    let pieces = body
        .split('*')
        .map(|p| uri::normalize_escapes(p).replace('$', "%24"));
    let pattern = pieces.collect::<Vec<_>>().join("*") + anchor;
    Rule {
        pattern,
        ..rule.clone()
    }
}

/// How much of a file is read, bytes (RFC 9309 §2.5: at least 500 KiB).
pub const MAX_ROBOTS_BYTES: usize = 500 << 10;

/// The reference cuts lines at eight times the longest URL of old browsers, less the final zero.
const MAX_LINE_BYTES: usize = 2083 * 8 - 1;

/// No site needs more entry points to its sitemaps.
const MAX_SITEMAPS: usize = 1000;

/// A crawl delay of more than a day is a way to say no, or a mistake; the frontier clamps further.
const MAX_CRAWL_DELAY_MS: i64 = 24 * 3_600_000;

/// One rule, as far as it concerns our agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Allow or Disallow.
    pub allow: bool,
    /// The pattern with `*` and `$`, everything outside ASCII percent-encoded.
    pub pattern: String,
    /// The line of the file where it stands, from 1.
    pub line: u32,
}

/// What concerns our agent.
pub(super) struct RobotsGroup {
    pub(super) rules: Vec<Rule>,
    pub(super) crawl_delay_ms: Option<i64>,
    pub(super) sitemaps: Vec<String>,
}

/// Reads the rules for the agent of this product token.
pub(super) fn read(bytes: &[u8], agent: &str) -> RobotsGroup {
    let utf8 = utf16_to_utf8(bytes);
    let bytes = utf8.as_deref().map_or(bytes, str::as_bytes);
    let mut reader = RobotsReader::new(agent);
    for (number, line) in lines(bounded(without_bom(bytes))) {
        if let Some((key, value)) = key_and_value(line) {
            reader.read(Key::new(key), value, number);
        }
    }
    reader.finish()
}

fn utf16_to_utf8(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.get(..2 * MAX_ROBOTS_BYTES).unwrap_or(bytes);
    match bytes {
        [0xFF, 0xFE, ..] => Some(encoding_rs::UTF_16LE.decode(bytes).0.into_owned()),
        [0xFE, 0xFF, ..] => Some(encoding_rs::UTF_16BE.decode(bytes).0.into_owned()),
        _ => None,
    }
}

/// Skips a byte order mark, or the beginning of one, as the reference does.
fn without_bom(mut bytes: &[u8]) -> &[u8] {
    for mark in [0xEF, 0xBB, 0xBF] {
        match bytes.split_first() {
            Some((&first, rest)) if first == mark => bytes = rest,
            _ => break,
        }
    }
    bytes
}

/// A rule cut short would mean more than it says: the last line before the limit goes with the rest.
fn bounded(bytes: &[u8]) -> &[u8] {
    let Some(head) = bytes.get(..MAX_ROBOTS_BYTES) else {
        return bytes;
    };
    let end = head.iter().rposition(|b| matches!(b, b'\n' | b'\r'));
    head.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Lines by LF, CR or CRLF with their numbers, cut to the longest that is read.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut previous = 0;
    let mut number = 0;
    bytes
        .split_inclusive(|b| matches!(b, b'\n' | b'\r'))
        .filter_map(move |line| {
            let is_second_half = line == b"\n" && previous == b'\r';
            previous = line.last().copied().unwrap_or_default();
            if is_second_half {
                return None;
            }
            number += 1;
            Some((number, line.get(..MAX_LINE_BYTES).unwrap_or(line)))
        })
}

/// `key: value` with comment and white space removed; without a colon, two words.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line
        .split(|b| matches!(b, b'#' | 0))
        .next()
        .unwrap_or_default();
    let line = trim(line);
    if let Some(colon) = line.iter().position(|&b| b == b':') {
        let (key, value) = line.split_at(colon);
        return Some((trim(key), trim(value.get(1..).unwrap_or_default())));
    }
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let (key, value) = line.split_at(line.iter().position(blank)?);
    let value = trim(value);
    // three words are prose
    (!value.iter().any(blank)).then_some((key, value))
}

/// Without the white space of C at both ends: what `trim_ascii` takes, and the vertical tab.
fn trim(mut text: &[u8]) -> &[u8] {
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0B;
    while let Some((first, rest)) = text.split_first()
        && blank(first)
    {
        text = rest;
    }
    while let Some((last, rest)) = text.split_last()
        && blank(last)
    {
        text = rest;
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
    Other,
}

/// How a key may start, the frequent typos included.
const KEYS: &[(&str, Key)] = &[
    ("user-agent", Key::UserAgent),
    ("useragent", Key::UserAgent),
    ("user agent", Key::UserAgent),
    ("allow", Key::Allow),
    ("disallow", Key::Disallow),
    ("dissallow", Key::Disallow),
    ("dissalow", Key::Disallow),
    ("disalow", Key::Disallow),
    ("diasllow", Key::Disallow),
    ("disallaw", Key::Disallow),
    ("sitemap", Key::Sitemap),
    ("site-map", Key::Sitemap),
    ("crawl-delay", Key::CrawlDelay),
    ("crawldelay", Key::CrawlDelay),
    ("crawl delay", Key::CrawlDelay),
];

impl Key {
    fn new(text: &[u8]) -> Self {
        let starts = |word: &str| {
            let head = text.get(..word.len());
            head.is_some_and(|h| h.eq_ignore_ascii_case(word.as_bytes()))
        };
        let found = KEYS.iter().find(|(word, _)| starts(word));
        found.map_or(Key::Other, |&(_, key)| key)
    }
}

/// What the groups for one kind of agent (ours by name, or all) say.
#[derive(Default)]
struct Group {
    /// The lines read now belong to it.
    open: bool,
    seen: bool,
    rules: Vec<Rule>,
    crawl_delay_ms: Option<i64>,
}

struct RobotsReader<'a> {
    agent: &'a str,
    named: Group,
    all: Group,
    /// A rule came after the last user-agent line: the next one starts a new group.
    in_rules: bool,
    sitemaps: Vec<String>,
}

impl<'a> RobotsReader<'a> {
    fn new(agent: &'a str) -> Self {
        Self {
            agent,
            named: Group::default(),
            all: Group::default(),
            in_rules: false,
            sitemaps: Vec::new(),
        }
    }

    fn read(&mut self, key: Key, value: &[u8], line: u32) {
        match key {
            Key::UserAgent => self.user_agent(value),
            Key::Allow | Key::Disallow => self.rule(key == Key::Allow, value, line),
            Key::CrawlDelay => self.crawl_delay(value),
            Key::Sitemap if self.sitemaps.len() < MAX_SITEMAPS => {
                self.sitemaps
                    .push(String::from_utf8_lossy(value).into_owned());
            }
            Key::Sitemap | Key::Other => {}
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        if self.in_rules {
            self.in_rules = false;
            self.named.open = false;
            self.all.open = false;
        }
        if let [b'*'] | [b'*', b' ' | b'\t' | 0x0B | 0x0C, ..] = value {
            self.all.open = true;
            self.all.seen = true;
            return;
        }
        let in_token = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_');
        let end = value
            .iter()
            .position(|b| !in_token(b))
            .unwrap_or(value.len());
        let token = value.get(..end).unwrap_or_default();
        if token.eq_ignore_ascii_case(self.agent.as_bytes()) {
            self.named.open = true;
            self.named.seen = true;
        }
    }

    /// The group that the present lines count for: by name goes before all.
    fn open_group(&mut self) -> Option<&mut Group> {
        match (self.named.open, self.all.open) {
            (true, _) => Some(&mut self.named),
            (false, true) => Some(&mut self.all),
            (false, false) => None,
        }
    }

    fn rule(&mut self, allow: bool, value: &[u8], line: u32) {
        let Some(group) = self.open_group() else {
            return;
        };
        // an empty rule says nothing, but it is one: the next user-agent line starts a new group
        if !value.is_empty() {
            let pattern = escaped(value);
            if allow && let Some(folder) = index_folder(&pattern) {
                group.rules.push(Rule {
                    allow,
                    pattern: folder,
                    line,
                });
            }
            group.rules.push(Rule {
                allow,
                pattern,
                line,
            });
        }
        self.in_rules = true;
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        let number = |b: &u8| b.is_ascii_digit() || *b == b'.';
        let end = value.iter().position(|b| !number(b)).unwrap_or(value.len());
        let text = value.get(..end).and_then(|v| std::str::from_utf8(v).ok());
        let Some(seconds) = text.and_then(|t| t.parse::<f64>().ok()) else {
            return;
        };
        if let Some(group) = self.open_group() {
            // a cast of too large a number saturates
            let delay_ms = ((seconds * 1000.0) as i64).min(MAX_CRAWL_DELAY_MS);
            group.crawl_delay_ms = group.crawl_delay_ms.max(Some(delay_ms));
        }
    }

    fn finish(self) -> RobotsGroup {
        let group = if self.named.seen {
            self.named
        } else {
            self.all
        };
        RobotsGroup {
            rules: group.rules,
            crawl_delay_ms: group.crawl_delay_ms,
            sitemaps: self.sitemaps,
        }
    }
}

/// A pattern in ASCII: hex digits of escapes in upper case, other bytes than ASCII escaped.
fn escaped(value: &[u8]) -> String {
    let mut pattern = String::with_capacity(value.len());
    let mut escape_left = 0;
    for (i, &b) in value.iter().enumerate() {
        if b == b'%' && escape_left == 0 {
            let digits = value.get(i + 1..i + 3).unwrap_or_default();
            if digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit) {
                escape_left = 3;
            }
        }
        if b.is_ascii() {
            let c = if escape_left > 0 {
                b.to_ascii_uppercase()
            } else {
                b
            };
            pattern.push(char::from(c));
        } else {
            pattern.push_str(&format!("%{b:02X}"));
        }
        escape_left = escape_left.max(1) - 1;
    }
    pattern
}

/// `/a/index.html` allowed allows `/a/` as well: the pattern of that.
fn index_folder(pattern: &str) -> Option<String> {
    let (folder, file) = pattern.rsplit_once('/')?;
    file.starts_with("index.htm").then(|| format!("{folder}/$"))
}
