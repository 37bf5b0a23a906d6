//! The sites of a running crawl: their settings, schedules and cycles.
//!
//! `apply_sites` brings settings into the frontier, the schedules and what visits know. A cycle ends, with a line in the log
//! and a mark in the store, when nothing of its site is being fetched and nothing of it that is due may be fetched within
//! `pass_patience_ms`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::Offset as _;
use xxhash_rust::xxh3::xxh3_64;

use super::crawl_loop::{CrawlLoop, Interval, RETRY};
use super::site_rules::SiteRules;
use crate::daemon::local_time;
use crate::daemon::report::summary::number;
use crate::daemon::report::tally::CrawlTally;
use crate::daemon::report::verdict::{self, CycleLimits, SiteFacts, UnvisitedCounts, VisitCounts};
use crate::serve::SiteVerdict;
use taojin_crawl::frontier::{self, Span};
use taojin_crawl::schedule::{Cron, Site};
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{NewUrl, Reader, SiteCounts, SiteRecord, StoreError, UrlClass};
use taojin_crawl::{NoPage, Problem};
use taojin_uri::CrawlUri;

/// Counter of a cycle: visits that were answered with a page, or that it has not changed.
pub(crate) const USABLE: &str = "cycle_usable";
/// Visits that led to another address.
pub(crate) const REDIRECTS: &str = "cycle_redirects";
/// Visits that were answered with a page to sign in or to prove oneself at, or led to one.
pub(crate) const BLOCKING_PAGES: &str = "cycle_blocking_pages";
/// Pages other than seeds that are no longer there.
pub(crate) const MISSING: &str = "cycle_missing";
/// Seeds that did not come.
pub(crate) const ENTRY_PROBLEMS: &str = "cycle_entry_problems";
/// Sitemaps that were not read to their end.
pub(crate) const SITEMAPS_CUT: &str = "cycle_sitemaps_cut";
/// Visits without a page, by the word that follows.
pub(crate) const PROBLEM: &str = "cycle_problem ";
/// When the cycle was over, Unix milliseconds.
pub(crate) const ENDED_MS: &str = "cycle_ended_ms";

/// Sites whose cycle is not over are checked this often.
const LOOK: Duration = Duration::from_secs(1);

/// How often the history of documents is looked through for what is older than the settings allow.
const FORGET_EVERY: Duration = Duration::from_secs(3600);

/// Statuses by which servers say that they do not want this reader.
const REFUSING: [u16; 4] = [401, 403, 429, 451];

/// A site that is being crawled.
pub(crate) struct SiteRun {
    /// Its settings.
    pub(crate) site: Site,
    pub(crate) name: Arc<str>,
    schedule: Cron,
    next_ms: Option<i64>,
    /// When its cycle began, while that is not over.
    pub(crate) open_since_ms: Option<i64>,
    paused: bool,
}

impl SiteRun {
    /// A site as the store knows it. One that was never crawled, or whose time came while the daemon was down or the
    /// site was paused, is due at once.
    pub(crate) fn new(
        site: Site,
        record: Option<&SiteRecord>,
        now_ms: i64,
    ) -> anyhow::Result<Self> {
        let schedule = site.cron()?;
        let next_ms = match record.and_then(|r| r.last_cycle_ms) {
            None => Some(now_ms),
            // The clock was ahead then: its next time would come as much too late.
            Some(last) if last > now_ms => Some(now_ms),
            Some(last) => schedule.next_after(last),
        };
        let name = Arc::from(site.name.as_str());
        Ok(Self {
            site,
            name,
            schedule,
            next_ms,
            open_since_ms: None,
            paused: record.is_some_and(|r| r.paused_ms.is_some()),
        })
    }

    /// When the next cycle begins; `None` if the schedule has no further time, or the operator has paused the site.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.next_ms.filter(|_| !self.paused)
    }

    /// Whether a cycle should begin now.
    pub(crate) fn is_due(&self, now_ms: i64) -> bool {
        self.next_ms().is_some_and(|t| t <= now_ms)
    }

    /// Whether a cycle of all sites is one of it: it is due, or all are to be checked again and it is not paused.
    pub(crate) fn is_wanted(&self, recheck: bool, now_ms: i64) -> bool {
        self.is_due(now_ms) || (recheck && !self.paused)
    }

    /// A cycle has begun.
    pub(crate) fn record_start(&mut self, now_ms: i64) {
        self.next_ms = self.schedule.next_after(now_ms);
        self.open_since_ms = Some(now_ms);
    }

    /// Seeds, feeds and sitemaps of the settings, as new URLs; known ones are dropped later.
    pub(crate) fn entry_urls(&self) -> Vec<NewUrl> {
        let Ok(entries) = self.site.addresses() else {
            return Vec::new();
        };
        let of = |uris: Vec<CrawlUri>, class: UrlClass| {
            uris.into_iter().map(move |uri| NewUrl {
                class,
                ..NewUrl::seed(uri, &self.name)
            })
        };
        let lists =
            of(entries.feeds, UrlClass::Feed).chain(of(entries.sitemaps, UrlClass::Sitemap));
        of(entries.seeds, UrlClass::Seed).chain(lists).collect()
    }
}

impl CrawlLoop {
    /// Forgets versions of documents that are too old, a few in each turn. What cannot be forgotten (full disk, damaged page)
    /// waits for the next time: the crawl continues.
    pub(super) fn forget_old(&mut self, now: i64) {
        if !self.frontier.leads() || !self.forgot.is_due(FORGET_EVERY) {
            return;
        }
        match self.store.forget_old_documents(now) {
            Ok(0) => {}
            // There may be more.
            Ok(_) => self.forgot = Interval::default(),
            Err(error) => {
                tracing::error!(%error, "old versions of documents cannot be forgotten, trying again in an hour");
            }
        }
    }

    /// What belongs to the pass.
    pub(crate) fn pass(&self, now_ms: i64) -> Span {
        self.span(self.summary.started_ms(), now_ms)
    }

    fn span(&self, since_ms: i64, now_ms: i64) -> Span {
        Span {
            since_ms,
            now_ms,
            patience_ms: patience_ms(self.config.pass_patience_ms),
        }
    }

    /// Ends the cycles that are over; looks once a second, or now.
    pub(crate) fn end_cycles(&mut self, now: i64, at_once: bool) -> anyhow::Result<()> {
        if self.replay.is_some() || !self.batch.pages.is_empty() {
            return Ok(());
        }
        if !at_once && !self.cycles_looked.is_due(LOOK) {
            return Ok(());
        }
        let mut over = Vec::new();
        for (name, site) in &self.sites {
            let Some(began_ms) = site.open_since_ms else {
                continue;
            };
            let span = self.span(began_ms, now);
            if self.frontier.is_site_done(&self.store, name, &span)? {
                over.push((Arc::clone(name), began_ms));
            }
        }
        if over.is_empty() {
            return Ok(());
        }
        for (name, _) in &over {
            self.batch.count(name, ENDED_MS, now);
            if let Some(site) = self.sites.get_mut(name) {
                site.open_since_ms = None;
            }
        }
        self.write_batch(now)?;
        let counts = self.store.counts()?;
        for (name, began_ms) in &over {
            self.log_end(name, *began_ms, counts.sites.get(&**name), now)?;
        }
        Ok(())
    }

    fn log_end(
        &self,
        name: &Arc<str>,
        began_ms: i64,
        counts: Option<&SiteCounts>,
        now: i64,
    ) -> anyhow::Result<()> {
        let Some(site) = self.sites.get(name) else {
            return Ok(());
        };
        let empty = SiteCounts::new();
        let counts = counts.unwrap_or(&empty);
        let verdict = self.verdict(&site.site, counts, now)?;
        tracing::info!(
            site = %name,
            verdict = verdict.level.name(),
            pages = number(counts, "cycle_visits"),
            new_documents = number(counts, "cycle_new"),
            seconds = (now - began_ms) / 1000,
            "cycle finished: {}", verdict.text
        );
        Ok(())
    }

    fn verdict(&self, site: &Site, counts: &SiteCounts, now: i64) -> anyhow::Result<SiteVerdict> {
        let (frontier, patience_ms) = (self.frontier.config(), self.config.pass_patience_ms);
        site_verdict(&self.store, counts, site, frontier, patience_ms, now)
    }

    /// The verdicts of all sites in use, by name.
    pub(crate) fn verdicts(&self, now: i64) -> anyhow::Result<BTreeMap<Arc<str>, SiteVerdict>> {
        let counts = self.store.counts()?;
        let empty = SiteCounts::new();
        let mut verdicts = BTreeMap::new();
        for (name, site) in &self.sites {
            let counts = counts.sites.get(&**name).unwrap_or(&empty);
            let verdict = self.verdict(&site.site, counts, now)?;
            verdicts.insert(Arc::clone(name), verdict);
        }
        Ok(verdicts)
    }

    /// Ends the waiting for cycles of which nothing is left to do.
    pub(crate) fn poll_watches(&mut self, now: i64) -> anyhow::Result<()> {
        if self.orders.watches.is_empty() {
            return Ok(());
        }
        let mut watches = std::mem::take(&mut self.orders.watches);
        let is_over = |name: &str| {
            let site = self.sites.get(name);
            site.is_none_or(|run| run.open_since_ms.is_none())
        };
        let sum_up = |sites: &BTreeSet<Arc<str>>, summary: &mut CrawlTally| {
            let mut counts = self.store.counts()?;
            counts.sites.retain(|name, _| sites.contains(name.as_str()));
            summary.finish(&counts, now);
            let mut verdicts = self.verdicts(now)?;
            verdicts.retain(|name, _| sites.contains(name));
            summary.take_verdicts(verdicts);
            Ok(())
        };
        watches.end_cycles(self.shared.pause().reason().as_deref(), is_over, sum_up)?;
        self.orders.watches = watches;
        Ok(())
    }

    /// Takes up sites that were read again, if there are any. What cannot be taken up leaves everything as it was, and
    /// a store that fails is asked again: neither may end the crawl.
    pub(crate) fn apply_new_sites(&mut self, now: i64) -> anyhow::Result<()> {
        if !self.current.has_changed().unwrap_or_default() {
            return Ok(());
        }
        self.commit(now)?;
        let sites = self.current.borrow_and_update().sites.clone();
        match self.apply_sites(&sites, now) {
            Ok(()) => {}
            Err(error) if error.chain().any(|cause| cause.is::<StoreError>()) => {
                tracing::error!(%error, "the sites cannot be taken up yet, trying again");
                self.current.mark_changed();
                std::thread::sleep(RETRY);
            }
            Err(error) => {
                tracing::error!(%error, "reload refused, everything stays as it was");
                self.shared.reload().refuse(format!("{error:#}"));
            }
        }
        Ok(())
    }

    /// Takes up the sites of a configuration. Sites that are gone keep their URLs, which wait.
    pub(crate) fn apply_sites(&mut self, sites: &[Site], now: i64) -> anyhow::Result<()> {
        let counts = self.store.counts()?;
        let mut runs = BTreeMap::new();
        for site in sites.iter().filter(|s| s.enabled) {
            let record = self.store.site(&site.name)?;
            let last_cycle_ms = record.as_ref().and_then(|r| r.last_cycle_ms);
            let is_over = counts.sites.get(&site.name);
            let is_over = is_over.is_some_and(|c| c.contains_key(ENDED_MS));
            let mut run = SiteRun::new(site.clone(), record.as_ref(), now)?;
            // It continues where the last run of the program left it.
            run.open_since_ms = last_cycle_ms.filter(|_| !is_over);
            runs.insert(Arc::clone(&run.name), run);
        }
        let scopes = sites.iter().filter(|s| s.enabled).map(Scope::new);
        let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
        self.frontier.set_sites(&mut self.store, scopes, now)?;
        self.gate
            .set_rules(self.frontier.scopes(), self.frontier.takedowns().clone());
        let digests = sites.iter().filter(|s| s.enabled).map(digest);
        self.store
            .cluster()
            .set_node_sites(&digests.collect::<Vec<_>>())?;
        self.configured = sites.to_vec();
        let before = std::mem::replace(&mut self.sites, runs);
        for (name, run) in &self.sites {
            if before.get(name).is_none_or(|b| b.site != run.site) {
                tracing::info!(site = %name, next = %local_time(run.next_ms()), "site taken up");
            }
        }
        for name in before.keys().filter(|n| !self.sites.contains_key(*n)) {
            tracing::info!(site = %name, "site no longer crawled");
        }
        let rules = self
            .sites
            .values()
            .map(|s| (s.site.name.clone(), SiteRules::new(&s.site, now)));
        self.shared.site_rules().replace(rules.collect());
        self.publish_next_cycles();
        Ok(())
    }
}

/// Visits of the cycle that the site turned away, by a page or by the status.
pub(crate) fn turned_away(counts: &SiteCounts) -> u64 {
    let refused = REFUSING.map(|status| {
        let problem = Problem::Page(NoPage::Status(status));
        number(counts, &format!("{PROBLEM}{problem}"))
    });
    number(counts, BLOCKING_PAGES) + refused.iter().sum::<u64>()
}

/// The verdict of a site, by what the store knows.
pub(crate) fn site_verdict(
    store: &Reader,
    counts: &SiteCounts,
    site: &Site,
    limits: &frontier::Config,
    pass_patience_ms: u64,
    now: i64,
) -> anyhow::Result<SiteVerdict> {
    let record = store.site(&site.name)?;
    let start = site.addresses().ok().and_then(|a| a.seeds.first().cloned());
    let start = start.map(|uri| uri.authority().to_owned());
    let mut next_try_ms = None;
    if let Some(host) = store.host(start.as_deref().unwrap_or_default())? {
        let due = store.next_due(host.id, None)?;
        next_try_ms = due.map(|due| due.max(host.not_before_ms));
    }
    let resting = match &record {
        Some(record) => {
            frontier::longest_rest(store, record.id, now, patience_ms(pass_patience_ms))?
        }
        None => None,
    };
    let facts = SiteFacts {
        has_begun: record.as_ref().is_some_and(|r| r.last_cycle_ms.is_some()),
        is_over: counts.contains_key(ENDED_MS),
        visits: VisitCounts::from_counts(counts),
        unvisited: UnvisitedCounts::from_counts(counts),
        limits: CycleLimits::new(site, limits, pass_patience_ms),
        documents: number(counts, "documents"),
        last_error: record.and_then(|r| r.last_error),
        start: start.unwrap_or_default(),
        next_try_ms: next_try_ms.filter(|at| *at > now),
        resting,
        zone_s: chrono::Local::now().offset().fix().local_minus_utc(),
    };
    Ok(verdict::verdict(&facts))
}

fn patience_ms(pass_patience_ms: u64) -> i64 {
    i64::try_from(pass_patience_ms).unwrap_or(i64::MAX)
}

/// Name and settings of a site, to compare with those of another node.
fn digest(site: &Site) -> (&str, u64) {
    (&site.name, xxh3_64(format!("{site:?}").as_bytes()))
}
