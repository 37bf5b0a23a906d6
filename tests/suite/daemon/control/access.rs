//! The ways to the daemon: its socket, HTTP with the token, and `serve` beside it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::{Daemon, PATIENCE, copies, said, site, wait_until};
use crate::support::small_web::{Reply, article};

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
    assert_eq!(daemon.ask("GET", &path, None, false).0, 410);

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
