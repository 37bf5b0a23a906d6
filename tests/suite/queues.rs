//! A host with several queues, with the real daemon: each queue fetches by itself and keeps its delay, and a kill loses nothing.
//!
//! `TAOJIN_LONG=1 cargo test -p taojin --test suite queues:: -- --nocapture` prints the pages a minute of 1, 2, 4 and 8 queues.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_crawl::frontier::queue_name;
use taojin_uri::{CrawlUri, QueueHash};

use crate::trial::indexed;

/// How long an answer takes.
const PAGE: Duration = Duration::from_millis(100);
/// Longest wait for anything: far above what it takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// One request for a page, as the server sees it.
#[derive(Clone)]
struct Hit {
    url: String,
    begun: Instant,
    ended: Instant,
}

#[derive(Default)]
struct State {
    under_way: usize,
    most: usize,
    hits: Vec<Hit>,
}

/// A host whose front page names all others, and a data folder.
struct Host {
    port: u16,
    pages: usize,
    state: Arc<(Mutex<State>, Condvar)>,
    dir: tempfile::TempDir,
}

impl Host {
    /// With so many pages, and a site that asks for so many queues; the first answers wait until so many are asked for at once.
    fn new(pages: usize, queues: u32, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let shared = Arc::clone(&state);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer(stream, port, pages, queues as usize, &shared));
            }
        });
        let dir = tempfile::tempdir().expect("temporary directory");
        fs::create_dir(dir.path().join("sites.d")).expect("sites.d");
        let site = format!("seeds = [\"http://127.0.0.1:{port}/\"]\nqueues = {queues}\n");
        fs::write(dir.path().join("sites.d/a.toml"), site).expect("site file");
        let delay_ms = delay.as_millis();
        let config = format!(
            "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = {delay_ms}\n\
             max_delay_ms = {delay_ms}\njitter = 0.0\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n",
            dir.path().join("data")
        );
        fs::write(dir.path().join("taojin.toml"), config).expect("taojin.toml");
        Host {
            port,
            pages,
            state,
            dir,
        }
    }

    fn url(&self, page: usize) -> String {
        format!("http://127.0.0.1:{}/n/{page}.html", self.port)
    }

    fn taojin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.dir.path().join("taojin.toml"))
            .args(args);
        command
    }

    fn print(&self, args: &[&str]) -> String {
        let output = self.taojin(args).output().expect("taojin runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.print(args)).expect("JSON")
    }

    fn hits(&self) -> Vec<Hit> {
        self.state.0.lock().expect("no panic").hits.clone()
    }

    fn most_at_once(&self) -> usize {
        self.state.0.lock().expect("no panic").most
    }
}

/// Answers the requests of one connection.
fn answer(
    stream: TcpStream,
    port: u16,
    pages: usize,
    together: usize,
    state: &(Mutex<State>, Condvar),
) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if !reader.read_line(&mut first).is_ok_and(|n| n > 0) {
            return;
        }
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
            line.clear();
        }
        let target = first.split_whitespace().nth(1).unwrap_or_default();
        let page = target
            .strip_prefix("/n/")
            .map(|p| p.trim_end_matches(".html"));
        let (status, body) = match (target, page) {
            ("/", _) => {
                let link =
                    |n: usize| format!("<li><a href=\"/n/{n}.html\">第{n}号新闻的标题</a></li>");
                let links: String = (0..pages).map(link).collect();
                (200, format!("<title>列表</title><ul>{links}</ul>"))
            }
            (_, Some(n)) => {
                let begun = Instant::now();
                meet(together, state);
                thread::sleep(PAGE);
                let hit = Hit {
                    url: format!("http://127.0.0.1:{port}{target}"),
                    begun,
                    ended: Instant::now(),
                };
                let mut state = state.0.lock().expect("no panic");
                state.under_way -= 1;
                state.hits.push(hit);
                let text =
                    format!("第{n}号储气库今天完成注气作业，气量达到设计指标的{n}倍。").repeat(6);
                (
                    200,
                    format!("<title>第{n}号新闻</title><h1>第{n}号新闻</h1><p>{text}</p>"),
                )
            }
            _ => (404, String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let sent = reader
            .get_mut()
            .write_all(format!("{head}{body}").as_bytes());
        if sent.is_err() {
            return;
        }
    }
}

/// One more request is under way. Until so many have been at once, each waits for the others.
fn meet(together: usize, (state, changed): &(Mutex<State>, Condvar)) {
    let mut now = state.lock().expect("no panic");
    now.under_way += 1;
    now.most = now.most.max(now.under_way);
    changed.notify_all();
    let waits = |now: &mut State| now.most < together;
    let _ = changed.wait_timeout_while(now, PATIENCE, waits);
}

/// Requests of each queue, in their order.
fn by_queue(hits: &[Hit], queues: u32) -> BTreeMap<String, Vec<&Hit>> {
    let mut of_queue: BTreeMap<String, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        let uri = CrawlUri::parse(&hit.url).expect("an address");
        let name = queue_name(&uri, queues, QueueHash::Xxh3);
        of_queue.entry(name).or_default().push(hit);
    }
    for hits in of_queue.values_mut() {
        hits.sort_by_key(|hit| hit.begun);
    }
    of_queue
}

#[test]
fn eight_queues_fetch_side_by_side_keep_their_delays_and_lose_nothing() {
    let delay = Duration::from_millis(300);
    let host = Host::new(160, 8, delay);
    let mut first = host
        .taojin(&["crawl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("taojin starts");
    let end = Instant::now() + PATIENCE;
    while host.hits().len() < 60 {
        assert!(Instant::now() < end, "only {} pages", host.hits().len());
        thread::sleep(Duration::from_millis(10));
    }
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    let killed = Instant::now();
    assert_eq!(host.most_at_once(), 8, "a queue fetches one page at a time");
    host.print(&["crawl"]);

    let (before, after): (Vec<Hit>, Vec<Hit>) =
        host.hits().into_iter().partition(|hit| hit.begun < killed);
    for run in [&before, &after] {
        let queues = by_queue(run, 8);
        assert_eq!(queues.len(), 8, "{:?}", queues.keys());
        for (queue, hits) in queues {
            for pair in hits.windows(2) {
                let gap = pair[1].begun.saturating_duration_since(pair[0].ended);
                assert!(gap >= delay, "{queue}: {gap:?}");
            }
        }
    }
    let documents = indexed(&host.dir.path().join("data")).expect("an index");
    for page in 0..host.pages {
        assert_eq!(documents.get(&host.url(page)), Some(&1), "page {page}");
    }
    let again = before.len() + after.len() - host.pages;
    assert!(again <= 60, "{again} were fetched again");

    // Who asks is told.
    let log = fs::read_to_string(host.dir.path().join("data/log/crawl.log")).expect("the log");
    let mut named = HashSet::new();
    for line in log.lines().filter(|line| line.contains("/n/")) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let uri = CrawlUri::parse(line["url"].as_str().expect("a text")).expect("an address");
        assert_eq!(line["queue"], queue_name(&uri, 8, QueueHash::Xxh3));
        named.insert(line["queue"].to_string());
    }
    assert_eq!(named.len(), 8);
    let uri = CrawlUri::parse(&host.url(3)).expect("an address");
    let why = host.json(&["why", "--json", &host.url(3)]);
    assert_eq!(why["queue_name"], queue_name(&uri, 8, QueueHash::Xxh3));
    assert_eq!(host.json(&["status", "--json"])["sites"][0]["queues"], 8);
    assert!(host.print(&["check"]).contains("owner's permission"));
}

/// Pages a minute by the number of queues, by the server's log: until the first queue has no more, and in all.
#[test]
fn pages_a_minute_rise_with_the_queues() {
    let mut of_one = None;
    for queues in crate::scaled([&[1, 2][..], &[1, 2, 4, 8]]).iter().copied() {
        let pages = crate::scaled([40, 400]) * queues as usize;
        let host = Host::new(pages, queues, Duration::ZERO);
        host.print(&["crawl"]);
        let hits = host.hits();
        assert_eq!(hits.len(), host.pages, "a page came twice");
        assert_eq!(host.most_at_once(), queues as usize);
        let of_queue = by_queue(&hits, queues);
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
        crate::say(&format!(
            "{queues} queues: {rate:.0} pages a minute, {times:.2} times; {:.0} in all",
            a_minute(end)
        ));
        let is_measured = std::env::var_os("TAOJIN_LONG").is_some();
        assert!(!is_measured || times >= 0.9 * f64::from(queues));
    }
}
