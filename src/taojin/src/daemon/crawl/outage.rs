//! What the crawl does while the database of a cluster is away. In: the failure. Out: the same crawl, over what the database has
//! when it answers again. Readers are answered meanwhile, and a sign to stop is heard.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::state::{CrawlLoop, Event};
use crate::daemon::Mode;
use crate::daemon::control::{Answer, Reply, Wish, actions};
use crate::daemon::liveness::Worker;
use taojin_crawl::store::{Batch, StoreError};

/// The database is asked again so often.
const RETRY: Duration = Duration::from_secs(1);

/// Whether a failure is that the database does not answer.
pub(crate) fn is_outage(error: &anyhow::Error) -> bool {
    let is_away = |error: &StoreError| matches!(error, StoreError::Unreachable { .. });
    error.downcast_ref().is_some_and(is_away)
}

impl CrawlLoop {
    /// Whether this failure is one that a daemon waits out.
    pub(super) fn waits_out(&self, error: &anyhow::Error) -> bool {
        self.mode == Mode::Forever && is_outage(error)
    }

    /// Waits until the database answers and begins anew over what it has; false where the daemon stops first. Pages that are
    /// finished and not stored are stored then, those under way are left to their next lease.
    pub(super) fn wait_for_database(&mut self, mut error: anyhow::Error) -> anyhow::Result<bool> {
        tracing::error!("the crawl waits for the database: {error:#}");
        loop {
            self.shared.waits(Worker::CrawlLoop, &error);
            if !self.wait_with_refusals(RETRY) {
                return Ok(false);
            }
            if self.frontier.in_flight() > 0 {
                continue;
            }
            match self.begin_anew() {
                Err(failed) if is_outage(&failed) => error = failed,
                done => {
                    done?;
                    tracing::info!("the database answers again, the crawl goes on");
                    return Ok(true);
                }
            }
        }
    }

    fn begin_anew(&mut self) -> anyhow::Result<()> {
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
        let taken = self.take_sites(&sites, now);
        self.configured = sites;
        taken
    }

    /// Waits; what comes meanwhile is given back or refused. False where the daemon stops.
    fn wait_with_refusals(&mut self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        loop {
            if self.shared.is_stopping() {
                return false;
            }
            match self
                .events
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(Event::Finished(finished)) => {
                    let now = self.shared.now_ms();
                    self.frontier
                        .discard(&finished.lease, &finished.report, now);
                }
                Ok(Event::Wish(wish)) => refuse(&wish),
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }
}

/// Tells who asks for something that nothing can be stored.
pub(crate) fn refuse(wish: &Wish) {
    let refused = actions::broken(&"nothing can be stored at present; see the log of the daemon");
    let _ = wish.reply.try_send(Reply::Now(Answer::Refused(refused)));
}
