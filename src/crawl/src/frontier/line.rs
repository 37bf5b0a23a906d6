//! The queues of hosts that wait for their next request, in order: by the time of each; of those whose time has come, sites take
//! turns before hosts do. A site that has its share of the connections is passed over. Knows
//! nothing of what is due: an entry is a queue of a host that is worth looking at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::HashMap;

use super::shares::Shares;
use crate::fair::FairQueue;
use crate::store::{HostId, SiteId};

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// This queue of this host, now. It has left the line.
    Now(HostId, u32),
    /// Some are ready, of sites that have their share.
    Full,
    /// A queue of this host, then, Unix milliseconds.
    Later(i64, HostId),
    /// Nothing waits.
    Nothing,
}

/// The queues that wait.
#[derive(Debug)]
pub(super) struct Line {
    /// (time, ticket, host, its queue)
    later: BinaryHeap<Reverse<(i64, u64, HostId, u32)>>,
    /// (ticket, host, its queue) of those whose time has come.
    now: FairQueue<SiteId, (u64, HostId, u32)>,
    /// The one entry that counts for each queue; others are left-overs.
    tickets: HashMap<(HostId, u32), u64>,
    last_ticket: u64,
    /// The site that a host is counted to: the one of its last request.
    sites: HashMap<HostId, SiteId>,
    /// Hosts in memory of each site.
    hosts: HashMap<SiteId, usize>,
    shares: Shares,
}

impl Line {
    /// Nobody waits yet.
    pub(super) fn new(shares: Shares) -> Self {
        Line {
            later: BinaryHeap::new(),
            now: FairQueue::default(),
            tickets: HashMap::default(),
            last_ticket: 0,
            sites: HashMap::default(),
            hosts: HashMap::default(),
            shares,
        }
    }

    /// What sites have of the connections.
    pub(super) fn shares(&mut self) -> &mut Shares {
        &mut self.shares
    }

    /// Which site a host is counted to.
    pub(super) fn set_site(&mut self, host: HostId, site: SiteId) {
        let before = self.sites.insert(host, site);
        if before != Some(site) {
            if let Some(before) = before {
                self.uncount(before);
            }
            *self.hosts.entry(site).or_default() += 1;
        }
    }

    fn uncount(&mut self, site: SiteId) {
        if let Some(hosts) = self.hosts.get_mut(&site) {
            *hosts = hosts.saturating_sub(1);
        }
    }

    /// How many hosts are counted to a site.
    pub(super) fn hosts_of(&self, site: SiteId) -> usize {
        self.hosts.get(&site).copied().unwrap_or_default()
    }

    /// The site that a host is counted to.
    pub(super) fn site(&self, host: HostId) -> SiteId {
        self.sites.get(&host).copied().unwrap_or_default()
    }

    /// Puts a queue into the line; where it was before does not count any more.
    pub(super) fn push(&mut self, host: HostId, queue: u32, at_ms: i64) {
        self.last_ticket += 1;
        self.tickets.insert((host, queue), self.last_ticket);
        self.later
            .push(Reverse((at_ms, self.last_ticket, host, queue)));
    }

    /// Takes a queue out.
    pub(super) fn remove(&mut self, host: HostId, queue: u32) {
        self.tickets.remove(&(host, queue));
    }

    /// Takes a host out that has so many queues.
    pub(super) fn forget(&mut self, host: HostId, queues: u32) {
        for queue in 0..queues {
            self.remove(host, queue);
        }
        if let Some(site) = self.sites.remove(&host) {
            self.uncount(site);
        }
    }

    /// What comes first. `is_alone`: no other site is crawled.
    pub(super) fn first(&mut self, is_alone: bool, now_ms: i64) -> First {
        while let Some(&Reverse((at_ms, ticket, host, queue))) = self.later.peek() {
            if at_ms > now_ms {
                break;
            }
            self.later.pop();
            if self.counts(ticket, host, queue) {
                self.now.push(self.site(host), (ticket, host, queue));
            }
        }
        let others_wait = self.now.owners() > 1;
        let shares = &self.shares;
        let has_room = |site: &SiteId| shares.has_room(*site, is_alone, others_wait, now_ms);
        while let Some((ticket, host, queue)) = self.now.pop_where(has_room) {
            if self.counts(ticket, host, queue) {
                self.remove(host, queue);
                return First::Now(host, queue);
            }
        }
        if !self.now.is_empty() {
            return First::Full;
        }
        while let Some(&Reverse((at_ms, ticket, host, queue))) = self.later.peek() {
            if self.counts(ticket, host, queue) {
                return First::Later(at_ms, host);
            }
            self.later.pop();
        }
        First::Nothing
    }

    /// When the first of those comes whose time has not come, Unix milliseconds.
    pub(super) fn next_ms(&self) -> Option<i64> {
        self.later.peek().map(|Reverse((at_ms, ..))| *at_ms)
    }

    fn counts(&self, ticket: u64, host: HostId, queue: u32) -> bool {
        self.tickets.get(&(host, queue)) == Some(&ticket)
    }
}
