//! What the threads of the daemon tell each other beside the channels.
//!
//! [`Shared`] holds one part for each concern. What needs a single part takes that, and not the whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Clock;
use super::clock::FetchClock;
use super::control::page_fetcher::CrawlGate;
use super::crawl::crawl_status::CrawlStatus;
use super::crawl::disk::Pause;
use super::crawl::site_rules::SiteRulesTable;
use super::index::IndexProgress;
use super::reloading::LastReload;
use super::watchdog::{Heartbeat, Liveness, Worker};
use taojin_crawl::store::NodeLease;
use taojin_search::index::CancellationToken;

/// Locks a value that is whole at any time, whoever panicked while holding it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the daemon is stopping, and whether its crawl has ended.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    is_stopping: AtomicBool,
    is_crawl_over: AtomicBool,
    engine_stop: CancellationToken,
}

impl Lifecycle {
    /// Tells all workers to wind down.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the daemon is winding down.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Ends what the indexer asks of an engine, once a stop has no more time for it.
    pub(super) fn engine_stop(&self) -> &CancellationToken {
        &self.engine_stop
    }

    /// Notes that the crawl loop has done its work: the other workers end after it.
    pub(super) fn end_crawl(&self) {
        self.is_crawl_over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_crawl_over(&self) -> bool {
        self.is_crawl_over.load(Ordering::SeqCst)
    }
}

/// What the threads of one daemon share. A command that works without a daemon has one of its own.
#[derive(Debug, Default)]
pub struct Shared {
    clock: Clock,
    /// Of no meaning where the store is a file.
    node: NodeLease,
    lifecycle: Arc<Lifecycle>,
    liveness: Arc<Liveness>,
    crawl: Arc<CrawlStatus>,
    pause: Arc<Pause>,
    rules: Arc<SiteRulesTable>,
    index: Arc<IndexProgress>,
    reload: Arc<LastReload>,
    gate: CrawlGate,
}

impl Shared {
    /// With the clock of a crawl.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            ..Self::default()
        }
    }

    /// The crawl's clock.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The time of the crawl, Unix milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The crawl's clock for what waits inside of a visit.
    pub(super) fn fetch_clock(&self) -> FetchClock {
        FetchClock::new(self.clock.clone(), self.heartbeat(Worker::Fetching))
    }

    /// The lease of this node, whether it has one yet or not; whether the database answers.
    pub(super) fn node(&self) -> &NodeLease {
        &self.node
    }

    /// Whether the daemon stops.
    pub(super) fn lifecycle(&self) -> &Arc<Lifecycle> {
        &self.lifecycle
    }

    /// Whether the workers get on.
    pub(super) fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// Through this a worker reports that it gets on.
    pub(super) fn heartbeat(&self, worker: Worker) -> Heartbeat {
        Heartbeat::new(Arc::clone(&self.liveness), worker)
    }

    /// What the crawl loop publishes of itself.
    pub(super) fn crawl(&self) -> &Arc<CrawlStatus> {
        &self.crawl
    }

    /// Whether crawling pauses.
    pub(super) fn pause(&self) -> &Arc<Pause> {
        &self.pause
    }

    /// What visits must know of each site.
    pub(super) fn site_rules(&self) -> &Arc<SiteRulesTable> {
        &self.rules
    }

    /// How far the index is.
    pub(super) fn index(&self) -> &Arc<IndexProgress> {
        &self.index
    }

    /// Where pages are fetched for a person.
    pub(super) fn gate(&self) -> &CrawlGate {
        &self.gate
    }

    /// How the last reload of the configuration went.
    pub(super) fn reload(&self) -> &Arc<LastReload> {
        &self.reload
    }
}
