//! How a fetch ended. In: a status, an error. Out: one of few words that the frontier, the schedule and the crawl
//! log share. Never decides what follows from it.

use std::error::Error;
use std::io;

use super::guard::Refusal;
use taojin_uri::CrawlUri;

/// How a fetch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A body came and went to the sink.
    Page,
    /// The copy that is known is still the present one (304).
    NotModified,
    /// The page is elsewhere; not followed here.
    Redirect {
        /// The canonical target.
        to: CrawlUri,
        /// 301 or 308: the old address may be forgotten.
        permanent: bool,
    },
    /// Removed for good, says the server (410).
    Gone,
    /// Not found (404).
    NotFound,
    /// Refused to us by another 4xx.
    Denied,
    /// The server asks for fewer requests (429, 503), perhaps with a time in milliseconds.
    Busy {
        /// How long to wait, from `Retry-After`.
        retry_after_ms: Option<i64>,
    },
    /// The server failed (another 5xx) or gave an answer that makes no sense.
    ServerError,
    /// No whole answer came.
    Unreachable(Failure),
    /// We did not ask: the address is not public or the port not for HTTP.
    Refused(Refusal),
    /// It answered, but with something that is not taken.
    Unwanted(Unwanted),
}

impl Outcome {
    /// The word of the crawl log.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Page => "page",
            Outcome::NotModified => "not-modified",
            Outcome::Redirect { .. } => "redirect",
            Outcome::Gone => "gone",
            Outcome::NotFound => "not-found",
            Outcome::Denied => "denied",
            Outcome::Busy { .. } => "busy",
            Outcome::ServerError => "server-error",
            Outcome::Unreachable(failure) => failure.word(),
            Outcome::Refused(_) => "refused-address",
            Outcome::Unwanted(unwanted) => unwanted.word(),
        }
    }

    /// Whether the host itself is in trouble, so that its other pages would fare no better now.
    pub fn is_host_trouble(&self) -> bool {
        matches!(
            self,
            Outcome::Busy { .. } | Outcome::ServerError | Outcome::Unreachable(_)
        )
    }
}

/// Why no whole answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The name has no address or the name server does not answer.
    Dns,
    /// Nothing listens at the port.
    ConnectionRefused,
    /// No connection otherwise: unroutable, dropped.
    Connect,
    /// No agreement on TLS: certificate, version.
    Tls,
    /// One of the time limits.
    Timeout,
    /// The connection broke before the whole header was there.
    Reset,
    /// The connection broke inside the body, or the body is shorter than declared.
    Truncated,
    /// The body is not in the encoding that its header declares.
    Decode,
    /// The answer is not HTTP.
    Protocol,
}

impl Failure {
    /// The word of the crawl log.
    pub fn word(self) -> &'static str {
        match self {
            Failure::Dns => "dns",
            Failure::ConnectionRefused => "connection-refused",
            Failure::Connect => "connect",
            Failure::Tls => "tls",
            Failure::Timeout => "timeout",
            Failure::Reset => "reset",
            Failure::Truncated => "truncated",
            Failure::Decode => "decode",
            Failure::Protocol => "protocol",
        }
    }
}

/// Why an answer is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwanted {
    /// Its type is none that a page can have.
    ContentType,
    /// Its body is over the limit.
    TooLarge,
    /// Its body grows beyond the allowed ratio when decompressed.
    Bomb,
    /// It redirects to what cannot be crawled.
    Redirect,
}

impl Unwanted {
    /// The word of the crawl log.
    pub fn word(self) -> &'static str {
        match self {
            Unwanted::ContentType => "content-type",
            Unwanted::TooLarge => "too-large",
            Unwanted::Bomb => "bomb",
            Unwanted::Redirect => "bad-redirect",
        }
    }
}

/// The outcome of an error of the client, before (`in_body` false) or after the header.
pub(super) fn of_error(error: &reqwest::Error, in_body: bool) -> Outcome {
    let mut causes = Causes::default();
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        causes.note(cause);
        next = cause.source();
    }
    if let Some(refusal) = causes.refusal {
        return Outcome::Refused(refusal);
    }
    Outcome::Unreachable(if error.is_dns() {
        Failure::Dns
    } else if error.is_timeout() {
        Failure::Timeout
    } else if causes.tls {
        Failure::Tls
    } else if error.is_connect() && causes.nobody_listens {
        Failure::ConnectionRefused
    } else if error.is_connect() {
        Failure::Connect
    } else if in_body {
        Failure::Truncated
    } else if causes.broken {
        Failure::Reset
    } else {
        Failure::Protocol
    })
}

/// What was found along the chain of an error's causes.
#[derive(Default)]
struct Causes {
    refusal: Option<Refusal>,
    tls: bool,
    broken: bool,
    nobody_listens: bool,
}

impl Causes {
    fn note(&mut self, cause: &(dyn Error + 'static)) {
        if let Some(refusal) = cause.downcast_ref::<Refusal>() {
            self.refusal = Some(*refusal);
        }
        self.tls |= cause.is::<rustls::Error>();
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            self.nobody_listens |= io.kind() == io::ErrorKind::ConnectionRefused;
            self.broken |= matches!(
                io.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof
            );
            // an io::Error shows as its source not what it wraps, but the source of that
            if let Some(inner) = io.get_ref() {
                self.note(inner);
            }
        }
        // the type of hyper's errors is not ours to name: a message cut short says so
        self.broken |= cause.to_string().contains("before message completed");
    }
}
