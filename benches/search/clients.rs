//! Latency through HTTP: a server in this process, clients with connections that stay open.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use taojin::serve::{self, ServeState, Status};
use taojin_search::analyze::Analyzer;

use crate::{collection, corpus};

const CLIENTS: usize = 64;
const ROUNDS: usize = 3;

/// Asks `queries200_latency.txt` one after the other, and from 64 clients at once.
pub(crate) fn measure(folder: &Path, dir: &Path, analyzer: &Analyzer, alone: bool, together: bool) {
    let reader = collection::open(dir, analyzer);
    let state = ServeState {
        terms: None,
        sites: None,
        templates: None,
        log: None,
        health: Arc::new(Vec::new),
        readiness: Arc::new(|| taojin::serve::Readiness::Ready),
        source: Arc::new(reader),
        status: Arc::new(|| Ok(Status::default())),
        metrics: serve::metrics::install().expect("one server a process"),
        config: serve::Config::default(),
        follows: Arc::new(Vec::new),
    };
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let listener = runtime
        .block_on(serve::bind(SocketAddr::from(([127, 0, 0, 1], 0))))
        .expect("a free port");
    let address = listener.local_addr().expect("an address");
    runtime.spawn(serve::serve(listener, state, std::future::pending()));
    let queries = corpus::lines(&folder.join("queries200_latency.txt"));
    if alone {
        for (name, path, quote) in [
            ("/api/search", "/api/search?limit=10&q=", false),
            ("/api/search quoted", "/api/search?limit=10&q=", true),
            (
                "/api/search grouped, facets",
                "/api/search?grouped=true&facets=true&q=",
                false,
            ),
            ("web page", "/?q=", false),
        ] {
            let mut ms = Vec::new();
            for round in 0..=ROUNDS {
                let mut taken = ask(address, &queries, path, quote);
                // The first round fills the page cache.
                if round > 0 {
                    ms.append(&mut taken);
                }
            }
            println!("latency, {name}: {}", corpus::percentiles(&mut ms));
        }
    }
    if together {
        let mut ms: Vec<f64> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| scope.spawn(|| ask(address, &queries, "/api/search?limit=10&q=", false)))
                .collect();
            let taken = clients
                .into_iter()
                .flat_map(|c| c.join().expect("no error"));
            taken.collect()
        });
        println!(
            "latency, {CLIENTS} clients: {}",
            corpus::percentiles(&mut ms)
        );
    }
}

/// All queries over one connection; milliseconds of each.
fn ask(address: SocketAddr, queries: &[String], path: &str, quote: bool) -> Vec<f64> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("a socket option");
    let mut buffer = vec![0; 1 << 20];
    let mut taken = Vec::with_capacity(queries.len());
    for query in queries {
        let text = if quote {
            format!("\"{query}\"")
        } else {
            query.clone()
        };
        let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let started = Instant::now();
        write!(
            stream,
            "GET {path}{text} HTTP/1.1\r\nhost: localhost\r\n\r\n"
        )
        .expect("a request");
        let mut got = 0;
        loop {
            got += stream.read(&mut buffer[got..]).expect("an answer");
            let head = buffer[..got].windows(4).position(|w| w == b"\r\n\r\n");
            let Some(head) = head else { continue };
            let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
            assert!(text.starts_with("http/1.1 200"), "{text}");
            let length = text.split("content-length: ").nth(1).expect("a length");
            let length: usize = length
                .lines()
                .next()
                .unwrap_or("")
                .parse()
                .expect("a number");
            if got >= head + 4 + length {
                break;
            }
        }
        taken.push(started.elapsed().as_secs_f64() * 1e3);
    }
    taken
}
