//! Archived answers as if they were fetched now. In: a [`Record`]. Out: the same calls of a [`Sink`] and the same
//! [`Fetched`] that the network would have given, within the same limits. Never touches the network.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::decode::{BodyLimits, Decoder};
use super::head::{Asked, Head, encoding};
use super::limits::Config;
use super::request::{Fetched, Request, Sink, Want};
use super::warc_reader::Record;
use crate::outcome::{Failure, VisitOutcome};
use taojin_uri::CrawlUri;

/// Gives the answer in `record` to `sink`; none if the record is not an answer to a request for a page.
pub fn replay(
    record: &Record,
    config: &Config,
    sink: &mut dyn Sink,
) -> Option<(CrawlUri, Fetched)> {
    let uri = CrawlUri::parse(record.target.as_deref()?).ok()?;
    let (status, headers, body) = match record.kind.as_str() {
        "response" => http(&record.block)?,
        "resource" => (200, resource_headers(record), record.block.as_slice()),
        _ => return None,
    };
    let asked = Asked {
        uri: &uri,
        agent: config.robots_token(),
        now_ms: 0,
        max_retry_after_ms: config.max_retry_after_ms,
    };
    let request = Request {
        want: Want::Page,
        ..Request::page(uri.clone(), 0)
    };
    let mut fetched = Fetched::of_head(Head::read(status, &headers, &asked), &request);
    if fetched.outcome == VisitOutcome::Page {
        let chunked = headers.get("transfer-encoding").is_some();
        let joined = chunked.then(|| unchunked(body)).flatten();
        let body = joined.as_deref().unwrap_or(body);
        deliver(body, &encoding(&headers), config, sink, &mut fetched);
        // a record cut behind the end of its page lost nothing
        let declared = fetched.head.content_length.unwrap_or(u64::MAX);
        if record.cut && fetched.outcome == VisitOutcome::Page && fetched.wire_bytes < declared {
            fetched.fail(Failure::Truncated);
        }
    }
    Some((uri, fetched))
}

fn deliver(
    body: &[u8],
    encoding: &str,
    config: &Config,
    sink: &mut dyn Sink,
    fetched: &mut Fetched,
) {
    let limits = BodyLimits {
        max_bytes: config.max_body_bytes,
        max_ratio: config.max_ratio,
    };
    // some archives keep the header of a coding that they took off the body
    let encoding = if is_coded(body, encoding) {
        encoding
    } else {
        ""
    };
    let Some(mut decoder) = Decoder::new(encoding, limits) else {
        return fetched.fail(Failure::Decode);
    };
    sink.begin(&fetched.head);
    let mut deliver = |bytes: &[u8]| sink.chunk(bytes).is_continue();
    let end = match decoder.feed(body, &mut deliver) {
        Ok(true) => decoder.finish(&mut deliver),
        end => end,
    };
    fetched.wire_bytes = body.len() as u64;
    fetched.body_bytes = decoder.decoded_bytes();
    match end {
        Ok(whole) => fetched.whole = whole,
        Err(failure) => fetched.fail(failure),
    }
}

/// Bytes by which plain text is told from a coding that has no mark: nearly all compressed ones have a control character among
/// so many.
const PLAIN: usize = 64;

/// Whether the body begins as the coding says; with a coding that has no mark, whether it begins as no text does.
fn is_coded(body: &[u8], encoding: &str) -> bool {
    match encoding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => body.starts_with(&[0x1F, 0x8B]),
        "zstd" => body.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        _ => {
            let start = body.get(..PLAIN).unwrap_or(body);
            start
                .iter()
                .any(|b| b.is_ascii_control() && !b.is_ascii_whitespace())
        }
    }
}

fn resource_headers(record: &Record) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let content_type = record.content_type.as_deref().map(HeaderValue::from_str);
    if let Some(Ok(value)) = content_type {
        headers.insert("content-type", value);
    }
    headers
}

/// Status, headers and body of an HTTP answer; none if it does not begin as one.
fn http(block: &[u8]) -> Option<(u16, HeaderMap, &[u8])> {
    let mut lines = Lines { rest: block };
    let status_line = lines.next()?;
    let status = status_line
        .strip_prefix(b"HTTP/")?
        .split(|b| *b == b' ')
        .nth(1)?;
    let status = std::str::from_utf8(status).ok()?.parse().ok()?;
    let mut headers = HeaderMap::new();
    while let Some(line) = lines.next().filter(|l| !l.is_empty()) {
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            continue;
        };
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name.trim_ascii());
        let value = HeaderValue::from_bytes(value.get(1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            // fails only with tens of thousands of lines
            let _ = headers.try_append(name, value);
        }
    }
    Some((status, headers, lines.rest))
}

/// The body without its chunks (RFC 9112 §7.1), as far as they go; none if it does not begin with one.
fn unchunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(body.len());
    let mut lines = Lines { rest: body };
    let mut is_first = true;
    while let Some(line) = lines.next() {
        let digits = line
            .split(|b| *b == b';')
            .next()
            .unwrap_or_default()
            .trim_ascii();
        let digits = std::str::from_utf8(digits).ok();
        let Some(size) = digits.and_then(|d| usize::from_str_radix(d, 16).ok()) else {
            return (!is_first).then_some(joined);
        };
        is_first = false;
        let (chunk, rest) = lines.rest.split_at(size.min(lines.rest.len()));
        joined.extend_from_slice(chunk);
        lines.rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
        if size == 0 {
            break;
        }
    }
    Some(joined)
}

/// Lines without their ends; what is left after the last one read is the body.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|b| *b == b'\n');
        let (line, rest) = self.rest.split_at(end.map_or(self.rest.len(), |e| e + 1));
        self.rest = rest;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
