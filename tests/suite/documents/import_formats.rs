//! What `taojin export` writes, `taojin import` reads again: plain, compressed, from a file and from standard input.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Lines of the export; enough that a compressed stream has several blocks.
const DOCUMENTS: usize = 300;

fn taojin(dir: &Path, data: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    command
        .args(["--data-dir", data])
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null());
    command
}

fn run(dir: &Path, data: &str, args: &[&str]) -> Output {
    taojin(dir, data, args).output().expect("taojin runs")
}

fn good(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

fn filled() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let lines: String = (0..DOCUMENTS)
        .map(|at| {
            let text = format!("页岩油产量上升第{at}次，{}。", "储气库注气".repeat(at % 17));
            let document = serde_json::json!({
                "url": format!("https://a.example/{at}"), "title": format!("第{at}篇"), "text": text,
                "published": "2026-05-01", "author": "李四",
            });
            format!("{document}\n")
        })
        .collect();
    fs::write(dir.path().join("in.jsonl"), lines).expect("written");
    good(&run(dir.path(), "data", &["import", "in.jsonl"]));
    dir
}

/// The documents of a data folder in the order of their addresses.
fn exported(dir: &Path, data: &str) -> Vec<String> {
    let output = run(dir, data, &["export"]);
    good(&output);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut document: serde_json::Value =
                serde_json::from_str(line).expect("one object a line");
            // When it came into this index.
            document
                .as_object_mut()
                .expect("an object")
                .remove("fetched_ms");
            document.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn every_json_export_comes_back_whole() {
    let dir = filled();
    let at = dir.path();
    let all = exported(at, "data");
    assert_eq!(all.len(), DOCUMENTS);
    good(&run(at, "data", &["export", "-o", "all.jsonl"]));
    good(&run(
        at,
        "data",
        &["export", "--format", "jsonl.zst", "-o", "all.jsonl.zst"],
    ));
    let plain = fs::read(at.join("all.jsonl")).expect("the export");
    // Two members one after the other are one file.
    let mut packed = Vec::new();
    let (first, rest) = plain.split_at(plain.len() / 2);
    for part in [first, rest] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(part).expect("packed");
        packed.extend(encoder.finish().expect("packed"));
    }
    // The name does not matter.
    fs::write(at.join("all.of.it"), packed).expect("written");
    for file in ["all.jsonl", "all.jsonl.zst", "all.of.it"] {
        let named = format!("from-{file}");
        good(&run(at, &named, &["import", file]));
        assert!(exported(at, &named) == all, "{file}");
        let piped = format!("piped-{file}");
        let input = fs::File::open(at.join(file)).expect("the export");
        let output = taojin(at, &piped, &["import", "-"]).stdin(input).output();
        good(&output.expect("taojin runs"));
        assert!(exported(at, &piped) == all, "{file} from standard input");
    }
}

#[test]
fn what_holds_no_lines_is_refused_before_anything_is_made() {
    let dir = filled();
    let at = dir.path();
    good(&run(
        at,
        "data",
        &["export", "--format", "parquet", "-o", "all.parquet"],
    ));
    fs::write(at.join("x.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").expect("written");
    for (file, wanted) in [
        ("all.parquet", "all.parquet: is a Parquet file"),
        ("x.png", "x.png: is a PNG picture"),
        (".", ".: is a folder"),
        ("none.jsonl", "none.jsonl: No such file"),
    ] {
        let output = run(at, "new", &["import", "in.jsonl", file]);
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains(wanted) && line.lines().count() == 1, "{line}");
        assert!(!at.join("new").exists(), "{file}: something was made");
    }
}

#[test]
fn a_file_that_breaks_off_gives_what_is_whole_and_fails() {
    let dir = filled();
    let at = dir.path();
    good(&run(
        at,
        "data",
        &["export", "--format", "jsonl.zst", "-o", "all.jsonl.zst"],
    ));
    let whole = fs::read(at.join("all.jsonl.zst")).expect("the export");
    fs::write(at.join("torn"), &whole[..whole.len() - 9]).expect("written");
    let output = run(at, "torn-data", &["import", "torn", "in.jsonl", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("torn: breaks off in line "), "{said}");
    assert_eq!(
        exported(at, "torn-data"),
        exported(at, "data"),
        "the next file is imported all the same"
    );
}
