//! Limits the requests of each client.
//!
//! [`Limiter::take`] returns how long the client has to wait, if it has to. At most [`CLIENTS_MAX`] clients are kept. The
//! machine's own clients are never limited: a proxy or a script of the operator.
//!
//! The generic cell rate algorithm (ATM Forum, 1996): for each client only the time at which its allowance is whole
//! again is kept.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use super::client::{Client, ClientHeader, Peer};
use crate::api::problem::Refusal;
use crate::config::Config;

/// Clients that are kept apart; about 48 bytes each.
const CLIENTS_MAX: usize = 50_000;
/// Share of a minute's requests that may come at once: what a page with its suggestions needs, several times over.
const BURST: Duration = Duration::from_secs(10);
/// What answers at any rate: those who watch the server must see it when it is busy.
const EXEMPT: [&str; 3] = ["/healthz", "/metrics", "/favicon.ico"];

/// Who may ask, and how often.
pub(crate) struct Limiter {
    /// Time between two requests of a client that asks all the time; none: no limit.
    pace: Option<Duration>,
    header: ClientHeader,
    whole_at: Mutex<HashMap<Client, Instant>>,
}

impl Limiter {
    pub(crate) fn new(config: &Config) -> Limiter {
        let minute = Duration::from_secs(60);
        Limiter {
            pace: minute.checked_div(config.requests_per_minute),
            header: ClientHeader::new(config),
            whole_at: Mutex::default(),
        }
    }

    /// Takes one request of this client; if it has to wait, for how long.
    pub(crate) fn take(&self, client: Client, now: Instant) -> Result<(), Duration> {
        let Some(pace) = self.pace.filter(|_| client != Client::Machine) else {
            return Ok(());
        };
        let mut clients = self.whole_at.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_MAX {
            clients.retain(|_, whole_at| *whole_at > now);
        }
        // A flood from everywhere: better all at once than a list without end.
        if clients.len() >= CLIENTS_MAX {
            clients.clear();
        }
        let whole_at = clients.entry(client).or_insert(now);
        let next = (*whole_at).max(now) + pace;
        let room = BURST.max(pace);
        let ahead = next.duration_since(now);
        if ahead > room {
            return Err(ahead - room);
        }
        *whole_at = next;
        Ok(())
    }

    /// Whom a request counts for.
    pub(crate) fn client(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Client {
        self.header.client(headers, peer)
    }
}

/// Lets a request pass, or asks the client to wait.
pub(crate) async fn limited(
    State(limiter): State<Arc<Limiter>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let path = request.uri().path();
    if !EXEMPT.contains(&path) && !path.starts_with("/assets/") {
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.address());
        let client = limiter.client(request.headers(), peer);
        let taken = limiter.take(client, Instant::now());
        taken.map_err(Refusal::TooMany)?;
        return Ok(client.scope(next.run(request)).await);
    }
    Ok(next.run(request).await)
}
