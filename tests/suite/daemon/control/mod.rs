//! What the operator asks for, of a running daemon and without one: visits, pause and resume, takedowns. The daemon is the
//! real program with the sample of a small site.

mod access;
mod takedowns;
mod versions;
mod visits;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::small_web::{Reply, SmallWeb, article};

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

/// Two addresses of one text and two other pages.
const SAME: [&str; 2] = ["a.test/n/1.html", "www.a.test/n/1.html"];

fn copies() -> (SmallWeb, SocketAddr) {
    let (web, address) = site(&[SAME[0], SAME[1], "a.test/n/2.html", "a.test/n/3.html"]);
    for page in SAME {
        web.set(page, Reply::page(&article("要下架的新闻", "")));
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
