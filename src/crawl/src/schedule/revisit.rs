//! Decides what follows from a visit: [`revisit`] returns the next state of the URL's record, with the time of the next
//! visit, and whether its document leaves the index.
//!
//! Hubs wait for the next cycle of their site, and longer the longer they brought nothing. Articles are looked at
//! again after an interval that shrinks when they change and grows when they do not.
//!
//! A document leaves the index by proof only: 404 or 410 twice a day apart, a page that asks not to be indexed, a redirect or
//! canonical address where the same text stands. What shows no document proves nothing, whatever its status: it may be a
//! captcha, a sign-in or a server under repair. The document stays, not confirmed since its last good visit.

use serde::{Deserialize, Serialize};

use crate::DAY_MS;
use crate::outcome::{Truncation, VisitOutcome};
use crate::store::{UrlClass, UrlRecord, UrlState, UrlVisit};

const HOUR_MS: i64 = 3_600_000;
/// A page that always fails is asked for once a week.
const MAX_RETRY_MS: i64 = 7 * DAY_MS;
/// A refusal (robots.txt) is looked at again after this.
const REFUSED_MS: i64 = 7 * DAY_MS;
/// Share of the time since its last change that a hub may wait.
const HUB_SHARE: i64 = 4;

/// Settings of the revisit policy, as `[revisit]` in the configuration.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether articles are looked at again at all.
    pub articles: bool,
    /// First interval of an article, in milliseconds.
    pub first_ms: i64,
    /// Shortest interval of an article, in milliseconds.
    pub min_ms: i64,
    /// Longest interval of an article, in milliseconds.
    pub max_ms: i64,
    /// The interval is multiplied by this when the page did not change.
    pub grow: f64,
    /// And by this when it did.
    pub shrink: f64,
    /// Two answers 404 or 410 at least this far apart delete a document, and two with another text altogether replace it, in
    /// milliseconds.
    pub gone_after_ms: i64,
    /// First pause after a failed visit, doubled each time, in milliseconds.
    pub retry_ms: i64,
    /// Longest pause after failed visits, in milliseconds.
    pub max_retry_ms: i64,
    /// Failed visits in a row after which a page is given up.
    pub give_up_errors: u32,
    /// Longest interval of a list page that brings nothing new, in milliseconds.
    pub hub_max_ms: i64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            articles: true,
            // Most corrections to a news article come within a day.
            first_ms: DAY_MS,
            // More often than hourly, a page is a hub.
            min_ms: HOUR_MS,
            // A deletion is noticed within a month.
            max_ms: 30 * DAY_MS,
            grow: 1.5,
            shrink: 0.5,
            // Two answers 404 or 410 must lie this far apart before a page is taken for gone.
            gone_after_ms: DAY_MS,
            // First pause after a failed visit; doubles.
            retry_ms: 10 * 60_000,
            max_retry_ms: MAX_RETRY_MS,
            // And given up after half a year of that.
            give_up_errors: 30,
            // A list page that has not changed for a month is read once a week.
            hub_max_ms: 7 * DAY_MS,
        }
    }
}

/// What the extractor takes a page for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// A detail page.
    Article,
    /// A list page.
    Hub,
    /// A feed.
    Feed,
    /// A sitemap.
    Sitemap,
    /// None of these.
    Other,
}

/// What a visit found, as far as the policy goes by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How the visit ended.
    pub outcome: VisitOutcome,
    /// Status of the answer, if one came.
    pub status: Option<u16>,
    /// Why there is no page, for the record: where none was asked for, where none came, or where it was not taken.
    pub reason: String,
    /// Where the body ended, if it ended too early.
    pub truncation: Option<Truncation>,
    /// Where a redirect leads.
    pub target: Option<String>,
    /// What it shows of a document: a page that came, or the target of a redirect.
    pub shown: Shown,
    /// `Retry-After` of a server that asks for fewer requests, in milliseconds.
    pub retry_after_ms: Option<i64>,
    /// What stands there, if a page came.
    pub page: Option<PageFacts>,
}

impl Finding {
    /// An end without a page.
    pub fn new(outcome: VisitOutcome, status: Option<u16>, reason: impl Into<String>) -> Self {
        Finding {
            outcome,
            status,
            reason: reason.into(),
            truncation: None,
            target: None,
            shown: Shown::Nothing,
            retry_after_ms: None,
            page: None,
        }
    }
}

/// What a page that came states of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFacts {
    /// What it is.
    pub kind: PageKind,
    /// Articles: digest of the extracted text. Hubs, feeds, sitemaps: digest of the links.
    pub digest: Option<u64>,
    /// `ETag` of the answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the answer, as sent.
    pub last_modified: Option<String>,
}

/// What a visit shows of the document that its address has or may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A document: the page's first, the one it has, or a later version of it.
    Document,
    /// The document of another address, which stands for this one as well.
    Elsewhere,
    /// A document that asks not to be indexed.
    Withheld,
    /// A document that has nothing in common with the one that the page has.
    Replaced {
        /// Digest of the words.
        answer: u64,
        /// It asks not to be indexed.
        withheld: bool,
    },
    /// What several addresses of the site answer that had different documents.
    Wall {
        /// Digest of the words.
        answer: u64,
        /// The page's document was made of the same words: it goes.
        made_document: bool,
    },
    /// No document.
    Nothing,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revisit {
    /// The next state of the record.
    pub visit: UrlVisit,
    /// The page's text or links are not what they were (true for a first visit).
    pub changed: bool,
    /// The page had a document, and it leaves the index.
    pub delete: bool,
}

/// What follows from a visit that ended at `now_ms`.
pub fn revisit(config: &Config, record: &UrlRecord, finding: &Finding, now_ms: i64) -> Revisit {
    let mut next = Revisit {
        visit: record.visit.clone(),
        changed: false,
        delete: false,
    };
    let visit = &mut next.visit;
    visit.fetched_ms = Some(now_ms);
    visit.error = None;
    visit.truncation = finding.truncation;
    visit.status = finding.status;
    if let Shown::Wall {
        answer,
        made_document,
    } = finding.shown
    {
        wall(config, &mut next, answer, made_document, now_ms);
        return next;
    }
    match finding.outcome {
        VisitOutcome::Page => {
            if let Some(facts) = &finding.page {
                page(config, &mut next, facts, finding.shown, now_ms);
                rest(config, record, &mut next.visit, now_ms);
            }
        }
        VisitOutcome::NotModified => {
            // What was said of the page still holds.
            if record.visit.state == UrlState::Fetched {
                visit.error.clone_from(&record.visit.error);
                visit.truncation = record.visit.truncation;
            }
            reached(visit);
            unchanged(config, visit, now_ms);
        }
        VisitOutcome::Redirect => redirect(config, &mut next, finding, now_ms),
        VisitOutcome::Gone if !record.visit.documented => gone(&mut next),
        VisitOutcome::Gone => missing(config, &mut next, "status 410", now_ms),
        VisitOutcome::NotFound => missing(config, &mut next, "status 404", now_ms),
        VisitOutcome::Denied | VisitOutcome::Busy | VisitOutcome::ServerError => {
            let status = finding.status.unwrap_or_default();
            failed(config, visit, &format!("status {status}"), now_ms);
            // The server knows best when to ask again; the host's politeness keeps to it as well.
            if let Some(wait_ms) = finding.retry_after_ms {
                let asked_ms = now_ms + wait_ms.clamp(0, MAX_RETRY_MS);
                visit.due_ms = visit.due_ms.map(|_| asked_ms);
            }
        }
        VisitOutcome::Unreachable | VisitOutcome::RobotsUnreachable => {
            visit.status = None;
            failed(config, visit, &finding.reason, now_ms);
        }
        VisitOutcome::Disallowed | VisitOutcome::AddressRefused | VisitOutcome::Unwanted => {
            visit.state = UrlState::Refused;
            visit.error = Some(finding.reason.clone());
            visit.due_ms = Some(now_ms + REFUSED_MS);
            // It was not visited: the state of its last visit stands.
            visit.fetched_ms = record.visit.fetched_ms;
            visit.status = record.visit.status;
        }
    }
    next
}

fn reached(visit: &mut UrlVisit) {
    visit.state = UrlState::Fetched;
    visit.errors = 0;
    visit.not_found_since_ms = None;
    visit.answer = None;
    visit.target = None;
    visit.confirmed_ms = visit.fetched_ms;
}

fn page(config: &Config, next: &mut Revisit, facts: &PageFacts, shown: Shown, now_ms: i64) {
    let had_document = next.visit.documented;
    match shown {
        Shown::Nothing if had_document => {
            failed(config, &mut next.visit, UNCONFIRMED, now_ms);
            return;
        }
        Shown::Replaced { answer, .. } if !is_lasting(config, &next.visit, now_ms) => {
            put_off(config, next, answer, now_ms);
            return;
        }
        _ => {}
    }
    let is_documented = matches!(
        shown,
        Shown::Document
            | Shown::Replaced {
                withheld: false,
                ..
            }
    );
    reached(&mut next.visit);
    let visit = &mut next.visit;
    visit.class = class_after(visit.class, facts.kind);
    visit.etag.clone_from(&facts.etag);
    visit.last_modified.clone_from(&facts.last_modified);
    next.delete = had_document && !is_documented;
    visit.documented = is_documented;
    // A change of digest is one, and so is the first visit; pages without a digest cannot be told.
    next.changed = visit.changed_ms.is_none() || visit.digest != facts.digest;
    visit.digest = facts.digest;
    if next.changed {
        changed(config, visit, now_ms);
    } else {
        unchanged(config, visit, now_ms);
    }
}

/// Why a visit that came with a page did not confirm the document.
const UNCONFIRMED: &str = "shows no document now";
const WALL: &str = "shows what other pages of the site show";
const REPLACED: &str = "shows another text altogether";

/// What several addresses of the site show: it says nothing of this page.
fn wall(config: &Config, next: &mut Revisit, answer: u64, made_document: bool, now_ms: i64) {
    let visit = &mut next.visit;
    let since_ms = visit.not_found_since_ms.filter(|_| visit.answer.is_some());
    failed(config, visit, WALL, now_ms);
    visit.not_found_since_ms = since_ms.or(Some(now_ms));
    visit.answer = Some(answer);
    if made_document {
        withdraw(next);
    }
}

/// Whether the page has shown another text than its document's for long enough to believe it.
fn is_lasting(config: &Config, visit: &UrlVisit, now_ms: i64) -> bool {
    let since_ms = visit.not_found_since_ms.filter(|_| visit.answer.is_some());
    since_ms.is_some_and(|since_ms| now_ms - since_ms >= config.gone_after_ms)
}

/// Another text than the document's: believed when it is still another after a while, and no other address shows it.
fn put_off(config: &Config, next: &mut Revisit, answer: u64, now_ms: i64) {
    let visit = &mut next.visit;
    let before = visit.not_found_since_ms.filter(|_| visit.answer.is_some());
    let since_ms = before.unwrap_or(now_ms);
    visit.state = UrlState::Failed;
    visit.error = Some(REPLACED.to_owned());
    visit.not_found_since_ms = Some(since_ms);
    visit.answer = Some(answer);
    visit.due_ms = Some(since_ms + config.gone_after_ms);
}

/// Seeds, feeds and sitemaps are what they were named; others follow what was found.
fn class_after(before: UrlClass, kind: PageKind) -> UrlClass {
    match (before, kind) {
        (UrlClass::Seed | UrlClass::Attachment, _) => before,
        (_, PageKind::Feed) => UrlClass::Feed,
        (_, PageKind::Sitemap) => UrlClass::Sitemap,
        (_, PageKind::Hub) => UrlClass::Hub,
        (_, PageKind::Article) => UrlClass::Article,
        (UrlClass::Article | UrlClass::Hub, _) => before,
        _ => UrlClass::Unknown,
    }
}

fn changed(config: &Config, visit: &mut UrlVisit, now_ms: i64) {
    let first = visit.changed_ms.is_none();
    visit.changed_ms = Some(now_ms);
    visit.unchanged = 0;
    visit.interval_ms = if first || visit.interval_ms <= 0 {
        config.first_ms
    } else {
        scaled(config, visit.interval_ms, config.shrink)
    };
    plan(config, visit, now_ms);
}

fn unchanged(config: &Config, visit: &mut UrlVisit, now_ms: i64) {
    visit.unchanged = visit.unchanged.saturating_add(1);
    let before = if visit.interval_ms > 0 {
        visit.interval_ms
    } else {
        config.first_ms
    };
    visit.interval_ms = scaled(config, before, config.grow);
    plan(config, visit, now_ms);
}

fn scaled(config: &Config, interval_ms: i64, factor: f64) -> i64 {
    let scaled = (interval_ms as f64 * factor) as i64;
    scaled.clamp(
        config.min_ms.max(1),
        config.max_ms.max(config.min_ms).max(1),
    )
}

/// Sets the next visit of a page that was reached.
fn plan(config: &Config, visit: &mut UrlVisit, now_ms: i64) {
    if visit.class.is_hub() {
        let quiet_ms = now_ms - visit.changed_ms.unwrap_or(now_ms);
        visit.interval_ms = (quiet_ms / HUB_SHARE).clamp(0, config.hub_max_ms.max(0));
        visit.due_ms = None;
    } else if config.articles {
        visit.due_ms = Some(now_ms + visit.interval_ms);
    } else {
        visit.due_ms = None;
    }
}

/// A list that comes whole each time, since its server says nothing of changes, and to which nothing was added since it
/// was found is taken for an archive: it waits as long again as it has been quiet, or up to three times as long, so that
/// the archives of a site take turns.
fn rest(config: &Config, record: &UrlRecord, visit: &mut UrlVisit, now_ms: i64) {
    let changed_ms = visit.changed_ms.unwrap_or(now_ms);
    let as_found = changed_ms - record.first_seen_ms < DAY_MS;
    let blind = visit.etag.is_none() && visit.last_modified.is_none();
    if visit.class != UrlClass::Hub || !as_found || !blind || visit.unchanged == 0 {
        return;
    }
    let turn = i64::from(taojin_uri::QueueHash::Xxh3.shard(record.uri.as_str(), 256));
    let quiet_ms = now_ms - changed_ms;
    visit.interval_ms = (quiet_ms + quiet_ms / 128 * turn).clamp(0, config.hub_max_ms.max(0));
}

fn redirect(config: &Config, next: &mut Revisit, finding: &Finding, now_ms: i64) {
    let visit = &mut next.visit;
    let target = finding.target.as_deref();
    let same = visit.state == UrlState::Redirect && visit.target.as_deref() == target;
    let confirmed_ms = visit.confirmed_ms;
    reached(visit);
    visit.state = UrlState::Redirect;
    visit.target = target.map(str::to_owned);
    if visit.documented && finding.shown != Shown::Elsewhere {
        // It may lead to a sign-in as well as to a new address. Where its text stands there, that page's visit ends this document.
        visit.confirmed_ms = confirmed_ms;
    } else {
        withdraw(next);
    }
    let visit = &mut next.visit;
    if same {
        unchanged(config, visit, now_ms);
    } else {
        next.changed = true;
        changed(config, visit, now_ms);
    }
}

/// 404 or 410: gone when the answer was that a day before.
fn missing(config: &Config, next: &mut Revisit, reason: &str, now_ms: i64) {
    let visit = &mut next.visit;
    if visit.answer.take().is_some() {
        visit.not_found_since_ms = None;
    }
    let since_ms = *visit.not_found_since_ms.get_or_insert(now_ms);
    if now_ms - since_ms >= config.gone_after_ms {
        gone(next);
        return;
    }
    visit.state = UrlState::Failed;
    visit.error = Some(reason.to_owned());
    visit.due_ms = Some(since_ms + config.gone_after_ms);
}

fn gone(next: &mut Revisit) {
    withdraw(next);
    let visit = &mut next.visit;
    visit.due_ms = None;
    // A seed is asked for in every cycle, whatever it answered.
    visit.state = if visit.class == UrlClass::Seed {
        UrlState::Failed
    } else {
        UrlState::Gone
    };
}

/// The page has no document from now on, and its next answer is to come whole.
fn withdraw(next: &mut Revisit) {
    let visit = &mut next.visit;
    next.delete = visit.documented;
    visit.documented = false;
    visit.digest = None;
    visit.etag = None;
    visit.last_modified = None;
}

fn failed(config: &Config, visit: &mut UrlVisit, error: &str, now_ms: i64) {
    visit.state = UrlState::Failed;
    visit.error = Some(error.to_owned());
    visit.not_found_since_ms = None;
    visit.answer = None;
    let doublings = visit.errors.min(20);
    visit.errors = visit.errors.saturating_add(1);
    let pause_ms = config
        .retry_ms
        .max(0)
        .saturating_mul(1 << doublings)
        .min(config.max_retry_ms.max(0));
    let given_up = visit.errors >= config.give_up_errors && !visit.class.is_hub();
    visit.due_ms = (!given_up).then_some(now_ms + pause_ms);
}
