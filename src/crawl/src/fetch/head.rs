//! The header of an answer. In: an HTTP header map from a stranger. Out: [`Head`], the few fields that later
//! stages use, each bounded. Never looks at the body.

use std::time::SystemTime;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use taojin_uri::CrawlUri;

/// The longest header value that is kept, in bytes: an ETag of more is an attack, not a name of a version.
const MAX_VALUE_BYTES: usize = 1024;

/// What the declared type of a body means to a crawler of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentClass {
    /// HTML or XHTML.
    Html,
    /// XML of no declared kind: may be a feed or a sitemap.
    Xml,
    /// A feed: RSS, Atom, RDF, JSON Feed.
    Feed,
    /// Plain text: robots.txt, text sitemaps.
    Text,
    /// Nothing declared: look at the bytes.
    #[default]
    Unknown,
    /// Anything else: images, archives, scripts.
    Other,
}

impl ContentClass {
    fn of(content_type: Option<&str>) -> Self {
        let Some(content_type) = content_type else {
            return ContentClass::Unknown;
        };
        let mime = content_type.split(';').next().unwrap_or_default().trim();
        match mime.to_ascii_lowercase().as_str() {
            "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => {
                ContentClass::Html
            }
            "text/xml" | "application/xml" => ContentClass::Xml,
            "application/rss+xml"
            | "application/atom+xml"
            | "application/rdf+xml"
            | "application/feed+json"
            | "text/rss+xml" => ContentClass::Feed,
            "text/plain" => ContentClass::Text,
            // servers that do not know send these for pages as well
            "" | "application/octet-stream" | "unknown/unknown" | "content/unknown" => {
                ContentClass::Unknown
            }
            _ => ContentClass::Other,
        }
    }
}

/// The fields of an answer's header that later stages use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// Status code; 0 if no answer came.
    pub status: u16,
    /// `Content-Type` as sent; its charset parameter is a hint for decoding.
    pub content_type: Option<String>,
    /// What that type means to a crawler.
    pub class: ContentClass,
    /// `ETag`, to be given back in [`Request::etag`](super::Request::etag).
    pub etag: Option<String>,
    /// `Last-Modified`, to be given back in [`Request::last_modified`](super::Request::last_modified).
    pub last_modified: Option<String>,
    /// `Content-Length`: bytes on the wire.
    pub content_length: Option<u64>,
    /// `Retry-After` as milliseconds from now, from seconds or from a date; 0 to the configured limit.
    pub retry_after_ms: Option<i64>,
    /// `Location` resolved against the request, if it is an address that can be crawled.
    pub location: Option<CrawlUri>,
    /// `Refresh` as sent: the page sends its readers on, as it may do in a meta element.
    pub refresh: Option<String>,
    /// `X-Robots-Tag` asks not to index the page.
    pub noindex: bool,
    /// `X-Robots-Tag` asks not to follow the page's links.
    pub nofollow: bool,
}

impl Head {
    /// The charset parameter of the content type, without quotes.
    pub fn charset(&self) -> Option<&str> {
        let mut parameters = self.content_type.as_deref()?.split(';').skip(1);
        parameters.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
        })
    }

    /// Reads the header of an answer to a request for `uri`, at `now_ms`, for the robots agent `agent`.
    pub(super) fn read(status: u16, headers: &HeaderMap, asked: &Asked<'_>) -> Self {
        let text = |name: HeaderName| headers.get(name).and_then(value_text);
        let content_type = text(header::CONTENT_TYPE);
        let retry_after = text(header::RETRY_AFTER);
        let (noindex, nofollow) = robots_tag(headers, asked.agent);
        Self {
            status,
            class: ContentClass::of(content_type.as_deref()),
            content_type,
            etag: text(header::ETAG),
            last_modified: text(header::LAST_MODIFIED),
            content_length: text(header::CONTENT_LENGTH).and_then(|t| t.parse().ok()),
            retry_after_ms: retry_after
                .and_then(|t| retry_after_ms(&t, asked.now_ms))
                .map(|ms| ms.min(asked.max_retry_after_ms)),
            location: location(headers, asked.uri),
            refresh: text(header::REFRESH),
            noindex,
            nofollow,
        }
    }
}

/// `Location` resolved against the address that answered, if it can be crawled.
pub(super) fn location(headers: &HeaderMap, uri: &CrawlUri) -> Option<CrawlUri> {
    let location = headers.get(header::LOCATION)?;
    uri.join(&reference(location)).ok()
}

/// All codings of the body as one text; stacked ones (`gzip, br`) are none we know.
pub(super) fn encoding(headers: &HeaderMap) -> String {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let texts: Vec<_> = values.filter_map(|v| v.to_str().ok()).collect();
    texts.join(",")
}

/// What a header is read against.
pub(super) struct Asked<'a> {
    pub(super) uri: &'a CrawlUri,
    pub(super) agent: &'a str,
    pub(super) now_ms: i64,
    pub(super) max_retry_after_ms: i64,
}

fn value_text(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?.trim();
    (!text.is_empty() && text.len() <= MAX_VALUE_BYTES).then(|| text.to_owned())
}

/// The text of a `Location`: Chinese servers send raw UTF-8 or raw GBK bytes, which are kept as percent escapes.
fn reference(value: &HeaderValue) -> String {
    if let Ok(text) = std::str::from_utf8(value.as_bytes()) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(value.len() * 2);
    for &b in value.as_bytes() {
        match b {
            0..0x80 => text.push(char::from(b)),
            _ => text.push_str(&format!("%{b:02X}")),
        }
    }
    text
}

/// Seconds or an HTTP date (RFC 9110 §10.2.3) as milliseconds after `now_ms`, never below 0.
fn retry_after_ms(text: &str, now_ms: i64) -> Option<i64> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = text.parse::<i64>().unwrap_or(i64::MAX);
        return Some(seconds.saturating_mul(1000));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let since_epoch = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at_ms = i64::try_from(since_epoch.as_millis()).ok()?;
    Some(at_ms.saturating_sub(now_ms).max(0))
}

/// `noindex` and `nofollow` of all X-Robots-Tag lines, as far as they are for everybody or for `agent`.
fn robots_tag(headers: &HeaderMap, agent: &str) -> (bool, bool) {
    let (mut noindex, mut nofollow) = (false, false);
    for line in headers.get_all("x-robots-tag") {
        let line = String::from_utf8_lossy(line.as_bytes());
        let mut for_us = true;
        for part in line.split(',') {
            let mut directive = part.trim();
            // "name: directive" turns the rest of the line to one agent; these two have a value of their own
            if let Some((name, rest)) = directive.split_once(':') {
                let name = name.trim().to_ascii_lowercase();
                if name == "unavailable_after" || name.starts_with("max-") {
                    continue;
                }
                for_us = name.eq_ignore_ascii_case(agent) || name == "*";
                directive = rest.trim();
            }
            let is = |word: &str| for_us && directive.eq_ignore_ascii_case(word);
            noindex |= is("noindex") || is("none");
            nofollow |= is("nofollow") || is("none");
        }
    }
    (noindex, nofollow)
}
