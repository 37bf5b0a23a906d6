//! The settings of each site that its visits need.
//!
//! The crawl loop replaces the [`SiteRulesTable`] when it takes up sites; the fetch tasks look their site up in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Offset as _};

use crate::daemon::shared::lock;
use taojin_crawl::schedule::{Comments, Site};
use taojin_crawl::scope::Patterns;

/// What a visit must know of its site.
#[derive(Debug, Clone)]
pub(crate) struct SiteRules {
    /// Pages that are documents whatever they read like.
    pub(crate) documents: Arc<Patterns>,
    /// Minutes east of UTC of times on its pages that name no zone.
    pub(crate) utc_offset_min: Option<i32>,
    /// Whether the sitemaps that robots.txt names are read.
    pub(crate) robots_sitemaps: bool,
    /// Whether the comments that its pages load by script are requested.
    pub(crate) follows_comments: bool,
    /// Whether files that its pages offer are read.
    pub(crate) attachments: bool,
    /// Up to which size they are, where that is not the usual one.
    pub(crate) max_attachment_bytes: Option<u64>,
}

impl SiteRules {
    /// The rules by these settings. A zone with summer time counts as it is at `now_ms`, Unix milliseconds.
    pub(crate) fn new(site: &Site, now_ms: i64) -> Self {
        let zone = site.cron().ok().map(|cron| cron.zone());
        let now = DateTime::from_timestamp_millis(now_ms);
        let offset = zone
            .zip(now)
            .map(|(zone, now)| now.with_timezone(&zone).offset().fix());
        // Patterns that do not compile were refused with the configuration.
        let documents = Patterns::new(&site.scope.documents).unwrap_or_default();
        Self {
            documents: Arc::new(documents),
            utc_offset_min: offset.map(|o| o.local_minus_utc() / 60),
            robots_sitemaps: site.robots_sitemaps,
            follows_comments: site.scope.comments == Comments::Follow,
            attachments: site.attachments,
            max_attachment_bytes: site.max_attachment_bytes,
        }
    }
}

/// The rules of all sites that are crawled, by name.
#[derive(Debug, Default)]
pub(crate) struct SiteRulesTable(Mutex<BTreeMap<String, SiteRules>>);

impl SiteRulesTable {
    /// Takes the place of all rules there were.
    pub(crate) fn replace(&self, rules: BTreeMap<String, SiteRules>) {
        *lock(&self.0) = rules;
    }

    /// Returns the rules of a site; `None` if it is no longer crawled.
    pub(crate) fn find(&self, site: &str) -> Option<SiteRules> {
        lock(&self.0).get(site).cloned()
    }
}
