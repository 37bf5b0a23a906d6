//! One site while it is crawled: its settings and when its next cycle is due. Time is passed in.

use std::sync::Arc;

use chrono::{DateTime, Offset};

use crate::daemon::shared::SiteRules;
use taojin_crawl::frontier::Patterns;
use taojin_crawl::schedule::{Cron, Site};
use taojin_crawl::store::{NewUrl, SiteRecord, UrlClass};
use taojin_uri::CrawlUri;

/// A site that is being crawled.
pub(crate) struct SiteRun {
    /// Its settings.
    pub(crate) site: Site,
    name: Arc<str>,
    schedule: Cron,
    next_ms: Option<i64>,
    /// When its cycle began, while that is not over.
    open_since_ms: Option<i64>,
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

    /// Its name.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// When the next cycle begins; none if the schedule has no further time, or the operator has paused the site.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.next_ms.filter(|_| !self.paused)
    }

    /// Whether a cycle should begin now.
    pub(crate) fn is_due(&self, now_ms: i64) -> bool {
        self.next_ms().is_some_and(|t| t <= now_ms)
    }

    /// Whether a cycle of all sites is one of it: it is due, or all are to be looked at again and it is not paused.
    pub(crate) fn is_wanted(&self, recheck: bool, now_ms: i64) -> bool {
        self.is_due(now_ms) || (recheck && !self.paused)
    }

    /// A cycle has begun.
    pub(crate) fn begun(&mut self, now_ms: i64) {
        self.next_ms = self.schedule.next_after(now_ms);
        self.open_since_ms = Some(now_ms);
    }

    /// The same site whose cycle goes on where the last run of the program left it, if it was not over.
    pub(crate) fn going_on(self, open_since_ms: Option<i64>) -> Self {
        Self {
            open_since_ms,
            ..self
        }
    }

    /// When its cycle began; none if that is over.
    pub(crate) fn open_since_ms(&self) -> Option<i64> {
        self.open_since_ms
    }

    /// Its cycle is over.
    pub(crate) fn ended(&mut self) {
        self.open_since_ms = None;
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

/// What visits must know of a site. A zone with summer time counts as it stands at `now_ms`.
pub(crate) fn rules(site: &Site, now_ms: i64) -> SiteRules {
    let zone = site.cron().ok().map(|cron| cron.zone());
    let now = DateTime::from_timestamp_millis(now_ms);
    let offset = zone
        .zip(now)
        .map(|(zone, now)| now.with_timezone(&zone).offset().fix());
    // Patterns that do not compile were refused with the configuration.
    let documents = Patterns::new(&site.scope.documents).unwrap_or_default();
    SiteRules {
        documents: Arc::new(documents),
        utc_offset_min: offset.map(|o| o.local_minus_utc() / 60),
        robots_sitemaps: site.robots_sitemaps,
    }
}
