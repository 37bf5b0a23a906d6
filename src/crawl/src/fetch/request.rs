//! What is asked of a server and what comes back: a [`Request`], a [`Sink`] for the body, a [`Fetched`] at the end. Plain
//! data; nothing here touches the network.

use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::SystemTime;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use taojin_uri::CrawlUri;

use crate::outcome::{Failure, Truncation, VisitOutcome};

/// What to fetch and what is known of it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The address.
    pub uri: CrawlUri,
    /// `ETag` of the last answer, sent as `If-None-Match`.
    pub etag: Option<String>,
    /// `Last-Modified` of the last answer, sent as `If-Modified-Since`.
    pub last_modified: Option<String>,
    /// Which types of body are taken.
    pub want: Want,
    /// The limit of this body in the place of `fetch.max_body_bytes`, in bytes after decompression.
    pub max_body_bytes: Option<u64>,
}

impl Request {
    /// An unconditional request for a page.
    pub fn page(uri: CrawlUri) -> Self {
        Self {
            uri,
            etag: None,
            last_modified: None,
            want: Want::Page,
            max_body_bytes: None,
        }
    }

    /// An unconditional request for whatever stands there: robots.txt, sitemaps, feeds.
    pub fn any(uri: CrawlUri) -> Self {
        Self {
            want: Want::Any,
            ..Self::page(uri)
        }
    }
}

/// Which types of body are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Want {
    /// HTML, XML, feeds and what declares nothing; an image or archive ends the fetch at its header.
    #[default]
    Page,
    /// The same, and files that a person would save to read them, of so many bytes at most after decompression: nothing in an
    /// address tells that it is one. Pictures, sound, films, styles and scripts end the fetch at their header.
    PageOrFile {
        /// Limit of a file, in the place of that of a page.
        max_file_bytes: u64,
    },
    /// Any type.
    Any,
}

/// Takes a body while it arrives. What it got of a body that failed later must not be used.
pub trait Sink: Send {
    /// Comes once before the first chunk, only when a body will follow.
    fn begin(&mut self, _head: &Head) {}

    /// Whether [`Sink::heads`] and [`Sink::wire`] are wanted; only archives need them.
    fn wants_wire(&self) -> bool {
        false
    }

    /// Comes once for every answer: the headers of request and answer in the form of HTTP/1.1, without
    /// `Transfer-Encoding`, since the bytes that follow carry none.
    fn heads(&mut self, _request: Vec<u8>, _response: Vec<u8>) {}

    /// Takes the next bytes of the body as they came, before decompression.
    fn wire(&mut self, _bytes: &[u8]) {}

    /// Takes the next decoded bytes, in order; `Break` ends the fetch here, as if the body were over.
    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()>;
}

impl Sink for Vec<u8> {
    fn chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}

/// How one fetch went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// How it ended. Of a redirect, [`Head::location`] is the target; of a busy server, [`Head::retry_after_ms`] may say
    /// how long to wait.
    pub outcome: VisitOutcome,
    /// Why no page came, or not the whole of it.
    pub failure: Option<Failure>,
    /// The answer's header; its status is 0 if none came.
    pub head: Head,
    /// Bytes of the body on the wire, headers not counted.
    pub wire_bytes: u64,
    /// Bytes of the body that went to the sink.
    pub body_bytes: u64,
    /// From the start to the last byte, in milliseconds.
    pub elapsed_ms: u64,
    /// The address that answered, for politeness towards it.
    pub remote: Option<IpAddr>,
    /// The sink took all there was.
    pub whole: bool,
    /// Why no whole answer came, as a sentence; empty if one came.
    pub detail: String,
}

impl Fetched {
    pub(super) fn new(outcome: VisitOutcome) -> Self {
        Self {
            outcome,
            failure: None,
            head: Head::default(),
            wire_bytes: 0,
            body_bytes: 0,
            elapsed_ms: 0,
            remote: None,
            whole: false,
            detail: String::new(),
        }
    }

    /// What the header alone decides; a page if the body is still to come.
    pub(super) fn of_head(head: Head, request: &Request) -> Self {
        let conditional = request.etag.is_some() || request.last_modified.is_some();
        let mut fetched = Self::new(match head.status {
            200..=299 => VisitOutcome::Page,
            304 if conditional => VisitOutcome::NotModified,
            301 | 302 | 303 | 307 | 308 => VisitOutcome::Redirect,
            404 => VisitOutcome::NotFound,
            410 => VisitOutcome::Gone,
            429 | 503 => VisitOutcome::Busy,
            408 | 425 => VisitOutcome::ServerError,
            400..=499 => VisitOutcome::Denied,
            _ => VisitOutcome::ServerError,
        });
        match fetched.outcome {
            VisitOutcome::Page if !request.want.takes(&head) => {
                fetched.fail(Failure::ContentType);
            }
            VisitOutcome::Redirect if head.location.is_none() => fetched.fail(Failure::BadRedirect),
            _ => {}
        }
        fetched.head = head;
        fetched
    }

    /// Where the page is instead, if the server said so.
    pub fn redirect_target(&self) -> Option<&CrawlUri> {
        let to = self.head.location.as_ref();
        to.filter(|_| self.outcome == VisitOutcome::Redirect)
    }

    /// `Retry-After` of a server that asks for fewer requests, in milliseconds.
    pub fn asked_pause_ms(&self) -> Option<i64> {
        let pause = self.head.retry_after_ms;
        pause.filter(|_| self.outcome == VisitOutcome::Busy)
    }

    /// Whether the body came whole, or was cut off at the limit: then its beginning is as good as any.
    pub fn is_page_or_beginning(&self) -> bool {
        self.outcome == VisitOutcome::Page || self.failure == Some(Failure::TooLarge)
    }

    /// Returns where the response broke off inside its body, if it did.
    pub fn truncation(&self) -> Option<Truncation> {
        match self.failure {
            Some(failure @ (Failure::Truncated | Failure::Timeout)) if self.wire_bytes > 0 => {
                Some(Truncation {
                    failure,
                    wire_bytes: self.wire_bytes,
                })
            }
            _ => None,
        }
    }

    /// It failed so after all.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.outcome = failure.outcome();
        self.failure = Some(failure);
    }
}

impl Want {
    /// Whether a body with this head is taken.
    fn takes(self, head: &Head) -> bool {
        match self {
            Self::Any => true,
            Self::Page => may_be_page(head.class),
            Self::PageOrFile { .. } => may_be_page(head.class) || head.offers_file(),
        }
    }

    /// The limit of a body with this head if it is a file.
    pub(super) fn max_file_bytes(self, head: &Head) -> Option<u64> {
        match self {
            Self::PageOrFile { max_file_bytes } if head.offers_file() => Some(max_file_bytes),
            _ => None,
        }
    }
}

fn may_be_page(class: ContentClass) -> bool {
    matches!(
        class,
        ContentClass::Html | ContentClass::Xml | ContentClass::Feed | ContentClass::Unknown
    )
}

/// The longest header value that is kept, in bytes: an ETag of more is an attack, not a name of a version.
const MAX_VALUE_BYTES: usize = 1024;

/// Names of files have 255 bytes, three times as many as escapes, and some servers send them twice.
const MAX_DISPOSITION_BYTES: usize = 4096;

/// Types of `application/` that nobody reads.
const NO_FILES: &[&str] = &[
    "javascript",
    "x-javascript",
    "ecmascript",
    "json",
    "ld+json",
    "manifest+json",
    "wasm",
    "x-shockwave-flash",
    "vnd.apple.mpegurl",
    "x-mpegurl",
    "dash+xml",
    "font-woff",
    "x-font-ttf",
    "vnd.ms-fontobject",
    "vnd.android.package-archive",
    "x-msdownload",
    "x-apple-diskimage",
    "java-archive",
];

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
    fn from_header(content_type: Option<&str>) -> Self {
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
    /// `Content-Disposition`, decoded from UTF-8 or GB 18030, in which servers send it.
    pub disposition: Option<String>,
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

    /// The declared type without its parameters, in lower case; empty if none is declared.
    pub fn mime(&self) -> String {
        let mime = self.content_type.as_deref().unwrap_or_default();
        let mime = mime.split(';').next().unwrap_or_default();
        mime.trim().to_ascii_lowercase()
    }

    /// Whether the body may be a file that a person saves to read it: by its type, or since the server says so of any type that is no
    /// picture, sound or film.
    pub fn offers_file(&self) -> bool {
        let mime = self.mime();
        let (family, kind) = mime.split_once('/').unwrap_or((&mime, ""));
        match family {
            "image" | "audio" | "video" | "font" => false,
            "application" if self.class == ContentClass::Other => !NO_FILES.contains(&kind),
            "text" if matches!(kind, "csv" | "rtf" | "richtext") => true,
            _ => self.disposition.as_deref().is_some_and(is_saved),
        }
    }

    /// Reads the header of an answer to a request for `uri`, at `now_ms`, for the robots agent `agent`.
    pub(super) fn read(status: u16, headers: &HeaderMap, asked: &HeadContext<'_>) -> Self {
        let text = |name: HeaderName| headers.get(name).and_then(value_text);
        let content_type = text(header::CONTENT_TYPE);
        let retry_after = text(header::RETRY_AFTER);
        let (noindex, nofollow) = robots_tag(headers, asked.agent);
        Self {
            status,
            class: ContentClass::from_header(content_type.as_deref()),
            content_type,
            etag: text(header::ETAG),
            last_modified: text(header::LAST_MODIFIED),
            content_length: text(header::CONTENT_LENGTH).and_then(|t| t.parse().ok()),
            retry_after_ms: retry_after
                .and_then(|t| retry_after_ms(&t, asked.now_ms))
                .map(|ms| ms.min(asked.max_retry_after_ms)),
            location: location(headers, asked.uri),
            refresh: text(header::REFRESH),
            disposition: headers
                .get(header::CONTENT_DISPOSITION)
                .and_then(decode_disposition),
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
pub(super) struct HeadContext<'a> {
    pub(super) uri: &'a CrawlUri,
    pub(super) agent: &'a str,
    pub(super) now_ms: i64,
    pub(super) max_retry_after_ms: i64,
}

fn value_text(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?.trim();
    (!text.is_empty() && text.len() <= MAX_VALUE_BYTES).then(|| text.to_owned())
}

/// Whether a browser would save a body with this `Content-Disposition` instead of showing it. Some servers send the name alone.
fn is_saved(disposition: &str) -> bool {
    let kind = disposition.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("attachment") || kind.contains('=')
}

/// The text of a `Content-Disposition`: names of files stand in it in the bytes of whatever charset the server has.
fn decode_disposition(value: &HeaderValue) -> Option<String> {
    let bytes = value.as_bytes();
    if bytes.len() > MAX_DISPOSITION_BYTES {
        return None;
    }
    let chinese = || {
        encoding_rs::GB18030
            .decode_without_bom_handling(bytes)
            .0
            .into_owned()
    };
    let text = std::str::from_utf8(bytes).map_or_else(|_| chinese(), str::to_owned);
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
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
