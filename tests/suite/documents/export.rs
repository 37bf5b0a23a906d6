//! `taojin export`, run as a program: whole files, only what is new, and a mark that is never ahead.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::support::folder::{Folder, Process, assert_has, imported, text};

const OUT: [&str; 3] = ["export", "-o", "out"];
const NEW: [&str; 5] = ["export", "-o", "out", "--since-watermark", "mark"];

fn url(at: u32) -> String {
    format!("https://a.example/{at}")
}

fn import(folder: &Folder, texts: &[(u32, &str)]) {
    let document = |(at, text): &(u32, &str)| imported(&url(*at), &format!("第{at}篇"), text);
    folder.import(texts.iter().map(document));
}

fn folder_of(texts: &[(u32, &str)]) -> Folder {
    let folder = Folder::new("", &[]);
    import(&folder, texts);
    folder
}

/// Addresses in a file of documents, and a field beside each.
fn lines(folder: &Folder, name: &str, field: &str) -> Vec<(String, String)> {
    let file = folder.read(name);
    let values = file.lines().map(|line| {
        let value: Value = serde_json::from_str(line).expect("one object a line");
        (text(&value["url"]), text(&value[field]))
    });
    let mut found: Vec<_> = values.collect();
    found.sort();
    found
}

fn urls(folder: &Folder) -> Vec<String> {
    let found = lines(folder, "out", "url");
    found.into_iter().map(|(url, _)| url).collect()
}

/// Exports what is new and gives the addresses.
fn fresh(folder: &Folder, more: &[&str]) -> Vec<String> {
    folder.done(&[&NEW, more].concat());
    urls(folder)
}

#[test]
fn export_watermark_continues() {
    let folder = folder_of(&[(1, "页岩油产量上升"), (2, "天然气价格"), (3, "页岩油价格")]);
    assert_eq!(fresh(&folder, &[]), [url(1), url(2), url(3)]);
    assert_eq!(fresh(&folder, &[]), [""; 0]);
    import(&folder, &[(2, "天然气价格下调"), (4, "液化天然气")]);
    assert_eq!(fresh(&folder, &[]), [url(2), url(4)]);

    // Another export must not go on from this mark, and leaves both files as they are.
    let before = folder.read("mark");
    let said = folder.refused(&[&NEW[..], &["--query", "页岩油"]].concat());
    assert_has(&said, &["mark: belongs to an export of all documents"]);
    assert_eq!(folder.read("mark"), before);
    assert_eq!(urls(&folder), [url(2), url(4)]);
}

#[test]
fn export_query_equals_search() {
    let folder = folder_of(&[(1, "页岩油产量上升"), (2, "天然气价格"), (3, "页岩油价格")]);
    folder.done(&[&OUT[..], &["--query", "\"页岩油\" -价格"]].concat());
    assert_eq!(urls(&folder), [url(1)]);
}

#[test]
fn export_failure_keeps_mark() {
    let folder = folder_of(&[(1, "页岩油产量上升")]);
    let nowhere = ["export", "-o", "no/such/out", "--since-watermark", "mark"];
    folder.run(&nowhere).failed(1);
    assert!(!folder.file("mark").exists());
    folder
        .run(&[&OUT[..], &["--since", "yesterday"]].concat())
        .failed(2);
    assert!(!folder.file("out").exists());
}

#[test]
fn search_follow_prints_new_hits() {
    let folder = folder_of(&[(1, "页岩油产量上升"), (2, "天然气价格")]);
    let mut command = folder.taojin(&["search", "页岩油", "--follow", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut search = Process::of(&mut command);
    let mut said = String::new();
    let mut stderr = BufReader::new(search.0.stderr.take().expect("a pipe"));
    stderr.read_line(&mut said).expect("a line");
    assert_has(&said, &["waiting for new hits"]);
    import(
        &folder,
        &[
            (1, "页岩油产量上升，再次更新"),
            (3, "天然气产量"),
            (4, "页岩油价格"),
        ],
    );
    let lines = BufReader::new(search.0.stdout.take().expect("a pipe")).lines();
    let found = lines.take(2).map(|line| {
        let hit: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        text(&hit["url"])
    });
    assert_eq!(found.collect::<Vec<_>>(), [url(1), url(4)]);
}

#[test]
fn export_deleted_lists_departures() {
    let folder = folder_of(&[(1, "页岩油产量上升"), (2, "页岩油价格"), (3, "天然气价格")]);
    let gone = || {
        let found = fresh(&folder, &["--query", "\"页岩油\"", "--deleted", "gone"]);
        (found, lines(&folder, "gone", "why"))
    };
    assert_eq!(gone(), (vec![url(1), url(2)], vec![]));
    import(&folder, &[(1, "煤层气产量上升"), (3, "页岩油勘探")]);
    let left = vec![(url(1), "changed".to_owned())];
    assert_eq!(gone(), (vec![url(3)], left));
    assert_eq!(gone(), (vec![], vec![]));
    // The file goes with a mark, and a mark of an export without it cannot be gone on from.
    folder.run(&["export", "--deleted", "gone"]).failed(2);
    let without = [&NEW[..], &["--query", "\"页岩油\""]].concat();
    folder.run(&without).failed(2);
}
