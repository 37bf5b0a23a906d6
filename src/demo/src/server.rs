//! Serves the sample web on a socket that the caller has bound. In: requests. Out: the world's answers, and a log of
//! the requests. Never opens a socket of its own, never leaves the loopback unless the caller binds elsewhere.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use tokio::net::TcpListener;

use super::answer::{Answer, Body, Request};
use super::traps::{Trap, TrapKind};
use super::world::World;

/// Delay of a slow page.
const SLOW_MS: u64 = 1500;
/// Requests remembered one by one; later ones are only counted.
const LOG_ENTRIES: usize = 200_000;
/// The endless page ends here, for a client that reads all of it.
const ENDLESS_BYTES: usize = 64 << 20;
/// How long open connections may go on after the shutdown.
const GRACE: Duration = Duration::from_secs(1);

/// One request and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Milliseconds since the server was made.
    pub at_ms: u64,
    /// Host header with port.
    pub authority: String,
    /// Path and query as sent.
    pub target: String,
    /// Status of the answer; 421 for a host outside the sample web.
    pub status: u16,
    /// Whether the client sent a condition (If-None-Match, If-Modified-Since).
    pub conditional: bool,
}

#[derive(Debug, Default)]
struct Log {
    hits: Vec<Hit>,
    counts: HashMap<String, u32>,
    total: u64,
    endless_bytes: u64,
}

/// The sample web as a server: a world and a log.
#[derive(Debug)]
pub struct Server {
    world: RwLock<World>,
    log: Mutex<Log>,
    slow: Duration,
    started: Instant,
}

impl Server {
    /// A server of this world with the usual delay on slow pages (1.5 s).
    pub fn new(world: World) -> Arc<Self> {
        Self::with_slow_ms(world, SLOW_MS)
    }

    /// A server whose slow pages take `slow_ms` milliseconds.
    pub fn with_slow_ms(world: World, slow_ms: u64) -> Arc<Self> {
        Arc::new(Self {
            world: RwLock::new(world),
            log: Mutex::default(),
            slow: Duration::from_millis(slow_ms),
            started: Instant::now(),
        })
    }

    /// The world as it is now. Not to be held across an await.
    pub fn world(&self) -> RwLockReadGuard<'_, World> {
        self.world.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the world to its next round.
    pub fn advance(&self, now_ms: i64) {
        self.world
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .advance(now_ms);
    }

    /// How often an address was requested: `http://host:port/path`, or `host:port/path`, query included.
    pub fn hits(&self, url: &str) -> u32 {
        let key = url.trim_start_matches("http://");
        self.log().counts.get(key).copied().unwrap_or(0)
    }

    /// How many requests went to addresses with this prefix since the log was last cleared.
    pub fn hits_under(&self, url: &str) -> u32 {
        let prefix = url.trim_start_matches("http://");
        let log = self.log();
        log.hits
            .iter()
            .map(|hit| (&hit.authority, &hit.target))
            .fold(0, |sum, (authority, target)| {
                let below = prefix
                    .strip_prefix(authority.as_str())
                    .is_some_and(|path| target.starts_with(path));
                sum + u32::from(below)
            })
    }

    /// The requests since the log was last cleared, oldest first.
    pub fn log_of_hits(&self) -> Vec<Hit> {
        self.log().hits.clone()
    }

    /// The traps with more requests than they allow since the log was last cleared, and how many. A session trap counts
    /// the requests for its most requested page, whatever the session number.
    pub fn triggered_traps(&self) -> Vec<(Trap, u32)> {
        let traps = self.world().traps.clone();
        let hits = self.log_of_hits();
        let count = |trap: &Trap| {
            let inside = hits
                .iter()
                .filter(|hit| trap.matches(&hit.authority, &hit.target));
            if trap.kind != TrapKind::Session {
                return inside.count();
            }
            let mut pages: HashMap<&str, usize> = HashMap::new();
            for hit in inside {
                let path = hit
                    .target
                    .split_once('?')
                    .map_or(hit.target.as_str(), |(path, _)| path);
                *pages.entry(path).or_default() += 1;
            }
            pages.into_values().max().unwrap_or(0)
        };
        traps
            .into_iter()
            .map(|trap| {
                let count = u32::try_from(count(&trap)).unwrap_or(u32::MAX);
                (trap, count)
            })
            .filter(|(trap, count)| *count > trap.max_hits)
            .collect()
    }

    /// Requests for hosts outside the sample web, since the log was last cleared: each one is a failure.
    pub fn unknown_host_hits(&self) -> Vec<Hit> {
        self.log_of_hits()
            .into_iter()
            .filter(|hit| hit.status == 421)
            .collect()
    }

    /// Requests since the start.
    pub fn total(&self) -> u64 {
        self.log().total
    }

    /// Bytes of the endless page that clients read.
    pub fn endless_bytes(&self) -> u64 {
        self.log().endless_bytes
    }

    /// Forgets the single requests, for example between two rounds; the number of requests per address is kept,
    /// so that a throttled page is not throttled again.
    pub fn clear_log(&self) {
        self.log().hits.clear();
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that is about to be answered: how often it came before, and its number.
    fn count(&self, authority: &str, target: &str) -> (u32, u64) {
        let mut log = self.log();
        log.total += 1;
        let nonce = log.total;
        let known = log.counts.len() < LOG_ENTRIES;
        let key = format!("{authority}{target}");
        let before = match log.counts.get_mut(&key) {
            Some(count) => {
                *count += 1;
                *count - 1
            }
            None => {
                if known {
                    log.counts.insert(key, 1);
                }
                0
            }
        };
        (before, nonce)
    }

    fn record(&self, hit: Hit) {
        let mut log = self.log();
        if log.hits.len() < LOG_ENTRIES {
            log.hits.push(hit);
        }
    }
}

/// Serves until `shutdown` is ready, then lets open connections end within a second.
pub async fn serve(
    server: Arc<Server>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let app = Router::new().fallback(respond).with_state(server);
    let graceful = async move {
        shutdown.await;
        // The receiver is gone only when serving has ended already.
        let _ = stop.send(true);
    };
    let serving = axum::serve(listener, app).with_graceful_shutdown(graceful);
    tokio::select! {
        result = serving.into_future() => result,
        () = async {
            let _ = stopped.wait_for(|stopped| *stopped).await;
            tokio::time::sleep(GRACE).await;
        } => Ok(()),
    }
}

async fn respond(State(server): State<Arc<Server>>, http: HttpRequest) -> Response {
    let headers = http.headers();
    let authority = text(headers, header::HOST.as_str())
        .unwrap_or_default()
        .to_owned();
    let target = http
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str())
        .to_owned();
    let (asked_before, nonce) = server.count(&authority, &target);
    let request = Request {
        host: &authority,
        target: &target,
        if_none_match: text(headers, header::IF_NONE_MATCH.as_str()),
        if_modified_since: text(headers, header::IF_MODIFIED_SINCE.as_str()),
        accepts_gzip: text(headers, header::ACCEPT_ENCODING.as_str())
            .is_some_and(|codings| codings.contains("gzip")),
        asked_before,
        nonce,
    };
    let conditional = request.if_none_match.is_some() || request.if_modified_since.is_some();
    let answer = server.world().answer(&request);
    let status = answer.as_ref().map_or(421, |answer| answer.status);
    let at_ms = u64::try_from(server.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    server.record(Hit {
        at_ms,
        authority,
        target,
        status,
        conditional,
    });
    match answer {
        None => plain(
            StatusCode::MISDIRECTED_REQUEST,
            "no such host in the sample web\n",
        ),
        Some(answer) => {
            if answer.slow {
                tokio::time::sleep(server.slow).await;
            }
            response(answer, &server)
        }
    }
}

fn response(answer: Answer, server: &Arc<Server>) -> Response {
    let body = match answer.body {
        Body::Bytes(bytes) => HttpBody::from(bytes),
        Body::Endless => endless(Arc::clone(server)),
    };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn plain(status: StatusCode, body: &'static str) -> Response {
    let mut response = Response::new(HttpBody::from(body));
    *response.status_mut() = status;
    response
}

/// An endless table: the client closes the connection, or the limit ends it.
fn endless(server: Arc<Server>) -> HttpBody {
    let head = "<!DOCTYPE html><html><head><title>历年产量总表-华东天然气信息</title></head><body><h2>历年产量总表</h2><table>\n";
    let chunks = stream::unfold((server, 0_usize), move |(server, row)| async move {
        let chunk = if row == 0 { head.to_owned() } else { rows(row) };
        let sent = u64::try_from(chunk.len()).unwrap_or(0);
        let total = {
            let mut log = server.log();
            log.endless_bytes += sent;
            log.endless_bytes
        };
        if total > ENDLESS_BYTES as u64 {
            return None;
        }
        Some((
            Ok::<Bytes, io::Error>(Bytes::from(chunk)),
            (server, row + 256),
        ))
    });
    HttpBody::from_stream(chunks)
}

fn rows(from: usize) -> String {
    (from..from + 256)
        .map(|row| {
            format!(
                "<tr><td>{row}</td><td>{}</td><td>{}</td></tr>\n",
                row * 7 % 991,
                row * 13 % 877
            )
        })
        .collect()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
