//! Which host is next. In: the store, the time, the ends of fetches. Out: leases.
//!
//! Hosts with due URLs stand in a heap by the time that they may be asked next; hosts that may be asked at the same
//! time take turns. A host that has nothing left makes room for the next one in the store. All times are passed in.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::Arc;

use super::Frontier;
use super::admission::{Admission, until_next_cycle};
use super::assign::queue_key;
use super::budget::is_blind;
use super::lease::{FetchReport, Lease, Next};
use super::politeness::{self, Addresses};
use super::queue::Queue;
use super::seen::Seen;
use super::site::SITE_LIMITS;
use super::turns::LOOK_AGAIN_MS;
use crate::store::{
    DueUrl, HELD_MS, HostId, HostRecord, Reader, StoreError, UrlRecord, part_of_row,
};
use taojin_uri::CrawlUri;

/// The clocks of two nodes go by the time of the database, whose answers are late by some milliseconds: a host that another node has
/// asked rests so much longer, once.
const CLOCKS_MS: i64 = 100;

impl Frontier {
    /// The next URL to fetch, if there is one now. Call again until it says to wait; give each lease back with
    /// [`Frontier::finished`] or [`Frontier::release`].
    pub fn next(&mut self, store: &Reader, now_ms: i64) -> Result<Next, StoreError> {
        loop {
            if now_ms >= self.activate_ms {
                self.activate(store, now_ms)?;
            }
            let Some((at_ms, host)) = self.first() else {
                return Ok(self.nothing_ready());
            };
            if at_ms > now_ms {
                let due = self.queues.get(&host).is_some_and(Queue::has_due);
                return Ok(Next::Wait {
                    until_ms: at_ms.min(self.activate_ms),
                    due,
                });
            }
            self.heap.pop();
            if let Some(lease) = self.lease(store, host, now_ms)? {
                return Ok(Next::Fetch(Box::new(lease)));
            }
        }
    }

    fn nothing_ready(&self) -> Next {
        if self.activate_ms < HELD_MS {
            return Next::Wait {
                until_ms: self.activate_ms,
                due: false,
            };
        }
        Next::Idle
    }

    /// The first entry of the heap that counts.
    fn first(&mut self) -> Option<(i64, HostId)> {
        while let Some(Reverse((at_ms, turn, host))) = self.heap.peek() {
            if self.queues.get(host).is_some_and(|q| q.ticket == *turn) {
                return Some((*at_ms, *host));
            }
            self.heap.pop();
        }
        None
    }

    /// Puts a host into the heap; an older entry of it no longer counts.
    pub(super) fn enqueue(&mut self, host: HostId, at_ms: i64) {
        let Some(queue) = self.queues.get_mut(&host) else {
            return;
        };
        if queue.limited
            || queue.leaving
            || queue.in_flight >= self.config.connections_per_host.max(1)
        {
            return;
        }
        let mut at_ms = at_ms.max(queue.host.not_before_ms);
        if !queue.has_due() {
            at_ms = at_ms.max(queue.refresh_ms());
        }
        if at_ms >= HELD_MS {
            return;
        }
        self.turn += 1;
        queue.ticket = self.turn;
        self.heap.push(Reverse((at_ms, self.turn, host)));
    }

    /// Brings hosts with due URLs into memory, as many as there is room for.
    fn activate(&mut self, store: &Reader, now_ms: i64) -> Result<(), StoreError> {
        self.note_takeover(now_ms);
        let room = self.config.active_hosts.max(1);
        let due = store.hosts_due(
            &self.only,
            &self.parts,
            now_ms,
            self.queues.len() + room + 1,
        )?;
        self.crowded = false;
        for host in due {
            if self.queues.contains_key(&host) {
                continue;
            }
            if self.queues.len() >= room {
                self.crowded = true;
                break;
            }
            if let Some(record) = store.host_by_id(host)? {
                let record = self.rested(record);
                self.queues.insert(host, Queue::new(record));
                self.enqueue(host, now_ms);
            }
        }
        self.activate_ms = store
            .next_host_due(&self.only, &self.parts, now_ms)?
            .unwrap_or(HELD_MS);
        Ok(())
    }

    /// Hosts of partitions that were taken over rest from now on.
    pub(super) fn note_takeover(&mut self, now_ms: i64) {
        let handed_over = self.handed_over_ms.values_mut();
        for since_ms in self.taken_over_ms.values_mut().chain(handed_over) {
            *since_ms = now_ms.min(*since_ms);
        }
    }

    /// The record of a host that comes into memory. After its partition was taken over from a lost node it rests from then as
    /// after a fetch, since that node may have asked it without coming to store that.
    pub(super) fn rested(&self, mut record: HostRecord) -> HostRecord {
        let handed_over_ms = self.handed_over_ms.get(&part_of_row(record.id));
        if handed_over_ms.is_some_and(|at_ms| record.not_before_ms > *at_ms) {
            record.not_before_ms = record.not_before_ms.saturating_add(CLOCKS_MS);
        }
        if let Some(since_ms) = self.taken_over_ms.get(&part_of_row(record.id)) {
            // Which sites a host belongs to is not known here: the most patient one decides, this once.
            let site_delay_ms = self.sites.values().filter_map(|s| s.scope.rules().delay_ms);
            let (delay_ms, cause) = politeness::delay(&self.config, &record, site_delay_ms.max());
            let until_ms = since_ms.saturating_add(delay_ms);
            if record.not_before_ms < until_ms {
                record.not_before_ms = until_ms;
                record.cause = cause as u8;
            }
        }
        record
    }

    /// Takes a URL of this host, whose entry has left the heap. `None`: not now; the host is where it belongs.
    fn lease(
        &mut self,
        store: &Reader,
        host: HostId,
        now_ms: i64,
    ) -> Result<Option<Lease>, StoreError> {
        let batch = self.config.queue_batch;
        let Some(queue) = self.queues.get_mut(&host) else {
            return Ok(None);
        };
        queue.ticket = 0;
        let ip = queue.host.ip;
        if ip.is_some_and(|ip| !self.has_turn(ip, now_ms)) {
            self.enqueue(host, now_ms + LOOK_AGAIN_MS);
            return Ok(None);
        }
        if let Some(wait) = ip.and_then(|ip| self.address_wait(ip, now_ms)) {
            match wait {
                Wait::Until(at_ms) => self.enqueue(host, at_ms),
                Wait::Connection(ip) => self.waiting.entry(ip).or_default().push(host),
            }
            return Ok(None);
        }
        loop {
            let Some(queue) = self.queues.get_mut(&host) else {
                return Ok(None);
            };
            let Some(id) = queue.pop(store, batch, now_ms)? else {
                // Nothing due: the next commit lets it go; until then it wakes up for what becomes due.
                self.enqueue(host, now_ms);
                return Ok(None);
            };
            let Some(record) = store.url(id)? else {
                self.hold.push((host, until_next_cycle(id, 0)));
                continue;
            };
            if record.visit.due_ms.is_none_or(|due| due > now_ms) {
                queue.put_down(id);
                continue;
            }
            let rank = record.visit.rank;
            match self.admit(&record, now_ms) {
                Admission::Now => return Ok(Some(self.begin(host, record, now_ms))),
                Admission::NextCycle => self.hold.push((host, until_next_cycle(id, rank))),
                Admission::Later(due_ms) => self.hold.push((host, DueUrl { rank, due_ms, id })),
                Admission::SiteLimit => {
                    self.note_limit(&record.site, SITE_LIMITS);
                    self.hold.push((host, until_next_cycle(id, rank)));
                }
                Admission::HostLimit => {
                    self.limit(host, &record);
                    return Ok(None);
                }
            }
        }
    }

    pub(super) fn address_wait(&self, ip: IpAddr, now_ms: i64) -> Option<Wait> {
        let address = self.addresses.get(ip)?;
        if address.in_flight >= self.config.connections_per_ip.max(1) {
            return Some(Wait::Connection(ip));
        }
        (address.not_before_ms > now_ms).then_some(Wait::Until(address.not_before_ms))
    }

    pub(super) fn begin(&mut self, host: HostId, record: UrlRecord, now_ms: i64) -> Lease {
        let mut parallel = 1;
        let mut cycle_ms = 0;
        if let Some(site) = self.sites.get_mut(&record.site) {
            site.cycle_pages += 1;
            site.unsaved_pages += 1;
            site.budget.begin(&record);
            cycle_ms = site.last_cycle_ms;
            parallel = site.scope.rules().parallel_queues;
        }
        let mut ip = None;
        if let Some(queue) = self.queues.get_mut(&host) {
            if queue.host.cycle_ms < cycle_ms {
                queue.host.cycle_ms = cycle_ms;
                queue.host.cycle_pages = 0;
            }
            queue.host.cycle_pages += 1;
            queue.in_flight += 1;
            queue.leased += 1;
            if queue.parallel != parallel {
                // More queues want more of the store in memory to choose from.
                queue.parallel = parallel;
                queue.hash = self.config.queue_hash;
                queue.invalidate();
            }
            queue.dirty = true;
            ip = queue.host.ip;
        }
        if let Some(ip) = ip {
            self.addresses.begin(ip, now_ms);
        }
        self.leases.insert(record.id, host);
        self.enqueue(host, now_ms);
        Lease {
            queue: Arc::from(queue_key(&record.uri, parallel, self.config.queue_hash)),
            record,
            leased_ms: now_ms,
            ip,
        }
    }

    /// A fetch has ended: its host and address are free again, after the delay that follows. The page itself goes
    /// into the batch of the next [`Frontier::commit`]; until then its URL is not given out again.
    pub fn finished(&mut self, lease: &Lease, report: &FetchReport, now_ms: i64) {
        let site_delay_ms = self
            .sites
            .get(&lease.record.site)
            .and_then(|site| site.scope.rules().delay_ms);
        let Some(host) = self.end_lease(lease) else {
            return;
        };
        let mut shared = None;
        if let Some(queue) = self.queues.get_mut(&host) {
            politeness::record_fetch(&self.config, &mut queue.host, report, site_delay_ms, now_ms);
            queue.dirty = true;
            // The address rests for the usual delay of this host, never for its backoff.
            let (delay_ms, _) = politeness::delay(&self.config, &queue.host, None);
            let cap_ms = self.config.max_delay_ms.max(self.config.min_delay_ms);
            shared = report.ip.map(|ip| (ip, now_ms + delay_ms.min(cap_ms)));
        }
        if let Some((ip, until_ms)) = shared.filter(|(_, until_ms)| *until_ms > now_ms) {
            self.addresses.rest(ip, until_ms);
        }
        self.enqueue(host, now_ms);
    }

    /// Where the host of a lease is, as its name says: found out before it is asked, where other nodes may ask the same server. The URL
    /// is due as before.
    pub fn located(&mut self, lease: &Lease, ip: IpAddr, now_ms: i64) {
        if let Some(queue) = self.queues.get_mut(&lease.record.host) {
            queue.host.ip = Some(ip);
            queue.dirty = true;
        }
        self.release(lease, now_ms);
    }

    /// Gives a lease back without a fetch (shutdown): the URL is due as before.
    pub fn release(&mut self, lease: &Lease, now_ms: i64) {
        let Some(host) = self.end_lease(lease) else {
            return;
        };
        if let Some(site) = self.sites.get_mut(&lease.record.site) {
            site.cycle_pages -= 1;
            site.unsaved_pages -= 1;
            if is_blind(&lease.record) {
                site.budget.refund();
            }
        }
        if let Some(queue) = self.queues.get_mut(&host) {
            queue.host.cycle_pages -= 1;
            queue.put_back(lease, self.config.queue_batch, now_ms);
        }
        self.enqueue(host, now_ms);
    }

    /// Forgets all leases: their URLs are due as before. For the end of the daemon.
    pub fn release_all(&mut self) {
        for (id, host) in std::mem::take(&mut self.leases) {
            if let Some(queue) = self.queues.get_mut(&host) {
                queue.in_flight = 0;
                queue.put_down(id);
                queue.invalidate();
            }
        }
        self.addresses = Addresses::default();
        self.waiting.clear();
        self.reconsider();
    }

    fn end_lease(&mut self, lease: &Lease) -> Option<HostId> {
        let host = self.leases.remove(&lease.record.id)?;
        if let Some(queue) = self.queues.get_mut(&host) {
            queue.in_flight = queue.in_flight.saturating_sub(1);
        }
        if let Some(ip) = lease.ip {
            self.addresses.end(ip);
            for waiting in self.waiting.remove(&ip).unwrap_or_default() {
                self.enqueue(waiting, i64::MIN);
            }
        }
        Some(host)
    }

    /// Number of leases that have not ended.
    pub fn in_flight(&self) -> usize {
        self.leases.len()
    }

    /// The filter of seen URLs, for its tallies.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What pages look like, so that addresses whose pages hardly differ are not followed for ever. For the first visit
    /// of a page; `via` is the page it was found on, `outline` a digest of what it says without its numbers.
    pub fn note_outline(&mut self, uri: &CrawlUri, via: Option<&CrawlUri>, outline: u64) {
        self.alike.note(uri, via, outline);
    }

    /// Whether the links of a page lead nowhere, since other pages of its host show the same: `face` is a digest of all that
    /// it shows.
    pub fn repeats(&mut self, record: &UrlRecord, face: u64, is_error: bool) -> bool {
        self.alike.repeats(record, face, is_error)
    }
}

/// Why an address is not asked now.
pub(super) enum Wait {
    Until(i64),
    Connection(IpAddr),
}
