//! A host with several queues, with the real daemon: each queue fetches by itself and keeps its delay, and a kill loses nothing.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite queues:: -- --nocapture` prints the pages a minute of 1, 2, 4 and 8 queues, and of
//! one host under each queue hash with its idle queues: the tables of `docs/crawling.md`.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_crawl::frontier::queue_name;
use taojin_uri::{CrawlUri, QueueHash};

use super::{add_site, shipped};
use crate::support::folder::{Folder, RunExt as _, assert_has};
use crate::support::http::{Reply, serve};
use crate::support::small_web::article;
use crate::support::{PATIENCE, is_long, say, scaled, wait_until};

/// One request for a page, as the server sees it.
#[derive(Clone)]
struct Hit {
    path: String,
    begun: Instant,
    ended: Instant,
}

#[derive(Default)]
struct State {
    /// Until so many have been under way at once, each waits for the others.
    together: usize,
    under_way: usize,
    most: usize,
    hits: Vec<Hit>,
}

/// What a host is like, and how it is crawled.
#[derive(Clone)]
struct Plan {
    /// The paths of its pages; its front page names all of them.
    paths: Vec<String>,
    /// How long an answer takes.
    page: Duration,
    queues: u32,
    hash: QueueHash,
    /// Delay of each queue.
    delay: Duration,
}

impl Plan {
    /// A host with so many pages that take 100 ms, in so many queues.
    fn new(pages: usize, queues: u32) -> Self {
        Plan {
            paths: (1..=pages).map(|n| format!("/{n}.html")).collect(),
            page: Duration::from_millis(100),
            queues,
            hash: QueueHash::Xxh3,
            delay: Duration::ZERO,
        }
    }
}

/// A host whose front page names all others, and a folder with the shipped settings.
struct Host {
    port: u16,
    plan: Plan,
    state: Arc<(Mutex<State>, Condvar)>,
    folder: Folder,
}

impl Host {
    /// Its first answers wait until each queue that has pages asks for one.
    fn new(plan: Plan) -> Self {
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let (shared, paths, page) = (Arc::clone(&state), plan.paths.clone(), plan.page);
        let port = serve(move |request| {
            if request.path == "/" {
                let links = paths.iter().enumerate();
                let link =
                    |(n, path)| format!("<li><a href=\"{path}\">第{n}口井的钻探记录</a></li>");
                let links: String = links.map(link).collect();
                return Reply::page(&format!("<title>新闻</title><ul>{links}</ul>"));
            }
            let Some(n) = paths.iter().position(|path| *path == request.path) else {
                return Reply::status(404);
            };
            take_time(&request.path, page, &shared);
            Reply::page(&article(&format!("第{n}口井的钻探记录"), ""))
        });
        let folder = shipped();
        add_site(&folder, "a", port, &format!("queues = {}\n", plan.queues));
        let delay_ms = plan.delay.as_millis();
        let hash = format!("{:?}", plan.hash).to_lowercase();
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
            ("queue_hash = \"xxh3\"", format!("queue_hash = \"{hash}\"")),
        ] {
            folder.replace("taojin.toml", shipped, &here);
        }
        let host = Host {
            port,
            plan,
            state,
            folder,
        };
        let filled = host.loads().iter().filter(|load| **load > 0).count();
        host.state.0.lock().expect("no panic").together = filled;
        host
    }

    /// Pages of each queue.
    fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.plan.queues as usize];
        for path in &self.plan.paths {
            loads[self.queue_number(path)] += 1;
        }
        loads
    }

    fn queue_number(&self, path: &str) -> usize {
        self.plan.hash.shard(&self.url(path), self.plan.queues) as usize
    }

    /// The whole address of a path.
    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The queue of an address.
    fn queue(&self, url: &str) -> String {
        let uri = CrawlUri::parse(url).expect("an address");
        queue_name(&uri, self.plan.queues, self.plan.hash)
    }

    /// Requests of each queue, in their order.
    fn by_queue(&self, hits: &[Hit]) -> BTreeMap<String, Vec<Hit>> {
        let mut of_queue: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
        for hit in hits {
            let name = self.queue(&self.url(&hit.path));
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

/// An answer is under way for a while.
fn take_time(path: &str, page: Duration, (state, changed): &(Mutex<State>, Condvar)) {
    let begun = Instant::now();
    let mut now = state.lock().expect("no panic");
    now.under_way += 1;
    now.most = now.most.max(now.under_way);
    changed.notify_all();
    let waits = |now: &mut State| now.most < now.together;
    drop(changed.wait_timeout_while(now, PATIENCE, waits));
    thread::sleep(page);
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
    let host = Host::new(Plan {
        delay,
        ..Plan::new(160, 8)
    });
    let folder = &host.folder;
    let first = folder.taojin(&["crawl"]).started();
    wait_until("60 pages came, some of each queue", || {
        let hits = host.hits();
        hits.len() >= 60 && host.by_queue(&hits).len() == 8
    });
    drop(first);
    let killed = Instant::now();
    assert_eq!(host.most_at_once(), 8, "a queue fetches one page at a time");
    folder.done(&["crawl"]);

    let (before, after): (Vec<Hit>, Vec<Hit>) =
        host.hits().into_iter().partition(|hit| hit.begun < killed);
    assert_eq!(host.by_queue(&before).len(), 8);
    // On a busy machine the first run may come to the end of a queue, of which nothing is left for the second.
    for run in [&before, &after] {
        for (queue, hits) in host.by_queue(run) {
            for pair in hits.windows(2) {
                let gap = pair[1].begun.saturating_duration_since(pair[0].ended);
                assert!(gap >= delay, "{queue}: {gap:?}");
            }
        }
    }
    let documents = folder.indexed();
    for path in &host.plan.paths {
        let url = host.url(path);
        assert_eq!(documents.get(&url), Some(&1), "{url}");
    }
    let again = before.len() + after.len() - host.plan.paths.len();
    assert!(again <= 60, "{again} were fetched again");

    // Who asks is told.
    let log = folder.read("data/log/crawl.log");
    let mut named = HashSet::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            line["queue"],
            host.queue(line["url"].as_str().expect("a text"))
        );
        named.insert(line["queue"].to_string());
    }
    assert_eq!(named.len(), 8);
    let url = host.url("/3.html");
    let why = folder.json(&["why", "--json", &url]);
    assert_eq!(why["queue_name"], host.queue(&url));
    assert_eq!(folder.json(&["status", "--json"])["sites"][0]["queues"], 8);
    assert!(folder.done(&["check"]).contains("owner's permission"));
}

/// Pages a minute by the number of queues, by the server's log: until the first queue has no more, and in all.
#[test]
fn pages_per_minute_scale() {
    let mut of_one = None;
    for queues in scaled([&[1, 2][..], &[1, 2, 4, 8]]).iter().copied() {
        let pages = scaled([40, 400]) * queues as usize;
        let host = Host::new(Plan::new(pages, queues));
        host.folder.done(&["crawl"]);
        let hits = host.hits();
        assert_eq!(hits.len(), pages, "a page came twice");
        assert_eq!(host.most_at_once(), queues as usize);
        let of_queue = host.by_queue(&hits);
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

/// Addresses as a news system makes them: the day, a number that goes up, one ending.
fn news_paths(count: usize) -> Vec<String> {
    let path = |n| {
        let (month, day) = (n / 300 % 12 + 1, n / 10 % 28 + 1);
        format!(
            "/system/2016/{month:02}/{day:02}/{:09}.shtml",
            1_570_000 + n
        )
    };
    (0..count).map(path).collect()
}

/// One host crawled under each hash: what each queue fetched, how many are idle, and pages a minute by the server's log.
#[test]
fn queue_hashes_share_out_host() {
    let fast = Duration::from_millis(100);
    // Where many queues fetch at once each page takes a second, so that the crawler is not what limits them.
    let slow = Duration::from_secs(1);
    let short = [(64, 8, Duration::from_millis(20))];
    let long = [
        (320, 4, fast),
        (320, 5, fast),
        (320, 8, fast),
        (1000, 50, slow),
    ];
    let runs: &[(usize, u32, Duration)] = scaled([&short, &long]);
    say(
        "| queues | hash | fullest by mean | queues without a page | pages a minute | idle queues |",
    );
    for (pages, queues, page) in runs.iter().copied() {
        let runs = QueueHash::ALL.map(|hash| {
            let host = Host::new(Plan {
                paths: news_paths(pages),
                page,
                hash,
                ..Plan::new(pages, queues)
            });
            let fullest = host.loads().into_iter().max().unwrap_or_default();
            (hash, fullest, crawl_under_hash(&host))
        });
        // The fullest queue says how long a crawl takes. A short one is too short to show it.
        for (hash, fullest, rate) in runs.iter().filter(|_| is_long()) {
            for (other, fuller, lower) in runs.iter().filter(|run| run.1 * 2 >= fullest * 3) {
                assert!(lower < rate, "{other:?} {fuller} {hash:?} {fullest}");
            }
        }
    }
}

/// Crawls a host whose answers take equally long, and prints a row of the table. Pages a minute.
fn crawl_under_hash(host: &Host) -> f64 {
    let (hash, queues) = (host.plan.hash, host.plan.queues);
    let loads = host.loads();
    let summary = host.folder.done(&["crawl"]);
    let hits = host.hits();
    assert_eq!(hits.len(), host.plan.paths.len(), "a page came twice");
    let filled = loads.iter().filter(|load| **load > 0).count();
    let most = host.most_at_once();
    assert_eq!(
        most, filled,
        "{hash:?}: each queue that has pages fetches, one at a time"
    );
    for (queue, hits) in host.by_queue(&hits) {
        for pair in hits.windows(2) {
            assert!(pair[1].begun >= pair[0].ended, "{queue}: two at once");
        }
    }

    // The report says the same, with the front page.
    let mut visits = loads.clone();
    visits[host.queue_number("/")] += 1;
    let status = host.folder.json(&["status", "--json"]);
    assert_eq!(
        status["sites"][0]["cycle"]["queue_visits"],
        Value::from(visits.clone())
    );
    let idle = visits.iter().filter(|visits| **visits == 0).count();
    let numbers: Vec<String> = visits.iter().map(u64::to_string).collect();
    let said = format!("visits of each queue: {}; {idle} idle", numbers.join(", "));
    assert_has(&summary, &[&said]);
    assert_has(&host.folder.done(&["status"]), &[&said]);

    let begun = hits.iter().map(|hit| hit.begun).min().expect("hits");
    let ended = hits.iter().map(|hit| hit.ended).max().expect("hits");
    let all_s = (ended - begun).as_secs_f64();
    let times = hits.iter().map(|hit| (hit.ended - hit.begun).as_secs_f64());
    let idle_queues = f64::from(queues) - times.sum::<f64>() / all_s;
    let rate = hits.len() as f64 * 60.0 / all_s;
    let fullest = loads.iter().max().copied().unwrap_or_default() as f64;
    let mean = hits.len() as f64 / f64::from(queues);
    say(&format!(
        "| {queues} | {hash:?} | {:.2} | {} | {rate:.0} | {idle_queues:.1} |",
        fullest / mean,
        loads.len() - filled
    ));
    rate
}
