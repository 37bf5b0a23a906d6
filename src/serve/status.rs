//! What the operator wants to know at a glance. In: a source that the daemon, or a reader of the store, supplies.
//! Out: one [`Status`]. Never asks the crawler anything itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::verdict::SiteVerdict;

/// Where a [`Status`] comes from: called for each request on a blocking thread; the error is one line for the
/// operator. It should answer within the request's time limit.
pub type StatusSource = Arc<dyn Fn() -> Result<Status, String> + Send + Sync>;

/// What the process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Crawling on schedule.
    Running,
    /// Crawling is held: see `note`.
    Paused,
    /// Being stopped: no new fetches.
    Stopping,
    /// Serving an existing index; nothing is crawled by this process.
    #[default]
    ReadOnly,
}

/// State of the whole. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// When this status was taken.
    pub now_ms: i64,
    /// When the process started.
    pub started_ms: i64,
    /// What it is doing.
    pub activity: Activity,
    /// Why it is paused, or anything else the operator must know; empty when all is well.
    pub note: String,
    /// Documents that can be found.
    pub documents: u64,
    /// Documents in the outbox that the index has not committed yet.
    pub outbox_lag: u64,
    /// URLs of all sites by state.
    pub urls: UrlCounts,
    /// Work queues of all sites.
    pub queues: QueueCounts,
    /// Disk use.
    pub disk: DiskUse,
    /// One entry per configured site, by name.
    pub sites: Vec<SiteStatus>,
    /// Hosts that are slow, backing off or parked, worst first; at most a few dozen.
    pub hosts: Vec<HostStatus>,
    /// Topics whose hits are sent to a webhook, by name.
    pub follows: Vec<FollowStatus>,
    /// Domain terms; none if their list cannot be read.
    pub terms: Option<TermsStatus>,
}

/// How the review of domain terms stands. An accepted term is used at once: nothing is indexed for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct TermsStatus {
    /// Found and not decided about.
    pub proposed: u64,
    /// In use from the lexicon of accepted ones.
    pub accepted: u64,
    /// Not proposed again.
    pub rejected: u64,
    /// When was looked for terms last.
    pub looked_ms: Option<i64>,
}

/// How many URLs are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct UrlCounts {
    /// Found, never fetched.
    pub waiting: u64,
    /// Being fetched.
    pub in_flight: u64,
    /// Fetched at least once, to be revisited.
    pub fetched: u64,
    /// Refused by scope, robots.txt, type or limits.
    pub refused: u64,
    /// Failed at the last try, to be tried again.
    pub failed: u64,
    /// Gone for good.
    pub gone: u64,
}

/// How the work queues stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QueueCounts {
    /// Queues that hold at least one URL.
    pub queues: u64,
    /// Queues with a URL that is due now.
    pub ready: u64,
    /// Queues waiting for a host's delay or backoff.
    pub waiting: u64,
    /// Queues put aside after too many errors in a row.
    pub parked: u64,
    /// URLs due now, over all queues.
    pub due: u64,
}

/// What lies on disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DiskUse {
    /// The search index.
    pub index_bytes: u64,
    /// The store of URLs and the outbox.
    pub store_bytes: u64,
    /// Free on the file system that holds them.
    pub free_bytes: u64,
}

/// Templates of a site.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct TemplateStatus {
    /// Templates in use.
    pub used: u64,
    /// Articles without a template that wait to be learned from.
    pub waiting: u64,
    /// Articles that had a template.
    pub matched: u64,
    /// Articles that had none.
    pub unmatched: u64,
    /// What the operator should know: a redesign, a template that fits less well.
    pub note: Option<String>,
    /// Since when, Unix milliseconds.
    pub note_ms: Option<i64>,
}

/// State of one site.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SiteStatus {
    /// Name in the configuration.
    pub name: String,
    /// What the site calls itself, for readers; empty if the configuration does not say.
    pub title: String,
    /// Start of the last cycle.
    pub last_cycle_ms: Option<i64>,
    /// When the next cycle is due.
    pub next_cycle_ms: Option<i64>,
    /// Since when the operator has it paused.
    pub paused_ms: Option<i64>,
    /// Documents of the site that can be found.
    pub documents: u64,
    /// URLs of the site by state.
    pub urls: UrlCounts,
    /// URLs of the site that are due now.
    pub due: u64,
    /// How the last cycle went, and what it left.
    pub verdict: SiteVerdict,
    /// Failed fetches in the last cycle; an old page that is no longer there is none.
    pub errors: u64,
    /// What the last cycle did.
    pub cycle: CycleCounts,
    /// Estimate of the new articles that were found: the share of all known addresses that have been visited, 0 to 1.
    pub recall_estimate: f64,
    /// How long ago the documents were last looked at, on average, in milliseconds.
    pub mean_age_ms: Option<i64>,
    /// The last error of the last cycle, one line with the URL.
    pub last_error: Option<String>,
    /// What is known of its templates.
    pub templates: TemplateStatus,
}

impl SiteStatus {
    /// The site as readers know it.
    pub fn shown(&self) -> &str {
        match self.title.is_empty() {
            true => &self.name,
            false => &self.title,
        }
    }
}

/// What one cycle of a site did, up to now or to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CycleCounts {
    /// Addresses visited.
    pub visits: u64,
    /// Documents that were new.
    pub new_documents: u64,
    /// Visits that brought a whole page which said nothing new.
    pub wasted: u64,
    /// Visits that were answered 304.
    pub not_modified: u64,
}

/// How telling one topic's follower stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct FollowStatus {
    /// Name in the configuration.
    pub name: String,
    /// Hits that wait to be told.
    pub waiting: u64,
    /// Hits that were told.
    pub told: u64,
    /// Hits that were given up: the receiver was away for too long.
    pub given_up: u64,
    /// When the last delivery succeeded.
    pub told_ms: Option<i64>,
    /// When the next try is due, if the last one failed.
    pub next_ms: Option<i64>,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// State of one host that needs the operator's eye.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct HostStatus {
    /// Host name.
    pub host: String,
    /// `slow`, `backing off`, `parked`, `robots unreachable` …
    pub state: String,
    /// Delay in force between two fetches.
    pub delay_ms: u64,
    /// What set that delay.
    pub cause: String,
    /// Earliest next fetch.
    pub next_fetch_ms: Option<i64>,
    /// URLs that wait for it.
    pub queued: u64,
    /// Time that they take at this delay.
    pub queue_eta_ms: i64,
    /// The last error.
    pub last_error: Option<String>,
}
