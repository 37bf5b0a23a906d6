//! Takes visits that have ended: each is judged, what follows is decided, and the change waits for the next transaction.

use std::sync::Arc;
use std::time::Duration;

use super::Crawler;
use crate::daemon::crawl::judge::Judgement;
use crate::daemon::crawl::judge::decide::{Change, decide};
use crate::daemon::crawl::visit::{Content, EndedLease, FinishedVisit, Visit};
use crate::serve::metrics;
use taojin_crawl::VisitOutcome;
use taojin_crawl::frontier::is_blind;
use taojin_crawl::store::UrlRecord;

/// An archive has the time of an answer, the store that of the end of its visit: within so many milliseconds they are of one.
const SAME_VISIT_MS: i64 = 10_000;

impl Crawler {
    /// Takes a lease that has ended.
    pub(super) fn take_ended(&mut self, ended: EndedLease, now: i64) -> anyhow::Result<()> {
        match ended {
            EndedLease::Visited(finished) => self.take_visit(*finished, now)?,
            EndedLease::GivenBack(lease, report) => {
                let id = lease.record.id;
                self.frontier.discard(&lease, &report, now);
                let is_forgotten = self.orders.take_forgotten(id);
                let is_wanted = self.plan.is_single_visit() || self.orders.watches().waits_for(id);
                if !is_forgotten && is_wanted {
                    self.orders.request_again([id]);
                }
            }
            EndedLease::Located(lease, ip) => {
                let id = lease.record.id;
                self.frontier.located(&lease, ip, now);
                if self.plan.is_single_visit() || self.orders.watches().waits_for(id) {
                    self.orders.request_again([id]);
                }
            }
        }
        Ok(())
    }

    /// Takes a visit: it is judged by what is stored, and what follows from it waits for the next transaction.
    fn take_visit(&mut self, mut finished: FinishedVisit, now: i64) -> anyhow::Result<()> {
        let (lease, report) = (&finished.lease, &finished.report);
        if self.orders.take_forgotten(lease.record.id) {
            self.frontier.discard(lease, report, now);
            return Ok(());
        }
        if let Some(part) = finished.visit.further() {
            self.committer.add_further_part(lease, part, now);
        }
        let has_room = self.inbox.is_stopping() || self.orders.has_room_for_article();
        if has_room && matches!(finished.visit.content(), Some(Content::Open { .. })) {
            // Its host rests as after any page, and the first address stays due until all have come.
            self.frontier.discard(lease, report, now);
            let id = lease.record.id;
            if !self.inbox.is_stopping()
                && let Some(article) = finished.visit.into_article()
            {
                self.orders.keep_article(id, article);
            }
            return Ok(());
        }
        let judged = self.judge(&mut finished, now);
        let judgement = judged.inspect_err(|_| {
            // It was asked, whatever becomes of what it said.
            self.frontier
                .discard(&finished.lease, &finished.report, now);
        })?;
        finished.report.turned_away = judgement.turned_away;
        self.frontier
            .finished(&finished.lease, &finished.report, now);
        let record = &finished.lease.record;
        let (site, is_blind) = (Arc::clone(&record.site), is_blind(record));
        let (frontier, store) = (&mut self.frontier, self.committer.store());
        let keeps_links = self.memory.note_digests(frontier, store, &finished)?;
        let policy = &self.plan.revisit;
        let mut change = decide(policy, finished, judgement, keeps_links, now);
        self.frontier.book_recheck(&site, is_blind, change.wasted);
        if self.dispatch.replay().is_some() && !self.cycles.is_crawled(&site) {
            // Nobody requested a crawl of it: it stays as it was archived.
            change.page.visit.due_ms = None;
        }
        observe(&change);
        let left = self.progress.add(&change.line, change.wasted);
        let watches = self.orders.watches();
        watches.visited(change.page.id, &change.line, change.wasted, left);
        self.committer.add(&site, change, now);
        Ok(())
    }

    /// Judges a visit. Pages that are not written yet and have to do with it are written first, and its own record is read again
    /// where such a page may have changed it.
    fn judge(&mut self, finished: &mut FinishedVisit, now: i64) -> anyhow::Result<Judgement> {
        let FinishedVisit { lease, visit, .. } = finished;
        let record = &mut lease.record;
        if self.committer.concerns(record, visit) {
            self.write_batch(now)?;
        }
        let was = &record.visit;
        if (was.documented || was.alias_of.is_some())
            && let Some(fresh) = self.committer.store().url(record.id)?
        {
            record.visit = fresh.visit;
        }
        let judgement = self
            .memory
            .judge(self.committer.store(), record, visit, now)?;
        let primary = judgement.primary.as_ref();
        if !primary.is_some_and(|primary| self.committer.holds(primary.id)) {
            return Ok(judgement);
        }
        // The page that has its document was visited a moment ago, and is judged by what it says now.
        self.write_batch(now)?;
        self.memory
            .judge(self.committer.store(), record, visit, now)
    }

    /// Returns the answers that were read from archives their records and takes them, in the order in which they were archived.
    pub(super) fn take_archived(&mut self, now: i64) -> anyhow::Result<()> {
        let Some(replay) = self.dispatch.replay_mut() else {
            return Ok(());
        };
        self.progress
            .tally_mut()
            .add_problems(replay.take_problems());
        let mut arrived = replay.take_arrived();
        // What is no page would not have been linked to either.
        arrived.retain(|f| !is_foreign(&f.visit));
        arrived.sort_by_key(|f| f.visit.archived_ms());
        let urls = arrived.iter().map(|f| &f.lease.record);
        self.committer.add_archived(&self.frontier, urls, now)?;
        for mut finished in arrived {
            let uri = finished.lease.record.uri.clone();
            if self.frontier.takedowns().contains(&uri) {
                continue;
            }
            let Some(mut record) = self.committer.store().lookup(&uri)? else {
                continue;
            };
            if self.committer.holds(record.id) {
                self.write_batch(now)?;
                let fresh = self.committer.store().lookup(&uri)?;
                record = fresh.unwrap_or(record);
            }
            if is_older(&record, &finished.visit) {
                self.progress.tally_mut().add_archived_older();
                continue;
            }
            finished.lease.record = record;
            self.take_visit(finished, now)?;
        }
        Ok(())
    }
}

/// Counts a change for the metrics.
fn observe(change: &Change) {
    let line = &change.line;
    ::metrics::counter!(metrics::FETCHES_TOTAL, "outcome" => line.outcome.as_str()).increment(1);
    ::metrics::counter!(metrics::FETCH_BYTES_TOTAL).increment(line.bytes);
    ::metrics::histogram!(metrics::FETCH_SECONDS)
        .record(Duration::from_millis(line.elapsed_ms.unsigned_abs()).as_secs_f64());
    ::metrics::counter!(metrics::OUTLINKS_TOTAL).increment(line.outlinks as u64);
    if change.page.document.is_some() {
        ::metrics::counter!(metrics::DOCUMENTS_TOTAL).increment(1);
    }
}

/// Whether an answer is none of a page, a redirect or an error of the server: an image, a script, a broken record.
fn is_foreign(visit: &Visit) -> bool {
    visit.answer().is_none() || visit.outcome() == VisitOutcome::Unwanted
}

/// Whether what an archive has of a page is older than what the last visit brought. What that visit brought itself is taken once
/// more where its template has gained fields since.
fn is_older(record: &UrlRecord, visit: &Visit) -> bool {
    let Some(fetched_ms) = record.visit.fetched_ms else {
        return false;
    };
    let Some(archived_ms) = visit.archived_ms() else {
        return true;
    };
    let is_last = fetched_ms - archived_ms <= SAME_VISIT_MS;
    let template = visit.page().and_then(|page| page.template);
    let has_gained = template.is_some_and(|template| template.has_gained(record));
    fetched_ms > archived_ms && !(is_last && has_gained)
}
