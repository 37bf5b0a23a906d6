//! What the operator asks for, of a running daemon and without one: visits, pause and resume, takedowns. The daemon is the
//! real program with the sample of a small site.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::small_web::{Reply, SmallWeb, article};

/// Longest wait for anything: far above what it takes, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(60);
const TOKEN: &str = "0123456789abcdefghijklmnop";

/// A running daemon; killed if the test fails.
struct Daemon {
    child: Child,
    address: SocketAddr,
    socket: PathBuf,
}

/// A small site and an address that its daemon serves at.
fn site(pages: &[&str]) -> (SmallWeb, SocketAddr) {
    site_with(pages, "")
}

fn site_with(pages: &[&str], more: &str) -> (SmallWeb, SocketAddr) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("its address");
    let web = SmallWeb::new(&format!(
        "[serve]\nlisten = \"{address}\"\ntoken = \"{TOKEN}\"\n{more}"
    ));
    web.seed(pages);
    for (n, page) in pages.iter().enumerate() {
        web.set(page, Reply::page(&article(&format!("第{n}号岩心样品"), "")));
    }
    (web, address)
}

impl Daemon {
    /// Starts it and waits until it answers.
    fn start(web: &SmallWeb, address: SocketAddr) -> Self {
        let child = web
            .taojin(&["run"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("taojin starts");
        let daemon = Self {
            child,
            address,
            socket: web.path().join("data/control.sock"),
        };
        wait_until("it answers", || {
            let listens = TcpStream::connect(address).is_ok();
            listens && UnixStream::connect(&daemon.socket).is_ok()
        });
        daemon
    }

    fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("its end");
    }

    /// Stops it; its exit code.
    fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().expect("its end").code()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Status and body of an answer.
    fn ask(&self, method: &str, target: &str, body: Option<&str>, token: bool) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).expect("the daemon listens");
        let body = body.unwrap_or_default();
        let signed = match token {
            true => format!("Authorization: Bearer {TOKEN}\r\n"),
            false => String::new(),
        };
        let kind = match body.starts_with('{') || body.is_empty() {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n{signed}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        (
            status.expect("a status"),
            body.unwrap_or_default().to_owned(),
        )
    }

    fn post(&self, target: &str, body: Option<&str>) -> (u16, Value) {
        let (status, text) = self.ask("POST", target, body, true);
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    fn hits(&self, query: &str) -> Vec<Value> {
        let (_, body) = self.ask("GET", &format!("/api/search?{query}"), None, false);
        let json: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
        json["hits"].as_array().cloned().unwrap_or_default()
    }

    fn wait_for(&self, documents: usize) {
        wait_until("the documents are there", || {
            self.hits("q=&limit=50").len() == documents
        });
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "it is not so that {what}");
        thread::sleep(Duration::from_millis(30));
    }
}

fn run(web: &SmallWeb, args: &[&str]) -> Output {
    let mut command = web.taojin(args);
    command.stdin(Stdio::null()).output().expect("taojin runs")
}

/// Exit code and the one line that says why.
fn refused(web: &SmallWeb, args: &[&str]) -> (Option<i32>, String) {
    let output = run(web, args);
    let line = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    assert_eq!(line.lines().count(), 1, "{line}");
    (output.status.code(), line)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_crawl_beside_the_daemon_is_handed_over_and_told_to_its_end() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);

    let pages: Vec<String> = (1..=6).map(|n| format!("a.test/n/{n}.html")).collect();
    for (n, page) in pages.iter().enumerate().skip(1) {
        web.set(page, Reply::page(&article(&format!("第{n}号岩心样品"), "")));
    }
    web.seed(&pages.iter().map(String::as_str).collect::<Vec<_>>());
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 5, "{counts}");
    assert_eq!(counts["new_urls"], 5, "{counts}");
    assert!(counts["visits"].as_u64() >= Some(6), "{counts}");
    daemon.wait_for(6);

    // For a person, the same lines as alone.
    let output = run(&web, &["crawl", "--site", "a"]);
    assert!(output.status.success());
    assert!(
        said(&output).contains("documents: 0 new"),
        "{}",
        said(&output)
    );
    // Nothing is due: nothing is visited, and that is soon said.
    let idle = web.json(&["crawl", "--json"]);
    assert_eq!(idle["visits"], 0, "{idle}");

    let (code, line) = refused(&web, &["crawl", "--site", "b"]);
    assert_eq!(code, Some(2));
    assert!(line.contains("did you mean a?"), "{line}");
    // Configured, but the daemon was not told yet.
    let file = web.path().join("sites.d/late.toml");
    let late = format!("seeds = [\"http://www.a.test:{}/late\"]\n", web.port);
    fs::write(&file, late).expect("site file");
    let (code, line) = refused(&web, &["crawl", "--site", "late"]);
    assert_eq!(code, Some(2));
    assert!(line.contains("reload"), "{line}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn an_address_is_visited_now_with_a_daemon_and_without() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let visits = |web: &SmallWeb, n: usize| {
        let page = format!("a.test/unlinked/{n}.html");
        web.set(
            &page,
            Reply::page(&article(&format!("未链接的第{n}页"), "")),
        );
        let url = web.url(&page);
        let done = web.json(&["visit", &url, "--json"]);
        assert_eq!(done["document"], "new", "{done}");
        assert_eq!(done["status"], 200, "{done}");
        assert_eq!(web.asked(&page), 1);
        // Again: the same address, which has not changed.
        let again = web.json(&["visit", &url, "--json"]);
        assert_eq!(again["outcome"], "not_modified", "{again}");
        assert_eq!(web.asked(&page), 2);
    };
    let refusals = |web: &SmallWeb| {
        let (code, line) = refused(web, &["visit", "http://other.test/x"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("no site has the host other.test"), "{line}");
        let (code, line) = refused(web, &["visit", &web.url("a.test/private/x")]);
        assert_eq!(code, Some(2));
        assert!(line.contains("excluded by the site's scope"), "{line}");
        let (code, line) = refused(web, &["visit", "ab"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("did you mean a?"), "{line}");
        let gone = run(web, &["visit", &web.url("a.test/nothing.html")]);
        assert_eq!(gone.status.code(), Some(1), "a failed visit is no success");
        assert!(said(&gone).contains("404"), "{}", said(&gone));
    };
    let file = web.path().join("sites.d/a.toml");
    let text = fs::read_to_string(&file).expect("site file");
    fs::write(&file, format!("{text}exclude = [\"/private/\"]\n")).expect("site file");

    visits(&web, 1);
    refusals(&web);
    assert_eq!(
        web.asked("a.test/n/1.html"),
        0,
        "only what was asked for is visited"
    );
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(2);
    visits(&web, 2);
    refusals(&web);
    let site = web.json(&["visit", "a", "--json"]);
    assert!(site["visits"].as_u64() >= Some(1), "{site}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_paused_site_is_left_alone_until_it_is_resumed() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let paused = web.json(&["pause", "a", "--json"]);
    let since = paused["paused_ms"].as_i64().expect("a time");
    // Twice is no other time.
    assert_eq!(web.json(&["pause", "a", "--json"])["paused_ms"], since);

    let held = |web: &SmallWeb| {
        web.forget_log();
        let (code, line) = refused(web, &["crawl", "--site", "a"]);
        assert_eq!(code, Some(1));
        assert!(line.contains("taojin resume a"), "{line}");
        let (code, _) = refused(web, &["visit", &web.url("a.test/n/1.html")]);
        assert_eq!(code, Some(1));
        assert_eq!(web.asked("a.test/"), 0);
        let status = web.json(&["status", "--json"]);
        assert_eq!(status["sites"][0]["paused_ms"], since, "{status}");
        assert_eq!(status["sites"][0]["next_cycle_ms"], Value::Null);
        let list = said(&run(web, &["site", "list"]));
        assert!(list.contains("paused by the operator since"), "{list}");
        let status = said(&run(web, &["status"]));
        assert!(status.contains("paused by the operator since"), "{status}");
    };
    held(&web);
    daemon.signal("-HUP");
    thread::sleep(Duration::from_millis(700));
    held(&web);
    assert_eq!(daemon.stop(), Some(0));
    held(&web);
    let daemon = Daemon::start(&web, address);
    held(&web);
    let (_, page) = daemon.ask("GET", "/status?lang=en", None, false);
    assert!(page.contains("Paused by the operator"), "{page}");

    web.set(
        "a.test/n/2.html",
        Reply::page(&article("恢复以后的新闻", "")),
    );
    web.seed(&["a.test/n/1.html", "a.test/n/2.html"]);
    let resumed = web.json(&["resume", "a", "--json"]);
    assert!(resumed["next_cycle_ms"].is_i64(), "{resumed}");
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert_eq!(counts["documents_new"], 1, "{counts}");
    assert_eq!(daemon.stop(), Some(0));
    // Without a daemon.
    web.json(&["pause", "a", "--json"]);
    let (code, _) = refused(&web, &["crawl", "--site", "a"]);
    assert_eq!(code, Some(1));
    web.json(&["resume", "a", "--json"]);
    web.json(&["crawl", "--site", "a", "--json"]);
}

/// Two addresses of one text and two other pages.
const SAME: [&str; 2] = ["a.test/n/1.html", "www.a.test/n/1.html"];

fn copies() -> (SmallWeb, SocketAddr) {
    let (web, address) = site(&[SAME[0], SAME[1], "a.test/n/2.html", "a.test/n/3.html"]);
    for page in SAME {
        web.set(page, Reply::page(&article("要下架的新闻", "")));
    }
    (web, address)
}

/// Nothing of the document is found, and nothing brings it back.
fn stays_away(web: &SmallWeb) {
    for page in SAME {
        let why = web.json(&["why", &web.url(page), "--json"]);
        assert!(why["taken_down_ms"].is_i64(), "{why}");
        assert_eq!(why["in_index"], false, "{why}");
        let (code, line) = refused(web, &["visit", &web.url(page)]);
        assert_eq!(code, Some(2));
        assert!(line.contains("taken down"), "{line}");
    }
    web.forget_log();
    web.json(&["crawl", "--site", "a", "--recheck", "--json"]);
    for page in SAME {
        assert_eq!(web.asked(page), 0, "{page} was asked for again");
        assert!(!web.indexed().contains_key(page), "{page} is back");
    }
    assert_eq!(web.indexed().len(), 2);
}

#[test]
fn a_takedown_holds_whatever_happens_after_it() {
    let (web, address) = copies();
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(3);
    let taken = web
        .indexed()
        .keys()
        .find(|u| SAME.contains(&u.as_str()))
        .cloned();
    let taken = taken.expect("one of the two has the document");
    let alias = SAME.iter().find(|a| **a != taken).expect("the other");
    let hit = daemon.hits("q=%E4%B8%8B%E6%9E%B6&limit=1");
    let id = hit[0]["id"].as_str().expect("an id").to_owned();

    // Nobody can be asked here, so nothing is done without --yes.
    let (code, line) = refused(&web, &["purge", &web.url(alias)]);
    assert_eq!(code, Some(2));
    assert!(
        line.contains("--yes") && line.contains(&web.url(&taken)),
        "{line}"
    );
    let done = web.json(&["purge", &web.url(alias), "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert_eq!(
        done["addresses"].as_array().map(Vec::len),
        Some(2),
        "{done}"
    );
    // At once: no search, no page, no feed has it.
    assert_eq!(daemon.hits("q=%E4%B8%8B%E6%9E%B6"), Vec::<Value>::new());
    assert_eq!(
        daemon.ask("GET", &format!("/api/docs/{id}"), None, false).0,
        404
    );
    assert_eq!(daemon.ask("GET", &format!("/doc/{id}"), None, false).0, 404);
    let feed = daemon.ask("GET", "/feed.json?q=", None, false).1;
    assert!(!feed.contains("下架") && feed.contains("岩心"), "{feed}");
    // Killed right after it answered.
    daemon.kill();
    stays_away(&web);

    let rebuilt = run(&web, &["import", "--rebuild"]);
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    stays_away(&web);
    let daemon = Daemon::start(&web, address);
    stays_away(&web);

    let lifted = web.json(&["purge", "--allow", &web.url(&taken), "--json"]);
    assert_eq!(
        lifted["addresses"].as_array().map(Vec::len),
        Some(2),
        "{lifted}"
    );
    daemon.wait_for(3);
    let (code, line) = refused(&web, &["purge", "--allow", &web.url(&taken)]);
    assert_eq!(code, Some(2));
    assert!(line.contains("was not taken down"), "{line}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_takedown_without_a_daemon_is_the_same() {
    let (web, _) = copies();
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
    let output = run(&web, &["purge", &web.url(SAME[0]), "--yes"]);
    let text = said(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("1 document taken down") && text.contains("WARC"),
        "{text}"
    );
    assert_eq!(web.indexed().len(), 2);
    stays_away(&web);
    // An address that was never crawled is refused when it turns up.
    let never = web.url("a.test/never.html");
    web.json(&["purge", &never, "--yes", "--json"]);
    web.set("a.test/never.html", Reply::page(&article("从未抓取", "")));
    web.seed(&["a.test/n/2.html", "a.test/n/3.html", "a.test/never.html"]);
    stays_away(&web);
    assert_eq!(web.asked("a.test/never.html"), 0);
    web.json(&["purge", "--allow", &web.url(SAME[1]), "--json"]);
    web.crawl();
    assert_eq!(web.indexed().len(), 3);
}

#[test]
fn a_page_that_was_on_its_way_does_not_come_back_after_the_purge() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let slow = |title: &str, links: &str| {
        let body = article(title, "").replace("</body>", &format!("{links}</body>"));
        Reply::page(&body).after(Duration::from_millis(1500))
    };
    let link = format!(
        "<a href=\"{}\">更早的消息在此</a>",
        web.url("a.test/n/8.html")
    );
    web.set("a.test/n/8.html", Reply::page(&article("更早的消息", "")));
    web.set("a.test/n/9.html", slow("慢慢到来的新闻", &link));
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    let begun = daemon.post("/api/sites/a/visit", None);
    assert_eq!(begun.0, 200, "{begun:?}");
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    let done = web.json(&["purge", "a", "--yes", "--json"]);
    assert_eq!(done["documents"], 1, "{done}");
    assert!(done["next_cycle_ms"].is_i64(), "{done}");
    assert!(daemon.hits("q=").is_empty());
    // Longer than the page takes.
    thread::sleep(Duration::from_millis(2500));
    assert!(daemon.hits("q=").is_empty(), "it came back");
    assert_eq!(web.asked("a.test/n/8.html"), 0, "its links came back");
    let status = web.json(&["status", "--json"]);
    assert_eq!(status["sites"][0]["documents"], 0, "{status}");
    assert_eq!(status["sites"][0]["urls"]["fetched"], 0, "{status}");

    // The same of one address.
    web.seed(&["a.test/n/9.html"]);
    web.forget_log();
    assert_eq!(daemon.post("/api/sites/a/visit", None).0, 200);
    wait_until("the slow page is asked for", || {
        web.asked("a.test/n/9.html") == 1
    });
    let url = web.url("a.test/n/9.html");
    web.json(&["purge", &url, "--yes", "--json"]);
    thread::sleep(Duration::from_millis(2500));
    assert!(daemon.hits("q=").is_empty(), "it came back");
    // The site is still configured: what was not taken down is found anew.
    web.seed(&["a.test/n/1.html", "a.test/n/9.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    daemon.wait_for(1);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_site_is_removed_with_all_it_had_beside_the_daemon_and_alone() {
    for with_daemon in [true, false] {
        let (web, address) = site(&["a.test/n/1.html", "a.test/n/2.html"]);
        web.json(&["crawl", "--site", "a", "--json"]);
        // A document that was imported under the name of the site goes as well.
        let imported = web.path().join("more.jsonl");
        let text = "{\"url\":\"http://elsewhere.test/x.html\",\"title\":\"导入的新闻\",\"text\":\"一段导入的文字。\",\
                    \"site\":\"a\",\"kind\":\"article\"}\n";
        fs::write(&imported, text).expect("written");
        let import = run(&web, &["import", imported.to_str().expect("a path")]);
        assert!(import.status.success(), "{import:?}");
        assert_eq!(web.indexed().len(), 3);
        let daemon = with_daemon.then(|| Daemon::start(&web, address));
        let (code, line) = refused(&web, &["site", "remove", "aa", "--forget"]);
        assert_eq!(code, Some(2));
        assert!(line.contains("did you mean a?"), "{line}");
        let output = run(&web, &["site", "remove", "a", "--forget"]);
        assert!(output.status.success(), "{output:?}");
        assert!(said(&output).contains("3 documents"), "{}", said(&output));
        assert!(!web.path().join("sites.d/a.toml").exists());
        assert_eq!(web.indexed().len(), 0);
        if let Some(daemon) = daemon {
            web.forget_log();
            let (status, _) = daemon.post("/api/sites/a/visit", None);
            assert_eq!(status, 404, "it is crawled still");
            daemon.signal("-HUP");
            thread::sleep(Duration::from_millis(500));
            assert_eq!(web.asked("a.test/"), 0);
            assert_eq!(daemon.stop(), Some(0));
        }
        let counts = web.json(&["status", "--json"]);
        assert_eq!(counts["documents"], 0, "{counts}");
    }
}

#[test]
fn the_socket_is_private_bounded_and_replaced_after_a_kill() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    let socket = daemon.socket.clone();
    let meta = fs::metadata(&socket).expect("the socket");
    assert!(meta.file_type().is_socket());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);

    let answer = |request: &[u8]| {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        // It may hang up before all of it is sent.
        let _ = stream.write_all(request);
        let mut line = String::new();
        let _ = BufReader::new(stream).read_line(&mut line);
        line
    };
    let huge = [b'x'; 300_000];
    assert!(answer(&huge).contains("at most 65536 bytes"));
    assert!(answer(b"{\"delete\":\"everything\"}\n").contains("not a request"));
    assert!(answer(b"\n").contains("not a request"));
    // Many that say nothing do not keep others out for longer than a request may take.
    let silent: Vec<UnixStream> = (0..40)
        .filter_map(|_| UnixStream::connect(&socket).ok())
        .collect();
    assert_eq!(silent.len(), 40);
    wait_until("there is room again", || {
        answer(b"{\"command\":{\"command\":\"resume\",\"site\":\"a\"}}\n").contains("done")
    });
    drop(silent);

    // Two at once, one of which waits for a slow page.
    let slow = Reply::page(&article("慢慢到来", "")).after(Duration::from_millis(1200));
    web.set("a.test/n/slow.html", slow);
    let url = web.url("a.test/n/slow.html");
    let waiting = web
        .taojin(&["visit", &url, "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("taojin starts");
    wait_until("it is asked for", || web.asked("a.test/n/slow.html") == 1);
    let page = web.json(&["pause", "a", "--json"]);
    assert!(page["paused_ms"].is_i64());
    web.json(&["resume", "a", "--json"]);
    let waited = waiting.wait_with_output().expect("its end");
    assert!(said(&waited).contains("\"new\""), "{waited:?}");

    // Left over by a kill: commands work alone, and the next daemon listens again.
    daemon.kill();
    assert!(socket.exists());
    web.json(&["pause", "a", "--json"]);
    web.json(&["resume", "a", "--json"]);
    let daemon = Daemon::start(&web, address);
    web.json(&["crawl", "--site", "a", "--json"]);

    // One who waits while the daemon stops is told so.
    let endless = Reply::page(&article("不会到来", "")).after(Duration::from_secs(30));
    web.set("a.test/n/endless.html", endless);
    let url = web.url("a.test/n/endless.html");
    let waiting = web
        .taojin(&["visit", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("taojin starts");
    wait_until("it is asked for", || {
        web.asked("a.test/n/endless.html") == 1
    });
    assert_eq!(daemon.stop(), Some(0));
    let waited = waiting.wait_with_output().expect("its end");
    assert_eq!(waited.status.code(), Some(1), "{waited:?}");
    let line = String::from_utf8_lossy(&waited.stderr).into_owned();
    assert!(line.contains("the daemon is stopping"), "{line}");
    assert!(!socket.exists(), "the socket was left behind");
}

#[test]
fn a_data_folder_with_a_long_path_has_its_socket_too() {
    let (web, address) = site(&["a.test/n/1.html"]);
    let long = web.path().join("x".repeat(120));
    let config = web.path().join("taojin.toml");
    let text = fs::read_to_string(&config).expect("taojin.toml");
    let short = format!("{:?}", web.path().join("data"));
    assert!(text.contains(&short));
    fs::write(&config, text.replace(&short, &format!("{long:?}"))).expect("taojin.toml");
    let child = web
        .taojin(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("taojin starts");
    let daemon = Daemon {
        child,
        address,
        socket: long.join("control.sock"),
    };
    wait_until("it has its socket", || daemon.socket.exists());
    daemon.wait_for(1);
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert!(counts["visits"].as_u64() >= Some(1), "{counts}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn the_operator_does_it_over_http() {
    let (web, address) = copies();
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(3);
    for target in [
        "/api/sites/a/visit",
        "/api/sites/a/pause",
        "/api/sites/a/purge",
    ] {
        assert_eq!(daemon.ask("POST", target, None, false).0, 401, "{target}");
    }
    let (status, problem) = daemon.post("/api/sites/b/pause", None);
    assert_eq!(status, 404);
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("did you mean a?"), "{problem}");

    assert!(daemon.post("/api/sites/a/pause", None).1["paused_ms"].is_i64());
    let (status, problem) = daemon.post("/api/sites/a/visit", None);
    assert_eq!(status, 409, "{problem}");
    assert_eq!(daemon.post("/api/sites/a/resume", None).0, 200);
    let (status, begun) = daemon.post("/api/sites/a/visit", None);
    assert_eq!(
        (status, begun["site"].as_str()),
        (200, Some("a")),
        "{begun}"
    );

    web.set("a.test/new.html", Reply::page(&article("点名要的新闻", "")));
    let body = format!("{{\"url\":\"{}\"}}", web.url("a.test/new.html"));
    assert_eq!(daemon.post("/api/visit", Some(&body)).0, 200);
    daemon.wait_for(4);
    let (status, problem) = daemon.post("/api/visit", Some("{\"url\":\"http://other.test/\"}"));
    assert_eq!(status, 422, "{problem}");
    let (status, done) = daemon.post("/api/purge", Some(&body));
    assert_eq!(
        (status, &done["documents"]),
        (200, &Value::from(1)),
        "{done}"
    );
    assert_eq!(daemon.hits("q=&limit=50").len(), 3);
    assert_eq!(daemon.post("/api/allow", Some(&body)).0, 200);
    daemon.wait_for(4);

    // The pages of a site and of a document, for the operator and for others.
    let (status, page) = daemon.ask("GET", "/sites/a?lang=en", None, true);
    assert_eq!(status, 200);
    for text in [
        "Visit now",
        "Settings",
        "点名要的新闻",
        "/new.html</td>",
        "0 */6 * * *",
    ] {
        assert!(page.contains(text), "{text} is missing: {page}");
    }
    let (_, page) = daemon.ask("GET", "/sites/a?lang=en", None, false);
    assert!(!page.contains("Visit now"));
    assert_eq!(daemon.ask("GET", "/sites/b", None, true).0, 404);
    let form = "lang=en&action=pause";
    assert_eq!(daemon.ask("POST", "/sites/a", Some(form), false).0, 401);
    assert_eq!(daemon.ask("POST", "/sites/a", Some(form), true).0, 303);
    let (_, page) = daemon.ask("GET", "/sites/a?lang=en", None, true);
    assert!(
        page.contains("Resume") && page.contains("Paused by the operator"),
        "{page}"
    );
    let hit = &daemon.hits("q=%E7%82%B9%E5%90%8D&limit=1")[0];
    let path = format!("/doc/{}", hit["id"].as_str().expect("an id"));
    let (_, page) = daemon.ask("GET", &format!("{path}?lang=en"), None, true);
    assert!(page.contains("Take this document down"), "{page}");
    let (status, page) = daemon.ask("POST", &path, Some("lang=en&action=take_down"), true);
    assert_eq!(status, 200);
    assert!(
        page.contains("Taken down") && page.contains("a.test"),
        "{page}"
    );
    assert_eq!(daemon.ask("GET", &path, None, false).0, 404);

    let (status, done) = daemon.post("/api/sites/a/purge", None);
    assert_eq!(
        (status, &done["documents"]),
        (200, &Value::from(3)),
        "{done}"
    );
    assert!(daemon.hits("q=").is_empty());
    assert_eq!(daemon.stop(), Some(0));
}

/// `serve` hands commands to a daemon beside it, and says so where there is none.
#[test]
fn a_server_without_a_crawler_says_that_it_has_none() {
    let (web, address) = site(&["a.test/n/1.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let beside = free.local_addr().expect("its address");
    drop(free);
    let child = web
        .taojin(&["serve", "--listen", &beside.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("taojin starts");
    let server = Daemon {
        child,
        address: beside,
        socket: PathBuf::new(),
    };
    wait_until("it answers", || TcpStream::connect(beside).is_ok());
    let (status, problem) = server.post("/api/sites/a/pause", None);
    assert_eq!(status, 409);
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("no crawler runs"), "{problem}");
    let daemon = Daemon::start(&web, address);
    let (status, done) = server.post("/api/sites/a/pause", None);
    assert_eq!(status, 200, "{done}");
    assert!(done["paused_ms"].is_i64());
    assert_eq!(daemon.stop(), Some(0));
}

/// A receiver that answers 503 until it is told otherwise; the bodies that it was sent.
fn receiver() -> (String, Arc<AtomicBool>, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let (fine, bodies) = (Arc::<AtomicBool>::default(), Arc::default());
    let (is_fine, sent) = (Arc::clone(&fine), Arc::<Mutex<Vec<String>>>::clone(&bodies));
    // Ends with the test's process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap_or(0);
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                continue;
            }
            let fine = is_fine.load(Ordering::SeqCst);
            if fine {
                let mut sent = sent.lock().expect("no panic");
                sent.push(String::from_utf8_lossy(&body).into_owned());
            }
            let status = if fine { 200 } else { 503 };
            let answer =
                format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (format!("http://{address}/"), fine, bodies)
}

#[test]
fn a_hit_that_waits_for_its_webhook_is_not_sent_after_the_takedown() {
    let (hook, fine, bodies) = receiver();
    let follow = format!("[[follow]]\nname = \"t\"\nquery = \"消息\"\nwebhook = \"{hook}\"\n");
    let (web, address) = site_with(&["a.test/n/1.html"], &follow);
    let daemon = Daemon::start(&web, address);
    daemon.wait_for(1);
    wait_until("the topic is followed", || {
        daemon
            .ask("GET", "/api/status", None, false)
            .1
            .contains("\"told\"")
    });
    web.set("a.test/n/2.html", Reply::page(&article("要撤下的消息", "")));
    web.set("a.test/n/3.html", Reply::page(&article("留下来的消息", "")));
    web.seed(&["a.test/n/2.html", "a.test/n/3.html"]);
    web.json(&["crawl", "--site", "a", "--json"]);
    wait_until("both wait to be told", || {
        let (_, status) = daemon.ask("GET", "/api/status", None, false);
        let status: Value = serde_json::from_str(&status).unwrap_or(Value::Null);
        status["follows"][0]["waiting"] == 2 && status["follows"][0]["last_error"].is_string()
    });
    let url = web.url("a.test/n/2.html");
    web.json(&["purge", &url, "--yes", "--json"]);
    fine.store(true, Ordering::SeqCst);
    wait_until("the other was told", || {
        bodies
            .lock()
            .expect("no panic")
            .iter()
            .any(|b| b.contains("留下来的消息"))
    });
    let bodies = bodies.lock().expect("no panic").join("");
    assert!(!bodies.contains("要撤下的消息"), "{bodies}");
    assert_eq!(daemon.stop(), Some(0));
}
