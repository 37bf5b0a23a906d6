//! The crawl loop: one thread that owns the frontier and the writing side of the store. In: finished pages, new
//! site settings, the clock. Out: leases to the fetch tasks, one durable transaction for each group of finished
//! pages, a line in the crawl log for each. Never fetches and never parses.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::apply::Finished;
use super::archive::WarcSink;
use super::crawl_log::CrawlLog;
use super::disk::DiskWatch;
use super::replay::Replay;
use super::site_run::SiteRun;
use super::visit::Work;
use crate::config::CrawlConfig;
use crate::daemon::control::{Answer, IndexPlace, Reply, Watches, Wish, actions, wait_for};
use crate::daemon::learn::templates::Seen;
use crate::daemon::report::summary::Summary;
use crate::daemon::{Mode, Progress, Shared, now_ms};
use taojin_crawl::frontier::{Frontier, Next};
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::store::{Batch, Store, UrlId};

/// Pages in one transaction at most.
const BATCH_PAGES: usize = 256;
/// A finished page is durable after this time at the latest.
const BATCH_AGE: Duration = Duration::from_millis(200);
/// The loop turns at least this often: schedules, the watchdog.
const TURN: Duration = Duration::from_millis(500);
/// Pause before a failed transaction (full disk) is tried again.
pub(crate) const RETRY: Duration = Duration::from_secs(2);

/// What reaches the loop from outside.
pub(crate) enum Event {
    /// A lease has ended.
    Finished(Box<Finished>),
    /// The operator asks for something.
    Wish(Box<Wish>),
    /// Wind down.
    Stop,
}

/// The loop's state.
pub(crate) struct CrawlLoop {
    pub(crate) store: Store,
    /// Archives that the pages come from, instead of the network.
    pub(crate) replay: Option<Replay>,
    /// Where the fetch tasks archive what they fetch.
    pub(crate) archive: Option<Arc<WarcSink>>,
    pub(crate) frontier: Frontier,
    pub(crate) config: CrawlConfig,
    pub(crate) revisit: schedule::Config,
    pub(crate) mode: Mode,
    pub(crate) sites: BTreeMap<Arc<str>, SiteRun>,
    pub(crate) events: Receiver<Event>,
    pub(crate) leases: tokio::sync::mpsc::Sender<Work>,
    pub(crate) index_poke: SyncSender<()>,
    pub(crate) log: CrawlLog,
    pub(crate) disk: DiskWatch,
    pub(crate) shared: Arc<Shared>,
    pub(crate) progress: Option<Progress>,
    pub(crate) summary: Summary,
    /// Known addresses that a pass is still to fetch, about: what a limit holds back is among them.
    pub(crate) left: u64,
    pub(crate) batch: Batch,
    /// When the first page of the batch came.
    pub(crate) batch_since: Option<Instant>,
    pub(crate) stop_at: Option<Instant>,
    /// When the cycles were last looked at for one that is over.
    pub(crate) cycles_looked: Option<Instant>,
    /// When nothing was left to forget of the history of documents.
    pub(crate) forgot: Option<Instant>,
    /// All sites of the configuration, those that are not enabled too.
    pub(crate) configured: Vec<Site>,
    pub(crate) index: IndexPlace,
    /// URLs that were asked for by hand and wait for their hosts.
    pub(crate) asked: Vec<UrlId>,
    /// URLs that were purged while they were being fetched: what comes of them is dropped.
    pub(crate) forgotten: HashSet<UrlId>,
    pub(crate) watches: Watches,
    pub(crate) learner: Option<SyncSender<Seen>>,
}

impl CrawlLoop {
    /// Turns until told to stop, or until the pass is done.
    pub(crate) fn run(mut self) -> anyhow::Result<Summary> {
        self.begin_pass()?;
        loop {
            let now = self.shared.now_ms();
            self.shared.beat(now_ms());
            if self.shared.is_stopping() {
                self.take(Event::Stop)?;
            }
            self.take_new_sites(now)?;
            self.begin_due_cycles(now)?;
            self.end_cycles(now, false)?;
            self.forget_old(now)?;
            self.look_after_watches(now)?;
            if self.is_over(now)? {
                break;
            }
            let next = self.hand_out(now)?;
            if self.commit_is_due(now, &next) {
                self.commit(now)?;
                continue;
            }
            if self.replay.is_some() && next == Next::Idle && !self.is_busy() {
                break;
            }
            match self.events.recv_timeout(self.patience(&next, now)) {
                Ok(event) => self.take(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(event) = self.events.try_recv() {
                self.take(event)?;
            }
        }
        self.frontier.release_all();
        self.commit(self.shared.now_ms())?;
        let now = self.shared.now_ms();
        self.end_cycles(now, true)?;
        self.sum_up(now)?;
        self.frontier.close(&self.store);
        Ok(self.summary)
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
    fn begin_pass(&mut self) -> anyhow::Result<()> {
        if let Mode::Visit { url } = &self.mode {
            let url = url.clone();
            self.ask_for(&url, self.shared.now_ms())?;
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
        if self.is_paused(now) {
            return Ok(());
        }
        for name in self.sites.keys().cloned().collect::<Vec<_>>() {
            let wanted = match named.is_empty() {
                true => self.sites[&name].is_due(now),
                false => is_named(&name),
            };
            if wanted && !named.is_empty() {
                actions::not_paused(&self.store, &name)?;
            }
            if wanted {
                self.begin_cycle(&name, now)?;
            }
            if wanted && recheck {
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
    fn begin_due_cycles(&mut self, now: i64) -> anyhow::Result<()> {
        if self.stop_at.is_some() || self.mode != Mode::Forever || self.is_paused(now) {
            return Ok(());
        }
        let due: Vec<Arc<str>> = self
            .sites
            .iter()
            .filter(|(_, s)| s.is_due(now))
            .map(|(n, _)| Arc::clone(n))
            .collect();
        for name in due {
            self.begin_cycle(&name, now)?;
        }
        Ok(())
    }

    /// How many addresses became due.
    pub(crate) fn begin_cycle(&mut self, name: &Arc<str>, now: i64) -> anyhow::Result<usize> {
        let Some(site) = self.sites.get_mut(name) else {
            return Ok(0);
        };
        site.begun(now);
        self.batch.urls.extend(site.entry_urls());
        self.tell_next_cycles();
        self.batch.count(name, "cycles", 1);
        // The seeds must be there before the cycle makes them due.
        self.commit(now)?;
        let due = self.frontier.begin_cycle(&mut self.store, name, now)?;
        tracing::info!(site = %name, due, "cycle begins");
        Ok(due)
    }

    /// Hands out leases until a limit is reached; gives what the frontier says then.
    fn hand_out(&mut self, now: i64) -> anyhow::Result<Next> {
        if self.is_paused(now) {
            // The daemon waits for room; a single pass ends.
            return Ok(match self.mode {
                Mode::Forever => Next::Wait {
                    until_ms: now + 1000,
                    due: true,
                },
                _ => Next::Idle,
            });
        }
        if self.replay.is_some() {
            return Ok(self.hand_out_archived(now));
        }
        let mut soonest = None;
        loop {
            let full = self.frontier.in_flight() >= self.config.max_connections;
            let lagging = self.shared.is_lagging(self.config.max_outbox);
            if self.stop_at.is_some() || full || lagging {
                return Ok(Next::Wait {
                    until_ms: now + 1000,
                    due: true,
                });
            }
            if !self.asked.is_empty() {
                soonest = self.hand_out_asked(now)?;
            }
            if matches!(self.mode, Mode::Visit { .. }) {
                return Ok(wait_for(Next::Idle, soonest));
            }
            match self.frontier.next(&self.store, now)? {
                Next::Fetch(lease) => {
                    // The channel has room for every connection, so this fails only when the fetch side is gone.
                    let work = Work {
                        lease: *lease,
                        archived: None,
                    };
                    if let Err(refused) = self.leases.try_send(work) {
                        self.frontier.release(&refused.into_inner().lease, now);
                        return Ok(Next::Idle);
                    }
                }
                other => return Ok(wait_for(other, soonest)),
            }
        }
    }

    /// Whether the disk is too full for more.
    pub(crate) fn is_paused(&mut self, now: i64) -> bool {
        let low = self.disk.look(now).map(str::to_owned);
        if low.is_some() {
            self.summary.paused.clone_from(&low);
        }
        let paused = low.is_some();
        self.shared.set_paused(low);
        paused
    }

    fn take(&mut self, event: Event) -> anyhow::Result<()> {
        let now = self.shared.now_ms();
        match event {
            Event::Finished(finished) => match &mut self.replay {
                Some(replay) => replay.take(*finished),
                None => self.take_finished(*finished, now)?,
            },
            Event::Wish(wish) => self.take_wish(&wish, now),
            Event::Stop => {
                self.watches.stop();
                let grace = Duration::from_millis(self.config.stop_grace_ms);
                self.stop_at.get_or_insert_with(|| Instant::now() + grace);
            }
        }
        Ok(())
    }

    pub(crate) fn tell_next_cycles(&self) {
        let cycles = self
            .sites
            .values()
            .map(|s| (s.site.name.clone(), s.next_ms()));
        self.shared.set_next_cycles(cycles.collect());
    }

    fn commit_is_due(&self, now: i64, next: &Next) -> bool {
        let arrived = self.replay.as_ref().map_or(0, Replay::arrived);
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
        self.settle_archived(now)?;
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
        if let Some(archive) = &self.archive {
            archive.sync();
        }
        let report = loop {
            match self.frontier.commit(&mut self.store, &mut self.batch, now) {
                Ok(report) => break report,
                Err(error) if self.stop_at.is_some_and(|t| Instant::now() >= t) => {
                    return Err(error.into());
                }
                Err(error) => {
                    tracing::error!(%error, "pages cannot be stored, trying again");
                    self.shared.beat(now_ms());
                    std::thread::sleep(RETRY);
                    self.stop_if_told();
                }
            }
        };
        self.summary.committed(&report);
        self.left += report.new_urls as u64;
        self.shared
            .set_document_seq(u64::try_from(report.document_seq).unwrap_or_default());
        self.shared.set_frontier(self.frontier.stats());
        let found = self.batch.pages.iter().filter_map(|page| {
            let site = &page.outlinks.first()?.site;
            Some((site, page.outlinks.len()))
        });
        self.watches.committed(found);
        self.batch = Batch::default();
        self.batch_since = None;
        self.log.flush();
        // A full channel means that the indexer has been poked already.
        let _ = self.index_poke.try_send(());
        Ok(())
    }

    /// Looks for a stop while a transaction is retried; finished pages that arrive meanwhile join the next batch.
    fn stop_if_told(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            match event {
                Event::Stop => {
                    self.stop_at.get_or_insert_with(Instant::now);
                }
                Event::Finished(finished) => {
                    let now = self.shared.now_ms();
                    self.frontier.release(&finished.lease, now);
                }
                Event::Wish(wish) => {
                    let refused = actions::broken(
                        &"nothing can be stored at present; see the log of the daemon",
                    );
                    let _ = wish.reply.try_send(Reply::Now(Answer::Refused(refused)));
                }
            }
        }
    }

    /// Whether nothing is left to do: for a pass, nothing that is due may be fetched within `pass_patience_ms`. Asked before
    /// more is handed out, since what failed and is due again at once would else keep a pass going.
    fn is_over(&self, now: i64) -> anyhow::Result<bool> {
        if let Some(at) = self.stop_at {
            return Ok(!self.is_busy() || Instant::now() >= at);
        }
        let is_stored = self.batch.pages.is_empty() && self.batch.urls.is_empty();
        if self.mode == Mode::Forever || self.replay.is_some() || self.is_busy() || !is_stored {
            return Ok(false);
        }
        if self.shared.paused().is_some() {
            return Ok(true);
        }
        if self.shared.is_lagging(self.config.max_outbox) {
            return Ok(false);
        }
        Ok(!self.frontier.has_work(&self.store, &self.pass(now))?)
    }

    /// Whether a page is being fetched, or read from an archive.
    fn is_busy(&self) -> bool {
        self.frontier.in_flight() > 0 || self.replay.as_ref().is_some_and(Replay::is_busy)
    }

    /// How long to wait for an event.
    fn patience(&self, next: &Next, now: i64) -> Duration {
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
}
