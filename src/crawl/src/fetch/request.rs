//! What is asked of a server and what comes back: a [`Request`], a [`Sink`] for the body, a [`Fetched`] at the end. Plain
//! data; nothing here touches the network.

use std::net::IpAddr;
use std::ops::ControlFlow;

use super::head::{ContentClass, Head};
use crate::outcome::{Failure, VisitOutcome};
use taojin_uri::CrawlUri;

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
    /// The present, Unix milliseconds: what dates in headers are compared with.
    pub now_ms: i64,
}

impl Request {
    /// An unconditional request for a page.
    pub fn page(uri: CrawlUri, now_ms: i64) -> Self {
        Self {
            uri,
            etag: None,
            last_modified: None,
            want: Want::Page,
            max_body_bytes: None,
            now_ms,
        }
    }

    /// An unconditional request for whatever stands there: robots.txt, sitemaps, feeds.
    pub fn any(uri: CrawlUri, now_ms: i64) -> Self {
        Self {
            want: Want::Any,
            ..Self::page(uri, now_ms)
        }
    }
}

/// Which types of body are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Want {
    /// HTML, XML, feeds and what declares nothing; an image or archive ends the fetch at its header.
    #[default]
    Page,
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
            VisitOutcome::Page if request.want == Want::Page && !may_be_page(head.class) => {
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

    /// Whether the answer broke off inside its body.
    pub fn broke_off(&self) -> bool {
        self.failure.is_some_and(Failure::is_cut_short) && self.wire_bytes > 0
    }

    /// It failed so after all.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.outcome = failure.outcome();
        self.failure = Some(failure);
    }
}

fn may_be_page(class: ContentClass) -> bool {
    matches!(
        class,
        ContentClass::Html | ContentClass::Xml | ContentClass::Feed | ContentClass::Unknown
    )
}
