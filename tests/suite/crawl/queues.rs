//! A host with several queues, with the real daemon: each queue fetches by itself and keeps its delay, and a kill loses nothing.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite queues:: -- --nocapture` prints the pages a minute of 1, 2, 4 and 8 queues.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_crawl::frontier::queue_name;
use taojin_uri::{CrawlUri, QueueHash};

use super::{add_site, news, shipped};
use crate::support::folder::{Folder, RunExt as _};
use crate::support::http::serve;
use crate::support::{PATIENCE, is_long, say, scaled, wait_until};

/// How long an answer takes.
const PAGE: Duration = Duration::from_millis(100);

/// One request for a page, as the server sees it.
#[derive(Clone)]
struct Hit {
    path: String,
    begun: Instant,
    ended: Instant,
}

#[derive(Default)]
struct State {
    under_way: usize,
    most: usize,
    hits: Vec<Hit>,
}

/// A host whose front page names all others, and a folder with the shipped settings.
struct Host {
    port: u16,
    pages: usize,
    state: Arc<(Mutex<State>, Condvar)>,
    folder: Folder,
}

impl Host {
    /// With so many pages, and a site that asks for so many queues; the first answers wait until so many are asked for at once.
    fn new(pages: usize, queues: u32, delay: Duration) -> Self {
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let (shared, answer) = (Arc::clone(&state), news(pages));
        let port = serve(move |request| {
            let reply = answer(request);
            if request.path != "/" && reply.status == 200 {
                take_time(&request.path, queues as usize, &shared);
            }
            reply
        });
        let folder = shipped();
        add_site(&folder, "a", port, &format!("queues = {queues}\n"));
        let delay_ms = delay.as_millis();
        for (shipped, here) in [
            (
                "min_delay_ms = \"1s\"",
                format!("min_delay_ms = {delay_ms}"),
            ),
            (
                "max_delay_ms = \"30s\"",
                format!("max_delay_ms = {delay_ms}"),
            ),
            ("jitter = 0.1", "jitter = 0.0".to_owned()),
        ] {
            folder.replace("taojin.toml", shipped, &here);
        }
        Host {
            port,
            pages,
            state,
            folder,
        }
    }

    /// The whole address of a path.
    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The queue of an address, of so many.
    fn queue(url: &str, queues: u32) -> String {
        let uri = CrawlUri::parse(url).expect("an address");
        queue_name(&uri, queues, QueueHash::Xxh3)
    }

    /// Requests of each queue, in their order.
    fn by_queue(&self, hits: &[Hit], queues: u32) -> BTreeMap<String, Vec<Hit>> {
        let mut of_queue: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
        for hit in hits {
            let name = Self::queue(&self.url(&hit.path), queues);
            of_queue.entry(name).or_default().push(hit.clone());
        }
        for hits in of_queue.values_mut() {
            hits.sort_by_key(|hit| hit.begun);
        }
        of_queue
    }

    fn hits(&self) -> Vec<Hit> {
        self.state.0.lock().expect("no panic").hits.clone()
    }

    fn most_at_once(&self) -> usize {
        self.state.0.lock().expect("no panic").most
    }
}

/// An answer is under way for a while. Until so many have been at once, each waits for the others.
fn take_time(path: &str, together: usize, (state, changed): &(Mutex<State>, Condvar)) {
    let begun = Instant::now();
    let mut now = state.lock().expect("no panic");
    now.under_way += 1;
    now.most = now.most.max(now.under_way);
    changed.notify_all();
    let waits = |now: &mut State| now.most < together;
    drop(changed.wait_timeout_while(now, PATIENCE, waits));
    thread::sleep(PAGE);
    let mut now = state.lock().expect("no panic");
    now.under_way -= 1;
    now.hits.push(Hit {
        path: path.to_owned(),
        begun,
        ended: Instant::now(),
    });
}

#[test]
fn queues_keep_delays_across_kill() {
    let delay = Duration::from_millis(300);
    let host = Host::new(160, 8, delay);
    let folder = &host.folder;
    let first = folder.taojin(&["crawl"]).started();
    wait_until("60 pages came", || host.hits().len() >= 60);
    drop(first);
    let killed = Instant::now();
    assert_eq!(host.most_at_once(), 8, "a queue fetches one page at a time");
    folder.done(&["crawl"]);

    let (before, after): (Vec<Hit>, Vec<Hit>) =
        host.hits().into_iter().partition(|hit| hit.begun < killed);
    for run in [&before, &after] {
        let queues = host.by_queue(run, 8);
        assert_eq!(queues.len(), 8, "{:?}", queues.keys());
        for (queue, hits) in queues {
            for pair in hits.windows(2) {
                let gap = pair[1].begun.saturating_duration_since(pair[0].ended);
                assert!(gap >= delay, "{queue}: {gap:?}");
            }
        }
    }
    let documents = folder.indexed();
    for page in 1..=host.pages {
        let url = host.url(&format!("/{page}.html"));
        assert_eq!(documents.get(&url), Some(&1), "{url}");
    }
    let again = before.len() + after.len() - host.pages;
    assert!(again <= 60, "{again} were fetched again");

    // Who asks is told.
    let log = folder.read("data/log/crawl.log");
    let mut named = HashSet::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            line["queue"],
            Host::queue(line["url"].as_str().expect("a text"), 8)
        );
        named.insert(line["queue"].to_string());
    }
    assert_eq!(named.len(), 8);
    let url = host.url("/3.html");
    let why = folder.json(&["why", "--json", &url]);
    assert_eq!(why["queue_name"], Host::queue(&url, 8));
    assert_eq!(folder.json(&["status", "--json"])["sites"][0]["queues"], 8);
    assert!(folder.done(&["check"]).contains("owner's permission"));
}

/// Pages a minute by the number of queues, by the server's log: until the first queue has no more, and in all.
#[test]
fn pages_per_minute_scale() {
    let mut of_one = None;
    for queues in scaled([&[1, 2][..], &[1, 2, 4, 8]]).iter().copied() {
        let pages = scaled([40, 400]) * queues as usize;
        let host = Host::new(pages, queues, Duration::ZERO);
        host.folder.done(&["crawl"]);
        let hits = host.hits();
        assert_eq!(hits.len(), host.pages, "a page came twice");
        assert_eq!(host.most_at_once(), queues as usize);
        let of_queue = host.by_queue(&hits, queues);
        let begun = hits.iter().map(|hit| hit.begun).min().expect("hits");
        let last = of_queue.values().filter_map(|hits| hits.last());
        let (first_end, end) = (
            last.clone().map(|hit| hit.ended).min().expect("hits"),
            last.map(|hit| hit.ended).max().expect("hits"),
        );
        let a_minute = |end: Instant| {
            let ended = hits.iter().filter(|hit| hit.ended <= end).count();
            ended as f64 * 60.0 / (end - begun).as_secs_f64()
        };
        let rate = a_minute(first_end);
        let times = rate / *of_one.get_or_insert(rate);
        say(&format!(
            "{queues} queues: {rate:.0} pages a minute, {times:.2} times; {:.0} in all",
            a_minute(end)
        ));
        assert!(!is_long() || times >= 0.9 * f64::from(queues));
    }
}
