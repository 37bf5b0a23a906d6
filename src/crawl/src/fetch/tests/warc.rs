use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::client::{CAME, End, end_of, failed};
use super::server::{Server, fetch_named, http, uri};
use crate::fetch::warc::{Archive, Exchange};
use crate::fetch::{Config, Fetched, Record, Request, Sink, Want, WarcError, WarcReader, replay};
use crate::outcome::{Failure, VisitOutcome};

const NOW_MS: i64 = 1_700_000_000_123;
const PAGE: &str = "http://h.example/a?b";

fn records(bytes: &[u8]) -> Vec<Record> {
    let mut reader = WarcReader::new(std::io::Cursor::new(bytes.to_vec()), 1 << 20).unwrap();
    let mut records = Vec::new();
    while let Ok(Some(record)) = reader.read_record() {
        records.push(record);
    }
    records
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Fetches from a server with this answer and archives the exchange.
async fn archived(archive: &mut Archive, answer: Vec<u8>, etag: Option<&str>) {
    let server = Server::always(answer).await;
    let request = Request {
        etag: etag.map(str::to_owned),
        ..Request::page(uri(PAGE))
    };
    let mut page = Vec::new();
    let mut exchange = Exchange::new(&mut page, 1 << 20);
    let fetched = fetch_named(&server.gate(), &request, &mut exchange).await;
    archive
        .write(&request.uri, &exchange, &fetched, NOW_MS)
        .unwrap();
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn warc_replay_equals_fetch() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path(), 1 << 30, "taojin/test").unwrap();
    let body = gzip("石油");
    let headers = "Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n";
    archived(&mut archive, http("200 OK", headers, &body), None).await;
    archived(
        &mut archive,
        http("304 Not Modified", "", b""),
        Some("\"1\""),
    )
    .await;
    archived(
        &mut archive,
        http("302 Found", "Location: /c\r\n", b""),
        None,
    )
    .await;
    archived(&mut archive, Vec::new(), None).await;
    archive.close().unwrap();
    let files = files(folder.path());
    assert_eq!(files.len(), 1);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("taojin-20231114221320123-") && name.ends_with(".warc.gz"),
        "{name}"
    );
    let records = records(&fs::read(&files[0]).unwrap());
    let kinds: Vec<_> = records.iter().map(|r| r.kind.as_str()).collect();
    let want = [
        "warcinfo", "response", "request", "revisit", "request", "response", "request",
    ];
    assert_eq!(kinds, want);
    let response = &records[1];
    assert_eq!(response.target.as_deref(), Some(PAGE));
    assert_eq!(response.date.as_deref(), Some("2023-11-14T22:13:20.123Z"));
    assert_eq!(response.header("warc-ip-address"), Some("127.0.0.1"));
    assert!(response.block.ends_with(&body), "as it came, compressed");
    assert_eq!(
        records[2].header("WARC-Concurrent-To"),
        response.header("WARC-Record-ID")
    );
    assert!(String::from_utf8_lossy(&records[4].block).contains("if-none-match: \"1\"\r\n"));
    let mut ids: Vec<_> = records
        .iter()
        .filter_map(|r| r.header("warc-record-id"))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), records.len());
    let mut page = Vec::new();
    let (target, fetched) = replay(response, &Config::default(), Want::Page, &mut page).unwrap();
    assert_eq!((target.as_str(), end_of(&fetched)), (PAGE, CAME));
    assert_eq!(String::from_utf8(page).unwrap(), "石油");
    assert_eq!(
        (fetched.head.charset(), fetched.whole),
        (Some("utf-8"), true)
    );
    assert!(replay(&records[3], &Config::default(), Want::Page, &mut Vec::new()).is_none());
    let (_, fetched) =
        replay(&records[5], &Config::default(), Want::Page, &mut Vec::new()).unwrap();
    assert_eq!(fetched.outcome, VisitOutcome::Redirect);
}

#[tokio::test]
async fn warc_full_file_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path(), 1, "taojin/test").unwrap();
    for _ in 0..3 {
        archived(&mut archive, http("200 OK", "", b"x"), None).await;
    }
    let names = files(folder.path());
    assert_eq!(
        names
            .iter()
            .filter(|n| n.extension().unwrap() == "gz")
            .count(),
        2
    );
    assert_eq!(
        names
            .iter()
            .filter(|n| n.extension().unwrap() == "open")
            .count(),
        1
    );
    drop(archive);
    for file in files(folder.path()) {
        assert_eq!(file.extension().unwrap(), "gz");
        assert_eq!(records(&fs::read(file).unwrap()).len(), 3);
    }
}

#[tokio::test]
async fn warc_cut_tail_keeps_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path(), 1 << 30, "taojin/test").unwrap();
    archived(&mut archive, http("200 OK", "", b"first"), None).await;
    archive.close().unwrap();
    let whole = fs::read(&files(folder.path())[0]).unwrap();
    let mut ends = Vec::new();
    // every byte of the tail, every ninth before: each cut costs a flush to the disk
    for length in (0..=whole.len()).filter(|l| l % 9 == 0 || l + 30 > whole.len()) {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("a.warc.gz.open");
        fs::write(&open, &whole[..length]).unwrap();
        drop(Archive::open(folder.path(), 1 << 30, "taojin/test").unwrap());
        let mended = files(folder.path());
        let kept = mended
            .first()
            .map(|f| fs::read(f).unwrap())
            .unwrap_or_default();
        assert!(whole.starts_with(&kept) && kept.len() <= length);
        assert!(!open.exists());
        ends.push(kept.len());
        if length == whole.len() {
            assert_eq!(records(&kept).len(), 3);
        }
    }
    ends.dedup();
    assert_eq!(
        ends.len(),
        4,
        "nothing, and the end of each of three records: {ends:?}"
    );
}

fn warc(kind: &str, target: &str, block: &str) -> String {
    let length = block.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {target}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
    )
}

/// Outcome and body of the only record.
fn replayed(file: &[u8]) -> Option<(String, End, String)> {
    let record = records(file).remove(0);
    let mut page = Vec::new();
    let (uri, fetched) = replay(&record, &Config::default(), Want::Page, &mut page)?;
    Some((
        uri.to_string(),
        end_of(&fetched),
        String::from_utf8(page).unwrap(),
    ))
}

#[test]
fn warc_other_writers_are_read() {
    let page = |target: &str, body: &str| Some((target.to_owned(), CAME, body.to_owned()));
    let http = |headers: &str, body: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}");
    let one = |headers: &str, body: &str| warc("response", PAGE, &http(headers, body));
    let plain = one("", "hello");
    assert_eq!(replayed(plain.as_bytes()), page(PAGE, "hello"));
    assert_eq!(replayed(&gzip(&plain)), page(PAGE, "hello"));
    let unix = warc("resource", PAGE, "hello").replace("\r\n", "\n");
    assert_eq!(replayed(unix.as_bytes()), page(PAGE, "hello"));
    let bracketed = warc("response", "<http://h.example/a b>", &http("", "x"));
    assert_eq!(
        replayed(bracketed.as_bytes()),
        page("http://h.example/a%20b", "x")
    );
    for (headers, body) in [
        (
            "Transfer-Encoding: chunked\r\n",
            "5;x=1\r\nhello\r\n0\r\n\r\n",
        ),
        ("Transfer-Encoding: chunked\r\n", "2\r\nhe\r\n3\r\nllo\r\n"),
        ("Transfer-Encoding: chunked\r\n", "hello"),
        ("Content-Encoding: gzip\r\n", "hello"),
        ("Content-Encoding: br\r\n", "hello"),
        ("Content-Encoding: deflate\r\n", "hello"),
        ("Content-Encoding: gzip, br\r\n", "hello"),
        ("bad line\r\n\u{1}: x\r\n", "hello"),
    ] {
        assert_eq!(
            replayed(one(headers, body).as_bytes()),
            page(PAGE, "hello"),
            "{headers}{body}"
        );
    }
    let resource = warc("resource", PAGE, "text");
    assert_eq!(replayed(resource.as_bytes()), page(PAGE, "text"));
    assert_eq!(
        replayed(warc("request", PAGE, "GET / HTTP/1.1\r\n\r\n").as_bytes()),
        None
    );
    assert_eq!(
        replayed(warc("response", "file:///x", "HTTP/1.1 200\r\n\r\n").as_bytes()),
        None
    );
    let arc =
        "http://h.example/a b 1.2.3.4 20140216050221 text/html 24\nHTTP/1.1 200 OK\r\n\r\nhello\n";
    assert_eq!(
        replayed(arc.as_bytes()),
        page("http://h.example/a%20b", "hello")
    );
    let cut = &one("Content-Length: 5\r\n", "hello").into_bytes();
    let cut = &cut[..cut.len() - "llo\r\n\r\n".len()];
    let truncated = failed(Failure::Truncated);
    assert_eq!(replayed(cut).unwrap().1, truncated);
}

#[test]
fn warc_rubbish_is_skipped() {
    let record = warc("metadata", PAGE, "x");
    let file = format!("{record}rubbish here\r\n{record}");
    let mut reader = WarcReader::new(std::io::Cursor::new(file.into_bytes()), 10).unwrap();
    assert!(reader.read_record().unwrap().is_some() && reader.read_record().unwrap().is_some());
    assert_eq!(reader.read_record().unwrap(), None);
    assert_eq!((reader.skipped_bytes(), reader.is_broken()), (12, false));
    let none = |bytes: &[u8]| {
        let mut reader = WarcReader::new(std::io::Cursor::new(bytes.to_vec()), 10).unwrap();
        matches!(reader.read_record(), Err(WarcError::NotAnArchive))
    };
    assert!(
        none(b"") && none(b"<html>\n</html>") && none(&gzip("<html>")) && none(&[0x1f, 0x8b, 9])
    );
    // a length that lies neither allocates nor overflows
    let giant = "WARC/1.0\r\nContent-Length: 18446744073709551615\r\n\r\nabc";
    let record = records(giant.as_bytes()).remove(0);
    assert_eq!(
        (record.block.as_slice(), record.cut),
        (b"abc".as_slice(), true)
    );
    let over = warc("resource", PAGE, &"x".repeat(50)) + &warc("resource", PAGE, "y");
    let mut reader = WarcReader::new(std::io::Cursor::new(over.into_bytes()), 10).unwrap();
    let first = reader.read_record().unwrap().unwrap();
    assert_eq!((first.block.len(), first.cut), (10, true));
    assert_eq!(reader.read_record().unwrap().unwrap().block, b"y");
}

proptest! {
    #[test]
    fn warc_any_bytes(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        at in 0usize..400,
        flip in any::<u8>(),
    ) {
        records(&bytes);
        let text = warc("response", PAGE, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
        for mut file in [text.clone().into_bytes(), gzip(&text)] {
            let at = at % file.len();
            file[at] ^= flip;
            for record in records(&file) {
                replay(&record, &Config::default(), Want::Page, &mut Vec::new());
            }
        }
    }
}

#[test]
fn warc_record_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(folder.path(), 1 << 30, "taojin/test").unwrap();
    let mut page = Vec::new();
    let mut exchange = Exchange::new(&mut page, 1000);
    exchange.heads(Vec::new(), b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    for _ in 0..64 {
        exchange.wire(&[b'x'; 4096]);
    }
    let mut fetched = Fetched::new(VisitOutcome::Page);
    (fetched.head.status, fetched.whole, fetched.wire_bytes) = (200, true, 64 * 4096);
    archive
        .write(&uri(PAGE), &exchange, &fetched, NOW_MS)
        .unwrap();
    archive.close().unwrap();
    let bytes = fs::read(&files(folder.path())[0]).unwrap();
    let response = &records(&bytes)[1];
    assert!(response.block.len() < 70_000, "{}", response.block.len());
    let mut text = Vec::new();
    std::io::Read::read_to_end(
        &mut flate2::read::MultiGzDecoder::new(&bytes[..]),
        &mut text,
    )
    .unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("WARC-Truncated: length"), "{text}");
}
