//! The daemon on a faulty web that grows and changes, days in minutes: its memory as it goes on, whether it makes headway
//! all the time, what is left of it when it stops.
//!
//! `cargo bench --bench soak` takes a minute, in which 20 days pass for the crawl; with `TAOJIN_LONG=1` it is a year in ten
//! minutes. `TAOJIN_SOAK_SVG=docs/soak.svg` draws the memory. Each site has another design each month. Fails if memory grows, a tenth
//! of the time passes without a fetch, a task stays behind, the stop takes more than 10 s or an article is missing.

#![expect(clippy::print_stdout, reason = "a report for a person")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use taojin::config;
use taojin::daemon::{self, Clock, Mode, Options};
use taojin_crawl::store::Reader;
use taojin_demo::trial::{self, TrialPlan, TrialWeb};
use taojin_demo::{Web as _, serve};
use taojin_search::analyze::Analyzer;
use taojin_search::index;
use taojin_uri::CrawlUri;

/// Days that pass for the crawl, and minutes in which they do; short and long.
const DAYS: [u32; 2] = [20, 365];
const MINUTES: [u64; 2] = [1, 10];
const DAY_MS: f64 = 86_400_000.0;
/// Samples of the memory.
const SAMPLES: u32 = 300;
/// The clock of the crawl at the start.
const BEGIN_MS: i64 = 1_790_000_000_000;
/// A clean stop takes no longer.
const MOST_STOP: Duration = Duration::from_secs(10);
/// So many missing articles are named.
const NAMED: usize = 40;
/// Memory may grow by this share from the second third of the time to the last.
const MOST_GROWTH: f64 = 0.1;

/// A size of the run, as in the tests: small, and large where `TAOJIN_LONG` is set.
fn scaled<T>([short, long]: [T; 2]) -> T {
    if std::env::var_os("TAOJIN_LONG").is_some() {
        long
    } else {
        short
    }
}

fn plan() -> TrialPlan {
    TrialPlan {
        seed: 5,
        hosts: 20,
        articles: 100,
        daily: 10,
        changing: 0.05,
        faults: 0.05,
        traps: true,
        slow_ms: 2_000,
        validators: true,
        redesign_days: 30,
        abroad: false,
    }
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    if args.next().as_deref() == Some("web") {
        let day_ms = args.next().and_then(|n| n.parse().ok()).expect("a number");
        return serve_web(day_ms);
    }
    let length = Duration::from_secs(60 * scaled(MINUTES));
    let dir = tempfile::tempdir().expect("temporary folder");
    let day_ms = length.as_secs_f64() * 1000.0 / f64::from(scaled(DAYS));
    let (mut child, port) = start_web(day_ms);
    let web = TrialWeb::new(plan(), port);
    configure(dir.path(), &web);
    let soak = soak(dir.path(), length, DAY_MS / day_ms);
    let _ = child.kill();
    let _ = child.wait();
    report(&soak, dir.path(), &web, length);
}

/// The web in a process of its own, so that its memory is not counted.
fn serve_web(day_ms: f64) {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let (sockets, port) = trial::bind(plan().hosts).await.expect("free addresses");
        let web = Arc::new(TrialWeb::new(plan(), port));
        println!("{port}");
        let serving = tokio::spawn(serve(Arc::clone(&web), sockets));
        for day in 1..scaled(DAYS) {
            tokio::time::sleep(Duration::from_secs_f64(day_ms / 1000.0)).await;
            web.set_day(day);
            web.log().take();
        }
        let _ = serving.await;
    });
}

fn start_web(day_ms: f64) -> (Child, u16) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["web", &day_ms.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the web starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("its port");
    (child, line.trim().parse().expect("a port"))
}

fn configure(dir: &Path, web: &TrialWeb) {
    fs::create_dir(dir.join("sites.d")).expect("sites.d");
    for host in 0..web.plan().hosts {
        let site = format!(
            "seeds = [{:?}]\nschedule = \"0 */6 * * *\"\ntime_zone = \"UTC\"\n[scope]\nhosts = [{:?}]\n",
            web.seed_url(host),
            web.authority(host)
        );
        fs::write(dir.join(format!("sites.d/host{host}.toml")), site).expect("site");
    }
    let config = format!(
        "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n\
         [warc]\nenabled = true\n",
        dir.join("data")
    );
    fs::write(dir.join("taojin.toml"), config).expect("taojin.toml");
}

/// What was seen.
struct Soak {
    /// Memory in KiB and fetches so far, at each sample.
    samples: Vec<(u64, u64)>,
    stopping: Duration,
    tasks_left: usize,
}

fn soak(dir: &Path, length: Duration, speed: f64) -> Soak {
    let loaded = config::load(Some(&dir.join("taojin.toml")), None).expect("a good configuration");
    let fetches = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&fetches);
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let options = Options {
        progress: Some(Box::new(move |_, _| {
            counted.fetch_add(1, Ordering::Relaxed);
        })),
        clock: Clock::simulated(BEGIN_MS, speed),
        ..Options::quiet(Mode::Forever)
    };
    let running = runtime.spawn(async move {
        let stop = async {
            let _ = stopped.await;
        };
        daemon::run(&loaded, options, stop).await
    });
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        std::thread::sleep(length / SAMPLES);
        samples.push((memory_kib(), fetches.load(Ordering::Relaxed)));
    }
    let began = Instant::now();
    let _ = stop.send(());
    runtime
        .block_on(running)
        .expect("the daemon does not panic")
        .expect("the daemon ends well");
    let stopping = began.elapsed();
    // Connections that were cut need a moment to notice.
    std::thread::sleep(Duration::from_secs(1));
    Soak {
        samples,
        stopping,
        tasks_left: runtime.metrics().num_alive_tasks(),
    }
}

fn report(soak: &Soak, dir: &Path, web: &TrialWeb, length: Duration) {
    let third = soak.samples.len() / 3;
    let mean =
        |part: &[(u64, u64)]| part.iter().map(|s| s.0 as f64).sum::<f64>() / part.len() as f64;
    let (middle, last) = (
        mean(&soak.samples[third..2 * third]),
        mean(&soak.samples[2 * third..]),
    );
    let growth = last / middle - 1.0;
    let idle = soak
        .samples
        .chunks(soak.samples.len() / 10)
        .filter(|part| part.first().map(|s| s.1) == part.last().map(|s| s.1))
        .count();
    // What came up to three days before the end was found by then, whatever had to be tried again.
    web.set_day(scaled(DAYS) - 4);
    let indexed = indexed(dir);
    let missing: Vec<CrawlUri> = web
        .articles()
        .iter()
        .map(|a| CrawlUri::parse(a).expect("good"))
        .filter(|a| !indexed.contains(&a.to_string()))
        .collect();
    explain(dir, &missing);
    let missing = missing.len();
    println!(
        "{:.0} s, {} days, {} fetches, {} documents, {missing} missing; memory {:.0} MB in the second third, {:.0} MB in \
         the last ({:+.1} %), peak {} MB; stopped in {:.1} s, {} tasks left, {idle} tenths without a fetch",
        length.as_secs_f64(),
        scaled(DAYS),
        soak.samples.last().map_or(0, |s| s.1),
        indexed.len(),
        middle / 1024.0,
        last / 1024.0,
        growth * 100.0,
        soak.samples.iter().map(|s| s.0).max().unwrap_or(0) / 1024,
        soak.stopping.as_secs_f64(),
        soak.tasks_left,
    );
    if let Ok(path) = std::env::var("TAOJIN_SOAK_SVG") {
        fs::write(&path, svg(&soak.samples, length)).expect("the drawing can be written");
    }
    assert!(growth <= MOST_GROWTH, "memory grows");
    assert!(idle == 0, "no headway");
    assert!(soak.stopping <= MOST_STOP, "slow stop");
    assert!(soak.tasks_left == 0, "tasks stay behind");
    assert!(missing == 0, "articles are missing");
}

/// Says what the store knows of the articles that are missing.
fn explain(dir: &Path, missing: &[CrawlUri]) {
    let store = Reader::open(&dir.join("data")).expect("the store opens");
    for uri in missing.iter().take(NAMED) {
        match store.lookup(uri).expect("the store can be read") {
            None => println!("missing: {uri}: never met"),
            Some(url) => {
                let met = (url.first_seen_ms - BEGIN_MS) as f64 / DAY_MS;
                let host = store.host_by_id(url.host).expect("the store can be read");
                println!(
                    "missing: {uri}: met on day {met:.1}, {:?}, {host:?}",
                    url.visit
                );
            }
        }
    }
}

fn indexed(dir: &Path) -> HashSet<String> {
    let reader = taojin::documents::open_folder(
        &dir.join("data"),
        &Analyzer::new(&[]),
        &index::Config::default(),
    )
    .expect("the index opens");
    let mut found = HashSet::new();
    for identity in reader.changed_after(None).expect("the index can be read") {
        let stored = reader.version(identity).expect("the store can be read");
        if let Some(stored) = stored {
            assert!(found.insert(stored.document.url), "a page is there twice");
        }
    }
    found
}

/// Memory over time.
fn svg(samples: &[(u64, u64)], length: Duration) -> String {
    let (width, height) = (720.0, 240.0);
    let most = samples.iter().map(|s| s.0).max().unwrap_or(1) as f64 / 1024.0;
    let top = (most / 50.0).ceil() * 50.0;
    let mut text = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 300\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"800\" height=\"300\" fill=\"#fff\"/>\n",
    );
    for i in 0..=5 {
        let y = 20.0 + height * f64::from(i) / 5.0;
        let value = top * f64::from(5 - i) / 5.0;
        let _ = writeln!(
            text,
            "<path d=\"M60 {y}h{width}\" stroke=\"#ddd\"/><text x=\"52\" y=\"{}\" text-anchor=\"end\">{value:.0}</text>",
            y + 4.0
        );
    }
    for i in 0..=6 {
        let x = 60.0 + width * f64::from(i) / 6.0;
        let minutes = length.as_secs_f64() / 60.0 * f64::from(i) / 6.0;
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"278\" text-anchor=\"middle\">{minutes:.0}</text>"
        );
    }
    text.push_str("<path fill=\"none\" stroke=\"#b8860b\" stroke-width=\"2\" d=\"M");
    for (i, (kib, _)) in samples.iter().enumerate() {
        let x = 60.0 + width * i as f64 / samples.len() as f64;
        let y = 20.0 + height * (1.0 - *kib as f64 / 1024.0 / top);
        let _ = write!(text, "{x:.1} {y:.1} ");
    }
    text.push_str("\"/>\n<text x=\"60\" y=\"14\">memory of the daemon (RSS, MB)</text>\n<text x=\"780\" y=\"296\" text-anchor=\"end\">minutes</text>\n</svg>\n");
    text
}

fn memory_kib() -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text
        .lines()
        .find(|l| l.starts_with("VmRSS:"))
        .expect("a field");
    let number = line.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    number.expect("a number")
}
