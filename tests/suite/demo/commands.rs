//! What the demo prints, done: every command is run while it serves, the sign-in works, and a busy port is noticed first.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::ROOT;
use crate::support::folder::{Process, RunExt as _, assert_has, taojin_in};
use crate::support::http::{get, send};

/// The usual address of the demo's web page.
const USUAL: &str = "127.0.0.1:8080";

/// A folder like a clone of the repository: with the shipped configuration and no sites.
fn clone_like() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let shipped = Path::new(ROOT).join("config/taojin.toml");
    fs::create_dir_all(dir.path().join("config/sites.d")).expect("made");
    fs::create_dir(dir.path().join("tmp")).expect("made");
    fs::copy(shipped, dir.path().join("config/taojin.toml")).expect("copied");
    dir
}

fn demo(dir: &Path, args: &[&str]) -> Command {
    let mut command = taojin_in(dir);
    command
        .arg("demo")
        .args(args)
        .env("TMPDIR", dir.join("tmp"));
    command
}

fn shell(dir: &Path, command: &str) -> String {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(dir)
        .ran()
        .good()
        .out
}

/// The value of the line that begins with a word.
fn after<'l>(lines: &'l [String], word: &str) -> &'l str {
    let line = lines.iter().rev().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("no line with {word} in {lines:#?}"))
        .trim()
}

/// Signs in with the printed token and gives the cookie.
fn sign_in(port: u16, token: &str) -> String {
    let body = format!("token={token}&next=/templates");
    let lines = [
        "Origin: http://localhost",
        "Sec-Fetch-Site: same-origin",
        "Content-Type: application/x-www-form-urlencoded",
    ];
    let answer = send(port, "POST", "/login", &lines, &body).expect("an answer");
    assert_eq!(answer.status, 303, "{answer:?}");
    let cookie = answer.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_cookie = name.eq_ignore_ascii_case("set-cookie");
        is_cookie.then(|| value.split(';').next().unwrap_or_default().to_owned())
    });
    cookie.expect("a session")
}

/// Follows every example on `/help` and on the home page: those of the home page find something.
fn examples_find_something(address: &str) {
    let (_, port) = address.split_once(':').expect("an address and a port");
    let port = port.parse().expect("a port");
    let page = |path: &str| {
        let (status, body) = get(port, path).expect("an answer");
        assert_eq!(status, 200, "{path}");
        body
    };
    let mut followed = 0;
    for (path, block, least) in [
        ("/help?lang=zh", "<dl class=\"syntax\">", 40),
        ("/help?lang=en", "<dl class=\"syntax\">", 40),
        ("/?lang=zh", "<dl class=\"hints\">", 3),
    ] {
        let body = page(path);
        let lists = body.split(block).skip(1);
        let lists: Vec<&str> = lists
            .filter_map(|rest| rest.split("</dl>").next())
            .collect();
        let links = lists.iter().flat_map(|list| list.split("href=\"").skip(1));
        let links = links.filter_map(|link| link.split('"').next());
        let links: Vec<String> = links.map(|link| link.replace("&#38;", "&")).collect();
        assert!(links.len() >= least, "{path}: {links:#?}");
        for row in lists.iter().flat_map(|list| list.split("<dt>").skip(1)) {
            assert!(row.contains("<a href"), "nothing to click: {row}");
        }
        for link in links {
            page(&link);
            let (_, query) = link.split_once('?').expect("a query");
            let query = query.split('&').find(|pair| pair.starts_with("q="));
            let query = query.expect("words");
            let found = page(&format!("/api/search?{query}&limit=1&corrected=off"));
            let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
            if path.starts_with("/?") {
                assert!(found["total"].as_u64() >= Some(1), "{link}: {found}");
                assert!(found.get("notes").is_none(), "{link}: {found}");
            }
            followed += 1;
        }
    }
    assert!(followed > 80, "{followed}");
}

/// Asks why by the name and the title of a site, by a host without its port, and by an address that was taken down.
fn why_takes_names(dir: &Path, program: &str) {
    let why = |name: &str| shell(dir, &format!("{program} why '{name}'"));
    let name = "host         bohai-energy.localhost:";
    for site in ["bohai-energy", "渤海能源报"] {
        assert_has(
            &why(site),
            &["site         bohai-energy\nlast cycle   ok: ", name],
        );
    }
    assert_has(&why("bohai-energy.localhost"), &[name]);
    assert_has(&why("nowhere.example"), &["host         of no site"]);
    let page = why("http://bohai-energy.localhost/x");
    let meant = "); its name is known as bohai-energy.localhost:";
    assert_has(&page, &[meant]);
    let found = shell(dir, &format!("{program} search --json --limit 1 LNG"));
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    let url = found["hits"][0]["url"].as_str().expect("a hit");
    shell(dir, &format!("{program} purge --yes '{url}'"));
    let purged = why(url);
    // Said once.
    assert_has(
        &purged,
        &["taken down by the operator on ", "in index     no\n"],
    );
    assert_eq!(purged.matches("taken down").count(), 1, "{purged}");
    assert!(!purged.contains("\nerror "), "{purged}");
}

#[test]
fn demo_printed_commands_work() {
    let dir = clone_like();
    // Ours, or another program's: in use it is.
    let taken = TcpListener::bind(USUAL);
    let mut demo = Process::of(
        demo(dir.path(), &[])
            .stdout(Stdio::piped())
            .stderr(Stdio::null()),
    );
    let out = BufReader::new(demo.0.stdout.take().expect("a pipe")).lines();
    let mut lines: Vec<String> = Vec::new();
    // What is printed until the page is served.
    for line in out.map_while(Result::ok) {
        let is_last = line.starts_with("Ctrl-C ends");
        lines.push(line);
        if is_last {
            break;
        }
    }
    let commands = lines.iter().filter_map(|line| line.strip_prefix("$ "));
    let commands: Vec<&str> = commands.collect();
    // Three searches and four more.
    assert_eq!(commands.len(), 7, "{lines:#?}");
    for command in &commands {
        let said = shell(dir.path(), command);
        assert!(!said.is_empty(), "{command} says nothing");
    }

    let page = after(&lines, "search page");
    let address = page.trim_start_matches("http://").trim_end_matches('/');
    assert!(
        taken.is_err() || address != USUAL,
        "the port was in use: {page}"
    );
    examples_find_something(address);
    let token = after(&lines, "token").split(' ').next().unwrap_or_default();
    let (_, port) = address.split_once(':').expect("an address and a port");
    let port = port.parse().expect("a port");
    let cookie = format!("Cookie: {}", sign_in(port, token));
    for name in ["templates", "terms"] {
        let answer = send(port, "GET", &format!("/{name}"), &[&cookie], "");
        assert_eq!(answer.expect("an answer").status, 200, "{name}");
        assert!(after(&lines, name).ends_with(&format!("/login?next=/{name}")));
    }

    let (program, _) = commands[0].split_once(" search ").expect("a search");
    why_takes_names(dir.path(), program);

    // The step to one's own site, from here, where the configuration of a clone is.
    let own = lines
        .iter()
        .find(|line| line.contains(" site add "))
        .expect("a next step")
        .trim();
    assert_has(own, &["--config config/taojin.toml --data-dir data"]);
    shell(dir.path(), &format!("{own} --no-probe"));
    assert!(dir.path().join("config/sites.d/example.com.toml").is_file());

    demo.signal("-INT");
    assert_eq!(demo.wait(), Some(0));
    let mut left = fs::read_dir(dir.path().join("tmp")).expect("the temporary folder");
    assert!(left.next().is_none(), "the demo leaves something behind");
}

#[test]
fn demo_refuses_busy_port() {
    let dir = clone_like();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    // Nothing is printed: it did not begin.
    let line = demo(dir.path(), &["--listen", &address]).ran().refused();
    assert_has(&line, &[format!("--listen {address}")]);
}
