//! Tells clients apart, by the address of their connection or by what a proxy says of it.
//!
//! [`ClientHeader`] reads the header that `serve.client_header` names, in the forms that proxies write. A value without an address is
//! nobody's: all requests that have one are one client together, so that it gives nobody an allowance of his own.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::serve::IncomingStream;

use super::listen::{Guarded, network};
use crate::config::Config;
use crate::state::Server;

/// Characters of an unreadable value that the log shows: enough to see what the proxy writes.
const SHOWN_CHARS: usize = 100;

/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, Guarded>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Guarded>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

impl Peer {
    /// The other end of the connection.
    pub(crate) fn address(self) -> SocketAddr {
        self.0
    }
}

/// Whom a request counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// This machine itself, which no limit of a client holds for.
    Machine,
    /// An address, by its [`network`].
    Network(u64),
    /// All whose address the proxy does not write in a form that can be read.
    Unreadable,
}

impl Client {
    /// The client with this address, even if it is one of this machine.
    pub(crate) fn from_address(address: IpAddr) -> Self {
        Self::Network(network(address))
    }

    fn from_peer(peer: Option<SocketAddr>) -> Self {
        match peer.map(|peer| peer.ip().to_canonical()) {
            Some(address) if !address.is_loopback() => Self::from_address(address),
            _ => Self::Machine,
        }
    }
}

tokio::task_local! {
    /// Whom the request counts for that this task works on.
    static CURRENT: Client;
}

impl Client {
    /// Works on a request of this client.
    pub(crate) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }

    /// Returns whom the current request counts for: what no limit holds for is this machine's.
    pub(crate) fn current() -> Self {
        CURRENT.try_with(|client| *client).unwrap_or(Self::Machine)
    }
}

/// What a header says of the client.
#[derive(Debug)]
enum Named<'a> {
    Client(IpAddr),
    Unreadable(&'a HeaderValue),
    Missing,
}

/// The header in which a proxy names the client.
#[derive(Debug)]
pub(crate) struct ClientHeader {
    /// Empty: there is none.
    name: String,
    /// Whether the log has a line about a value that cannot be read, and about a request without the header.
    unreadable_said: AtomicBool,
    missing_said: AtomicBool,
}

impl ClientHeader {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            name: config.client_header.clone(),
            unreadable_said: AtomicBool::new(false),
            missing_said: AtomicBool::new(false),
        }
    }

    /// Returns whom a request counts for. The first value that cannot be read is a line of the log, and so is the first request
    /// without the header.
    pub(crate) fn client(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Client {
        let (client, problem) = self.read(headers, peer);
        if let Some(problem) = problem {
            tracing::warn!("{problem}");
        }
        client
    }

    /// The client, and what is new in how the proxy names it.
    fn read(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> (Client, Option<String>) {
        if self.name.is_empty() {
            return (Client::from_peer(peer), None);
        }
        let (client, said, problem) = match named(&self.name, headers) {
            Named::Client(address) => return (Client::from_address(address), None),
            Named::Unreadable(value) => {
                let shown: String = format!("{value:?}").chars().take(SHOWN_CHARS).collect();
                let problem = format!(
                    "{shown} names no address; all requests with such values count as one client"
                );
                (Client::Unreadable, &self.unreadable_said, problem)
            }
            Named::Missing => {
                let problem = "the header is missing; a proxy must set it, else its readers are limited together, or not at all \
                               if it is on this machine";
                let client = Client::from_peer(peer);
                (client, &self.missing_said, problem.to_owned())
            }
        };
        if said.swap(true, Ordering::Relaxed) {
            return (client, None);
        }
        let peer = peer.map_or("an unknown address".to_owned(), |p| p.ip().to_string());
        let name = &self.name;
        let line = format!("serve.client_header = {name:?}: a request from {peer}: {problem}");
        (client, Some(line))
    }
}

/// The client that a proxy names in this header.
fn named<'a>(header: &str, headers: &'a HeaderMap) -> Named<'a> {
    // The proxy writes the last one; those before it are what the client says of itself.
    let Some(value) = headers.get_all(header).into_iter().next_back() else {
        return Named::Missing;
    };
    let text = value.to_str().unwrap_or_default();
    let last = text.rsplit(',').next().unwrap_or_default();
    address(last).map_or(Named::Unreadable(value), Named::Client)
}

/// The address in one element of such a header: alone, with a port, in brackets, or as `for=` of RFC 7239.
fn address(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut pairs = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let node = pairs.next().map_or(element, |(_, node)| node);
    let node = node.trim().trim_matches('"');
    let bare = node.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
    if let Some(bare) = bare {
        return bare.parse::<Ipv6Addr>().ok().map(IpAddr::from);
    }
    let with_port = || Some(node.parse::<SocketAddr>().ok()?.ip());
    node.parse().ok().or_else(with_port)
}

/// The address of whoever sends a request, for the log; `None` if the request came over no connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    pub(crate) fn of(config: &Config, parts: &Parts) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>();
        let peer = peer.map(|ConnectInfo(Peer(address))| address.ip());
        if config.client_header.is_empty() {
            return Self(peer);
        }
        match named(&config.client_header, &parts.headers) {
            Named::Client(address) => Self(Some(address)),
            Named::Unreadable(_) | Named::Missing => Self(peer),
        }
    }
}

impl FromRequestParts<Server> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Infallible> {
        Ok(Self::of(&server.config, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each mistake, whatever comes, and none that could forge another.
    #[test]
    fn header_mistakes_are_logged_once() {
        let header = ClientHeader::new(&Config {
            client_header: "x-forwarded-for".to_owned(),
            ..Config::default()
        });
        let peer = Some("192.0.2.1:5".parse().unwrap());
        let mut lines = Vec::new();
        for at in 0..100 {
            let mut value = vec![0xff; 1_000];
            value[0] = 128 + at;
            let name = "x-forwarded-for".parse().unwrap();
            let garbage = HeaderMap::from_iter([(name, HeaderValue::from_bytes(&value).unwrap())]);
            lines.extend(header.read(&garbage, peer).1);
            lines.extend(header.read(&HeaderMap::new(), peer).1);
        }
        assert_eq!(lines.len(), 2, "{lines:?}");
        for (line, part) in lines.iter().zip(["names no address", "is missing"]) {
            let whole = line.contains("from 192.0.2.1: ") && line.contains(part);
            assert!(whole && line.len() < 300, "{line}");
        }
    }
}
