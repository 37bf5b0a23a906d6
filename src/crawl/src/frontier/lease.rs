//! What passes between the frontier and the fetch tasks.

use std::net::IpAddr;
use std::sync::Arc;

use crate::outcome::{Failure, VisitOutcome};
use crate::store::UrlRecord;

/// The right to fetch one URL now. Ends with [`Frontier::finished`](super::Frontier::finished) or
/// [`Frontier::release`](super::Frontier::release).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is known of the URL.
    pub record: UrlRecord,
    /// Name of the work queue that it came from.
    pub queue: Arc<str>,
    /// Which of the queues of its host that is.
    pub(super) number: u32,
    /// The address that counts it as a connection, if the host's address was known.
    pub(super) ip: Option<IpAddr>,
}

impl Lease {
    /// Whether it is known where the host is.
    pub fn is_located(&self) -> bool {
        self.ip.is_some()
    }

    /// A lease of a page that comes from an archive: no host is asked, so the frontier knows nothing of it.
    pub fn archived(record: UrlRecord) -> Self {
        Lease {
            record,
            queue: Arc::from(""),
            number: 0,
            ip: None,
        }
    }
}

/// What the crawl loop does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Fetch this.
    Fetch(Box<Lease>),
    /// Nothing may be fetched before this time, unless a fetch ends earlier.
    Wait {
        /// When to ask again.
        until_ms: i64,
        /// Some URL is due already and waits for its host; else the next one becomes due at `until_ms`.
        due: bool,
    },
    /// Nothing is due and nothing will be without new URLs, a new cycle or the end of a fetch.
    Idle,
}

/// What the frontier wants to know of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchReport {
    /// How it ended. No delay follows where the host was not asked for the page.
    pub outcome: VisitOutcome,
    /// Why no page came, if it is known: a connection that broke is not held against the host as one that was not made.
    pub failure: Option<Failure>,
    /// Time from request to the end of the body.
    pub elapsed_ms: i64,
    /// `Retry-After`, as a length of time.
    pub retry_after_ms: Option<i64>,
    /// `Crawl-delay` of the host's robots.txt, when it is known.
    pub crawl_delay_ms: Option<i64>,
    /// The address connected to.
    pub ip: Option<IpAddr>,
    /// The error in words.
    pub error: Option<String>,
    /// A page came, but one that turns readers away: a captcha, a sign-in, what other addresses of the site show as well.
    pub turned_away: bool,
}

impl FetchReport {
    /// A report without extras.
    pub fn new(outcome: VisitOutcome, elapsed_ms: i64) -> Self {
        FetchReport {
            outcome,
            failure: None,
            elapsed_ms,
            retry_after_ms: None,
            crawl_delay_ms: None,
            ip: None,
            error: None,
            turned_away: false,
        }
    }
}
