//! A site of a running crawl: its settings, its schedule and its cycle; the names of what is counted of a cycle, and its verdict.

use std::sync::Arc;

use crate::daemon::report::summary::number;
use crate::daemon::report::verdict::{
    self, CycleLimits, SiteFacts, UnvisitedCounts, VerdictTerms, VisitCounts,
};
use crate::serve::{QueueVisits, SiteVerdict};
use taojin_crawl::frontier;
use taojin_crawl::schedule::{Cron, Site};
use taojin_crawl::store::{NewUrl, Reader, SiteCounts, SiteRecord, UrlClass};
use taojin_crawl::{NoPage, Problem};
use taojin_uri::CrawlUri;

/// Counter of a cycle: visits that were answered with a page, or that it has not changed.
pub(crate) const USABLE: &str = "cycle_usable";
/// Visits that led to another address.
pub(crate) const REDIRECTS: &str = "cycle_redirects";
/// Visits that were answered with a page to sign in or to prove oneself at, or led to one.
pub(crate) const BLOCKING_PAGES: &str = "cycle_blocking_pages";
/// Pages with neither a text nor a link.
pub(crate) const BLANK_PAGES: &str = "cycle_blank_pages";
/// Pages other than seeds that are no longer there.
pub(crate) const MISSING: &str = "cycle_missing";
/// Seeds that did not come.
pub(crate) const ENTRY_PROBLEMS: &str = "cycle_entry_problems";
/// Sitemaps that were not read to their end.
pub(crate) const SITEMAPS_CUT: &str = "cycle_sitemaps_cut";
/// Lists that go on where no address leads, and pages of lists that did not come.
pub(crate) const LISTS_CUT: &str = "cycle_lists_cut";
/// Visits without a page, by the word that follows.
pub(crate) const PROBLEM: &str = "cycle_problem ";
/// Visits of one queue of each host, by the number that follows.
const QUEUE_VISITS: &str = "cycle_queue_visits ";
/// When the cycle was over, Unix milliseconds.
pub(crate) const ENDED_MS: &str = "cycle_ended_ms";

/// Name of the counter of a cycle: visits of this queue of each host.
pub(crate) fn queue_visits_counter(queue: u32) -> String {
    format!("{QUEUE_VISITS}{queue}")
}

/// Returns how many visits each queue of the site's hosts had in the cycle; of none if they have one queue each.
pub(crate) fn queue_visits(counts: &SiteCounts, site: &Site) -> QueueVisits {
    let queues = if site.queues > 1 { site.queues } else { 0 };
    let visits = (0..queues).map(|queue| number(counts, &queue_visits_counter(queue)));
    QueueVisits(visits.collect())
}

/// How the last cycle of a site went.
pub(crate) struct CycleResult {
    pub(crate) verdict: SiteVerdict,
    pub(crate) queue_visits: QueueVisits,
}

/// Statuses by which servers say that they do not want this reader.
const REFUSING: [u16; 4] = [401, 403, 429, 451];

/// A site that is being crawled.
pub(crate) struct SiteRun {
    /// Its settings.
    site: Site,
    name: Arc<str>,
    schedule: Cron,
    next_ms: Option<i64>,
    /// When its cycle began, while that is not over.
    open_since_ms: Option<i64>,
    paused: bool,
}

impl SiteRun {
    /// A site as the store knows it; its last cycle goes on unless it `is_over`. One that was never crawled, or whose time came
    /// while the daemon was down or the site was paused, is due at once.
    pub(crate) fn new(
        site: Site,
        record: Option<&SiteRecord>,
        is_over: bool,
        now_ms: i64,
    ) -> anyhow::Result<Self> {
        let schedule = site.cron()?;
        let last_cycle_ms = record.and_then(|r| r.last_cycle_ms);
        let next_ms = match last_cycle_ms {
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
            open_since_ms: last_cycle_ms.filter(|_| !is_over),
            paused: record.is_some_and(|r| r.paused_ms.is_some()),
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Its settings.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// When its cycle began, Unix milliseconds, while that is not over.
    pub(crate) fn open_since_ms(&self) -> Option<i64> {
        self.open_since_ms
    }

    /// The cycle is over.
    pub(crate) fn end_cycle(&mut self) {
        self.open_since_ms = None;
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
    terms: VerdictTerms,
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
            frontier::longest_rest(store, record.id, now, patience_ms(terms.pass_patience_ms))?
        }
        None => None,
    };
    let facts = SiteFacts {
        has_begun: record.as_ref().is_some_and(|r| r.last_cycle_ms.is_some()),
        is_over: counts.contains_key(ENDED_MS),
        visits: VisitCounts::from_counts(counts),
        unvisited: UnvisitedCounts::from_counts(counts),
        limits: CycleLimits::new(site, limits, terms.pass_patience_ms),
        documents: number(counts, "documents"),
        last_error: record.and_then(|r| r.last_error),
        start: start.unwrap_or_default(),
        next_try_ms: next_try_ms.filter(|at| *at > now),
        resting,
        utc_offset_minutes: terms.utc_offset_minutes,
    };
    Ok(verdict::verdict(&facts))
}

fn patience_ms(pass_patience_ms: u64) -> i64 {
    i64::try_from(pass_patience_ms).unwrap_or(i64::MAX)
}
