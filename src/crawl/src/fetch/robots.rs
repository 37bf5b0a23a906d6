//! robots.txt (RFC 9309). In: the bytes of a file and the name of our agent. Out: [`Robots`], which tells for a URL
//! whether it may be fetched, and by which rule of which line. Never fetches anything, never fails: what is not a
//! rule is skipped.
//!
//! Groups, the longest match, the forgiven typos and the cut of long lines follow google/robotstxt, the reference
//! of RFC 9309. It is written here since the crates for it do not say on which line the deciding rule stands, and
//! an operator who asks why a page is refused needs just that. Matching takes time linear in path and pattern.
//!
//! There are two ways to ask. [`Robots::decide_written`] compares escapes as they are written, as the reference
//! does. [`Robots::decide`] takes an address in canonical form and brings the patterns into the same form first
//! (RFC 9309 §2.2.2), so that `%7E` in a file meets `~` in an address.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::robots_reader::{self, Rule};
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
        let group = robots_reader::read(bytes, agent);
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
/// wildcards are looked for from left to right, each at its first place, which leaves the most for those after it.
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
    match anchored {
        true => rest.ends_with(last),
        false => rest.contains(last),
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
        .map(|p| uri::canonical_escapes(p).replace('$', "%24"));
    let pattern = pieces.collect::<Vec<_>>().join("*") + anchor;
    Rule {
        pattern,
        ..rule.clone()
    }
}
