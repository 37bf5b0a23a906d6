//! The crawl loop: the thread in which a [`Crawler`] owns the frontier, and alone writes pages and addresses into the store.
//!
//! It takes [`Event`]s (leases that have ended, requests of the operator) and new settings, hands leases to the fetch tasks, and
//! commits what follows from visits in groups, each in one durable transaction. It never fetches and never parses.
//!
//! [`Crawler::open`] takes up the sites of a configuration, [`Crawler::run`] turns until it is told to stop or its pass is done.
//! A transaction that fails is tried again until it works or the daemon stops; a database that is away is waited for.

mod commands;
mod committer;
mod cycles;
mod dispatch;
mod inbox;
mod memory;
mod orders;
mod progress;
mod upkeep;
mod visits;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};

use super::archive::Replay;
use super::crawl_log::CrawlLog;
use super::disk::{self, DiskWatch};
use super::sharing::{LOOK_SOON, is_outage};
use super::sites::ENDED_MS;
use super::visit::visitor::VisitTask;
use crate::config::LoadedConfig;
use crate::daemon::control::commands::ensure_not_paused;
use crate::daemon::learn::templates::Seen;
use crate::daemon::reloading::Current;
use crate::daemon::report::summary::Summary;
use crate::daemon::report::verdict::VerdictTerms;
use crate::daemon::watchdog::Worker;
use crate::daemon::{Clock, Mode, ProgressCallback, Shared};
use crate::documents::IndexAt;
use commands::Commands;
use committer::Committer;
use cycles::Cycles;
use dispatch::{Dispatch, in_a_second};
pub(crate) use inbox::Event;
use inbox::Inbox;
use memory::PageMemory;
use orders::Orders;
use progress::Progress;
use taojin_crawl::fetch::Gate;
use taojin_crawl::frontier::{Frontier, Next, Shares};
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{Store, StoreError};
use upkeep::Upkeep;

/// The crawler turns at least this often: schedules, the watchdog.
const TURN: Duration = Duration::from_millis(500);

/// A single pass waits so long for other nodes to hand partitions over to it.
const WAIT_FOR_SHARE: Duration = Duration::from_secs(40);

/// Pause before a failed transaction (full disk) is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The database is asked again so often.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The crawler's state.
pub(crate) struct Crawler {
    plan: Plan,
    frontier: Frontier,
    committer: Committer,
    cycles: Cycles,
    orders: Orders,
    dispatch: Dispatch,
    inbox: Inbox,
    upkeep: Upkeep,
    memory: PageMemory,
    progress: Progress,
    purging: Purging,
    shared: Arc<Shared>,
}

/// What is to be crawled, and how.
struct Plan {
    mode: Mode,
    revisit: schedule::Config,
}

impl Plan {
    fn is_daemon(&self) -> bool {
        self.mode == Mode::Forever
    }

    fn is_single_visit(&self) -> bool {
        matches!(self.mode, Mode::Visit { .. })
    }
}

/// What a purge needs beside the store.
struct Purging {
    index: IndexAt,
    learner: Option<SyncSender<Seen>>,
}

/// What the crawler holds of others.
pub(crate) struct CrawlChannels {
    pub(crate) events: Receiver<Event>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) leases: mpsc::Sender<VisitTask>,
    pub(crate) wake: SyncSender<()>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) current: watch::Receiver<Current>,
    pub(crate) progress: Option<ProgressCallback>,
    pub(crate) learner: Option<SyncSender<Seen>>,
}

/// Time that requests under way get to finish when the daemon stops.
const STOP_GRACE: Duration = Duration::from_secs(4);

impl Crawler {
    /// A crawler over an open store, with its sites taken up.
    pub(crate) fn open(
        loaded: &LoadedConfig,
        mode: Mode,
        mut store: Store,
        channels: CrawlChannels,
    ) -> anyhow::Result<Self> {
        let config = &loaded.config;
        let shared = channels.shared;
        let now = shared.now_ms();
        let log_dir = loaded.log_dir();
        let (log_bytes, log_files) = (config.crawl.crawl_log_bytes, config.crawl.crawl_log_files);
        let log = CrawlLog::open(&log_dir, log_bytes, log_files)
            .with_context(|| format!("crawl log in {} cannot be opened", log_dir.display()))?;
        set_clock_right(&mut store, &config.revisit, now)?;
        disk::remove_partial(&config.data_dir);
        let mut frontier = Frontier::open(&mut store, config.frontier.clone())?;
        frontier.set_shares(Shares::new(
            config.crawl.max_connections,
            config.crawl.site_share,
        ));
        let seq = u64::try_from(store.last_document_seq()?).unwrap_or_default();
        shared.index().set_document_seq(seq);
        shared.crawl().set_frontier(frontier.stats());
        let replay = match &mode {
            Mode::Replay { files } => {
                let max_body_bytes = config.fetch.max_body_bytes;
                Some(Replay::new(files, max_body_bytes, scopes(&loaded.sites)?))
            }
            _ => None,
        };
        let archive = channels.gate.archive().map(Arc::clone);
        let only_requested = matches!(mode, Mode::Visit { .. });
        let leases = channels.leases;
        let dispatch = Dispatch::new(leases, replay, only_requested, &config.crawl);
        let verdict_terms = VerdictTerms::new(config);
        let sites_of = Arc::clone(&shared);
        let mut crawler = Self {
            plan: Plan {
                mode,
                revisit: config.revisit.clone(),
            },
            frontier,
            committer: Committer::new(store, log, archive, channels.wake),
            cycles: Cycles::new(channels.current, channels.gate, sites_of, verdict_terms),
            orders: Orders::default(),
            dispatch,
            inbox: Inbox::new(channels.events, STOP_GRACE),
            upkeep: Upkeep::new(DiskWatch::new(&config.data_dir, &config.crawl)),
            memory: PageMemory::default(),
            progress: Progress::new(now, channels.progress),
            purging: Purging {
                index: IndexAt::new(loaded),
                learner: channels.learner,
            },
            shared,
        };
        crawler.take_up_sites(loaded.sites.clone(), now)?;
        Ok(crawler)
    }

    /// Turns until told to stop, or until the pass is done.
    pub(crate) fn run(mut self) -> anyhow::Result<Summary> {
        let ended = loop {
            match self.turn() {
                Err(error) if self.plan.is_daemon() && is_outage(&error) => {
                    match self.wait_for_database(error) {
                        Ok(true) => {}
                        Ok(false) => {
                            tracing::warn!(
                                "stopped while the database was away: what was not stored is fetched again"
                            );
                            break Ok(());
                        }
                        Err(error) => break Err(error),
                    }
                }
                ended => break ended,
            }
        };
        // Before the other workers end, whose channels go with the crawler.
        self.shared.lifecycle().end_crawl();
        ended.map(|()| self.progress.into_summary())
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        self.start_pass()?;
        loop {
            let now = self.shared.now_ms();
            self.shared.heartbeat(Worker::CrawlLoop).record();
            if self.shared.lifecycle().is_stopping() {
                self.handle_event(Event::Stop)?;
            }
            self.take_up_new_sites(now)?;
            self.share_partitions(now)?;
            self.start_due_cycles(now)?;
            self.end_cycles(now, false)?;
            if self.frontier.leads() {
                self.upkeep.forget_old(self.committer.store_mut(), now);
            }
            let (cycles, store) = (&self.cycles, self.committer.store());
            let (limits, pause) = (self.frontier.config(), self.shared.pause());
            self.orders.end_watches(cycles, store, limits, pause, now)?;
            if self.is_over(now)? {
                break;
            }
            let next = self.hand_out(now)?;
            self.shared.crawl().set_in_flight(self.frontier.in_flight());
            if self.commit_is_due(now, &next) {
                self.commit(now)?;
                continue;
            }
            let is_busy = self.dispatch.is_busy(&self.frontier);
            if self.dispatch.replay().is_some() && next == Next::Idle && !is_busy {
                break;
            }
            match self.inbox.wait(longest_wait(
                &next,
                self.committer.due_in(),
                self.shared.clock(),
                now,
            )) {
                Ok(event) => self.handle_event(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(event) = self.inbox.next() {
                self.handle_event(event)?;
            }
        }
        let store = self.committer.store();
        self.frontier.end_turns(store, self.shared.now_ms());
        self.frontier.release_all();
        self.commit(self.shared.now_ms())?;
        let now = self.shared.now_ms();
        self.end_cycles(now, true)?;
        self.sum_up(now)?;
        self.frontier.close(self.committer.store());
        Ok(())
    }

    /// What a pass did, site by site, and what it left.
    fn sum_up(&mut self, now: i64) -> anyhow::Result<()> {
        let (store, tally) = (self.committer.store(), self.progress.tally_mut());
        tally.finish(&store.counts()?, now);
        if matches!(self.plan.mode, Mode::Pass { .. }) {
            let pass = self.cycles.span(tally.started_ms(), now);
            tally.take_resting(&self.frontier.resting(store, &pass)?);
            let limits = self.frontier.config();
            tally.take_results(self.cycles.results(store, limits, now)?);
        }
        Ok(())
    }

    /// Starts the cycles that a single pass asks for.
    fn start_pass(&mut self) -> anyhow::Result<()> {
        self.wait_for_share()?;
        let now = self.shared.now_ms();
        if let Mode::Visit { url } = &self.plan.mode {
            let url = url.clone();
            Commands::new(self).request_visit(&url, now)?;
        }
        let Mode::Pass { sites, recheck } = &self.plan.mode else {
            return Ok(());
        };
        let (named, recheck) = (sites.clone(), *recheck);
        let is_named = |name: &Arc<str>| named.iter().any(|n| **n == **name);
        let names = self.cycles.runs().map(|(name, _)| name);
        let only: Vec<Arc<str>> = names.filter(|n| is_named(n)).cloned().collect();
        self.frontier.give_out_only(&only);
        if !only.is_empty() {
            self.cycles.retain(is_named);
        }
        if self.is_paused() {
            return Ok(());
        }
        let runs = self.cycles.runs().filter(|(name, run)| {
            if named.is_empty() {
                run.is_wanted(recheck, now)
            } else {
                is_named(name)
            }
        });
        let wanted: Vec<Arc<str>> = runs.map(|(name, _)| Arc::clone(name)).collect();
        for name in wanted {
            if !named.is_empty() {
                ensure_not_paused(self.committer.store(), &name)?;
            }
            self.start_cycle(&name, recheck, now)?;
        }
        if self.progress.is_watched() {
            let due = self.frontier.count_due(self.committer.store(), now)?;
            self.progress.expect(due);
        }
        Ok(())
    }

    /// Starts the cycles whose time has come; only the daemon does.
    fn start_due_cycles(&mut self, now: i64) -> anyhow::Result<()> {
        if self.inbox.is_stopping() || !self.plan.is_daemon() || self.is_paused() {
            return Ok(());
        }
        for name in self.cycles.due(now) {
            self.start_cycle(&name, false, now)?;
        }
        Ok(())
    }

    /// Starts a cycle of a site; with `recheck` every known article is asked for again. How many addresses became due.
    fn start_cycle(&mut self, name: &Arc<str>, recheck: bool, now: i64) -> anyhow::Result<usize> {
        let Some(entries) = self.cycles.begin(name, now) else {
            return Ok(0);
        };
        self.committer.add_urls(entries);
        self.committer.count(name, "cycles", 1);
        // The seeds must be there before the cycle makes them due.
        self.commit(now)?;
        let store = self.committer.store_mut();
        let due = self.frontier.begin_cycle(store, name, now)?;
        tracing::info!(site = %name, due, "cycle begins");
        if recheck {
            self.frontier.recheck_articles(store, name, now)?;
        }
        Ok(due)
    }

    fn handle_event(&mut self, event: Event) -> anyhow::Result<()> {
        let now = self.shared.now_ms();
        match event {
            Event::Finished(ended) => match self.dispatch.replay_mut() {
                Some(replay) => replay.take(*ended),
                None => self.take_ended(*ended, now)?,
            },
            Event::Request(request) => Commands::new(self).handle(&request, now),
            Event::Stop => {
                self.orders.watches().stop();
                self.inbox.stop();
            }
        }
        Ok(())
    }

    /// Whether nothing is left to do: for a pass, nothing that is due may be fetched within `pass_patience_ms`; for one visit,
    /// nothing that was asked for waits, whatever else is due. Asked before more is handed out, since what failed and is due again
    /// at once would else keep a pass going.
    fn is_over(&self, now: i64) -> anyhow::Result<bool> {
        let is_busy = self.dispatch.is_busy(&self.frontier);
        if self.inbox.is_stopping() {
            return Ok(!is_busy || self.inbox.is_out_of_time());
        }
        let is_replay = self.dispatch.replay().is_some();
        if self.plan.is_daemon() || is_replay || is_busy || !self.committer.is_empty() {
            return Ok(false);
        }
        if self.shared.pause().is_active() {
            return Ok(true);
        }
        if self.orders.has_articles() {
            return Ok(false);
        }
        if self.plan.is_single_visit() {
            return Ok(self.orders.is_empty());
        }
        let pass = self.cycles.span(self.progress.tally().started_ms(), now);
        Ok(!self.frontier.has_work(self.committer.store(), &pass)?)
    }

    /// Hands out leases until a limit is reached; gives what the frontier says then.
    fn hand_out(&mut self, now: i64) -> anyhow::Result<Next> {
        if self.is_paused() {
            // The daemon waits for room; a single pass ends.
            return Ok(if self.plan.is_daemon() {
                in_a_second(now)
            } else {
                Next::Idle
            });
        }
        // A lease of the store that is lost comes back with the database.
        if !self.committer.store().is_leased()? || self.inbox.is_stopping() {
            return Ok(in_a_second(now));
        }
        if self.dispatch.replay().is_some() {
            return Ok(self.dispatch.hand_out_archived(now));
        }
        let (frontier, store) = (&mut self.frontier, self.committer.store_mut());
        self.dispatch
            .hand_out(&mut self.orders, frontier, store, now)
    }

    /// Whether the disk is too full for more.
    fn is_paused(&mut self) -> bool {
        let low = self.upkeep.low_disk();
        let is_paused = low.is_some();
        if is_paused {
            self.progress.tally_mut().set_paused(low.as_ref());
        }
        self.shared.pause().set(low);
        is_paused
    }

    /// Shares the partitions with other nodes, if there are any.
    fn share_partitions(&mut self, now: i64) -> anyhow::Result<()> {
        if self.inbox.is_stopping() {
            return Ok(());
        }
        let (committer, frontier) = (&mut self.committer, &mut self.frontier);
        if self.upkeep.share(committer, frontier, &self.shared, now)? {
            self.write_batch(now)?;
        }
        Ok(())
    }

    /// Waits until this node has partitions, where other nodes have all of them.
    fn wait_for_share(&mut self) -> anyhow::Result<()> {
        if self.plan.is_daemon() {
            return Ok(());
        }
        if !self.committer.store().place().duties().crawls {
            anyhow::bail!("this machine only serves: cluster.crawl = false; crawl on another one");
        }
        let begun = Instant::now();
        while self.frontier.partitions().is_empty() {
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

    /// Ends the cycles that are over; looks once a second, or now.
    fn end_cycles(&mut self, now: i64, at_once: bool) -> anyhow::Result<()> {
        if self.dispatch.replay().is_some() || self.committer.pages() > 0 {
            return Ok(());
        }
        let (store, frontier) = (self.committer.store(), &self.frontier);
        let over = self.cycles.find_over(store, frontier, at_once, now)?;
        if over.is_empty() {
            return Ok(());
        }
        for (name, _) in &over {
            self.committer.count(name, ENDED_MS, now);
            self.cycles.end(name);
        }
        self.write_batch(now)?;
        let (store, limits) = (self.committer.store(), self.frontier.config());
        self.cycles.log_ends(&over, store, limits, now)
    }

    /// Takes up sites that were read again, if there are any. What cannot be taken up leaves everything as it was, and
    /// a store that fails is asked again: neither may end the crawl.
    fn take_up_new_sites(&mut self, now: i64) -> anyhow::Result<()> {
        if !self.cycles.have_changed() {
            return Ok(());
        }
        self.commit(now)?;
        let sites = self.cycles.take_changed();
        match self.take_up_sites(sites, now) {
            Ok(()) => {}
            Err(error) if error.chain().any(|cause| cause.is::<StoreError>()) => {
                tracing::error!(%error, "the sites cannot be taken up yet, trying again");
                self.cycles.put_back_changed();
                std::thread::sleep(RETRY);
            }
            Err(error) => {
                tracing::error!(%error, "reload refused, everything stays as it was");
                self.shared.reload().refuse(format!("{error:#}"));
            }
        }
        Ok(())
    }

    /// Takes up the sites of a configuration.
    fn take_up_sites(&mut self, sites: Vec<Site>, now: i64) -> anyhow::Result<()> {
        let (store, frontier) = (self.committer.store_mut(), &mut self.frontier);
        self.cycles.take_up(sites, store, frontier, now)
    }

    fn commit_is_due(&self, now: i64, next: &Next) -> bool {
        let replay = self.dispatch.replay();
        let arrived = replay.map_or(0, Replay::arrived);
        if self.committer.is_due(arrived) {
            return true;
        }
        // With nothing else to do, waiting would only delay the links that were just found.
        let has_pages = self.committer.pages() + arrived > 0;
        let is_replaying = replay.is_some_and(|replay| replay.in_flight() > 0);
        (has_pages || self.frontier.has_changes(now))
            && self.frontier.in_flight() == 0
            && !is_replaying
            && !matches!(next, Next::Fetch(_))
    }

    /// Makes everything so far durable, what archives gave, too.
    fn commit(&mut self, now: i64) -> anyhow::Result<()> {
        self.take_archived(now)?;
        self.write_batch(now)
    }

    /// Makes the changes so far durable. A transaction that fails is tried again until it works or the daemon stops.
    fn write_batch(&mut self, now: i64) -> anyhow::Result<()> {
        let committed = loop {
            match self.committer.commit(&mut self.frontier, now) {
                Ok(Some(committed)) => break committed,
                Ok(None) => return Ok(()),
                Err(error) => self.wait_to_retry(error)?,
            }
        };
        let report = &committed.report;
        self.progress.committed(report);
        let seq = u64::try_from(report.document_seq).unwrap_or_default();
        self.shared.index().set_document_seq(seq);
        self.shared.crawl().set_frontier(self.frontier.stats());
        let outlinks = committed.outlinks.iter();
        let outlinks = outlinks.map(|(site, count)| (site, *count));
        self.orders.watches().committed(outlinks);
        Ok(())
    }

    /// Waits until a transaction that failed may be tried again; gives the error back where it is not.
    fn wait_to_retry(&mut self, error: StoreError) -> Result<(), StoreError> {
        let has_nothing = self.committer.pages() == 0
            && self.frontier.in_flight() == 0
            && !self.progress.tally().has_visits();
        // A pass that has not begun has nothing to lose, and nobody waits for it.
        let is_lost = !self.plan.is_daemon() && has_nothing;
        // Another process has its place; or it is waited for by the crawler itself.
        let is_away = matches!(
            error,
            StoreError::Fenced { .. } | StoreError::Unreachable { .. }
        );
        if self.inbox.is_out_of_time() || is_lost || is_away {
            return Err(error);
        }
        tracing::error!(%error, "pages cannot be stored, trying again");
        let heartbeat = self.shared.heartbeat(Worker::CrawlLoop);
        match error {
            StoreError::Full { .. } => heartbeat.waits(error),
            _ => heartbeat.fails(error),
        }
        std::thread::sleep(RETRY);
        self.inbox
            .turn_away(&mut self.frontier, self.shared.now_ms());
        Ok(())
    }

    /// Waits until the database answers and begins again over what it has; false where the daemon stops first. Pages that are
    /// finished and not stored are stored then, those under way are left to their next lease.
    fn wait_for_database(&mut self, mut error: anyhow::Error) -> anyhow::Result<bool> {
        tracing::error!("the crawl waits for the database: {error:#}");
        loop {
            self.shared.heartbeat(Worker::CrawlLoop).waits(&error);
            let (frontier, shared) = (&mut self.frontier, &self.shared);
            if !self.inbox.wait_turning_away(ASK_AGAIN, frontier, shared) {
                return Ok(false);
            }
            if self.frontier.in_flight() > 0 {
                continue;
            }
            let now = self.shared.now_ms();
            let resumed = self.committer.resume(&mut self.frontier, now);
            let sites = self.cycles.configured().to_vec();
            match resumed.and_then(|()| self.take_up_sites(sites, now)) {
                Err(failed) if is_outage(&failed) => error = failed,
                done => {
                    done?;
                    tracing::info!("the database answers again, the crawl goes on");
                    return Ok(true);
                }
            }
        }
    }
}

/// How long to wait for an event, where something is to be written after `due_in`.
fn longest_wait(next: &Next, due_in: Option<Duration>, clock: &Clock, now: i64) -> Duration {
    let mut wait = due_in.map_or(TURN, |due_in| due_in.min(TURN));
    if let Next::Wait { until_ms, .. } = next {
        wait = wait.min(clock.real((until_ms - now).max(0)));
    }
    wait.max(Duration::from_millis(1))
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

/// The sites in use and what belongs to them.
fn scopes(sites: &[Site]) -> anyhow::Result<Vec<(Arc<str>, Arc<Scope>)>> {
    let mut scopes = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        scopes.push((Arc::from(site.name.as_str()), Arc::new(Scope::new(site)?)));
    }
    Ok(scopes)
}
