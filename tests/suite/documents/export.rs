//! `taojin export`, run as a program: whole files, only what is new, and a mark that is never ahead.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        fs::create_dir(dir.path().join("sites.d")).expect("sites.d");
        let data = dir.path().join("data");
        fs::write(
            dir.path().join("taojin.toml"),
            format!("data_dir = {data:?}\n"),
        )
        .expect("taojin.toml");
        Self(dir)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taojin"))
            .arg("--config")
            .arg(self.path("taojin.toml"))
            .args(args)
            .current_dir(self.0.path())
            .output()
            .expect("taojin runs")
    }

    fn import(&self, lines: &[(u32, &str)]) {
        let text: String = lines
            .iter()
            .map(|(at, text)| {
                let line = serde_json::json!({
                    "url": format!("https://a.example/{at}"), "title": format!("第{at}篇"), "text": text,
                    "published": "2026-05-01",
                });
                format!("{line}\n")
            })
            .collect();
        fs::write(self.path("in.jsonl"), text).expect("in.jsonl");
        let output = self.run(&["import", "in.jsonl"]);
        assert!(output.status.success(), "{output:?}");
    }

    /// Exports what is new to a file and gives the addresses in it.
    fn fresh(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["export", "--output", "out", "--since-watermark", "mark"];
        all.extend(args);
        let output = self.run(&all);
        assert!(output.status.success(), "{output:?}");
        urls(&self.path("out"))
    }
}

fn urls(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the export");
    let mut urls: Vec<String> = text
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("one object a line");
            value["url"].as_str().expect("url").to_owned()
        })
        .collect();
    urls.sort();
    urls
}

#[test]
fn each_export_holds_what_is_new() {
    let place = Place::new();
    place.import(&[(1, "页岩油产量上升"), (2, "天然气价格"), (3, "页岩油价格")]);
    let url = |at: u32| format!("https://a.example/{at}");
    assert_eq!(place.fresh(&[]), [url(1), url(2), url(3)]);
    assert_eq!(place.fresh(&[]), [""; 0]);
    place.import(&[(2, "天然气价格下调"), (4, "液化天然气")]);
    assert_eq!(place.fresh(&[]), [url(2), url(4)]);

    // Another export must not go on from this mark, and leaves both files as they are.
    let before = fs::read(place.path("mark")).expect("mark");
    let args = [
        "export",
        "--output",
        "out",
        "--since-watermark",
        "mark",
        "--query",
        "页岩油",
    ];
    let refused = place.run(&args);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("mark: belongs to an export of all documents"),
        "{said}"
    );
    assert_eq!(fs::read(place.path("mark")).expect("mark"), before);
    assert_eq!(urls(&place.path("out")), [url(2), url(4)]);
}

#[test]
fn an_export_of_a_query_is_what_search_finds() {
    let place = Place::new();
    place.import(&[(1, "页岩油产量上升"), (2, "天然气价格"), (3, "页岩油价格")]);
    let output = place.run(&["export", "--query", "\"页岩油\" -价格", "-o", "out"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(urls(&place.path("out")), ["https://a.example/1"]);
    // What was exported can be imported again.
    let again = Place::new();
    fs::copy(place.path("out"), again.path("in.jsonl")).expect("copied");
    assert!(again.run(&["import", "in.jsonl"]).status.success());
    let found = again.run(&["search", "页岩油", "--json"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("\"total\":1"));
}

#[test]
fn a_failed_export_leaves_no_file_and_moves_no_mark() {
    let place = Place::new();
    place.import(&[(1, "页岩油产量上升")]);
    let nowhere = place.run(&["export", "-o", "no/such/out", "--since-watermark", "mark"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(!place.path("mark").exists());
    let date = place.run(&["export", "-o", "out", "--since", "yesterday"]);
    assert_eq!(date.status.code(), Some(2));
    assert!(!place.path("out").exists());
}

#[test]
fn a_followed_search_prints_what_comes_and_nothing_else() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let place = Place::new();
    place.import(&[(1, "页岩油产量上升"), (2, "天然气价格")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_taojin"))
        .arg("--config")
        .arg(place.path("taojin.toml"))
        .args(["search", "页岩油", "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("taojin starts");
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    stderr.read_line(&mut said).expect("a line");
    assert!(said.contains("waiting for new hits"), "{said}");
    place.import(&[
        (1, "页岩油产量上升，再次更新"),
        (3, "天然气产量"),
        (4, "页岩油价格"),
    ]);
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let urls: Vec<String> = lines
        .take(2)
        .map(|line| {
            let hit: serde_json::Value =
                serde_json::from_str(&line.expect("a line")).expect("JSON");
            hit["url"].as_str().expect("url").to_owned()
        })
        .collect();
    child.kill().expect("killed");
    child.wait().expect("its end");
    assert_eq!(urls, ["https://a.example/1", "https://a.example/4"]);
}

#[test]
fn a_copy_of_a_query_is_told_what_does_not_fit_any_more() {
    let place = Place::new();
    place.import(&[(1, "页岩油产量上升"), (2, "页岩油价格"), (3, "天然气价格")]);
    let gone = |place: &Place| {
        let args = ["--query", "\"页岩油\"", "--deleted", "gone"];
        let fresh = place.fresh(&args);
        let text = fs::read_to_string(place.path("gone")).expect("gone");
        let line = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            (
                value["url"].as_str().expect("url").to_owned(),
                value["why"].as_str().expect("why").to_owned(),
            )
        };
        (fresh, text.lines().map(line).collect::<Vec<_>>())
    };
    let url = |at: u32| format!("https://a.example/{at}");
    assert_eq!(gone(&place), (vec![url(1), url(2)], Vec::new()));
    place.import(&[(1, "煤层气产量上升"), (3, "页岩油勘探")]);
    let left = vec![(url(1), "changed".to_owned())];
    assert_eq!(gone(&place), (vec![url(3)], left));
    assert_eq!(gone(&place), (Vec::new(), Vec::new()));
    // The file goes with a mark, and a mark of an export without it cannot be gone on from.
    let alone = place.run(&["export", "--deleted", "gone"]);
    assert_eq!(alone.status.code(), Some(2));
    let mixed = place.run(&[
        "export",
        "-o",
        "out",
        "--since-watermark",
        "mark",
        "--query",
        "\"页岩油\"",
    ]);
    assert_eq!(mixed.status.code(), Some(2), "{mixed:?}");
}
