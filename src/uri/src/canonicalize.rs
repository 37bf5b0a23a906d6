//! Parses URLs into their canonical form, [`CrawlUri`].
//!
//! The WHATWG parser (crate `url`) normalises scheme and host case, IDN, odd spellings of IPv4 addresses, default ports,
//! backslashes and dot segments. Removed on top of it: user name and password, fragment, the dot after the host, an empty
//! query, and parts that identify the visit instead of the page; percent-encoding is normalised. The order of parameters
//! and doubled slashes are kept, since servers distinguish them. Canonical text is a fixed point: parsing it returns
//! itself. Text that is canonical already (`plain`) skips the parser.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::{Position, Url};

use super::spelling;
use super::spelling::{is_allowed, is_canonical_escape, is_of_visit};

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

/// The URL of a page in canonical form: equal pages by spelling have equal text. Always http or https, always
/// with a host, at most [`MAX_URI_BYTES`] long, always ASCII.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CrawlUri {
    /// Everything else follows from it.
    text: String,
    /// Where host, authority and path end.
    host_end: u16,
    authority_end: u16,
    path_end: u16,
}

impl CrawlUri {
    /// Parses an absolute URL and brings it into canonical form.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let text = check_length(text)?;
        Self::plain(text).map_or_else(|| Self::read(text), Ok)
    }

    /// The same for any text, plain or not.
    pub(super) fn read(text: &str) -> Result<Self, UriError> {
        Self::from_url(Url::parse(text).map_err(|e| UriError::Invalid(e.to_string()))?)
    }

    /// Resolves a reference found in the page at `self`.
    pub fn join(&self, reference: &str) -> Result<Self, UriError> {
        let reference = check_length(reference)?;
        let plain = self.join_plain(reference);
        plain.map_or_else(|| self.read_beside(reference), Ok)
    }

    /// The same for any reference, plain or not.
    pub(super) fn read_beside(&self, reference: &str) -> Result<Self, UriError> {
        let url = Url::parse(&self.text).and_then(|url| url.join(reference));
        Self::from_url(url.map_err(|e| UriError::Invalid(e.to_string()))?)
    }

    /// A URL that is canonical as it is.
    fn plain(text: &str) -> Option<Self> {
        let (host, authority, ends) = address(text)?;
        if ends.path == authority {
            return Self::with([text, "/"].concat(), [host, authority, authority + 1]);
        }
        Self::with(
            text.get(..ends.all)?.to_owned(),
            [host, authority, ends.path],
        )
    }

    /// What a reference means that is canonical as it is: a path of this host, a page next to this one, another host.
    pub(super) fn join_plain(&self, reference: &str) -> Option<Self> {
        if let Some(host) = reference.strip_prefix("//") {
            return Self::plain(&[self.scheme(), "://", host].concat());
        }
        if reference.starts_with("http") && reference.contains("://") {
            return Self::plain(reference);
        }
        let (base, rest) = match reference.as_bytes().first()? {
            b'/' => (self.origin(), reference),
            b'?' => (self.text.get(..self.path_end.into())?, reference),
            _ => self.folder_of(reference)?,
        };
        let Ends { path, all } = path_and_query(rest)?;
        let text = [base, rest.get(..all)?].concat();
        let (host, authority) = (self.host_end.into(), self.authority_end.into());
        Self::with(text, [host, authority, base.len() + path])
    }

    /// The directory that a reference next to this URL leads to, and the rest of it.
    fn folder_of<'r>(&self, reference: &'r str) -> Option<(&str, &'r str)> {
        let above = |path: &str| path.rfind('/').map(|slash| slash + 1);
        let root = usize::from(self.authority_end) + 1;
        let mut end = above(self.text.get(..self.path_end.into())?)?;
        let mut rest = reference;
        loop {
            if let Some(after) = rest.strip_prefix("./") {
                rest = after;
            } else if let Some(after) = rest.strip_prefix("../") {
                rest = after;
                end = above(self.text.get(..end - 1)?)?.max(root);
            } else {
                break;
            }
        }
        let is_name = !rest.is_empty() && !rest.starts_with(['/', '?', '#']);
        // A colon may end a scheme.
        (is_name && !reference.contains(':')).then_some((self.text.get(..end)?, rest))
    }

    /// The URL of canonical text whose host, authority and path end there; `None` if it is too long.
    fn with(text: String, ends: [usize; 3]) -> Option<Self> {
        let [host_end, authority_end, path_end] = ends.map(|end| end as u16);
        (text.len() <= MAX_URI_BYTES).then_some(Self {
            text,
            host_end,
            authority_end,
            path_end,
        })
    }

    /// What a reference means next to `base`; without a base it must be a whole URL.
    pub fn resolve(base: Option<&Self>, reference: &str) -> Result<Self, UriError> {
        match base {
            Some(base) => base.join(reference),
            None => Self::parse(reference),
        }
    }

    fn from_url(mut url: Url) -> Result<Self, UriError> {
        check_scheme(&url)?;
        url.set_fragment(None);
        clear_user(&mut url)?;
        drop_final_dot(&mut url)?;
        canonical_path(&mut url);
        canonical_query(&mut url);
        let end = |position| url[..position].len();
        let ends = [
            Position::AfterHost,
            Position::BeforePath,
            Position::AfterPath,
        ]
        .map(end);
        let length = url.as_str().len();
        Self::with(url.into(), ends).ok_or(UriError::TooLong(length, MAX_URI_BYTES))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn slice(&self, from: usize, to: u16) -> &str {
        self.text.get(from..to.into()).unwrap_or_default()
    }

    /// Where the host begins.
    fn host_start(&self) -> usize {
        self.scheme().len() + "://".len()
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        if self.text.starts_with("https") {
            "https"
        } else {
            "http"
        }
    }

    /// Host name in ASCII, or the literal URL (IPv6 in brackets), without port.
    pub fn host(&self) -> &str {
        self.slice(self.host_start(), self.host_end)
    }

    /// The port that is connected to: the one written, else the scheme's own.
    pub fn port(&self) -> u16 {
        let written = self.slice(usize::from(self.host_end) + 1, self.authority_end);
        let own = if self.scheme() == "https" { 443 } else { 80 };
        written.parse().unwrap_or(own)
    }

    /// `host` or `host:port` when the port is not the scheme's own: the unit of queues, politeness and robots.txt.
    pub fn authority(&self) -> &str {
        self.slice(self.host_start(), self.authority_end)
    }

    /// The URL, if the host is written as one in any spelling.
    pub fn literal_address(&self) -> Option<IpAddr> {
        let host = self.host();
        let v6 = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        v6.unwrap_or(host).parse().ok()
    }

    /// The part of the host that somebody registered (`news.cnpc.com.cn` gives `cnpc.com.cn`), from the public
    /// suffix list; the whole host where the list has none: URLs, `localhost`, a bare suffix.
    pub fn registrable_domain(&self) -> &str {
        match self.literal_address() {
            Some(_) => self.host(),
            None => registrable_domain(self.host()).unwrap_or(self.host()),
        }
    }

    /// Scheme, host and port: what is before the path.
    pub fn origin(&self) -> &str {
        self.slice(0, self.authority_end)
    }

    /// The path, always with its first `/`.
    pub fn path(&self) -> &str {
        self.slice(self.authority_end.into(), self.path_end)
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.text.get(usize::from(self.path_end) + 1..)
    }

    /// Path and query, what is after the authority.
    pub fn path_and_query(&self) -> &str {
        self.text
            .get(self.authority_end.into()..)
            .unwrap_or_default()
    }

    /// The segments of the path that are not empty.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.path().split('/').filter(|s| !s.is_empty())
    }

    /// Where the rules for this page's authority are (RFC 9309 §2.3).
    pub fn robots_txt(&self) -> Self {
        let path = "/robots.txt";
        Self {
            text: [self.origin(), path].concat(),
            path_end: self.authority_end + path.len() as u16,
            ..*self
        }
    }
}

/// Where a link leads who follows it: an absolute URL as its page wrote it, with the part of the page that it names, but
/// without a user name. `http` and `https` only, at most [`MAX_URI_BYTES`] long.
pub fn follow(base: Option<&CrawlUri>, reference: &str) -> Result<String, UriError> {
    let reference = check_length(reference)?;
    let url = match base {
        Some(base) => Url::parse(&base.text).and_then(|url| url.join(reference)),
        None => Url::parse(reference),
    };
    let mut url = url.map_err(|e| UriError::Invalid(e.to_string()))?;
    check_scheme(&url)?;
    clear_user(&mut url)?;
    match url.as_str().len() {
        length if length > MAX_URI_BYTES => Err(UriError::TooLong(length, MAX_URI_BYTES)),
        _ => Ok(url.into()),
    }
}

fn check_scheme(url: &Url) -> Result<(), UriError> {
    match url.scheme() {
        "http" | "https" => Ok(()),
        other => Err(UriError::Scheme(other.to_owned())),
    }
}

/// Takes user name and password out.
fn clear_user(url: &mut Url) -> Result<(), UriError> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(());
    }
    let cleared = url.set_username("").and_then(|()| url.set_password(None));
    cleared.map_err(|()| UriError::Invalid("user name cannot be removed".to_owned()))
}

fn check_length(text: &str) -> Result<&str, UriError> {
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
    let path = spelling::normalize_escapes(url.path());
    let path = spelling::strip_path_sessions(&path);
    if path != url.path() {
        let path = path.into_owned();
        url.set_path(&path);
    }
}

fn canonical_query(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let normal = spelling::normalize_escapes(query);
    let mut kept = String::with_capacity(normal.len());
    for parameter in normal.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if spelling::is_of_visit(name, value) {
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

impl TryFrom<String> for CrawlUri {
    type Error = UriError;

    fn try_from(text: String) -> Result<Self, UriError> {
        Self::parse(&text)
    }
}

impl From<CrawlUri> for String {
    fn from(uri: CrawlUri) -> Self {
        uri.text
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

/// The part of a host name that somebody registered, from the public suffix list; none for a bare suffix. The list is compiled
/// into whatever calls it, so this is the only place that does.
#[inline(never)]
pub fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

/// Where the parts of a plain URL or reference end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// Of the path.
    pub(super) path: usize,
    /// Of the query, or of the path if there is none: a fragment is dropped.
    pub(super) all: usize,
}

/// Ends of the host and the authority of a whole URL, and of what follows, which may be nothing.
pub(super) fn address(text: &str) -> Option<(usize, usize, Ends)> {
    let rest = text.strip_prefix("http")?;
    let (rest, own_port) = match rest.strip_prefix('s') {
        Some(rest) => (rest, 443),
        None => (rest, 80),
    };
    let rest = rest.strip_prefix("://")?;
    let start = text.len() - rest.len();
    let host = host_end(rest.as_bytes())?;
    let authority = start + host + port_len(rest.as_bytes().get(host..)?, own_port)?;
    let Ends { path, all } = match text.get(authority..)? {
        "" => Ends { path: 0, all: 0 },
        rest => path_and_query(rest)?,
    };
    let ends = Ends {
        path: authority + path,
        all: authority + all,
    };
    Some((start + host, authority, ends))
}

/// End of a host, at a slash, a colon or the end: small letters, digits and single hyphens, and a last label of letters only, so
/// that Punycode is not to be read and numbers are only where they are four.
fn host_end(text: &[u8]) -> Option<usize> {
    let mut before = b'.';
    let mut only_letters = true;
    for (at, byte) in text.iter().chain(b"/").enumerate() {
        let joins = matches!(before, b'.' | b'-');
        match byte {
            b'a'..=b'z' => {}
            b'0'..=b'9' => only_letters = false,
            b'-' if !joins => only_letters = false,
            b'.' if !joins => only_letters = true,
            b'/' | b':' if !joins => {
                let is_plain = only_letters || is_ipv4(text.get(..at)?);
                return is_plain.then_some(at);
            }
            _ => return None,
        }
        before = *byte;
    }
    None
}

/// Whether a host is an IPv4 address as it is written in canonical form.
fn is_ipv4(host: &[u8]) -> bool {
    let parts = || host.split(|b| *b == b'.');
    parts().count() == 4 && parts().all(|part| number(part).is_some_and(|n| n <= 255))
}

/// Length of the port that begins here with its colon, or 0 if none does. One that need not be written is not canonical.
fn port_len(text: &[u8], own_port: u32) -> Option<usize> {
    let Some(rest) = text.strip_prefix(b":") else {
        return Some(0);
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let port = number(rest.get(..digits)?)?;
    let is_end = matches!(rest.get(digits), None | Some(b'/'));
    (is_end && port != own_port && port <= u32::from(u16::MAX)).then_some(1 + digits)
}

/// A number of at most five digits that does not begin with a needless 0.
fn number(digits: &[u8]) -> Option<u32> {
    let is_plain = matches!(digits.len(), 1..=5) && (digits.len() == 1 || digits[0] != b'0');
    let add = |sum: u32, b: &u8| b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0'));
    is_plain.then(|| digits.iter().try_fold(0, add)).flatten()
}

/// Ends of a path, or a part of one that begins with a segment, and its query.
pub(super) fn path_and_query(text: &str) -> Option<Ends> {
    let text = text.as_bytes();
    let path = path_end(text)?;
    let all = match text.get(path) {
        Some(b'?') => query_end(text, path + 1)?,
        _ => path,
    };
    // Two slashes begin a host, not a path.
    (all > 0 && !text.starts_with(b"//")).then_some(Ends { path, all })
}

/// Bytes that are in a path and ask no question; a dot may make a segment that means another place, and semicolons and
/// brackets a session.
const IN_PATH: [bool; 256] = {
    let mut plain = [false; 256];
    let mut at = 0;
    while at < 128 {
        let b = at as u8;
        plain[at] = is_allowed(b) && !matches!(b, b'?' | b'.' | b';' | b'(');
        at += 1;
    }
    plain
};

/// End of the path that `text` begins with.
fn path_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += rest
            .iter()
            .take_while(|b| IN_PATH[usize::from(**b)])
            .count();
        match text.get(at) {
            None | Some(b'?' | b'#') => return Some(at),
            Some(b'.') if at > 0 && text[at - 1] != b'/' => at += 1,
            Some(b'%') if is_canonical_escape(text.get(at..)?) => at += 3,
            Some(_) => return None,
        }
    }
}

/// End of the query that begins at `from`: no parameter is empty or names a visit.
fn query_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        // The parser escapes an apostrophe in a query.
        let plain = |b: &&u8| is_allowed(**b) && **b != b'\'';
        at += text.get(at..)?.iter().take_while(plain).count();
        match text.get(at) {
            None | Some(b'#') => break,
            Some(b'%') if is_canonical_escape(text.get(at..)?) => at += 3,
            Some(_) => return None,
        }
    }
    let query = str::from_utf8(text.get(from..at)?).ok()?;
    let stays = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        !parameter.is_empty() && !is_of_visit(name, value)
    };
    query.split('&').all(stays).then_some(at)
}
