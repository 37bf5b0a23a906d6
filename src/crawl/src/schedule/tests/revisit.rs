//! What follows from a visit.

use super::*;
use crate::outcome::VisitOutcome;
use crate::schedule::{Config, Finding, PageFacts, PageKind, Shown};
use crate::store::{UrlClass, UrlRecord, UrlState, UrlVisit};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const NOW: i64 = 1_800_000_000_000;

fn record(class: UrlClass) -> UrlRecord {
    UrlRecord {
        id: 1,
        host: 1,
        uri: uri("http://a.cn/x"),
        site: "s".into(),
        hops: 1,
        redirects: 0,
        via: None,
        announced: None,
        template: None,
        first_seen_ms: NOW,
        crashes: 0,
        visit: UrlVisit {
            class,
            due_ms: Some(NOW),
            ..UrlVisit::default()
        },
    }
}

fn page(kind: PageKind, digest: u64) -> Finding {
    let facts = PageFacts {
        kind,
        digest: Some(digest),
        etag: Some(format!("\"{digest}\"")),
        last_modified: None,
    };
    Finding {
        shown: match kind {
            PageKind::Article => Shown::Document,
            _ => Shown::Nothing,
        },
        page: Some(facts),
        ..end(VisitOutcome::Page, 200)
    }
}

fn shows(shown: Shown) -> Finding {
    Finding {
        shown,
        ..page(PageKind::Article, 9)
    }
}

/// An article whose document was confirmed a day ago.
fn documented() -> UrlRecord {
    let mut record = record(UrlClass::Article);
    record.visit = UrlVisit {
        state: UrlState::Fetched,
        documented: true,
        digest: Some(1),
        etag: Some("\"1\"".to_owned()),
        fetched_ms: Some(NOW - DAY),
        confirmed_ms: Some(NOW - DAY),
        changed_ms: Some(NOW - DAY),
        ..record.visit
    };
    record
}

fn end(outcome: VisitOutcome, status: u16) -> Finding {
    Finding::new(outcome, Some(status), "")
}

fn not_found() -> Finding {
    end(VisitOutcome::NotFound, 404)
}

fn gone() -> Finding {
    end(VisitOutcome::Gone, 410)
}

/// Goes through the outcomes, each at the time that the one before asked for (hubs: a day later).
fn go(mut record: UrlRecord, outcomes: &[Finding]) -> Vec<(Revisit, i64)> {
    let mut now = NOW;
    outcomes
        .iter()
        .map(|outcome| {
            let next = revisit(&Config::default(), &record, outcome, now);
            record.visit = next.visit.clone();
            let done = (next, now);
            now = record.visit.due_ms.unwrap_or(now + DAY);
            done
        })
        .collect()
}

fn wait(step: &(Revisit, i64)) -> Option<i64> {
    step.0.visit.due_ms.map(|due| due - step.1)
}

#[test]
fn article_interval_follows_changes() {
    let article = |digest| page(PageKind::Article, digest);
    let steps = go(
        record(UrlClass::Unknown),
        &[
            article(1),
            article(1),
            end(VisitOutcome::NotModified, 304),
            article(2),
            article(3),
        ],
    );
    let waits: Vec<Option<i64>> = steps.iter().map(wait).collect();
    assert_eq!(
        waits,
        [24, 36, 54, 27]
            .map(|h| Some(h * HOUR))
            .into_iter()
            .chain([Some(27 * HOUR / 2)])
            .collect::<Vec<_>>()
    );
    assert_eq!(steps[0].0.visit.class, UrlClass::Article);
    let changed: Vec<bool> = steps.iter().map(|s| s.0.changed).collect();
    assert_eq!(changed, [true, false, false, true, true]);
    assert!(steps.iter().all(|s| !s.0.delete && s.0.visit.documented));
}

#[test]
fn article_interval_is_bounded() {
    let same: Vec<Finding> = (0..20).map(|_| page(PageKind::Article, 1)).collect();
    let steps = go(record(UrlClass::Article), &same);
    assert_eq!(wait(steps.last().unwrap()), Some(30 * DAY));
    let other: Vec<Finding> = (0..20).map(|i| page(PageKind::Article, i)).collect();
    let steps = go(record(UrlClass::Article), &other);
    assert_eq!(wait(steps.last().unwrap()), Some(HOUR));
}

#[test]
fn hub_interval_grows_when_quiet() {
    let same: Vec<Finding> = (0..60).map(|_| page(PageKind::Hub, 1)).collect();
    let steps = go(record(UrlClass::Unknown), &same);
    assert!(steps.iter().all(|s| s.0.visit.due_ms.is_none()));
    assert_eq!(steps[0].0.visit.class, UrlClass::Hub);
    assert_eq!(steps[0].0.visit.interval_ms, 0, "the next cycle visits it");
    assert_eq!(steps[8].0.visit.interval_ms, 2 * DAY);
    assert_eq!(
        steps[59].0.visit.interval_ms,
        7 * DAY,
        "at least once a week"
    );
    let fresh = go(
        record(UrlClass::Hub),
        &[page(PageKind::Hub, 1), page(PageKind::Hub, 2)],
    );
    assert_eq!(fresh[1].0.visit.interval_ms, 0);
}

#[test]
fn hub_archive_waits_longer() {
    let blind = |digest| {
        let mut found = page(PageKind::Hub, digest);
        if let Some(facts) = &mut found.page {
            facts.etag = None;
        }
        found
    };
    let same: Vec<Finding> = (0..9).map(|_| blind(1)).collect();
    let steps = go(record(UrlClass::Unknown), &same);
    assert_eq!(steps[0].0.visit.interval_ms, 0, "the next cycle visits it");
    let rests = steps[1].0.visit.interval_ms;
    assert!((DAY..3 * DAY).contains(&rests), "{rests}");
    assert_eq!(steps[8].0.visit.interval_ms, 7 * DAY);
    let mut added = record(UrlClass::Hub);
    added.first_seen_ms -= 9 * DAY;
    let steps = go(added, &same);
    assert_eq!(steps[8].0.visit.interval_ms, 2 * DAY);
}

#[test]
fn revisit_keeps_named_class() {
    for (class, kind, expected) in [
        (UrlClass::Seed, PageKind::Article, UrlClass::Seed),
        (UrlClass::Unknown, PageKind::Feed, UrlClass::Feed),
        (UrlClass::Unknown, PageKind::Sitemap, UrlClass::Sitemap),
        (UrlClass::Article, PageKind::Other, UrlClass::Article),
        (UrlClass::Hub, PageKind::Article, UrlClass::Article),
        (UrlClass::Unknown, PageKind::Other, UrlClass::Unknown),
    ] {
        let steps = go(record(class), &[page(kind, 1)]);
        assert_eq!(steps[0].0.visit.class, expected, "{class:?} {kind:?}");
    }
}

#[test]
fn missing_twice_deletes_document() {
    for (first, last) in [
        (not_found(), not_found()),
        (gone(), gone()),
        (gone(), not_found()),
    ] {
        let steps = go(documented(), &[first, last]);
        assert_eq!(wait(&steps[0]), Some(DAY));
        assert!(!steps[0].0.delete && steps[0].0.visit.is_unconfirmed());
        assert!(steps[1].0.delete && !steps[1].0.visit.documented);
        assert_eq!(steps[1].0.visit.state, UrlState::Gone);
        assert_eq!(steps[1].0.visit.due_ms, None);
    }
    let steps = go(record(UrlClass::Unknown), &[gone()]);
    assert_eq!(
        steps[0].0.visit.state,
        UrlState::Gone,
        "there is nothing to lose"
    );
    // Something else in between: the count starts again.
    let replaced = Shown::Replaced {
        answer: 7,
        withheld: false,
    };
    for between in [
        page(PageKind::Article, 1),
        page(PageKind::Other, 2),
        shows(replaced),
    ] {
        let back = [not_found(), between, not_found()];
        assert!(go(documented(), &back).iter().all(|s| !s.0.delete));
    }
}

#[test]
fn unconfirmed_document_stays() {
    let wall = Shown::Wall {
        answer: 7,
        made_document: false,
    };
    for shown in [Shown::Nothing, wall] {
        let steps = go(documented(), &vec![shows(shown); 40]);
        for (step, _) in &steps {
            let visit = &step.visit;
            assert!(!step.delete && visit.is_unconfirmed(), "{shown:?}");
            assert_eq!(visit.confirmed_ms, Some(NOW - DAY));
            assert_eq!(
                (visit.digest, visit.etag.as_deref()),
                (Some(1), Some("\"1\""))
            );
            assert_eq!(visit.class, UrlClass::Article);
        }
        let mut after = documented();
        after.visit = steps[3].0.visit.clone();
        let found = revisit(
            &Config::default(),
            &after,
            &page(PageKind::Article, 1),
            NOW + 9 * DAY,
        );
        assert!(!found.changed && !found.visit.is_unconfirmed());
        assert_eq!((found.visit.answer, found.visit.errors), (None, 0));
    }
}

#[test]
fn replaced_text_believed_next_day() {
    for (withheld, documented_then) in [(false, true), (true, false)] {
        let replaced = |answer| shows(Shown::Replaced { answer, withheld });
        let steps = go(documented(), &[replaced(7), replaced(8)]);
        assert!(steps[0].0.visit.is_unconfirmed() && !steps[0].0.delete);
        assert_eq!(
            (wait(&steps[0]), steps[0].0.visit.answer),
            (Some(DAY), Some(7))
        );
        assert_eq!(steps[1].0.visit.state, UrlState::Fetched);
        assert_eq!(
            (steps[1].0.visit.documented, steps[1].0.delete),
            (documented_then, withheld)
        );
        assert_eq!(steps[1].0.visit.answer, None);
    }
}

#[test]
fn wall_document_is_deleted() {
    let wall = Shown::Wall {
        answer: 7,
        made_document: true,
    };
    let steps = go(documented(), &[shows(wall)]);
    assert!(steps[0].0.delete && !steps[0].0.visit.documented);
    assert_eq!(
        (steps[0].0.visit.digest, steps[0].0.visit.etag.as_deref()),
        (None, None)
    );
    assert!(
        steps[0].0.visit.due_ms.is_some(),
        "its own text may come back"
    );
}

#[test]
fn withheld_page_deletes_document() {
    for shown in [Shown::Withheld, Shown::Elsewhere] {
        let steps = go(documented(), &[shows(shown)]);
        assert!(steps[0].0.delete && !steps[0].0.visit.documented);
        assert_eq!(steps[0].0.visit.state, UrlState::Fetched);
    }
}

#[test]
fn error_page_is_revisited() {
    let errors = [1, 1, 1, 2].map(|digest| page(PageKind::Other, digest));
    for class in [UrlClass::Unknown, UrlClass::Hub] {
        for step in go(record(class), &errors) {
            assert_eq!(step.0.visit.state, UrlState::Fetched);
            assert_eq!(step.0.visit.class, class);
            assert!(step.0.visit.due_ms.is_some() || class.is_hub());
        }
    }
}

#[test]
fn missing_within_day_counts_once() {
    let mut record = record(UrlClass::Article);
    record.visit.documented = true;
    record.visit.not_found_since_ms = Some(NOW - HOUR);
    let next = revisit(&Config::default(), &record, &not_found(), NOW);
    assert!(!next.delete);
    assert_eq!(next.visit.due_ms, Some(NOW + 23 * HOUR));
}

#[test]
fn server_failure_never_deletes() {
    let mut documented = record(UrlClass::Article);
    documented.visit.documented = true;
    for outcome in [
        end(VisitOutcome::ServerError, 500),
        Finding::new(VisitOutcome::Unreachable, None, "timed out"),
        end(VisitOutcome::Denied, 403),
    ] {
        let steps = go(documented.clone(), &vec![outcome; 40]);
        assert!(steps.iter().all(|s| !s.0.delete && s.0.visit.documented));
        let waits: Vec<i64> = steps.iter().filter_map(wait).collect();
        assert_eq!(waits[..4], [10, 20, 40, 80].map(|m| m * 60_000));
        assert_eq!(*waits.iter().max().unwrap(), 7 * DAY);
        assert_eq!(steps[39].0.visit.due_ms, None, "given up in the end");
    }
    let asked = Finding {
        retry_after_ms: Some(5 * HOUR),
        ..end(VisitOutcome::Busy, 429)
    };
    assert_eq!(
        wait(&go(record(UrlClass::Article), &[asked])[0]),
        Some(5 * HOUR)
    );
}

#[test]
fn redirect_keeps_unconfirmed_document() {
    let to = |target: &str| Finding {
        target: Some(target.to_owned()),
        ..end(VisitOutcome::Redirect, 301)
    };
    let moved = Finding {
        shown: Shown::Elsewhere,
        ..to("http://a.cn/y")
    };
    let steps = go(
        documented(),
        &[to("http://a.cn/y"), moved, to("http://a.cn/z")],
    );
    assert!(!steps[0].0.delete && steps[0].0.visit.is_unconfirmed());
    assert!(steps[1].0.delete && !steps[1].0.visit.documented);
    assert_eq!(steps[0].0.visit.state, UrlState::Redirect);
    assert_eq!(steps[0].0.visit.target.as_deref(), Some("http://a.cn/y"));
    let waits: Vec<Option<i64>> = steps.iter().map(wait).collect();
    assert_eq!(waits, [24, 36, 18].map(|h| Some(h * HOUR)));
}

#[test]
fn a_refusal_is_no_visit() {
    let mut visited = record(UrlClass::Article);
    visited.visit.fetched_ms = Some(NOW - DAY);
    visited.visit.documented = true;
    let steps = go(
        visited,
        &[Finding::new(VisitOutcome::Disallowed, None, "robots.txt")],
    );
    let visit = &steps[0].0.visit;
    assert_eq!(visit.state, UrlState::Refused);
    assert_eq!(visit.fetched_ms, Some(NOW - DAY));
    assert_eq!(wait(&steps[0]), Some(7 * DAY));
    assert!(!steps[0].0.delete);
}

#[test]
fn gone_seed_is_retried() {
    let steps = go(record(UrlClass::Seed), &[gone()]);
    assert_eq!(steps[0].0.visit.state, UrlState::Failed);
}

#[test]
fn article_revisit_can_be_off() {
    let config = Config {
        articles: false,
        ..Config::default()
    };
    let next = revisit(
        &config,
        &record(UrlClass::Unknown),
        &page(PageKind::Article, 1),
        NOW,
    );
    assert_eq!(next.visit.due_ms, None);
}
