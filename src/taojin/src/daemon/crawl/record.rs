//! Records finished visits.
//!
//! [`apply`] computes the next state of the URL's record, the document and the outlinks for the next transaction, and the
//! line of the crawl log; it is pure, times are passed in. The crawl loop adds them to its batch and counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::crawl_log::LogLine;
use super::crawl_loop::CrawlLoop;
use super::shown::{Duplicates, PageJudge, Primary, find, primary};
use super::sites;
use super::visit::{Content, EndedLease, FinishedVisit, FurtherPage, Unindexed, Visit};
use crate::daemon::Mode;
use crate::serve::metrics;
use taojin_crawl::fetch::{Fetched, Trouble};
use taojin_crawl::frontier::{Lease, is_blind};
use taojin_crawl::schedule::{self, Finding, PageFacts, PageKind, Revisit, Shown};
use taojin_crawl::store::{
    DocOp, FinishedPage, Reader, Store, StoreError, UrlClass, UrlId, UrlRecord, UrlState, UrlVisit,
};
use taojin_crawl::{DocumentChange, Problem, VisitOutcome};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

/// Articles that may wait for their next page at once; what begins beyond it is taken without its later pages.
const MAX_OPEN: usize = 256;

/// Addresses of lists that are remembered: a few hundred kilobytes.
const MOST_LISTS: usize = 2_000;

/// What follows from a visit.
pub(crate) struct AppliedVisit {
    /// For the transaction.
    pub(crate) page: FinishedPage,
    /// For the crawl log.
    pub(crate) line: LogLine,
    /// The page came whole and said nothing that was not known.
    pub(crate) wasted: bool,
}

/// Decides with the revisit policy what becomes of the URL and of its document. Without `keeps_links` the addresses that the page
/// leads to are not taken up.
pub(crate) fn apply(
    finished: FinishedVisit,
    shown: Shown,
    duplicates: Duplicates,
    config: &schedule::Config,
    keeps_links: bool,
    now_ms: i64,
) -> AppliedVisit {
    let FinishedVisit {
        lease,
        visit,
        sitemaps,
        ..
    } = finished;
    let record = &lease.record;
    // A page from an archive was visited when it was archived.
    let at_ms = visit.archived().map_or(now_ms, |(at_ms, _)| at_ms);
    let finding = finding(&visit, record.visit.class, shown);
    let mut revisit = schedule::revisit(config, record, &finding, at_ms);
    link_to_primary(
        &mut revisit,
        &visit,
        record,
        duplicates.primary.as_ref(),
        at_ms,
    );
    if let Some(primary) = &duplicates.primary {
        // Its document is looked after at the other address.
        revisit.visit.due_ms = revisit.visit.due_ms.map(|_| at_ms + config.max_ms);
        revisit.visit.target = Some(primary.uri.to_string());
    }
    note(&mut revisit.visit, &visit);
    let other_document = other_document(&visit, record, duplicates.primary.as_ref(), at_ms);
    let (document, said) = document(&visit, &revisit, record, &duplicates, at_ms);
    let is_page = revisit.visit.state == UrlState::Fetched && !revisit.delete;
    let wasted = visit.digest().is_some() && is_page && !revisit.changed;
    let line = line(&visit, &revisit, &lease, said, now_ms);
    let mut outlinks = if keeps_links {
        let found = visit.into_outlinks().into_iter();
        found.chain(sitemaps).collect()
    } else {
        Vec::new()
    };
    for link in &mut outlinks {
        link.site = Arc::clone(&record.site);
    }
    let line = LogLine {
        outlinks: outlinks.len(),
        ..line
    };
    let page = FinishedPage {
        id: record.id,
        host: record.host,
        fingerprint: record.uri.fingerprint(),
        visit: revisit.visit,
        outlinks,
        document,
        other_document,
        yielding: duplicates.yielding,
    };
    AppliedVisit { page, line, wasted }
}

/// Whose document stands for the page from now on, and where it stands.
fn link_to_primary(
    revisit: &mut Revisit,
    visited: &Visit,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) {
    let visit = &mut revisit.visit;
    let before = &record.visit;
    if visited.outcome() == VisitOutcome::NotModified {
        visit.target.clone_from(&before.target);
        if before.digest.is_none() {
            // What stood for it is gone, or it was never read whole: this 304 is to no question of ours.
            (visit.etag, visit.last_modified) = (None, None);
            visit.due_ms = Some(at_ms);
        }
        return;
    }
    let was_asked = visit.state != UrlState::Refused;
    let is_confirmed = was_asked && visit.confirmed_ms == visit.fetched_ms;
    if let Some(target) = visited.target().filter(|_| is_confirmed) {
        visit.target = Some(target.to_string());
    }
    if is_confirmed || visit.state == UrlState::Gone || (before.documented && !visit.documented) {
        let same_text = primary.is_none_or(|p| p.same_text);
        let said = visited.document().map(|d| d.content);
        let said = said.filter(|_| is_confirmed);
        visit.content = said.filter(|_| same_text);
        visit.alias_of = primary.map(|p| p.id);
    }
}

/// Writes down why a page that came has no document, or what is wrong with its body, for `taojin why`.
fn note(visit: &mut UrlVisit, visited: &Visit) {
    if visit.state == UrlState::Fetched && visited.outcome() == VisitOutcome::Page {
        let parts = [
            visited.reason(),
            visited.unindexed().map(Unindexed::to_string),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        visit.error = (!parts.is_empty()).then(|| parts.join("; "));
    }
}

/// The document at the other address, when this one has come to it.
fn other_document(
    visited: &Visit,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) -> Option<(u64, DocOp)> {
    let primary = primary.filter(|p| p.same_text && record.visit.alias_of != Some(p.id))?;
    let document = visited.document()?;
    let row = document.row(at_ms, Some(primary.uri.as_str()), &primary.addresses);
    Some((primary.uri.fingerprint(), DocOp::Upsert(row)))
}

/// The visit as the revisit policy sees it.
fn finding(visited: &Visit, class: UrlClass, shown: Shown) -> Finding {
    let fetched = visited.fetched();
    let outcome = visited.outcome();
    let in_words = match (outcome, fetched) {
        (VisitOutcome::RobotsUnreachable, _) => visited.robots_trouble().map(Trouble::to_string),
        (VisitOutcome::Unreachable, Some(fetched)) if fetched.truncation().is_none() => {
            Some(fetched.describe())
        }
        _ => None,
    };
    let reason = in_words.or_else(|| visited.reason());
    let reason = reason.unwrap_or_else(|| outcome.as_str().to_owned());
    let is_page = outcome == VisitOutcome::Page;
    Finding {
        truncation: fetched.and_then(Fetched::truncation),
        target: fetched
            .and_then(Fetched::redirect_target)
            .map(CrawlUri::to_string),
        retry_after_ms: fetched.and_then(Fetched::asked_pause_ms),
        page: fetched
            .filter(|_| is_page)
            .map(|fetched| facts(visited, fetched, class)),
        shown,
        ..Finding::new(outcome, fetched.map(|f| f.head.status), reason)
    }
}

fn facts(visited: &Visit, fetched: &Fetched, class: UrlClass) -> PageFacts {
    let kind = match (visited.kind(), class) {
        (Some(Kind::Hub), UrlClass::Feed) => PageKind::Feed,
        (Some(Kind::Hub), UrlClass::Sitemap) => PageKind::Sitemap,
        (Some(Kind::Article | Kind::Attachment), _) => PageKind::Article,
        (Some(Kind::Hub), _) => PageKind::Hub,
        (Some(Kind::Error | Kind::Other) | None, _) => PageKind::Other,
    };
    PageFacts {
        kind,
        digest: visited.digest(),
        etag: fetched.head.etag.clone(),
        last_modified: fetched.head.last_modified.clone(),
    }
}

/// What becomes of the document, and what the crawl log says of it.
fn document(
    visited: &Visit,
    revisit: &Revisit,
    record: &UrlRecord,
    duplicates: &Duplicates,
    at_ms: i64,
) -> (Option<DocOp>, Option<DocumentChange>) {
    let had_document = record.visit.documented;
    if duplicates.primary.is_some() {
        return (
            revisit.delete.then_some(DocOp::Delete),
            Some(DocumentChange::Duplicate),
        );
    }
    if revisit.delete {
        return (Some(DocOp::Delete), Some(DocumentChange::Deleted));
    }
    if revisit.visit.is_unconfirmed() {
        let came = visited.outcome().is_success();
        return (None, came.then_some(DocumentChange::Unconfirmed));
    }
    let documented = revisit.visit.documented;
    let Some(document) = visited.document().filter(|_| documented) else {
        return (
            None,
            (visited.outcome() == VisitOutcome::NotModified && had_document)
                .then_some(DocumentChange::Unchanged),
        );
    };
    let same = record.visit.content == revisit.visit.content;
    if had_document && !revisit.changed && same {
        return (None, Some(DocumentChange::Unchanged));
    }
    let change = match (had_document, duplicates.yielding.is_empty()) {
        (true, _) => DocumentChange::Changed,
        // It had this document at another address: counted once, whichever of the two was visited first.
        (false, false) => DocumentChange::Moved,
        (false, true) => DocumentChange::New,
    };
    let row = document.row(at_ms, None, &duplicates.addresses);
    (Some(DocOp::Upsert(row)), Some(change))
}

fn line(
    visited: &Visit,
    revisit: &Revisit,
    lease: &Lease,
    document: Option<DocumentChange>,
    now_ms: i64,
) -> LogLine {
    LogLine {
        queue: lease.queue.to_string(),
        outcome: visited.outcome(),
        reason: visited.reason(),
        class: revisit.visit.class.as_str(),
        kind: visited.kind().map(Kind::name),
        document,
        next: revisit.visit.due_ms.map(time),
        ..fetch_line(&lease.record, visited.fetched(), now_ms)
    }
}

/// The line of the fetch of a further page of an article.
fn further_page_line(record: &UrlRecord, page: &FurtherPage, now_ms: i64) -> LogLine {
    LogLine {
        url: page.uri.to_string(),
        reason: Some(format!("a later page of {}", record.uri)),
        ..fetch_line(record, Some(&page.fetched), now_ms)
    }
}

/// What the log says of any fetch.
fn fetch_line(record: &UrlRecord, fetched: Option<&Fetched>, now_ms: i64) -> LogLine {
    LogLine {
        time: time(now_ms),
        site: record.site.to_string(),
        url: record.uri.to_string(),
        outcome: fetched.map_or(VisitOutcome::Unwanted, |f| f.outcome),
        status: fetched.map(|f| f.head.status).filter(|s| *s > 0),
        bytes: fetched.map_or(0, |f| f.body_bytes),
        elapsed_ms: fetched.map_or(0, |f| i64::try_from(f.elapsed_ms).unwrap_or(i64::MAX)),
        class: record.visit.class.as_str(),
        hops: record.hops,
        ..LogLine::default()
    }
}

/// RFC 3339 in UTC, to the millisecond.
fn time(ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(ms)
        .map(|t| t.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
        .unwrap_or_default()
}

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

    /// Takes a visit: it is compared with what is stored, and what follows from it waits for the next transaction.
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
        let looked = self
            .compare(&mut finished, now)
            .and_then(|(shown, duplicates)| {
                finished.report.turned_away = self.page_judge().is_turned_away(&finished, shown)?;
                Ok((shown, duplicates))
            });
        let (shown, duplicates) = looked.inspect_err(|_| {
            // It was asked, whatever becomes of what it said.
            self.frontier
                .discard(&finished.lease, &finished.report, now);
        })?;
        self.frontier
            .finished(&finished.lease, &finished.report, now);
        let (record, visit) = (&finished.lease.record, &finished.visit);
        let digests = visit.page().map(|page| page.digests).unwrap_or_default();
        if let Some(outline) = digests.outline
            && record.visit.fetched_ms.is_none()
        {
            let via = match record.via {
                Some(id) => found_on(&self.store, &mut self.lists, id)?,
                None => None,
            };
            self.frontier
                .note_outline(&record.uri, via.as_ref(), outline);
        }
        let is_error = visit.kind() == Some(Kind::Error);
        let repeats = digests
            .face
            .is_some_and(|face| self.frontier.repeats(record, face, is_error));
        let site = Arc::clone(&record.site);
        let problem = visit.problem();
        let is_blocking = finished.report.turned_away;
        let blind = is_blind(record);
        if visit.list_cut().is_some() {
            self.batch.count(&site, sites::SITEMAPS_CUT, 1);
        }
        let mut applied = apply(finished, shown, duplicates, &self.revisit, !repeats, now);
        self.frontier.book_recheck(&site, blind, applied.wasted);
        if self.replay.is_some() && !self.sites.contains_key(&site) {
            // Nobody requested a crawl of it: it stays as it was archived.
            applied.page.visit.due_ms = None;
        }
        self.batch_since.get_or_insert_with(Instant::now);
        self.count_visit(&site, &applied, problem);
        if is_blocking {
            self.batch.count(&site, sites::BLOCKING_PAGES, 1);
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
        self.log.write(&further_page_line(record, page, now));
    }

    /// Counts for the status of a site: of all time, and of the cycle (`cycle_…`, set back when one begins).
    fn count_visit(&mut self, site: &Arc<str>, applied: &AppliedVisit, problem: Option<Problem>) {
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
            (sites::USABLE, answered && visit.state != UrlState::Failed),
            (sites::REDIRECTS, line.outcome == VisitOutcome::Redirect),
            (sites::MISSING, is_missing && !is_entry),
            (sites::ENTRY_PROBLEMS, is_entry && problem.is_some()),
        ] {
            if is_so {
                self.batch.count(site, name, 1);
            }
        }
        if let Some(problem) = &problem {
            let name = format!("{}{problem}", sites::PROBLEM);
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

    /// What a page that was just visited shows, and what it has to do with others. Pages of the open transaction that matter are
    /// written first, and the page's own record is read again where such a page may have changed it.
    pub(crate) fn compare(
        &mut self,
        finished: &mut FinishedVisit,
        now: i64,
    ) -> anyhow::Result<(Shown, Duplicates)> {
        if self.page_judge().concerns_batch(finished) {
            self.write_batch(now)?;
        }
        let record = &mut finished.lease.record;
        let was = &record.visit;
        if (was.documented || was.alias_of.is_some())
            && let Some(fresh) = self.store.url(record.id)?
        {
            record.visit = fresh.visit;
        }
        if let Some(there) = self.page_judge().has_moved(finished)? {
            let primary = primary(&self.store, there, &finished.lease.record, true)?;
            let moved = Duplicates {
                primary: Some(primary),
                ..Duplicates::default()
            };
            return Ok((Shown::Elsewhere, moved));
        }
        self.page_judge().look_at_target(finished, now)?;
        let shown = self.page_judge().shown(finished, now)?;
        let document = finished.visit.document();
        let Some(document) = document.filter(|_| shown == Shown::Document) else {
            return Ok((shown, Duplicates::default()));
        };
        let relatives = |store: &Store| {
            let record = &finished.lease.record;
            store.relatives(&record.uri, &record.site, document.content)
        };
        let mut related = relatives(&self.store)?;
        let mut found = find(&self.store, finished, document, &related)?;
        let in_batch = |id: UrlId| self.batch.pages.iter().any(|page| page.id == id);
        if found.primary.as_ref().is_some_and(|p| in_batch(p.id)) {
            self.write_batch(now)?;
            related = relatives(&self.store)?;
            found = find(&self.store, finished, document, &related)?;
        }
        let record = &finished.lease.record;
        let shown = match found.primary {
            Some(_) => Shown::Elsewhere,
            None => {
                let (answer, content) = (Some(document.wording), Some(document.content));
                self.page_judge()
                    .led_to(record, &related.naming, answer, content, now)?
            }
        };
        match shown {
            Shown::Wall { .. } => Ok((shown, Duplicates::default())),
            _ => Ok((shown, found)),
        }
    }

    fn page_judge(&mut self) -> PageJudge<'_> {
        PageJudge {
            store: &self.store,
            walls: &mut self.walls,
            batch: &mut self.batch,
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
