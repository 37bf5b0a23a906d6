//! Latency and throughput through HTTP: servers in this process, clients with connections that stay open.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use taojin::serve::{self, ServeState, Status};
use taojin_search::analyze::Analyzer;

use crate::collection::{self, Engine};
use crate::corpus;

const CLIENTS: usize = 16;
const ROUNDS: usize = 5;

/// A server over one of the indexes, whose searches have so many threads.
struct Server {
    name: String,
    address: SocketAddr,
}

/// Asks `queries200_latency.txt` one after the other, and from 16 clients at once. Each number of threads has a server of its
/// own over the embedded index, the other engine has one; they take turns, so that what else the machine does hits all.
pub(crate) fn measure(
    folder: &Path,
    indexes: &[(PathBuf, Engine)],
    analyzer: &Analyzer,
    alone: bool,
    together: bool,
) {
    let metrics = serve::metrics::install().expect("one recorder a process");
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let start = |dir: &Path, engine: Engine, threads: usize| {
        let state = ServeState {
            terms: None,
            sites: None,
            templates: None,
            log: None,
            health: Arc::new(Vec::new),
            readiness: Arc::new(|| taojin::serve::Readiness::Ready),
            source: Arc::new(collection::open_with(dir, engine, analyzer, threads)),
            status: Arc::new(|| Ok(Status::default())),
            metrics: metrics.clone(),
            config: serve::Config::default(),
            follows: Arc::new(Vec::new),
        };
        let listener = runtime
            .block_on(serve::bind(SocketAddr::from(([127, 0, 0, 1], 0))))
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(serve::serve(listener, state, std::future::pending()));
        let name = match threads {
            _ if engine == Engine::OpenSearch => "OpenSearch".to_owned(),
            0 => "default threads".to_owned(),
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        Server { name, address }
    };
    let mut servers = Vec::new();
    for (dir, engine) in indexes {
        let threads = match engine {
            Engine::Embedded => collection::threads(),
            Engine::OpenSearch => vec![1],
        };
        servers.extend(
            threads
                .into_iter()
                .map(|threads| start(dir, *engine, threads)),
        );
    }
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
            let rounds = in_turns(&servers, |server| {
                ask(server.address, &queries, path, quote)
            });
            for (server, rounds) in servers.iter().zip(rounds) {
                let mut ms: Vec<f64> = rounds.into_iter().flatten().collect();
                let percentiles = corpus::percentiles(&mut ms);
                println!("latency, {name}, {}: {percentiles}", server.name);
            }
        }
    }
    if together {
        let all_clients = |server: &Server| {
            let started = Instant::now();
            let ms: Vec<f64> = std::thread::scope(|scope| {
                let ask = || ask(server.address, &queries, "/api/search?limit=10&q=", false);
                let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
                let taken = clients
                    .into_iter()
                    .flat_map(|c| c.join().expect("no error"));
                taken.collect()
            });
            (ms.len() as f64 / started.elapsed().as_secs_f64(), ms)
        };
        let rounds = in_turns(&servers, all_clients);
        let first: Vec<f64> = rounds.iter().flatten().take(ROUNDS).map(|r| r.0).collect();
        for (server, rounds) in servers.iter().zip(rounds) {
            let (rates, ms): (Vec<f64>, Vec<Vec<f64>>) = rounds.into_iter().unzip();
            let rate = rates.iter().sum::<f64>() / ROUNDS as f64;
            let mut ratios: Vec<f64> = rates.iter().zip(&first).map(|(a, b)| a / b).collect();
            ratios.sort_by(f64::total_cmp);
            println!(
                "{CLIENTS} clients, {}: {rate:.0} queries a second, {:.3} of {} in the median of rounds; {}",
                server.name,
                ratios[ROUNDS / 2],
                servers[0].name,
                corpus::percentiles(&mut ms.concat())
            );
        }
    }
}

/// What each server gives in each round. One more before the first fills the page cache.
fn in_turns<T>(servers: &[Server], ask: impl Fn(&Server) -> T) -> Vec<Vec<T>> {
    let mut rounds: Vec<Vec<T>> = servers.iter().map(|_| Vec::new()).collect();
    for round in 0..=ROUNDS {
        for (server, kept) in servers.iter().zip(&mut rounds) {
            let taken = ask(server);
            if round > 0 {
                kept.push(taken);
            }
        }
    }
    rounds
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
