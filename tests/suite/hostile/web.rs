//! A daemon that crawls a good site beside a hostile web on loopback: bombs, lists without end, servers that never stop
//! sending. The settings are those that are shipped, but for what loopback and a short test need, and with the archive on.
//! `TAOJIN_LONG=1` makes the good site larger, and the throughput is held to nine tenths of a crawl without the others.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::servers::{BOMB, HOSTILE, Hostile, LARGE, head, serve};
use crate::support::small_web::article;

/// Pages of the good site; short and long.
const PAGES: [usize; 2] = [100, 1_000];
/// Memory of the daemon at its peak, in kB.
const PEAK_KB: u64 = 300_000;
/// Longest wait for the whole good site, for each page of it and for the start.
const PATIENCE: Duration = Duration::from_secs(120);

/// The good site: when each of its articles was first asked for.
#[derive(Default)]
struct Good {
    asked: Mutex<BTreeSet<String>>,
    first: Mutex<Option<Instant>>,
}

impl Good {
    fn serve(pages: usize) -> (SocketAddr, Arc<Self>) {
        let good = Arc::new(Self::default());
        let log = Arc::clone(&good);
        let address = serve(2, move |path, stream| {
            let links = (0..pages).fold(String::new(), |mut text, n| {
                let _ = write!(
                    text,
                    "<li><a href=\"/{n}.html\">第{n}口井的钻探记录</a></li>"
                );
                text
            });
            let page = match path {
                "/" => format!("<title>新闻</title><ul>{links}</ul>"),
                path => {
                    log.first
                        .lock()
                        .expect("no panic")
                        .get_or_insert_with(Instant::now);
                    log.asked.lock().expect("no panic").insert(path.to_owned());
                    article(&format!("第{path}口井的钻探记录"), "")
                }
            };
            head(stream, "Content-Type: text/html; charset=utf-8\r\n")?;
            stream.write_all(page.as_bytes())
        });
        (address, good)
    }

    /// Waits until every page was asked for; how long that took from the first on.
    fn wait(&self, pages: usize, daemon: &mut Running) -> Duration {
        let until = Instant::now()
            + PATIENCE
            + Duration::from_millis(500) * u32::try_from(pages).unwrap_or(u32::MAX);
        loop {
            let asked = self.asked.lock().expect("no panic").len();
            if asked >= pages {
                let first = self.first.lock().expect("no panic").expect("a page");
                return first.elapsed();
            }
            assert!(
                Instant::now() < until,
                "only {asked} of {pages} pages were asked for"
            );
            let ended = daemon.0.try_wait().expect("its state");
            assert!(ended.is_none(), "the daemon ended: {ended:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

struct Running(Child);

impl Running {
    /// The greatest memory so far, in kB.
    fn peak_kb(&self) -> u64 {
        let path = format!("/proc/{}/status", self.0.id());
        let status = fs::read_to_string(path).expect("its status");
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let number = line.and_then(|l| l.trim().split(' ').next()?.parse().ok());
        number.expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a crawl of the good site went.
struct Went {
    took: Duration,
    peak_kb: u64,
    /// Answers of `/healthz` that said that all is well, and all others.
    healthy: u32,
    sick: u32,
}

fn crawl(dir: &Path, pages: usize, hostile: &[Hostile]) -> Went {
    let (at, good) = Good::serve(pages);
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("its address").to_string();
    drop(free);
    fs::create_dir_all(dir.join("sites.d")).expect("sites.d");
    let site = |name: &str, more: &str| {
        let text = format!("seeds = [\"http://{name}.test/\"]\n{more}");
        fs::write(dir.join(format!("sites.d/{name}.toml")), text).expect("site");
    };
    let mut hosts = format!("\"good.test\" = \"{at}\"\n");
    site("good", "");
    for (host, one) in (3..).zip(hostile) {
        let at = serve(host, one.answer);
        let _ = writeln!(hosts, "\"{}.test\" = \"{at}\"", one.name);
        site(one.name, one.site);
    }
    // At the shipped second the test would take minutes; faster than this a slow machine is the limit.
    let delay_ms = crate::support::scaled([50, 200]);
    let config = format!(
        "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[serve]\nlisten = \"{address}\"\n[frontier]\n\
         min_delay_ms = {delay_ms}\nmax_delay_ms = {delay_ms}\n[warc]\nenabled = true\n[fetch]\nallow_addresses = \
         [\"127.0.0.0/8\"]\n[fetch.hosts]\n{hosts}",
        dir.join("data")
    );
    fs::write(dir.join("taojin.toml"), config).expect("taojin.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    command
        .arg("--config")
        .arg(dir.join("taojin.toml"))
        .arg("run");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = Running(command.spawn().expect("taojin starts"));
    let over = Arc::new(AtomicBool::new(false));
    let asking = ask_health(address, Arc::clone(&over));
    let took = good.wait(pages, &mut daemon);
    over.store(true, Ordering::SeqCst);
    let (healthy, sick) = asking.join().expect("no panic");
    Went {
        took,
        peak_kb: daemon.peak_kb(),
        healthy,
        sick,
    }
}

/// Asks ten times a second whether the daemon is well, from its first answer on.
fn ask_health(address: String, over: Arc<AtomicBool>) -> thread::JoinHandle<(u32, u32)> {
    let healthy = AtomicU32::new(0);
    thread::spawn(move || {
        let mut sick = 0;
        while !over.load(Ordering::SeqCst) {
            match is_well(&address) {
                Some(true) => _ = healthy.fetch_add(1, Ordering::SeqCst),
                // It has not begun to listen yet.
                None if healthy.load(Ordering::SeqCst) == 0 => {}
                _ => sick += 1,
            }
            thread::sleep(Duration::from_millis(100));
        }
        (healthy.into_inner(), sick)
    })
}

fn is_well(address: &str) -> Option<bool> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(
        stream,
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer.starts_with("HTTP/1.1 200"))
}

#[test]
fn a_hostile_web_neither_stops_nor_starves_the_crawl_of_a_good_site() {
    let pages = crate::support::scaled(PAGES);
    let (alone, beside) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    LazyLock::force(&BOMB);
    let before = crawl(alone.path(), pages, &[]);
    let went = crawl(beside.path(), pages, HOSTILE);
    let share = before.took.as_secs_f64() / went.took.as_secs_f64();
    crate::support::say(&format!(
        "{pages} pages: {:.1} s alone, {:.1} s beside {} hostile sites ({:.0} %); peak {} MB, alone {} MB; healthz {} well, {} not",
        before.took.as_secs_f64(),
        went.took.as_secs_f64(),
        HOSTILE.len(),
        share * 100.0,
        went.peak_kb / 1000,
        before.peak_kb / 1000,
        went.healthy,
        went.sick,
    ));
    assert!(went.peak_kb <= PEAK_KB, "{} kB at its peak", went.peak_kb);
    assert_eq!(went.sick, 0, "of {}", went.healthy + went.sick);
    assert!(went.healthy > 0);
    // A short crawl tells little, and a machine that does other things as well is no fault of it.
    let least = crate::support::scaled([0.0, 0.9]);
    assert!(share >= least, "{:.0} % of the throughput", share * 100.0);
    // The honest large sitemap was read to its end.
    let url = format!("http://large.test/{}?{}", LARGE - 1, "a".repeat(200));
    let why = Command::new(env!("CARGO_BIN_EXE_taojin"))
        .arg("--config")
        .arg(beside.path().join("taojin.toml"))
        .args(["why", "--json", &url])
        .output()
        .expect("taojin runs");
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    let known = ["\"state\": \"unknown\"", "\"state\":\"unknown\""];
    assert!(
        why.contains("large") && !known.iter().any(|k| why.contains(k)),
        "{why}"
    );
}
