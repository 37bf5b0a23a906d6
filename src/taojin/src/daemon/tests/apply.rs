//! What becomes of a URL and its document.

use super::*;
use crate::daemon::crawl::record::{AppliedVisit, apply};
use crate::daemon::crawl::shown::{Duplicates, Primary};
use crate::daemon::crawl::visit::{FinishedVisit, LeaseEnd, VisitResult};
use crate::documents::{self, EncodedDocument};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::{self, Shown};
use taojin_crawl::store::DocOp;
use taojin_crawl::{DocumentChange, Failure};
use taojin_extract::{Document, Kind};

const PAGE: &str = "http://a.example/1.html";

fn article(text: &str) -> Document {
    Document {
        url: PAGE.to_owned(),
        title: Some("标题".to_owned()),
        text: text.to_owned(),
        kind: Kind::Article,
        ..Document::default()
    }
}

fn content(document: &Document) -> u64 {
    EncodedDocument::new(document).content
}

/// A page that came whole and says `text`, with this digest.
fn page(text: &str, digest: u64) -> VisitResult {
    VisitResult {
        fetched: Some(fetched(VisitOutcome::Page, 200)),
        kind: Some(Kind::Article),
        document: Some(EncodedDocument::new(&article(text))),
        digest: Some(digest),
        ..VisitResult::nothing(VisitOutcome::Page, None)
    }
}

fn ended(outcome: VisitOutcome, status: u16) -> VisitResult {
    VisitResult {
        fetched: Some(fetched(outcome, status)),
        ..VisitResult::nothing(outcome, Some(format!("HTTP {status}")))
    }
}

fn applied(visit: Visit, visited: VisitResult, duplicates: Duplicates) -> AppliedVisit {
    let shown = match (&visited.document, &visited.withheld) {
        _ if duplicates.primary.is_some() => Shown::Elsewhere,
        (Some(_), _) => Shown::Document,
        (None, Some(_)) => Shown::Withheld,
        (None, None) => Shown::Nothing,
    };
    applied_showing(shown, visit, visited, duplicates)
}

fn applied_showing(
    shown: Shown,
    visit: Visit,
    visited: VisitResult,
    duplicates: Duplicates,
) -> AppliedVisit {
    let finished = FinishedVisit {
        lease: Lease::archived(record(PAGE, visit)),
        visited,
        report: FetchReport::new(VisitOutcome::Page, 20),
        end: LeaseEnd::Whole,
    };
    apply(
        finished,
        shown,
        duplicates,
        &schedule::Config::default(),
        NOW,
    )
}

fn alone(visit: Visit, visited: VisitResult) -> AppliedVisit {
    applied(visit, visited, Duplicates::default())
}

fn op(applied: &AppliedVisit) -> &'static str {
    match &applied.page.document {
        None => "-",
        Some(DocOp::Delete) => "delete",
        Some(DocOp::Upsert(_)) => "upsert",
    }
}

/// State, whether it has a document, what the index is told, what the log says of the document.
type Expected = (UrlState, bool, &'static str, Option<DocumentChange>);

fn check(name: &str, before: Visit, visited: VisitResult, wanted: Expected) {
    let end = alone(before, visited);
    let visit = &end.page.visit;
    let found = (visit.state, visit.documented, op(&end), end.line.document);
    assert_eq!(found, wanted, "{name}");
    assert_eq!(end.wasted, name == "same", "{name}");
}

#[test]
fn apply_page_document_changes() {
    use UrlState::{Failed, Fetched};
    let known = || known(1, content(&article("正文")));
    let not_modified = ended(VisitOutcome::NotModified, 304);
    let noindex = VisitResult {
        document: None,
        withheld: Some(EncodedDocument::new(&article("正文"))),
        ..page("正文", 1)
    };
    let soft_404 = VisitResult {
        document: None,
        kind: Some(Kind::Error),
        ..page("正文", 1)
    };
    let new = (Fetched, true, "upsert", Some(DocumentChange::New));
    check("new", Visit::default(), page("正文", 1), new);
    let same = (Fetched, true, "-", Some(DocumentChange::Unchanged));
    check("same", known(), page("正文", 1), same);
    check("304", known(), not_modified, same);
    let changed = (Fetched, true, "upsert", Some(DocumentChange::Changed));
    check("changed", known(), page("别的", 2), changed);
    let deleted = (Fetched, false, "delete", Some(DocumentChange::Deleted));
    check("noindex", known(), noindex, deleted);
    let stays = (Failed, true, "-", Some(DocumentChange::Unconfirmed));
    check("soft 404", known(), soft_404, stays);
}

#[test]
fn apply_deletes_by_proof() {
    use UrlState::{Failed, Gone, Redirect, Refused};
    let known = || known(1, content(&article("正文")));
    let missing = |since_ms: i64| Visit {
        not_found_since_ms: Some(since_ms),
        ..known()
    };
    let mut moved = ended(VisitOutcome::Redirect, 301);
    let mut busy = ended(VisitOutcome::Busy, 503);
    let mut reset = ended(VisitOutcome::Unreachable, 0);
    if let Some(fetched) = &mut moved.fetched {
        fetched.head.location = Some(uri("http://a.example/2.html"));
    }
    if let Some(fetched) = &mut busy.fetched {
        fetched.head.retry_after_ms = Some(1000);
    }
    if let Some(fetched) = &mut reset.fetched {
        fetched.failure = Some(Failure::Reset);
    }
    let not_found = || ended(VisitOutcome::NotFound, 404);
    let deleted = |state| (state, false, "delete", Some(DocumentChange::Deleted));
    let gone = || ended(VisitOutcome::Gone, 410);
    let late = || missing(NOW - DAY);
    check("410 a day later", late(), gone(), deleted(Gone));
    check("404 a day later", late(), not_found(), deleted(Gone));
    let stays = (Redirect, true, "-", Some(DocumentChange::Unconfirmed));
    check("leads elsewhere", known(), moved, stays);
    let kept = |state| (state, true, "-", None);
    let soon = missing(NOW - DAY + 1);
    for (name, before, visited) in [
        ("404", known(), not_found()),
        ("410", known(), gone()),
        ("404 soon after", soon, not_found()),
        ("403", known(), ended(VisitOutcome::Denied, 403)),
        ("500", known(), ended(VisitOutcome::ServerError, 500)),
        ("503", known(), busy),
        ("reset", known(), reset),
        (
            "no robots.txt",
            known(),
            VisitResult::nothing(VisitOutcome::RobotsUnreachable, None),
        ),
    ] {
        check(name, before, visited, kept(Failed));
    }
    let refused = VisitResult::nothing(VisitOutcome::Disallowed, Some("line 1".to_owned()));
    check("robots", known(), refused, kept(Refused));
}

#[test]
fn apply_new_date_reindexes() {
    let said = content(&article("正文"));
    let mut visited = page("正文", 1);
    let dated = Document {
        published: Some("2026-11-20".to_owned()),
        ..article("正文")
    };
    visited.document = Some(EncodedDocument::new(&dated));
    let end = alone(known(1, said), visited);
    assert_eq!(op(&end), "upsert");
    assert_ne!(end.page.visit.content, Some(said));
}

fn primary(same_text: bool) -> Duplicates {
    Duplicates {
        primary: Some(Primary {
            id: 3,
            uri: uri("http://a.example/first.html"),
            same_text,
            addresses: vec![PAGE.to_owned()],
        }),
        ..Duplicates::default()
    }
}

#[test]
fn apply_known_text_is_alias() {
    let said = content(&article("正文"));
    for (before, wanted) in [(Visit::default(), "-"), (known(9, 9), "delete")] {
        let end = applied(before, page("正文", 1), primary(true));
        let visit = &end.page.visit;
        assert_eq!(
            (op(&end), end.line.document),
            (wanted, Some(DocumentChange::Duplicate))
        );
        assert_eq!(
            (visit.alias_of, visit.content, visit.documented),
            (Some(3), Some(said), false)
        );
        assert_eq!(visit.target.as_deref(), Some("http://a.example/first.html"));
        assert_eq!(visit.due_ms, Some(NOW + schedule::Config::default().max_ms));
        let (fingerprint, op) = end.page.other_document.expect("the first page's document");
        assert_eq!(
            fingerprint,
            uri("http://a.example/first.html").fingerprint()
        );
        let DocOp::Upsert(new) = op else {
            panic!("deleted")
        };
        let document = documents::unpack(&new.body).unwrap().1;
        assert_eq!(document.url, new.url);
        assert_eq!(new.url, "http://a.example/first.html");
        assert_eq!(document.addresses, [PAGE]);
    }
}

#[test]
fn apply_alias_reported_once() {
    let alias = Visit {
        documented: false,
        alias_of: Some(3),
        ..known(1, content(&article("正文")))
    };
    let end = applied(alias, page("正文", 1), primary(true));
    assert_eq!((op(&end), end.page.other_document), ("-", None));
}

#[test]
fn apply_canonical_keeps_text() {
    let end = applied(Visit::default(), page("打印版", 1), primary(false));
    assert_eq!((op(&end), end.page.other_document), ("-", None));
    let visit = &end.page.visit;
    assert_eq!((visit.alias_of, visit.content), (Some(3), None));
}

#[test]
fn apply_moved_document_not_new() {
    let duplicates = Duplicates {
        yielding: vec![3],
        ..Duplicates::default()
    };
    let end = applied(Visit::default(), page("正文", 1), duplicates);
    assert_eq!(
        (op(&end), end.line.document),
        ("upsert", Some(DocumentChange::Moved))
    );
    assert_eq!(end.page.yielding, [3]);
}

#[test]
fn apply_alias_ends_with_text() {
    let alias = || Visit {
        documented: false,
        alias_of: Some(3),
        ..known(1, 5)
    };
    for (name, visited, wanted) in [
        ("another text", page("别的", 2), None),
        ("gone", ended(VisitOutcome::Gone, 410), None),
        ("304", ended(VisitOutcome::NotModified, 304), Some(3)),
        ("500", ended(VisitOutcome::ServerError, 500), Some(3)),
        ("404", ended(VisitOutcome::NotFound, 404), Some(3)),
        (
            "robots",
            VisitResult::nothing(VisitOutcome::Disallowed, None),
            Some(3),
        ),
    ] {
        let end = alone(alias(), visited);
        assert_eq!(end.page.visit.alias_of, wanted, "{name}");
    }
}

#[test]
fn apply_unknown_304_refetched() {
    let released = Visit {
        documented: false,
        digest: None,
        content: None,
        ..known(1, 1)
    };
    let end = alone(released, ended(VisitOutcome::NotModified, 304));
    let visit = &end.page.visit;
    assert_eq!((visit.etag.as_deref(), visit.due_ms), (None, Some(NOW)));
}

#[test]
fn apply_archived_time() {
    let visited = VisitResult {
        archived_ms: Some(NOW - 40 * DAY),
        ..page("正文", 1)
    };
    let end = alone(Visit::default(), visited);
    assert_eq!(end.page.visit.fetched_ms, Some(NOW - 40 * DAY));
    assert!(end.line.time.starts_with("2026-09-21"), "{}", end.line.time);
}

#[test]
fn apply_wall_keeps_document() {
    let said = content(&article("正文"));
    let wall = |made_document| Shown::Wall {
        answer: 7,
        made_document,
    };
    let replaced = Shown::Replaced {
        answer: 7,
        withheld: false,
    };
    for shown in [wall(false), replaced] {
        let end = applied_showing(
            shown,
            known(1, said),
            page("验证", 2),
            Duplicates::default(),
        );
        let visit = &end.page.visit;
        assert_eq!((op(&end), visit.documented), ("-", true), "{shown:?}");
        assert_eq!((visit.content, visit.digest), (Some(said), Some(1)));
        assert_eq!(end.line.document, Some(DocumentChange::Unconfirmed));
    }
    let end = applied_showing(
        wall(true),
        known(1, said),
        page("验证", 2),
        Duplicates::default(),
    );
    assert_eq!((op(&end), end.page.visit.documented), ("delete", false));
    assert_eq!(end.page.visit.content, None);
    // A page that was never read is read when the wall is gone.
    let end = applied_showing(
        wall(false),
        Visit::default(),
        page("验证", 2),
        Duplicates::default(),
    );
    assert_eq!((op(&end), end.line.document), ("-", None));
    assert_eq!(
        (end.page.visit.state, end.page.visit.content),
        (UrlState::Failed, None)
    );
    let alias = Visit {
        documented: false,
        alias_of: Some(3),
        ..known(1, said)
    };
    let end = applied_showing(wall(false), alias, page("验证", 2), Duplicates::default());
    assert_eq!(
        (end.page.visit.alias_of, end.page.visit.content),
        (Some(3), Some(said))
    );
}

#[test]
fn apply_redirected_document_leaves() {
    let mut moved = ended(VisitOutcome::Redirect, 301);
    if let Some(fetched) = &mut moved.fetched {
        fetched.head.location = Some(uri("http://a.example/first.html"));
    }
    let end = applied(known(1, 5), moved, primary(true));
    let visit = &end.page.visit;
    assert_eq!((op(&end), visit.state), ("delete", UrlState::Redirect));
    assert_eq!((visit.alias_of, visit.content), (Some(3), None));
    assert_eq!(end.line.document, Some(DocumentChange::Duplicate));
}
