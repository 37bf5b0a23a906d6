//! How a visit ended: the one type for it from the fetch over the schedule and the frontier to the crawl log, and the one
//! table of its words. Never decides what follows from an end.

words! {
/// How a visit ended. What else is known of the end (status, redirect target, `Retry-After`) stands in the head of the
/// answer; why there was no page, in [`Failure`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VisitOutcome {
    /// A page, feed or sitemap came.
    Page => "ok",
    /// The copy that is known is still the present one (304).
    NotModified => "not_modified",
    /// The page is elsewhere; not followed within the visit.
    Redirect => "redirect",
    /// Removed for good, says the server (410).
    Gone => "gone",
    /// Not found (404).
    NotFound => "not_found",
    /// Refused to us by another 4xx.
    Denied => "denied",
    /// The server asks for fewer requests (429, 503).
    Busy => "busy",
    /// The server failed (another 5xx) or gave an answer that makes no sense.
    ServerError => "server_error",
    /// No whole answer came.
    Unreachable => "unreachable",
    /// robots.txt forbids the page; it was not asked for.
    Disallowed => "robots",
    /// robots.txt itself could not be had, so the page was not asked for.
    RobotsUnreachable => "robots_unreachable",
    /// Not asked for: the address is not public or the port not for HTTP.
    AddressRefused => "guard",
    /// An answer came that is not taken: its type, its size, its target.
    #[default]
    Unwanted => "unwanted",
}
}

impl VisitOutcome {
    /// Whether the server said what there is to say of the page: the page, that it is unchanged, or where it is.
    pub fn is_success(self) -> bool {
        matches!(
            self,
            VisitOutcome::Page | VisitOutcome::NotModified | VisitOutcome::Redirect
        )
    }

    /// Whether the host itself is in trouble, so that its other pages would fare no better now.
    pub fn is_host_trouble(self) -> bool {
        matches!(
            self,
            VisitOutcome::Busy | VisitOutcome::ServerError | VisitOutcome::Unreachable
        )
    }
}

words! {
/// Why a fetch brought no page, or not the whole of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The name has no address or the name server does not answer.
    Dns => "dns",
    /// Nothing listens at the port.
    ConnectionRefused => "connection-refused",
    /// No connection otherwise: unroutable, dropped.
    Connect => "connect",
    /// No agreement on TLS: certificate, version.
    Tls => "tls",
    /// One of the time limits.
    Timeout => "timeout",
    /// The connection broke before the whole header was there.
    Reset => "reset",
    /// The connection broke inside the body, or the body is shorter than declared.
    Truncated => "truncated",
    /// The body is not in the encoding that its header declares.
    Decode => "decode",
    /// The answer is not HTTP.
    Protocol => "protocol",
    /// The address is not public or the port not for HTTP.
    Address => "guard",
    /// Its type is none that a page can have.
    ContentType => "content-type",
    /// Its body is over the limit.
    TooLarge => "too-large",
    /// Its body grows beyond the allowed ratio when decompressed.
    Bomb => "bomb",
    /// It redirects to what cannot be crawled.
    BadRedirect => "bad-redirect",
}
}

impl Failure {
    /// How a visit ends that fails so.
    pub fn outcome(self) -> VisitOutcome {
        match self {
            Failure::Address => VisitOutcome::AddressRefused,
            Failure::ContentType | Failure::TooLarge | Failure::Bomb | Failure::BadRedirect => {
                VisitOutcome::Unwanted
            }
            _ => VisitOutcome::Unreachable,
        }
    }

    /// Whether there was no connection at all, as opposed to one that broke.
    pub fn is_no_connection(self) -> bool {
        matches!(
            self,
            Failure::Dns | Failure::ConnectionRefused | Failure::Connect | Failure::Tls
        )
    }
}

/// How and where a response ended inside its body. A server that declares a wrong length does so at the same byte each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// [`Failure::Truncated`] or [`Failure::Timeout`].
    pub failure: Failure,
    /// Bytes of the body that came.
    pub wire_bytes: u64,
}

words! {
/// What a visit did to the document of a page, as the crawl log says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentChange {
    /// The page had none.
    New => "new",
    /// It says something else now.
    Changed => "changed",
    /// It says what it said.
    Unchanged => "unchanged",
    /// It stays, though the page did not show it.
    Unconfirmed => "unconfirmed",
    /// It left the index.
    Deleted => "deleted",
    /// Another address of the site has it.
    Duplicate => "duplicate",
    /// Another address had it and names this one as canonical.
    Moved => "moved",
}
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_unique() {
        let outcomes = VisitOutcome::ALL.map(VisitOutcome::as_str);
        let failures = Failure::ALL.map(Failure::as_str);
        let changes = DocumentChange::ALL.map(DocumentChange::as_str);
        for words in [&outcomes[..], &failures, &changes] {
            let distinct: HashSet<&&str> = words.iter().collect();
            assert_eq!(distinct.len(), words.len(), "{words:?}");
        }
        for outcome in VisitOutcome::ALL {
            let word = outcome.as_str();
            assert_eq!(VisitOutcome::parse(word), Some(outcome), "{word}");
            assert!(word.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert_eq!(serde_json::json!(outcome), word);
        }
        assert_eq!(VisitOutcome::parse("something else"), None);
    }

    #[test]
    fn failure_has_no_page() {
        for failure in Failure::ALL {
            let word = failure.as_str();
            assert_eq!(Failure::parse(word), Some(failure), "{word}");
            assert!(!failure.outcome().is_success(), "{word}");
            // Counted side by side for the verdict of a site: a failure that shares its word with an outcome is that outcome.
            let same = VisitOutcome::parse(word);
            assert!(same.is_none_or(|outcome| outcome == failure.outcome()));
        }
    }
}
