//! Making finished pages durable: one transaction for each group of them. A transaction that fails is tried again until it
//! works or the daemon stops.

use std::time::{Duration, Instant};

use super::outage::refuse;
use super::replay::Replay;
use super::state::{CrawlLoop, Event};
use crate::daemon::Mode;
use crate::daemon::liveness::Worker;
use taojin_crawl::frontier::Next;
use taojin_crawl::store::{Batch, StoreError};

/// Pages in one transaction at most.
const BATCH_PAGES: usize = 256;
/// A finished page is durable after this time at the latest.
pub(super) const BATCH_AGE: Duration = Duration::from_millis(200);
/// Pause before a failed transaction (full disk) is tried again.
pub(crate) const RETRY: Duration = Duration::from_secs(2);

impl CrawlLoop {
    pub(super) fn commit_is_due(&self, now: i64, next: &Next) -> bool {
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
        if let Some(archive) = &self.archive {
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
                        StoreError::Full { .. } => self.shared.waits(Worker::CrawlLoop, error),
                        _ => self.shared.fails(Worker::CrawlLoop, error),
                    }
                    std::thread::sleep(RETRY);
                    self.take_stop_while_retrying();
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
        self.orders.watches.committed(found);
        self.batch = Batch::default();
        self.batch_since = None;
        self.log.flush();
        // A full channel means that the indexer has been poked already.
        let _ = self.index_poke.try_send(());
        Ok(())
    }

    fn has_nothing(&self) -> bool {
        self.batch.pages.is_empty() && self.frontier.in_flight() == 0 && self.summary.visits == 0
    }

    /// Takes a stop while a transaction is retried; finished pages that arrive meanwhile join the next batch.
    fn take_stop_while_retrying(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            match event {
                Event::Stop => {
                    self.stop_at.get_or_insert_with(Instant::now);
                }
                Event::Finished(finished) => {
                    let now = self.shared.now_ms();
                    self.frontier.release(&finished.lease, now);
                }
                Event::Wish(wish) => refuse(&wish),
            }
        }
    }
}
