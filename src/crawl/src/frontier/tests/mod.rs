//! Tests of the frontier, on stores in temporary directories and with times that are made up.

mod admission;
mod alike;
mod asked;
mod leasing;
mod partitions;
mod politeness;
mod property;
mod remaining;
mod seen;
mod shares;

use std::sync::Arc;

use super::territory::LOOK_AGAIN_MS;
use super::*;
use crate::outcome::{Failure, VisitOutcome};
use crate::schedule::Site;
use crate::scope::tests::site;
use crate::scope::{Refusal, Scope};
use crate::store::{Batch, FinishedPage, InFlight, NewUrl, Store, UrlClass, UrlState};
use taojin_uri::CrawlUri;

/// A crawl loop without a network.
struct Crawl {
    _dir: tempfile::TempDir,
    store: Store,
    frontier: Frontier,
    batch: Batch,
    now_ms: i64,
}

/// No delays, so that tests of order need no waiting.
fn at_once() -> Config {
    Config {
        min_delay_ms: 0,
        max_delay_ms: 0,
        connections_per_ip: 1_000,
        ..Config::default()
    }
}

fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}

impl Crawl {
    /// A frontier with one site `s` that has all hosts below `test`.
    fn new(config: Config) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let mut frontier = Frontier::open(&mut store, config).unwrap();
        let now_ms = 1_800_000_000_000;
        let site = site("s", &["*.test"]);
        frontier
            .set_sites(&mut store, scopes(&[site]), now_ms)
            .unwrap();
        Crawl {
            _dir: dir,
            store,
            frontier,
            batch: Batch::default(),
            now_ms,
        }
    }

    /// Each host of the site has so many queues from now on.
    fn set_queues(&mut self, queues: u32) {
        self.set_site(Site {
            queues,
            ..site("s", &["*.test"])
        });
    }

    /// The only site from now on.
    fn set_site(&mut self, site: Site) {
        let scopes = scopes(&[site]);
        let frontier = &mut self.frontier;
        frontier
            .set_sites(&mut self.store, scopes, self.now_ms)
            .unwrap();
    }

    /// Begins a cycle of the site; how many pages are due that were not.
    fn begin_cycle(&mut self) -> usize {
        let frontier = &mut self.frontier;
        frontier
            .begin_cycle(&mut self.store, &Arc::from("s"), self.now_ms)
            .unwrap()
    }

    fn link(text: &str, hops: u16) -> NewUrl {
        NewUrl::link(uri(text), &Arc::from("s"), hops)
    }

    fn offer(&mut self, texts: &[impl AsRef<str>]) -> CommitReport {
        let links = texts.iter().map(|text| Self::link(text.as_ref(), 1));
        self.batch.urls = links.collect();
        self.commit()
    }

    fn commit(&mut self) -> CommitReport {
        let report = self
            .frontier
            .commit(&mut self.store, &mut self.batch, self.now_ms)
            .unwrap();
        self.batch = Batch::default();
        report
    }

    fn next(&mut self) -> Next {
        let next = self.frontier.next(&self.store, self.now_ms).unwrap();
        if matches!(next, Next::Fetch(_)) || !self.frontier.takes_turns() {
            return next;
        }
        // In a cluster an address has to be asked for first.
        let turns = self.frontier.take_turns(&self.store, self.now_ms);
        turns.unwrap();
        self.now_ms += LOOK_AGAIN_MS;
        self.frontier.next(&self.store, self.now_ms).unwrap()
    }

    /// The lease that must come now.
    fn lease(&mut self) -> Lease {
        match self.next() {
            Next::Fetch(lease) => *lease,
            other => panic!("expected a lease, got {other:?}"),
        }
    }

    /// Ends a fetch as an article that needs no second visit, and puts it into the batch.
    fn finish(&mut self, lease: &Lease, report: &FetchReport) {
        self.finish_with(lease, report, Vec::new());
    }

    fn finish_with(&mut self, lease: &Lease, report: &FetchReport, outlinks: Vec<NewUrl>) {
        self.frontier.finished(lease, report, self.now_ms);
        let record = &lease.record;
        let mut visit = record.visit.clone();
        visit.state = UrlState::Fetched;
        if visit.class == UrlClass::Unknown {
            visit.class = UrlClass::Article;
        }
        visit.due_ms = None;
        visit.fetched_ms = Some(self.now_ms);
        self.batch.pages.push(FinishedPage {
            id: record.id,
            host: record.host,
            uri: record.uri.clone(),
            visit,
            template: None,
            outlinks,
            document: None,
            other_document: None,
            yielding: Vec::new(),
        });
    }

    /// Fetches everything, waiting as told; the addresses in the order of fetching with their times.
    fn drain(&mut self) -> Vec<(i64, String)> {
        let mut fetched = Vec::new();
        for _ in 0..100_000 {
            match self.next() {
                Next::Fetch(lease) => {
                    fetched.push((self.now_ms, lease.record.uri.to_string()));
                    self.finish(&lease, &FetchReport::new(VisitOutcome::Page, 10));
                }
                Next::Wait { until_ms, .. } => {
                    assert!(until_ms > self.now_ms, "a wait must end later");
                    self.now_ms = until_ms;
                    self.commit();
                }
                Next::Idle => {
                    let changes = self.frontier.has_changes(self.now_ms);
                    let is_empty = self.batch.pages.is_empty();
                    self.commit();
                    if is_empty && !changes {
                        return fetched;
                    }
                }
            }
        }
        panic!("the crawl does not end");
    }

    /// As after `kill -9`: what was committed is there, nothing else.
    fn reopen(self) -> Self {
        let Crawl {
            _dir,
            store,
            frontier,
            now_ms,
            ..
        } = self;
        let config = frontier.config().clone();
        drop((frontier, store));
        let mut store = Store::open(_dir.path()).unwrap();
        let mut frontier = Frontier::open(&mut store, config).unwrap();
        let site = site("s", &["*.test"]);
        frontier
            .set_sites(&mut store, scopes(&[site]), now_ms)
            .unwrap();
        Crawl {
            _dir,
            store,
            frontier,
            batch: Batch::default(),
            now_ms,
        }
    }
}

/// Addresses of a host below `test`.
fn numbered(host: &str, numbers: std::ops::Range<usize>) -> Vec<String> {
    let address = |n| format!("http://{host}.test/{n}");
    numbers.map(address).collect()
}

/// A page that came.
fn came() -> FetchReport {
    FetchReport::new(VisitOutcome::Page, 1)
}

fn scopes(sites: &[Site]) -> Vec<Scope> {
    sites.iter().map(|site| Scope::new(site).unwrap()).collect()
}
