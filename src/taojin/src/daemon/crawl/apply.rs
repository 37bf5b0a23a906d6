//! From what a visit found to what is stored and logged. In: the end of a lease. Out: the record's next state, the
//! document, the line of the crawl log. Pure but for the time that is passed in.

use std::sync::Arc;

use super::crawl_log::LogLine;
use super::duplicates::{Duplicates, Primary};
use super::visited::{Finished, Visited};
use taojin_crawl::fetch::Fetched;
use taojin_crawl::frontier::Lease;
use taojin_crawl::schedule::{self, Finding, PageFacts, PageKind, Revisit, Shown};
use taojin_crawl::store::{DocOp, FinishedPage, UrlClass, UrlRecord, UrlState, Visit};
use taojin_crawl::{DocumentChange, VisitOutcome};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

/// What follows from a visit.
pub(crate) struct Applied {
    /// For the transaction.
    pub(crate) page: FinishedPage,
    /// For the crawl log.
    pub(crate) line: LogLine,
    /// The page came whole and said nothing that was not known.
    pub(crate) wasted: bool,
}

/// Decides with the revisit policy what becomes of the URL and of its document.
pub(crate) fn apply(
    finished: Finished,
    shown: Shown,
    duplicates: Duplicates,
    config: &schedule::Config,
    now_ms: i64,
) -> Applied {
    let Finished { lease, visited, .. } = finished;
    let record = &lease.record;
    // A page from an archive was visited when it was archived.
    let at_ms = visited.archived_ms.unwrap_or(now_ms);
    let finding = finding(&visited, record.visit.class, shown);
    let mut revisit = schedule::revisit(config, record, &finding, at_ms);
    link_to_primary(
        &mut revisit,
        &visited,
        record,
        duplicates.primary.as_ref(),
        at_ms,
    );
    if let Some(primary) = &duplicates.primary {
        // Its document is looked after at the other address.
        revisit.visit.due_ms = revisit.visit.due_ms.map(|_| at_ms + config.max_ms);
        revisit.visit.target = Some(primary.uri.to_string());
    }
    note(&mut revisit.visit, &visited);
    let other_document = other_document(&visited, record, duplicates.primary.as_ref(), at_ms);
    let (document, said) = document(&visited, &revisit, record, &duplicates, at_ms);
    let read = visited.outcome == VisitOutcome::Page && visited.digest.is_some();
    let is_page = revisit.visit.state == UrlState::Fetched && !revisit.delete;
    let wasted = read && is_page && !revisit.changed;
    let line = line(&visited, &revisit, &lease, said, now_ms);
    let site = Arc::clone(&record.site);
    let mut outlinks = visited.outlinks;
    outlinks
        .iter_mut()
        .for_each(|link| link.site = Arc::clone(&site));
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
    Applied { page, line, wasted }
}

/// Whose document stands for the page from now on, and where it stands.
fn link_to_primary(
    revisit: &mut Revisit,
    visited: &Visited,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) {
    let visit = &mut revisit.visit;
    let before = &record.visit;
    if visited.outcome == VisitOutcome::NotModified {
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
    if let Some(target) = visited.target.as_ref().filter(|_| is_confirmed) {
        visit.target = Some(target.to_string());
    }
    if is_confirmed || visit.state == UrlState::Gone || (before.documented && !visit.documented) {
        let same_text = primary.is_none_or(|p| p.same_text);
        let said = visited.document.as_ref().map(|d| d.content);
        let said = said.filter(|_| is_confirmed);
        visit.content = said.filter(|_| same_text);
        visit.alias_of = primary.map(|p| p.id);
    }
}

/// Writes down why a page that came has no document, or what is wrong with its body, for `taojin why`.
fn note(visit: &mut Visit, visited: &Visited) {
    if visit.state == UrlState::Fetched && visited.outcome == VisitOutcome::Page {
        let parts = [&visited.reason, &visited.unindexed];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        visit.error = (!parts.is_empty()).then(|| parts.join("; "));
    }
}

/// The document at the other address, when this one has come to it.
fn other_document(
    visited: &Visited,
    record: &UrlRecord,
    primary: Option<&Primary>,
    at_ms: i64,
) -> Option<(u64, DocOp)> {
    let primary = primary.filter(|p| p.same_text && record.visit.alias_of != Some(p.id))?;
    let document = visited.document.as_ref()?;
    let row = document.row(at_ms, Some(primary.uri.as_str()), &primary.addresses);
    Some((primary.uri.fingerprint(), DocOp::Upsert(row)))
}

/// The visit as the revisit policy sees it.
fn finding(visited: &Visited, class: UrlClass, shown: Shown) -> Finding {
    let fetched = visited.fetched.as_ref();
    let reason = visited.reason.as_deref();
    let in_words = match (visited.outcome, fetched) {
        (VisitOutcome::RobotsUnreachable, _) => visited.sentence.clone(),
        // The reason names the byte at which the body broke off: the next visit compares it with its own.
        (VisitOutcome::Unreachable, Some(fetched)) if !fetched.broke_off() => {
            Some(fetched.in_words())
        }
        _ => None,
    };
    let reason = in_words.unwrap_or_else(|| reason.unwrap_or(visited.outcome.as_str()).to_owned());
    let is_page = visited.outcome == VisitOutcome::Page;
    Finding {
        target: fetched
            .and_then(Fetched::redirect_target)
            .map(CrawlUri::to_string),
        retry_after_ms: fetched.and_then(Fetched::asked_pause_ms),
        page: fetched
            .filter(|_| is_page)
            .map(|fetched| facts(visited, fetched, class)),
        shown,
        ..Finding::new(visited.outcome, fetched.map(|f| f.head.status), reason)
    }
}

fn facts(visited: &Visited, fetched: &Fetched, class: UrlClass) -> PageFacts {
    let kind = match (visited.kind, class) {
        (Some(Kind::Hub), UrlClass::Feed) => PageKind::Feed,
        (Some(Kind::Hub), UrlClass::Sitemap) => PageKind::Sitemap,
        (Some(Kind::Article), _) => PageKind::Article,
        (Some(Kind::Hub), _) => PageKind::Hub,
        (Some(Kind::Error | Kind::Other) | None, _) => PageKind::Other,
    };
    PageFacts {
        kind,
        digest: visited.digest,
        etag: fetched.head.etag.clone(),
        last_modified: fetched.head.last_modified.clone(),
    }
}

/// What becomes of the document, and what the crawl log says of it.
fn document(
    visited: &Visited,
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
        let came = visited.outcome.is_success();
        return (None, came.then_some(DocumentChange::Unconfirmed));
    }
    let documented = revisit.visit.documented;
    let Some(document) = visited.document.as_ref().filter(|_| documented) else {
        return (
            None,
            (visited.outcome == VisitOutcome::NotModified && had_document)
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
    visited: &Visited,
    revisit: &Revisit,
    lease: &Lease,
    document: Option<DocumentChange>,
    now_ms: i64,
) -> LogLine {
    LogLine {
        queue: lease.queue.to_string(),
        outcome: visited.outcome,
        reason: visited.reason.clone(),
        class: revisit.visit.class.as_str(),
        kind: visited.kind.map(Kind::name),
        outlinks: visited.outlinks.len(),
        document,
        next: revisit.visit.due_ms.map(time),
        ..fetch_line(&lease.record, visited.fetched.as_ref(), now_ms)
    }
}

/// The line of the fetch of a later page of an article.
pub(crate) fn later_page(
    record: &UrlRecord,
    uri: &CrawlUri,
    fetched: &Fetched,
    now_ms: i64,
) -> LogLine {
    LogLine {
        url: uri.to_string(),
        reason: Some(format!("a later page of {}", record.uri)),
        ..fetch_line(record, Some(fetched), now_ms)
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
