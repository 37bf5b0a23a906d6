//! The `[serve]` section: limits that every handler reads. Nothing is opened here.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use crate::guard::operator::{Secret, TOKEN_CHARS_MIN};
use serde::{Deserialize, Serialize};

/// Loopback: search is reachable from this machine only until the operator decides otherwise.
pub(crate) const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8080));
/// A long headline pasted whole has some 60 characters, a sentence some 100; more is a mistake or an attack.
pub(crate) const DEFAULT_QUERY_CHARS: usize = 256;
/// A reader never turns page 100; each further hit costs memory in every index segment.
pub(crate) const DEFAULT_WINDOW: usize = 10_000;
/// One answer of 100 hits with snippets stays under some 100 kB.
pub(crate) const DEFAULT_LIMIT_MAX: usize = 100;
/// A search takes milliseconds; one that runs into this limit is given up and answered with 503.
pub(crate) const DEFAULT_TIME_LIMIT_MS: u64 = 5_000;
/// Searches that run at once: more than a small machine has cores, few enough to bound memory.
pub(crate) const DEFAULT_CONCURRENT_SEARCHES: usize = 16;
/// Open connections: enough for 64 busy clients with some to spare, far below the usual 1,024 descriptors.
pub(crate) const DEFAULT_CONNECTIONS: usize = 512;
/// Ten a second all the time, a hundred at once: more than any person or feed reader, less than a copying machine. What they may
/// cost is limited apart, in `guard::limiter`.
pub(crate) const DEFAULT_REQUESTS_PER_MINUTE: u32 = 600;
/// A client that sends nothing for this long is hung up on, between requests and in the middle of one.
pub(crate) const DEFAULT_IDLE_MS: u64 = 30_000;
/// From the first byte of a request to its last: the longest form is 64 KiB, which a bad line sends in 15 seconds.
pub(crate) const DEFAULT_REQUEST_MS: u64 = 20_000;

/// An index is seconds behind its store; one that is minutes behind is being made, or stuck.
pub(crate) const DEFAULT_MAX_LAG_MS: u64 = 10 * 60_000;

/// Hits of one result page of the web page.
pub(crate) const PAGE_HITS: usize = 10;
/// Hits of one API answer when the client does not say.
pub(crate) const DEFAULT_LIMIT: usize = 10;
/// Values of `site` one query may name.
pub(crate) const SITES_MAX: usize = 32;

/// Settings of the HTTP API and the web page.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address and port to listen on. Anything but a loopback address makes search readable by the network.
    pub listen: SocketAddr,
    /// Address under which readers reach the server when a proxy stands before it, for example
    /// `https://search.example.org/taojin`; its path is put before every link. Empty: links start at `/`.
    pub public_url: String,
    /// Longest query, in characters; a longer one is answered with 400.
    pub query_chars: usize,
    /// Deepest hit that can be asked for (offset + limit).
    pub window: usize,
    /// Most hits in one answer.
    pub limit_max: usize,
    /// Time one request may take, in milliseconds; afterwards it is answered with 503.
    pub time_limit_ms: u64,
    /// Searches that run at the same time; others wait until their time limit, and clients take turns. A quarter of them at most,
    /// and at least one, is one client's, of which 32 more requests may wait; what comes beyond them is answered with 429.
    pub concurrent_searches: usize,
    /// Connections open at the same time; others wait in the system's queue. A quarter of them at most from one client.
    pub connections: usize,
    /// Silence after which a client is hung up on, in milliseconds.
    pub idle_ms: u64,
    /// Time that a client has for sending one request, from its first byte to its last, in milliseconds; one that takes
    /// longer is hung up on. Over as long a time, a client must take in 1 KiB of an answer a second.
    pub request_ms: u64,
    /// Milliseconds by which the index may be behind the store for `/readyz` to say that this server can be asked; 0: any. A
    /// balancer before several machines asks the others meanwhile.
    pub max_lag_ms: u64,
    /// Requests that one client (an IPv4 address, or a /64 of IPv6) may send a minute; one that sends more is answered
    /// with 429 and Retry-After, and so is one whose requests take more than a quarter of the processors, after 20 seconds of
    /// a processor at once. 0: neither is limited. `/healthz`, `/metrics`, `/favicon.ico`, `/assets/` and this machine itself are
    /// exempt.
    pub requests_per_minute: u32,
    /// Header in which a proxy in front of the server names the client, for example `x-forwarded-for` (its last address
    /// counts; it may have a port). Only with a proxy that sets it itself: otherwise clients could give themselves any name. All
    /// requests in which it holds no address count as one client.
    pub client_header: String,
    /// Names under which the server may be asked, beside `localhost`, addresses in numbers and the name in `public_url`;
    /// any other is answered with 421. Empty: on a loopback address only those, on any other address every name.
    pub allowed_hosts: Vec<String>,
    /// Whether `/status`, `/api/status` and `/metrics` are answered. They show site names, errors and disk use:
    /// switch them off, or close them in the proxy, before the server is opened to strangers.
    pub operator_pages: bool,
    /// The operator's token, 20 characters or more (`openssl rand -hex 20`): whoever has it may change something over
    /// HTTP, as `Authorization: Bearer TOKEN` or by signing in at `/login`. Empty: nothing can be changed over HTTP.
    pub token: Secret,
    /// A file that holds the token, in place of [`Config::token`], so that the configuration holds no secret. Relative to
    /// the configuration; `$CREDENTIALS_DIRECTORY/NAME` is what systemd's `LoadCredential=NAME:FILE` gives the service.
    pub token_file: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: DEFAULT_LISTEN,
            public_url: String::new(),
            query_chars: DEFAULT_QUERY_CHARS,
            window: DEFAULT_WINDOW,
            limit_max: DEFAULT_LIMIT_MAX,
            time_limit_ms: DEFAULT_TIME_LIMIT_MS,
            concurrent_searches: DEFAULT_CONCURRENT_SEARCHES,
            connections: DEFAULT_CONNECTIONS,
            idle_ms: DEFAULT_IDLE_MS,
            request_ms: DEFAULT_REQUEST_MS,
            max_lag_ms: DEFAULT_MAX_LAG_MS,
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
            client_header: String::new(),
            allowed_hosts: Vec::new(),
            operator_pages: true,
            token: Secret::default(),
            token_file: PathBuf::new(),
        }
    }
}

impl Config {
    /// What is wrong with the values beside their ranges, which `config` knows; one line each with the key's name.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.window < self.limit_max {
            found.push(format!(
                "window = {} is smaller than limit_max = {}; no full answer would fit",
                self.window, self.limit_max
            ));
        }
        if self.idle_ms <= self.time_limit_ms {
            found.push(format!(
                "idle_ms = {} must be more than time_limit_ms = {}, else clients are hung up on while they wait",
                self.idle_ms, self.time_limit_ms
            ));
        }
        if axum::http::HeaderName::try_from(&self.client_header).is_err()
            && !self.client_header.is_empty()
        {
            found.push(format!(
                "client_header = {:?} is no name of a header; write for example x-forwarded-for",
                self.client_header
            ));
        }
        let name = |host: &String| {
            !host.is_empty()
                && host
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        };
        if let Some(host) = self.allowed_hosts.iter().find(|host| !name(host)) {
            found.push(format!(
                "allowed_hosts: {host:?} is no name of a host; write names without scheme and port, for example \"search.example.org\""
            ));
        }
        found.extend(self.token_problem());
        if !self.token.is_empty() && !self.token_file.as_os_str().is_empty() {
            found.push("token_file and token are both set: remove one of them".to_owned());
        }
        if let Err(reason) = public_path(&self.public_url) {
            found.push(format!("public_url = {:?}: {reason}", self.public_url));
        }
        found
    }

    /// What is wrong with the token, without showing it.
    pub fn token_problem(&self) -> Option<String> {
        let token = self.token.reveal();
        let long = token.chars().count() >= TOKEN_CHARS_MIN;
        let fine = token.is_empty() || (long && token.chars().all(|c| c.is_ascii_graphic()));
        (!fine).then(|| {
            format!(
                "token must have {TOKEN_CHARS_MIN} printable ASCII characters or more without spaces; make one with: openssl rand -hex 20"
            )
        })
    }

    /// Largest `offset` that is accepted, so that a full answer still lies within the window.
    pub fn offset_max(&self) -> usize {
        self.window.saturating_sub(self.limit_max)
    }

    /// Path of the public address without its last slash: what every link of a page starts with.
    pub fn link_base(&self) -> String {
        public_path(&self.public_url).unwrap_or_default()
    }
}

fn public_path(public_url: &str) -> Result<String, &'static str> {
    if public_url.is_empty() {
        return Ok(String::new());
    }
    let url = url::Url::parse(public_url)
        .map_err(|_| "not an address; write for example https://search.example.org/")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must start with http:// or https://");
    }
    Ok(url.path().trim_end_matches('/').to_owned())
}
