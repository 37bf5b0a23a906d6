//! How the last cycle of a site went, in a sentence that a person understands, in English and in Chinese. In: the
//! counts, errors and settings of the site. Out: a [`SiteVerdict`]. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, Offset as _};

use super::verdict_words::{cause_zh, entry_problem, problem};
use crate::serve::{Level, SiteVerdict};
use taojin_crawl::frontier::{MAX_SKIPPED, Resting};

/// A share of failed visits above this is worth a look: one in twenty.
const FEW_PROBLEMS: u64 = 20;

/// What is known of the last cycle of a site.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// It was crawled at least once.
    pub(crate) has_begun: bool,
    /// Nothing of the cycle is left to do.
    pub(crate) is_over: bool,
    pub(crate) visits: u64,
    /// Visits that were answered with a page, or that it has not changed.
    pub(crate) usable: u64,
    /// Visits that led to another address.
    pub(crate) redirects: u64,
    /// Visits that were answered with a page to sign in or to prove oneself at, or led to one.
    pub(crate) blocking_pages: u64,
    /// Seeds that did not come.
    pub(crate) entry_problems: u64,
    pub(crate) new_documents: u64,
    /// Documents of the site, of all cycles.
    pub(crate) documents: u64,
    /// Known addresses that were never visited.
    pub(crate) left: u64,
    pub(crate) beyond_hops: u64,
    pub(crate) out_of_scope: u64,
    /// Sitemaps that were not read to their end.
    pub(crate) sitemaps_cut: u64,
    /// Addresses that were not taken up since the site is full.
    pub(crate) site_full: u64,
    pub(crate) hit_site_limit: bool,
    pub(crate) hit_host_limit: bool,
    /// Visits without a page, by a word that says why.
    pub(crate) problems: BTreeMap<String, u64>,
    /// Address and reason of the last one.
    pub(crate) last_error: Option<String>,
    /// `host:port` of the first seed.
    pub(crate) start: String,
    /// The host that rests longest, if that is longer than a pass waits.
    pub(crate) resting: Option<Resting>,
    pub(crate) next_try_ms: Option<i64>,
    pub(crate) max_hops: u16,
    pub(crate) max_pages_per_cycle: Option<i64>,
    pub(crate) pages_per_host_per_cycle: i64,
    pub(crate) max_urls_per_site: i64,
    pub(crate) pass_patience_ms: u64,
    /// Seconds east of UTC of the times in the sentence.
    pub(crate) zone_s: i32,
}

/// A sentence in both languages, grown part by part.
#[derive(Debug, Default)]
struct Text {
    en: Vec<String>,
    zh: Vec<String>,
}

impl Text {
    fn say(&mut self, en: impl Into<String>, zh: impl Into<String>) {
        self.en.push(en.into());
        self.zh.push(zh.into());
    }
}

/// How the last cycle of a site went.
pub(crate) fn verdict(facts: &Facts) -> SiteVerdict {
    let mut text = Text::default();
    let mut setting = None;
    let level = if !facts.has_begun {
        text.say("not crawled yet", "尚未抓取");
        Level::Waiting
    } else if facts.is_failed() {
        setting = failed(facts, &mut text);
        Level::Failed
    } else if !facts.is_over && facts.usable == 0 {
        text.say("the first page is on its way", "正在抓取第一页");
        Level::Waiting
    } else {
        done(facts, &mut text, &mut setting)
    };
    SiteVerdict {
        level,
        text: text.en.join("; "),
        text_zh: text.zh.join("；"),
        left: facts.left,
        setting,
    }
}

impl Facts {
    /// No page came, and none is on its way.
    fn is_failed(&self) -> bool {
        let asked = self.visits > 0 && (self.is_over || !self.problems.is_empty());
        let nothing_asked = self.is_over && self.visits == 0 && self.documents == 0;
        self.usable == 0 && (asked || nothing_asked || self.is_kept_waiting())
    }

    /// Nothing was asked for, since the host rests.
    fn is_kept_waiting(&self) -> bool {
        self.is_over && self.visits == 0 && self.resting.is_some()
    }

    fn time(&self, at_ms: i64) -> String {
        let zone = FixedOffset::east_opt(self.zone_s).unwrap_or(chrono::Utc.fix());
        DateTime::from_timestamp_millis(at_ms)
            .map(|t| {
                t.with_timezone(&zone)
                    .format("%Y-%m-%d %H:%M %:z")
                    .to_string()
            })
            .unwrap_or_default()
    }
}

/// No page came: why, and when it is tried again. The setting that forbids it, if one does.
fn failed(facts: &Facts, text: &mut Text) -> Option<String> {
    let mut setting = None;
    let mut words = facts.problems.iter();
    match (words.next(), words.next()) {
        (Some((word, _)), None) => {
            let (en, zh) = entry_problem(word, &facts.start, facts.last_error.as_deref());
            text.say(en, zh);
            if word == "guard" {
                setting = Some("fetch.allow_addresses".to_owned());
            }
        }
        (Some(_), Some(_)) => {
            let (en, zh) = list(&facts.problems);
            text.say(
                format!("no page could be fetched: {en}"),
                format!("没有取回网页：{zh}"),
            );
        }
        (None, _) if facts.redirects > 0 => {
            setting = Some("scope.hosts".to_owned());
            text.say(
                "the start page only leads to an address outside the site (scope.hosts)",
                "起始页只跳转到站点以外的网址（scope.hosts）",
            );
        }
        (None, _) => text.say("nothing could be fetched", "没有可抓取的网址"),
    }
    if facts.visits == 0
        && let Some(resting) = &facts.resting
    {
        rest(facts, resting, text);
    } else if let Some(at_ms) = facts.next_try_ms {
        let at = facts.time(at_ms);
        text.say(format!("next try at {at}"), format!("{at} 再试"));
    }
    setting
}

/// Pages came: what they brought, what failed, what was left and why.
fn done(facts: &Facts, text: &mut Text, setting: &mut Option<String>) -> Level {
    let mut level = Level::Ok;
    if !facts.is_over {
        text.say("under way", "进行中");
    }
    if facts.is_over && facts.documents == 0 {
        level = Level::Partial;
        let n = pages(facts.usable);
        text.say(
            format!("{n} read, none is a document"),
            format!("读取 {} 个网页，没有一个是文档", facts.usable),
        );
    } else {
        let n = facts.new_documents;
        let en = match n {
            0 => "no new documents".to_owned(),
            1 => "1 new document".to_owned(),
            n => format!("{n} new documents"),
        };
        text.say(en, format!("新文档 {n} 篇"));
    }
    let mut problems = facts.problems.clone();
    if let Some(n) = problems.remove("robots") {
        let en = format!("{} forbidden by robots.txt", addresses(n));
        text.say(en, format!("{n} 个网址被 robots.txt 禁止"));
    }
    let failed: u64 = problems.values().sum();
    if failed > 0 {
        let (en, zh) = list(&problems);
        let en = format!("{} failed ({en})", addresses(failed));
        text.say(en, format!("{failed} 个网址失败（{zh}）"));
    }
    if facts.blocking_pages * FEW_PROBLEMS > facts.visits {
        let n = facts.blocking_pages;
        level = Level::Partial;
        text.say(
            format!("{} asked for a login or a human check", pages(n)),
            format!("{n} 个网页要求登录或人机验证"),
        );
    }
    if facts.entry_problems > 0 {
        text.say("a start page could not be fetched", "有起始页没有取回");
    }
    if facts.entry_problems > 0 || failed * FEW_PROBLEMS > facts.visits {
        level = Level::Partial;
    }
    if facts.left > 0 {
        if facts.is_over {
            level = Level::Partial;
        }
        left(facts, text, setting);
    }
    not_followed(facts, text, setting);
    if facts.site_full > 0 {
        level = Level::Partial;
    }
    level
}

/// Known addresses that wait, and the setting that makes them.
fn left(facts: &Facts, text: &mut Text, setting: &mut Option<String>) {
    let n = addresses(facts.left);
    if !facts.is_over {
        text.say(
            format!("{n} remaining"),
            format!("还有 {} 个网址", facts.left),
        );
        return;
    }
    let by = match facts.max_pages_per_cycle {
        Some(max) if facts.hit_site_limit => Some(("max_pages_per_cycle", max)),
        _ if facts.hit_host_limit => {
            let max = facts.pages_per_host_per_cycle;
            Some(("frontier.pages_per_host_per_cycle", max))
        }
        _ => None,
    };
    if let Some((key, max)) = by {
        *setting = Some(key.to_owned());
        text.say(
            format!("{n} left for the next cycle ({key} = {max})"),
            format!("{} 个网址留到下一轮（{key} = {max}）", facts.left),
        );
        return;
    }
    text.say(format!("{n} left"), format!("剩余 {} 个网址", facts.left));
    if let Some(resting) = &facts.resting {
        *setting = Some("crawl.pass_patience_ms".to_owned());
        rest(facts, resting, text);
    }
}

/// A host that is not asked for longer than a pass waits.
fn rest(facts: &Facts, resting: &Resting, text: &mut Text) {
    let (host, until) = (&resting.host, facts.time(resting.until_ms));
    let (cause, patience) = (resting.cause, facts.pass_patience_ms);
    text.say(
        format!(
            "{host} is not asked before {until} ({}), longer than crawl.pass_patience_ms = {patience}",
            cause.as_str()
        ),
        format!(
            "{host} 在 {until} 之前不再请求（{}），超过 crawl.pass_patience_ms = {patience}",
            cause_zh(cause)
        ),
    );
}

/// Addresses that were found and that a setting keeps out for good.
fn not_followed(facts: &Facts, text: &mut Text, setting: &mut Option<String>) {
    if facts.beyond_hops > 0 {
        let (n, max) = (facts.beyond_hops, facts.max_hops);
        setting.get_or_insert_with(|| "scope.max_hops".to_owned());
        text.say(
            format!("{} not followed (scope.max_hops = {max})", addresses(n)),
            format!("{n} 个网址没有继续（scope.max_hops = {max}）"),
        );
    }
    if facts.site_full > 0 {
        let (n, max) = (facts.site_full, facts.max_urls_per_site);
        *setting = Some("frontier.max_urls_per_site".to_owned());
        let is_least = usize::try_from(n).is_ok_and(|n| n >= MAX_SKIPPED);
        let (least, least_zh) = if is_least {
            ("at least ", "至少 ")
        } else {
            ("", "")
        };
        text.say(
            format!(
                "{least}{} left out, the site is full (frontier.max_urls_per_site = {max})",
                addresses(n)
            ),
            format!(
                "站点网址数已满，{least_zh}{n} 个新网址未收录（frontier.max_urls_per_site = {max}）"
            ),
        );
    }
    if facts.sitemaps_cut > 0 {
        let n = facts.sitemaps_cut;
        setting.get_or_insert_with(|| "fetch.max_sitemap_bytes".to_owned());
        let sitemaps = if n == 1 { "sitemap" } else { "sitemaps" };
        text.say(
            format!(
                "{n} {sitemaps} read in part (fetch.max_sitemap_bytes, 50,000 entries, or damaged)"
            ),
            format!(
                "{n} 个站点地图只读取了一部分（fetch.max_sitemap_bytes、五万条上限或内容损坏）"
            ),
        );
    }
    if facts.out_of_scope > 0 {
        let n = facts.out_of_scope;
        setting.get_or_insert_with(|| "scope.include, scope.exclude".to_owned());
        text.say(
            format!("{} kept out (scope.include, scope.exclude)", addresses(n)),
            format!("{n} 个网址不在范围内（scope.include、scope.exclude）"),
        );
    }
}

/// `HTTP 500 × 3, timeout × 1`.
fn list(problems: &BTreeMap<String, u64>) -> (String, String) {
    let words = |at: fn((&'static str, &'static str)) -> &'static str| {
        let each = problems.iter().map(|(word, n)| match problem(word) {
            Some(both) => format!("{} × {n}", at(both)),
            None => format!("{word} × {n}"),
        });
        each.collect::<Vec<_>>()
    };
    (
        words(|(en, _)| en).join(", "),
        words(|(_, zh)| zh).join("、"),
    )
}

fn addresses(n: u64) -> String {
    match n {
        1 => "1 address".to_owned(),
        n => format!("{n} addresses"),
    }
}

fn pages(n: u64) -> String {
    match n {
        1 => "1 page".to_owned(),
        n => format!("{n} pages"),
    }
}
