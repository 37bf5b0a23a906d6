//! Which queue a URL belongs to, and which URL of a host goes first.
//!
//! A host has one queue, or as many as its site asks for; then the hash of the whole address modulo their number is the queue of a
//! URL. A queue fetches one page at a time and rests for its own delay; what protects the host (`Retry-After`, backing off,
//! `Crawl-delay`, limits) is the host's, for all of its queues.

use crate::store::{RANKS, UrlClass, UrlState};
use taojin_uri::{CrawlUri, QueueHash};

/// Links of equal depth share a rank up to this depth.
const DEEPEST: u8 = 8;
/// Rank of pages that are asked for in every cycle.
pub(super) const HUB_RANK: u8 = 0;
/// Rank of articles that are looked at again.
pub(super) const RECHECK_RANK: u8 = DEEPEST + 4;
/// Rank of pages that were in flight when the program crashed.
pub(super) const SUSPECT_RANK: u8 = RANKS - 1;

/// Which of the `queues` (at least 1) of its host a URL is in, from 0.
pub(super) fn queue_number(uri: &CrawlUri, queues: u32, hash: QueueHash) -> u32 {
    match queues {
        0 | 1 => 0,
        _ => hash.shard(uri.as_str(), queues),
    }
}

/// Name of the queue of a URL: its host, and `+k` where the host has several.
pub fn queue_name(uri: &CrawlUri, queues: u32, hash: QueueHash) -> String {
    match (uri.authority(), queues) {
        (host, 0 | 1) => host.to_owned(),
        (host, _) => format!("{host}+{}", queue_number(uri, queues, hash)),
    }
}

/// Place of a new URL among the due URLs of its host: links on hubs, then the rest, each by depth. The next page of a list
/// takes turns with the pages that this one leads to.
pub(super) fn rank(class: UrlClass, hops: u16, on_hub: bool) -> u8 {
    let depth = u8::try_from(hops).unwrap_or(u8::MAX).min(DEEPEST);
    match class {
        UrlClass::Seed | UrlClass::Feed | UrlClass::Sitemap => HUB_RANK,
        UrlClass::Hub => 2 + depth,
        UrlClass::Article | UrlClass::Unknown => 1 + depth + u8::from(!on_hub),
    }
}

/// Place of a URL that was visited and is to be visited again.
pub(super) fn revisit_rank(class: UrlClass, state: UrlState) -> u8 {
    match (class.is_hub(), state) {
        (true, _) => HUB_RANK,
        (false, UrlState::New) => RECHECK_RANK - 1,
        (false, _) => RECHECK_RANK,
    }
}
