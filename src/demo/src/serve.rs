//! Serves a web over HTTP/1.1 on sockets that the caller has bound, spoils answers where the web says so, and logs each request.
//!
//! A [`Web`] answers a [`Request`] with a [`Response`]; [`serve`] sends it, until it is dropped. Bounded: a request head of
//! 16 KiB, one answer at a time for a connection. Never opens a socket of its own.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A longer request head ends the connection.
const MAX_HEAD: usize = 16 << 10;
/// A connection without a request ends after this.
const IDLE: Duration = Duration::from_secs(60);
/// Requests remembered one by one; later ones are only counted.
const LOG_ENTRIES: usize = 500_000;
/// An endless body ends here, for a client that reads all of it.
const ENDLESS_BYTES: u64 = 64 << 20;

/// What is served.
pub trait Web: Send + Sync + 'static {
    /// Answers a request.
    fn respond(&self, request: &Request<'_>) -> Response;

    /// Returns the log that requests go into.
    fn log(&self) -> &RequestLog;
}

/// The head of a request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Number of the socket that it came through.
    pub socket: u32,
    /// Its lines, without the empty one at the end.
    pub head: &'a str,
}

impl<'a> Request<'a> {
    /// Returns path and query as sent.
    pub fn target(&self) -> &'a str {
        self.head.split(' ').nth(1).unwrap_or("/")
    }

    /// Returns the value of a header; the case of its name does not matter.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(':'));
        let header = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.trim())
    }
}

/// What can go wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It comes late.
    Slow,
    /// 500.
    ServerError,
    /// 503 without a word when to come back.
    Unavailable,
    /// 429 with `Retry-After`.
    TooMany,
    /// The body ends before its length.
    Truncated,
    /// The connection is reset in the middle.
    Reset,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What the function returns for 0, 1, 2 …, until the client closes the connection or 64 MiB were sent to all clients.
    Endless(fn(usize) -> String),
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Names in lower case, and values; without Content-Length.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
    /// How long the server waits before it answers.
    pub delay: Duration,
    /// What is wrong with it on purpose.
    pub fault: Option<Fault>,
    /// Bytes that Content-Length names and that never come.
    pub missing_bytes: usize,
}

impl Response {
    /// An answer without a fault.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: Body::Bytes(body.into()),
            delay: Duration::ZERO,
            fault: None,
            missing_bytes: 0,
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", "moved\n").with("location", location)
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds an ETag that changes with the body; `prefix` is `W/` for a weak one.
    pub(crate) fn with_etag(self, prefix: &str) -> Self {
        let etag = format!("{prefix}\"{:016x}\"", hash(self.bytes()));
        self.with("etag", etag)
    }

    /// Turns into a 304 if the client has this version already.
    pub(crate) fn or_not_modified(mut self, request: &Request<'_>) -> Self {
        let is_known = match request.header("if-none-match") {
            Some(known) => self
                .header("etag")
                .is_some_and(|etag| known.contains(etag.trim_start_matches("W/"))),
            None => self
                .header("last-modified")
                .is_some_and(|date| request.header("if-modified-since") == Some(date)),
        };
        if is_known {
            self.status = 304;
            self.body = Body::Bytes(Vec::new());
        }
        self
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| *known == name);
        header.map(|(_, value)| value.as_str())
    }

    /// Returns the body; an endless one is empty.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bytes(bytes) => bytes,
            Body::Endless(_) => &[],
        }
    }
}

/// One request and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Host header with port.
    pub authority: String,
    /// Path and query as sent.
    pub target: String,
    /// Status of the answer; 421 for a host that is not served.
    pub status: u16,
    /// Whether the answer was spoilt on purpose.
    pub fault: Option<Fault>,
    /// When the request had come.
    pub started: Instant,
    /// When its last bytes were about to be sent, or it was about to be broken off.
    pub ended: Instant,
}

/// The requests that a web got.
#[derive(Debug, Default)]
pub struct RequestLog {
    hits: Mutex<Vec<Hit>>,
    total: AtomicU64,
    endless_bytes: AtomicU64,
}

impl RequestLog {
    /// Returns the number of requests since the start.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns how many bytes of endless bodies were sent.
    pub fn endless_bytes(&self) -> u64 {
        self.endless_bytes.load(Ordering::Relaxed)
    }

    /// Returns the requests since they were last taken, oldest first; they stay in the log.
    pub fn hits(&self) -> Vec<Hit> {
        self.lock().clone()
    }

    /// Takes the requests since they were last taken, oldest first.
    pub fn take(&self) -> Vec<Hit> {
        std::mem::take(&mut *self.lock())
    }

    fn push(&self, hit: Hit) {
        let mut hits = self.lock();
        if hits.len() < LOG_ENTRIES {
            hits.push(hit);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Hit>> {
        self.hits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until dropped.
pub async fn serve(web: Arc<impl Web>, sockets: Vec<TcpListener>) {
    let mut tasks = JoinSet::new();
    for (number, socket) in (0u32..).zip(sockets) {
        tasks.spawn(accept(Arc::clone(&web), number, socket));
    }
    while tasks.join_next().await.is_some() {}
}

async fn accept(web: Arc<impl Web>, number: u32, socket: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = socket.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(answer_all(Arc::clone(&web), number, stream));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers the requests of a connection until it ends.
async fn answer_all(web: Arc<impl Web>, socket: u32, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::with_capacity(2048);
    loop {
        let read = tokio::time::timeout(IDLE, read_head(&mut stream, &mut buffer)).await;
        let Ok(Ok(Some(head))) = read else { return };
        let request = Request {
            socket,
            head: &head,
        };
        let is_last = request
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if answer(&*web, &request, &mut stream).await.is_err() || is_last {
            return;
        }
    }
}

/// Reads the next request head without its last line break; none at the end of the connection.
async fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<String>> {
    loop {
        let end = buffer.windows(4).position(|w| w == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            buffer.drain(..end + 4);
            return Ok(Some(head));
        }
        if buffer.len() > MAX_HEAD || stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// Answers one request; an error ends the connection.
async fn answer(web: &impl Web, request: &Request<'_>, stream: &mut TcpStream) -> io::Result<()> {
    let started = Instant::now();
    let log = web.log();
    log.total.fetch_add(1, Ordering::Relaxed);
    let response = web.respond(request);
    if !response.delay.is_zero() {
        tokio::time::sleep(response.delay).await;
    }
    // Once it is sent, the client may have it and count its delay before this process continues.
    let ended = Instant::now();
    let sent = send(stream, &response, log).await;
    log.push(Hit {
        authority: request.header("host").unwrap_or_default().to_owned(),
        target: request.target().to_owned(),
        status: response.status,
        fault: response.fault,
        started,
        ended,
    });
    sent
}

async fn send(stream: &mut TcpStream, response: &Response, log: &RequestLog) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} X\r\n", response.status);
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = match &response.body {
        Body::Bytes(body) => body,
        Body::Endless(part) => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            for number in 0.. {
                let part = part(number);
                let chunk = format!("{:x}\r\n{part}\r\n", part.len());
                stream.write_all(chunk.as_bytes()).await?;
                let bytes = part.len() as u64;
                if log.endless_bytes.fetch_add(bytes, Ordering::Relaxed) > ENDLESS_BYTES {
                    break;
                }
            }
            return stream.write_all(b"0\r\n\r\n").await;
        }
    };
    let length = body.len() + response.missing_bytes;
    let mut bytes = format!("{head}content-length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    match response.fault {
        Some(fault @ (Fault::Truncated | Fault::Reset)) => {
            stream.write_all(&bytes[..bytes.len() / 2]).await?;
            if fault == Fault::Reset {
                stream.set_zero_linger()?;
            }
            Err(io::ErrorKind::ConnectionReset.into())
        }
        _ => {
            stream.write_all(&bytes).await?;
            if response.missing_bytes > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(())
        }
    }
}

/// FNV-1a, 64 bits.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Packs bytes, if they are all the same about a thousand to one.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
