//! A request to the sample web and its answer: status, headers, bytes, and when 304 is enough.

use super::time::beijing;

/// A request, as far as an answer depends on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The Host header; the port is ignored.
    pub host: &'a str,
    /// Path and query as sent.
    pub target: &'a str,
    /// If-None-Match.
    pub if_none_match: Option<&'a str>,
    /// If-Modified-Since.
    pub if_modified_since: Option<&'a str>,
    /// Whether the client accepts gzip.
    pub accepts_gzip: bool,
    /// How often this address was requested before.
    pub asked_before: u32,
    /// A different number for each request.
    pub nonce: u64,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Rows of a table until the client closes the connection (bounded by the server).
    Endless,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
    /// The server delays the answer.
    pub slow: bool,
}

impl Answer {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: Body::Bytes(body.into()),
            slow: false,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", "moved\n").with("location", location)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }
}

pub(super) fn conditional(answer: Answer, request: &Request<'_>) -> Answer {
    let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let same = match (answer.header("etag"), request.if_none_match) {
        (Some(tag), Some(known)) => known.split(',').any(|known| weak(known) == weak(tag)),
        (None, Some(_)) => false,
        (_, None) => match (answer.header("last-modified"), request.if_modified_since) {
            (Some(changed), Some(since)) => not_after(changed, since),
            _ => false,
        },
    };
    if !same {
        return answer;
    }
    let keep = |name: &str| matches!(name, "etag" | "last-modified");
    Answer {
        status: 304,
        headers: answer
            .headers
            .into_iter()
            .filter(|(name, _)| keep(name))
            .collect(),
        body: Body::Bytes(Vec::new()),
        slow: false,
    }
}

fn not_after(changed: &str, since: &str) -> bool {
    match (
        httpdate::parse_http_date(changed),
        httpdate::parse_http_date(since),
    ) {
        (Ok(changed), Ok(since)) => changed <= since,
        _ => false,
    }
}

pub(super) fn http_date(ms: i64) -> String {
    beijing(ms)
        .with_timezone(&chrono::Utc)
        .format("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

/// FNV-1a: enough to tell two pages apart.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
