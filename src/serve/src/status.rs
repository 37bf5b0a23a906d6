//! The state of the program as `status`, the API and the operator's page show it: crawler and index, how the last cycle of each
//! site went, and whether this server is worth being asked. Only the form: the daemon decides.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taojin_crawl::frontier::Cause;
use taojin_search::index::RecutProgress;
use utoipa::ToSchema;

/// What the operator must know, in the languages that the program speaks; empty when all is well.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Words {
    /// Why it is paused, or anything else the operator must know; empty when all is well.
    #[serde(rename = "note")]
    pub en: String,
    /// The same in Chinese; empty where only an error in English is known.
    #[serde(rename = "note_zh")]
    pub zh: String,
}

impl Words {
    /// The same sentence in English and in Chinese.
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self {
            en: en.into(),
            zh: zh.into(),
        }
    }
}

/// The workers of the daemon as [`WorkerStatus`] names them, in Chinese.
const WORKERS: [(&str, &str); 4] = [
    ("crawl loop", "抓取主循环"),
    ("fetching", "抓取"),
    ("indexer", "索引"),
    ("server", "检索服务"),
];

/// The Chinese name of a worker of the daemon; the name itself if it has none.
pub fn worker_in_chinese(name: &str) -> &str {
    let known = WORKERS.iter().find(|(english, _)| *english == name);
    known.map_or(name, |(_, chinese)| chinese)
}

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
    /// The process that crawls; none where this one only reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What it is doing.
    pub activity: Activity,
    /// Why it is paused, or anything else the operator must know.
    #[serde(flatten)]
    pub note: Words,
    /// Documents that can be found.
    pub documents: u64,
    /// How the search index does.
    #[serde(flatten)]
    pub index: IndexStatus,
    /// URLs of all sites by state.
    pub urls: UrlCounts,
    /// Work queues of all sites.
    pub queues: QueueCounts,
    /// Hosts by state, all of them.
    pub host_counts: HostCounts,
    /// The filter of addresses that were met; none where nothing is crawled.
    pub seen_filter: Option<SeenFilter>,
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
    /// The workers of the daemon, if it runs in this process.
    pub workers: Vec<WorkerStatus>,
    /// Documents that the store has and the index could not take.
    pub left_out: LeftOutStatus,
    /// The nodes that share the store; none where it is a file.
    pub cluster: Option<ClusterStatus>,
}

/// How the search index does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct IndexStatus {
    /// Changes of documents that the store has and the index has not committed yet.
    pub outbox_lag: u64,
    /// For how long the oldest of them has waited, in milliseconds; 0 when none waits. It grows while the indexer stands
    /// still.
    pub index_lag_ms: u64,
    /// In one word.
    #[serde(rename = "index_state")]
    pub state: IndexState,
    /// Since when that is so; none where it is not known, and while it is ready.
    #[serde(rename = "index_since_ms", skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// What is wrong, with what mends it; English.
    #[serde(rename = "index_trouble", skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The hosts of the engine that keeps it; none where it is in a folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub engine_hosts: Vec<EngineHostStatus>,
}

/// A host of the engine that keeps the search index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct EngineHostStatus {
    /// Its address, as in `search.url`.
    pub address: String,
    /// Whether it answers.
    pub is_up: bool,
    /// Since when that is so.
    pub since_ms: i64,
}

/// How the search index does, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// It has what the store has, but for what came just now.
    #[default]
    Ready,
    /// It has not yet had all documents that were there at the start.
    Filling,
    /// Documents have waited for longer than they should, and nobody says why.
    Behind,
    /// The engine has not as many copies of it as it should: a machine that is lost would lose a part of it.
    Yellow,
    /// Parts of it are missing in the engine.
    Red,
    /// No host of the engine answers.
    Unreachable,
    /// The engine refuses this user.
    Refusing,
    /// The engine takes nothing in: its disks are nearly full, or somebody set a block.
    Blocked,
    /// The engine is starting.
    Starting,
    /// The engine has too much to do.
    Busy,
    /// What answers at `search.url` is of no use, or the settings are not.
    Misconfigured,
    /// It was made from another store.
    OtherStore,
    /// The disk of this machine is full.
    DiskFull,
    /// It cannot be written for another reason.
    Failing,
}

impl IndexState {
    /// All of them.
    pub const ALL: [IndexState; 14] = [
        IndexState::Ready,
        IndexState::Filling,
        IndexState::Behind,
        IndexState::Yellow,
        IndexState::Red,
        IndexState::Unreachable,
        IndexState::Refusing,
        IndexState::Blocked,
        IndexState::Starting,
        IndexState::Busy,
        IndexState::Misconfigured,
        IndexState::OtherStore,
        IndexState::DiskFull,
        IndexState::Failing,
    ];

    /// As in JSON and in metrics.
    pub fn name(self) -> &'static str {
        match self {
            IndexState::Ready => "ready",
            IndexState::Filling => "filling",
            IndexState::Behind => "behind",
            IndexState::Yellow => "yellow",
            IndexState::Red => "red",
            IndexState::Unreachable => "unreachable",
            IndexState::Refusing => "refusing",
            IndexState::Blocked => "blocked",
            IndexState::Starting => "starting",
            IndexState::Busy => "busy",
            IndexState::Misconfigured => "misconfigured",
            IndexState::OtherStore => "other_store",
            IndexState::DiskFull => "disk_full",
            IndexState::Failing => "failing",
        }
    }
}

/// The nodes that share a store in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ClusterStatus {
    /// In the order of their starts.
    pub nodes: Vec<NodeStatus>,
    /// Addresses that one node has found and another one has not taken up yet.
    pub waiting_addresses: u64,
    /// When the oldest of them was sent.
    pub oldest_waiting_ms: Option<i64>,
}

/// A node that crawls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct NodeStatus {
    /// Name of its data folder: stays the same when it is started again.
    pub id: String,
    /// Name of its machine.
    pub host: String,
    /// Number of its place, for `taojin cluster drain`; rises with each start.
    pub session: i64,
    /// Version of its program.
    pub version: String,
    /// When it was started.
    pub started_ms: i64,
    /// How long its lease holds, in milliseconds; negative if it has run out.
    pub lease_ms: i64,
    /// Partitions whose hosts it crawls, of 256.
    pub partitions: u64,
    /// Transactions since its start.
    pub commits: u64,
    /// It gives its partitions back and takes no more.
    pub draining: bool,
    /// It takes part in the crawl; if not, it only serves.
    pub crawls: bool,
    /// It has an index and answers searches; if not, it only crawls.
    pub serves: bool,
    /// It sends hits to webhooks and forgets old versions: one node does.
    pub leads: bool,
}

/// How a worker of the daemon does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct WorkerStatus {
    /// `crawl loop`, `fetching`, `indexer` or `server`.
    pub name: String,
    /// Whether it makes progress. If not, systemd starts the service again.
    pub alive: bool,
    /// Milliseconds since it last got on, or found nothing to do.
    pub idle_ms: u64,
    /// What stands in its way.
    pub problem: Option<String>,
}

/// Documents that the index could not take. They are tried again when they change, after an upgrade, and by `taojin
/// reindex`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct LeftOutStatus {
    /// How many.
    pub count: u64,
    /// The first of them, at most a hundred.
    pub documents: Vec<LeftOutDocument>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct LeftOutDocument {
    /// Its address.
    pub url: String,
    /// Why.
    pub reason: String,
}

/// How the review of domain terms stands. A term that comes or goes acts at once in what is found; ranking follows when the
/// documents with it are cut again.
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
    /// How far documents are cut again whose terms came or went; none where all are as they should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recut: Option<RecutProgress>,
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
    /// Queues that rest after too many errors in a row.
    pub parked: u64,
    /// URLs due now, over all queues.
    pub due: u64,
}

/// How many hosts are in which state; each counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct HostCounts {
    /// Asked as usual.
    pub open: u64,
    /// Left alone for a while because of an error or because they asked for it.
    pub backing_off: u64,
    /// Rests after too many errors in a row.
    pub parked: u64,
    /// Had their pages of this cycle.
    pub limited: u64,
}

/// The Bloom filter that tells new addresses from those met before.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SeenFilter {
    /// Addresses in it.
    pub addresses: u64,
    /// New addresses that it took for known since the start; the store found them out, none is lost.
    pub false_positives: u64,
    /// Share of the new addresses since the start that it took for known, 0 to 1.
    pub error_ratio: f64,
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
    /// Articles that they were learned from, copies of one another included.
    pub learned: u64,
    /// Articles that fit no template and wait to be learned from.
    pub waiting: u64,
    /// Documents that wait for their fields: they were read before their template was known, or before it last changed.
    pub awaiting_fields: u64,
    /// Fetches of articles that had a template. One article counts each time that it is fetched.
    pub matched: u64,
    /// Fetches of articles that had none; those that a template is learned from are among them.
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
    /// Queues of each of its hosts: so many pages of a host are fetched at once.
    pub queues: u32,
    /// Start of the last cycle.
    pub last_cycle_ms: Option<i64>,
    /// When the next cycle is due.
    pub next_cycle_ms: Option<i64>,
    /// Since when the operator has it paused.
    pub paused_ms: Option<i64>,
    /// Documents of the site that can be found.
    pub documents: u64,
    /// Those of them that the last visit to their page did not show; they stay as they were.
    pub unconfirmed: u64,
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
    /// Estimate of the new articles that were found: the share of all known addresses that a page came from, 0 to 1; none while
    /// there is no document.
    pub recall_estimate: Option<f64>,
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
        if self.title.is_empty() {
            &self.name
        } else {
            &self.title
        }
    }
}

/// What one cycle of a site did, up to now or to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
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
    /// Visits that the site turned away: asked to sign in or to prove that a person reads, 401, 403, 429 or 451.
    pub turned_away: u64,
    /// Visits of each queue of its hosts, by the number of the queue; absent if they have one queue each.
    #[serde(skip_serializing_if = "QueueVisits::is_empty")]
    pub queue_visits: QueueVisits,
}

/// Visits of each queue of a site's hosts in a cycle, by the number of the queue: none where each host has one queue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct QueueVisits(pub Vec<u64>);

impl QueueVisits {
    /// Whether each host has one queue.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Queues that had no visit.
    pub fn idle(&self) -> usize {
        self.0.iter().filter(|visits| **visits == 0).count()
    }

    /// The share of their time that the queues had nothing to fetch, from 0 to 1, if all visits take as long as each other: the
    /// cycle lasts as long as the fullest queue.
    pub fn idle_share(&self) -> f64 {
        let fullest = self.0.iter().max().copied().unwrap_or_default();
        let places = fullest.saturating_mul(self.0.len() as u64);
        if places == 0 {
            return 0.0;
        }
        1.0 - self.0.iter().sum::<u64>() as f64 / places as f64
    }
}

/// The visits, separated by commas.
impl fmt::Display for QueueVisits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (queue, visits) in self.0.iter().enumerate() {
            let separator = if queue == 0 { "" } else { ", " };
            write!(f, "{separator}{visits}")?;
        }
        Ok(())
    }
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

impl HostStatus {
    /// Words for a person who reads Chinese in place of the English ones.
    pub fn speak_chinese(&mut self) {
        if let Some(cause) = Cause::parse(&self.cause) {
            cause.in_chinese().clone_into(&mut self.cause);
        }
        let known = HOST_STATES.iter().find(|(word, _)| *word == self.state);
        if let Some((_, chinese)) = known {
            (*chinese).clone_into(&mut self.state);
        }
    }
}

/// States of hosts, in Chinese.
const HOST_STATES: [(&str, &str); 4] = [
    ("slow", "较慢"),
    ("backing off", "退避中"),
    ("parked", "已搁置"),
    ("limited", "已达本轮上限"),
];

/// How the last cycle of a site went, in one word.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It was never crawled, or its first page has not come yet.
    #[default]
    Waiting,
    /// All went well.
    Ok,
    /// Pages came, but something was left or failed.
    Partial,
    /// No page came.
    Failed,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 4] = [Level::Waiting, Level::Ok, Level::Partial, Level::Failed];

    /// As in JSON and in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Level::Waiting => "waiting",
            Level::Ok => "ok",
            Level::Partial => "partial",
            Level::Failed => "failed",
        }
    }
}

/// How the last cycle of a site went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SiteVerdict {
    /// In one word.
    pub level: Level,
    /// In a sentence, English.
    pub text: String,
    /// In a sentence, Chinese.
    pub text_zh: String,
    /// Known addresses that were never fetched.
    pub left: u64,
    /// The setting that keeps what is left for later, or addresses out.
    pub setting: Option<String>,
}

/// Where a [`Readiness`] comes from. Asked with each search, so it must cost nothing.
pub type ReadinessSource = Arc<dyn Fn() -> Readiness + Send + Sync>;

/// Whether a server is worth being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It is.
    Ready,
    /// The database of the cluster does not answer: answers are of the documents that this machine had by then.
    Degraded,
    /// The index does not have all documents yet that were in the store when the process began: it has the changes up to `indexed`.
    Filling {
        /// Number of the last change that the index has.
        indexed: u64,
    },
}

impl Readiness {
    /// What a program is told where an answer may lack something.
    pub(crate) fn remark(self) -> Option<String> {
        match self {
            Readiness::Ready => None,
            Readiness::Degraded => Some(
                "the database (store.url) gives no answer at present: this is what this machine has, and what came since is missing"
                    .to_owned(),
            ),
            Readiness::Filling { indexed } => Some(format!(
                "the index is not complete yet, it has the changes up to {indexed}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_visits_name_idle_queues() {
        for (visits, shown, idle, share) in [
            (vec![], "", 0, 0.0),
            (vec![0, 0], "0, 0", 2, 0.0),
            (vec![8, 8], "8, 8", 0, 0.0),
            (vec![8, 0, 4, 0], "8, 0, 4, 0", 2, 0.625),
        ] {
            let visits = QueueVisits(visits);
            assert_eq!(visits.to_string(), shown);
            assert_eq!(
                (visits.idle(), visits.idle_share()),
                (idle, share),
                "{shown}"
            );
        }
        let json = serde_json::to_value(CycleCounts::default()).unwrap();
        assert_eq!(json.get("queue_visits"), None, "one queue a host: {json}");
    }
}
