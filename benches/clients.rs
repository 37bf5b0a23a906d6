//! Many readers at once: the server over an index, and clients that each send one search after the other on a
//! connection of their own. Nothing may fail; how long the answers take is printed.
//!
//! `cargo bench --bench clients` searches documents of its own making; with `TAOJIN_DOCUMENTS=FILE` (JSON lines, as
//! `taojin import` reads them) and `TAOJIN_QUERIES=FILE` (one a line) those.

#![expect(clippy::print_stdout, reason = "a report for a person")]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use taojin::serve::{self, Config, ServeState, Status};
use taojin_extract::Document;
use taojin_search::analyze::{Analyzer, Lexicon};
use taojin_search::index::{
    self, DocumentSource, IndexWriter as _, Reader, SourceError, StoredDocument, Writer,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Readers at once.
const CLIENTS: usize = 64;
/// Searches of each.
const SEARCHES: usize = 100;
/// Documents of our own making.
const DOCUMENTS: usize = 5_000;
/// Words that they are made of.
const WORDS: [&str; 16] = [
    "页岩气",
    "水平井",
    "压裂",
    "天然气",
    "价格",
    "产量",
    "炼厂",
    "检修",
    "管道",
    "投产",
    "储气库",
    "注气",
    "原油",
    "期货",
    "海上",
    "平台",
];

fn main() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let analyzer = Analyzer::new(&[Lexicon::builtin("oil-gas").expect("built in")]);
    let settings = index::Config::default();
    let documents = documents();
    let stored = |(at, document): (u64, &Document)| StoredDocument {
        fingerprint: at,
        seq: at,
        fetched_ms: 1_790_000_000_000,
        changed_ms: 1_790_000_000_000,
        document: document.clone(),
    };
    let kept = Arc::new(Kept((1..).zip(&documents).map(stored).collect()));
    let source = Arc::clone(&kept) as Arc<dyn DocumentSource>;
    let mut writer = Writer::open(dir.path(), &settings, source, 1).expect("an index");
    for stored in &kept.0 {
        writer.upsert(stored).expect("added");
    }
    writer.commit(documents.len() as u64).expect("committed");
    let reader = Reader::open(dir.path(), &analyzer, &settings, kept).expect("the index");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (mut times, took) = runtime.block_on(load(Arc::new(reader)));
    times.sort_unstable();
    let at = |share: f64| {
        let place = (times.len() as f64 * share) as usize;
        times
            .get(place.min(times.len() - 1))
            .map_or(0.0, |t| t.as_secs_f64() * 1e3)
    };
    println!(
        "{CLIENTS} clients, {} documents, {} searches, none failed: {:.0} a second, p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms",
        documents.len(),
        times.len(),
        times.len() as f64 / took.as_secs_f64(),
        at(0.5),
        at(0.95),
        at(0.99)
    );
}

/// All documents, in the order of their fingerprints from 1 on.
struct Kept(Vec<StoredDocument>);

impl DocumentSource for Kept {
    fn get(&self, fingerprint: u64, _: u64) -> Result<Option<StoredDocument>, SourceError> {
        let at = usize::try_from(fingerprint)?.checked_sub(1);
        Ok(at.and_then(|at| self.0.get(at)).cloned())
    }
}

fn documents() -> Vec<Document> {
    if let Ok(file) = std::env::var("TAOJIN_DOCUMENTS") {
        let text = fs::read_to_string(file).expect("TAOJIN_DOCUMENTS can be read");
        let read = |line: &str| serde_json::from_str(line).expect("a document a line");
        return text.lines().map(read).collect();
    }
    let word = |n: usize| WORDS[n % WORDS.len()];
    let document = |at: usize| Document {
        url: format!("https://a.example/{at}"),
        site: Some(format!("site{}", at % 7)),
        title: Some(format!("{}{}第{at}号", word(at), word(at / 3))),
        published: Some(format!("2026-{:02}-{:02}", at % 12 + 1, at % 28 + 1)),
        text: (0..60)
            .map(|n| format!("{}{}上升，", word(at * 7 + n * n), word(at / 5 + n)))
            .collect(),
        ..Document::default()
    };
    (0..DOCUMENTS).map(document).collect()
}

fn queries() -> Vec<String> {
    if let Ok(file) = std::env::var("TAOJIN_QUERIES") {
        let text = fs::read_to_string(file).expect("TAOJIN_QUERIES can be read");
        return text.lines().map(str::to_owned).collect();
    }
    let pair = |at: usize| format!("{} {}", WORDS[at % 16], WORDS[at / 16]);
    (0..WORDS.len() * WORDS.len()).map(pair).collect()
}

/// Serves and asks; the time of each answer, and of all.
async fn load(reader: Arc<Reader>) -> (Vec<Duration>, Duration) {
    let listener = serve::bind(([127, 0, 0, 1], 0).into())
        .await
        .expect("a port");
    let address = listener.local_addr().expect("its address");
    let state = ServeState {
        templates: None,
        log: None,
        health: Arc::new(Vec::new),
        readiness: Arc::new(|| taojin::serve::Readiness::Ready),
        terms: None,
        sites: None,
        config: Config::default(),
        source: reader,
        follows: Arc::new(Vec::new),
        status: Arc::new(|| Ok(Status::default())),
        metrics: serve::metrics::install().expect("once"),
    };
    tokio::spawn(serve::serve(listener, state, std::future::pending()));
    let queries = Arc::new(queries());
    let started = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let queries = Arc::clone(&queries);
        clients.spawn(async move {
            let stream = TcpStream::connect(address).await.expect("a connection");
            let mut stream = BufReader::new(stream);
            let mut times = Vec::with_capacity(SEARCHES);
            for at in 0..SEARCHES {
                let query = &queries[(client * 31 + at) % queries.len()];
                times.push(search(&mut stream, query).await);
            }
            times
        });
    }
    let times = clients.join_all().await.into_iter().flatten().collect();
    (times, started.elapsed())
}

/// One search; anything but hits is an error.
async fn search(stream: &mut BufReader<TcpStream>, query: &str) -> Duration {
    let started = Instant::now();
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let request = format!("GET /api/search?q={query}&limit=10 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let (mut line, mut length, mut first) = (String::new(), 0, String::new());
    while stream.read_line(&mut line).await.expect("an answer") > 2 {
        if first.is_empty() {
            first.clone_from(&line);
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream
        .read_exact(&mut body)
        .await
        .expect("the whole answer");
    assert!(
        first.contains(" 200 "),
        "{first}{}",
        String::from_utf8_lossy(&body)
    );
    assert!(body.starts_with(b"{\"total\":"), "no hits");
    started.elapsed()
}
