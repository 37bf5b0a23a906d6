//! What is fetched next. In: URLs found on pages, the sites' scopes, what became of each fetch, and the time. Out:
//! leases, one host at a time as politeness allows, and why a host waits. Never fetches, never reads a clock.
//!
//! The crawl loop owns a [`Frontier`] and the writing side of the store and goes round:
//! [`Frontier::next`] gives a [`Lease`] → the page is fetched → [`Frontier::finished`] frees the host →
//! [`Frontier::commit`] makes the pages and their new links durable. A lease lives in memory only: until its commit
//! the URL stays due in the store, so that a crash needs no repair.

use serde::{Deserialize, Serialize};
use taojin_uri::QueueHash;

mod alike;
mod commit;
mod explain;
mod leasing;
mod politeness;
mod queue;
mod scope;
mod seen;
mod sites;
mod territory;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use crate::store::{DueUrl, HostId, Partition, Partitions, SiteId, Store, StoreError, UrlId};
use alike::Alike;
use politeness::Addresses;
use queue::{HostQueues, SUSPECT_RANK};
use seen::Seen;
use sites::Site;
use territory::Turns;

pub use crate::store::Cause;
pub use commit::CommitReport;
pub use explain::{Explanation, HostCounts, Resting, Span, Stats, leads_nowhere, longest_rest};
pub use leasing::{Asked, FetchReport, Lease, Next};
pub use queue::queue_name;
pub use scope::{Patterns, Refusal, Scope, ScopeError, pattern_problem, queues_of};
pub use sites::{
    BEYOND_HOPS, HOST_LIMITS, MAX_SKIPPED, OUT_OF_SCOPE, SITE_FULL, SITE_LIMITS, is_blind,
};

/// A page that was being fetched at this many crashes in a row goes last.
const SUSPECT_CRASHES: u8 = 3;
/// And is given up at this many.
const POISON_CRASHES: u8 = 10;

/// What is fetched next, and what was met before.
#[derive(Debug)]
pub struct Frontier {
    config: Config,
    sites: HashMap<Arc<str>, Site>,
    /// The sites whose URLs are given out; empty: those of all sites.
    only: Vec<SiteId>,
    hosts: HashMap<HostId, HostQueues>,
    /// (time, turn, host, its queue): the entry whose turn equals its queue's ticket counts, others are left-overs.
    heap: BinaryHeap<Reverse<(i64, u64, HostId, u32)>>,
    turn: u64,
    addresses: Addresses,
    turns: Turns,
    /// Hosts that wait for a connection of an address to end.
    waiting: HashMap<IpAddr, Vec<HostId>>,
    leases: BTreeMap<UrlId, HostId>,
    seen: Seen,
    alike: Alike,
    /// When the store may have hosts with due URLs that are not in memory.
    activate_ms: i64,
    /// Hosts that were left in the store for want of room.
    crowded: bool,
    /// URLs to put off with the next commit: of sites that are not crawled, unreadable, or not worth it yet.
    hold: Vec<(HostId, DueUrl)>,
    /// Fingerprints of addresses that the operator has taken down: a few, by hand.
    taken_down: HashSet<u64>,
    /// The partitions whose hosts this node crawls.
    parts: Partitions,
    /// This node does what one node does for all.
    leads: bool,
    /// Partitions that are given back as soon as nothing of them is under way.
    leaving: BTreeSet<Partition>,
    /// When partitions were taken whose last node may have asked any host of them just before: each host rests once from then.
    /// Before the first look at the hosts it lies in the future.
    taken_over_ms: HashMap<Partition, i64>,
    /// The same of those that their last node gave back: how long each host has to wait is in its row, by the clock of that node.
    handed_over_ms: HashMap<Partition, i64>,
    /// Partitions of which the lists of the last cycle may not have been asked for.
    to_catch_up: Partitions,
}

impl Frontier {
    /// Opens the frontier over a store: the filter of seen URLs is loaded or rebuilt, pages that were in flight at a
    /// crash are noted.
    pub fn open(store: &mut Store, config: Config) -> Result<Self, StoreError> {
        store.recover(SUSPECT_CRASHES, POISON_CRASHES, SUSPECT_RANK)?;
        Self::over(store, config)
    }

    /// The same over a store that did not answer for a while and does again ([`Store::settle`]), once nothing is leased: what it has
    /// in memory may not be what the store has. Its sites are to be set again.
    pub fn reopen(&mut self, store: &mut Store) -> Result<(), StoreError> {
        self.alike.save(store.dir());
        *self = Self::over(store, self.config.clone())?;
        Ok(())
    }

    fn over(store: &mut Store, config: Config) -> Result<Self, StoreError> {
        let dir = store.dir().to_owned();
        let seen = Seen::open(store, &dir, config.seen_error, config.seen_capacity)?;
        let taken_down = store.takedowns()?;
        let mut frontier = Frontier {
            config,
            sites: HashMap::new(),
            only: Vec::new(),
            hosts: HashMap::new(),
            heap: BinaryHeap::new(),
            turn: 0,
            addresses: Addresses::default(),
            turns: Turns::default(),
            waiting: HashMap::new(),
            leases: BTreeMap::new(),
            seen,
            alike: Alike::open(&dir),
            activate_ms: i64::MIN,
            crowded: false,
            hold: Vec::new(),
            taken_down: taken_down.iter().map(|t| t.fingerprint).collect(),
            parts: store.first_share(),
            leads: false,
            leaving: BTreeSet::new(),
            taken_over_ms: HashMap::new(),
            handed_over_ms: HashMap::new(),
            to_catch_up: Partitions::none(),
        };
        let held = store.held_partitions()?;
        frontier.gain(store, &held)?;
        frontier.take_share(store)?;
        Ok(frontier)
    }

    /// Saves what makes the next start quick. For the end of the daemon, after the last commit.
    pub fn close(&mut self, store: &Store) {
        self.seen.save(store.dir(), true);
        self.alike.save(store.dir());
    }

    /// The settings in force.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// Settings of the frontier: politeness, limits and memory.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Least time between two fetches from one host, in milliseconds.
    pub min_delay_ms: i64,
    /// Greatest delay that slowness of a host alone can cause, in milliseconds.
    pub max_delay_ms: i64,
    /// The delay is this many times what the last fetch took, between `min_delay_ms` and `max_delay_ms`.
    pub delay_factor: f64,
    /// The delay varies by this share up and down.
    pub jitter: f64,
    /// A `Crawl-delay` of robots.txt is obeyed up to this, in milliseconds.
    pub max_crawl_delay_ms: i64,
    /// A `Retry-After` is obeyed up to this, in milliseconds.
    pub max_retry_after_ms: i64,
    /// Rest after a 429 or 503 without `Retry-After`, doubled each time, in milliseconds.
    pub throttle_backoff_ms: i64,
    /// Time without trouble after which the doubling starts anew, in milliseconds.
    pub forgive_after_ms: i64,
    /// Rest after a failed connection or name look-up, doubled each time, in milliseconds.
    pub connect_backoff_ms: i64,
    /// No backoff is longer than this, in milliseconds.
    pub max_backoff_ms: i64,
    /// A host with this many failed fetches in a row is parked.
    pub park_after_errors: u32,
    /// How long a host stays parked, in milliseconds.
    pub park_ms: i64,
    /// Fetches at the same time from one host.
    pub connections_per_host: u32,
    /// Fetches at the same time from one address, whatever the number of hosts on it.
    pub connections_per_ip: u32,
    /// Pages fetched from one host in a cycle of its site; the rest waits for the next cycle.
    pub pages_per_host_per_cycle: i64,
    /// Addresses that a site may have in the store. Those of a full site go on being crawled, new ones are left out; its
    /// seeds, and the feeds and sitemaps named in settings, are taken whatever it has.
    pub max_urls_per_site: i64,
    /// Due URLs of one host read into memory at a time.
    pub queue_batch: usize,
    /// Hosts whose queues are in memory at the same time.
    pub active_hosts: usize,
    /// Share of new URLs that the filter of seen URLs may take for seen, before they are looked up.
    pub seen_error: f64,
    /// URLs that the filter has room for at first; each stage that is added holds four times as many as the one before.
    pub seen_capacity: usize,
    /// Hash by which the addresses of a host are shared out to its queues, where a site asks for several: `xxh3`, `hfip`, `hf` or `elf`.
    pub queue_hash: QueueHash,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            // One second between two fetches is what nobody complains of.
            min_delay_ms: 1_000,
            // A server that needs longer than six seconds a page gets half a minute of rest.
            max_delay_ms: 30_000,
            // A fifth of the server's time is ours at most.
            delay_factor: 5.0,
            // Keeps many crawlers from falling into step.
            jitter: 0.1,
            // A longer `Crawl-delay` means fewer than 300 pages a day: taken for a mistake and cut to this.
            max_crawl_delay_ms: 300_000,
            // A longer `Retry-After` is cut to this, since the host is asked once a day anyway.
            max_retry_after_ms: 24 * 3_600_000,
            // First rest after 429 or 503 without `Retry-After`; doubles each time.
            throttle_backoff_ms: 60_000,
            // After so long without trouble the doubling starts anew.
            forgive_after_ms: 30 * 60_000,
            // First rest after a failed connection or name look-up; doubles each time.
            connect_backoff_ms: 15 * 60_000,
            // Doubling ends here.
            max_backoff_ms: 24 * 3_600_000,
            // So many failed fetches in a row are an outage.
            park_after_errors: 20,
            // An outage is looked at again the next day.
            park_ms: 24 * 3_600_000,
            // A person's browser opens six; a crawler that nobody invited opens one.
            connections_per_host: 1,
            // Several hosts on one machine are one machine.
            connections_per_ip: 1,
            // A trap that no rule knows ends here.
            pages_per_host_per_cycle: 10_000,
            // The largest news sites have about a million pages, and at one page a second two million take three weeks. In the store
            // they take about 400 MB, which a hostile sitemap may cost and no more.
            max_urls_per_site: 2_000_000,
            // One refill reads this many index entries of a host: about 0.1 ms of reading for a minute of polite fetching.
            queue_batch: 64,
            // Hosts in memory at the same time, about 4 KB each.
            active_hosts: 4_096,
            // One new URL in a hundred is looked up for nothing, which costs less than a larger filter: a look-up is a few seeks,
            // each bit of the filter a miss of the processor's cache.
            seen_error: 0.01,
            // URLs that the first stage of the filter holds: 1.8 MB. Ten million then take three stages.
            seen_capacity: 1_000_000,
            queue_hash: QueueHash::default(),
        }
    }
}
