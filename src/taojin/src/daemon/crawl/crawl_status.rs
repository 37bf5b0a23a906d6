//! What the crawler publishes of itself, for the status page and for the threads beside the crawl.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::daemon::shared::lock;
use taojin_crawl::frontier;

/// The crawl's state as of its last turn. The crawler alone sets it.
#[derive(Debug, Default)]
pub(crate) struct CrawlStatus {
    in_flight: AtomicU64,
    next_cycles: Mutex<BTreeMap<String, Option<i64>>>,
    frontier: Mutex<Option<frontier::Stats>>,
    follows_another: AtomicBool,
}

impl CrawlStatus {
    pub(crate) fn set_in_flight(&self, pages: usize) {
        self.in_flight.store(pages as u64, Ordering::Relaxed);
    }

    /// Returns how many pages are being visited.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn set_next_cycles(&self, cycles: BTreeMap<String, Option<i64>>) {
        *lock(&self.next_cycles) = cycles;
    }

    /// Returns when the next cycle of each site begins, Unix milliseconds; `None` for a site that has none.
    pub(crate) fn next_cycles(&self) -> BTreeMap<String, Option<i64>> {
        lock(&self.next_cycles).clone()
    }

    pub(crate) fn set_frontier(&self, stats: frontier::Stats) {
        *lock(&self.frontier) = Some(stats);
    }

    /// Returns the numbers of the frontier as of its last commit; `None` before it.
    pub(crate) fn frontier(&self) -> Option<frontier::Stats> {
        *lock(&self.frontier)
    }

    pub(crate) fn set_leads(&self, leads: bool) {
        self.follows_another.store(!leads, Ordering::Relaxed);
    }

    /// Whether this node does what one node does for all: sends hits to webhooks, forgets old versions of documents. A node
    /// that shares its store with no other one leads.
    pub(crate) fn leads(&self) -> bool {
        !self.follows_another.load(Ordering::Relaxed)
    }
}
