//! Serves a trial web, faults and all, on sockets of the loopback. In: requests. Out: answers, some of them spoilt, and
//! the log. Bounded: one request head of 16 KiB, one answer at a time for a connection.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::page::{article_number, page};
use super::{TrialFault, TrialHit, TrialWeb, address, hash};

/// A longer request head ends the connection.
const MAX_HEAD: usize = 16 << 10;
/// Decoded bytes of the bomb.
const BOMB_BYTES: usize = 64 << 20;
/// A connection without a request ends after this.
const IDLE: Duration = Duration::from_secs(60);

/// Binds one socket for each of so many hosts, all at one port.
pub async fn bind(hosts: u32) -> io::Result<(Vec<TcpListener>, u16)> {
    'ports: for _ in 0..50 {
        let first = TcpListener::bind((address(0), 0)).await?;
        let port = first.local_addr()?.port();
        let mut all = vec![first];
        for host in 1..hosts {
            match TcpListener::bind((address(host), port)).await {
                Ok(listener) => all.push(listener),
                // Another program has this port at that address: try another port.
                Err(_) => continue 'ports,
            }
        }
        return Ok((all, port));
    }
    Err(io::Error::other("no port is free at all addresses"))
}

/// Serves until dropped.
pub async fn serve(web: Arc<TrialWeb>, listeners: Vec<TcpListener>) {
    let mut tasks = tokio::task::JoinSet::new();
    for (host, listener) in (0u32..).zip(listeners) {
        tasks.spawn(accept(Arc::clone(&web), host, listener));
    }
    while tasks.join_next().await.is_some() {}
}

async fn accept(web: Arc<TrialWeb>, host: u32, listener: TcpListener) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(Arc::clone(&web), host, stream));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(web: Arc<TrialWeb>, host: u32, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::with_capacity(2048);
    loop {
        let read = tokio::time::timeout(IDLE, request(&mut stream, &mut buffer)).await;
        let Ok(Ok(Some(head))) = read else { return };
        if answer(&web, host, &mut stream, &head).await.is_err() {
            return;
        }
    }
}

/// The next request head without its last line break; none at the end of the connection.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<String>> {
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

/// What is sent.
#[derive(Default)]
struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    version: u32,
    fault: Option<TrialFault>,
}

/// Answers one request; an error ends the connection.
async fn answer(web: &TrialWeb, host: u32, stream: &mut TcpStream, head: &str) -> io::Result<()> {
    let begun = Instant::now();
    let target = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let reply = reply(web, host, &target, head);
    if reply.fault == Some(TrialFault::Slow) {
        tokio::time::sleep(Duration::from_millis(web.plan().slow_ms)).await;
    }
    // Once it is sent, the client may have it and count its delay before this process goes on.
    let ended = Instant::now();
    let sent = send(stream, &target, &reply).await;
    web.record(TrialHit {
        host,
        target,
        status: reply.status,
        fault: reply.fault,
        version: reply.version,
        begun,
        ended,
    });
    sent
}

async fn send(stream: &mut TcpStream, target: &str, reply: &Reply) -> io::Result<()> {
    let length = match target {
        // Says more than comes.
        "/short.html" => reply.body.len() + 1000,
        _ => reply.body.len(),
    };
    let mut bytes = format!(
        "HTTP/1.1 {} X\r\nContent-Type: text/html; charset=utf-8\r\n{}Content-Length: {length}\r\n\r\n",
        reply.status, reply.headers
    )
    .into_bytes();
    bytes.extend_from_slice(&reply.body);
    match reply.fault {
        Some(TrialFault::Truncated | TrialFault::Reset) => {
            stream.write_all(&bytes[..bytes.len() / 2]).await?;
            if reply.fault == Some(TrialFault::Reset) {
                stream.set_zero_linger()?;
            }
            Err(io::ErrorKind::ConnectionReset.into())
        }
        _ if length > reply.body.len() => {
            stream.write_all(&bytes).await?;
            Err(io::ErrorKind::UnexpectedEof.into())
        }
        _ => stream.write_all(&bytes).await,
    }
}

fn reply(web: &TrialWeb, host: u32, target: &str, head: &str) -> Reply {
    let fault = web.fault(host, target);
    let status = |status: u16, headers: &str| Reply {
        status,
        headers: headers.to_owned(),
        fault,
        ..Reply::default()
    };
    match fault {
        Some(TrialFault::ServerError) => return status(500, ""),
        Some(TrialFault::Unavailable) => return status(503, ""),
        Some(TrialFault::TooMany) => return status(429, "Retry-After: 1\r\n"),
        _ => {}
    }
    if target == "/robots.txt" {
        return status(404, "");
    }
    if web.plan().traps && target == "/bomb.html" {
        return Reply {
            status: 200,
            headers: "Content-Encoding: gzip\r\n".to_owned(),
            body: bomb(),
            ..Reply::default()
        };
    }
    if let Some(n) = target.strip_prefix("/loop/").filter(|_| web.plan().traps) {
        let next = n.parse::<u32>().map_or(0, |n| (n + 1) % 7);
        return status(302, &format!("Location: /loop/{next}\r\n"));
    }
    let path = if target == "/short.html" { "/" } else { target };
    let Some(html) = page(web, host, path) else {
        return status(404, "");
    };
    let article = article_number(path);
    let mut reply = Reply {
        status: 200,
        body: html.into_bytes(),
        version: article.map_or(0, |n| web.version(host, n)),
        fault,
        ..Reply::default()
    };
    if web.plan().validators {
        let tag = format!("\"{:x}\"", hash(&String::from_utf8_lossy(&reply.body)));
        let _ = write!(reply.headers, "ETag: {tag}\r\n");
        if fault.is_none() && head.contains(&tag) {
            (reply.status, reply.body) = (304, Vec::new());
        }
    }
    reply
}

/// Zeros, packed a thousand to one.
fn bomb() -> Vec<u8> {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..BOMB_BYTES / zeros.len() {
        if packer.write_all(&zeros).is_err() {
            break;
        }
    }
    packer.finish().unwrap_or_default()
}
