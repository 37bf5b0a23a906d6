//! What passes between the crawl loop and the visits: a lease goes out, what the visit found comes back. Plain data.

use std::net::IpAddr;

use super::article::OpenArticle;
use crate::documents::EncodedDocument;
use taojin_crawl::VisitOutcome;
use taojin_crawl::fetch::{Fetched, Record};
use taojin_crawl::frontier::{FetchReport, Lease};
use taojin_crawl::schedule::Cut;
use taojin_crawl::store::NewUrl;
use taojin_extract::{Document, Kind};
use taojin_uri::CrawlUri;

/// One visit to be made.
pub(crate) struct Work {
    pub(crate) lease: Lease,
    /// The answer, if it comes from an archive and not from the network.
    pub(crate) archived: Option<Box<Archived>>,
    /// The article whose next page is fetched instead of the URL's own, if one has begun.
    pub(crate) open: Option<Box<OpenArticle>>,
}

/// An answer of an archive.
pub(crate) struct Archived {
    pub(crate) record: Record,
    /// When it was archived, Unix milliseconds.
    pub(crate) at_ms: i64,
}

/// A lease that has ended.
pub(crate) struct Finished {
    /// The lease.
    pub(crate) lease: Lease,
    /// What was found.
    pub(crate) visited: Visited,
    /// What the frontier's politeness goes by.
    pub(crate) report: FetchReport,
    /// How it has ended.
    pub(crate) end: End,
}

/// How a lease ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With what was found.
    Whole,
    /// The right to fetch ended in the middle of it: nothing of it counts but that its host was asked.
    BrokenOff,
    /// Nothing was asked: only where its host is was found out.
    Located(IpAddr),
}

/// What became of a visit.
#[derive(Default)]
pub(crate) struct Visited {
    /// How it ended.
    pub(crate) outcome: VisitOutcome,
    /// Why it was refused or failed, in words.
    pub(crate) reason: Option<String>,
    /// The same as a sentence for people, where the reason is a word for programs.
    pub(crate) sentence: Option<String>,
    /// How it went over the network; none when nothing was asked.
    pub(crate) fetched: Option<Fetched>,
    /// What the page is.
    pub(crate) kind: Option<Kind>,
    /// The document, if the page is one to be found.
    pub(crate) document: Option<EncodedDocument>,
    /// The document of a page that asks not to be indexed.
    pub(crate) withheld: Option<EncodedDocument>,
    /// It asks to sign in, or to prove that a person reads; or leads to where that is asked.
    pub(crate) is_blocking: bool,
    /// Digest of the text (articles) or of the links (hubs).
    pub(crate) digest: Option<u64>,
    /// Digest of what the page says without its numbers.
    pub(crate) outline: Option<u64>,
    /// Digest of all that it shows: title, text, and its links by their texts and by the last part of where they lead, which stays
    /// the same where a relative link is found under another address.
    pub(crate) face: Option<u64>,
    /// Why a page that came has no document, in words.
    pub(crate) unindexed: Option<String>,
    /// Links in page order.
    pub(crate) outlinks: Vec<NewUrl>,
    /// Why a sitemap was not read to its end.
    pub(crate) sitemap_cut: Option<Cut>,
    /// Where the page stands instead: target of a redirect, or the canonical address.
    pub(crate) target: Option<CrawlUri>,
    /// When the page was archived, Unix milliseconds; none when it was fetched just now.
    pub(crate) archived_ms: Option<i64>,
    /// When a person last named a field of the site's pages; 0 for a page that was fetched just now.
    pub(crate) named_ms: i64,
    /// The document of a page on which an article begins that goes on on others.
    pub(crate) goes_on: Option<Box<Document>>,
    /// The article, if it goes on on a page that has not come yet.
    pub(crate) open: Option<Box<OpenArticle>>,
    /// The page of the article that was fetched, if it is not the first.
    pub(crate) later: Option<(CrawlUri, Fetched)>,
}

impl Visited {
    /// A visit that brought nothing but this end.
    pub(crate) fn nothing(outcome: VisitOutcome, reason: Option<String>) -> Self {
        Self {
            outcome,
            reason,
            ..Self::default()
        }
    }
}
