//! Which queue a URL belongs to, and which URL of a host goes first.
//!
//! Queue key = authority, plus `+k` where a site asks for parallel queues: k by the first path segment, as
//! `URIAuthorityBasedQueueAssignmentPolicy` of Heritrix 3 has it, so that the sections of a host take turns. Politeness
//! is counted per host and per address outside the queues, so that more queues never mean more load on a host.

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

/// Name of the work queue of a URL; `parallel` (at least 1) is the number of queues of its host.
pub fn queue_key(uri: &CrawlUri, parallel: u32, hash: QueueHash) -> String {
    let authority = uri.authority();
    match lane(uri, parallel, hash) {
        0 => authority.to_owned(),
        k => format!("{authority}+{k}"),
    }
}

/// Which of the `parallel` queues of its host a URL is in: by its section, the first segment of its path.
pub(super) fn lane(uri: &CrawlUri, parallel: u32, hash: QueueHash) -> u32 {
    let section = uri.path().split('/').nth(1);
    match section {
        None | Some("") => 0,
        Some(section) => hash.shard(section, parallel),
    }
}

/// Place of a new URL among the due URLs of its host: links on hubs, then the rest, each by depth. The next page of a list
/// takes turns with the pages that this one leads to.
pub fn rank(class: UrlClass, hops: u16, on_hub: bool) -> u8 {
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
