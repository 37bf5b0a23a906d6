//! What is fetched next. In: URLs found on pages, the sites' scopes, what became of each fetch, and the time. Out:
//! leases, one host at a time as politeness allows, and why a host waits. Never fetches, never reads a clock.
//!
//! The crawl loop owns a [`Frontier`] and the writing side of the store and goes round:
//! [`Frontier::next`] gives a [`Lease`] → the page is fetched → [`Frontier::finished`] frees the host →
//! [`Frontier::commit`] makes the pages and their new links durable. A lease lives in memory only: until its commit
//! the URL stays due in the store, so that a crash needs no repair.

mod admission;
mod alike;
mod asked;
mod commit;
mod config;
mod explain;
mod leasing;
mod partitions;
mod politeness;
mod queue;
mod scope;
mod seen;
mod sites;
mod turns;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use crate::store::{DueUrl, HostId, Partition, Partitions, SiteId, Store, StoreError, UrlId};
use alike::Alike;
use politeness::Addresses;
use queue::HostQueues;
use queue::SUSPECT_RANK;
use seen::Seen;
use sites::Site;
use turns::Turns;

pub use crate::store::Cause;
pub use admission::is_blind;
pub use asked::Asked;
pub use commit::CommitReport;
pub use config::Config;
pub use explain::{Explanation, HostCounts, Resting, Span, Stats, leads_nowhere, longest_rest};
pub use leasing::{FetchReport, Lease, Next};
pub use queue::queue_name;
pub use scope::{Patterns, Refusal, Scope, ScopeError, pattern_problem, queues_of};
pub use sites::{BEYOND_HOPS, HOST_LIMITS, MAX_SKIPPED, OUT_OF_SCOPE, SITE_FULL, SITE_LIMITS};

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
