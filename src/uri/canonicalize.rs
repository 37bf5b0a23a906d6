//! Canonical form of a URL. In: text. Out: [`CrawlUri`] or why it cannot be crawled.
//!
//! The WHATWG parser (crate `url`) settles scheme and host case, IDN, odd spellings of IPv4 addresses, default
//! ports, backslashes and dot segments. On top of it go: user name and password, fragment, the dot after the
//! host, the spelling of percent-encoding, an empty query, and what names the visit instead of the page.
//! The order of parameters and doubled slashes stay, since servers tell them apart. Canonical text is a fixed
//! point: parsing it gives itself.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use super::{percent, strip};

/// The longest canonical URL that is crawled, in bytes. Longer ones are traps or form state, not articles.
pub const MAX_URI_BYTES: usize = 2048;

/// The longest text that is parsed at all: what is dropped may leave a short URL, but a `data:` URL of a megabyte
/// is not worth a parse.
const MAX_TEXT_BYTES: usize = 4 * MAX_URI_BYTES;

/// Why a text is not a URL that can be crawled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The text does not parse as a URL at all.
    #[error("not a URL: {0}")]
    Invalid(String),
    /// Only http and https are crawled.
    #[error("scheme {0} is not crawled (http and https are)")]
    Scheme(String),
    /// The canonical form is longer than the limit.
    #[error("URL of {0} bytes is over the limit of {1}")]
    TooLong(usize, usize),
}

/// The address of a page in canonical form: equal pages by spelling have equal text. Always http or https, always
/// with a host, at most [`MAX_URI_BYTES`] long, always ASCII.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUri {
    url: Url,
}

impl CrawlUri {
    /// Parses an absolute URL and brings it into canonical form.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let text = bounded(text)?;
        Self::from_url(Url::parse(text).map_err(|e| UriError::Invalid(e.to_string()))?)
    }

    /// Parses what a person typed: as [`CrawlUri::parse`], and a missing scheme becomes `http`.
    pub fn parse_typed(text: &str) -> Result<Self, UriError> {
        let text = bounded(text)?;
        if text.contains("://") {
            return Self::parse(text);
        }
        Self::parse(&format!("http://{}", text.trim_start_matches('/')))
    }

    /// Resolves a reference found in the page at `self`.
    pub fn join(&self, reference: &str) -> Result<Self, UriError> {
        let reference = bounded(reference)?;
        let url = self.url.join(reference);
        Self::from_url(url.map_err(|e| UriError::Invalid(e.to_string()))?)
    }

    /// What a reference means beside `base`; without a base it must be a whole address.
    pub fn resolve(base: Option<&Self>, reference: &str) -> Result<Self, UriError> {
        match base {
            Some(base) => base.join(reference),
            None => Self::parse(reference),
        }
    }

    fn from_url(mut url: Url) -> Result<Self, UriError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UriError::Scheme(url.scheme().to_owned()));
        }
        url.set_fragment(None);
        if !url.username().is_empty() || url.password().is_some() {
            let cleared = url.set_username("").and_then(|()| url.set_password(None));
            cleared.map_err(|()| UriError::Invalid("user name cannot be removed".to_owned()))?;
        }
        drop_final_dot(&mut url)?;
        canonical_path(&mut url);
        canonical_query(&mut url);
        match url.as_str().len() {
            length if length > MAX_URI_BYTES => Err(UriError::TooLong(length, MAX_URI_BYTES)),
            _ => Ok(Self { url }),
        }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The parsed URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Host name in ASCII, or the literal address (IPv6 in brackets), without port.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The port that is connected to: the one written, else the scheme's own.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// `host` or `host:port` when the port is not the scheme's own: the unit of queues, politeness and robots.txt.
    pub fn authority(&self) -> &str {
        self.url.authority()
    }

    /// The address, if the host is written as one in any spelling.
    pub fn literal_address(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(_) => None,
        }
    }

    /// The part of the host that somebody registered (`news.cnpc.com.cn` gives `cnpc.com.cn`), from the public
    /// suffix list; the whole host where the list has none: addresses, `localhost`, a bare suffix.
    pub fn registrable_domain(&self) -> &str {
        match self.literal_address() {
            Some(_) => self.host(),
            None => psl::domain_str(self.host()).unwrap_or(self.host()),
        }
    }

    /// Scheme, host and port: what stands before the path.
    pub fn origin(&self) -> &str {
        &self.url[..url::Position::BeforePath]
    }

    /// The path, always with its first `/`.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.url.query()
    }

    /// Path and query, what stands after the authority.
    pub fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..]
    }

    /// The segments of the path that are not empty.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.url.path().split('/').filter(|s| !s.is_empty())
    }

    /// Where the rules for this page's authority stand (RFC 9309 §2.3).
    pub fn robots_txt(&self) -> Self {
        let mut url = self.url.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self { url }
    }

    /// 64-bit fingerprint of the canonical text (xxh3): the identity of the page in the store and the index.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.as_str().as_bytes())
    }

    /// 64-bit hash that is the same for addresses which usually, but not always, lead to one page: http and https,
    /// with and without `www.`, `index.html`, a final slash. A hint where to look for duplicates, never an identity.
    pub fn variant_key(&self) -> u64 {
        let host = self.authority();
        let host = host.strip_prefix("www.").unwrap_or(host);
        let path = self.path();
        let (folder, file) = path.rsplit_once('/').unwrap_or_default();
        let is_index = matches!(file.split_once('.'), Some(("index" | "default", _)));
        let path = if is_index { folder } else { path };
        let text = [host, path.trim_end_matches('/'), self.query().unwrap_or("")].join("\n");
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}

fn bounded(text: &str) -> Result<&str, UriError> {
    let text = text.trim();
    match text.len() {
        length if length > MAX_TEXT_BYTES => Err(UriError::TooLong(length, MAX_URI_BYTES)),
        _ => Ok(text),
    }
}

fn drop_final_dot(url: &mut Url) -> Result<(), UriError> {
    let host = url.host_str().unwrap_or_default();
    let trimmed = host.trim_end_matches('.');
    if trimmed.is_empty() {
        return Err(UriError::Invalid("empty host".to_owned()));
    }
    if trimmed.len() != host.len() {
        let trimmed = trimmed.to_owned();
        url.set_host(Some(&trimmed))
            .map_err(|e| UriError::Invalid(e.to_string()))?;
    }
    Ok(())
}

fn canonical_path(url: &mut Url) {
    let path = percent::canonical_escapes(url.path());
    let path = strip::sessions_from_path(&path);
    if path != url.path() {
        let path = path.into_owned();
        url.set_path(&path);
    }
}

fn canonical_query(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let normal = percent::canonical_escapes(query);
    let mut kept = String::with_capacity(normal.len());
    for parameter in normal.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if strip::is_of_visit(name, value) {
            continue;
        }
        if !kept.is_empty() {
            kept.push('&');
        }
        kept.push_str(parameter);
    }
    if kept != query || kept.is_empty() {
        url.set_query(Some(kept.as_str()).filter(|k| !k.is_empty()));
    }
}

impl From<CrawlUri> for String {
    fn from(uri: CrawlUri) -> Self {
        uri.url.into()
    }
}

impl fmt::Display for CrawlUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CrawlUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        Self::parse(text)
    }
}

impl AsRef<str> for CrawlUri {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Serialize for CrawlUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CrawlUri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
