//! A page gives the same document whether it is crawled in chunks over HTTP or extracted from a saved file.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;
use taojin_extract::Document;
use taojin_uri::CrawlUri;

use crate::support::world::{FAST, Home, Web};

/// The body that the sample web answers with.
fn download(url: &CrawlUri) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", url.port())).expect("it listens");
    let (target, host) = (url.path_and_query(), url.authority());
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n");
    let body = answer.split_off(end.expect("a head") + 4);
    let head = String::from_utf8_lossy(&answer).to_lowercase();
    let is_whole = head.starts_with("http/1.1 200") && head.contains("content-length");
    assert!(is_whole, "{url}: {head}");
    body
}

#[test]
fn crawl_equals_extract() {
    let web = Web::sample();
    // Only a crawl has templates.
    let home = Home::new(&web, &format!("{FAST}\n[templates]\nenabled = false"));
    home.done(&["crawl"]);
    // Some of each site, with and without a declared charset.
    let wanted: Vec<String> = web.planted().into_iter().step_by(5).collect();
    let mut crawled = home.documents();
    crawled.retain(|document| wanted.contains(&document.url));
    assert_eq!(crawled.len(), wanted.len());
    for mut document in crawled {
        let url = CrawlUri::parse(&document.url).expect("a good address");
        home.write("page.html", download(&url));
        let args = ["extract", "--json", "--url", url.as_str(), "page.html"];
        let mut extracted: Document = serde_json::from_str(&home.done(&args)).expect("JSON");
        extracted.links.clear();
        document.site = None;
        assert_eq!(document, extracted, "{url}");
    }
}

#[test]
fn why_counts_ratio_lines() {
    let web = Web::sample();
    let home = Home::new(&web, FAST);
    home.done(&["crawl"]);
    let documents = home.documents();
    let read = |d: &&Document| d.file.is_none() && !d.text.is_empty();
    let document = documents.iter().find(read).expect("a page with a text");
    let counts = document.provenance.ratio_lines.expect("a page with lines");
    let why: Value = serde_json::from_str(&home.done(&["why", "--json", &document.url])).unwrap();
    assert_eq!(why["ratio_lines"], serde_json::json!(counts), "{why}");
    let all = counts.total();
    let line = format!(
        "\nratios       {} of {all} lines ruled out, ",
        counts.ruled_out
    );
    let text = home.done(&["why", &document.url]);
    assert!(text.contains(&line), "{text}");
}
