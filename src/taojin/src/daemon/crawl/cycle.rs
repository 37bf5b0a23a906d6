//! The cycles of the sites, from their beginning to their end. In: the frontier's word that a site has nothing more to
//! do. Out: a line in the log, a mark in the store. A cycle is over when nothing of its site is being
//! fetched and nothing of it that is due may be fetched within `pass_patience_ms`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::Offset as _;

use super::state::{CrawlLoop, Every};
use crate::daemon::report::freshness::number;
use crate::daemon::report::summary::Summary;
use crate::daemon::report::verdict;
use crate::daemon::report::verdict::Facts;
use crate::serve::SiteVerdict;
use taojin_crawl::frontier::{
    self, BEYOND_HOPS, HOST_LIMITS, OUT_OF_SCOPE, SITE_FULL, SITE_LIMITS, Span,
};
use taojin_crawl::schedule::Site;
use taojin_crawl::store::{Reader, SiteCounts};

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

/// Sites whose cycle is not over are looked at this often.
const LOOK: Duration = Duration::from_secs(1);

/// How often the history of documents is looked through for what is older than the settings allow.
const FORGET_EVERY: Duration = Duration::from_secs(3600);

impl CrawlLoop {
    /// Forgets versions of documents that are too old, a few in each turn. What cannot be forgotten (full disk, damaged page)
    /// waits for the next time: the crawl goes on.
    pub(super) fn forget_old(&mut self, now: i64) {
        if !self.frontier.leads() || !self.forgot.is_due(FORGET_EVERY) {
            return;
        }
        match self.store.forget_old_documents(now) {
            Ok(0) => {}
            // There may be more.
            Ok(_) => self.forgot = Every::default(),
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
            let Some(began_ms) = site.open_since_ms() else {
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
                site.ended();
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
    pub(crate) fn look_after_watches(&mut self, now: i64) -> anyhow::Result<()> {
        if self.orders.watches.is_empty() {
            return Ok(());
        }
        let mut watches = std::mem::take(&mut self.orders.watches);
        let is_over = |name: &str| {
            let site = self.sites.get(name);
            site.is_none_or(|run| run.open_since_ms().is_none())
        };
        let sum_up = |sites: &BTreeSet<Arc<str>>, summary: &mut Summary| {
            let mut counts = self.store.counts()?;
            counts.sites.retain(|name, _| sites.contains(name.as_str()));
            summary.finish(&counts, now);
            let mut verdicts = self.verdicts(now)?;
            verdicts.retain(|name, _| sites.contains(name));
            summary.take_verdicts(verdicts);
            Ok(())
        };
        watches.end_cycles(self.shared.paused().as_deref(), is_over, sum_up)?;
        self.orders.watches = watches;
        Ok(())
    }
}

/// Statuses by which servers say that they do not want this reader.
const REFUSING: [&str; 4] = ["HTTP 401", "HTTP 403", "HTTP 429", "HTTP 451"];

/// Visits of the cycle that the site turned away, by a page or by the status.
pub(crate) fn turned_away(counts: &SiteCounts) -> u64 {
    let refused = REFUSING.map(|status| number(counts, &format!("{PROBLEM}{status}")));
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
    let problem = |(name, count): (&String, &i64)| {
        let word = name.strip_prefix(PROBLEM)?;
        Some((word.to_owned(), u64::try_from(*count).unwrap_or_default()))
    };
    let facts = Facts {
        has_begun: record.as_ref().is_some_and(|r| r.last_cycle_ms.is_some()),
        is_over: counts.contains_key(ENDED_MS),
        visits: number(counts, "cycle_visits"),
        usable: number(counts, USABLE),
        redirects: number(counts, REDIRECTS),
        blocking_pages: number(counts, BLOCKING_PAGES),
        entry_problems: number(counts, ENTRY_PROBLEMS),
        new_documents: number(counts, "cycle_new"),
        documents: number(counts, "documents"),
        left: number(counts, "new"),
        beyond_hops: number(counts, BEYOND_HOPS),
        out_of_scope: number(counts, OUT_OF_SCOPE),
        sitemaps_cut: number(counts, SITEMAPS_CUT),
        site_full: number(counts, SITE_FULL),
        hit_site_limit: number(counts, SITE_LIMITS) > 0,
        hit_host_limit: number(counts, HOST_LIMITS) > 0,
        problems: counts.iter().filter_map(problem).collect(),
        last_error: record.and_then(|r| r.last_error),
        start: start.unwrap_or_default(),
        resting,
        next_try_ms: next_try_ms.filter(|at| *at > now),
        max_hops: site.scope.max_hops,
        max_pages_per_cycle: site.max_pages_per_cycle,
        pages_per_host_per_cycle: limits.pages_per_host_per_cycle,
        max_urls_per_site: limits.max_urls_per_site,
        pass_patience_ms,
        zone_s: chrono::Local::now().offset().fix().local_minus_utc(),
    };
    Ok(verdict::verdict(&facts))
}

fn patience_ms(pass_patience_ms: u64) -> i64 {
    i64::try_from(pass_patience_ms).unwrap_or(i64::MAX)
}
