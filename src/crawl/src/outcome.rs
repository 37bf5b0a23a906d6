//! How a visit ended: the one type for it from the fetch over the schedule and the frontier to the crawl log, and the one
//! table of its words. Never decides what follows from an end.

use std::fmt;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// Why a request brought no page, as cycles of a site count it and verdicts tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoPage {
    /// The server answered with this status.
    Status(u16),
    /// No answer came, or none that can be used.
    Failure(Failure),
    /// It was not made, or ended otherwise.
    Outcome(VisitOutcome),
}

impl fmt::Display for NoPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPage::Status(status) => write!(f, "{STATUS}{status}"),
            NoPage::Failure(failure) => f.write_str(failure.as_str()),
            NoPage::Outcome(outcome) => f.write_str(outcome.as_str()),
        }
    }
}

/// What went wrong with a visit. Its [`Display`](fmt::Display) is the word that cycles of a site are counted under in the store;
/// [`Problem::parse`] reads it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// No page came.
    Page(NoPage),
    /// Its robots.txt could not be had, so that no page was asked for.
    Robots(NoPage),
    /// The page says that there is none.
    ErrorPage,
}

/// How the words of problems begin that are no words of an enum.
const STATUS: &str = "HTTP ";
const ROBOTS: &str = "robots.txt: ";
const ERROR_PAGE: &str = "error page";

impl Problem {
    /// The page was forbidden by robots.txt.
    pub const DISALLOWED: Problem = Problem::Page(NoPage::Outcome(VisitOutcome::Disallowed));

    /// The problem of a word; `None` for one that this version does not know.
    pub fn parse(word: &str) -> Option<Self> {
        if word == ERROR_PAGE {
            return Some(Problem::ErrorPage);
        }
        let (word, is_robots) = match word.strip_prefix(ROBOTS) {
            Some(word) => (word, true),
            None => (word, false),
        };
        let status = word.strip_prefix(STATUS).map(|status| status.parse().ok());
        let why = match status {
            Some(status) => NoPage::Status(status?),
            // A failure that shares its word with an outcome is that outcome.
            None => match Failure::parse(word) {
                Some(failure) => NoPage::Failure(failure),
                None => NoPage::Outcome(VisitOutcome::parse(word)?),
            },
        };
        Some(if is_robots {
            Problem::Robots(why)
        } else {
            Problem::Page(why)
        })
    }

    /// Why no page came, or no robots.txt.
    pub fn no_page(self) -> Option<NoPage> {
        match self {
            Problem::Page(why) | Problem::Robots(why) => Some(why),
            Problem::ErrorPage => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Page(why) => why.fmt(f),
            Problem::Robots(why) => write!(f, "{ROBOTS}{why}"),
            Problem::ErrorPage => f.write_str(ERROR_PAGE),
        }
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
    fn problem_words_are_read_back() {
        let outcomes = VisitOutcome::ALL.map(NoPage::Outcome).into_iter();
        let whys = outcomes
            .chain(Failure::ALL.map(NoPage::Failure))
            .chain([NoPage::Status(503)]);
        for why in whys {
            for problem in [Problem::Page(why), Problem::Robots(why)] {
                let word = problem.to_string();
                let read = Problem::parse(&word).unwrap();
                assert_eq!(read.to_string(), word);
                let is_same = matches!(why, NoPage::Outcome(VisitOutcome::AddressRefused));
                assert!(is_same || read == problem, "{word}: {read:?}");
            }
        }
        assert_eq!(Problem::parse("error page"), Some(Problem::ErrorPage));
        for unknown in [
            "",
            "HTTP",
            "HTTP x",
            "robots.txt: ",
            "robots.txt: HTTP ",
            "new word",
        ] {
            assert_eq!(Problem::parse(unknown), None, "{unknown}");
        }
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
