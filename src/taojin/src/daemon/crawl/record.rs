//! Takes visits that have ended: each is judged, what follows is decided, and the change waits for the next transaction.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::crawl_log::LogLine;
use super::crawl_loop::CrawlLoop;
use super::judge::decide::{Change, decide};
use super::judge::{Judge, Judgement};
use super::visit::{Content, EndedLease, FinishedVisit, Visit};
use crate::daemon::Mode;
use crate::serve::metrics;
use taojin_crawl::frontier::is_blind;
use taojin_crawl::store::{FinishedPage, Reader, StoreError, UrlId, UrlRecord};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

/// Articles that may wait for their next page at once; what begins beyond it is taken without its later pages.
const MAX_OPEN: usize = 256;

/// Addresses of lists that are remembered: a few hundred kilobytes.
const MOST_LISTS: usize = 2_000;

impl CrawlLoop {
    /// Takes a lease that has ended.
    pub(crate) fn take_ended(&mut self, ended: EndedLease, now: i64) -> anyhow::Result<()> {
        match ended {
            EndedLease::Visited(finished) => self.take_visit(*finished, now)?,
            EndedLease::GivenBack(lease, report) => {
                let id = lease.record.id;
                self.frontier.discard(&lease, &report, now);
                let is_forgotten = self.orders.forgotten.remove(&id);
                let is_visit = matches!(self.mode, Mode::Visit { .. });
                if !is_forgotten && (is_visit || self.orders.watches.waits_for(id)) {
                    self.orders.asked.push(id);
                }
            }
            EndedLease::Located(lease, ip) => {
                self.frontier.located(&lease, ip, now);
                // It was its turn.
                self.orders.asked.push(lease.record.id);
            }
        }
        Ok(())
    }

    /// Takes a visit: it is judged by what is stored, and what follows from it waits for the next transaction.
    pub(crate) fn take_visit(&mut self, finished: FinishedVisit, now: i64) -> anyhow::Result<()> {
        let id = finished.lease.record.id;
        if self.orders.forgotten.remove(&id) {
            self.frontier
                .discard(&finished.lease, &finished.report, now);
            return Ok(());
        }
        self.note_further_page(&finished, now);
        let Some(mut finished) = self.put_aside(finished, now) else {
            return Ok(());
        };
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
        let keeps_links = self.note_digests(&finished)?;
        let mut change = decide(&self.revisit, finished, judgement, keeps_links, now);
        self.frontier.book_recheck(&site, is_blind, change.wasted);
        if self.replay.is_some() && !self.sites.contains_key(&site) {
            // Nobody requested a crawl of it: it stays as it was archived.
            change.page.visit.due_ms = None;
        }
        self.add(&site, change, now);
        Ok(())
    }

    /// Judges a visit. Pages of the open transaction that have to do with it are written first, and its own record is read again
    /// where such a page may have changed it.
    fn judge(&mut self, finished: &mut FinishedVisit, now: i64) -> anyhow::Result<Judgement> {
        let FinishedVisit { lease, visit, .. } = finished;
        let record = &mut lease.record;
        if concerns(&self.batch.pages, record, visit) {
            self.write_batch(now)?;
        }
        let was = &record.visit;
        if (was.documented || was.alias_of.is_some())
            && let Some(fresh) = self.store.url(record.id)?
        {
            record.visit = fresh.visit;
        }
        let case = (&*record, &*visit);
        let judgement = Judge::judge(&self.store, &mut self.walls, case, now)?;
        let primary = judgement.primary.as_ref().map(|primary| primary.id);
        if !self.batch.pages.iter().any(|page| Some(page.id) == primary) {
            return Ok(judgement);
        }
        self.write_batch(now)?;
        Judge::judge(&self.store, &mut self.walls, case, now)
    }

    /// Tells the frontier what the page is like: whether the addresses are taken up to which it leads.
    fn note_digests(&mut self, finished: &FinishedVisit) -> anyhow::Result<bool> {
        let (record, visit) = (&finished.lease.record, &finished.visit);
        let Some(page) = visit.page() else {
            return Ok(true);
        };
        if let Some(outline) = page.digests.outline
            && record.visit.fetched_ms.is_none()
        {
            let via = match record.via {
                Some(id) => found_on(&self.store, &mut self.lists, id)?,
                None => None,
            };
            self.frontier
                .note_outline(&record.uri, via.as_ref(), outline);
        }
        let is_error = page.kind == Kind::Error;
        let face = page.digests.face;
        Ok(!face.is_some_and(|face| self.frontier.repeats(record, face, is_error)))
    }

    /// Keeps an article that goes on until its other pages have come; gives back any other visit.
    fn put_aside(&mut self, finished: FinishedVisit, now: i64) -> Option<FinishedVisit> {
        let room = self.stop_at.is_some() || self.orders.open.len() < MAX_OPEN;
        if !room || !matches!(finished.visit.content(), Some(Content::Open { .. })) {
            return Some(finished);
        }
        // Its host rests as after any page, and the first address stays due until all have come.
        let id = finished.lease.record.id;
        self.frontier
            .discard(&finished.lease, &finished.report, now);
        if self.stop_at.is_none()
            && let Some(article) = finished.visit.into_article()
        {
            self.orders.open.insert(id, article);
            self.orders.asked.push(id);
        }
        None
    }

    /// Logs and counts the fetch of a further page of an article; that of the first is noted when all have come.
    fn note_further_page(&mut self, finished: &FinishedVisit, now: i64) {
        let Some(page) = finished.visit.further() else {
            return;
        };
        let record = &finished.lease.record;
        self.batch_since.get_or_insert_with(Instant::now);
        for counter in ["fetches", "cycle_visits"] {
            self.batch.count(&record.site, counter, 1);
        }
        self.log.write(&LogLine::of_further_page(record, page, now));
    }

    /// Adds a change to the open transaction, logs and counts it.
    fn add(&mut self, site: &Arc<str>, change: Change, now: i64) {
        self.batch_since.get_or_insert_with(Instant::now);
        observe(&change);
        let Change {
            page,
            recheck,
            counters,
            error,
            line,
            wasted,
        } = change;
        for name in counters {
            self.batch.count(site, name, 1);
        }
        if let Some(error) = error {
            self.batch.site_errors.insert(Arc::clone(site), error);
        }
        self.batch.hold.extend(recheck.map(|id| (id, now)));
        self.log.write(&line);
        self.summary.add(&line, wasted);
        self.left = self.left.saturating_sub(1);
        self.orders
            .watches
            .visited(page.id, &line, wasted, self.left);
        if let Some(progress) = &mut self.progress {
            progress(&line, self.left);
        }
        self.batch.pages.push(page);
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

/// Whether one of these pages, which are not stored yet, may have to do with a visit.
fn concerns(pages: &[FinishedPage], record: &UrlRecord, visit: &Visit) -> bool {
    let document = visit.document();
    let said = document.map(|d| d.content);
    let answer = document.map(|d| d.wording);
    let target = visit.target().map(CrawlUri::fingerprint);
    pages.iter().any(|page| {
        (said.is_some() && page.visit.content == said)
            || (answer.is_some() && page.visit.answer == answer)
            || Some(page.id) == record.visit.alias_of
            || Some(page.fingerprint) == target
            || page.yielding.contains(&record.id)
            || page.visit.target.as_deref() == Some(record.uri.as_str())
    })
}

/// The address of a page on which others were found. Most pages of a site are found on few lists.
fn found_on(
    store: &Reader,
    lists: &mut HashMap<UrlId, Option<CrawlUri>>,
    id: UrlId,
) -> Result<Option<CrawlUri>, StoreError> {
    if let Some(known) = lists.get(&id) {
        return Ok(known.clone());
    }
    let uri = store.url(id)?.map(|record| record.uri);
    if lists.len() >= MOST_LISTS {
        lists.clear();
    }
    lists.insert(id, uri.clone());
    Ok(uri)
}
