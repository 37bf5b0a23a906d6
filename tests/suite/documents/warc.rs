//! A crawl that is archived, and the archive crawled and extracted again without any server: the same documents.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::support::world::{Home, Web};

/// No politeness, and everything archived into files of 40 kB.
const ARCHIVED: &str = "min_delay_ms = 0\nmax_delay_ms = 0\nconnections_per_host = 4\nconnections_per_ip = 24\n\
                        throttle_backoff_ms = 200\n[warc]\nenabled = true\nmax_bytes = 40000";

fn archives(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.data_dir().join("warc")).expect("archives");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    files.sort();
    files
}

/// An archive unpacked, as far as it is text.
fn text_of(file: &Path) -> String {
    let packed = fs::File::open(file).expect("readable");
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .expect("whole members");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn warc_replay_equals_crawl() {
    let web = Web::sample();
    let home = Home::new(&web, ARCHIVED);
    let first = home.json(&["crawl", "--json"]);
    let files = archives(&home);
    assert!(files.len() > 1, "one file in spite of its limit");
    assert!(
        files
            .iter()
            .all(|f| f.extension().is_some_and(|e| e == "gz")),
        "a file was left open: {files:?}"
    );
    assert!(
        files.iter().any(|f| text_of(f).contains("/robots.txt\r\n")),
        "robots.txt is not archived"
    );
    let wanted = home.indexed();

    let copy = Home::new(&web, "");
    let mut args = vec!["crawl", "--json", "--warc"];
    args.extend(files.iter().map(|f| f.to_str().expect("UTF-8")));
    let asked = web.requests();
    let replayed = copy.json(&args);
    assert_eq!(web.requests(), asked, "the server was asked");
    assert_eq!(replayed["documents_new"], first["documents_new"]);
    assert_eq!(copy.indexed(), wanted);

    // Once more: nothing is new, nothing is there twice.
    let again = copy.json(&args);
    assert_eq!(again["documents_new"], 0, "{again}");
    assert_eq!(again["documents_changed"], 0, "{again}");
    assert_eq!(copy.indexed(), wanted);

    let mut args = vec!["extract", "--json"];
    args.extend(files.iter().map(|f| f.to_str().expect("UTF-8")));
    let found = copy.run(&args).lines();
    for url in wanted.keys() {
        assert!(
            found.iter().any(|d| d["url"] == **url),
            "no document of {url}"
        );
    }
}

#[test]
fn warc_replay_without_sites() {
    let web = Web::start(20);
    let home = Home::new(&web, ARCHIVED);
    home.json(&["crawl", "--json"]);
    let files = archives(&home);

    let other = Home::new(&web, "");
    other.take_sites();
    // The end of one file is missing, another is none.
    let bytes = fs::read(&files[0]).expect("readable");
    other.write("torn.warc.gz", &bytes[..bytes.len() - 20]);
    other.write("none.warc", "<html>no archive</html>");
    let mut args = vec!["crawl", "--json", "--warc", "torn.warc.gz", "none.warc"];
    args.extend(files.iter().map(|f| f.to_str().expect("UTF-8")));
    let asked = web.requests();
    // Archives that are not whole are an error.
    let replayed = other.run(&args).failed(1).json();
    assert_eq!(
        replayed["problems"].as_array().map(Vec::len),
        Some(2),
        "{replayed}"
    );
    assert_eq!(other.indexed(), home.indexed());
    assert_eq!(other.total("site:warc"), other.indexed().len() as u64);
    assert_eq!(web.requests(), asked, "the server was asked");
}
