//! What the crawl loop does with a visit that has ended. In: the visit. Out: a page for the next transaction, a line of
//! the crawl log, counters of its site in the store, metrics of the process.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply::{Applied, apply, later_page};
use super::cycle;
use super::state::CrawlLoop;
use super::visited::{End, Finished, Visited};
use crate::serve::metrics;
use taojin_crawl::frontier::is_blind;
use taojin_crawl::schedule::Shown;
use taojin_crawl::store::{Reader, StoreError, UrlClass, UrlId, UrlState};
use taojin_crawl::{DocumentChange, Failure, VisitOutcome};
use taojin_extract::{Kind, is_blocking_address};
use taojin_uri::CrawlUri;

/// Articles that may wait for their next page at once; what begins beyond it is taken without its later pages.
const MAX_OPEN: usize = 256;

/// Addresses of lists that are remembered: a few hundred kilobytes.
const MOST_LISTS: usize = 2_000;

impl CrawlLoop {
    pub(crate) fn take_finished(&mut self, mut finished: Finished, now: i64) -> anyhow::Result<()> {
        if let End::Located(ip) = finished.end {
            self.frontier.located(&finished.lease, ip, now);
            // It was its turn.
            self.orders.asked.push(finished.lease.record.id);
            return Ok(());
        }
        let is_broken_off = finished.end == End::BrokenOff;
        if self.orders.forgotten.remove(&finished.lease.record.id) || is_broken_off {
            self.frontier
                .discard(&finished.lease, &finished.report, now);
            return Ok(());
        }
        self.note_later_page(&mut finished, now);
        if self.is_put_aside(&mut finished, now) {
            return Ok(());
        }
        let looked = self
            .compare(&mut finished, now)
            .and_then(|(shown, duplicates)| {
                finished.report.turned_away = self.is_turned_away(&finished, shown)?;
                Ok((shown, duplicates))
            });
        let (shown, duplicates) = looked.inspect_err(|_| {
            // It was asked, whatever becomes of what it said.
            self.frontier
                .discard(&finished.lease, &finished.report, now);
        })?;
        self.frontier
            .finished(&finished.lease, &finished.report, now);
        let record = &finished.lease.record;
        if let Some(outline) = finished.visited.outline
            && record.visit.fetched_ms.is_none()
        {
            let via = match record.via {
                Some(id) => found_on(&self.store, &mut self.lists, id)?,
                None => None,
            };
            self.frontier
                .note_outline(&record.uri, via.as_ref(), outline);
        }
        let is_error = finished.visited.kind == Some(Kind::Error);
        if let Some(face) = finished.visited.face
            && self.frontier.repeats(record, face, is_error)
        {
            finished.visited.outlinks.clear();
        }
        let site = Arc::clone(&record.site);
        let problem = problem(&finished.visited);
        let is_blocking = finished.report.turned_away;
        let blind = is_blind(record);
        if finished.visited.sitemap_cut.is_some() {
            self.batch.count(&site, cycle::SITEMAPS_CUT, 1);
        }
        let mut applied = apply(finished, shown, duplicates, &self.revisit, now);
        self.frontier.book_recheck(&site, blind, applied.wasted);
        if self.replay.is_some() && !self.sites.contains_key(&site) {
            // Nobody asked for a crawl of it: it stays as it was archived.
            applied.page.visit.due_ms = None;
        }
        self.batch_since.get_or_insert_with(Instant::now);
        self.count_visit(&site, &applied, problem);
        if is_blocking {
            self.batch.count(&site, cycle::BLOCKING_PAGES, 1);
        }
        self.log.write(&applied.line);
        self.summary.add(&applied.line, applied.wasted);
        self.left = self.left.saturating_sub(1);
        self.orders
            .watches
            .visited(applied.page.id, &applied.line, applied.wasted, self.left);
        if let Some(progress) = &mut self.progress {
            progress(&applied.line, self.left);
        }
        self.batch.pages.push(applied.page);
        Ok(())
    }

    /// Whether the page is one that turns readers away: by its words, by what it is to a page with a document, or by leading where
    /// others lead, too.
    fn is_turned_away(&self, finished: &Finished, shown: Shown) -> anyhow::Result<bool> {
        let (record, visited) = (&finished.lease.record, &finished.visited);
        let had_document = record.visit.documented;
        Ok(is_blocking(visited)
            || match (visited.outcome, shown) {
                (_, Shown::Wall { .. } | Shown::Replaced { .. }) => true,
                (VisitOutcome::Page, Shown::Nothing) => had_document,
                (VisitOutcome::Redirect, Shown::Nothing) if had_document => match &visited.target {
                    Some(target) => self.store.naming(target)?.iter().any(|id| *id != record.id),
                    None => false,
                },
                _ => false,
            })
    }

    /// Keeps an article that goes on until its other pages have come.
    fn is_put_aside(&mut self, finished: &mut Finished, now: i64) -> bool {
        let room = self.stop_at.is_some() || self.orders.open.len() < MAX_OPEN;
        let Some(open) = finished.visited.open.take().filter(|_| room) else {
            return false;
        };
        // Its host rests as after any page, and the first address stays due until all have come.
        let id = finished.lease.record.id;
        self.frontier
            .discard(&finished.lease, &finished.report, now);
        if self.stop_at.is_none() {
            self.orders.open.insert(id, open);
            self.orders.asked.push(id);
        }
        true
    }

    /// Logs and counts the fetch of a later page of an article; that of the first is noted when all have come.
    fn note_later_page(&mut self, finished: &mut Finished, now: i64) {
        let Some((uri, fetched)) = finished.visited.later.take() else {
            return;
        };
        let record = &finished.lease.record;
        self.batch_since.get_or_insert_with(Instant::now);
        for counter in ["fetches", "cycle_visits"] {
            self.batch.count(&record.site, counter, 1);
        }
        self.log.write(&later_page(record, &uri, &fetched, now));
    }

    /// Counts for the status of a site: of all time, and of the cycle (`cycle_…`, set back when one begins).
    fn count_visit(
        &mut self,
        site: &Arc<str>,
        applied: &Applied,
        problem: Option<Cow<'static, str>>,
    ) {
        let line = &applied.line;
        let visit = &applied.page.visit;
        let is_entry = visit.class == UrlClass::Seed;
        // That an old page is no longer there is no error of its site; that the front page is not there is one.
        let is_missing = matches!(line.outcome, VisitOutcome::NotFound | VisitOutcome::Gone);
        let problem = problem.filter(|_| is_entry || !is_missing);
        let failed = visit.state == UrlState::Failed && (is_entry || !is_missing);
        let not_modified = line.outcome == VisitOutcome::NotModified;
        let answered = not_modified || line.outcome == VisitOutcome::Page;
        let is_new = line.document == Some(DocumentChange::New);
        for (name, cycle_name, is_so) in [
            ("fetches", "cycle_visits", true),
            ("wasted", "cycle_wasted", applied.wasted),
            ("not_modified", "cycle_not_modified", not_modified),
            ("new_documents", "cycle_new", is_new),
            ("errors", "cycle_errors", failed),
        ] {
            if is_so {
                self.batch.count(site, name, 1);
                self.batch.count(site, cycle_name, 1);
            }
        }
        for (name, is_so) in [
            (cycle::USABLE, answered && visit.state != UrlState::Failed),
            (cycle::REDIRECTS, line.outcome == VisitOutcome::Redirect),
            (cycle::MISSING, is_missing && !is_entry),
            (cycle::ENTRY_PROBLEMS, is_entry && problem.is_some()),
        ] {
            if is_so {
                self.batch.count(site, name, 1);
            }
        }
        if let Some(problem) = &problem {
            let name = format!("{}{problem}", cycle::PROBLEM);
            self.batch.count(site, name, 1);
        }
        ::metrics::counter!(metrics::FETCHES_TOTAL, "outcome" => applied.line.outcome.as_str())
            .increment(1);
        ::metrics::counter!(metrics::FETCH_BYTES_TOTAL).increment(applied.line.bytes);
        ::metrics::histogram!(metrics::FETCH_SECONDS)
            .record(Duration::from_millis(applied.line.elapsed_ms.unsigned_abs()).as_secs_f64());
        ::metrics::counter!(metrics::OUTLINKS_TOTAL).increment(applied.line.outlinks as u64);
        if applied.page.document.is_some() {
            ::metrics::counter!(metrics::DOCUMENTS_TOTAL).increment(1);
        }
        if failed || (is_entry && problem.is_some()) {
            // A page that came with 200 fails when it says that it does not exist.
            let own = applied.page.visit.error.as_deref();
            // The log has a word for programs, the status a sentence for people.
            let reason = match line.outcome {
                VisitOutcome::Unreachable | VisitOutcome::RobotsUnreachable => {
                    own.or(line.reason.as_deref())
                }
                _ => line.reason.as_deref().or(own),
            };
            let reason = reason.unwrap_or(line.outcome.as_str());
            let error = format!("{}: {reason}", line.url);
            self.batch.site_errors.insert(Arc::clone(site), error);
        }
    }
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

/// Why a visit brought no page, in one of few words; none where it did, or led elsewhere.
fn problem(visited: &Visited) -> Option<Cow<'static, str>> {
    if visited.sitemap_cut.is_some() {
        // It came, and what was read of it counts; it is told by itself.
        return None;
    }
    let Some(fetched) = &visited.fetched else {
        return Some(match (visited.outcome, &visited.reason) {
            // "robots.txt: " and a status or a word.
            (VisitOutcome::RobotsUnreachable, Some(reason)) => Cow::Owned(reason.clone()),
            (outcome, _) => Cow::Borrowed(outcome.as_str()),
        });
    };
    match fetched.failure.map(Failure::as_str) {
        Some(word) => Some(Cow::Borrowed(word)),
        None if fetched.outcome.is_success() => {
            let is_error = visited.kind == Some(Kind::Error);
            is_error.then_some(Cow::Borrowed("error page"))
        }
        None => Some(Cow::Owned(format!("HTTP {}", fetched.head.status))),
    }
}

/// Whether the site turned us away: by such a page, or by leading to one.
fn is_blocking(visited: &Visited) -> bool {
    let leads = visited.target.as_ref().is_some_and(is_blocking_address);
    visited.is_blocking || (visited.outcome == VisitOutcome::Redirect && leads)
}
