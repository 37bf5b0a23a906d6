//! Copies of the store: made while a crawl writes, restored over a newer store, and never half a file.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use taojin_demo::trial::TrialPlan;

use crate::cli::Place;
use crate::documents::document_log::{hits, import};
use crate::support::trial::Trial;

const ONE: &str = "http://a.example/1";
const TWO: &str = "http://a.example/2";
const THREE: &str = "http://a.example/3";

/// Longest wait for anything: far above what it takes, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn done(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    let name = |e: std::io::Result<fs::DirEntry>| e.expect("an entry").file_name();
    let mut names: Vec<String> = entries
        .map(|e| name(e).to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_restored_store_has_what_the_copy_had_and_takes_up_what_comes_next() {
    let place = Place::new("", &[]);
    let file = place.path().join("copy.sqlite");
    let file = file.to_str().expect("a name");
    import(&place, &[(ONE, "页岩气产量创新高")]);
    let said = done(&place, &["backup", file]);
    assert!(said.contains("1 documents and 0 addresses"), "{said}");
    let line = place.refused(&["backup", file]);
    assert!(line.contains("--replace"), "{line}");
    import(&place, &[(TWO, "储气库注气")]);

    let line = place.refused(&["restore", file]);
    assert!(
        line.contains("has a store already") && line.contains("--replace"),
        "{line}"
    );
    assert_eq!(hits(&place, "\"储气库\""), [TWO]);
    done(&place, &["restore", "--replace", file]);
    let data = names_in(&place.path().join("data"));
    assert!(
        data.contains(&"crawl.sqlite.replaced".to_owned()),
        "{data:?}"
    );
    import(&place, &[(THREE, "煤层气勘探")]);
    assert_eq!(hits(&place, "\"页岩气\""), [ONE]);
    assert_eq!(hits(&place, "\"煤层气\""), [THREE]);
    assert!(
        hits(&place, "\"储气库\"").is_empty(),
        "it came after the copy"
    );

    // What was replaced can be put back.
    let replaced = place.path().join("data/crawl.sqlite.replaced");
    let replaced = replaced.to_str().expect("a name");
    let other = place.path().join("other");
    let other = other.to_str().expect("a name");
    done(&place, &["--data-dir", other, "restore", replaced]);
    let answer = done(&place, &["--data-dir", other, "reindex", "--json"]);
    assert_eq!(answer.trim(), r#"{"documents":2}"#);
}

#[test]
fn where_there_is_nothing_yet_each_command_says_so_and_makes_nothing() {
    let place = Place::new("", &[]);
    for args in [&["backup", "copy.sqlite"][..], &["reindex"]] {
        let line = place.refused(args);
        assert!(line.contains("run `taojin crawl`"), "{args:?}: {line}");
    }
    let line = place.refused(&["restore", "no-such-copy.sqlite"]);
    assert!(
        line.contains("name a file that `taojin backup` wrote"),
        "{line}"
    );
    assert!(!place.path().join("data").exists());
}

#[test]
fn what_people_decided_about_terms_is_in_the_copy() {
    let place = Place::new("", &[]);
    import(&place, &[(ONE, "页岩气产量创新高")]);
    done(&place, &["terms", "reject", "产量创"]);
    let file = place.path().join("copy.sqlite");
    let file = file.to_str().expect("a name");
    done(&place, &["backup", file]);
    let other = place.path().join("other");
    let other = other.to_str().expect("a name");
    done(&place, &["--data-dir", other, "restore", file]);
    let list = |dir: &[&str]| {
        let args = [dir, &["terms", "list", "--rejected", "--json"]].concat();
        done(&place, &args)
    };
    let kept = list(&["--data-dir", other]);
    assert!(kept.contains("产量创"), "{kept}");
    assert_eq!(kept, list(&[]));
}

#[test]
fn a_store_in_use_is_copied_and_never_replaced() {
    let place = Place::new("[serve]\nlisten = \"127.0.0.1:0\"\n", &[]);
    import(&place, &[(ONE, "页岩气产量创新高")]);
    let run = place.command(&["run"]).stderr(Stdio::null()).spawn();
    let daemon = Killed(run.expect("taojin runs"));
    let socket = place.path().join("data/control.sock");
    let until = Instant::now() + PATIENCE;
    while !socket.exists() {
        assert!(Instant::now() < until, "no daemon");
        std::thread::sleep(Duration::from_millis(20));
    }
    let file = place.path().join("copy.sqlite");
    let file = file.to_str().expect("a name");
    done(&place, &["backup", file]);
    let line = place.refused(&["restore", "--replace", file]);
    let id = daemon.0.id().to_string();
    assert!(
        line.contains("in use by another taojin") && line.contains(&id),
        "{line}"
    );
    drop(daemon);
    done(&place, &["restore", "--replace", file]);
    assert_eq!(hits(&place, "\"页岩气\""), [ONE]);
}

#[test]
fn no_half_copy_has_the_name_of_a_copy() {
    let place = Place::new("", &[]);
    let text = "川南页岩气水平井产量创新高。".repeat(400);
    import(&place, &[(ONE, &text)]);
    // No file may be longer than 64 KiB: the disk of the copy is full.
    let config = place.path().join("taojin.toml");
    let copies = place.path().join("copies");
    fs::create_dir(&copies).expect("a folder");
    let script =
        "trap '' XFSZ; ulimit -f 128; exec \"$0\" --config \"$1\" backup \"$2/copy.sqlite\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_taojin")])
        .args([&config, &copies])
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("copy.sqlite"),
        "{said}"
    );
    assert!(names_in(&copies).is_empty(), "{:?}", names_in(&copies));

    let file = copies.join("copy.sqlite");
    done(&place, &["backup", file.to_str().expect("a name")]);
    let whole = fs::read(&file).expect("the copy");
    let mut damaged = whole.clone();
    // A page of a table that is counted.
    let last = damaged.len() - 4096;
    damaged[last..last + 64].fill(0xff);
    for (bytes, what) in [
        (&whole[..whole.len() / 2], "cut off"),
        (&damaged[..], "damaged"),
        (b"#!/bin/sh\n", "no copy"),
        (b"", "empty"),
    ] {
        fs::write(&file, bytes).expect("a file");
        let other = place.path().join("other");
        let args = ["--data-dir", other.to_str().expect("a name"), "restore"];
        let line = place.refused(&[&args[..], &[file.to_str().expect("a name")]].concat());
        assert!(
            line.contains("copy.sqlite is not a whole copy"),
            "{what}: {line}"
        );
        assert!(!other.join("crawl.sqlite").exists(), "{what}");
    }
}

#[test]
fn copies_made_during_a_crawl_are_each_the_store_of_one_moment() {
    let plan = TrialPlan {
        seed: 5,
        hosts: 4,
        articles: 60,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 20\nmax_delay_ms = 20\njitter = 0.0\n";
    let trial = Trial::new(plan, frontier, "");
    let crawl = trial
        .taojin(&["crawl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut crawl = Killed(crawl.expect("taojin starts"));
    let copies = tempfile::tempdir().expect("a folder");
    let mut made: Vec<(String, u64)> = Vec::new();
    while crawl.0.try_wait().expect("its state").is_none() {
        let file = copies.path().join(format!("{}.sqlite", made.len()));
        let file = file.to_str().expect("a name").to_owned();
        let output = trial.taojin(&["backup", "--json", &file]).output();
        let output = output.expect("taojin runs");
        if output.status.success() {
            let facts: Value = serde_json::from_slice(&output.stdout).expect("one object");
            made.push((file, facts["documents"].as_u64().expect("a number")));
        }
        std::thread::sleep(Duration::from_millis(150));
    }
    let during = made.iter().filter(|(_, n)| (1..240).contains(n)).count();
    assert!(during >= 3, "{made:?}");
    // Each is whole; the crawl goes on from one of the middle as if nothing had been.
    for (n, (file, documents)) in made.iter().enumerate() {
        let dir = copies.path().join(format!("data{n}"));
        let dir = dir.to_str().expect("a name");
        let on = |args: &[&str]| {
            let output = trial
                .taojin(&[&["--data-dir", dir], args].concat())
                .output();
            let output = output.expect("taojin runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        on(&["restore", file]);
        let expected = format!("{{\"documents\":{documents}}}");
        assert_eq!(on(&["reindex", "--json"]).trim(), expected);
        if n == made.len() / 2 {
            on(&["crawl", "--site", crate::support::trial::SITE]);
            let all = on(&["reindex", "--json"]);
            let all: Value = serde_json::from_str(&all).expect("one object");
            assert!(all["documents"].as_u64() >= Some(240), "{all}");
        }
    }
}

#[test]
fn what_can_be_read_of_a_damaged_store_is_kept_and_the_rest_is_crawled_again() {
    let plan = TrialPlan {
        seed: 6,
        hosts: 4,
        articles: 60,
        ..TrialPlan::default()
    };
    let frontier = "min_delay_ms = 1\nmax_delay_ms = 1\njitter = 0.0\n";
    let trial = Trial::new(plan, frontier, "");
    let run = |args: &[&str]| {
        let output = trial.taojin(args).output().expect("taojin runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    };
    let site = ["crawl", "--site", crate::support::trial::SITE, "--json"];
    let (output, said) = run(&site);
    assert!(output.status.success(), "{said}");
    let store = trial.data_dir().join("crawl.sqlite");
    let name = store.to_str().expect("a name");
    let whole = fs::read(&store).expect("the store");
    let mut headless = whole.clone();
    headless[100..4096].fill(0);
    fs::write(&store, headless).expect("a damaged store");
    let (output, said) = run(&["restore", "--replace", "--damaged", name]);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("restore a backup"), "{said}");
    // The first pages say which tables there are: without them nothing can be read.
    for (start, step) in [(60, 7), (61, 4), (62, 3)] {
        let mut damaged = whole.clone();
        for page in (start..damaged.len() / 4096).step_by(step) {
            damaged[page * 4096..page * 4096 + 2048].fill(0xa5);
        }
        fs::write(&store, damaged).expect("a damaged store");
        let (output, said) = run(&["restore", "--replace", name]);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let args = ["restore", "--replace", "--damaged", "--json", name];
        let (output, said) = run(&args);
        assert!(output.status.success(), "{said}");
        let facts: Value = serde_json::from_slice(&output.stdout).expect("one object");
        assert!(facts["gaps"].as_u64() > Some(0), "{facts}");
        let (output, said) = run(&site);
        assert!(output.status.success(), "{said}");
        let indexed = trial.indexed();
        let articles = trial.articles();
        let missing = articles.iter().filter(|url| !indexed.contains_key(*url));
        assert_eq!(missing.count(), 0, "{facts}");
        assert!(indexed.values().all(|n| *n == 1), "{indexed:?}");
        let before = facts["documents"].as_u64();
        crate::support::say(&format!("of 240 documents {before:?} were kept"));
    }
}
