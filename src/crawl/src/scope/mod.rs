//! Decides whether a URL belongs to a site, and names the rule that refused it. Pure: safe to call from any task.
//!
//! It also recognises URLs that a program invents without end (calendars, sessions, paths that repeat themselves) by
//! the form of the one URL; the frontier's detector of traps remembers others. [`Takedowns`] are the URLs that the operator has
//! taken down, whatever the scope says.
//!
//! The frontier checks links and leases by it, the gate ([`crate::fetch::Gate`]) every request.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use chrono::Datelike as _;
use regex::Regex;
use taojin_uri::{CrawlUri, registrable_domain};
use url::form_urlencoded;

use crate::schedule::Site;
use crate::store::{UrlClass, UrlRecord};

/// Longest query in bytes.
const MAX_QUERY: usize = 512;
/// Most parameters of a query.
const MAX_PARAMETERS: usize = 16;

words! {
/// The rule that refused a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Its host belongs to no pattern of `hosts`.
    Host => "refused.host" "主机不属于任何站点",
    /// A pattern of `exclude` matches.
    Excluded => "refused.excluded" "被站点的抓取范围排除",
    /// No pattern of `include` matches.
    NotIncluded => "refused.not_included" "不在站点的抓取范围内",
    /// Too many links from a seed.
    Hops => "refused.hops" "离种子网址的链接层数过多",
    /// Too many redirects in a row.
    Redirects => "refused.redirects" "跳转次数过多",
    /// Too many path segments.
    PathSegments => "refused.path_segments" "路径太深",
    /// A path segment repeats itself.
    RepeatedSegments => "refused.repeated_segments" "路径重复",
    /// The address is too long.
    Length => "refused.length" "网址太长",
    /// The query is too long or repeats its keys.
    Query => "refused.query" "查询参数不断增长",
    /// A calendar that leads away from the present.
    Calendar => "refused.calendar" "日历没有尽头",
    /// Addresses of this form lead to pages that hardly differ.
    Alike => "refused.alike" "大量几乎相同的页面",
    /// The site is not among those that are crawled.
    UnknownSite => "refused.unknown_site" "站点不在抓取之列",
    /// The operator has taken it down.
    TakenDown => "refused.taken_down" "已被管理员撤下",
    /// Its site has as many addresses as it may have.
    SiteFull => "refused.site_full" "站点的网址数已满",
    /// Its site has attachments on as many hosts as it may have.
    FileHosts => "refused.file_hosts" "站点的附件主机数已满",
}
}

impl Refusal {
    /// In words, for a person, with the setting that refuses.
    pub fn describe(self) -> String {
        self.with_setting().0
    }

    /// The same for a person who reads Chinese.
    pub fn describe_in_chinese(self) -> String {
        self.with_setting().1
    }

    fn with_setting(self) -> (String, String) {
        let (english, chinese) = (self.in_english(), self.in_chinese());
        match self.setting() {
            Some(setting) => self.describe_with(setting, setting),
            None => (english.to_owned(), chinese.to_owned()),
        }
    }

    /// In English and in Chinese, with what a caller knows of the setting that refuses.
    pub fn describe_with(self, english: &str, chinese: &str) -> (String, String) {
        (
            format!("{} ({english})", self.in_english()),
            format!("{}（{chinese}）", self.in_chinese()),
        )
    }

    fn in_english(self) -> &'static str {
        match self {
            Refusal::Host => "host of no site",
            Refusal::Excluded => "excluded by the site's scope",
            Refusal::NotIncluded => "not included in the site's scope",
            Refusal::Hops => "too many links from a seed",
            Refusal::Redirects => "too many redirects",
            Refusal::PathSegments => "path too deep",
            Refusal::RepeatedSegments => "path repeats itself",
            Refusal::Length => "address too long",
            Refusal::Query => "query grows without end",
            Refusal::Calendar => "calendar without end",
            Refusal::Alike => "many pages that hardly differ",
            Refusal::UnknownSite => "site is not crawled",
            Refusal::TakenDown => "taken down by the operator",
            Refusal::SiteFull => "the site has all the addresses it may have",
            Refusal::FileHosts => "the site has attachments on all the hosts it may have",
        }
    }

    /// The setting that refuses, if it is one: `scope.…` stands in the file of the site, others in that of the program.
    pub fn setting(self) -> Option<&'static str> {
        Some(match self {
            Refusal::Host => "scope.hosts",
            Refusal::Excluded => "scope.exclude",
            Refusal::NotIncluded => "scope.include",
            Refusal::Hops => "scope.max_hops",
            Refusal::Redirects => "scope.max_redirects",
            Refusal::PathSegments => "scope.max_path_segments",
            Refusal::RepeatedSegments => "scope.max_repeated_segments",
            Refusal::Length => "scope.max_url_bytes",
            Refusal::SiteFull => "frontier.max_urls_per_site",
            Refusal::Query
            | Refusal::Calendar
            | Refusal::Alike
            | Refusal::UnknownSite
            | Refusal::TakenDown
            | Refusal::FileHosts => return None,
        })
    }
}

/// A pattern of the scope that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("site {site}: pattern {pattern:?} cannot be used: {reason}")]
pub struct ScopeError {
    /// The site.
    pub site: String,
    /// The pattern as written.
    pub pattern: String,
    /// What is wrong.
    pub reason: String,
}

/// The rules of a site, ready to be asked.
#[derive(Debug, Clone)]
pub struct Scope {
    rules: Site,
    hosts: Vec<String>,
    include: Patterns,
    exclude: Patterns,
}

/// Patterns of paths: prefixes, globs and regular expressions.
#[derive(Debug, Clone, Default)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Compiles them; an error names the pattern and what is wrong with it.
    pub fn new(texts: &[String]) -> Result<Self, (String, String)> {
        let compile = |text: &String| pattern(text).map_err(|reason| (text.clone(), reason));
        Ok(Self(texts.iter().map(compile).collect::<Result<_, _>>()?))
    }

    /// Whether one of them matches the path and query of an address.
    pub fn match_any(&self, uri: &CrawlUri) -> bool {
        let target = uri.path_and_query();
        self.0.iter().any(|pattern| pattern.matches(target))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Debug, Clone)]
enum Pattern {
    Prefix(String),
    Regex(Regex),
}

/// How a URL was reached, which decides by what rules of the scope it belongs to its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A page, list, feed or sitemap.
    Page {
        /// Links followed from a seed; 0 for a seed.
        hops: u16,
        /// Redirects followed to come here.
        redirects: u8,
    },
    /// A file that a page of the site offers.
    Attachment {
        /// Redirects followed to come here.
        redirects: u8,
    },
}

impl Reach {
    /// What is known of a URL of this class, so many links and redirects from a seed. A seed counts as such whatever led to it.
    pub fn new(class: UrlClass, hops: u16, redirects: u8) -> Self {
        match class {
            UrlClass::Attachment => Reach::Attachment { redirects },
            UrlClass::Seed => Reach::Page { hops: 0, redirects },
            _ => Reach::Page { hops, redirects },
        }
    }
}

impl From<&UrlRecord> for Reach {
    fn from(record: &UrlRecord) -> Self {
        Self::new(record.visit.class, record.hops, record.redirects)
    }
}

impl Scope {
    /// The rules of a site's settings, with its patterns compiled.
    pub fn new(rules: &Site) -> Result<Self, ScopeError> {
        let compile = |texts: &[String]| {
            Patterns::new(texts).map_err(|(pattern, reason)| ScopeError {
                site: rules.name.clone(),
                pattern,
                reason,
            })
        };
        Ok(Scope {
            include: compile(&rules.scope.include)?,
            exclude: compile(&rules.scope.exclude)?,
            hosts: rules.hosts(),
            rules: rules.clone(),
        })
    }

    /// The settings as given.
    pub fn rules(&self) -> &Site {
        &self.rules
    }

    /// Whether the URL belongs to the site, `hops` links and `redirects` redirects from a seed. The present time tells a
    /// calendar of this year from one without an end; a seed needs none.
    pub fn check(
        &self,
        uri: &CrawlUri,
        hops: u16,
        redirects: u8,
        now_ms: i64,
    ) -> Result<(), Refusal> {
        let rules = &self.rules.scope;
        // Seeds are what the operator named: they need no pattern.
        let is_seed = hops == 0;
        let is_included = || is_seed || self.include.is_empty() || self.include.match_any(uri);
        let query = uri.query().map_or(0, str::len);
        let refusal = if !self.has_authority(uri.authority()) {
            Refusal::Host
        } else if uri.as_str().len() > rules.max_url_bytes {
            Refusal::Length
        } else if hops > rules.max_hops {
            Refusal::Hops
        } else if redirects > rules.max_redirects {
            Refusal::Redirects
        } else if self.is_excluded(uri) {
            Refusal::Excluded
        } else if !is_included() {
            Refusal::NotIncluded
        } else if is_seed {
            return Ok(());
        } else if path_segments(uri) > rules.max_path_segments {
            Refusal::PathSegments
        } else if repeated_segments(uri, rules.max_repeated_segments) {
            Refusal::RepeatedSegments
        } else if query > MAX_QUERY || growing_query(uri, MAX_PARAMETERS) {
            Refusal::Query
        } else if calendar(uri, now_ms) {
            Refusal::Calendar
        } else {
            return Ok(());
        };
        Err(refusal)
    }

    /// Whether a URL that was reached so belongs to the site: [`Scope::check_attachment`] for a file, [`Scope::check`] for the others.
    pub fn check_reach(&self, uri: &CrawlUri, reach: Reach, now_ms: i64) -> Result<(), Refusal> {
        match reach {
            Reach::Page { hops, redirects } => self.check(uri, hops, redirects, now_ms),
            Reach::Attachment { redirects } => self.check_attachment(uri, redirects),
        }
    }

    /// Whether an attachment that a page of the site offers belongs to it. The page is what the patterns of `include` are for, and
    /// files often lie on a host of their own: any of the registrable domains of the site's hosts will do.
    pub fn check_attachment(&self, uri: &CrawlUri, redirects: u8) -> Result<(), Refusal> {
        let rules = &self.rules.scope;
        if !self.has_authority(uri.authority()) && !self.has_files_at(uri.authority()) {
            Err(Refusal::Host)
        } else if uri.as_str().len() > rules.max_url_bytes {
            Err(Refusal::Length)
        } else if redirects > rules.max_redirects {
            Err(Refusal::Redirects)
        } else if self.is_excluded(uri) {
            Err(Refusal::Excluded)
        } else {
            Ok(())
        }
    }

    /// Whether attachments of the site may lie on a host, `host` or `host:port`: one of a registrable domain of the site's hosts.
    pub fn has_files_at(&self, authority: &str) -> bool {
        fn domain(host: &str) -> Option<&str> {
            registrable_domain(host.split(':').next().unwrap_or_default())
        }
        let of_file = domain(authority);
        let is_near = |host: &String| domain(host.strip_prefix("*.").unwrap_or(host)) == of_file;
        of_file.is_some() && self.hosts.iter().any(is_near)
    }

    /// Whether a pattern of `exclude` matches the path and query of a URL.
    pub fn is_excluded(&self, uri: &CrawlUri) -> bool {
        self.exclude.match_any(uri)
    }

    /// The first pattern of `exclude` that matches, as it is written.
    pub fn excluding_pattern(&self, uri: &CrawlUri) -> Option<&str> {
        let matches = |pattern: &Pattern| pattern.matches(uri.path_and_query());
        let at = self.exclude.0.iter().position(matches)?;
        self.rules.scope.exclude.get(at).map(String::as_str)
    }

    /// Whether a host, `host` or `host:port`, is one of the site's.
    pub fn has_authority(&self, authority: &str) -> bool {
        let port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
        let host = authority.rsplit_once(':').filter(|(_, p)| port(p));
        let host = host.map_or(authority, |(host, _)| host);
        self.hosts
            .iter()
            .any(|allowed| match allowed.strip_prefix("*.") {
                Some(domain) => {
                    host == domain
                        || host
                            .strip_suffix(domain)
                            .is_some_and(|rest| rest.ends_with('.'))
                }
                None => allowed == authority || allowed == host,
            })
    }
}

/// The URLs that the operator has taken down. Clones share one set, so that frontier and gate refuse the same
/// from the same moment on.
#[derive(Debug, Clone, Default)]
pub struct Takedowns(Arc<RwLock<HashSet<String>>>);

impl Takedowns {
    /// Whether a URL was taken down.
    pub fn contains(&self, uri: &CrawlUri) -> bool {
        let set = self.0.read().unwrap_or_else(PoisonError::into_inner);
        !set.is_empty() && set.contains(uri.as_str())
    }

    /// Takes URLs down.
    pub fn add(&self, urls: impl IntoIterator<Item = String>) {
        self.edit(|set| set.extend(urls));
    }

    /// Lifts takedowns.
    pub fn lift<'a>(&self, urls: impl IntoIterator<Item = &'a str>) {
        self.edit(|set| {
            for url in urls {
                set.remove(url);
            }
        });
    }

    /// Replaces the whole set. Whether a takedown was lifted by it.
    pub fn replace(&self, urls: impl IntoIterator<Item = String>) -> bool {
        let now: HashSet<String> = urls.into_iter().collect();
        self.edit(|set| {
            let is_lifted = set.iter().any(|url| !now.contains(url));
            *set = now;
            is_lifted
        })
    }

    fn edit<T>(&self, change: impl FnOnce(&mut HashSet<String>) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How many queues a host has, `host` or `host:port`: as many as the site asks for that asks for most, of those that it belongs to.
pub fn queues_of<'a>(scopes: impl Iterator<Item = &'a Scope>, authority: &str) -> u32 {
    let several = scopes
        .filter(|scope| scope.rules.queues > 1 && scope.has_authority(authority))
        .map(|scope| scope.rules.queues);
    several.max().unwrap_or(1)
}

impl Pattern {
    fn matches(&self, target: &str) -> bool {
        match self {
            Pattern::Prefix(prefix) => target.starts_with(prefix.as_str()),
            Pattern::Regex(regex) => regex.is_match(target),
        }
    }
}

/// Why a pattern of the scope cannot be used, in plain words.
pub fn pattern_problem(text: &str) -> Option<String> {
    pattern(text).err()
}

/// `~…` is a regular expression, a text with `*` a glob over path and query, anything else a prefix.
fn pattern(text: &str) -> Result<Pattern, String> {
    if let Some(expression) = text.strip_prefix('~') {
        return Regex::new(expression)
            .map(Pattern::Regex)
            .map_err(|e| reason(&e));
    }
    if !text.starts_with('/') && !text.starts_with('*') {
        return Err("a prefix or glob begins with /, a regular expression with ~".to_owned());
    }
    if !text.contains('*') {
        return Ok(Pattern::Prefix(text.to_owned()));
    }
    let mut expression = String::from("^");
    for (i, literal) in text.split('*').enumerate() {
        if i > 0 {
            expression.push_str(".*");
        }
        expression.push_str(&regex::escape(literal));
    }
    expression.push('$');
    Regex::new(&expression)
        .map(Pattern::Regex)
        .map_err(|e| reason(&e))
}

/// What is wrong with an expression, without the drawing that its parser makes.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    let short = last.trim().trim_start_matches("error: ");
    format!("this is no regular expression: {short}")
}

/// A calendar that shows a year before the web is walking away.
const FIRST_YEAR: i32 = 1990;
/// And so is one that shows a year so far ahead: plans and announcements seldom name one beyond.
const YEARS_AHEAD: i32 = 10;

/// Times that a segment may stand in a path beyond its first.
fn repeated_segments(uri: &CrawlUri, allowed: usize) -> bool {
    // Most paths are too short for it.
    if path_segments(uri) < allowed.saturating_add(2) {
        return false;
    }
    let mut sorted: Vec<&str> = uri.segments().collect();
    sorted.sort_unstable();
    let mut run = 0;
    sorted.windows(2).any(|pair| {
        run = if pair[0] == pair[1] { run + 1 } else { 0 };
        run > allowed
    })
}

/// Number of path segments that are not empty.
fn path_segments(uri: &CrawlUri) -> usize {
    let parts = uri.path().as_bytes().split(|b| *b == b'/');
    parts.filter(|part| !part.is_empty()).count()
}

/// A query that carries the same key again and again, or an address inside the address.
fn growing_query(uri: &CrawlUri, max_parameters: usize) -> bool {
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
fn calendar(uri: &CrawlUri, now_ms: i64) -> bool {
    let odd_year = |text: &str| is_odd_year(text, now_ms);
    let is_month = |part: &[u8]| {
        let month = str::from_utf8(part).ok().and_then(number);
        month.is_some_and(|m| (1..=12).contains(&m))
    };
    let mut year: &[u8] = b"";
    for part in uri.path().as_bytes().split(|b| *b == b'/') {
        // A year and a month.
        if is_month(part) && str::from_utf8(year).is_ok_and(odd_year) {
            return true;
        }
        year = part;
    }
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let named = ["year", "date", "month", "day", "y", "cal", "calendar"]
            .iter()
            .any(|name| key == *name || (name.len() > 3 && key.contains(name)));
        named && value.split(['-', '/', '.']).next().is_some_and(odd_year)
    })
}

/// Four digits, or eight as in 20261103, that begin with a year that pages are not from.
fn is_odd_year(text: &str, now_ms: i64) -> bool {
    if !(text.len() == 4 || text.len() == 6 || text.len() == 8) {
        return false;
    }
    let year = text
        .get(..4)
        .filter(|_| number(text).is_some())
        .and_then(number);
    year.is_some_and(|y| {
        let now = chrono::DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
        let years = FIRST_YEAR..=now.year() + YEARS_AHEAD;
        (1000..3000).contains(&y) && !i32::try_from(y).is_ok_and(|y| years.contains(&y))
    })
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}
