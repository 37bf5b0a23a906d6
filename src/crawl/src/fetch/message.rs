//! Heads of requests and answers as bytes. In: what the client knows of them. Out: the form of HTTP/1.1 (RFC 9112),
//! whichever version was spoken, for archives. Never reads one: see `replay`.

use reqwest::Response;
use reqwest::header::{self, HeaderName, HeaderValue};

use taojin_uri::CrawlUri;

/// The head of a GET request.
pub(super) fn request_head<'h>(
    uri: &CrawlUri,
    headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
) -> Vec<u8> {
    let (path, host) = (uri.path_and_query(), uri.authority());
    let start = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");
    head_bytes(start, headers)
}

/// The head of an answer, without the transfer coding that its body has lost.
pub(super) fn response_head(response: &Response) -> Vec<u8> {
    let start = format!("HTTP/1.1 {}\r\n", response.status());
    let headers = response.headers().iter();
    head_bytes(
        start,
        headers.filter(|(name, _)| **name != header::TRANSFER_ENCODING),
    )
}

fn head_bytes<'h>(
    start: String,
    headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
) -> Vec<u8> {
    let mut head = start.into_bytes();
    for (name, value) in headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}
