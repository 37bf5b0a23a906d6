//! What the crawl loop does with a visit that has ended. In: the visit. Out: a page for the next transaction, a line of
//! the crawl log, counters of its site in the store, metrics of the process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::crawl_loop::CrawlLoop;
use super::settle::{self, Finished, Settled};
use crate::extract::Kind;
use crate::frontier::Frontier;
use crate::serve::metrics;
use crate::store::UrlState;

impl CrawlLoop {
    pub(super) fn take_finished(&mut self, mut finished: Finished, now: i64) -> anyhow::Result<()> {
        let ties = self.ties(&mut finished, now)?;
        self.frontier
            .finished(&finished.lease, &finished.report, now);
        let record = &finished.lease.record;
        if let Some(outline) = finished.visited.outline
            && record.visit.fetched_ms.is_none()
        {
            let via = record.via.map(|id| self.store.url(id)).transpose()?;
            let via = via.flatten().map(|found_on| found_on.uri);
            self.frontier
                .note_outline(&record.uri, via.as_ref(), outline);
        }
        if finished.visited.kind == Some(Kind::Error)
            && let Some(digest) = finished.visited.digest
            && self.frontier.repeats_error(record, digest)
        {
            finished.visited.outlinks.clear();
        }
        let site = Arc::clone(&record.site);
        let blind = Frontier::is_blind(record);
        let mut settled = settle::settle(finished, ties, &self.revisit, now);
        self.frontier.settle_debt(&site, blind, settled.wasted);
        if self.replay.is_some() && !self.sites.contains_key(&site) {
            // Nobody asked for a crawl of it: it stays as it was archived.
            settled.page.visit.due_ms = None;
        }
        self.batch_since.get_or_insert_with(Instant::now);
        self.tally(&site, &settled);
        self.log.write(&settled.line);
        self.summary.add(&settled.line, settled.wasted);
        if let Some(progress) = &mut self.progress {
            progress(&settled.line);
        }
        self.batch.pages.push(settled.page);
        Ok(())
    }

    /// Counts for the status of a site: of all time, and of the cycle (`cycle_…`, set back when one begins).
    pub(super) fn tally(&mut self, site: &Arc<str>, settled: &Settled) {
        let line = &settled.line;
        let failed = matches!(settled.page.visit.state, UrlState::Failed);
        for (name, cycle_name, is_so) in [
            ("fetches", "cycle_visits", true),
            ("wasted", "cycle_wasted", settled.wasted),
            (
                "not_modified",
                "cycle_not_modified",
                line.outcome == "not_modified",
            ),
            ("new_documents", "cycle_new", line.document == Some("new")),
            ("errors", "cycle_errors", failed),
        ] {
            if is_so {
                self.batch.count(site, name, 1);
                self.batch.count(site, cycle_name, 1);
            }
        }
        ::metrics::counter!(metrics::FETCHES_TOTAL, "outcome" => settled.line.outcome).increment(1);
        ::metrics::counter!(metrics::FETCH_BYTES_TOTAL).increment(settled.line.bytes);
        ::metrics::histogram!(metrics::FETCH_SECONDS)
            .record(Duration::from_millis(settled.line.elapsed_ms.unsigned_abs()).as_secs_f64());
        ::metrics::counter!(metrics::OUTLINKS_TOTAL).increment(settled.line.outlinks as u64);
        if settled.page.document.is_some() {
            ::metrics::counter!(metrics::DOCUMENTS_TOTAL).increment(1);
        }
        if failed {
            // A page that came with 200 fails when it says that it does not exist.
            let own = settled.page.visit.error.as_deref();
            let reason = line.reason.as_deref().or(own).unwrap_or(line.outcome);
            let error = format!("{}: {reason}", line.url);
            self.batch.site_errors.insert(Arc::clone(site), error);
        }
    }
}
