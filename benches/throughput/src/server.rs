//! Serves the pages from addresses of the loopback and counts them.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::page;

/// The address of a host.
pub fn address(host: u32) -> Ipv4Addr {
    Ipv4Addr::new(127, 2, 0, u8::try_from(host % 250 + 1).unwrap_or(1))
}

/// Serves `pages` pages in all, divided over `hosts`, until killed; prints the port first.
pub fn run(hosts: u32, pages: u32) {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let served = Arc::new(AtomicU64::new(0));
        let first = TcpListener::bind((address(0), 0)).await.expect("a port");
        let port = first.local_addr().expect("its port").port();
        let mut all = vec![first];
        for host in 1..hosts {
            all.push(TcpListener::bind((address(host), port)).await.expect("the port"));
        }
        println!("{port}");
        for (host, listener) in (0u32..).zip(all) {
            let served = Arc::clone(&served);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(connection(host, pages / hosts, stream, Arc::clone(&served)));
                }
            });
        }
        std::future::pending::<()>().await;
    });
}

async fn connection(host: u32, count: u32, mut stream: TcpStream, served: Arc<AtomicU64>) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            match stream.read_buf(&mut buffer).await {
                Ok(n) if n > 0 => {}
                _ => return,
            }
        };
        let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
        buffer.drain(..end + 4);
        let path = head.split(' ').nth(1).unwrap_or("/");
        let close = if path == "/count" { "Connection: close\r\n" } else { "" };
        let found = match path {
            "/count" => Some(served.load(Ordering::Relaxed).to_string()),
            path => page::number(path).filter(|n| *n < count).map(|n| {
                served.fetch_add(1, Ordering::Relaxed);
                page::page(host, n, count)
            }),
        };
        let (status, body) = found.map_or((404, String::new()), |body| (200, body));
        let text = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: text/html; charset=utf-8\r\n{close}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(text.as_bytes()).await.is_err() || !close.is_empty() {
            return;
        }
    }
}
