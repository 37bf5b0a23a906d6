//! A page gives the same document whether it is crawled in chunks over HTTP or extracted from a saved file.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use taojin::documents::open_folder;
use taojin_extract::Document;
use taojin_search::analyze::Analyzer;
use taojin_search::index;
use taojin_uri::CrawlUri;

use crate::support::world::{Home, Web};

/// The body that the sample web answers with.
fn download(url: &CrawlUri) -> Vec<u8> {
    let port = url.port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let (target, host) = (url.path_and_query(), url.authority());
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .expect("a head")
        + 4;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-length"),
        "{url}: {head}"
    );
    answer.split_off(end)
}

#[test]
fn crawled_and_saved_pages_give_the_same_documents() {
    let web = Web::sample();
    // Only a crawl has templates.
    let home = Home::new(
        &web,
        "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12\n[templates]\nenabled = false",
    );
    assert!(
        home.taojin(&["crawl"])
            .output()
            .expect("taojin runs")
            .status
            .success()
    );
    let reader = open_folder(
        &home.data_dir(),
        &Analyzer::new(&[]),
        &index::Config::default(),
    )
    .expect("the index opens");
    let mut crawled: Vec<Document> = Vec::new();
    reader
        .for_each(|stored| {
            crawled.push(stored.document);
            true
        })
        .expect("the index can be read");
    // Some of each site, with and without a declared charset.
    let wanted: Vec<String> = web.planted().into_iter().step_by(5).collect();
    crawled.retain(|document| wanted.contains(&document.url));
    assert_eq!(crawled.len(), wanted.len());

    let file = home.path().join("page.html");
    for mut document in crawled {
        let url = CrawlUri::parse(&document.url).expect("a good address");
        fs::write(&file, download(&url)).expect("saved");
        let output = home
            .taojin(&["extract", "--json", "--url", url.as_str()])
            .arg(&file)
            .output()
            .expect("taojin runs");
        let mut extracted: Document = serde_json::from_slice(&output.stdout).expect("JSON");
        extracted.links.clear();
        document.site = None;
        assert_eq!(document, extracted, "{url}");
    }
}
