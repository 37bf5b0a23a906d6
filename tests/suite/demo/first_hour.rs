//! The first hour of somebody new: the commands of README.md, word for word, in a folder that looks like a clone, with the
//! shipped configuration and its politeness, against a site of one host that a plain file server serves.
//!
//! Two things differ from README: the address of the site, and `fetch.allow_addresses`, without which no loopback
//! address is fetched.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::ROOT;
use crate::support::clone::{CloneFolder, serve_files, subjects, write_site};
use crate::support::folder::RunExt as _;
use crate::support::http::{free_port, get};
use crate::support::wait_until;

/// The address that README uses.
const README_SITE: &str = "https://news.example.com/";

/// The commands of a section of README.md, as they stand there.
fn readme_commands(section: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README.md");
    let heading = format!("## {section}\n");
    let (_, from) = text.split_once(&heading).expect("the section is there");
    let body = from.split("\n## ").next().unwrap_or(from);
    let commands = body.lines().filter_map(|l| l.strip_prefix("$ "));
    commands.map(str::to_owned).collect()
}

#[test]
fn readme_first_site() {
    let site = tempfile::tempdir().expect("temporary directory");
    write_site(site.path(), &subjects());
    let port = serve_files(site.path());
    let clone = CloneFolder::new();
    let commands = readme_commands("Your first site");
    let has = |end: &str| commands.iter().any(|c| c.contains(end));
    assert!(has("site add") && has("crawl"), "{commands:?}");
    let script = commands
        .join("\n")
        .replace(README_SITE, &format!("http://127.0.0.1:{port}/"))
        .replace("news.example.com", &format!("127.0.0.1:{port}"));
    let begun = Instant::now();
    let done = clone.shell(&script);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(120), "{took:?}: {done:?}");
    let all = clone.taojin("search 改造 --limit 100 --json").json();
    assert_eq!(all["total"], 30, "{done:?}");
    for subject in subjects() {
        let found = clone.taojin(&format!("search {subject} --json")).json();
        let title = format!("{subject}本月完成改造");
        assert_eq!(found["hits"][0]["title"], title);
    }
}

#[test]
fn second_site_after_reload() {
    let clone = CloneFolder::new();
    let port = free_port();
    let config = clone.path().join("config/taojin.toml");
    let text = fs::read_to_string(&config).expect("taojin.toml");
    let ours = text.replace("127.0.0.1:8080\"", &format!("127.0.0.1:{port}\""));
    fs::write(&config, ours).expect("taojin.toml");
    let folders = [0, 10].map(|from| {
        let folder = tempfile::tempdir().expect("temporary directory");
        write_site(folder.path(), &subjects()[from..from + 10]);
        folder
    });
    let add = |folder: &tempfile::TempDir| {
        let site = serve_files(folder.path());
        clone.taojin(&format!("site add http://127.0.0.1:{site}/"));
    };
    let found = |total: u64| {
        wait_until(&format!("{total} articles are found"), || {
            let answer = get(port, "/api/search?q=%E6%94%B9%E9%80%A0");
            answer.is_some_and(|(_, body)| body.starts_with(&format!("{{\"total\":{total},")))
        });
    };
    add(&folders[0]);
    let mut command = Command::new(clone.path().join("target/release/taojin"));
    command.args(["--data-dir", "data", "run"]);
    let daemon = command.current_dir(clone.path()).started();
    found(10);
    add(&folders[1]);
    daemon.signal("-HUP");
    found(20);
}
