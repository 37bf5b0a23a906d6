//! What the demo prints, done: every command is run while it serves, the sign-in works, and a busy port is noticed first.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The usual address of the demo's web page.
const USUAL: &str = "127.0.0.1:8080";

/// A folder like a clone of the repository: with the shipped configuration and no sites.
fn clone_like() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let shipped = Path::new(crate::support::ROOT).join("config/taojin.toml");
    fs::create_dir_all(dir.path().join("config/sites.d")).expect("made");
    fs::create_dir(dir.path().join("tmp")).expect("made");
    fs::copy(shipped, dir.path().join("config/taojin.toml")).expect("copied");
    dir
}

/// The demo, ended when this is dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Demo {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("demo")
            .current_dir(dir)
            .env("TMPDIR", dir.join("tmp"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("taojin starts"))
    }

    /// What is printed until the page is served.
    fn said(&mut self) -> Vec<String> {
        let out = BufReader::new(self.0.stdout.take().expect("a pipe"));
        let mut lines = Vec::new();
        for line in out.lines() {
            lines.push(line.expect("UTF-8"));
            if lines
                .last()
                .is_some_and(|line| line.starts_with("Ctrl-C ends"))
            {
                break;
            }
        }
        lines
    }
}

/// The value of the line that begins with a word.
fn after<'l>(lines: &'l [String], word: &str) -> &'l str {
    let line = lines.iter().rev().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("no line with {word} in {lines:#?}"))
        .trim()
}

fn http(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the page is served");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn get(address: &str, path: &str, cookie: &str) -> String {
    http(
        address,
        &format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ),
    )
}

/// Signs in with the printed token and gives the cookie.
fn sign_in(address: &str, token: &str) -> String {
    let body = format!("token={token}&next=/templates");
    let answer = http(
        address,
        &format!(
            "POST /login HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
    );
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    let cookie = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_cookie = name.eq_ignore_ascii_case("set-cookie");
        is_cookie.then(|| value.split(';').next().unwrap_or_default().to_owned())
    });
    cookie.expect("a session")
}

#[test]
fn every_printed_command_works_while_the_demo_serves() {
    let dir = clone_like();
    // Ours, or another program's: in use it is.
    let taken = TcpListener::bind(USUAL);
    let mut demo = Demo::start(dir.path());
    let lines = demo.said();
    let commands: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert_eq!(
        commands.len(),
        7,
        "three searches and four more: {lines:#?}"
    );
    for command in &commands {
        let mut shell = Command::new("sh");
        let done = shell
            .args(["-c", command])
            .current_dir(dir.path())
            .output()
            .expect("a shell");
        assert!(done.status.success(), "{command}: {done:?}");
        assert!(!done.stdout.is_empty(), "{command} says nothing");
    }

    let page = after(&lines, "search page");
    let address = page.trim_start_matches("http://").trim_end_matches('/');
    assert!(
        taken.is_err() || address != USUAL,
        "the port was in use: {page}"
    );
    let token = after(&lines, "token").split(' ').next().unwrap_or_default();
    let cookie = sign_in(address, token);
    for path in ["/templates", "/terms"] {
        let answer = get(address, path, &cookie);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(
            after(&lines, path.trim_start_matches('/')).ends_with(&format!("/login?next={path}"))
        );
    }

    // The step to one's own site, from here, where the configuration of a clone is.
    let own = lines
        .iter()
        .find(|line| line.contains(" site add "))
        .expect("a next step")
        .trim();
    assert!(
        own.contains("--config config/taojin.toml --data-dir data"),
        "{own}"
    );
    let mut shell = Command::new("sh");
    let added = shell
        .args(["-c", &format!("{own} --no-probe")])
        .current_dir(dir.path())
        .output();
    let added = added.expect("a shell");
    assert!(added.status.success(), "{own}: {added:?}");
    assert!(dir.path().join("config/sites.d/example.com.toml").is_file());

    let mut kill = Command::new("kill");
    let id = demo.0.id().to_string();
    assert!(kill.args(["-INT", &id]).status().expect("kill").success());
    assert!(demo.0.wait().expect("its end").success());
    let mut left = fs::read_dir(dir.path().join("tmp")).expect("the temporary folder");
    assert!(left.next().is_none(), "the demo leaves something behind");
}

#[test]
fn a_busy_port_is_noticed_before_the_crawl() {
    let dir = clone_like();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let started = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    command
        .args(["demo", "--listen", &address])
        .current_dir(dir.path())
        .env("TMPDIR", dir.path());
    let output = command.output().expect("taojin runs");
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(
        line.contains(&format!("--listen {address}")) && line.lines().count() == 1,
        "{line}"
    );
    assert!(output.stdout.is_empty(), "it began all the same");
    assert!(started.elapsed() < Duration::from_secs(20));
}
