//! From what a visit found to what is stored and logged. In: the end of a lease. Out: the record's next state, the
//! outbox row, the line of the crawl log. Pure but for the time that is passed in.

use std::sync::Arc;

use super::crawl_log::LogLine;
use super::indexer::OutboxDocument;
use super::visit::Visited;
use crate::extract::Kind;
use crate::fetch::{Fetched, Outcome};
use crate::frontier::{FetchReport, Lease};
use crate::schedule::{self, PageKind, Revisit};
use crate::store::{DocOp, FinishedPage, UrlClass};

/// A lease that has ended.
pub(super) struct Finished {
    /// The lease.
    pub(super) lease: Lease,
    /// What was found.
    pub(super) visited: Visited,
    /// What the frontier's politeness is told.
    pub(super) report: FetchReport,
}

/// What follows from a visit.
pub(super) struct Settled {
    /// For the transaction.
    pub(super) page: FinishedPage,
    /// For the crawl log.
    pub(super) line: LogLine,
}

/// Decides with the revisit policy what becomes of the URL and of its document.
pub(super) fn settle(finished: Finished, config: &schedule::Config, now_ms: i64) -> Settled {
    let Finished { lease, visited, .. } = finished;
    let record = &lease.record;
    // A page from an archive was visited when it was archived.
    let at_ms = visited.archived_ms.unwrap_or(now_ms);
    let outcome = outcome(&visited, record.visit.class);
    let mut revisit = schedule::revisit(config, record, &outcome, at_ms);
    if let Some(target) = &visited.target {
        revisit.visit.target = Some(target.to_string());
    }
    let had_document = record.visit.documented;
    let (document, said) = document(&visited, &revisit, had_document, at_ms);
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
    };
    Settled { page, line }
}

/// The visit in the words of the revisit policy.
fn outcome(visited: &Visited, class: UrlClass) -> schedule::Outcome {
    let reason = || {
        visited
            .reason
            .clone()
            .unwrap_or_else(|| visited.outcome.to_owned())
    };
    let Some(fetched) = &visited.fetched else {
        return match visited.outcome {
            "robots_unreachable" => schedule::Outcome::NoAnswer(reason()),
            _ => schedule::Outcome::Refused(reason()),
        };
    };
    let status = fetched.head.status;
    match &fetched.outcome {
        _ if visited.outcome == "ok" => page(visited, fetched, class),
        Outcome::NotModified => schedule::Outcome::NotModified,
        Outcome::Redirect { to, .. } => schedule::Outcome::Redirect {
            status,
            target: to.to_string(),
        },
        Outcome::Gone | Outcome::NotFound | Outcome::Denied => {
            schedule::Outcome::ClientError(status)
        }
        Outcome::Busy { retry_after_ms } => schedule::Outcome::ServerError {
            status,
            retry_after_ms: *retry_after_ms,
        },
        Outcome::ServerError => schedule::Outcome::ServerError {
            status,
            retry_after_ms: None,
        },
        Outcome::Unreachable(_) => schedule::Outcome::NoAnswer(reason()),
        Outcome::Page | Outcome::Refused(_) | Outcome::Unwanted(_) => {
            schedule::Outcome::Refused(reason())
        }
    }
}

fn page(visited: &Visited, fetched: &Fetched, class: UrlClass) -> schedule::Outcome {
    let kind = match (visited.kind, class) {
        (Some(Kind::Hub), UrlClass::Feed) => PageKind::Feed,
        (Some(Kind::Hub), UrlClass::Sitemap) => PageKind::Sitemap,
        (Some(Kind::Article), _) => PageKind::Article,
        (Some(Kind::Hub), _) => PageKind::Hub,
        (Some(Kind::Error), _) => PageKind::Error,
        (Some(Kind::Other) | None, _) => PageKind::Other,
    };
    schedule::Outcome::Page {
        status: fetched.head.status,
        kind,
        digest: visited.digest,
        etag: fetched.head.etag.clone(),
        last_modified: fetched.head.last_modified.clone(),
        documented: visited.document.is_some(),
    }
}

/// The outbox row, and what the crawl log says of it.
fn document(
    visited: &Visited,
    revisit: &Revisit,
    had_document: bool,
    now_ms: i64,
) -> (Option<DocOp>, Option<&'static str>) {
    if revisit.delete {
        return (Some(DocOp::Delete), Some("deleted"));
    }
    let Some(document) = &visited.document else {
        return (
            None,
            (visited.outcome == "not_modified" && had_document).then_some("unchanged"),
        );
    };
    if had_document && !revisit.changed {
        return (None, Some("unchanged"));
    }
    let row = OutboxDocument {
        fetched_ms: now_ms,
        document: document.clone(),
    };
    let json =
        serde_json::to_vec(&row).expect("a document of strings and numbers always serializes");
    (
        Some(DocOp::Upsert(json)),
        Some(if had_document { "changed" } else { "new" }),
    )
}

fn line(
    visited: &Visited,
    revisit: &Revisit,
    lease: &Lease,
    document: Option<&'static str>,
    now_ms: i64,
) -> LogLine {
    let fetched = visited.fetched.as_ref();
    LogLine {
        time: time(now_ms),
        site: lease.record.site.to_string(),
        url: lease.record.uri.to_string(),
        outcome: visited.outcome,
        status: fetched.map(|f| f.head.status).filter(|s| *s > 0),
        reason: visited.reason.clone(),
        bytes: fetched.map_or(0, |f| f.body_bytes),
        elapsed_ms: fetched.map_or(0, |f| i64::try_from(f.elapsed_ms).unwrap_or(i64::MAX)),
        class: revisit.visit.class.name(),
        kind: visited.kind.map(Kind::name),
        hops: lease.record.hops,
        outlinks: visited.outlinks.len(),
        document,
        next: revisit.visit.due_ms.map(time),
    }
}

/// RFC 3339 in UTC, to the millisecond.
fn time(ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(ms)
        .map(|t| t.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
        .unwrap_or_default()
}
