//! A year of sites that grow, change their articles, change their design each month and fail now and then. The time is passed
//! in: nothing waits. No document is missing on any day, and no file grows beyond what a setting allows.
//!
//! `MALLOC_ARENA_MAX=1 TAOJIN_LONG=1 cargo test -p taojin --test suite year::` looks at 20 sites on each third day of it and at the
//! memory too: each pass has threads of its own, and the system's allocator would keep memory for each.

use std::fs;
use std::path::Path;

use taojin::daemon::{self, Clock, Mode, Options};
use taojin_crawl::store::Reader;
use taojin_demo::trial::TrialPlan;

use crate::support::trial::{SITE, Trial};
use crate::support::{say, scaled};

const YEAR: u32 = 365;
/// Days on which the sites are crawled; short and long.
const PASSES: [u32; 2] = [12, 122];
/// Sites. In the long form the memory is judged: the test runs alone then.
const HOSTS: [u32; 2] = [3, 20];
const DAY_MS: i64 = 86_400_000;
/// Noon.
const BEGIN_MS: i64 = 1_790_000_000_000 / DAY_MS * DAY_MS + DAY_MS / 2;
const REDESIGN_DAYS: u32 = 30;
/// Memory may grow by this share from the middle third of the year to the last.
const MOST_GROWTH: f64 = 0.05;
/// Tries of a page until its server stops failing.
const TRIES: usize = 6;

const LOG_BYTES: u64 = 64 << 10;
const LOGS: u64 = 2;
const VERSIONS: usize = 3;
const VERSION_DAYS: i64 = 60;
/// The log of SQLite is cut back to this.
const WAL_BYTES: u64 = 64 << 20;
/// A line of the crawl log, with which a log may go beyond its size, and the lines of a transaction before it.
const LINES: u64 = 256 << 10;

/// What was there after a pass.
struct Seen {
    day: u32,
    missing: usize,
    documents: usize,
    memory_kib: u64,
    sizes: String,
}

fn memory_kib() -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux");
    // What is mapped of the index is the system's to take back.
    let line = text.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    let number = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
    number.expect("a number")
}

fn bytes(path: &Path) -> u64 {
    let Ok(meta) = path.metadata() else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).expect("a folder");
    entries.map(|e| bytes(&e.expect("an entry").path())).sum()
}

/// Nothing is larger than its setting allows. `now_ms`: time of the last pass.
fn judge_sizes(data: &Path, now_ms: i64) -> String {
    let log = bytes(&data.join("log"));
    assert!(
        log <= (LOGS + 1) * (LOG_BYTES + LINES),
        "crawl logs: {log} bytes"
    );
    let wal = bytes(&data.join("crawl.sqlite-wal"));
    assert!(wal <= WAL_BYTES, "log of the store: {wal} bytes");
    let small = bytes(&data.join("in_flight")) + bytes(&data.join("robots.json"));
    assert!(small < 1 << 20, "small files: {small} bytes");
    let reader = Reader::open(data).expect("the store opens");
    let mut versions = 0;
    for row in reader.documents_after(0, usize::MAX).expect("rows") {
        let history = reader.document_history(row.fingerprint).expect("rows");
        assert!(history.len() <= VERSIONS + 1, "{} versions", history.len());
        for two in history.windows(2) {
            // Forgetting is done at leisure: a month later at the latest.
            let ended_days = (now_ms - two[0].changed_ms) / DAY_MS;
            assert!(ended_days <= VERSION_DAYS + 31, "{ended_days} days old");
        }
        versions += history.len();
    }
    let (store, index) = (
        bytes(&data.join("crawl.sqlite")),
        bytes(&data.join("index")),
    );
    format!(
        "{versions} versions, store {} KiB, index {} KiB, logs {} KiB",
        store >> 10,
        index >> 10,
        log >> 10
    )
}

fn pass(trial: &Trial, day: u32) -> usize {
    let loaded = trial.loaded();
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    trial.web.set_day(day);
    let mut missing = usize::MAX;
    for try_ in 0..TRIES {
        let now_ms = BEGIN_MS + i64::from(day) * DAY_MS + try_ as i64 * 3_600_000;
        let options = Options {
            clock: Clock::simulated(now_ms, 1.0),
            ..Options::quiet(Mode::Pass {
                sites: vec![SITE.to_owned()],
                recheck: false,
            })
        };
        let run = daemon::run(&loaded, options, std::future::pending());
        runtime.block_on(run).expect("a crawl");
        let indexed = trial.indexed();
        assert!(indexed.values().all(|n| *n == 1), "a page is there twice");
        missing = trial.missing(&indexed).len();
        if missing == 0 {
            break;
        }
    }
    trial.take_hits();
    missing
}

#[test]
fn year_stays_within_limits() {
    let passes = scaled(PASSES);
    let is_long = scaled([false, true]);
    let plan = TrialPlan {
        seed: 9,
        hosts: scaled(HOSTS),
        articles: 10,
        daily: 1,
        changing: 0.05,
        faults: 0.05,
        slow_ms: 20,
        redesign_days: REDESIGN_DAYS,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 0\nmax_delay_ms = 0\njitter = 0.0\nconnect_backoff_ms = 20\n\
                    throttle_backoff_ms = 20\nmax_retry_after_ms = 20\npark_after_errors = 0";
    let more = format!(
        "max_retry_after_ms = 20\n[revisit]\nretry_ms = 20\nmax_retry_ms = 50\n\
         [documents]\nkeep_versions = {VERSIONS}\nkeep_versions_days = {VERSION_DAYS}\n"
    );
    let crawl = format!("[crawl]\ncrawl_log_bytes = {LOG_BYTES}\ncrawl_log_files = {LOGS}\n");
    let trial = Trial::new(plan, frontier, &more);
    trial.replace("taojin.toml", "[crawl]\n", &crawl);
    let mut year = Vec::new();
    for pass_number in 0..passes {
        let day = pass_number * YEAR / passes;
        let missing = pass(&trial, day);
        let now_ms = BEGIN_MS + i64::from(day) * DAY_MS;
        year.push(Seen {
            day,
            missing,
            documents: trial.articles().len(),
            memory_kib: memory_kib(),
            sizes: judge_sizes(&trial.data_dir(), now_ms),
        });
    }
    for seen in year.iter().step_by(year.len().div_ceil(13)) {
        say(&format!(
            "day {}: {} articles, {} missing, {} MiB, {}",
            seen.day,
            seen.documents,
            seen.missing,
            seen.memory_kib >> 10,
            seen.sizes
        ));
    }
    assert!(year.iter().all(|seen| seen.missing == 0));
    if is_long && std::env::var_os("MALLOC_ARENA_MAX").is_some() {
        let third = year.len() / 3;
        let peak = |days: &[Seen]| days.iter().map(|s| s.memory_kib).max().unwrap_or(0);
        let (middle, last) = (peak(&year[third..2 * third]), peak(&year[2 * third..]));
        let growth = last as f64 / middle as f64 - 1.0;
        say(&format!(
            "memory: {middle} KiB in the middle third, {last} KiB in the last"
        ));
        assert!(growth <= MOST_GROWTH, "memory grew by {growth:.2}");
    }
}
