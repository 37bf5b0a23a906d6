//! Summarises the last cycle of a site in one sentence, in English and in Chinese.
//!
//! [`verdict`] makes a [`SiteVerdict`] of the site's counts, errors and settings; it is pure. The words are in
//! `verdict.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::summary::number;
use crate::config::Config;
use crate::daemon::crawl::sites;
use crate::serve::{Level, Precision, SiteVerdict, show_time};
use taojin_crawl::frontier::{
    self, BEYOND_HOPS, HOST_LIMITS, MAX_READING_MS, MAX_SKIPPED, OUT_OF_SCOPE, READING_LIMITS,
    Resting, SITE_FULL, SITE_LIMITS,
};
use taojin_crawl::schedule::Site;
use taojin_crawl::store::SiteCounts;
use taojin_crawl::{Failure, NoPage, Problem};

/// A share of failed visits above this is worth a look: one in twenty.
const FEW_PROBLEMS: u64 = 20;

/// What is known of the last cycle of a site.
#[derive(Debug, Clone, Default)]
pub(crate) struct SiteFacts {
    /// It was crawled at least once.
    pub(crate) has_begun: bool,
    /// Nothing of the cycle is left to do.
    pub(crate) is_over: bool,
    pub(crate) visits: VisitCounts,
    pub(crate) unvisited: UnvisitedCounts,
    pub(crate) limits: CycleLimits,
    /// Documents of the site, of all cycles.
    pub(crate) documents: u64,
    /// Address and reason of the last visit without a page.
    pub(crate) last_error: Option<String>,
    /// `host:port` of the first seed.
    pub(crate) start: String,
    /// When the host of the first seed is asked again, Unix milliseconds; `None` if it may be at once, or is not to be.
    pub(crate) next_try_ms: Option<i64>,
    /// The host that rests longest, if that is longer than a pass waits.
    pub(crate) resting: Option<Resting>,
    /// Minutes east of UTC of the times in the sentence.
    pub(crate) utc_offset_minutes: i32,
}

/// What the verdicts of all sites go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerdictTerms {
    /// What is not due within so many milliseconds belongs to no cycle.
    pub(crate) pass_patience_ms: u64,
    /// Minutes east of UTC where the readers are.
    pub(crate) utc_offset_minutes: i32,
}

impl VerdictTerms {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            pass_patience_ms: config.crawl.pass_patience_ms,
            utc_offset_minutes: config.index.utc_offset_minutes,
        }
    }
}

/// What the visits of a cycle brought.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitCounts {
    /// All of them, those refused before a request too.
    pub(crate) total: u64,
    /// Visits that were answered with a page, or that it has not changed.
    pub(crate) usable: u64,
    pub(crate) new_documents: u64,
    /// Visits that led to another address.
    pub(crate) redirects: u64,
    /// Visits that were answered with a page to sign in or to prove oneself at, or led to one.
    pub(crate) blocking_pages: u64,
    /// Pages with neither a text nor a link: a script would make them.
    pub(crate) blank_pages: u64,
    /// Seeds that did not come.
    pub(crate) entry_problems: u64,
    /// Visits without a page, by why.
    pub(crate) problems: BTreeMap<Problem, u64>,
}

impl VisitCounts {
    /// The counts of a cycle as the store has them.
    pub(crate) fn from_counts(counts: &SiteCounts) -> Self {
        let problem = |(name, count): (&String, &i64)| {
            let problem = Problem::parse(name.strip_prefix(sites::PROBLEM)?)?;
            Some((problem, u64::try_from(*count).unwrap_or_default()))
        };
        Self {
            total: number(counts, "cycle_visits"),
            usable: number(counts, sites::USABLE),
            new_documents: number(counts, "cycle_new"),
            redirects: number(counts, sites::REDIRECTS),
            blocking_pages: number(counts, sites::BLOCKING_PAGES),
            blank_pages: number(counts, sites::BLANK_PAGES),
            entry_problems: number(counts, sites::ENTRY_PROBLEMS),
            problems: counts.iter().filter_map(problem).collect(),
        }
    }
}

/// Addresses that a cycle has seen and not visited, and which limits it met.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnvisitedCounts {
    /// Known addresses that were never visited.
    pub(crate) left: u64,
    pub(crate) beyond_hops: u64,
    pub(crate) out_of_scope: u64,
    /// Sitemaps that were not read to their end.
    pub(crate) sitemaps_cut: u64,
    /// Lists that go on where no address leads, and pages of lists that did not come.
    pub(crate) lists_cut: u64,
    /// Addresses that were not taken up since the site is full. What is beyond [`MAX_SKIPPED`] is not counted.
    pub(crate) site_full: u64,
    /// Some of those left wait since the site has had its pages of this cycle.
    pub(crate) hit_site_limit: bool,
    /// The same of a host.
    pub(crate) hit_host_limit: bool,
    /// The same, since reading its attachments has taken all the time for that.
    pub(crate) hit_reading_limit: bool,
}

impl UnvisitedCounts {
    /// The counts of a site as the store has them.
    pub(crate) fn from_counts(counts: &SiteCounts) -> Self {
        Self {
            left: number(counts, "new"),
            beyond_hops: number(counts, BEYOND_HOPS),
            out_of_scope: number(counts, OUT_OF_SCOPE),
            sitemaps_cut: number(counts, sites::SITEMAPS_CUT),
            lists_cut: number(counts, sites::LISTS_CUT),
            site_full: number(counts, SITE_FULL),
            hit_site_limit: number(counts, SITE_LIMITS) > 0,
            hit_host_limit: number(counts, HOST_LIMITS) > 0,
            hit_reading_limit: number(counts, READING_LIMITS) > 0,
        }
    }
}

/// The settings that limit a cycle of a site, as the sentence quotes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CycleLimits {
    pub(crate) max_hops: u16,
    pub(crate) max_pages_per_cycle: Option<i64>,
    pub(crate) pages_per_host_per_cycle: i64,
    pub(crate) max_urls_per_site: i64,
    pub(crate) pass_patience_ms: u64,
}

impl CycleLimits {
    pub(crate) fn new(site: &Site, config: &frontier::Config, pass_patience_ms: u64) -> Self {
        Self {
            max_hops: site.scope.max_hops,
            max_pages_per_cycle: site.max_pages_per_cycle,
            pages_per_host_per_cycle: config.pages_per_host_per_cycle,
            max_urls_per_site: config.max_urls_per_site,
            pass_patience_ms,
        }
    }
}

/// Words in English and in Chinese.
type Words = [String; 2];

/// All words, by key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wording {
    sentence: BTreeMap<String, Words>,
    start: BTreeMap<String, Words>,
    /// In English.
    problem: BTreeMap<String, String>,
}

static WORDING: LazyLock<Wording> = LazyLock::new(|| {
    toml::from_str(include_str!("verdict.toml")).expect("the tests read the same file")
});

/// The verdict, grown sentence by sentence.
#[derive(Debug, Default)]
struct Text {
    en: Vec<String>,
    zh: Vec<String>,
    setting: Option<&'static str>,
}

impl Text {
    /// Adds a sentence about `n` things, with the values of its other places.
    fn say(&mut self, key: &str, n: u64, values: &[(&str, Words)]) {
        self.add(&WORDING.sentence[key], n, values);
    }

    fn add(&mut self, [en, zh]: &Words, n: u64, values: &[(&str, Words)]) {
        let filled = |words: &str, language: usize| {
            let mut text = words.replace("{n}", &n.to_string());
            for (place, value) in values {
                text = text.replace(&format!("{{{place}}}"), &value[language]);
            }
            text
        };
        self.en.push(filled(&numbered(en, n), 0));
        self.zh.push(filled(zh, 1));
    }

    /// Names a setting, where none is named yet.
    fn name(&mut self, setting: &'static str) {
        self.setting.get_or_insert(setting);
    }
}

/// English words about `n` things: of `[one|many]` the one that fits.
fn numbered(words: &str, n: u64) -> String {
    let split = || {
        let (before, rest) = words.split_once('[')?;
        let (choice, after) = rest.split_once(']')?;
        let (one, many) = choice.split_once('|')?;
        Some((before, if n == 1 { one } else { many }, after))
    };
    split().map_or_else(
        || words.to_owned(),
        |(before, word, after)| format!("{before}{word}{after}"),
    )
}

/// The same in both languages.
fn same(value: impl ToString) -> Words {
    [value.to_string(), value.to_string()]
}

/// How the last cycle of a site went.
pub(crate) fn verdict(facts: &SiteFacts) -> SiteVerdict {
    let mut text = Text::default();
    let level = if !facts.has_begun {
        text.say("not_crawled", 0, &[]);
        Level::Waiting
    } else if facts.is_failed() {
        failed(facts, &mut text);
        Level::Failed
    } else if !facts.is_over && facts.visits.usable == 0 {
        text.say("first_page", 0, &[]);
        Level::Waiting
    } else {
        done(facts, &mut text)
    };
    SiteVerdict {
        level,
        text: text.en.join("; "),
        text_zh: text.zh.join("；"),
        left: facts.unvisited.left,
        setting: text.setting.map(str::to_owned),
    }
}

impl SiteFacts {
    /// No page came, and none is on its way.
    fn is_failed(&self) -> bool {
        let asked = self.visits.total > 0 && (self.is_over || !self.visits.problems.is_empty());
        let nothing_asked = self.is_over && self.visits.total == 0 && self.documents == 0;
        self.visits.usable == 0 && (asked || nothing_asked || self.is_kept_waiting())
    }

    /// Nothing was requested, since the host rests.
    fn is_kept_waiting(&self) -> bool {
        self.is_over && self.visits.total == 0 && self.resting.is_some()
    }

    fn time(&self, at_ms: i64) -> String {
        show_time(at_ms, self.utc_offset_minutes, Precision::Minute).unwrap_or_default()
    }
}

/// No page came: why, and when it is tried again.
fn failed(facts: &SiteFacts, text: &mut Text) {
    let mut problems = facts.visits.problems.keys();
    match (problems.next(), problems.next()) {
        (Some(problem), None) => start_failed(facts, *problem, text),
        (Some(_), Some(_)) => text.say("no_page", 0, &[("list", list(&facts.visits.problems))]),
        (None, _) if facts.visits.redirects > 0 => {
            text.name("scope.hosts");
            text.say("leads_outside", 0, &[]);
        }
        (None, _) => text.say("nothing", 0, &[]),
    }
    if facts.visits.total == 0
        && let Some(resting) = &facts.resting
    {
        rest(facts, resting, text);
    } else if let Some(at_ms) = facts.next_try_ms {
        text.say("next_try", 0, &[("time", same(facts.time(at_ms)))]);
    }
}

/// Why the start page did not come.
fn start_failed(facts: &SiteFacts, problem: Problem, text: &mut Text) {
    let why = problem.no_page();
    let word = why.map_or(problem.to_string(), |why| why.to_string());
    let reason = facts.last_error.as_ref().and_then(|e| e.split_once(": "));
    let key = match problem {
        Problem::Robots(NoPage::Status(_)) => "robots-status",
        Problem::Page(NoPage::Status(_)) => "status",
        Problem::DISALLOWED if reason.is_some() => "robots-rule",
        _ => &word,
    };
    if why == Some(NoPage::Failure(Failure::Address)) {
        text.name("fetch.allow_addresses");
    }
    let rule = reason.map_or("", |(_, reason)| reason.trim_start_matches("robots.txt "));
    let in_words = WORDING
        .problem
        .get(&word)
        .map(|known| [known.clone(), problem.in_chinese()]);
    let no_answer = || ["no usable answer", "没有可用的应答"].map(str::to_owned);
    let values = [
        ("status", same(&word)),
        ("rule", same(rule)),
        ("start", same(&facts.start)),
        ("problem", in_words.unwrap_or_else(no_answer)),
    ];
    let start = &WORDING.start;
    text.add(start.get(key).unwrap_or(&start["other"]), 0, &values);
}

/// Pages came: what they brought, what failed, what was left and why.
fn done(facts: &SiteFacts, text: &mut Text) -> Level {
    let mut level = Level::Ok;
    if !facts.is_over {
        text.say("under_way", 0, &[]);
    }
    if facts.is_over && facts.documents == 0 {
        level = Level::Partial;
        text.say("no_document", facts.visits.usable, &[]);
        if facts.visits.blank_pages * 2 > facts.visits.usable {
            text.say("scripts", 0, &[]);
        }
    } else {
        let key = if facts.visits.new_documents == 0 {
            "nothing_new"
        } else {
            "new"
        };
        text.say(key, facts.visits.new_documents, &[]);
    }
    let mut problems = facts.visits.problems.clone();
    if let Some(n) = problems.remove(&Problem::DISALLOWED) {
        text.say("robots", n, &[]);
    }
    let failed: u64 = problems.values().sum();
    if failed > 0 {
        text.say("failed", failed, &[("list", list(&problems))]);
    }
    if facts.visits.blocking_pages * FEW_PROBLEMS > facts.visits.total {
        level = Level::Partial;
        text.say("blocking", facts.visits.blocking_pages, &[]);
    }
    if facts.visits.entry_problems > 0 {
        text.say("no_start", 0, &[]);
    }
    if facts.visits.entry_problems > 0 || failed * FEW_PROBLEMS > facts.visits.total {
        level = Level::Partial;
    }
    if facts.unvisited.lists_cut > 0 {
        level = Level::Partial;
        text.say("lists", facts.unvisited.lists_cut, &[]);
    }
    if facts.unvisited.left > 0 {
        if facts.is_over {
            level = Level::Partial;
        }
        left(facts, text);
    }
    not_followed(&facts.unvisited, &facts.limits, text);
    if facts.unvisited.site_full > 0 {
        level = Level::Partial;
    }
    level
}

/// Known addresses that wait, and the setting that makes them.
fn left(facts: &SiteFacts, text: &mut Text) {
    let by = match facts.limits.max_pages_per_cycle {
        Some(max) if facts.unvisited.hit_site_limit => Some(("max_pages_per_cycle", max)),
        _ if facts.unvisited.hit_host_limit => {
            let max = facts.limits.pages_per_host_per_cycle;
            Some(("frontier.pages_per_host_per_cycle", max))
        }
        _ => None,
    };
    if !facts.is_over {
        text.say("remaining", facts.unvisited.left, &[]);
    } else if let Some((key, max)) = by {
        text.name(key);
        let values = [("key", same(key)), ("max", same(max))];
        text.say("next_cycle", facts.unvisited.left, &values);
    } else if facts.unvisited.hit_reading_limit {
        let key = ["minutes for reading attachments", "附件读取分钟数"].map(str::to_owned);
        let values = [("key", key), ("max", same(MAX_READING_MS / 60_000))];
        text.say("next_cycle", facts.unvisited.left, &values);
    } else {
        text.say("left", facts.unvisited.left, &[]);
        if let Some(resting) = &facts.resting {
            text.name("crawl.pass_patience_ms");
            rest(facts, resting, text);
        }
    }
}

/// A host that is not requested longer than a pass waits.
fn rest(facts: &SiteFacts, resting: &Resting, text: &mut Text) {
    let cause = [resting.cause.as_str(), resting.cause.in_chinese()];
    let values = [
        ("host", same(&resting.host)),
        ("time", same(facts.time(resting.until_ms))),
        ("cause", cause.map(str::to_owned)),
        ("max", same(facts.limits.pass_patience_ms)),
    ];
    text.say("rest", 0, &values);
}

/// Addresses that were found and that a setting keeps out for good.
fn not_followed(unvisited: &UnvisitedCounts, limits: &CycleLimits, text: &mut Text) {
    if unvisited.beyond_hops > 0 {
        text.name("scope.max_hops");
        text.say(
            "hops",
            unvisited.beyond_hops,
            &[("max", same(limits.max_hops))],
        );
    }
    if unvisited.site_full > 0 {
        let n = unvisited.site_full;
        text.setting = Some("frontier.max_urls_per_site");
        let is_least = usize::try_from(n).is_ok_and(|n| n >= MAX_SKIPPED);
        let key = if is_least { "full_at_least" } else { "full" };
        text.say(key, n, &[("max", same(limits.max_urls_per_site))]);
    }
    if unvisited.sitemaps_cut > 0 {
        text.name("fetch.max_sitemap_bytes");
        text.say("sitemaps", unvisited.sitemaps_cut, &[]);
    }
    if unvisited.out_of_scope > 0 {
        text.name("scope.include, scope.exclude");
        text.say("scope", unvisited.out_of_scope, &[]);
    }
}

/// `HTTP 500 × 3, timeout × 1`.
fn list(problems: &BTreeMap<Problem, u64>) -> Words {
    let words = problems
        .iter()
        .map(|(problem, n)| (problem.to_string(), (problem, n)));
    let (mut en, mut zh) = (Vec::new(), Vec::new());
    for (word, (problem, n)) in BTreeMap::from_iter(words) {
        let known = WORDING.problem.get(&word).unwrap_or(&word);
        en.push(format!("{known} × {n}"));
        zh.push(format!("{} × {n}", problem.in_chinese()));
    }
    [en.join(", "), zh.join("、")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wording_covers_failures() {
        for failure in Failure::ALL {
            let word = failure.as_str();
            assert!(WORDING.problem.contains_key(word), "{word}");
        }
    }
}
