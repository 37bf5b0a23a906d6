//! What the store keeps of a URL, a host and a site. Plain data: nothing here decides anything.
//!
//! What one transaction takes in and what it answers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use taojin_uri::CrawlUri;

use super::documents::DocOp;
use super::sql::stored;
use super::used_templates::UsedTemplate;
use crate::outcome::Truncation;

stored!(UrlClass, UrlState, Cause);

/// Row number of a URL; rises with the order in which URLs were found.
pub type UrlId = i64;
/// Row number of a host.
pub type HostId = i64;
/// Row number of a site.
pub type SiteId = i64;

words! {
/// What a URL is for. The numbers are stored; the first four are visited in every cycle of their site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub enum UrlClass {
    /// Named in the site's settings.
    Seed => "seed" "种子网址",
    /// A list page: its worth is its links.
    Hub => "hub" "列表页",
    /// An RSS, Atom or JSON feed.
    Feed => "feed" "订阅源",
    /// A sitemap or a sitemap index.
    Sitemap => "sitemap" "站点地图",
    /// A detail page.
    Article => "article" "文章",
    /// Not fetched yet, or none of these.
    #[default]
    Unknown => "unknown" "未知",
    /// A file that a page offers.
    Attachment => "attachment" "附件",
}
}

impl UrlClass {
    /// Whether it is visited again in each cycle for its links.
    pub fn is_hub(self) -> bool {
        self < UrlClass::Article
    }
}

words! {
/// What came of the last visit. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub enum UrlState {
    /// Found, not fetched yet.
    #[default]
    New => "new" "未抓取",
    /// Fetched, also when the answer was "not modified".
    Fetched => "fetched" "已抓取",
    /// Leads elsewhere; the target stands in `target`.
    Redirect => "redirect" "跳转",
    /// The server says that it is gone: 404 or 410, twice a day apart if it had a document.
    Gone => "gone" "已失效",
    /// Could not be fetched; tried again while it has a due time.
    Failed => "failed" "失败",
    /// Not allowed: robots.txt, address guard, scope.
    Refused => "refused" "已拒绝",
}
}

/// What the page that offers an attachment says of it, or the list of a site that names a page.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Announcement {
    /// What the page calls it.
    pub name: String,
    /// Address of the page.
    pub page_url: String,
    /// Headline of the page.
    pub page_title: Option<String>,
    /// When the page was published, ISO 8601.
    pub published: Option<String>,
    /// When the address itself was published, as a feed or sitemap has it; `page_url` is that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<String>,
}

/// How long the history of documents is kept. The present version of a document always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Versions before the present one, of each document; the oldest go first.
    pub versions: u32,
    /// Days that a version is kept after a newer one came.
    pub version_days: u32,
    /// Days for which it is remembered that a document is gone.
    pub tombstone_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention {
            // Versions before the present one that are kept by default.
            versions: 20,
            // Days that a version is kept by default after a newer one came.
            version_days: 400,
            // Days by default for which it is remembered that a document is gone: longer than anything that follows is down.
            tombstone_days: 90,
        }
    }
}

/// The part of a URL's record that a visit changes. A finished page carries the whole of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UrlVisit {
    /// What came of the last visit.
    pub state: UrlState,
    /// What the URL is for.
    pub class: UrlClass,
    /// When it is to be fetched next; `None`: with the next cycle of its site (hubs) or never.
    pub due_ms: Option<i64>,
    /// Place among the due URLs of its host, 0 first. Set by the frontier.
    pub rank: u8,
    /// Present revisit interval; 0 before the first visit.
    pub interval_ms: i64,
    /// Status of the last answer.
    pub status: Option<u16>,
    /// `ETag` of the last full answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the last full answer, as sent.
    pub last_modified: Option<String>,
    /// Digest of the extracted text (articles) or of the links (hubs).
    pub digest: Option<u64>,
    /// Time of the last visit.
    pub fetched_ms: Option<i64>,
    /// Time of the last visit that found the digest changed (or the first visit).
    pub changed_ms: Option<i64>,
    /// Time of the last visit that found the page as it should be: for a page with a document, one that showed it.
    pub confirmed_ms: Option<i64>,
    /// First of an unbroken row of answers 404 and 410; with an [`answer`](Self::answer), of pages with another text altogether.
    pub not_found_since_ms: Option<i64>,
    /// Digest of the words of the last page that came, if they were not taken for its document.
    pub answer: Option<u64>,
    /// Visits in a row that found nothing new.
    pub unchanged: u32,
    /// Failed visits in a row.
    pub errors: u32,
    /// Its document stands in the index.
    pub documented: bool,
    /// Digest of all that its document says; also of a page that stands for the same document as another.
    pub content: Option<u64>,
    /// The page whose document stands for this one too: the same text at another address.
    pub alias_of: Option<UrlId>,
    /// Redirect target, or the page's own canonical address where it differs.
    pub target: Option<String>,
    /// The last error in words. Of a page that was fetched: why it has no document, or what is wrong with its body.
    pub error: Option<String>,
    /// Where the body of the last response ended too early.
    pub truncation: Option<Truncation>,
}

impl UrlVisit {
    /// Whether it has a document that the last visit did not show.
    pub fn is_unconfirmed(&self) -> bool {
        self.documented && self.confirmed_ms < self.fetched_ms
    }
}

/// Everything known of one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRecord {
    /// Row number.
    pub id: UrlId,
    /// Its host.
    pub host: HostId,
    /// The address.
    pub uri: CrawlUri,
    /// Name of the site that it belongs to.
    pub site: Arc<str>,
    /// Links followed from a seed.
    pub hops: u16,
    /// Redirects followed to come here.
    pub redirects: u8,
    /// The page that it was found on.
    pub via: Option<UrlId>,
    /// What was said of an attachment where it was found.
    pub announced: Option<Box<Announcement>>,
    /// When it was found.
    pub first_seen_ms: i64,
    /// The template that its document was read with; `None` where that was not kept, and for a file.
    pub template: Option<UsedTemplate>,
    /// Unclean stops of the program during which it was being fetched, since its last finished visit.
    pub crashes: u8,
    /// The state that visits change.
    pub visit: UrlVisit,
}

/// A due URL without its record: what a work queue holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueUrl {
    /// Place among the due URLs of its host.
    pub rank: u8,
    /// When it became or becomes due.
    pub due_ms: i64,
    /// Row number; of two URLs due at the same time the one found first goes first.
    pub id: UrlId,
}

/// Due time of a URL that is held back until its site is crawled again: never, as a time.
pub const HELD_MS: i64 = 1 << 60;

/// One site as the store knows it; its settings live in `sites.d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteRecord {
    /// Row number.
    pub id: SiteId,
    /// Name in `sites.d`.
    pub name: Arc<str>,
    /// It is not crawled at present: its URLs are kept, and none of them is due. Not the operator's pause.
    pub paused: bool,
    /// Start of the last cycle; `None` before the first.
    pub last_cycle_ms: Option<i64>,
    /// Number of cycles started.
    pub cycles: i64,
    /// The last failed fetch of the last cycle: address and reason.
    pub last_error: Option<String>,
    /// Since when the operator has it paused.
    pub paused_ms: Option<i64>,
}

words! {
/// Why a host is not asked sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Cause {
    /// It may be asked now.
    #[default]
    None = 0 => "nothing holds it" "没有限制",
    /// The usual delay, by the time that its last page took.
    Delay = 1 => "usual delay between two pages" "两次抓取之间的间隔",
    /// `Crawl-delay` of its robots.txt.
    CrawlDelay = 2 => "Crawl-delay of robots.txt" "robots.txt 的 Crawl-delay",
    /// The delay that the site's settings ask for.
    SiteDelay = 3 => "delay set for the site" "站点设置的间隔",
    /// It answered with `Retry-After`.
    RetryAfter = 4 => "Retry-After of the server" "服务器的 Retry-After",
    /// It answered 429 or 503.
    Throttled = 5 => "server answered 429 or 503, backing off" "服务器返回 429 或 503，正在退避",
    /// It could not be reached.
    Unreachable = 6 => "could not be reached, backing off" "无法连接，正在退避",
    /// Too many errors in a row.
    Parked = 7 => "parked after too many errors in a row" "连续出错过多，已搁置",
    /// It had its pages of this cycle.
    CycleLimit = 10 => "page limit of this cycle reached" "已达到本轮页数上限",
    /// It turns readers away: pages to sign in or to prove oneself at, or others in place of what was asked for.
    TurnedAway = 11 => "shows a captcha, a sign-in or the like instead of its pages, backing off" "返回验证码、登录之类的页面，正在退避",
}
}

impl Cause {
    /// Backoffs are kept when a shorter delay would follow.
    pub fn is_backoff(self) -> bool {
        matches!(
            self,
            Cause::RetryAfter
                | Cause::Throttled
                | Cause::Unreachable
                | Cause::Parked
                | Cause::TurnedAway
        )
    }
}

/// What is remembered of a host between runs: politeness and its counters. Meaning belongs to the frontier.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostRecord {
    /// Row number.
    pub id: HostId,
    /// `host` or `host:port`.
    pub authority: Arc<str>,
    /// No URL of it is due before this; `None`: none is due at all.
    pub next_due_ms: Option<i64>,
    /// Nothing is fetched from it before this (delay, Retry-After, backoff, parking).
    pub not_before_ms: i64,
    /// The reason for `not_before_ms`.
    pub cause: Cause,
    /// Steps of the present backoff.
    pub backoff_level: u8,
    /// Last time the host asked for less or failed.
    pub trouble_ms: Option<i64>,
    /// Failed fetches in a row.
    pub errors: u32,
    /// The last error in words.
    pub last_error: Option<String>,
    /// `Crawl-delay` of robots.txt.
    pub crawl_delay_ms: Option<i64>,
    /// Time that the last fetch took.
    pub elapsed_ms: i64,
    /// Address that the last connection went to.
    pub ip: Option<std::net::IpAddr>,
    /// Fetches ever.
    pub fetched: i64,
    /// Start of the cycle that `cycle_pages` counts.
    pub cycle_ms: i64,
    /// Fetches in this cycle.
    pub cycle_pages: i64,
}

/// A URL that may be new. The frontier refuses what is out of scope and drops what is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUrl {
    /// The address.
    pub uri: CrawlUri,
    /// Name of the site that it is for.
    pub site: Arc<str>,
    /// What it seems to be; `Unknown` is a good answer.
    pub class: UrlClass,
    /// Links from a seed: the finding page's plus one; a redirect target has its source's.
    pub hops: u16,
    /// Redirects followed to come here.
    pub redirects: u8,
    /// The page that it was found on; filled in from the finished page that carries it.
    pub via: Option<UrlId>,
    /// What the page says of it, of an attachment, or the list.
    pub announced: Option<Box<Announcement>>,
    /// When to fetch it; `None`: at once.
    pub due_ms: Option<i64>,
    /// Place among the due URLs of its host, set by the frontier.
    pub rank: u8,
    /// The fingerprint that it will have, where it is certain that no row has the address and none the fingerprint: the table need
    /// not be read. Set by the frontier.
    pub free: Option<u64>,
}

impl NewUrl {
    /// A link found on a page of `site`, `hops` links from a seed; class unknown, due at once.
    pub fn link(uri: CrawlUri, site: &Arc<str>, hops: u16) -> Self {
        NewUrl {
            uri,
            site: Arc::clone(site),
            class: UrlClass::Unknown,
            hops,
            redirects: 0,
            via: None,
            announced: None,
            due_ms: None,
            rank: 0,
            free: None,
        }
    }

    /// A seed of `site`.
    pub fn seed(uri: CrawlUri, site: &Arc<str>) -> Self {
        NewUrl {
            class: UrlClass::Seed,
            ..NewUrl::link(uri, site, 0)
        }
    }
}

/// A page that was visited: its record, what it links to and what becomes of its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedPage {
    /// Row number of the URL, from the lease.
    pub id: UrlId,
    /// Its host, from the lease.
    pub host: HostId,
    /// Its address, from the lease.
    pub uri: CrawlUri,
    /// The new state.
    pub visit: UrlVisit,
    /// The template that its document was read with now; `None` where it was not read: then what was kept stays.
    pub template: Option<UsedTemplate>,
    /// Links in page order; unknown ones become records.
    pub outlinks: Vec<NewUrl>,
    /// What becomes of its document.
    pub document: Option<DocOp>,
    /// The document of another URL that changes with this visit: its row number and what becomes of it.
    pub other_document: Option<(UrlId, DocOp)>,
    /// Pages whose documents give way to this page's, since it is their canonical address.
    pub yielding: Vec<UrlId>,
}

/// Everything of one transaction. The crawl loop fills `pages`, `urls`, `documents` and `counters`; the frontier the
/// rest.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Visited pages.
    pub pages: Vec<FinishedPage>,
    /// URLs from elsewhere: seeds, feeds and sitemaps named in settings or robots.txt.
    pub urls: Vec<NewUrl>,
    /// Addresses of partitions that other nodes have: for them to take up (frontier).
    pub foreign: Vec<NewUrl>,
    /// Fingerprints of addresses that other nodes have found for this one and that are among `urls` now.
    pub taken_up: Vec<u64>,
    /// Documents that come from elsewhere than a visit, by their fingerprint.
    pub documents: Vec<(u64, DocOp)>,
    /// What lists say of addresses that are known already (frontier). An earlier word stays.
    pub announced: Vec<(CrawlUri, Box<Announcement>)>,
    /// Added to the counters of a site: `(site, counter name) → amount`.
    pub counters: BTreeMap<(Arc<str>, Cow<'static, str>), i64>,
    /// The last failed fetch of a site: address and reason.
    pub site_errors: BTreeMap<Arc<str>, String>,
    /// Changed host records (frontier).
    pub hosts: Vec<HostRecord>,
    /// Hosts whose `next_due_ms` is to be computed again from their due URLs, but no earlier than the time given
    /// (frontier).
    pub reschedule: Vec<(HostId, i64)>,
    /// URLs that are not fetched now and when they are due instead; [`HELD_MS`](super::HELD_MS) where their site is not crawled at
    /// present (frontier).
    pub hold: Vec<(UrlId, i64)>,
}

impl Batch {
    /// Adds to a counter of a site.
    pub fn count(&mut self, site: &Arc<str>, name: impl Into<Cow<'static, str>>, amount: i64) {
        let key = (Arc::clone(site), name.into());
        *self.counters.entry(key).or_default() += amount;
    }
}

/// A URL that a transaction has added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Its host.
    pub host: HostId,
    /// Its site.
    pub site: SiteId,
    /// Its row, and when it is due.
    pub due: DueUrl,
}

/// What a transaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// URLs added.
    pub inserted: Vec<Inserted>,
    /// Number of the last change of a document; 0 if none ever changed.
    pub document_seq: i64,
    /// Pages that stood for a document that is gone or says something else now: due again.
    pub released: Vec<(HostId, DueUrl)>,
    /// New `next_due_ms` of the hosts named in `reschedule`.
    pub rescheduled: Vec<(HostId, Option<i64>)>,
}
