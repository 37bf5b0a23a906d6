//! Limits the requests of each client, by their number and by the time that they take.
//!
//! [`Limiter::take`] returns how long the client has to wait, if it has to. [`Limiter::charge`] takes the time of a request from the
//! client's allowance when it is known: a search may cost a thousand times what another does, so that their number says little. At
//! most [`CLIENTS_MAX`] clients are kept. The machine's own clients are never limited: a proxy or a script of the operator.
//!
//! The generic cell rate algorithm (ATM Forum, 1996): for each client only the times at which its allowances are whole again are
//! kept.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use super::client::{Client, ClientHeader, Peer};
use crate::api::problem::Refusal;
use crate::config::Config;

/// Clients that are kept apart; about 64 bytes each.
const CLIENTS_MAX: usize = 50_000;
/// Share of a minute's requests that may come at once: what a page with its suggestions needs, several times over.
const BURST: Duration = Duration::from_secs(10);
/// Time of a processor that a client may use at once. A search takes some 20 ms and a comparison of eight queries in a large index a
/// second: a person opens a thousand searches or twenty such comparisons at once to reach it.
const TIME_BURST: Duration = Duration::from_secs(20);
/// Part of the processors that a client may use all the time. On one processor that is a search of a second every four seconds, for
/// hours: a person reads longer than that. As with connections, four greedy clients are needed to keep everybody else out.
const TIME_SHARE: f64 = 0.25;
/// Longest wait for an allowance of time: what a client can overdraw it by before its first searches end, so that a search that
/// hangs by a fault of the server does not shut its client out for hours.
const TIME_WAIT_MAX: Duration = Duration::from_secs(120);
/// What answers at any rate: those who watch the server must see it when it is busy.
const EXEMPT: [&str; 3] = ["/healthz", "/metrics", "/favicon.ico"];

/// Who may ask, how often and for how much.
#[derive(Debug)]
pub(crate) struct Limiter {
    /// Time between two requests of a client that asks all the time; none: no limit of either kind.
    pace: Option<Duration>,
    /// Processors that one client may use all the time.
    processors: f64,
    header: ClientHeader,
    clients: Mutex<HashMap<Client, Allowances>>,
}

/// When each allowance of a client is whole again.
#[derive(Debug, Clone, Copy)]
struct Allowances {
    requests: Instant,
    time: Instant,
}

impl Limiter {
    pub(crate) fn new(config: &Config) -> Limiter {
        Self::with_processors(config, available_parallelism().map_or(1, usize::from))
    }

    /// The limiter of a machine with so many processors.
    pub(crate) fn with_processors(config: &Config, processors: usize) -> Limiter {
        let minute = Duration::from_secs(60);
        Limiter {
            pace: minute.checked_div(config.requests_per_minute),
            processors: processors as f64 * TIME_SHARE,
            header: ClientHeader::new(config),
            clients: Mutex::default(),
        }
    }

    /// Takes one request of this client; if it has to wait, for how long.
    pub(crate) fn take(&self, client: Client, now: Instant) -> Result<(), Duration> {
        self.with_allowances(client, now, |allowances, pace| {
            self.check_time(allowances, now)?;
            let next = allowances.requests.max(now) + pace;
            let room = BURST.max(pace);
            let ahead = next.duration_since(now);
            if ahead > room {
                return Err(ahead - room);
            }
            allowances.requests = next;
            Ok(())
        })
        .unwrap_or(Ok(()))
    }

    /// Takes this time of a processor from the client's allowance, which may be overdrawn by it.
    pub(crate) fn charge(&self, client: Client, spent: Duration, now: Instant) {
        self.with_allowances(client, now, |allowances, _| {
            let refilled = allowances.time.max(now) + spent.div_f64(self.processors);
            allowances.time = refilled.min(now + self.time_room() + TIME_WAIT_MAX);
        });
    }

    /// Returns how long the client has to wait if it has overdrawn its allowance of time.
    pub(crate) fn check(&self, client: Client, now: Instant) -> Result<(), Duration> {
        self.with_allowances(client, now, |allowances, _| {
            self.check_time(allowances, now)
        })
        .unwrap_or(Ok(()))
    }

    fn check_time(&self, allowances: &Allowances, now: Instant) -> Result<(), Duration> {
        let ahead = allowances.time.saturating_duration_since(now);
        let overdrawn = ahead.saturating_sub(self.time_room());
        if overdrawn.is_zero() {
            Ok(())
        } else {
            Err(overdrawn)
        }
    }

    /// The time in which a whole allowance is refilled.
    fn time_room(&self) -> Duration {
        TIME_BURST.div_f64(self.processors)
    }

    /// Reads or changes what is kept of a client; `None` if it has no limit.
    fn with_allowances<T>(
        &self,
        client: Client,
        now: Instant,
        change: impl FnOnce(&mut Allowances, Duration) -> T,
    ) -> Option<T> {
        let pace = self.pace.filter(|_| client != Client::Machine)?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_MAX {
            clients.retain(|_, allowances| allowances.requests.max(allowances.time) > now);
        }
        // A flood from everywhere: better all at once than a list without end.
        if clients.len() >= CLIENTS_MAX {
            clients.clear();
        }
        let whole = Allowances {
            requests: now,
            time: now,
        };
        Some(change(clients.entry(client).or_insert(whole), pace))
    }

    /// Whom a request counts for.
    pub(crate) fn client(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Client {
        self.header.client(headers, peer)
    }
}

/// The time that the work on a request takes; dropped, it is the client's.
struct Bill<'a> {
    limiter: &'a Limiter,
    client: Client,
    spent: Duration,
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        self.limiter.charge(self.client, self.spent, Instant::now());
    }
}

impl Bill<'_> {
    /// Counts the time in which `work` computes, and not that in which it waits, such as for a search, which has a bill of its own.
    async fn count<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| {
            let started = Instant::now();
            let polled: Poll<T> = work.as_mut().poll(cx);
            self.spent += started.elapsed();
            polled
        })
        .await
    }
}

/// Lets a request pass, or asks the client to wait.
pub(crate) async fn limited(
    State(limiter): State<Arc<Limiter>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let path = request.uri().path();
    if EXEMPT.contains(&path) || path.starts_with("/assets/") {
        return Ok(next.run(request).await);
    }
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let peer = peer.map(|ConnectInfo(peer)| peer.address());
    let client = limiter.client(request.headers(), peer);
    let taken = limiter.take(client, Instant::now());
    taken.map_err(Refusal::TooMany)?;
    let bill = Bill {
        limiter: &limiter,
        client,
        spent: Duration::ZERO,
    };
    Ok(bill.count(client.scope(next.run(request))).await)
}
