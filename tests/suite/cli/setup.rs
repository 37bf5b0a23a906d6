//! The first commands of an installation: `init` writes a configuration, `check --online` tries the way out.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{Place, text};

fn init(dir: &Path, language: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taojin"))
        .current_dir(dir)
        .env("LC_ALL", language)
        .args(["--config", "etc/taojin.toml", "init"])
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("taojin runs")
}

#[test]
fn init_writes_what_check_accepts_and_replaces_nothing() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let data = dir.path().join("data").display().to_string();
    let args = [
        "--data-dir",
        &data,
        "--listen",
        "127.0.0.1:0",
        "--contact",
        "ops@example.org",
        "--token",
        "yes",
    ];
    let written = init(dir.path(), "C", &args);
    let said = text(&written);
    assert!(written.status.success(), "{written:?}");
    assert!(
        said.contains("  taojin --config etc/taojin.toml site add https://www.example.com/\n"),
        "{said}"
    );
    assert!(
        said.ends_with("  taojin --config etc/taojin.toml run\n"),
        "{said}"
    );
    let file = dir.path().join("etc/taojin.toml");
    let settings = fs::read_to_string(&file).expect("the file");
    assert!(settings.contains("(+ops@example.org)\""), "{settings}");
    let check = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        let command = command.arg("--config").arg(&file).arg("check").args(args);
        command.output().expect("taojin runs")
    };
    let checked = check(&[]);
    assert!(checked.status.success(), "{checked:?}");
    assert!(text(&checked).contains(&data), "{checked:?}");
    let token = fs::read_to_string(dir.path().join("etc/token")).expect("the token");
    assert!(token.trim().len() >= 20);

    let again = init(dir.path(), "C", &args);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    assert_eq!(fs::read_to_string(&file).expect("the file"), settings);

    let chinese = init(
        dir.path(),
        "zh_CN.UTF-8",
        &["--force", "--data-dir", &data, "--lexicon", "none"],
    );
    assert!(chinese.status.success(), "{chinese:?}");
    assert!(text(&chinese).contains("已写好"));
    let settings = fs::read_to_string(&file).expect("the file");
    assert!(
        settings.contains("数据目录") && settings.contains("lexicons = []"),
        "{settings}"
    );
    assert!(check(&[]).status.success());
    let kept = fs::read_to_string(dir.path().join("etc/token")).expect("the token");
    assert_eq!(kept, token, "a token that is there stays");
}

#[test]
fn init_refuses_wrong_answers_and_writes_nothing_then() {
    let dir = tempfile::tempdir().expect("temporary directory");
    for (args, part) in [
        (
            ["--listen", "8080"],
            "--listen \"8080\": write an address and a port",
        ),
        (
            ["--contact", "me"],
            "--contact \"me\": write a mail address",
        ),
        (["--lexicon", "oil-gaz"], "--lexicon \"oil-gaz\""),
        (
            ["--token", "perhaps"],
            "--token \"perhaps\": write yes or no",
        ),
        (
            ["--data-dir", "/proc/nothing"],
            "data_dir = \"/proc/nothing\"",
        ),
    ] {
        let refused = init(dir.path(), "C", &args);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
        assert!(!dir.path().join("etc/taojin.toml").exists());
    }
}

/// A server that gives everybody this robots.txt.
fn robots_server(rules: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{rules}",
                rules.len()
            );
        }
    });
    port
}

#[test]
fn check_online_says_what_answers_and_what_does_not() {
    let (open, closed) = (
        robots_server("User-agent: *\nAllow: /\n"),
        robots_server("User-agent: *\nDisallow: /\n"),
    );
    let free = TcpListener::bind("127.0.0.1:0")
        .and_then(|l| l.local_addr())
        .expect("a port")
        .port();
    let seed = |host: &str, port: u16| format!("seeds = [\"http://{host}:{port}/\"]\n");
    let allowed = "[fetch]\nallow_addresses = [\"127.0.0.0/8\", \"::1\"]\n";
    let (opened, refusing) = (seed("127.0.0.1", open), seed("127.0.0.1", closed));
    let place = Place::new(
        allowed,
        &[("open.toml", &opened), ("refusing.toml", &refusing)],
    );
    let fine = place.run(&["check", "--online"]);
    let said = text(&fine);
    assert_eq!(fine.status.code(), Some(0), "a warning is no error: {said}");
    assert!(
        said.contains("robots         open: lets us fetch"),
        "{said}"
    );
    assert!(
        said.contains("refusing: warning: its robots.txt does not let taojin fetch"),
        "{said}"
    );
    assert!(
        !text(&place.run(&["check"])).contains("robots  "),
        "nothing is asked without --online"
    );

    let gone = seed("127.0.0.1", free);
    let place = Place::new(
        allowed,
        &[
            ("gone.toml", &gone),
            ("nowhere.toml", "seeds = [\"http://nowhere.invalid/\"]\n"),
        ],
    );
    let failed = place.run(&["check", "--online", "--json"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 2, "one line for each: {said}");
    assert!(said.contains("dns            nowhere.invalid: "), "{said}");
    assert!(
        said.contains("/etc/resolv.conf") && said.contains("fetch.proxy"),
        "{said}"
    );
    let answer: Value = serde_json::from_str(&text(&failed)).expect("JSON");
    assert_eq!(answer["online"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["online"][0]["level"], "error");

    let proxy = format!("[fetch]\nproxy = \"http://127.0.0.1:{free}\"\n");
    let place = Place::new(&proxy, &[("open.toml", &opened)]);
    let said = String::from_utf8_lossy(&place.run(&["check", "--online"]).stderr).into_owned();
    assert!(
        said.contains("proxy") && said.contains("is fetch.proxy right?"),
        "{said}"
    );
    assert_eq!(
        said.lines().count(),
        1,
        "nothing is asked through a proxy that is not there: {said}"
    );
}
