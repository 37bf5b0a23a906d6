//! What one transaction takes in and what it answers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::documents::DocOp;
use super::record::{DueUrl, HostId, HostRecord, SiteId, UrlClass, UrlId, Visit};
use taojin_uri::CrawlUri;

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
    /// When to fetch it; `None`: at once.
    pub due_ms: Option<i64>,
    /// Place among the due URLs of its host, set by the frontier.
    pub rank: u8,
    /// The filter of the frontier is certain that no row has it: the table need not be asked. Set by the frontier.
    pub is_new: bool,
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
            due_ms: None,
            rank: 0,
            is_new: false,
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
    /// Its fingerprint, the key of its document.
    pub fingerprint: u64,
    /// The new state.
    pub visit: Visit,
    /// Links in page order; unknown ones become records.
    pub outlinks: Vec<NewUrl>,
    /// What becomes of its document.
    pub document: Option<DocOp>,
    /// A document at another address that changes with this visit: its fingerprint and what becomes of it.
    pub other_document: Option<(u64, DocOp)>,
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
    /// Added to the counters of a site: `(site, counter name) → amount`.
    pub counters: BTreeMap<(Arc<str>, Cow<'static, str>), i64>,
    /// The last failed fetch of a site: address and reason.
    pub site_errors: BTreeMap<Arc<str>, String>,
    /// Changed host records (frontier).
    pub hosts: Vec<HostRecord>,
    /// Hosts whose `next_due_ms` is to be computed anew from their due URLs, but no earlier than the time given
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
