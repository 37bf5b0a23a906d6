//! The ways to the daemon: its socket, HTTP with the token, and `serve` beside it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::{copies, site};
use crate::support::daemon::Daemon;
use crate::support::folder::{RunExt as _, assert_has};
use crate::support::small_web::{Reply, article};
use crate::support::{PATIENCE, wait_until};

#[test]
fn control_socket_limits_and_recovery() {
    let web = site(&["a.test/n/1.html"]);
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(1);
    let socket = web.data_dir().join("control.sock");
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
        answer(b"{\"set_paused\":{\"site\":\"a\",\"paused\":false}}\n").contains("done")
    });
    drop(silent);

    // Two at once, one of which waits for a slow page.
    let slow = Reply::page(&article("慢慢到来", "")).after(Duration::from_millis(1200));
    web.set("a.test/n/slow.html", slow);
    let url = web.url("a.test/n/slow.html");
    let waited = thread::scope(|scope| {
        let waiting = scope.spawn(|| web.done(&["visit", &url, "--json"]));
        wait_until("it is asked for", || web.asked("a.test/n/slow.html") == 1);
        let page = web.json(&["pause", "a", "--json"]);
        assert!(page["paused_ms"].is_i64());
        web.done(&["resume", "a"]);
        waiting.join().expect("its end")
    });
    assert_has(&waited, &["\"new\""]);

    // Left over by a kill: commands work alone, and the next daemon listens again.
    drop(daemon);
    assert!(socket.exists());
    web.done(&["pause", "a"]);
    web.done(&["resume", "a"]);
    let daemon = Daemon::start(&web);
    web.done(&["crawl", "--site", "a"]);

    // One who waits while the daemon stops is told so.
    let endless = Reply::page(&article("不会到来", "")).after(Duration::from_secs(30));
    web.set("a.test/n/endless.html", endless);
    let url = web.url("a.test/n/endless.html");
    let waited = thread::scope(|scope| {
        let waiting = scope.spawn(|| web.run(&["visit", &url]));
        wait_until("it is asked for", || {
            web.asked("a.test/n/endless.html") == 1
        });
        assert_eq!(daemon.stop(), Some(0));
        waiting.join().expect("its end")
    });
    assert_has(&waited.failed(1).err, &["the daemon is stopping"]);
    assert!(!socket.exists(), "the socket was left behind");
}

#[test]
fn control_socket_long_path() {
    let web = site(&["a.test/n/1.html"]);
    let long = web.path().join("x".repeat(120));
    let short = format!("{:?}", web.data_dir());
    web.replace("taojin.toml", &short, &format!("{long:?}"));
    let daemon = web.taojin(&["run"]).started();
    let socket = long.join("control.sock");
    wait_until("it has its socket", || socket.exists());
    let counts = web.json(&["crawl", "--site", "a", "--json"]);
    assert!(counts["visits"].as_u64() >= Some(1), "{counts}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn control_over_http() {
    let web = copies();
    let daemon = Daemon::start(&web);
    daemon.wait_for_documents(3);
    for action in ["visit", "pause", "purge"] {
        let target = format!("/api/sites/a/{action}");
        assert_eq!(daemon.send("POST", &target, "", &[]).status, 401);
    }
    let (status, problem) = daemon.post("/api/sites/b/pause", "");
    assert_eq!(status, 404);
    assert_has(&problem["detail"].to_string(), &["did you mean a?"]);

    assert!(daemon.post("/api/sites/a/pause", "").1["paused_ms"].is_i64());
    let (status, problem) = daemon.post("/api/sites/a/visit", "");
    assert_eq!(status, 409, "{problem}");
    assert_eq!(daemon.post("/api/sites/a/resume", "").0, 200);
    let (status, begun) = daemon.post("/api/sites/a/visit", "");
    assert_eq!((status, &begun["site"]), (200, &"a".into()), "{begun}");

    web.set_article("a.test/new.html", "点名要的新闻");
    let body = format!("{{\"url\":\"{}\"}}", web.url("a.test/new.html"));
    assert_eq!(daemon.post("/api/visit", &body).0, 200);
    daemon.wait_for_documents(4);
    let (status, problem) = daemon.post("/api/visit", "{\"url\":\"http://other.test/\"}");
    assert_eq!(status, 422, "{problem}");
    let (status, done) = daemon.post("/api/purge", &body);
    assert_eq!((status, &done["documents"]), (200, &1.into()), "{done}");
    assert_eq!(daemon.hits("q=&limit=50").len(), 3);
    assert_eq!(daemon.post("/api/allow", &body).0, 200);
    daemon.wait_for_documents(4);

    // The pages of a site and of a document, for the operator and for others.
    let (status, page) = daemon.signed("GET", "/sites/a?lang=en", "");
    assert_eq!(status, 200);
    assert_has(
        &page,
        &[
            "Visit now",
            "Settings",
            "点名要的新闻",
            "/new.html</td>",
            "0 */6 * * *",
        ],
    );
    let (_, page) = daemon.get("/sites/a?lang=en");
    assert!(!page.contains("Visit now"));
    assert_eq!(daemon.signed("GET", "/sites/b", "").0, 404);
    let form = "lang=en&action=pause";
    assert_eq!(daemon.send("POST", "/sites/a", form, &[]).status, 401);
    assert_eq!(daemon.signed("POST", "/sites/a", form).0, 303);
    let (_, page) = daemon.signed("GET", "/sites/a?lang=en", "");
    assert_has(&page, &["Resume", "Paused by the operator"]);
    let hit = &daemon.hits("q=%E7%82%B9%E5%90%8D&limit=1")[0];
    let path = format!("/doc/{}", hit["id"].as_str().expect("an id"));
    let (_, page) = daemon.signed("GET", &format!("{path}?lang=en"), "");
    assert_has(&page, &["Take this document down"]);
    let (status, page) = daemon.signed("POST", &path, "lang=en&action=take_down");
    assert_eq!(status, 200);
    assert_has(&page, &["Taken down", "a.test"]);
    assert_eq!(daemon.get(&path).0, 410);

    let (status, done) = daemon.post("/api/sites/a/purge", "");
    assert_eq!((status, &done["documents"]), (200, &3.into()), "{done}");
    assert!(daemon.hits("q=").is_empty());
    assert_eq!(daemon.stop(), Some(0));
}

/// Whoever guesses the token is in the log: with an address, once, and without what was sent.
#[test]
fn wrong_tokens_are_in_the_log() {
    let web = copies();
    let daemon = Daemon::under_systemd(&web);
    let guess = "Authorization: Bearer guess-0123456789abcdef";
    for _ in 0..20 {
        let answer = daemon.send("POST", "/api/sites/a/pause", "", &[guess]);
        assert_eq!(answer.status, 401);
    }
    let origin = format!("Origin: http://127.0.0.1:{}", daemon.port);
    let form = "token=guess-in-the-form&next=%2F";
    assert_eq!(daemon.send("POST", "/login", form, &[&origin]).status, 401);
    // Neither is a guess.
    assert_eq!(
        daemon.send("POST", "/api/sites/a/pause", "", &[]).status,
        401
    );
    assert_eq!(daemon.signed("POST", "/api/sites/a/pause", "").0, 200);
    assert_eq!(daemon.stop(), Some(0));
    let log = fs::read_to_string(web.file("daemon.log")).expect("a log");
    let lines: Vec<&str> = log
        .lines()
        .filter(|l| l.contains("wrong operator token"))
        .collect();
    // One and a count a minute, however slow this machine is.
    assert!((1..20).contains(&lines.len()), "{lines:?}");
    assert_has(lines[0], &["WARN", "a wrong operator token from 127.0.0.1"]);
    assert!(!log.contains("guess-"), "{log}");
}

/// `serve` hands commands to a daemon beside it, and says so where there is none.
#[test]
fn serve_forwards_commands_to_daemon() {
    let web = site(&["a.test/n/1.html"]);
    web.done(&["crawl", "--site", "a"]);
    let server = Daemon::serving(&web);
    let (status, problem) = server.post("/api/sites/a/pause", "");
    assert_eq!(status, 409);
    assert_has(&problem["detail"].to_string(), &["no crawler runs"]);
    let daemon = Daemon::start(&web);
    let (status, done) = server.post("/api/sites/a/pause", "");
    assert_eq!(status, 200, "{done}");
    assert!(done["paused_ms"].is_i64());
    assert_eq!(daemon.stop(), Some(0));
}
