//! What the threads of the daemon tell each other beside the channels: that they get on, how far the index
//! is behind, when the next cycles begin. Never waits.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::Clock;
use super::index::RebuildProgress;
use super::watchdog::{Liveness, Worker};
use crate::serve::Readiness;
use taojin_crawl::scope::Patterns;
use taojin_crawl::store::NodeLease;
use taojin_crawl::{fetch, frontier};
use taojin_search::index::RecutProgress;

/// Locks a value that is whole at any time, whoever panicked while holding it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a visit must know of its site.
#[derive(Debug, Clone)]
pub(super) struct SiteRules {
    /// Pages that are documents whatever they read like.
    pub(super) documents: Arc<Patterns>,
    /// Minutes east of UTC of times on its pages that name no zone.
    pub(super) utc_offset_min: Option<i32>,
    /// Whether the sitemaps that robots.txt names are read.
    pub(super) robots_sitemaps: bool,
    /// Whether files that its pages offer are read, and up to which size, where that is not the usual one.
    pub(super) attachments: bool,
    pub(super) max_attachment_bytes: Option<u64>,
}

/// What the threads tell each other beside the channels.
#[derive(Debug, Default)]
pub struct Shared {
    liveness: Liveness,
    document_seq: AtomicU64,
    in_flight: AtomicU64,
    indexed_seq: AtomicU64,
    /// An operator wants the index to be made again.
    reindex: AtomicBool,
    /// How far the index is that is being made again.
    reindexing: Mutex<Option<RebuildProgress>>,
    /// How far documents are cut again for terms that came or went.
    recut: Mutex<Option<RecutProgress>>,
    /// How often one was finished.
    reindexed: AtomicU64,
    next_cycles: Mutex<BTreeMap<String, Option<i64>>>,
    rules: Mutex<BTreeMap<String, SiteRules>>,
    paused: Mutex<Option<String>>,
    refused: Mutex<Option<String>>,
    stopping: AtomicBool,
    /// The crawl loop has done its work.
    over: AtomicBool,
    frontier: Mutex<Option<frontier::Stats>>,
    /// Another node does what one node does for all.
    follows_another: AtomicBool,
    clock: Clock,
    /// The lease of a node; of no meaning where the store is a file.
    node: NodeLease,
    /// The documents are copied from a database and not all of them are yet.
    copying: AtomicBool,
    /// The index has all documents that were there at the start, or when it was lost.
    caught_up: AtomicBool,
}

impl Shared {
    /// With the clock of a crawl.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            ..Self::default()
        }
    }

    /// The time of the crawl, Unix milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The crawl's clock.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The crawl loop ends: the other workers follow.
    pub(super) fn set_over(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Whether the daemon is winding down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// A worker gets on.
    pub(super) fn record_heartbeat(&self, worker: Worker) {
        self.liveness.record_heartbeat(worker, Instant::now());
    }

    /// A worker cannot get on and tries again: for too long is stuck.
    pub(super) fn fails(&self, worker: Worker, problem: impl Display) {
        let problem = format!("{problem:#}");
        self.liveness.fails(worker, Instant::now(), problem);
    }

    /// A worker waits for something that a new start would not bring either.
    pub(super) fn waits(&self, worker: Worker, problem: impl Display) {
        let problem = format!("{problem:#}");
        self.liveness.waits(worker, Instant::now(), problem);
    }

    /// Which workers do not get on, and why; none when all do.
    pub fn trouble(&self, now: Instant) -> Option<String> {
        let mut states = self.liveness.states(now);
        states.retain(|state| state.stuck || state.problem.is_some());
        let each: Vec<String> = states.iter().map(ToString::to_string).collect();
        (!each.is_empty()).then(|| each.join("; "))
    }

    /// Whether the workers get on.
    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// The lease of this node, whether it has one yet or not; whether the database answers.
    pub(super) fn node(&self) -> &NodeLease {
        &self.node
    }

    /// The last change of a document that is stored.
    pub(super) fn set_document_seq(&self, seq: u64) {
        self.document_seq.fetch_max(seq, Ordering::Relaxed);
    }

    /// Whether documents that the index is made of are still to come from the database.
    pub(super) fn set_copying(&self, copying: bool) {
        self.copying.store(copying, Ordering::SeqCst);
    }

    pub(super) fn is_copying(&self) -> bool {
        self.copying.load(Ordering::SeqCst)
    }

    /// Whether the index has all documents but for those that come now.
    pub(super) fn set_caught_up(&self, caught_up: bool) {
        self.caught_up.store(caught_up, Ordering::SeqCst);
    }

    /// Whether searches are answered, and how well.
    pub(super) fn readiness(&self) -> Readiness {
        if !self.caught_up.load(Ordering::SeqCst) {
            let indexed = self.indexed();
            return Readiness::Filling { indexed };
        }
        if self.node.is_silent() {
            Readiness::Degraded
        } else {
            Readiness::Ready
        }
    }

    /// Pages that are being visited.
    pub(super) fn set_in_flight(&self, pages: usize) {
        self.in_flight.store(pages as u64, Ordering::Relaxed);
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Asks for the index to be made again.
    pub(super) fn request_reindex(&self) {
        self.reindex.store(true, Ordering::Relaxed);
    }

    /// Whether that was requested since the last call.
    pub(super) fn take_reindex_request(&self) -> bool {
        self.reindex.swap(false, Ordering::Relaxed)
    }

    /// How far the new index is; none when it is in its place.
    pub(super) fn set_reindexing(&self, progress: Option<RebuildProgress>) {
        if progress.is_none() {
            self.reindexed.fetch_add(1, Ordering::Relaxed);
        }
        *lock(&self.reindexing) = progress;
    }

    /// How far the index is that is being made again, if one is.
    pub fn reindexing(&self) -> Option<RebuildProgress> {
        *lock(&self.reindexing)
    }

    /// Notes how far documents are cut again; gives how far they were.
    pub(super) fn set_recut(&self, progress: Option<RecutProgress>) -> Option<RecutProgress> {
        std::mem::replace(&mut *lock(&self.recut), progress)
    }

    /// How far documents are cut again, if any are to be.
    pub fn recut(&self) -> Option<RecutProgress> {
        *lock(&self.recut)
    }

    /// How often the index was made again since the start.
    pub(super) fn reindexed(&self) -> u64 {
        self.reindexed.load(Ordering::Relaxed)
    }

    /// Whether so much waits for the index that the crawl should wait too. While the index is made again it does not: the
    /// store keeps everything.
    pub(super) fn is_lagging(&self, most: u64) -> bool {
        self.index_lag() > most && self.reindexing().is_none()
    }

    pub(super) fn set_indexed(&self, seq: u64) {
        self.indexed_seq.store(seq, Ordering::Relaxed);
    }

    pub(super) fn indexed(&self) -> u64 {
        self.indexed_seq.load(Ordering::Relaxed)
    }

    /// Documents stored that the index has not committed.
    pub fn index_lag(&self) -> u64 {
        self.document_seq
            .load(Ordering::Relaxed)
            .saturating_sub(self.indexed())
    }

    pub(super) fn set_next_cycles(&self, cycles: BTreeMap<String, Option<i64>>) {
        *lock(&self.next_cycles) = cycles;
    }

    /// When each site's next cycle begins, Unix milliseconds.
    pub fn next_cycles(&self) -> BTreeMap<String, Option<i64>> {
        lock(&self.next_cycles).clone()
    }

    pub(super) fn set_paused(&self, why: Option<String>) {
        *lock(&self.paused) = why;
    }

    /// Why nothing is fetched at the moment, if crawling pauses.
    pub fn paused(&self) -> Option<String> {
        lock(&self.paused).clone()
    }

    /// Whether this node does what one node does for all.
    pub(super) fn set_leads(&self, leads: bool) {
        self.follows_another.store(!leads, Ordering::Relaxed);
    }

    /// Whether this node sends hits to webhooks and forgets old versions of documents: one of a cluster does.
    pub(super) fn leads(&self) -> bool {
        !self.follows_another.load(Ordering::Relaxed)
    }

    pub(super) fn set_frontier(&self, stats: frontier::Stats) {
        *lock(&self.frontier) = Some(stats);
    }

    /// Numbers of the frontier as of its last commit; none before it.
    pub(super) fn frontier(&self) -> Option<frontier::Stats> {
        *lock(&self.frontier)
    }

    pub(super) fn set_refused(&self, why: Option<String>) {
        *lock(&self.refused) = why;
    }

    /// What the operator should know of the last reload, if it was refused.
    pub fn refused(&self) -> Option<String> {
        let why = lock(&self.refused).clone()?;
        Some(format!("the last reload was refused: {why}"))
    }

    pub(super) fn set_rules(&self, rules: BTreeMap<String, SiteRules>) {
        *lock(&self.rules) = rules;
    }

    /// The rules of a site; `None` if it is no longer crawled.
    pub(super) fn rules(&self, site: &str) -> Option<SiteRules> {
        lock(&self.rules).get(site).cloned()
    }
}

impl fetch::Clock for Shared {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    fn sleep(&self, ms: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let wait = self.clock.real(ms);
        // A visit that waits for a host which asks for minutes is not stuck; but what it waits for comes.
        let limit = Worker::Fetching.limit() + wait;
        (self.liveness).expect_within(Worker::Fetching, Instant::now(), limit);
        Box::pin(tokio::time::sleep(wait))
    }
}
