use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::client::{CAME, HTML, PAGE, end_of, failed, fetch, outcome, outcome_within};
use super::server::{Server, Step, fetch_named, http, uri};
use crate::fetch::{Config, Head, Request, Sink};
use crate::outcome::{Failure, VisitOutcome};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn encoded(coding: &str, body: &[u8]) -> Vec<u8> {
    http(
        "200 OK",
        &format!("{HTML}Content-Encoding: {coding}\r\n"),
        body,
    )
}

/// 石油 three times as a stored block of brotli (RFC 7932 §9.2).
const BROTLI: &[u8] = &[
    0x8b, 0x08, 0x80, 0xe7, 0x9f, 0xb3, 0xe6, 0xb2, 0xb9, 0xe7, 0x9f, 0xb3, 0xe6, 0xb2, 0xb9, 0xe7,
    0x9f, 0xb3, 0xe6, 0xb2, 0xb9, 0x03,
];

#[tokio::test]
async fn body_every_coding_is_decoded() {
    let page = "石油".repeat(3).into_bytes();
    let zlib = zlib(&page);
    let raw = zlib[2..zlib.len() - 4].to_vec();
    let mut padded = gzip(&page);
    padded.extend_from_slice(b"trailing garbage");
    let zstd = zstd::encode_all(page.as_slice(), 3).unwrap();
    for (coding, bytes) in [
        ("identity", page.clone()),
        ("gzip", gzip(&page)),
        ("X-GZIP", padded),
        ("deflate", zlib),
        ("deflate", raw),
        ("br", BROTLI.to_vec()),
        ("zstd", zstd),
    ] {
        let server = Server::always(encoded(coding, &bytes)).await;
        let (fetched, body) = fetch(&server).await;
        assert_eq!(end_of(&fetched), CAME, "{coding}");
        assert_eq!(body, page, "{coding}");
        assert_eq!(fetched.wire_bytes, bytes.len() as u64, "{coding}");
        assert_eq!(fetched.body_bytes, page.len() as u64, "{coding}");
        assert!(fetched.whole);
        assert_eq!(fetched.remote, Some("127.0.0.1".parse().unwrap()));
        assert_eq!(fetched.head.charset(), Some("utf-8"));
    }
}

#[tokio::test]
async fn body_cut_coding_is_truncated() {
    let page = "石油".repeat(3000).into_bytes();
    let zstd = zstd::encode_all(page.as_slice(), 3).unwrap();
    for (coding, whole) in [
        ("gzip", gzip(&page)),
        ("deflate", zlib(&page)),
        ("br", BROTLI.to_vec()),
        ("zstd", zstd),
    ] {
        // the declared length is that of the cut body: only the coding knows
        let cut = &whole[..whole.len() - 5];
        let server = Server::always(encoded(coding, cut)).await;
        let end = outcome(&server).await;
        assert_eq!(end, failed(Failure::Truncated), "{coding}");
    }
    let empty = Server::always(encoded("gzip", b"")).await;
    assert_eq!(outcome(&empty).await, CAME, "an empty body has no coding");
}

#[tokio::test]
async fn body_bombs_stop_early() {
    let zeros = vec![0u8; 20 << 20];
    let zstd = zstd::encode_all(zeros.as_slice(), 3).unwrap();
    for (coding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd)] {
        let server = Server::always(encoded(coding, &bomb)).await;
        let (fetched, body) = fetch(&server).await;
        assert_eq!(end_of(&fetched), failed(Failure::Bomb), "{coding}");
        assert!(
            body.len() <= 4 << 20,
            "{coding}: {} bytes came through",
            body.len()
        );
    }
    // honest but repetitive: below the floor the ratio does not count
    let server = Server::always(encoded("gzip", &gzip(&zeros[..500 << 10]))).await;
    assert_eq!(outcome(&server).await, CAME);
    let too_large = failed(Failure::TooLarge);
    let declared = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n".to_vec();
    assert_eq!(outcome(&Server::always(declared).await).await, too_large);
    let mut endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec();
    endless.extend_from_slice(&zeros);
    let (fetched, body) = fetch(&Server::always(endless).await).await;
    assert_eq!(end_of(&fetched), too_large);
    assert!(body.len() as u64 <= Config::default().max_body_bytes);
    let server = Server::always(http("200 OK", "", b"12345")).await;
    for (limit, want) in [(4, too_large), (5, CAME)] {
        let request = Request {
            max_body_bytes: Some(limit),
            ..Request::any(uri(PAGE))
        };
        let fetched = fetch_named(&server.gate(), &request, &mut Vec::new()).await;
        assert_eq!(end_of(&fetched), want);
    }
}

#[tokio::test]
async fn huge_headers_end_the_fetch() {
    let line = format!("X-Long: {}\r\n", "a".repeat(2 << 20));
    let many = "X-Many: a\r\n".repeat(5_000);
    for headers in [line, many] {
        let server = Server::always(http("200 OK", &headers, b"x")).await;
        assert_eq!(outcome(&server).await.0, VisitOutcome::Unreachable);
    }
    let fine = "X-Many: a\r\n".repeat(150);
    assert_eq!(
        outcome(&Server::always(http("200 OK", &fine, b"x")).await).await,
        CAME
    );
}

/// Stops after a number of bytes.
struct Enough {
    left: usize,
    began: bool,
}

impl Sink for Enough {
    fn begin(&mut self, head: &Head) {
        assert_eq!((head.status, self.began), (200, false));
        self.began = true;
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        assert!(self.began, "the header comes first");
        self.left = self.left.saturating_sub(bytes.len());
        if self.left == 0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[tokio::test]
async fn body_sink_ends_fetch() {
    let steps = vec![
        Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n".to_vec()),
        Step::Send(vec![b'x'; 1000]),
        Step::Hang,
    ];
    let server = Server::start(move |_| steps.clone()).await;
    let fetcher = Arc::new(server.gate());
    // the daemon spawns fetches: their future must be Send
    let fetched = tokio::spawn(async move {
        let mut sink = Enough {
            left: 1000,
            began: false,
        };
        fetch_named(&fetcher, &Request::page(uri(PAGE)), &mut sink).await
    })
    .await
    .unwrap();
    assert_eq!((end_of(&fetched), fetched.whole), (CAME, false));
    assert_eq!(fetched.body_bytes, 1000);
}

/// So much that a client which reads on takes a second, and one that keeps it takes the memory of the test.
const ENDLESS_BYTES: usize = 256 << 20;
/// What the kernel of either side may hold of an answer that nobody reads.
const SOCKET_BYTES: u64 = 16 << 20;

/// Sends `first`, then `again` without end.
async fn endless(first: Vec<u8>, again: Vec<u8>) -> Server {
    let again = again.repeat((64 << 10) / again.len());
    let times = ENDLESS_BYTES / again.len();
    Server::start(move |_| {
        vec![
            Step::Send(first.clone()),
            Step::Repeat(again.clone(), times),
        ]
    })
    .await
}

/// Counts what an archive would have to hold.
#[derive(Default)]
struct Wire {
    bytes: u64,
    body: Vec<u8>,
}

impl Sink for Wire {
    fn wants_wire(&self) -> bool {
        true
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
    }

    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.body.chunk(bytes)
    }
}

#[tokio::test]
async fn body_trailing_bytes_are_bounded() {
    let page = "石油".repeat(3).into_bytes();
    let zlib = zlib(&page);
    let raw = zlib[2..zlib.len() - 4].to_vec();
    for (coding, bytes) in [
        ("gzip", gzip(&page)),
        ("deflate", zlib),
        ("deflate", raw),
        ("br", BROTLI.to_vec()),
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{HTML}Connection: close\r\nContent-Encoding: {coding}\r\n\r\n"
        );
        let first = [head.into_bytes(), bytes].concat();
        let server = endless(first, b"garbage.".to_vec()).await;
        let mut wire = Wire::default();
        let request = Request::page(uri(PAGE));
        let fetched = fetch_named(&server.gate(), &request, &mut wire).await;
        assert_eq!(end_of(&fetched), CAME, "{coding}");
        assert!(fetched.whole, "{coding}");
        assert_eq!(wire.body, page, "{coding}");
        assert!(wire.bytes < 1 << 20, "{coding}: {} bytes", wire.bytes);
    }
}

#[tokio::test]
async fn body_empty_coding_is_bounded() {
    // a stored block of no bytes; a frame that decoders skip; a member of gzip that holds nothing
    let empty_block = [0, 0, 0, 0xff, 0xff].to_vec();
    let mut skipped = [0x50, 0x2a, 0x4d, 0x18, 0, 0x10, 0, 0].to_vec();
    skipped.resize(8 + 0x1000, b'x');
    let head = [0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 3].to_vec();
    for (coding, first, again) in [
        ("deflate", empty_block.clone(), empty_block),
        ("zstd", Vec::new(), skipped),
        // a comment without an end
        ("gzip", head, b"comment.".to_vec()),
    ] {
        let start = format!(
            "HTTP/1.1 200 OK\r\n{HTML}Connection: close\r\nContent-Encoding: {coding}\r\n\r\n"
        );
        let server = endless([start.into_bytes(), first].concat(), again).await;
        let mut wire = Wire::default();
        let request = Request::page(uri(PAGE));
        let fetched = fetch_named(&server.gate(), &request, &mut wire).await;
        let end = fetched.failure;
        assert!(
            matches!(end, Some(Failure::TooLarge | Failure::Decode)),
            "{coding}: {end:?}"
        );
        let limit = Config::default().max_body_bytes + (1 << 20);
        assert!(wire.bytes <= limit, "{coding}: {} bytes", wire.bytes);
    }
}

#[tokio::test]
async fn endless_headers_end_fetch() {
    let chunked =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (name, first, again) in [
        ("header lines", "HTTP/1.1 200 OK\r\n", "X-Many: a\r\n"),
        ("one header", "HTTP/1.1 200 OK\r\nX-Long: ", "a"),
        ("reason", "HTTP/1.1 200 ", "a"),
        ("chunk extension", &*format!("{chunked}1;"), "a"),
        ("chunk size", chunked, "0"),
        (
            "trailers",
            &*format!("{chunked}1\r\na\r\n0\r\n"),
            "X-Many: a\r\n",
        ),
        (
            "one trailer",
            &*format!("{chunked}1\r\na\r\n0\r\nX-Long: "),
            "a",
        ),
    ] {
        let server = endless(first.into(), again.into()).await;
        // A chunk size without an end is bounded by time alone: no bytes of the body come.
        let end = outcome_within(&server, 300).await;
        assert_ne!(end, CAME, "{name}");
        let sent = server.sent.load(std::sync::atomic::Ordering::Relaxed);
        assert!(sent < SOCKET_BYTES + (4 << 20) * 8, "{name}: {sent} bytes");
    }
}
