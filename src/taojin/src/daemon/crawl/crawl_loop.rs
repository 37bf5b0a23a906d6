//! The crawl loop: the thread that owns the frontier, and alone writes pages and addresses into the store.
//!
//! It takes [`Event`]s (finished visits, requests of the operator) and new settings, hands leases to the fetch tasks, and
//! commits finished pages in groups, each in one durable transaction, with a line in the crawl log for each page. It never
//! fetches and never parses.
//!
//! [`open_loop`] takes up the sites of a configuration, [`CrawlLoop::run`] turns until it is told to stop or its pass is done.
//! A transaction that fails is tried again until it works or the daemon stops; a database that is away is waited for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};

use super::archive::Replay;
use super::crawl_log::CrawlLog;
use super::disk::{self, DiskWatch};
use super::judge::Walls;
use super::sharing::{LOOK_SOON, Sharing, is_outage, refuse};
use super::sites::SiteRun;
use super::visit::article::OpenArticle;
use super::visit::visitor::{VisitSource, VisitTask};
use super::visit::{EndedLease, FinishedVisit, Visit};
use crate::config::{CrawlConfig, LoadedConfig};
use crate::daemon::control::{PendingRequest, Watches, commands};
use crate::daemon::learn::learner::Learner;
use crate::daemon::learn::templates::{Seen, Templates};
use crate::daemon::reloading::Current;
use crate::daemon::report::summary::Summary;
use crate::daemon::report::tally::CrawlTally;
use crate::daemon::watchdog::Worker;
use crate::daemon::{Mode, ProgressCallback, Shared};
use crate::documents::IndexAt;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::Gate;
use taojin_crawl::frontier::{Frontier, Lease, LeaseOutcome, Next};
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{
    self, Batch, HELD_MS, NewUrl, Store, StoreError, StorePlace, UrlId, UrlRecord,
};
use taojin_uri::CrawlUri;

/// The loop turns at least this often: schedules, the watchdog.
const TURN: Duration = Duration::from_millis(500);

/// An archive has the time of an answer, the store that of the end of its visit: within so many milliseconds they are of one.
const SAME_VISIT_MS: i64 = 10_000;

/// A single pass waits so long for other nodes to hand partitions over to it.
const WAIT_FOR_SHARE: Duration = Duration::from_secs(40);

/// Pages in one transaction at most.
const BATCH_PAGES: usize = 256;
/// A finished page is durable after this time at the latest.
pub(super) const BATCH_AGE: Duration = Duration::from_millis(200);
/// Pause before a failed transaction (full disk) is tried again.
pub(crate) const RETRY: Duration = Duration::from_secs(2);

/// The database is asked again so often.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Pages seen that wait for the learner; what comes while it learns and finds no room is not learned from.
const SEEN_PAGES: usize = 256;

/// What reaches the loop from outside.
pub(crate) enum Event {
    /// A lease has ended.
    Finished(Box<EndedLease>),
    /// The operator asks for something.
    Request(Box<PendingRequest>),
    /// Wind down.
    Stop,
}

/// The loop's state.
pub(crate) struct CrawlLoop {
    pub(crate) store: Store,
    /// Archives that the pages come from, instead of the network.
    pub(crate) replay: Option<Replay>,
    /// What all requests of the visits pass.
    pub(crate) gate: Arc<Gate>,
    pub(crate) frontier: Frontier,
    pub(crate) config: CrawlConfig,
    pub(crate) revisit: schedule::Config,
    pub(crate) mode: Mode,
    pub(crate) sites: BTreeMap<Arc<str>, SiteRun>,
    pub(crate) events: Receiver<Event>,
    pub(crate) leases: tokio::sync::mpsc::Sender<VisitTask>,
    pub(crate) index_wake: SyncSender<()>,
    pub(crate) log: CrawlLog,
    pub(crate) disk: DiskWatch,
    pub(crate) shared: Arc<Shared>,
    pub(crate) progress: Option<ProgressCallback>,
    pub(crate) summary: CrawlTally,
    /// Known addresses that a pass is still to fetch, about: what a limit holds back is among them.
    pub(crate) left: u64,
    pub(crate) walls: Walls,
    /// Addresses of pages on which others were found a moment ago.
    pub(crate) lists: HashMap<UrlId, Option<CrawlUri>>,
    pub(crate) batch: Batch,
    /// When the first page of the batch came.
    pub(crate) batch_since: Option<Instant>,
    pub(crate) stop_at: Option<Instant>,
    /// When the cycles are checked for one that is over.
    pub(crate) cycles_looked: Interval,
    pub(crate) sharing: Sharing,
    /// When the history of documents is looked through.
    pub(crate) forgot: Interval,
    /// The configuration of this moment.
    pub(crate) current: watch::Receiver<Current>,
    /// All sites of the configuration, those that are not enabled too.
    pub(crate) configured: Vec<Site>,
    pub(crate) index: IndexAt,
    pub(crate) orders: ManualVisits,
    pub(crate) learner: Option<SyncSender<Seen>>,
}

/// What was requested one by one.
#[derive(Default)]
pub(crate) struct ManualVisits {
    /// URLs that were requested by hand and wait for their hosts.
    pub(crate) asked: Vec<UrlId>,
    /// Articles that wait for their next page, by the row of the first: it is among `asked`.
    pub(crate) open: HashMap<UrlId, Box<OpenArticle>>,
    /// URLs that were purged while they were being fetched: what comes of them is dropped.
    pub(crate) forgotten: HashSet<UrlId>,
    pub(crate) watches: Watches,
}

/// Something that is done every so often, the first time at once.
#[derive(Debug, Default)]
pub(crate) struct Interval(Option<Instant>);

impl Interval {
    /// Whether it is time again; if so, it counts as done now.
    pub(crate) fn is_due(&mut self, every: Duration) -> bool {
        let is_due = self.0.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

impl CrawlLoop {
    /// Turns until told to stop, or until the pass is done.
    pub(crate) fn run(mut self) -> anyhow::Result<Summary> {
        let ended = loop {
            match self.turn() {
                Err(error) if self.waits_out(&error) => match self.wait_for_database(error) {
                    Ok(true) => {}
                    Ok(false) => {
                        tracing::warn!(
                            "stopped while the database was away: what was not stored is fetched again"
                        );
                        break Ok(());
                    }
                    Err(error) => break Err(error),
                },
                ended => break ended,
            }
        };
        // Before the other workers end, whose channels go with the loop.
        self.shared.lifecycle().end_crawl();
        ended.map(|()| self.summary.into_summary())
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        self.start_pass()?;
        loop {
            let now = self.shared.now_ms();
            self.shared.heartbeat(Worker::CrawlLoop).record();
            if self.shared.lifecycle().is_stopping() {
                self.handle_event(Event::Stop)?;
            }
            self.apply_new_sites(now)?;
            self.share_partitions(now)?;
            self.start_due_cycles(now)?;
            self.end_cycles(now, false)?;
            self.forget_old(now);
            self.poll_watches(now)?;
            if self.is_over(now)? {
                break;
            }
            let next = self.dispatch_leases(now)?;
            self.shared.crawl().set_in_flight(self.frontier.in_flight());
            if self.commit_is_due(now, &next) {
                self.commit(now)?;
                continue;
            }
            if self.replay.is_some() && next == Next::Idle && !self.is_busy() {
                break;
            }
            match self.events.recv_timeout(self.event_timeout(&next, now)) {
                Ok(event) => self.handle_event(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(event) = self.events.try_recv() {
                self.handle_event(event)?;
            }
        }
        self.frontier.end_turns(&self.store, self.shared.now_ms());
        self.frontier.release_all();
        self.commit(self.shared.now_ms())?;
        let now = self.shared.now_ms();
        self.end_cycles(now, true)?;
        self.sum_up(now)?;
        self.frontier.close(&self.store);
        Ok(())
    }

    /// What a pass did, site by site, and what it left.
    fn sum_up(&mut self, now: i64) -> anyhow::Result<()> {
        let counts = self.store.counts()?;
        self.summary.finish(&counts, now);
        if matches!(self.mode, Mode::Pass { .. }) {
            let resting = self.frontier.resting(&self.store, &self.pass(now))?;
            self.summary.take_resting(&resting);
            let verdicts = self.verdicts(now)?;
            self.summary.take_verdicts(verdicts);
        }
        Ok(())
    }

    /// Starts the cycles that a single pass asks for.
    fn start_pass(&mut self) -> anyhow::Result<()> {
        self.wait_for_share()?;
        if let Mode::Visit { url } = &self.mode {
            let url = url.clone();
            self.request_visit(&url, self.shared.now_ms())?;
        }
        let Mode::Pass { sites, recheck } = &self.mode else {
            return Ok(());
        };
        let (named, recheck) = (sites.clone(), *recheck);
        let now = self.shared.now_ms();
        let names: Vec<Arc<str>> = self.sites.keys().cloned().collect();
        let is_named = |name: &Arc<str>| named.iter().any(|n| **n == **name);
        let only: Vec<Arc<str>> = names.iter().filter(|n| is_named(n)).cloned().collect();
        self.frontier.give_out_only(&only);
        if !only.is_empty() {
            self.sites.retain(|name, _| is_named(name));
        }
        if self.is_paused() {
            return Ok(());
        }
        for name in self.sites.keys().cloned().collect::<Vec<_>>() {
            let wanted = if named.is_empty() {
                self.sites[&name].is_wanted(recheck, now)
            } else {
                is_named(&name)
            };
            if !wanted {
                continue;
            }
            if !named.is_empty() {
                commands::ensure_not_paused(&self.store, &name)?;
            }
            self.start_cycle(&name, now)?;
            if recheck {
                self.frontier
                    .recheck_articles(&mut self.store, &name, now)?;
            }
        }
        if self.progress.is_some() {
            self.left = self.frontier.count_due(&self.store, now)?;
        }
        Ok(())
    }

    /// Starts the cycles whose time has come; only the daemon does.
    fn start_due_cycles(&mut self, now: i64) -> anyhow::Result<()> {
        if self.stop_at.is_some() || self.mode != Mode::Forever || self.is_paused() {
            return Ok(());
        }
        let due: Vec<Arc<str>> = self
            .sites
            .iter()
            .filter(|(_, s)| s.is_due(now))
            .map(|(n, _)| Arc::clone(n))
            .collect();
        for name in due {
            self.start_cycle(&name, now)?;
        }
        Ok(())
    }

    /// How many addresses became due.
    pub(crate) fn start_cycle(&mut self, name: &Arc<str>, now: i64) -> anyhow::Result<usize> {
        let Some(site) = self.sites.get_mut(name) else {
            return Ok(0);
        };
        site.record_start(now);
        self.batch.urls.extend(site.entry_urls());
        self.publish_next_cycles();
        self.batch.count(name, "cycles", 1);
        // The seeds must be there before the cycle makes them due.
        self.commit(now)?;
        let due = self.frontier.begin_cycle(&mut self.store, name, now)?;
        tracing::info!(site = %name, due, "cycle begins");
        Ok(due)
    }

    fn handle_event(&mut self, event: Event) -> anyhow::Result<()> {
        let now = self.shared.now_ms();
        match event {
            Event::Finished(ended) => match &mut self.replay {
                Some(replay) => replay.take(*ended),
                None => self.take_ended(*ended, now)?,
            },
            Event::Request(request) => self.handle_request(&request, now),
            Event::Stop => {
                self.orders.watches.stop();
                let grace = Duration::from_millis(self.config.stop_grace_ms);
                self.stop_at.get_or_insert_with(|| Instant::now() + grace);
            }
        }
        Ok(())
    }

    pub(crate) fn publish_next_cycles(&self) {
        let cycles = self
            .sites
            .values()
            .map(|s| (s.site.name.clone(), s.next_ms()));
        self.shared.crawl().set_next_cycles(cycles.collect());
    }

    /// Whether nothing is left to do: for a pass, nothing that is due may be fetched within `pass_patience_ms`; for one visit,
    /// nothing that was asked for waits, whatever else is due. Asked before more is handed out, since what failed and is due again at once would else keep a pass going.
    fn is_over(&self, now: i64) -> anyhow::Result<bool> {
        if let Some(at) = self.stop_at {
            return Ok(!self.is_busy() || Instant::now() >= at);
        }
        let is_stored = self.batch.pages.is_empty() && self.batch.urls.is_empty();
        if self.mode == Mode::Forever || self.replay.is_some() || self.is_busy() || !is_stored {
            return Ok(false);
        }
        if self.shared.pause().is_active() {
            return Ok(true);
        }
        if self.shared.index().is_lagging(self.config.max_outbox) || !self.orders.open.is_empty() {
            return Ok(false);
        }
        if matches!(self.mode, Mode::Visit { .. }) {
            return Ok(self.orders.asked.is_empty());
        }
        Ok(!self.frontier.has_work(&self.store, &self.pass(now))?)
    }

    /// Whether a page is being fetched, or read from an archive.
    fn is_busy(&self) -> bool {
        self.frontier.in_flight() > 0 || self.replay.as_ref().is_some_and(Replay::is_busy)
    }

    /// How long to wait for an event.
    fn event_timeout(&self, next: &Next, now: i64) -> Duration {
        let mut patience = TURN;
        if let Next::Wait { until_ms, .. } = next {
            let wait = self.shared.clock().real((until_ms - now).max(0));
            patience = patience.min(wait);
        }
        if let Some(since) = self.batch_since {
            patience = patience.min(BATCH_AGE.saturating_sub(since.elapsed()));
        }
        patience.max(Duration::from_millis(1))
    }

    /// Hands out leases until a limit is reached; gives what the frontier says then.
    pub(super) fn dispatch_leases(&mut self, now: i64) -> anyhow::Result<Next> {
        if self.is_paused() {
            // The daemon waits for room; a single pass ends.
            return Ok(match self.mode {
                Mode::Forever => in_a_second(now),
                _ => Next::Idle,
            });
        }
        if !self.store.is_leased()? {
            // The lease comes back with the database.
            return Ok(in_a_second(now));
        }
        if self.replay.is_some() {
            return Ok(self.hand_out_archived(now));
        }
        let mut soonest = None;
        loop {
            let full = self.frontier.in_flight() >= self.config.max_connections;
            let lagging = self.shared.index().is_lagging(self.config.max_outbox);
            if self.stop_at.is_some() || full || lagging {
                return Ok(in_a_second(now));
            }
            if !self.orders.asked.is_empty() {
                soonest = self.hand_out_asked(now)?;
            }
            if matches!(self.mode, Mode::Visit { .. }) {
                return Ok(wait_for(Next::Idle, soonest));
            }
            match self.frontier.next(&self.store, now)? {
                Next::Fetch(lease) => {
                    if !self.dispatch(*lease, now) {
                        return Ok(Next::Idle);
                    }
                }
                other => return Ok(wait_for(other, soonest)),
            }
        }
    }

    /// Gives a lease to the fetch side, or back to the frontier; whether it was taken. The channel has room for every connection, so
    /// it is refused only when the fetch side is gone.
    fn dispatch(&mut self, lease: Lease, now: i64) -> bool {
        let article = self.orders.open.remove(&lease.record.id);
        let from = article.map_or(VisitSource::Network, VisitSource::NextPage);
        let sent = self.leases.try_send(VisitTask { lease, from });
        if let Err(refused) = sent {
            self.frontier.release(&refused.into_inner().lease, now);
            return false;
        }
        true
    }

    /// Whether the disk is too full for more.
    pub(crate) fn is_paused(&mut self) -> bool {
        let low = self.disk.look().map(str::to_owned);
        if low.is_some() {
            self.summary.set_paused(low.clone());
        }
        let paused = low.is_some();
        self.shared.pause().set(low);
        paused
    }

    /// Hands out what was requested, as far as the hosts may be asked; when the next of it may be.
    fn hand_out_asked(&mut self, now: i64) -> anyhow::Result<Option<i64>> {
        let patience = i64::try_from(self.config.pass_patience_ms).unwrap_or(i64::MAX);
        let is_visit = matches!(self.mode, Mode::Visit { .. });
        let mut soonest: Option<i64> = None;
        let asked = std::mem::take(&mut self.orders.asked);
        for (at, &id) in asked.iter().enumerate() {
            let answer = self.frontier.lease_now(&self.store, id, now);
            let answer = answer.inspect_err(|_| self.orders.asked.extend(&asked[at..]))?;
            match answer {
                LeaseOutcome::Fetch(lease) => {
                    if !self.dispatch(*lease, now) {
                        self.orders.asked.push(id);
                    }
                }
                LeaseOutcome::Later(at_ms) => {
                    soonest = Some(soonest.map_or(at_ms, |s| s.min(at_ms)));
                    if at_ms - now > patience {
                        let wait_s = (at_ms - now) / 1000;
                        let reason = format!(
                            "its host may not be asked for another {wait_s} s; it is visited then"
                        );
                        self.orders.watches.put_off(id, &reason);
                        // It is due in the store: a later crawl makes the visit.
                        if is_visit {
                            self.orders.open.remove(&id);
                            continue;
                        }
                    }
                    self.orders.asked.push(id);
                }
                LeaseOutcome::UnderWay => {}
                LeaseOutcome::Elsewhere => {
                    self.orders.open.remove(&id);
                    self.store.make_due(id, now)?;
                    self.orders.watches.put_off(
                        id,
                        "another node crawls its host, and visits it when its turn comes",
                    );
                }
                LeaseOutcome::Never => {
                    self.orders.open.remove(&id);
                    self.orders
                        .watches
                        .put_off(id, "it may not be visited any more");
                }
            }
        }
        Ok(soonest)
    }

    /// Hands out archived answers until there is no more room.
    pub(crate) fn hand_out_archived(&mut self, now: i64) -> Next {
        loop {
            let lagging = self.shared.index().is_lagging(self.config.max_outbox);
            let Some(replay) = &mut self.replay else {
                return Next::Idle;
            };
            let full = replay.in_flight + replay.arrived.len() >= self.config.max_connections;
            if lagging || full || self.stop_at.is_some() {
                return in_a_second(now);
            }
            let Some(work) = replay.next(now) else {
                return Next::Idle;
            };
            // The channel has room for every connection, so this fails only when the fetch side is gone.
            if self.leases.try_send(work).is_err() {
                return Next::Idle;
            }
            replay.in_flight += 1;
        }
    }

    /// Returns the answers that were read their records and takes them, in the order in which they were archived.
    pub(crate) fn take_archived(&mut self, now: i64) -> anyhow::Result<()> {
        let Some(replay) = &mut self.replay else {
            return Ok(());
        };
        self.summary
            .add_problems(std::mem::take(&mut replay.problems));
        let mut arrived = std::mem::take(&mut replay.arrived);
        // What is no page would not have been linked to either.
        arrived.retain(|f| !is_foreign(&f.visit));
        arrived.sort_by_key(|f| f.visit.archived());
        self.add_urls(&arrived, now)?;
        for mut finished in arrived {
            let uri = finished.lease.record.uri.clone();
            if self.frontier.takedowns().contains(&uri) {
                continue;
            }
            let Some(mut record) = self.store.lookup(&uri)? else {
                continue;
            };
            if self.batch.pages.iter().any(|page| page.id == record.id) {
                self.write_batch(now)?;
                record = self.store.lookup(&uri)?.unwrap_or(record);
            }
            if is_older(&record, &finished.visit) {
                self.summary.add_archived_older();
                continue;
            }
            finished.lease.record = record;
            self.take_visit(finished, now)?;
        }
        Ok(())
    }

    /// Makes records for addresses that are new. They go past the frontier, which knows only configured sites.
    fn add_urls(&mut self, arrived: &[FinishedVisit], now: i64) -> anyhow::Result<()> {
        let mut batch = Batch::default();
        for finished in arrived {
            let UrlRecord { uri, site, .. } = &finished.lease.record;
            if !self.frontier.takedowns().contains(uri) && self.store.lookup(uri)?.is_none() {
                batch.urls.push(NewUrl {
                    due_ms: Some(HELD_MS),
                    ..NewUrl::link(uri.clone(), site, 1)
                });
            }
        }
        if !batch.urls.is_empty() {
            self.store.commit(&batch, now)?;
        }
        Ok(())
    }

    /// Shares the partitions with other nodes, if there are any.
    pub(crate) fn share_partitions(&mut self, now: i64) -> anyhow::Result<()> {
        if self.stop_at.is_some() {
            return Ok(());
        }
        let (store, frontier) = (&mut self.store, &mut self.frontier);
        let found = self.sharing.look(store, frontier, &mut self.batch, now)?;
        self.shared.crawl().set_leads(self.frontier.leads());
        if found {
            self.write_batch(now)?;
        }
        Ok(())
    }

    /// Waits until this node has partitions, where other nodes have all of them.
    pub(crate) fn wait_for_share(&mut self) -> anyhow::Result<()> {
        if self.mode != Mode::Forever && !self.store.place().duties().crawls {
            anyhow::bail!("this machine only serves: cluster.crawl = false; crawl on another one");
        }
        let begun = Instant::now();
        while self.mode != Mode::Forever && self.frontier.partitions().is_empty() {
            if self.shared.lifecycle().is_stopping() {
                return Ok(());
            }
            if begun.elapsed() > WAIT_FOR_SHARE {
                anyhow::bail!(
                    "other nodes have all partitions and hand none over: see `taojin cluster status`"
                );
            }
            std::thread::sleep(LOOK_SOON);
            self.share_partitions(self.shared.now_ms())?;
        }
        Ok(())
    }

    pub(super) fn commit_is_due(&self, now: i64, next: &Next) -> bool {
        let arrived = self.replay.as_ref().map_or(0, |r| r.arrived.len());
        let pages = self.batch.pages.len() + arrived;
        let old = pages > 0 && self.batch_since.is_some_and(|t| t.elapsed() >= BATCH_AGE);
        // With nothing else to do, waiting would only delay the links that were just found.
        let changes = pages > 0 || self.frontier.has_changes(now);
        let replaying = self.replay.as_ref().is_some_and(|r| r.in_flight > 0);
        let idle = changes && self.frontier.in_flight() == 0 && !replaying;
        let idle = idle && !matches!(next, Next::Fetch(_));
        pages >= BATCH_PAGES || old || idle
    }

    /// Makes everything so far durable. A transaction that fails is tried again until it works or the daemon stops.
    pub(crate) fn commit(&mut self, now: i64) -> anyhow::Result<()> {
        self.take_archived(now)?;
        self.write_batch(now)
    }

    pub(crate) fn write_batch(&mut self, now: i64) -> anyhow::Result<()> {
        if self.batch.pages.is_empty()
            && self.batch.urls.is_empty()
            && self.batch.counters.is_empty()
            && !self.frontier.has_changes(now)
        {
            self.log.flush();
            return Ok(());
        }
        if let Some(archive) = self.gate.archive() {
            archive.sync();
        }
        let report = loop {
            match self.frontier.commit(&mut self.store, &mut self.batch, now) {
                Ok(report) => break report,
                Err(error) if self.stop_at.is_some_and(|t| Instant::now() >= t) => {
                    return Err(error.into());
                }
                // A pass that has not begun has nothing to lose, and nobody waits for it.
                Err(error) if self.mode != Mode::Forever && self.has_nothing() => {
                    return Err(error.into());
                }
                // Another process has its place; or it is waited for by the loop itself.
                Err(error @ (StoreError::Fenced { .. } | StoreError::Unreachable { .. })) => {
                    return Err(error.into());
                }
                Err(error) => {
                    tracing::error!(%error, "pages cannot be stored, trying again");
                    match error {
                        StoreError::Full { .. } => {
                            self.shared.heartbeat(Worker::CrawlLoop).waits(error)
                        }
                        _ => self.shared.heartbeat(Worker::CrawlLoop).fails(error),
                    }
                    std::thread::sleep(RETRY);
                    while let Ok(event) = self.events.try_recv() {
                        if self.put_off(event) {
                            self.stop_at.get_or_insert_with(Instant::now);
                        }
                    }
                }
            }
        };
        self.summary.committed(&report);
        self.left += report.new_urls as u64;
        self.shared
            .index()
            .set_document_seq(u64::try_from(report.document_seq).unwrap_or_default());
        self.shared.crawl().set_frontier(self.frontier.stats());
        let found = self.batch.pages.iter().filter_map(|page| {
            let site = &page.outlinks.first()?.site;
            Some((site, page.outlinks.len()))
        });
        self.orders.watches.committed(found);
        self.batch = Batch::default();
        self.batch_since = None;
        self.log.flush();
        // A full channel means that the indexer has been poked already.
        let _ = self.index_wake.try_send(());
        Ok(())
    }

    fn has_nothing(&self) -> bool {
        self.batch.pages.is_empty() && self.frontier.in_flight() == 0 && !self.summary.has_visits()
    }

    /// Takes what comes while nothing can be stored: a page is fetched once more, whoever asks is refused. Whether it is time to
    /// stop.
    fn put_off(&mut self, event: Event) -> bool {
        match event {
            Event::Stop => return true,
            Event::Finished(ended) => {
                let now = self.shared.now_ms();
                match *ended {
                    EndedLease::Visited(visit) => {
                        self.frontier.discard(&visit.lease, &visit.report, now);
                    }
                    EndedLease::GivenBack(lease, report) => {
                        self.frontier.discard(&lease, &report, now);
                    }
                    EndedLease::Located(lease, _) => self.frontier.release(&lease, now),
                }
            }
            Event::Request(request) => refuse(&request),
        }
        false
    }

    /// Whether this failure is one that a daemon waits out.
    pub(super) fn waits_out(&self, error: &anyhow::Error) -> bool {
        self.mode == Mode::Forever && is_outage(error)
    }

    /// Waits until the database answers and begins again over what it has; false where the daemon stops first. Pages that are
    /// finished and not stored are stored then, those under way are left to their next lease.
    pub(super) fn wait_for_database(&mut self, mut error: anyhow::Error) -> anyhow::Result<bool> {
        tracing::error!("the crawl waits for the database: {error:#}");
        loop {
            self.shared.heartbeat(Worker::CrawlLoop).waits(&error);
            if !self.wait_with_refusals(ASK_AGAIN) {
                return Ok(false);
            }
            if self.frontier.in_flight() > 0 {
                continue;
            }
            match self.restart() {
                Err(failed) if is_outage(&failed) => error = failed,
                done => {
                    done?;
                    tracing::info!("the database answers again, the crawl goes on");
                    return Ok(true);
                }
            }
        }
    }

    fn restart(&mut self) -> anyhow::Result<()> {
        let now = self.shared.now_ms();
        if self.store.settle()? {
            self.batch = Batch::default();
        }
        // By the frontier that knows its pages.
        self.frontier
            .commit(&mut self.store, &mut self.batch, now)?;
        self.batch = Batch::default();
        self.batch_since = None;
        self.frontier.reopen(&mut self.store)?;
        let sites = std::mem::take(&mut self.configured);
        let taken = self.apply_sites(&sites, now);
        self.configured = sites;
        taken
    }

    /// Waits; what comes meanwhile is given back or refused. False where the daemon stops.
    fn wait_with_refusals(&mut self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        loop {
            if self.shared.lifecycle().is_stopping() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            let event = match self.events.recv_timeout(left) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            };
            if self.put_off(event) {
                return false;
            }
        }
    }
}

/// There is more, and it may be tried again soon.
pub(super) fn in_a_second(now: i64) -> Next {
    Next::Wait {
        until_ms: now + 1000,
        due: true,
    }
}

/// What the frontier says, but no later than something that was requested by hand.
fn wait_for(next: Next, soonest: Option<i64>) -> Next {
    match (next, soonest) {
        (next, None) => next,
        (Next::Wait { until_ms, .. }, Some(at_ms)) => Next::Wait {
            until_ms: until_ms.min(at_ms),
            due: true,
        },
        (_, Some(until_ms)) => Next::Wait {
            until_ms,
            due: true,
        },
    }
}

/// Whether an answer is none of a page, a redirect or an error of the server: an image, a script, a broken record.
fn is_foreign(visit: &Visit) -> bool {
    visit.answer().is_none() || visit.outcome() == VisitOutcome::Unwanted
}

/// Whether what an archive has of a page is older than what the last visit brought. What that visit brought itself is taken once
/// more where a person has named fields since.
fn is_older(record: &UrlRecord, visit: &Visit) -> bool {
    let (Some(fetched_ms), Some((archived_ms, named_ms))) =
        (record.visit.fetched_ms, visit.archived())
    else {
        return record.visit.fetched_ms.is_some();
    };
    let is_last = fetched_ms - archived_ms <= SAME_VISIT_MS && named_ms > fetched_ms;
    fetched_ms > archived_ms && !is_last
}

/// What the crawl loop holds of others.
pub(crate) struct CrawlChannels {
    pub(crate) inbox: std::sync::mpsc::Receiver<Event>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) leases: mpsc::Sender<VisitTask>,
    pub(crate) wake: SyncSender<()>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) current: watch::Receiver<Current>,
    pub(crate) progress: Option<ProgressCallback>,
    pub(crate) learner: Option<SyncSender<Seen>>,
}

/// The crawl loop over an open store, with its sites taken up.
pub(crate) fn open_loop(
    loaded: &LoadedConfig,
    mode: Mode,
    mut store: Store,
    channels: CrawlChannels,
) -> anyhow::Result<CrawlLoop> {
    let config = &loaded.config;
    let now = channels.shared.now_ms();
    let log = CrawlLog::open(
        &loaded.log_dir(),
        config.crawl.crawl_log_bytes,
        config.crawl.crawl_log_files,
    )
    .with_context(|| {
        format!(
            "crawl log in {} cannot be opened",
            loaded.log_dir().display()
        )
    })?;
    set_clock_right(&mut store, &config.revisit, now)?;
    disk::remove_partial(&config.data_dir);
    let frontier = Frontier::open(&mut store, config.frontier.clone())?;
    channels
        .shared
        .index()
        .set_document_seq(u64::try_from(store.last_document_seq()?).unwrap_or_default());
    channels.shared.crawl().set_frontier(frontier.stats());
    let replay = match &mode {
        Mode::Replay { files } => Some(Replay::new(
            files,
            config.fetch.max_body_bytes,
            scopes(&loaded.sites)?,
        )),
        _ => None,
    };
    let mut crawl = CrawlLoop {
        replay,
        gate: channels.gate,
        store,
        frontier,
        config: config.crawl.clone(),
        revisit: config.revisit.clone(),
        mode,
        sites: BTreeMap::new(),
        events: channels.inbox,
        leases: channels.leases,
        index_wake: channels.wake,
        log,
        disk: DiskWatch::new(&config.data_dir, &config.crawl),
        shared: channels.shared,
        progress: channels.progress,
        summary: CrawlTally::new(now),
        left: 0,
        walls: Walls::default(),
        lists: HashMap::new(),
        batch: store::Batch::default(),
        batch_since: None,
        stop_at: None,
        cycles_looked: Interval::default(),
        sharing: Sharing::default(),
        forgot: Interval::default(),
        current: channels.current,
        configured: Vec::new(),
        index: IndexAt::new(loaded),
        orders: ManualVisits::default(),
        learner: channels.learner,
    };
    crawl.apply_sites(&loaded.sites, now)?;
    Ok(crawl)
}

/// Has nothing wait for a clock that was ahead.
fn set_clock_right(store: &mut Store, pages: &schedule::Config, now: i64) -> anyhow::Result<()> {
    let longest_ms = pages.max_ms.max(pages.max_retry_ms).max(pages.hub_max_ms);
    if let Some(ahead_ms) = store.set_clock_right(now, longest_ms)? {
        tracing::warn!(
            ahead_s = ahead_ms / 1000,
            "the clock was ahead when the last page was stored: what was planned by it is due as if it had been right"
        );
    }
    Ok(())
}

/// The learner, what it hears, what the fetch tasks need of templates, and the way to tell the learner that it is over.
pub(crate) fn learner(
    loaded: &LoadedConfig,
    place: StorePlace,
) -> (Learner, Receiver<Seen>, Templates, SyncSender<Seen>) {
    let registry = Arc::default();
    let (seen, inbox) = sync_channel(SEEN_PAGES);
    let learner = Learner {
        place,
        config: loaded.config.templates.clone(),
        registry: Arc::clone(&registry),
    };
    learner.load();
    let templates = Templates {
        registry,
        learner: loaded.config.templates.enabled.then(|| seen.clone()),
    };
    (learner, inbox, templates, seen)
}

/// The sites in use and what belongs to them.
fn scopes(sites: &[Site]) -> anyhow::Result<Vec<(Arc<str>, Arc<Scope>)>> {
    let mut scopes = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        scopes.push((Arc::from(site.name.as_str()), Arc::new(Scope::new(site)?)));
    }
    Ok(scopes)
}
