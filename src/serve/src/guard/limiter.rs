//! Limits the requests of each client.
//!
//! [`Limiter::take`] returns how long the client has to wait, if it has to. At most [`CLIENTS_MAX`] clients are kept. The
//! machine's own clients are never limited: a proxy or a script of the operator.
//!
//! The generic cell rate algorithm (ATM Forum, 1996): for each client only the time at which its allowance is whole
//! again is kept.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::IncomingStream;
use tokio::time::Instant;

use super::listen::Guarded;
use crate::api::problem::Refusal;
use crate::config::Config;
use crate::guard::listen::network;
use crate::state::Server;

/// Clients that are kept apart; about 48 bytes each.
const CLIENTS_MAX: usize = 50_000;
/// Share of a minute's requests that may come at once: what a page with its suggestions needs, several times over.
const BURST: Duration = Duration::from_secs(10);
/// What answers at any rate: those who watch the server must see it when it is busy.
const EXEMPT: [&str; 3] = ["/healthz", "/metrics", "/favicon.ico"];

/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, Guarded>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Guarded>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

/// Who may ask, and how often.
pub(crate) struct Limiter {
    /// Time between two requests of a client that asks all the time; none: no limit.
    pace: Option<Duration>,
    /// Header in which a proxy names the client; empty: there is none.
    header: String,
    whole_at: Mutex<HashMap<u64, Instant>>,
}

impl Limiter {
    pub(crate) fn new(config: &Config) -> Limiter {
        let minute = Duration::from_secs(60);
        Limiter {
            pace: minute.checked_div(config.requests_per_minute),
            header: config.client_header.clone(),
            whole_at: Mutex::default(),
        }
    }

    /// Takes one request of this client; if it has to wait, for how long.
    pub(crate) fn take(&self, client: IpAddr, now: Instant) -> Result<(), Duration> {
        let Some(pace) = self.pace else {
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
        let whole_at = clients.entry(network(client)).or_insert(now);
        let next = (*whole_at).max(now) + pace;
        let room = BURST.max(pace);
        let ahead = next.duration_since(now);
        if ahead > room {
            return Err(ahead - room);
        }
        *whole_at = next;
        Ok(())
    }

    /// Whom a request counts for; none for the machine's own.
    pub(crate) fn client(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Option<IpAddr> {
        named_client(&self.header, headers).or_else(|| {
            let address = peer?.ip().to_canonical();
            (!address.is_loopback()).then_some(address)
        })
    }
}

/// The client that a proxy names in this header; none without a header.
fn named_client(header: &str, headers: &HeaderMap) -> Option<IpAddr> {
    if header.is_empty() {
        return None;
    }
    // The proxy writes the last one; those before it are what the client says of itself.
    let named = headers.get_all(header).into_iter().next_back()?;
    let last = named.to_str().ok()?.rsplit(',').next()?;
    last.trim().parse().ok()
}

/// The address of whoever sends a request, for the log; `None` if the request came over no connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    pub(crate) fn of(config: &Config, parts: &Parts) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        let peer = peer.map(|ConnectInfo(Peer(address))| address.ip());
        Self(named_client(&config.client_header, &parts.headers).or(peer))
    }
}

impl FromRequestParts<Server> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Infallible> {
        Ok(Self::of(&server.config, parts))
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
        let peer = peer.map(|ConnectInfo(Peer(address))| *address);
        if let Some(client) = limiter.client(request.headers(), peer) {
            let taken = limiter.take(client, Instant::now());
            taken.map_err(Refusal::TooMany)?;
        }
    }
    Ok(next.run(request).await)
}
