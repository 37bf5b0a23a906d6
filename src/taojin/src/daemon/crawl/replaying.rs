//! A pass over archives: hands out archived answers and takes what was read, in the order in which it was archived.

use super::state::CrawlLoop;
use super::visited::{Finished, Visited};
use taojin_crawl::VisitOutcome;
use taojin_crawl::frontier::Next;
use taojin_crawl::store::{Batch, HELD_MS, NewUrl, UrlRecord};

/// An archive has the time of an answer, the store that of the end of its visit: within so many milliseconds they are of one.
const SAME_VISIT_MS: i64 = 10_000;

impl CrawlLoop {
    /// Hands out archived answers until there is no more room.
    pub(crate) fn hand_out_archived(&mut self, now: i64) -> Next {
        let wait = Next::Wait {
            until_ms: now + 1000,
            due: true,
        };
        loop {
            let lagging = self.shared.is_lagging(self.config.max_outbox);
            let Some(replay) = &mut self.replay else {
                return Next::Idle;
            };
            let full = replay.in_flight + replay.arrived() >= self.config.max_connections;
            if lagging || full || self.stop_at.is_some() {
                return wait;
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

    /// Gives the answers that were read their records and takes them, in the order in which they were archived.
    pub(crate) fn take_archived(&mut self, now: i64) -> anyhow::Result<()> {
        let Some(replay) = &mut self.replay else {
            return Ok(());
        };
        self.summary.problems.extend(replay.take_problems());
        let mut arrived = replay.take_arrived();
        // What is no page would not have been linked to either.
        arrived.retain(|f| !is_foreign(&f.visited));
        arrived.sort_by_key(|f| f.visited.archived_ms);
        self.add_urls(&arrived, now)?;
        for mut finished in arrived {
            let uri = finished.lease.record.uri.clone();
            if self.frontier.is_taken_down(&uri) {
                continue;
            }
            let Some(mut record) = self.store.lookup(&uri)? else {
                continue;
            };
            if self.batch.pages.iter().any(|page| page.id == record.id) {
                self.write_batch(now)?;
                record = self.store.lookup(&uri)?.unwrap_or(record);
            }
            if is_older(&record, &finished.visited) {
                self.summary.archived_older += 1;
                continue;
            }
            finished.lease.record = record;
            self.take_finished(finished, now)?;
        }
        Ok(())
    }

    /// Makes records for addresses that are new. They go past the frontier, which knows only configured sites.
    fn add_urls(&mut self, arrived: &[Finished], now: i64) -> anyhow::Result<()> {
        let mut batch = Batch::default();
        for finished in arrived {
            let UrlRecord { uri, site, .. } = &finished.lease.record;
            if !self.frontier.is_taken_down(uri) && self.store.lookup(uri)?.is_none() {
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
}

/// Whether an answer is none of a page, a redirect or an error of the server: an image, a script, a broken record.
fn is_foreign(visited: &Visited) -> bool {
    visited.fetched.is_none() || visited.outcome == VisitOutcome::Unwanted
}

/// Whether what an archive has of a page is older than what the last visit brought. What that visit brought itself is taken once
/// more where a person has named fields since.
fn is_older(record: &UrlRecord, visited: &Visited) -> bool {
    let (Some(fetched_ms), Some(archived_ms)) = (record.visit.fetched_ms, visited.archived_ms)
    else {
        return record.visit.fetched_ms > visited.archived_ms;
    };
    let is_last = fetched_ms - archived_ms <= SAME_VISIT_MS && visited.named_ms > fetched_ms;
    fetched_ms > archived_ms && !is_last
}
