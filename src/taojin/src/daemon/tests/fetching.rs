//! The threads of the fetch tasks.

use std::future::pending;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;

use super::*;
use crate::config::{Config, LoadedConfig};
use crate::daemon::crawl::crawler::Event;
use crate::daemon::crawl::visit::visitor::{VisitSource, VisitTask};
use crate::daemon::crawl::visit::{Answer, EndedLease, FinishedVisit, Visit, tasks};
use crate::daemon::watchdog::Worker;
use crate::daemon::{Clock, Shared, StatusBoard, serve_state};
use crate::serve;
use taojin_crawl::fetch::{self, Gate, Purpose, Request, Turn};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_search::analyze::Analyzer;

/// More than any machine of a test has threads for.
const PAGES: usize = 64;

/// Visits that take a thread each until they are let go.
#[derive(Default)]
struct Slow {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Slow {
    fn visit(&self, work: VisitTask) -> EndedLease {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap();
        }
        EndedLease::Visited(Box::new(FinishedVisit {
            lease: work.lease,
            visit: Visit::Fetched(Box::new(Answer::unused(fetched(VisitOutcome::Page, 200)))),
            sitemaps: Vec::new(),
            report: FetchReport::new(VisitOutcome::Page, 0),
        }))
    }

    fn wait_for_first(&self) {
        let state = self.state.lock().unwrap();
        let _begun = self.changed.wait_while(state, |s| s.0 == 0).unwrap();
    }

    fn let_go(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

fn loaded(data_dir: &std::path::Path) -> LoadedConfig {
    LoadedConfig {
        file: None,
        config: Config {
            data_dir: data_dir.to_owned(),
            ..Config::default()
        },
        sites: Vec::new(),
    }
}

#[tokio::test]
async fn searches_run_during_fetches() {
    let dir = tempfile::tempdir().unwrap();
    let loaded = loaded(dir.path());
    let store = crate::daemon::open_store(&loaded).unwrap();
    drop(store);
    crate::daemon::index::catch_up(&loaded).unwrap();
    let analyzer = Analyzer::new(&loaded.lexicons().unwrap());
    let state = serve_state(&loaded, &analyzer, StatusBoard::new(&loaded, None)).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve::serve(listener, state, pending()));

    let slow = Arc::new(Slow::default());
    let (leases, work) = mpsc::channel(PAGES);
    let (events, ended) = sync_channel(PAGES);
    let visitor = Arc::clone(&slow);
    let visit = move |work: VisitTask| {
        let visitor = Arc::clone(&visitor);
        // What blocks here blocks the thread that polls it.
        async move { visitor.visit(work) }
    };
    let heartbeat = Shared::default().heartbeat(Worker::Fetching);
    let fetching = tasks::start(visit, work, events, heartbeat).unwrap();
    for _ in 0..PAGES {
        let lease = Lease::archived(record("http://a.example/1", UrlVisit::default()));
        let work = VisitTask {
            lease,
            from: VisitSource::Network,
        };
        leases.send(work).await.unwrap();
    }
    slow.wait_for_first();
    let config = fetch::Config {
        allow_addresses: vec![fetch::Network::v4([127, 0, 0, 0], 8)],
        ..fetch::Config::default()
    };
    let gate = Gate::new(config, 0, Arc::new(Clock::default())).unwrap();
    let mut turn = Turn::for_person(0);
    for path in ["/healthz", "/api/search?q=水平井"] {
        let request = Request::any(uri(&format!("http://{address}{path}")));
        let mut body = Vec::new();
        let answer = gate.fetch(&request, Purpose::Named, &mut turn, &mut body);
        let answer = tokio::time::timeout(Duration::from_secs(5), answer).await;
        let answer = answer.expect("an answer in time").unwrap();
        assert_eq!(answer.head.status, 200, "{path}");
    }
    assert!(ended.try_recv().is_err(), "a visit ended before its time");
    slow.let_go();
    for _ in 0..PAGES {
        let end = ended.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(matches!(end, Event::Finished(_)));
    }
    drop(leases);
    tokio::task::spawn_blocking(move || fetching.join().unwrap())
        .await
        .unwrap();
}
