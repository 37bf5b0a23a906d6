//! Copies of the store: made while a crawl writes, restored over a newer store, and never half a file.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use taojin_demo::trial::TrialPlan;

use crate::crawl::named_fields::{name_state, templates, wells};
use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::{Folder, RunExt as _, assert_has};
use crate::support::say;
use crate::support::trial::{SITE, Trial};

const ONE: &str = "http://a.example/1";
const TWO: &str = "http://a.example/2";
const THREE: &str = "http://a.example/3";

#[test]
fn restore_keeps_backup_and_continues() {
    let folder = Folder::new("", &[]);
    let file = "copy.sqlite";
    folder.import_texts(&[(ONE, "页岩气产量创新高")]);
    let said = folder.done(&["backup", file]);
    assert!(said.contains("1 documents and 0 addresses"), "{said}");
    let line = folder.refused(&["backup", file]);
    assert_has(&line, &["--replace"]);
    folder.import_texts(&[(TWO, "储气库注气")]);

    let line = folder.refused(&["restore", file]);
    assert_has(&line, &["has a store already", "--replace"]);
    assert_eq!(folder.hits("\"储气库\""), [TWO]);
    folder.done(&["restore", "--replace", file]);
    assert!(folder.file("data/crawl.sqlite.replaced").exists());
    folder.import_texts(&[(THREE, "煤层气勘探")]);
    assert_eq!(folder.hits("\"页岩气\""), [ONE]);
    assert_eq!(folder.hits("\"煤层气\""), [THREE]);
    assert!(
        folder.hits("\"储气库\"").is_empty(),
        "it came after the copy"
    );

    // What was replaced can be put back.
    let replaced = "data/crawl.sqlite.replaced";
    let other = "other";
    folder.done(&["--data-dir", other, "restore", replaced]);
    let answer = folder.done(&["--data-dir", other, "reindex", "--json"]);
    assert_eq!(answer.trim(), r#"{"documents":2}"#);
}

#[test]
fn backup_without_store_is_refused() {
    let folder = Folder::new("", &[]);
    for args in [&["backup", "copy.sqlite"][..], &["reindex"]] {
        let line = folder.refused(args);
        assert!(line.contains("run `taojin crawl`"), "{args:?}: {line}");
    }
    let line = folder.refused(&["restore", "no-such-copy.sqlite"]);
    assert_has(&line, &["name a file that `taojin backup` wrote"]);
    assert!(!folder.data_dir().exists());
}

#[test]
fn backup_includes_term_decisions() {
    let folder = Folder::new("", &[]);
    folder.import_texts(&[(ONE, "页岩气产量创新高")]);
    folder.done(&["terms", "reject", "产量创"]);
    let file = "copy.sqlite";
    folder.done(&["backup", file]);
    let other = "other";
    folder.done(&["--data-dir", other, "restore", file]);
    let list = |dir: &[&str]| {
        let args = [dir, &["terms", "list", "--rejected", "--json"]].concat();
        folder.done(&args)
    };
    let kept = list(&["--data-dir", other]);
    assert!(kept.contains("产量创"), "{kept}");
    assert_eq!(kept, list(&[]));
}

/// What may be in a data folder, by its name: what a person decided is restored, all else is made again.
const DECIDED: [&str; 3] = ["crawl.sqlite", "terms.sqlite", "terms.txt"];
const MADE_AGAIN: [&str; 8] = [
    "alike.forms",
    "in_flight",
    "index",
    "log",
    "robots.json",
    "seen.filter",
    "taojin.lock",
    "control.sock",
];

#[test]
fn restore_keeps_every_decision() {
    let folder = wells("");
    let [id] = &templates(&folder)[..] else {
        panic!("one template")
    };
    name_state(&folder, id, "12");
    folder.done(&["terms", "reject", "钻井队"]);
    folder.done(&["terms", "accept", "岩心箱", "化验室"]);
    let taken_down = format!("http://a.test:{}/7.html", folder.port);
    folder.done(&["purge", "--yes", &taken_down]);
    folder.done(&["pause", "a"]);
    folder.done(&["backup", "copy.sqlite"]);
    let other = "other";
    folder.done(&["--data-dir", other, "restore", "copy.sqlite"]);
    folder.done(&["--data-dir", other, "reindex"]);

    let restored = folder.file(other);
    for entry in fs::read_dir(folder.data_dir()).expect("a data folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let of = |known: &&str| name.trim_end_matches("-wal").trim_end_matches("-shm") == *known;
        assert!(
            DECIDED.iter().chain(&MADE_AGAIN).any(of),
            "{name}: does a backup have to carry it? Then restore it; else add it to MADE_AGAIN"
        );
        let is_decided = DECIDED.contains(&&*name);
        assert!(
            !is_decided || restored.join(&*name).exists(),
            "{name} is not restored"
        );
    }
    let accepted =
        |dir: &std::path::Path| fs::read_to_string(dir.join("terms.txt")).expect("terms");
    assert_eq!(accepted(&restored), accepted(&folder.data_dir()));
    for asked in [
        &["terms", "export"][..],
        &["terms", "list", "--rejected", "--json"],
        &["terms", "list", "--json"],
        &["templates", "export"],
        &["why", "--json", &taken_down],
        &["why", "--json", "a"],
    ] {
        // The keys of an object have no order.
        let of = |dir: &[&str]| -> Vec<serde_json::Value> {
            let said = folder.done(&[dir, asked].concat());
            let value = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| line.into());
            said.lines().map(value).collect()
        };
        assert_eq!(of(&["--data-dir", other]), of(&[]), "{asked:?}");
    }
}

#[test]
fn restore_refuses_store_in_use() {
    let folder = Folder::new(LISTEN, &[]);
    folder.import_texts(&[(ONE, "页岩气产量创新高")]);
    let daemon = Daemon::start(&folder);
    let file = "copy.sqlite";
    folder.done(&["backup", file]);
    let line = folder.refused(&["restore", "--replace", file]);
    let id = daemon.process.id();
    assert_has(&line, &["in use by another taojin", &id]);
    drop(daemon);
    folder.done(&["restore", "--replace", file]);
    assert_eq!(folder.hits("\"页岩气\""), [ONE]);
}

#[test]
fn backup_leaves_no_half_copy() {
    let folder = Folder::new("", &[]);
    let text = "川南页岩气水平井产量创新高。".repeat(400);
    folder.import_texts(&[(ONE, &text)]);
    // No file may be longer than 64 KiB: the disk of the copy is full.
    fs::create_dir(folder.file("copies")).expect("a folder");
    let script =
        "trap '' XFSZ; ulimit -f 128; exec \"$0\" --config taojin.toml backup copies/copy.sqlite";
    let full = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_taojin")])
        .current_dir(folder.path())
        .ran();
    assert_ne!(full.code, Some(0));
    assert_has(&full.err, &["copy.sqlite"]);
    let mut left = fs::read_dir(folder.file("copies")).expect("a folder");
    assert!(left.next().is_none());

    let file = folder.file("copies/copy.sqlite");
    folder.done(&["backup", "copies/copy.sqlite"]);
    let whole = fs::read(&file).expect("the copy");
    let mut damaged = whole.clone();
    // A page of a table that is counted.
    let last = damaged.len() - 8192;
    damaged[last..last + 64].fill(0xff);
    for (bytes, what) in [
        (&whole[..whole.len() / 2], "cut off"),
        (&damaged[..], "damaged"),
        (b"#!/bin/sh\n", "no copy"),
        (b"", "empty"),
    ] {
        fs::write(&file, bytes).expect("a file");
        let line = folder.refused(&["--data-dir", "other", "restore", "copies/copy.sqlite"]);
        assert_has(&line, &["copy.sqlite is not a whole copy"]);
        assert!(!folder.file("other/crawl.sqlite").exists(), "{what}");
    }
}

#[test]
fn backup_during_crawl_is_consistent() {
    let plan = TrialPlan {
        seed: 5,
        hosts: 4,
        articles: 60,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 20\nmax_delay_ms = 20\njitter = 0.0\n";
    let trial = Trial::new(plan, frontier, "");
    let mut crawl = trial.taojin(&["crawl"]).started();
    let mut made: Vec<(String, u64)> = Vec::new();
    while crawl.ended().is_none() {
        let file = format!("{}.sqlite", made.len());
        let ran = trial.run(&["backup", "--json", &file]);
        if ran.code == Some(0) {
            let documents = ran.json()["documents"].as_u64();
            made.push((file, documents.expect("a number")));
        }
        thread::sleep(Duration::from_millis(150));
    }
    let during = made.iter().filter(|(_, n)| (1..240).contains(n)).count();
    assert!(during >= 3, "{made:?}");
    // Each is whole; the crawl goes on from one of the middle as if nothing had been.
    for (n, (file, documents)) in made.iter().enumerate() {
        let dir = format!("data{n}");
        let on = |args: &[&str]| trial.run(&[&["--data-dir", &dir], args].concat()).good();
        on(&["restore", file]);
        let indexed = on(&["reindex", "--json"]).json();
        assert_eq!(indexed["documents"], *documents);
        if n == made.len() / 2 {
            on(&["crawl", "--site", SITE]);
            let all = on(&["reindex", "--json"]).json();
            assert!(all["documents"].as_u64() >= Some(240), "{all}");
        }
    }
}

#[test]
fn restore_damaged_keeps_readable_rows() {
    let plan = TrialPlan {
        seed: 6,
        hosts: 4,
        articles: 60,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 1\nmax_delay_ms = 1\njitter = 0.0\n";
    let trial = Trial::new(plan, frontier, "");
    let site = ["crawl", "--site", SITE];
    trial.done(&site);
    let store = trial.data_dir().join("crawl.sqlite");
    let name = store.to_str().expect("a name");
    let whole = fs::read(&store).expect("the store");
    let mut headless = whole.clone();
    headless[100..8192].fill(0);
    fs::write(&store, headless).expect("a damaged store");
    let said = trial.run(&["restore", "--replace", "--damaged", name]);
    assert_has(&said.failed(2).err, &["restore a backup"]);
    // The first pages say which tables there are: without them nothing can be read.
    for (start, step) in [(60, 7), (61, 4), (62, 3)] {
        let mut damaged = whole.clone();
        for page in (start..damaged.len() / 8192).step_by(step) {
            damaged[page * 8192..page * 8192 + 4096].fill(0xa5);
        }
        fs::write(&store, damaged).expect("a damaged store");
        trial.run(&["restore", "--replace", name]).failed(2);
        let facts = trial.json(&["restore", "--replace", "--damaged", "--json", name]);
        assert!(facts["gaps"].as_u64() > Some(0), "{facts}");
        trial.done(&site);
        let missing = trial.missing(&trial.indexed());
        assert!(missing.is_empty(), "{facts}: {missing:?}");
        let before = facts["documents"].as_u64();
        say(&format!("of 240 documents {before:?} were kept"));
    }
}
