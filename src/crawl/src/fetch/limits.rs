//! The settings of fetching, table `[fetch]` of the configuration: user agent, time limits, size limits. [`Config`]
//! does no I/O.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::guard::Network;

/// Names the program; an operator should add where to complain.
const USER_AGENT: &str = concat!("taojin/", env!("CARGO_PKG_VERSION"));
/// Chinese pages first where a server has several languages.
const ACCEPT_LANGUAGE: &str = "zh-CN,zh;q=0.9,en;q=0.5,*;q=0.3";

/// Settings of fetching, table `[fetch]`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What is sent as User-Agent. Name a page or mail address where operators of sites can reach you, for
    /// example `taojin/0.1.0 (+https://news.example/crawler)`.
    pub user_agent: String,
    /// The name that is looked up in robots.txt; when empty, the letters at the start of `user_agent`.
    pub robots_agent: String,
    /// What is sent as Accept-Language.
    pub accept_language: String,
    /// Longest wait for a connection including TLS, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Longest silence while waiting for an answer or its next bytes, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Longest time for one fetch from first to last byte, in milliseconds.
    pub whole_timeout_ms: u64,
    /// Longest wait for the name server, in milliseconds.
    pub dns_timeout_ms: u64,
    /// Largest body taken, after decompression, in bytes.
    pub max_body_bytes: u64,
    /// Largest sitemap read, after decompression, in bytes; of a larger one the links up to there are taken.
    pub max_sitemap_bytes: u64,
    /// Largest attachment taken, in bytes; a larger one is not read at all.
    pub max_attachment_bytes: u64,
    /// Largest decompressed size for one byte received; more is a decompression bomb.
    pub max_ratio: u64,
    /// How many redirects in a row are followed for one page.
    pub max_redirects: u32,
    /// Longest `Retry-After` that is obeyed, in milliseconds.
    pub max_retry_after_ms: i64,
    /// How long a robots.txt is used before it is asked for again, in milliseconds.
    pub robots_ttl_ms: i64,
    /// Ranges that may be fetched though they are not public, for example `["10.0.0.0/8"]` for an intranet.
    pub allow_addresses: Vec<Network>,
    /// Addresses of hosts that the name server is not asked for, as in curl's `--resolve`:
    /// `{ "news.example" = "127.0.0.1:8080" }`; the port is optional. They pass the same guard.
    pub hosts: BTreeMap<String, HostAddress>,
    /// Proxy for all requests, for example `http://proxy.example:3128`, with `http`, `https`, `socks5` or `socks5h`. The
    /// proxy then resolves names, so only addresses written in URLs are guarded here. Nothing goes past it. Proxy variables
    /// of the environment are ignored.
    pub proxy: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            user_agent: USER_AGENT.to_owned(),
            robots_agent: String::new(),
            accept_language: ACCEPT_LANGUAGE.to_owned(),
            // A server that does not take a connection in this time is down or drops us.
            connect_timeout_ms: 10_000,
            // Slow servers pause, dead ones stay silent.
            idle_timeout_ms: 30_000,
            // Bounds a server that sends a byte now and then.
            whole_timeout_ms: 60_000,
            // The system resolver alone would wait up to half a minute.
            dns_timeout_ms: 5_000,
            // The largest honest article pages are below 2 MiB of HTML.
            max_body_bytes: 4 << 20,
            // The sitemap protocol allows 50 MB for one file, after decompression (sitemaps.org). They are read while they arrive.
            max_sitemap_bytes: 50 << 20,
            // The longest yearly reports have some 20 MB.
            max_attachment_bytes: 32 << 20,
            // Text seldom compresses better than 20:1; bombs reach 1,000:1.
            max_ratio: 100,
            // RFC 9309 §2.3.1.2 for robots.txt; browsers follow 20, honest pages need two.
            max_redirects: 5,
            // A server that asks for more than a day is served by the next visit.
            max_retry_after_ms: 24 * 3_600_000,
            // RFC 9309 §2.4: no longer than a day.
            robots_ttl_ms: 24 * 3_600_000,
            allow_addresses: Vec::new(),
            hosts: BTreeMap::new(),
            proxy: None,
        }
    }
}

impl Config {
    /// The product token that robots.txt groups are matched with (RFC 9309 §2.2.1).
    pub fn robots_token(&self) -> &str {
        if !self.robots_agent.is_empty() {
            return &self.robots_agent;
        }
        let token = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
        let end = self.user_agent.find(|c| !token(c));
        end.and_then(|end| self.user_agent.get(..end))
            .unwrap_or(&self.user_agent)
    }

    /// Texts that cannot be used, one line each that begins with the key.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let agent = &self.user_agent;
        let sendable = |text: &str| text.bytes().all(|b| matches!(b, b' '..=b'~'));
        if agent.trim().is_empty() {
            found.push(format!(
                "user_agent = {agent:?}: sites must see who crawls them; write for example \"{USER_AGENT} (+https://news.example/crawler)\""
            ));
        } else if !sendable(agent) {
            found.push(format!(
                "user_agent = {agent:?}: cannot be sent in a header; use printable ASCII on one line, for example \"{USER_AGENT}\""
            ));
        } else if self.robots_token().is_empty() {
            found.push(format!(
                "user_agent = {agent:?}: robots.txt is read for the letters that it begins with; begin with a name, for example \"{USER_AGENT}\", or set robots_agent"
            ));
        }
        let token = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
        if !self.robots_agent.chars().all(token) {
            found.push(format!(
                "robots_agent = {:?}: use letters, - and _ only, for example \"taojin\"",
                self.robots_agent
            ));
        }
        if !sendable(&self.accept_language) {
            found.push(format!(
                "accept_language = {:?}: cannot be sent in a header; write for example \"{ACCEPT_LANGUAGE}\"",
                self.accept_language
            ));
        }
        found
    }

    /// Whether `user_agent` says where its operator can be reached; crawling strangers' sites without is rude.
    pub fn names_contact(&self) -> bool {
        self.user_agent.contains("://") || self.user_agent.contains('@')
    }
}

/// Settings of the archive, table `[warc]`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct WarcConfig {
    /// Whether every request and answer is kept in WARC files. Nothing deletes them: watch the disk.
    pub enabled: bool,
    /// Directory of the files; when empty, `warc` in the data directory.
    pub dir: PathBuf,
    /// Size in bytes at which a file is closed and the next one begun.
    pub max_bytes: u64,
}

impl Default for WarcConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            dir: PathBuf::new(),
            // Large enough that a year's crawl is a few hundred files, small enough to be copied at once.
            max_bytes: 1 << 30,
        }
    }
}

/// Where a host of [`Config::hosts`] is: an address, or an address and port; port 0 is the URL's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostAddress(pub SocketAddr);

impl TryFrom<String> for HostAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0));
        address
            .or_else(|_| text.parse())
            .map(HostAddress)
            .map_err(|_| format!("{text} is not an address like 127.0.0.1 or 127.0.0.1:8080"))
    }
}

impl From<HostAddress> for String {
    fn from(HostAddress(address): HostAddress) -> Self {
        match address.port() {
            0 => address.ip().to_string(),
            _ => address.to_string(),
        }
    }
}
