//! What becomes of a URL and its document.

use super::*;
use crate::daemon::crawl::judge::decide::{Change, decide};
use crate::daemon::crawl::judge::{Judgement, Primary};
use crate::daemon::crawl::visit::{
    Answer, Content, FinishedVisit, Held, ListRead, Moment, PageRead, Unfetched, Unindexed, Visit,
    link_from,
};
use crate::documents::{self, EncodedDocument};
use taojin_crawl::fetch::{Refused, Rule, Trouble};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::{self, Cut, Shown};
use taojin_crawl::store::{DocOp, UsedTemplate};
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
fn page(text: &str, digest: u64) -> Visit {
    let document = Held::Document(EncodedDocument::new(&article(text)));
    answered(page_of(document, digest))
}

fn disallowed() -> Visit {
    let rule = Rule {
        allow: false,
        line: 1,
        pattern: "/".to_owned(),
    };
    Visit::Unfetched(Unfetched::Refused(Refused::Robots(rule)))
}

/// What follows where the page shows what it shows, and this page has its document.
fn decided(before: UrlVisit, visit: Visit, primary: Option<Primary>) -> Change {
    let shown = match (visit.document(), visit.withheld()) {
        _ if primary.is_some() => Shown::Elsewhere,
        (Some(_), _) => Shown::Document,
        (None, Some(_)) => Shown::Withheld,
        (None, None) => Shown::Nothing,
    };
    let judgement = Judgement {
        primary,
        ..Judgement::alone(shown)
    };
    decided_by(judgement, before, visit)
}

fn decided_by(judgement: Judgement, before: UrlVisit, visit: Visit) -> Change {
    let finished = FinishedVisit {
        lease: Lease::archived(record(PAGE, before)),
        visit,
        sitemaps: Vec::new(),
        report: FetchReport::new(VisitOutcome::Page, 20),
    };
    decide(&schedule::Config::default(), finished, judgement, true, NOW)
}

fn alone(before: UrlVisit, visit: Visit) -> Change {
    decided(before, visit, None)
}

fn op(change: &Change) -> &'static str {
    match &change.page.document {
        None => "-",
        Some(DocOp::Delete) => "delete",
        Some(DocOp::Upsert(_)) => "upsert",
    }
}

/// State, whether it has a document, what the index is told, what the log says of the document.
type Expected = (UrlState, bool, &'static str, Option<DocumentChange>);

fn check(name: &str, before: UrlVisit, visit: Visit, wanted: Expected) {
    let end = alone(before, visit);
    let visit = &end.page.visit;
    let found = (visit.state, visit.documented, op(&end), end.line.document);
    assert_eq!(found, wanted, "{name}");
    assert_eq!(end.wasted, name == "same", "{name}");
}

#[test]
fn decide_page_document_changes() {
    use UrlState::{Failed, Fetched};
    let known = || known(1, content(&article("正文")));
    let not_modified = ended(VisitOutcome::NotModified, 304);
    let withheld = Held::Withheld(EncodedDocument::new(&article("正文")));
    let noindex = answered(page_of(withheld, 1));
    let mut soft_404 = page_of(Held::None, 1);
    if let Content::Page(page) = &mut soft_404.content {
        page.kind = Kind::Error;
        page.unindexed = Some(Unindexed::ErrorPage);
    }
    let soft_404 = answered(soft_404);
    let new = (Fetched, true, "upsert", Some(DocumentChange::New));
    check("new", UrlVisit::default(), page("正文", 1), new);
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
fn decide_deletes_by_proof() {
    use UrlState::{Failed, Gone, Redirect};
    let known = || known(1, content(&article("正文")));
    let missing = |since_ms: i64| UrlVisit {
        not_found_since_ms: Some(since_ms),
        ..known()
    };
    let moved = moved("http://a.example/2.html");
    let mut busy = fetched(VisitOutcome::Busy, 503);
    busy.head.retry_after_ms = Some(1000);
    let mut reset = fetched(VisitOutcome::Unreachable, 0);
    reset.failure = Some(Failure::Reset);
    let (busy, reset) = [busy, reset]
        .map(|fetched| answered(Answer::unused(fetched)))
        .into();
    let robots_away = Refused::RobotsAway(Trouble {
        outcome: VisitOutcome::ServerError,
        failure: None,
        status: Some(500),
        detail: "HTTP 500".to_owned(),
    });
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
    for (name, before, visit) in [
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
            Visit::Unfetched(Unfetched::Refused(robots_away)),
        ),
    ] {
        check(name, before, visit, kept(Failed));
    }
    check("robots", known(), disallowed(), kept(UrlState::Refused));
}

#[test]
fn decide_new_date_reindexes() {
    let said = content(&article("正文"));
    let dated = Document {
        published: Some("2026-11-20".to_owned()),
        ..article("正文")
    };
    let document = Held::Document(EncodedDocument::new(&dated));
    let end = alone(known(1, said), answered(page_of(document, 1)));
    assert_eq!(op(&end), "upsert");
    assert_ne!(end.page.visit.content, Some(said));
}

#[test]
fn decide_keeps_template_of_shown_document() {
    let used = Some(UsedTemplate {
        id: Some(4),
        changed_ms: NOW,
    });
    let read = |document: Held| {
        let mut answer = page_of(document, 1);
        if let Content::Page(page) = &mut answer.content {
            page.template = used;
        }
        answered(answer)
    };
    let says = |text: &str| Held::Document(EncodedDocument::new(&article(text)));
    let replaced = Shown::Replaced {
        answer: 3,
        withheld: false,
    };
    for (visit, shown, wanted, case) in [
        (read(says("正文")), Shown::Document, used, "its document"),
        (read(says("请稍候")), replaced, None, "another text"),
        (read(Held::None), Shown::Nothing, None, "no document"),
        (
            ended(VisitOutcome::NotModified, 304),
            Shown::Document,
            None,
            "not read",
        ),
        (
            ended(VisitOutcome::ServerError, 500),
            Shown::Nothing,
            None,
            "an error",
        ),
    ] {
        let end = decided_by(Judgement::alone(shown), known(1, 5), visit);
        assert_eq!(end.page.template, wanted, "{case}");
    }
}

fn primary(same_text: bool) -> Option<Primary> {
    Some(Primary {
        id: 3,
        uri: uri("http://a.example/first.html"),
        same_text,
        addresses: vec![PAGE.to_owned()],
    })
}

#[test]
fn decide_known_text_is_alias() {
    let said = content(&article("正文"));
    for (before, wanted) in [(UrlVisit::default(), "-"), (known(9, 9), "delete")] {
        let end = decided(before, page("正文", 1), primary(true));
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
        let (id, op) = end.page.other_document.expect("the first page's document");
        assert_eq!(id, 3);
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
fn decide_alias_reported_once() {
    let alias = UrlVisit {
        documented: false,
        alias_of: Some(3),
        ..known(1, content(&article("正文")))
    };
    let end = decided(alias, page("正文", 1), primary(true));
    assert_eq!((op(&end), end.page.other_document), ("-", None));
}

#[test]
fn decide_canonical_keeps_text() {
    let end = decided(UrlVisit::default(), page("打印版", 1), primary(false));
    assert_eq!((op(&end), end.page.other_document), ("-", None));
    let visit = &end.page.visit;
    assert_eq!((visit.alias_of, visit.content), (Some(3), None));
}

#[test]
fn decide_moved_document_not_new() {
    let judgement = Judgement {
        yielding: vec![3],
        ..Judgement::alone(Shown::Document)
    };
    let end = decided_by(judgement, UrlVisit::default(), page("正文", 1));
    assert_eq!(
        (op(&end), end.line.document),
        ("upsert", Some(DocumentChange::Moved))
    );
    assert_eq!(end.page.yielding, [3]);
}

#[test]
fn decide_alias_ends_with_text() {
    let alias = || UrlVisit {
        documented: false,
        alias_of: Some(3),
        ..known(1, 5)
    };
    for (name, visit, wanted) in [
        ("another text", page("别的", 2), None),
        ("gone", ended(VisitOutcome::Gone, 410), None),
        ("304", ended(VisitOutcome::NotModified, 304), Some(3)),
        ("500", ended(VisitOutcome::ServerError, 500), Some(3)),
        ("404", ended(VisitOutcome::NotFound, 404), Some(3)),
        ("robots", disallowed(), Some(3)),
    ] {
        let end = alone(alias(), visit);
        assert_eq!(end.page.visit.alias_of, wanted, "{name}");
    }
}

#[test]
fn decide_unknown_304_refetched() {
    let released = UrlVisit {
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
fn decide_archived_time() {
    let document = Held::Document(EncodedDocument::new(&article("正文")));
    let archived = Answer {
        at: Moment::Archived {
            at_ms: NOW - 40 * DAY,
        },
        ..page_of(document, 1)
    };
    let end = alone(UrlVisit::default(), answered(archived));
    assert_eq!(end.page.visit.fetched_ms, Some(NOW - 40 * DAY));
    assert!(end.line.time.starts_with("2026-09-21"), "{}", end.line.time);
}

#[test]
fn decide_wall_keeps_document() {
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
        let end = decided_by(Judgement::alone(shown), known(1, said), page("验证", 2));
        let visit = &end.page.visit;
        assert_eq!((op(&end), visit.documented), ("-", true), "{shown:?}");
        assert_eq!((visit.content, visit.digest), (Some(said), Some(1)));
        assert_eq!(end.line.document, Some(DocumentChange::Unconfirmed));
    }
    let end = decided_by(
        Judgement::alone(wall(true)),
        known(1, said),
        page("验证", 2),
    );
    assert_eq!((op(&end), end.page.visit.documented), ("delete", false));
    assert_eq!(end.page.visit.content, None);
    // A page that was never read is read when the wall is gone.
    let end = decided_by(
        Judgement::alone(wall(false)),
        UrlVisit::default(),
        page("验证", 2),
    );
    assert_eq!((op(&end), end.line.document), ("-", None));
    assert_eq!(
        (end.page.visit.state, end.page.visit.content),
        (UrlState::Failed, None)
    );
    let alias = UrlVisit {
        documented: false,
        alias_of: Some(3),
        ..known(1, said)
    };
    let end = decided_by(Judgement::alone(wall(false)), alias, page("验证", 2));
    assert_eq!(
        (end.page.visit.alias_of, end.page.visit.content),
        (Some(3), Some(said))
    );
}

#[test]
fn decide_redirected_document_leaves() {
    let moved = moved("http://a.example/first.html");
    let end = decided(known(1, 5), moved, primary(true));
    let visit = &end.page.visit;
    assert_eq!((op(&end), visit.state), ("delete", UrlState::Redirect));
    assert_eq!((visit.alias_of, visit.content), (Some(3), None));
    assert_eq!(end.line.document, Some(DocumentChange::Duplicate));
}

fn of_class(class: UrlClass) -> UrlVisit {
    UrlVisit {
        class,
        ..UrlVisit::default()
    }
}

#[test]
fn decide_counts_visit() {
    let said = content(&article("正文"));
    let not_found = || ended(VisitOutcome::NotFound, 404);
    let mut reset = fetched(VisitOutcome::Unreachable, 0);
    reset.failure = Some(Failure::Reset);
    reset.detail = "the connection broke".to_owned();
    let cut = Content::List(ListRead {
        digest: 1,
        cut: Some(Cut::Entries),
        max_bytes: 50 << 20,
    });
    let cut = answered(Answer {
        content: cut,
        ..Answer::unused(fetched(VisitOutcome::Page, 200))
    });
    let (new, page) = (UrlVisit::default, || page("正文", 1));
    let seed = || of_class(UrlClass::Seed);
    for (name, before, visit, counters, error) in [
        (
            "new",
            new(),
            page(),
            "new_documents cycle_new cycle_usable",
            "",
        ),
        (
            "same",
            known(1, said),
            page(),
            "wasted cycle_wasted cycle_usable",
            "",
        ),
        (
            "304",
            known(1, said),
            ended(VisitOutcome::NotModified, 304),
            "not_modified cycle_not_modified cycle_usable",
            "",
        ),
        (
            "moved",
            new(),
            moved("http://a.example/2.html"),
            "cycle_redirects",
            "",
        ),
        ("404", known(1, said), not_found(), "cycle_missing", ""),
        (
            "404 of a seed",
            seed(),
            not_found(),
            "errors cycle_errors cycle_entry_problems cycle_problem_HTTP_404",
            "HTTP 404",
        ),
        (
            "robots.txt of a seed",
            seed(),
            disallowed(),
            "cycle_entry_problems cycle_problem_robots",
            "robots.txt line 1: Disallow: /",
        ),
        (
            "reset",
            new(),
            answered(Answer::unused(reset)),
            "errors cycle_errors cycle_problem_reset",
            "the connection broke",
        ),
        (
            "sitemap",
            of_class(UrlClass::Sitemap),
            cut,
            "cycle_usable cycle_sitemaps_cut",
            "",
        ),
    ] {
        let change = alone(before, visit);
        let found: Vec<String> = change
            .counters
            .iter()
            .map(|c| c.replace(' ', "_"))
            .collect();
        let wanted = format!("fetches cycle_visits {counters}");
        assert_eq!(found.join(" "), wanted, "{name}");
        let error = (!error.is_empty()).then(|| format!("{PAGE}: {error}"));
        assert_eq!(change.error, error, "{name}");
    }
    let judgement = Judgement {
        turned_away: true,
        ..Judgement::alone(Shown::Document)
    };
    let change = decided_by(judgement, new(), page());
    assert_eq!(change.counters.last().unwrap(), "cycle_blocking_pages");
}

#[test]
fn decide_counts_blank_pages() {
    let counted = |change: fn(&mut PageRead)| {
        let mut blank = page_of(Held::None, 1);
        if let Content::Page(page) = &mut blank.content {
            page.unindexed = Some(Unindexed::NoText);
            change(page);
        }
        let change = alone(UrlVisit::default(), answered(blank));
        change.counters.contains(&"cycle_blank_pages".into())
    };
    assert!(counted(|_| ()));
    assert!(!counted(|page| page.digests.face = Some(7)), "it has links");
    assert!(!counted(|page| page.unindexed = Some(Unindexed::Unclear)));
}

#[test]
fn decide_counts_cut_lists() {
    let mut cut = page_of(Held::None, 1);
    if let Content::Page(page) = &mut cut.content {
        page.is_list_cut = true;
    }
    let list = || of_class(UrlClass::Hub);
    let gone = || ended(VisitOutcome::NotFound, 404);
    let read_before = UrlVisit {
        digest: Some(1),
        ..list()
    };
    for (name, before, visit, is_counted) in [
        ("goes on", list(), answered(cut), true),
        ("did not come", list(), gone(), true),
        ("has become shorter", read_before, gone(), false),
        ("is no list", UrlVisit::default(), gone(), false),
    ] {
        let counters = alone(before, visit).counters;
        assert_eq!(
            counters.contains(&"cycle_lists_cut".into()),
            is_counted,
            "{name}"
        );
    }
}

#[test]
fn decide_takes_up_links_and_sitemaps() {
    let record = record(PAGE, of_class(UrlClass::Seed));
    let link =
        |path: &str, class| link_from(&record, uri(&format!("http://a.example{path}")), class);
    let paths = |keeps_links: bool| {
        let document = Held::Document(EncodedDocument::new(&article("正文")));
        let finished = FinishedVisit {
            lease: Lease::archived(record.clone()),
            visit: answered(Answer {
                outlinks: vec![link("/2.html", UrlClass::Unknown)],
                ..page_of(document, 1)
            }),
            sitemaps: vec![link("/sitemap.xml", UrlClass::Sitemap)],
            report: FetchReport::new(VisitOutcome::Page, 20),
        };
        let judgement = Judgement::alone(Shown::Document);
        let policy = schedule::Config::default();
        let change = decide(&policy, finished, judgement, keeps_links, NOW);
        let links = &change.page.outlinks;
        assert_eq!(change.line.outlinks, links.len());
        let paths = links.iter().map(|link| link.uri.path().to_owned());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(paths(true), ["/2.html", "/sitemap.xml"]);
    assert!(paths(false).is_empty());
}
