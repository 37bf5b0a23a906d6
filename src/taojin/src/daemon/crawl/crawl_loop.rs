//! The crawl loop: one thread that owns the frontier and the writing side of the store. In: finished pages, new
//! site settings, the clock. Out: leases to the fetch tasks, one durable transaction for each group of finished
//! pages, a line in the crawl log for each. Never fetches and never parses.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::commit::BATCH_AGE;
use super::replay::Replay;
use super::state::{CrawlLoop, Event};
use crate::daemon::Mode;
use crate::daemon::control::actions;
use crate::daemon::liveness::Worker;
use crate::daemon::report::summary::Summary;
use taojin_crawl::frontier::Next;

/// The loop turns at least this often: schedules, the watchdog.
const TURN: Duration = Duration::from_millis(500);

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
        self.shared.set_over();
        ended.map(|()| self.summary)
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        self.begin_pass()?;
        loop {
            let now = self.shared.now_ms();
            self.shared.beat(Worker::CrawlLoop);
            if self.shared.is_stopping() {
                self.take(Event::Stop)?;
            }
            self.take_new_sites(now)?;
            self.share_partitions(now)?;
            self.begin_due_cycles(now)?;
            self.end_cycles(now, false)?;
            self.forget_old(now);
            self.look_after_watches(now)?;
            if self.is_over(now)? {
                break;
            }
            let next = self.hand_out(now)?;
            self.shared.set_in_flight(self.frontier.in_flight());
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
    fn begin_pass(&mut self) -> anyhow::Result<()> {
        self.wait_for_share()?;
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
        if self.is_paused() {
            return Ok(());
        }
        for name in self.sites.keys().cloned().collect::<Vec<_>>() {
            let wanted = match named.is_empty() {
                true => self.sites[&name].is_wanted(recheck, now),
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
        self.publish_next_cycles();
        self.batch.count(name, "cycles", 1);
        // The seeds must be there before the cycle makes them due.
        self.commit(now)?;
        let due = self.frontier.begin_cycle(&mut self.store, name, now)?;
        tracing::info!(site = %name, due, "cycle begins");
        Ok(due)
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
        self.shared.set_next_cycles(cycles.collect());
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
        if self.shared.is_lagging(self.config.max_outbox) || !self.orders.open.is_empty() {
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
