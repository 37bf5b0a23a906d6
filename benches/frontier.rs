//! The frontier as it grows: how many links a second it takes in and how many pages it gives out at 100 thousand, at
//! 1 million and at 10 million addresses, what they cost on disk and in memory, and how long it takes to be back after
//! `kill -9`.
//!
//! `cargo bench --bench frontier` goes to 1 million; `TAOJIN_URLS=10000000 cargo bench --bench frontier` goes on. Rates
//! are by the processor time of the thread and by the clock; on a busy machine only the first can be compared.
//! `TAOJIN_BENCH_DIR` names the folder for the store (2 GB for 10 million), else a temporary one.

#![expect(clippy::print_stdout, reason = "a report for a person")]

#[path = "cpu_time/mod.rs"]
mod cpu_time;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use taojin_crawl::VisitOutcome;
use taojin_crawl::frontier::{Config, FetchReport, Frontier, Lease, Next};
use taojin_crawl::schedule::Site;
use taojin_crawl::scope::Scope;
use taojin_crawl::store::{Batch, FinishedPage, NewUrl, Store, UrlClass, UrlState};
use taojin_uri::CrawlUri;

/// Hosts that the addresses are spread over.
const HOSTS: u64 = 1_000;
/// New links of a page.
const LINKS: u64 = 40;
/// New addresses in a transaction.
const BATCH_URLS: u64 = 4_000;
/// Pages in a transaction.
const BATCH_PAGES: usize = 256;
/// Pages given out at each size.
const DRAINED: usize = 40_000;
/// Links offered by the process that is killed.
const BEFORE_KILL: u64 = 400_000;
/// The clock of the bench.
const NOW_MS: i64 = 1_790_000_000_000;

fn main() {
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    if args.next().as_deref() == Some("offer") {
        let dir = args.next().expect("a folder");
        let from = args.next().and_then(|n| n.parse().ok()).expect("a number");
        return offer_until_killed(Path::new(&dir), from);
    }
    let most: u64 =
        std::env::var("TAOJIN_URLS").map_or(1_000_000, |n| n.parse().expect("a number"));
    let temporary = tempfile::tempdir().expect("temporary folder");
    let dir = std::env::var("TAOJIN_BENCH_DIR").map_or(temporary.path().to_owned(), PathBuf::from);
    println!("urls        offer/cpu s  offer/s  next/cpu s  next/s  disk B/url  RSS MB  peak MB");
    let mut crawl = Crawl::open(&dir);
    let mut offered = 0;
    let mut drained = 0;
    for size in [100_000, 1_000_000, 10_000_000] {
        if size > most {
            break;
        }
        // The last tenth, in which new keys are sorted, written and merged several times over.
        let from = if size == 100_000 {
            0
        } else {
            size - (size / 10).max(500_000)
        };
        crawl.offer(offered, from);
        let offer = measure(|| {
            crawl.offer(from, size);
        });
        offered = size;
        let next = measure(|| drained += crawl.drain(DRAINED));
        let rate = |n: u64, d: Duration| n as f64 / d.as_secs_f64();
        let pages = DRAINED as u64;
        println!(
            "{size:<11} {:<12.0} {:<8.0} {:<11.0} {:<7.0} {:<11.0} {:<7} {}",
            rate(size - from, offer.0),
            rate(size - from, offer.1),
            rate(pages, next.0),
            rate(pages, next.1),
            disk_bytes(&dir) as f64 / size as f64,
            memory_kib("VmRSS:") / 1024,
            memory_kib("VmHWM:") / 1024,
        );
    }
    drop(crawl);
    restart(&dir, offered, drained);
}

/// Kills a process that offers links, then opens its store.
fn restart(dir: &Path, offered: u64, drained: usize) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["offer", &dir.to_string_lossy(), &offered.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let last = lines.map_while(Result::ok).find(|line| line == "ready");
    assert!(last.is_some(), "the child ended early");
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    for what in ["after kill -9", "after kill -9, filter lost"] {
        if what.ends_with("lost") {
            let _ = fs::remove_file(dir.join("seen.filter"));
        }
        let started = Instant::now();
        let cpu = cpu_time();
        let mut crawl = Crawl::open(dir);
        let (wall, cpu) = (started.elapsed(), cpu_time() - cpu);
        let known = crawl.offer(0, BATCH_URLS);
        assert_eq!(known, 0, "addresses of the beginning were taken for new");
        crawl.frontier.close(&crawl.store);
        println!(
            "restart {what}: {:.2} s ({:.2} s of processor time), {drained} pages had been fetched",
            wall.as_secs_f64(),
            cpu.as_secs_f64()
        );
    }
}

/// The child: offers links for ever, and says when it is worth killing.
fn offer_until_killed(dir: &Path, from: u64) {
    let mut crawl = Crawl::open(dir);
    for round in 0.. {
        let at = from + round * BATCH_URLS;
        crawl.offer(at, at + BATCH_URLS);
        if round * BATCH_URLS >= BEFORE_KILL {
            println!("ready");
            std::io::stdout().flush().expect("a pipe");
        }
    }
}

struct Crawl {
    store: Store,
    frontier: Frontier,
    site: Arc<str>,
}

impl Crawl {
    fn open(dir: &Path) -> Self {
        let mut store = Store::open(dir).expect("store");
        let config = Config {
            min_delay_ms: 0,
            max_delay_ms: 0,
            pages_per_host_per_cycle: i64::MAX,
            ..Config::default()
        };
        let mut frontier = Frontier::open(&mut store, config).expect("frontier");
        let mut site = Site {
            name: "bench".to_owned(),
            ..Site::default()
        };
        site.scope.hosts = vec!["*.test".to_owned()];
        let scope = Scope::new(&site).expect("rules");
        frontier
            .set_sites(&mut store, vec![scope], NOW_MS)
            .expect("sites");
        Self {
            store,
            frontier,
            site: Arc::from("bench"),
        }
    }

    /// Offers the addresses number `from` to `to`; how many were new.
    fn offer(&mut self, from: u64, to: u64) -> usize {
        let mut new = 0;
        let mut at = from;
        while at < to {
            let end = to.min(at + BATCH_URLS);
            let mut batch = Batch {
                urls: (at..end).map(|n| self.link(n)).collect(),
                ..Batch::default()
            };
            at = end;
            let report = self
                .frontier
                .commit(&mut self.store, &mut batch, NOW_MS)
                .expect("commit");
            new += report.new_urls;
        }
        new
    }

    fn link(&self, n: u64) -> NewUrl {
        let page = n / LINKS;
        let host = mix(page) % HOSTS;
        let text = format!(
            "http://host{host}.test/news/{}/{:02}/{:x}.html",
            2020 + page % 7,
            1 + n % 12,
            mix(n)
        );
        let uri = CrawlUri::parse(&text).expect("a good address");
        NewUrl::link(uri, &self.site, 3)
    }

    /// Fetches so many pages; how many there were.
    fn drain(&mut self, pages: usize) -> usize {
        let mut batch = Batch::default();
        let mut done = 0;
        while done < pages {
            match self.frontier.next(&self.store, NOW_MS).expect("next") {
                Next::Fetch(lease) => {
                    let report = FetchReport::new(VisitOutcome::Page, 0);
                    self.frontier.finished(&lease, &report, NOW_MS);
                    batch.pages.push(finished(&lease));
                    done += 1;
                }
                _ if batch.pages.is_empty() => break,
                _ => self.commit(&mut batch),
            }
            if batch.pages.len() == BATCH_PAGES {
                self.commit(&mut batch);
            }
        }
        self.commit(&mut batch);
        done
    }

    fn commit(&mut self, batch: &mut Batch) {
        self.frontier
            .commit(&mut self.store, batch, NOW_MS)
            .expect("commit");
        *batch = Batch::default();
    }
}

fn finished(lease: &Lease) -> FinishedPage {
    let mut visit = lease.record.visit.clone();
    visit.state = UrlState::Fetched;
    visit.class = UrlClass::Article;
    visit.due_ms = Some(NOW_MS + 86_400_000);
    visit.fetched_ms = Some(NOW_MS);
    visit.digest = Some(lease.record.id.unsigned_abs());
    FinishedPage {
        id: lease.record.id,
        host: lease.record.host,
        uri: lease.record.uri.clone(),
        visit,
        template: None,
        outlinks: Vec::new(),
        document: None,
        other_document: None,
        yielding: Vec::new(),
    }
}

/// Processor time and time by the clock.
fn measure(work: impl FnOnce()) -> (Duration, Duration) {
    let (cpu, wall) = (cpu_time(), Instant::now());
    work();
    (cpu_time() - cpu, wall.elapsed())
}

/// Processor time of this thread.
fn cpu_time() -> Duration {
    Duration::from_nanos(cpu_time::thread_ns())
}

fn memory_kib(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|l| l.starts_with(field)).expect("field");
    let number = line.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    number.expect("a number")
}

fn disk_bytes(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).expect("folder").flatten();
    files
        .filter_map(|f| f.metadata().ok())
        .map(|m| m.len())
        .sum()
}

/// SplitMix64's finalizer (Steele, Lea, Flood 2014).
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
