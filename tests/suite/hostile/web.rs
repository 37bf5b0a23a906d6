//! A daemon that crawls a good site beside a hostile web on loopback: bombs, lists without end, servers that never stop
//! sending. The settings are those that are shipped, but for what loopback and a short test need, and with the archive on.
//! `TAOJIN_LONG=1` makes the good site larger, and the throughput is held to nine tenths of a crawl without the others.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::servers::{BOMB, HOSTILE, Hostile, LARGE, head, serve};
use crate::support::folder::{Folder, LOOPBACK, Process, RunExt as _, assert_has};
use crate::support::http::{free_port, get};
use crate::support::small_web::article;
use crate::support::{PATIENCE, poll, say, scaled};

/// Pages of the good site; short and long.
const PAGES: [usize; 2] = [100, 1_000];
/// What the hostile sites add to the memory of the daemon at its peak, in kB. What it takes alone depends on the build: the
/// program itself with its symbols, and the dictionary, are in it.
const ADDED_KB: u64 = 150_000;

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
            let link = |n| format!("<li><a href=\"/{n}.html\">第{n}口井的钻探记录</a></li>");
            let links: String = (0..pages).map(link).collect();
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
    fn wait(&self, pages: usize, daemon: &mut Process) -> Duration {
        let each = Duration::from_millis(500) * u32::try_from(pages).expect("few");
        let took = poll(PATIENCE + each, || {
            let ended = daemon.ended();
            assert!(ended.is_none(), "the daemon ended: {ended:?}");
            let asked = self.asked.lock().expect("no panic").len();
            let first = self.first.lock().expect("no panic");
            (asked >= pages).then(|| first.expect("a page").elapsed())
        });
        took.expect("not all pages were asked for")
    }
}

/// The greatest memory of a process so far, in kB.
fn peak_kb(process: &Process) -> u64 {
    let path = format!("/proc/{}/status", process.id());
    let status = fs::read_to_string(path).expect("its status");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let number = line.and_then(|l| l.trim().split(' ').next()?.parse().ok());
    number.expect("a number")
}

/// How a crawl of the good site went.
struct Went {
    took: Duration,
    peak_kb: u64,
    /// Answers of `/healthz` that said that all is well, and all others.
    healthy: u32,
    sick: u32,
}

/// Crawls the good site beside these.
fn crawl(pages: usize, hostile: &[Hostile]) -> (Went, Folder) {
    let (at, good) = Good::serve(pages);
    let port = free_port();
    let mut hosts = format!("\"good.test\" = \"{at}\"\n");
    for (host, one) in (3..).zip(hostile) {
        let at = serve(host, one.answer);
        hosts.push_str(&format!("\"{}.test\" = \"{at}\"\n", one.name));
    }
    // At the shipped second the test would take minutes; faster than this a slow machine is the limit.
    let delay_ms = scaled([50, 200]);
    let config = format!(
        "[serve]\nlisten = \"127.0.0.1:{port}\"\n[frontier]\nmin_delay_ms = {delay_ms}\nmax_delay_ms = {delay_ms}\n\
         [warc]\nenabled = true\n{LOOPBACK}[fetch.hosts]\n{hosts}"
    );
    let folder = Folder::new(&config, &[]);
    let site = |name: &str, more: &str| {
        let text = format!("seeds = [\"http://{name}.test/\"]\n{more}");
        folder.write(&format!("sites.d/{name}.toml"), text);
    };
    site("good", "");
    for one in hostile {
        site(one.name, one.site);
    }
    let mut daemon = folder.taojin(&["run"]).started();
    let over = Arc::new(AtomicBool::new(false));
    let asking = ask_health(port, Arc::clone(&over));
    let took = good.wait(pages, &mut daemon);
    over.store(true, Ordering::SeqCst);
    let (healthy, sick) = asking.join().expect("no panic");
    let went = Went {
        took,
        peak_kb: peak_kb(&daemon),
        healthy,
        sick,
    };
    drop(daemon);
    (went, folder)
}

/// Asks ten times a second whether the daemon is well, from its first answer on.
fn ask_health(port: u16, over: Arc<AtomicBool>) -> thread::JoinHandle<(u32, u32)> {
    thread::spawn(move || {
        let (mut healthy, mut sick) = (0, 0);
        while !over.load(Ordering::SeqCst) {
            match get(port, "/healthz") {
                Some((200, _)) => healthy += 1,
                // It has not begun to listen yet.
                None if healthy == 0 => {}
                _ => sick += 1,
            }
            thread::sleep(Duration::from_millis(100));
        }
        (healthy, sick)
    })
}

#[test]
fn crawl_beside_a_hostile_web() {
    let pages = scaled(PAGES);
    LazyLock::force(&BOMB);
    let (before, _) = crawl(pages, &[]);
    let (went, beside) = crawl(pages, HOSTILE);
    let share = before.took.as_secs_f64() / went.took.as_secs_f64();
    say(&format!(
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
    let added_kb = went.peak_kb.saturating_sub(before.peak_kb);
    assert!(added_kb <= ADDED_KB, "{added_kb} kB more at its peak");
    assert_eq!(went.sick, 0, "of {}", went.healthy + went.sick);
    assert!(went.healthy > 0);
    // A short crawl tells little, and a machine that does other things as well is no fault of it.
    let least = scaled([0.0, 0.9]);
    assert!(share >= least, "{:.0} % of the throughput", share * 100.0);
    // The honest large sitemap was read to its end.
    let url = format!("http://large.test/{}?{}", LARGE - 1, "a".repeat(200));
    let why = beside.json(&["why", "--json", &url]);
    assert_ne!(why["state"], "unknown", "{why}");
    assert_has(&why.to_string(), &["large"]);
}
