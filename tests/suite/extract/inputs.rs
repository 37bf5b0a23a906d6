//! `taojin extract` and `crawl --warc` on what people give them: pictures, packed pages, folders, too much, nothing.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::folder::{Folder, assert_has};

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

#[test]
fn extract_skips_non_pages() {
    let at = Folder::new("", &[]);
    at.write("x.png", PNG);
    at.write("x.pdf", PDF);
    at.write("empty.html", "");
    at.write("good.html", page("标题在此一见"));
    fs::create_dir(at.file("nothing")).expect("made");
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
    let output = at.run(&args).failed(1);
    let lines: Vec<&str> = output.err.lines().collect();
    for (line, wanted) in lines.iter().zip([
        "x.png: is a PNG picture, not a page",
        "x.pdf: is damaged",
        "empty.html: is empty",
        "none.html: there is no such file or folder",
        "nothing: no pages in this folder",
    ]) {
        assert!(line.starts_with(wanted), "{line:?} should be {wanted:?}");
    }
    assert_eq!(lines.len(), 5, "{lines:?}");
    let found = output.lines();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["input"], "good.html");

    // Nothing at all can be read: a mistake in the arguments if nothing is there, else a failure.
    at.run(&["extract", "none.html"]).failed(2);
    assert_eq!(at.run(&["extract", "x.png"]).failed(1).out, "");
}

#[test]
fn extract_reads_folders_and_archives() {
    let at = Folder::new("", &[]);
    fs::create_dir_all(at.file("saved/b")).expect("made");
    at.write("saved/z.html", page("最后一篇文章"));
    at.write("saved/a.html.gz", packed(page("打包的文章").as_bytes()));
    at.write("saved/b/c.HTM", page("里面的文章"));
    at.write("saved/notes.txt", "no page");
    let archived = archive("http://a.example/1", &page("存档的文章"));
    at.write("saved/d.warc.gz", packed(archived.as_bytes()));
    // A way out of the folder, and one in a circle.
    at.write("outside.html", page("外面的文章"));
    symlink(at.file("outside.html"), at.file("saved/link.html")).expect("linked");
    symlink(at.file("saved"), at.file("saved/circle")).expect("linked");

    let output = at.run(&["extract", "--json", "saved"]).good();
    let found = output.lines();
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
    let text = at.done(&["extract", "saved"]);
    assert_eq!(text.matches("input      saved/").count(), 4, "{text}");
    at.write("all.jsonl", &output.out);
    at.done(&["import", "all.jsonl"]);
}

#[test]
fn extract_bounds_large_inputs() {
    let at = Folder::new("", &[]);
    at.configure("[page]\nmax_decoded_bytes = 200000\n");
    let long = page("很长的文章") + &"<p>又是一段，还是一段。</p>".repeat(20_000);
    at.write("long.html", &long);
    at.write("bomb.html.gz", packed(&vec![b' '; 30_000_000]));
    at.write("torn.html.gz", &packed(long.as_bytes())[..60]);
    let mut args = vec!["extract", "--json", "long.html"];
    let output = at.run(&args).good();
    let mb = long.len() as f64 / 1e6;
    let wanted = format!("long.html: only the first 0.2 MB of {mb:.1} MB are read");
    assert_has(&output.err, &[&wanted, "page.max_decoded_bytes = 200000"]);
    assert_eq!(output.json()["title"], "很长的文章");
    args.extend(["bomb.html.gz", "torn.html.gz"]);
    let output = at.run(&args).failed(1);
    assert_has(
        &output.err,
        &[
            "bomb.html.gz: unpacks to more than 100 times",
            "torn.html.gz: cannot be read",
        ],
    );
    assert_eq!(output.lines().len(), 1);
}

#[test]
fn crawl_warc_refuses_non_archive() {
    let at = Folder::new("", &[]);
    at.write("x.png", PNG);
    at.write(
        "good.warc",
        archive("http://a.example/1", &page("存档的文章")),
    );
    at.configure("[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n");
    let crawl = ["crawl", "--json", "--warc", "good.warc"];
    let output = at.run(&[&crawl[..], &["x.png"]].concat()).failed(1);
    assert_has(&output.err, &["x.png: neither a WARC nor an ARC file\n"]);
    // The other archive is crawled all the same.
    assert_eq!(output.json()["documents_new"], 1);
    at.done(&crawl);
}
