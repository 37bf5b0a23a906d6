//! Counting what visits did. In: a settled visit. Out: counters of its site in the store, metrics of the process.

use std::sync::Arc;
use std::time::Duration;

use super::crawl_loop::CrawlLoop;
use super::settle::Settled;
use crate::serve::metrics;
use crate::store::UrlState;

impl CrawlLoop {
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
            let reason = line.reason.as_deref().unwrap_or(line.outcome);
            let error = format!("{}: {reason}", line.url);
            self.batch.site_errors.insert(Arc::clone(site), error);
        }
    }
}
