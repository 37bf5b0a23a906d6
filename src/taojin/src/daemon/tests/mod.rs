//! Tests of what the daemon decides about one visit: no network, no store, no clock.

mod decide;
mod fetching;
mod judge;
mod reading;
mod templates;
mod verdict;
mod visit;
mod watchdog;

use std::sync::Arc;

use crate::daemon::crawl::visit::{Answer, Content, Digests, Held, PageRead, Visit};
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Head};
use taojin_crawl::store::{UrlClass, UrlRecord, UrlState, UrlVisit};
use taojin_extract::Kind;
use taojin_uri::CrawlUri;

const NOW: i64 = 1_790_000_000_000;
const DAY: i64 = 86_400_000;

pub(in crate::daemon) fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}

pub(in crate::daemon) fn record(text: &str, visit: UrlVisit) -> UrlRecord {
    UrlRecord {
        id: 7,
        host: 1,
        uri: uri(text),
        site: Arc::from("s"),
        hops: 2,
        redirects: 0,
        via: Some(1),
        announced: None,
        template: None,
        first_seen_ms: NOW - DAY,
        crashes: 0,
        visit,
    }
}

/// An article that was found and read a day ago, and whose document says `content`.
fn known(digest: u64, content: u64) -> UrlVisit {
    UrlVisit {
        state: UrlState::Fetched,
        class: UrlClass::Article,
        interval_ms: DAY,
        status: Some(200),
        etag: Some("\"1\"".to_owned()),
        digest: Some(digest),
        fetched_ms: Some(NOW - DAY),
        confirmed_ms: Some(NOW - DAY),
        changed_ms: Some(NOW - DAY),
        documented: true,
        content: Some(content),
        ..UrlVisit::default()
    }
}

fn fetched(outcome: VisitOutcome, status: u16) -> Fetched {
    Fetched {
        outcome,
        failure: None,
        head: Head {
            status,
            etag: Some("\"2\"".to_owned()),
            ..Head::default()
        },
        wire_bytes: 100,
        body_bytes: 300,
        elapsed_ms: 20,
        remote: None,
        whole: true,
        detail: String::new(),
    }
}

pub(in crate::daemon) fn answered(answer: Answer) -> Visit {
    Visit::Fetched(Box::new(answer))
}

/// A page that came whole and holds this document, with this digest.
pub(in crate::daemon) fn page_of(document: Held, digest: u64) -> Answer {
    let page = PageRead {
        kind: Kind::Article,
        document,
        unindexed: None,
        is_blocking: false,
        digests: Digests {
            content: digest,
            ..Digests::default()
        },
        canonical: None,
        missing: None,
        is_list_cut: false,
        template: None,
        dated_by: None,
    };
    Answer {
        content: Content::Page(Box::new(page)),
        ..Answer::unused(fetched(VisitOutcome::Page, 200))
    }
}

pub(in crate::daemon) fn ended(outcome: VisitOutcome, status: u16) -> Visit {
    answered(Answer::unused(fetched(outcome, status)))
}

/// A page that redirects to `to`.
pub(in crate::daemon) fn moved(to: &str) -> Visit {
    let mut fetched = fetched(VisitOutcome::Redirect, 301);
    fetched.head.location = Some(uri(to));
    answered(Answer {
        content: Content::Redirect(uri(to)),
        ..Answer::unused(fetched)
    })
}
