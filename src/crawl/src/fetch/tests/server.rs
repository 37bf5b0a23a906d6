//! A server that sends exactly the bytes it is told to, right or wrong, and tells what it was asked.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::fetch::{Clock, Config, Fetched, Gate, Purpose, Request, Sink, Turn};
use taojin_uri::CrawlUri;

/// One thing the server does after it got a request.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes so many times, as long as anybody takes them.
    Repeat(Vec<u8>, usize),
    /// Says nothing any more, and keeps the connection.
    Hang,
    /// Breaks the connection with a reset.
    Reset,
}

/// A clock that stands still but for those who wait by it.
#[derive(Debug, Default)]
pub(crate) struct TestClock {
    now_ms: AtomicI64,
    /// How long each request waited, in milliseconds.
    pub(crate) waits_ms: Mutex<Vec<i64>>,
}

impl TestClock {
    pub(crate) fn set(&self, now_ms: i64) {
        self.now_ms.store(now_ms, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: i64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
        self.waits_ms.lock().unwrap().push(ms);
        Box::pin(std::future::ready(()))
    }
}

/// A gate with these settings, at whose clock it is 0.
pub(crate) fn gate(config: Config) -> Gate {
    Gate::new(config, 300_000, Arc::new(TestClock::default())).unwrap()
}

/// Fetches an address that a person names.
pub(crate) async fn fetch_named(gate: &Gate, request: &Request, sink: &mut dyn Sink) -> Fetched {
    let mut turn = Turn::for_person(0);
    let fetched = gate.fetch(request, Purpose::Named, &mut turn, sink).await;
    fetched.unwrap()
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The heads of all requests so far.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// Bytes of all answers that were taken off its hands so far.
    pub(crate) sent: Arc<AtomicU64>,
}

impl Server {
    /// Starts a server that answers a request for a path with the steps that `script` gives.
    pub(crate) async fn start(script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&asked));
        let sent = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&sent);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                tokio::spawn(answer(stream, script, log, Arc::clone(&count)));
            }
        });
        Self {
            address,
            asked,
            sent,
        }
    }

    /// A server that answers everything with the same bytes.
    pub(crate) async fn always(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_| vec![Step::Send(answer.clone())]).await
    }

    /// Settings under which `http://h.example/` is this server, with time limits that a busy machine does not reach.
    pub(crate) fn config(&self) -> Config {
        Config {
            connect_timeout_ms: 60_000,
            idle_timeout_ms: 60_000,
            whole_timeout_ms: 120_000,
            allow_addresses: vec!["127.0.0.0/8".parse().unwrap()],
            hosts: [(
                "h.example".to_owned(),
                self.address.to_string().try_into().unwrap(),
            )]
            .into(),
            ..Config::default()
        }
    }

    pub(crate) fn gate(&self) -> Gate {
        gate(self.config())
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(
    mut stream: TcpStream,
    script: Arc<impl Fn(&str) -> Vec<Step>>,
    asked: Arc<Mutex<Vec<String>>>,
    sent: Arc<AtomicU64>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            // a TLS handshake: this server cannot, and says so in plain text
            Ok(0x16) if head.is_empty() => {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
                return;
            }
            Ok(b) => head.push(b),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    asked.lock().unwrap().push(head);
    for step in script(&path) {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            Step::Repeat(bytes, times) => {
                for _ in 0..times {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                }
            }
            Step::Hang => std::future::pending().await,
            Step::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
    // a close with unread input would be a reset
    while matches!(stream.read(&mut [0; 512]).await, Ok(n) if n > 0) {}
}

/// An answer with its length and these extra header lines.
pub(crate) fn http(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

pub(crate) fn uri(text: &str) -> CrawlUri {
    CrawlUri::parse(text).unwrap()
}
