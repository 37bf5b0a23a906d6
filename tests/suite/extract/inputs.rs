//! `taojin extract` and `crawl --warc` on what people give them: pictures, packed pages, folders, too much, nothing.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0";
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n";

fn page(title: &str) -> String {
    format!(
        "<html><title>{title} - 某网</title><h1>{title}</h1><p>正文第一段，有逗号，也有句号。</p><p>正文第二段，也是这样的。</p>"
    )
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("packed");
    encoder.finish().expect("packed")
}

fn archive(url: &str, body: &str) -> String {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-05-01T00:00:00Z\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

fn taojin(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    command.args(args).current_dir(dir).stdin(Stdio::null());
    command.output().expect("taojin runs")
}

fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().map(str::to_owned).collect()
}

fn documents(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |line: &str| serde_json::from_str(line).expect("one object a line");
    text.lines().map(read).collect()
}

#[test]
fn what_is_no_page_gets_one_line_and_the_others_are_done() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let at = dir.path();
    fs::write(at.join("x.png"), PNG).expect("written");
    fs::write(at.join("x.pdf"), PDF).expect("written");
    fs::write(at.join("empty.html"), "").expect("written");
    fs::write(at.join("good.html"), page("标题在此一见")).expect("written");
    fs::create_dir(at.join("nothing")).expect("made");
    let args = [
        "extract",
        "--json",
        "x.png",
        "x.pdf",
        "empty.html",
        "none.html",
        "nothing",
        "good.html",
    ];
    let output = taojin(at, &args);
    assert_eq!(output.status.code(), Some(1));
    let lines = said(&output);
    for (line, wanted) in lines.iter().zip([
        "x.png: is a PNG picture, not a page",
        "x.pdf: is a PDF document, not a page",
        "empty.html: is empty",
        "none.html: there is no such file or folder",
        "nothing: no pages in this folder",
    ]) {
        assert!(line.starts_with(wanted), "{line:?} should be {wanted:?}");
    }
    assert_eq!(lines.len(), 5, "{lines:?}");
    let found = documents(&output);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["input"], "good.html");

    // Nothing at all can be read: a mistake in the arguments if nothing is there, else a failure.
    assert_eq!(taojin(at, &["extract", "none.html"]).status.code(), Some(2));
    let png = taojin(at, &["extract", "x.png"]);
    assert_eq!((png.status.code(), png.stdout.len()), (Some(1), 0));
}

#[test]
fn folders_packed_pages_and_archives_name_their_inputs() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let at = dir.path();
    fs::create_dir_all(at.join("saved/b")).expect("made");
    fs::write(at.join("saved/z.html"), page("最后一篇文章")).expect("written");
    fs::write(
        at.join("saved/a.html.gz"),
        packed(page("打包的文章").as_bytes()),
    )
    .expect("written");
    fs::write(at.join("saved/b/c.HTM"), page("里面的文章")).expect("written");
    fs::write(at.join("saved/notes.txt"), "no page").expect("written");
    let archived = archive("http://a.example/1", &page("存档的文章"));
    fs::write(at.join("saved/d.warc.gz"), packed(archived.as_bytes())).expect("written");
    // A way out of the folder, and one in a circle.
    fs::write(at.join("outside.html"), page("外面的文章")).expect("written");
    symlink(at.join("outside.html"), at.join("saved/link.html")).expect("linked");
    symlink(at.join("saved"), at.join("saved/circle")).expect("linked");

    let output = taojin(at, &["extract", "--json", "saved"]);
    assert!(output.status.success(), "{:?}", said(&output));
    let found = documents(&output);
    let facts: Vec<[&str; 3]> = found
        .iter()
        .map(|d| ["input", "url", "title"].map(|key| d[key].as_str().expect(key)))
        .collect();
    assert_eq!(
        facts,
        [
            ["saved/a.html.gz", "", "打包的文章"],
            ["saved/b/c.HTM", "", "里面的文章"],
            ["saved/d.warc.gz", "http://a.example/1", "存档的文章"],
            ["saved/z.html", "", "最后一篇文章"],
        ]
    );
    // What is printed can be imported, and as text each document has its input.
    let text = taojin(at, &["extract", "saved"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert_eq!(text.matches("input      saved/").count(), 4, "{text}");
    fs::write(at.join("all.jsonl"), &output.stdout).expect("written");
    let imported = taojin(at, &["--data-dir", "data", "import", "all.jsonl"]);
    assert!(imported.status.success(), "{:?}", said(&imported));
}

#[test]
fn what_is_cut_off_is_said_and_a_bomb_is_not_unpacked() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let at = dir.path();
    fs::write(at.join("t.toml"), "[page]\nmax_decoded_bytes = 200000\n").expect("written");
    let long = page("很长的文章") + &"<p>又是一段，还是一段。</p>".repeat(20_000);
    fs::write(at.join("long.html"), &long).expect("written");
    fs::write(at.join("bomb.html.gz"), packed(&vec![b' '; 30_000_000])).expect("written");
    fs::write(at.join("torn.html.gz"), &packed(long.as_bytes())[..60]).expect("written");
    let mut args = vec!["--config", "t.toml", "extract", "--json", "long.html"];
    let output = taojin(at, &args);
    assert!(output.status.success());
    let lines = said(&output);
    let wanted = format!(
        "long.html: only the first 0.2 MB of {:.1} MB are read",
        long.len() as f64 / 1e6
    );
    assert!(lines[0].starts_with(&wanted), "{lines:?}");
    assert!(
        lines[0].contains("page.max_decoded_bytes = 200000"),
        "{lines:?}"
    );
    assert_eq!(documents(&output)[0]["title"], "很长的文章");
    args.extend(["bomb.html.gz", "torn.html.gz"]);
    let output = taojin(at, &args);
    assert_eq!(output.status.code(), Some(1));
    let lines = said(&output);
    assert!(
        lines[1].contains("bomb.html.gz: unpacks to more than 100 times"),
        "{lines:?}"
    );
    assert!(
        lines[2].contains("torn.html.gz: cannot be read"),
        "{lines:?}"
    );
    assert_eq!(documents(&output).len(), 1);
}

#[test]
fn a_crawl_of_what_is_no_archive_fails() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let at = dir.path();
    fs::write(at.join("x.png"), PNG).expect("written");
    fs::write(
        at.join("good.warc"),
        archive("http://a.example/1", &page("存档的文章")),
    )
    .expect("written");
    fs::write(
        at.join("t.toml"),
        "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n",
    )
    .expect("written");
    let start = [
        "--config",
        "t.toml",
        "--data-dir",
        "data",
        "crawl",
        "--json",
        "--warc",
    ];
    let output = taojin(at, &[&start[..], &["x.png", "good.warc"]].concat());
    assert_eq!(output.status.code(), Some(1), "{:?}", said(&output));
    assert!(
        said(&output)
            .iter()
            .any(|l| l == "x.png: neither a WARC nor an ARC file"),
        "{:?}",
        said(&output)
    );
    assert_eq!(
        documents(&output)[0]["documents_new"],
        1,
        "the other archive is crawled all the same"
    );
    assert!(
        taojin(at, &[&start[..], &["good.warc"]].concat())
            .status
            .success()
    );
}
