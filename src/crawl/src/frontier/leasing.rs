//! Which host is next, and what becomes of its pages: from a lease to the commit that makes the page and its links durable.
//!
//! Hosts with due URLs wait in a line by the time of their next request; of those whose time has come,
//! sites take turns, and then hosts. A host that has nothing left makes room for the next one in the store. All times are passed in.
//!
//! Links of a page go through the scope of their site, then the filter of seen URLs, then the store; a failed commit changes
//! nothing that matters and may be tried again with the same batch.
//!
//! What a person asks for next to the schedule, one URL now, is a lease ahead of the queue, or when there may be one. The rest of a
//! host and of an address is kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::{HashMap, HashSet, HashSetExt};
use taojin_uri::CrawlUri;

use super::Frontier;
use super::line::First;
use super::politeness::{self, Addresses};
use super::queue::{HostQueues, queue_name, queue_number, rank, revisit_rank};
use super::sites::{
    Admission, BLIND_SPENT, CYCLE_PAGES, READING_LIMITS, SITE_LIMITS, Site, is_blind, is_one_site,
    site_of, until_next_cycle,
};
use super::territory::LOOK_AGAIN_MS;
use crate::outcome::{Failure, VisitOutcome};
use crate::scope::{Reach, Refusal, Takedowns, queues_of};
use crate::store::{
    Announcement, Batch, Committed, DueUrl, HELD_MS, HostId, HostRecord, NewUrl, Reader, SiteId,
    Store, StoreError, UrlClass, UrlId, UrlRecord, part_of_row,
};

/// When all sites with ready hosts have their share of the connections, this is looked at again after so long: others may want
/// none any more.
const FULL_MS: i64 = 1_000;

/// Where the hosts of one site would take all places in memory, so many sites that have none are looked for at once, and so many hosts
/// of each.
const FIRST_SITES: usize = 64;
const FIRST_HOSTS: usize = 16;

/// A site with the last request to an address where others wait as well lets them go first for so long.
const STEP_BACK_MS: i64 = 100;

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
            match self
                .line
                .first(is_one_site(&self.sites, &self.only), now_ms)
            {
                First::Now(host, queue) => {
                    if let Some(lease) = self.lease(store, host, queue, now_ms)? {
                        return Ok(Next::Fetch(Box::new(lease)));
                    }
                }
                First::Full => {
                    let next_ms = self.line.next_ms().unwrap_or(HELD_MS);
                    return Ok(Next::Wait {
                        until_ms: next_ms.min(self.activate_ms).min(now_ms + FULL_MS),
                        due: true,
                    });
                }
                First::Later(at_ms, host) => {
                    let due = self.hosts.get(&host).is_some_and(HostQueues::has_due);
                    return Ok(Next::Wait {
                        until_ms: at_ms.min(self.activate_ms),
                        due,
                    });
                }
                First::Nothing if self.activate_ms < HELD_MS => {
                    return Ok(Next::Wait {
                        until_ms: self.activate_ms,
                        due: false,
                    });
                }
                First::Nothing => return Ok(Next::Idle),
            }
        }
    }

    /// Puts the queues of a host into the line; where they were before no longer counts.
    pub(super) fn enqueue(&mut self, host: HostId, at_ms: i64) {
        let queues = self.hosts.get(&host);
        for number in 0..queues.map_or(0, HostQueues::number_of_queues) {
            self.enqueue_one(host, number, at_ms);
        }
    }

    fn enqueue_one(&mut self, host: HostId, number: u32, at_ms: i64) {
        let Some(queues) = self.hosts.get(&host) else {
            return;
        };
        let has_room = queues.has_room(number, self.config.connections_per_host);
        if queues.limited || queues.leaving || !has_room {
            return;
        }
        let mut at_ms = at_ms.max(queues.not_before_ms(number));
        if !queues.has_due() {
            at_ms = at_ms.max(queues.refresh_ms());
        }
        if at_ms < HELD_MS {
            self.line.push(host, number, at_ms);
        }
    }

    /// Brings a host into memory that is counted to this site.
    pub(super) fn take_host(&mut self, record: HostRecord, site: SiteId, now_ms: i64) {
        let record = self.rested(record);
        self.line.set_site(record.id, site);
        let (host, count) = (record.id, self.queues_of(&record.authority));
        let hash = self.config.queue_hash;
        self.hosts
            .insert(host, HostQueues::new(record, count, hash));
        self.enqueue(host, now_ms);
    }

    /// How many queues a host has ([`queues_of`]).
    pub(super) fn queues_of(&self, authority: &str) -> u32 {
        queues_of(self.sites.values().map(|site| &*site.scope), authority)
    }

    /// Brings hosts with due URLs into memory, as many as there is room for.
    fn activate(&mut self, store: &Reader, now_ms: i64) -> Result<(), StoreError> {
        self.note_takeover(now_ms);
        let room = self.config.active_hosts.max(1);
        let limit = self.hosts.len() + room + 1;
        let due = store.hosts_due(&self.only, &self.parts, now_ms, limit)?;
        self.crowded = false;
        if self.take_hosts(store, due, now_ms)? {
            // Those of one site would take all places, however many they are and since when they are due.
            let without = self.sites.values().filter(|site| {
                let is_wanted = self.only.is_empty() || self.only.contains(&site.id);
                is_wanted && self.line.hosts_of(site.id) == 0
            });
            let mut first = Vec::new();
            for site in without.take(FIRST_SITES) {
                first.extend(store.hosts_due(&[site.id], &self.parts, now_ms, FIRST_HOSTS)?);
            }
            self.take_hosts(store, first, now_ms)?;
        }
        self.activate_ms = store
            .next_host_due(&self.only, &self.parts, now_ms)?
            .unwrap_or(HELD_MS);
        Ok(())
    }

    /// Brings those of these hosts into memory for which there is room. Whether some are left out whose site has its share of the places.
    fn take_hosts(
        &mut self,
        store: &Reader,
        hosts: Vec<HostId>,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let room = self.config.active_hosts.max(1);
        let of_site = if is_one_site(&self.sites, &self.only) {
            room
        } else {
            room - room / 4
        };
        let mut left_out = false;
        for host in hosts {
            if self.hosts.contains_key(&host) {
                continue;
            }
            if self.hosts.len() >= room {
                self.crowded = true;
                break;
            }
            let Some(record) = store.host_by_id(host)? else {
                continue;
            };
            let site = site_of(&self.sites, &record.authority);
            if self.line.hosts_of(site) < of_site {
                self.take_host(record, site, now_ms);
            } else {
                (self.crowded, left_out) = (true, true);
            }
        }
        Ok(left_out)
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
                record.cause = cause;
            }
        }
        record
    }

    /// Takes a URL of this queue, which has left the line. `None`: not now; the queue is where it belongs.
    fn lease(
        &mut self,
        store: &Reader,
        host: HostId,
        number: u32,
        now_ms: i64,
    ) -> Result<Option<Lease>, StoreError> {
        let batch = self.config.queue_batch;
        let Some(queues) = self.hosts.get(&host) else {
            return Ok(None);
        };
        if !queues.has_room(number, self.config.connections_per_host) {
            // The end of what is under way brings it back.
            return Ok(None);
        }
        let (ip, count) = (queues.host.ip, queues.number_of_queues());
        if ip.is_some_and(|ip| !self.has_turn(ip, now_ms)) {
            self.enqueue_one(host, number, now_ms + LOOK_AGAIN_MS);
            return Ok(None);
        }
        if let Some(ip) = ip {
            let site = self.line.site(host);
            match self.address_wait(ip, count, now_ms) {
                Some(Wait::Until(at_ms)) => {
                    self.addresses.want(ip, site);
                    self.enqueue_one(host, number, at_ms);
                    return Ok(None);
                }
                Some(Wait::Connection) => {
                    self.addresses.want(ip, site);
                    self.addresses.wait(ip, host);
                    return Ok(None);
                }
                None if self.addresses.steps_back(ip, site) => {
                    self.enqueue_one(host, number, now_ms + STEP_BACK_MS);
                    return Ok(None);
                }
                None => {}
            }
        }
        loop {
            let Some(queues) = self.hosts.get_mut(&host) else {
                return Ok(None);
            };
            let Some(id) = queues.pop(store, number, batch, now_ms)? else {
                // Nothing due: the next commit lets it go; until then it wakes up for what becomes due. Where only other queues of
                // the host have something, the ends of their fetches bring it back.
                if !queues.has_due() {
                    self.enqueue_one(host, number, now_ms);
                }
                return Ok(None);
            };
            let Some(record) = store.url(id)? else {
                self.hold.push((host, until_next_cycle(id, 0)));
                continue;
            };
            if record.visit.due_ms.is_none_or(|due| due > now_ms) {
                queues.put_down(id);
                continue;
            }
            let rank = record.visit.rank;
            match self.admit(&record, now_ms) {
                Admission::Now => return Ok(Some(self.begin(host, number, record, now_ms))),
                Admission::NextCycle => self.hold.push((host, until_next_cycle(id, rank))),
                Admission::Later(due_ms) => self.hold.push((host, DueUrl { rank, due_ms, id })),
                Admission::SiteLimit => {
                    self.note_limit(&record.site, SITE_LIMITS);
                    self.hold.push((host, until_next_cycle(id, rank)));
                }
                Admission::ReadingLimit => {
                    self.note_limit(&record.site, READING_LIMITS);
                    self.hold.push((host, until_next_cycle(id, rank)));
                }
                Admission::HostLimit => {
                    self.limit(host, &record);
                    return Ok(None);
                }
            }
        }
    }

    /// What a host with so many queues waits for at its address. One with several has the leave to ask it at the same time, and goes by
    /// its own delays.
    pub(super) fn address_wait(&self, ip: IpAddr, queues: u32, now_ms: i64) -> Option<Wait> {
        let address = self.addresses.get(ip)?;
        if address.in_flight >= self.config.connections_per_ip.max(queues).max(1) {
            return Some(Wait::Connection);
        }
        (queues == 1 && address.not_before_ms > now_ms)
            .then_some(Wait::Until(address.not_before_ms))
    }

    pub(super) fn begin(
        &mut self,
        host: HostId,
        number: u32,
        record: UrlRecord,
        now_ms: i64,
    ) -> Lease {
        let (mut cycle_ms, mut site_delay_ms, mut site_id) = (0, None, SiteId::default());
        if let Some(site) = self.sites.get_mut(&record.site) {
            site_id = site.id;
            site.cycle_pages += 1;
            site.unsaved_pages += 1;
            site.budget.begin(&record);
            cycle_ms = site.last_cycle_ms;
            site_delay_ms = site.scope.rules().delay_ms;
        }
        let (mut ip, mut count, mut delay_ms) = (None, 1, self.config.min_delay_ms);
        if let Some(queues) = self.hosts.get_mut(&host) {
            (delay_ms, _) = politeness::delay(&self.config, &queues.host, site_delay_ms);
            if queues.host.cycle_ms < cycle_ms {
                queues.host.cycle_ms = cycle_ms;
                queues.host.cycle_pages = 0;
            }
            queues.host.cycle_pages += 1;
            queues.begin(number);
            count = queues.number_of_queues();
            queues.dirty = true;
            ip = queues.host.ip;
        }
        if let Some(ip) = ip {
            self.addresses.begin(ip, site_id, now_ms);
        }
        self.line.set_site(host, site_id);
        self.line.shares().begin(site_id, now_ms);
        self.leases.insert(record.id, (host, site_id));
        self.enqueue(host, now_ms);
        Lease {
            queue: Arc::from(queue_name(&record.uri, count, self.config.queue_hash)),
            number,
            queues: count,
            record,
            ip,
            delay_ms,
        }
    }

    /// A fetch has ended: its host and address are free again, after the delay that follows. The page itself goes
    /// into the batch of the next [`Frontier::commit`]; until then its URL is not given out again.
    pub fn finished(&mut self, lease: &Lease, report: &FetchReport, now_ms: i64) {
        let site = self.sites.get_mut(&lease.record.site);
        let site_delay_ms = site.and_then(|site| {
            site.budget.reading.add(report.reading_ms);
            site.scope.rules().delay_ms
        });
        let Some(host) = self.end_lease(lease) else {
            return;
        };
        let mut shared = None;
        if let Some(queues) = self.hosts.get_mut(&host) {
            let rest = politeness::record_fetch(
                &self.config,
                &mut queues.host,
                report,
                site_delay_ms,
                now_ms,
            );
            queues.dirty = true;
            // The address rests for the usual delay of this host, never for its backoff.
            let (delay_ms, _) = politeness::delay(&self.config, &queues.host, None);
            let cap_ms = self.config.max_delay_ms.max(self.config.min_delay_ms);
            if let Some(rest) = rest {
                queues.rest(lease.number, rest, now_ms);
            }
            let ip = report.ip.filter(|_| !queues.rests_by_queue());
            shared = ip.map(|ip| (ip, now_ms + delay_ms.min(cap_ms)));
        }
        if let Some((ip, until_ms)) = shared.filter(|(_, until_ms)| *until_ms > now_ms) {
            self.addresses.rest(ip, until_ms);
        }
        self.enqueue(host, now_ms);
    }

    /// Where the host of a lease is, as its name says: found out before it is asked, where other nodes may ask the same server. The URL
    /// is due as before.
    pub fn located(&mut self, lease: &Lease, ip: IpAddr, now_ms: i64) {
        if let Some(queues) = self.hosts.get_mut(&lease.record.host) {
            queues.host.ip = Some(ip);
            queues.dirty = true;
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
        if let Some(queues) = self.hosts.get_mut(&host) {
            queues.host.cycle_pages -= 1;
            queues.put_back(lease, self.config.queue_batch, now_ms);
        }
        self.enqueue(host, now_ms);
    }

    /// Forgets all leases: their URLs are due as before. For the end of the daemon.
    pub fn release_all(&mut self) {
        for (id, (host, _)) in std::mem::take(&mut self.leases) {
            if let Some(queues) = self.hosts.get_mut(&host) {
                queues.end_all();
                queues.put_down(id);
                queues.invalidate();
            }
        }
        self.addresses = Addresses::default();
        self.line.shares().end_all();
        self.reconsider();
    }

    fn end_lease(&mut self, lease: &Lease) -> Option<HostId> {
        let (host, site) = self.leases.remove(&lease.record.id)?;
        self.line.shares().end(site);
        if let Some(queues) = self.hosts.get_mut(&host) {
            queues.end(lease.number);
        }
        if let Some(ip) = lease.ip {
            for waiting in self.addresses.end(ip) {
                self.enqueue(waiting, i64::MIN);
            }
        }
        Some(host)
    }

    /// Number of leases that have not ended.
    pub fn in_flight(&self) -> usize {
        self.leases.len()
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
    /// Until then, Unix milliseconds.
    Until(i64),
    /// Until a connection ends.
    Connection,
}

/// The right to fetch one URL now. Ends with [`Frontier::finished`](super::Frontier::finished) or
/// [`Frontier::release`](super::Frontier::release).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is known of the URL.
    pub record: UrlRecord,
    /// Name of the work queue that it came from.
    pub queue: Arc<str>,
    /// Which of the queues of its host that is.
    pub(super) number: u32,
    /// How many queues its host has.
    queues: u32,
    /// The address that counts it as a connection, if the host's address was known.
    pub(super) ip: Option<IpAddr>,
    /// Least time between two requests of its visit to the host, in milliseconds.
    pub delay_ms: i64,
}

impl Lease {
    /// Whether it is known where the host is.
    pub fn is_located(&self) -> bool {
        self.ip.is_some()
    }

    /// A lease of a page that comes from an archive: no host is asked, so the frontier knows nothing of it.
    pub fn archived(record: UrlRecord) -> Self {
        Lease {
            record,
            queue: Arc::from(""),
            number: 0,
            queues: 1,
            ip: None,
            delay_ms: 0,
        }
    }

    /// Which of the queues of its host it came from, from 0; `None` if the host has one queue.
    pub fn queue_number(&self) -> Option<u32> {
        (self.queues > 1).then_some(self.number)
    }
}

/// What the crawl loop does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Fetch this.
    Fetch(Box<Lease>),
    /// Nothing may be fetched before this time, unless a fetch ends earlier.
    Wait {
        /// When to ask again.
        until_ms: i64,
        /// Some URL is due already and waits for its host; else the next one becomes due at `until_ms`.
        due: bool,
    },
    /// Nothing is due and nothing will be without new URLs, a new cycle or the end of a fetch.
    Idle,
}

/// What the frontier wants to know of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchReport {
    /// How it ended.
    pub outcome: VisitOutcome,
    /// Requests that were made in the lease: for robots.txt, for the page, for what redirects of it lead to. No delay follows where there
    /// were none.
    pub requests: u32,
    /// Why no page came, if it is known: a connection that broke is not held against the host as one that was not made.
    pub failure: Option<Failure>,
    /// Time from request to the end of the body, in milliseconds; none where the page was not asked for.
    pub elapsed_ms: Option<i64>,
    /// Time that it took to read the file that came, in milliseconds: as if its host had taken it, and of what its site has for that.
    pub reading_ms: i64,
    /// The host is not to be asked before, whatever came of the lease, Unix milliseconds.
    pub not_before_ms: Option<i64>,
    /// `Retry-After`, as a length of time.
    pub retry_after_ms: Option<i64>,
    /// `Crawl-delay` of the host's robots.txt, when it is known.
    pub crawl_delay_ms: Option<i64>,
    /// The address connected to.
    pub ip: Option<IpAddr>,
    /// The error in words.
    pub error: Option<String>,
    /// A page came, but one that turns readers away: a captcha, a sign-in, what other addresses of the site show as well.
    pub turned_away: bool,
}

impl FetchReport {
    /// A report without extras: of one request, or of none where a rule refused the page.
    pub fn new(outcome: VisitOutcome, elapsed_ms: i64) -> Self {
        let is_refused = matches!(
            outcome,
            VisitOutcome::Disallowed | VisitOutcome::AddressRefused
        );
        FetchReport {
            outcome,
            requests: u32::from(!is_refused),
            failure: None,
            elapsed_ms: Some(elapsed_ms),
            reading_ms: 0,
            not_before_ms: None,
            retry_after_ms: None,
            crawl_delay_ms: None,
            ip: None,
            error: None,
            turned_away: false,
        }
    }

    /// The same where the page was not asked for: how fast its host is stays as it was.
    pub fn unasked(outcome: VisitOutcome) -> Self {
        Self {
            elapsed_ms: None,
            ..Self::new(outcome, 0)
        }
    }
}

/// When a connection that is in use may be free: soon, so ask again.
const CONNECTION_MS: i64 = 100;

/// What came of asking for one URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseOutcome {
    /// Fetch it.
    Fetch(Box<Lease>),
    /// Its host rests until then.
    Later(i64),
    /// It is being fetched.
    UnderWay,
    /// Another node crawls its host.
    Elsewhere,
    /// It may not be fetched: gone from the store, taken down, out of its site's scope, or its site is paused or not crawled.
    Never,
}

impl Frontier {
    /// The lease of this URL, ahead of all others of its host.
    pub fn lease_now(
        &mut self,
        store: &Reader,
        id: UrlId,
        now_ms: i64,
    ) -> Result<LeaseOutcome, StoreError> {
        let Some(record) = store.url(id)? else {
            return Ok(LeaseOutcome::Never);
        };
        let site = self.sites.get(&record.site).filter(|site| !site.paused);
        if site.is_none_or(|site| self.check_rules(site, &record, now_ms).is_err()) {
            return Ok(LeaseOutcome::Never);
        }
        self.note_takeover(now_ms);
        let host = record.host;
        if !self.parts.has_row(host) {
            return Ok(LeaseOutcome::Elsewhere);
        }
        if !self.hosts.contains_key(&host) {
            let Some(known) = store.host_by_id(host)? else {
                return Ok(LeaseOutcome::Never);
            };
            let site = site_of(&self.sites, &known.authority);
            self.take_host(known, site, now_ms);
        }
        if self.leases.contains_key(&id) {
            return Ok(LeaseOutcome::UnderWay);
        }
        let Some(queues) = self.hosts.get(&host) else {
            return Ok(LeaseOutcome::Never);
        };
        let count = queues.number_of_queues();
        let number = queue_number(&record.uri, count, self.config.queue_hash);
        let not_before_ms = queues.not_before_ms(number);
        if not_before_ms > now_ms {
            return Ok(LeaseOutcome::Later(not_before_ms));
        }
        if !queues.has_room(number, self.config.connections_per_host) {
            return Ok(LeaseOutcome::Later(now_ms + CONNECTION_MS));
        }
        let ip = queues.host.ip;
        if ip.is_some_and(|ip| !self.has_turn(ip, now_ms)) {
            return Ok(LeaseOutcome::Later(now_ms + LOOK_AGAIN_MS));
        }
        match ip.and_then(|ip| self.address_wait(ip, count, now_ms)) {
            Some(Wait::Until(at_ms)) => return Ok(LeaseOutcome::Later(at_ms)),
            Some(Wait::Connection) => return Ok(LeaseOutcome::Later(now_ms + CONNECTION_MS)),
            None => {}
        }
        let Some(queues) = self.hosts.get_mut(&host) else {
            return Ok(LeaseOutcome::Never);
        };
        if !queues.take(id) {
            return Ok(LeaseOutcome::Later(now_ms + CONNECTION_MS));
        }
        // Its entry in the line would lease a second one next to this.
        self.line.remove(host, number);
        Ok(LeaseOutcome::Fetch(Box::new(
            self.begin(host, number, record, now_ms),
        )))
    }

    /// A fetch has ended whose page is not wanted any more: its host rests as after any other.
    pub fn discard(&mut self, lease: &Lease, report: &FetchReport, now_ms: i64) {
        self.finished(lease, report, now_ms);
        if let Some(queues) = self.hosts.get_mut(&lease.record.host) {
            queues.put_down(lease.record.id);
            queues.invalidate();
        }
        self.enqueue(lease.record.host, now_ms);
    }

    /// Row numbers of the URLs that are being fetched.
    pub fn leased(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.leases.keys().copied()
    }

    /// The URLs that are not fetched any more, links to which are refused. What is added to it counts from then on; what is lifted does
    /// with [`Frontier::allow_again`].
    pub fn takedowns(&self) -> &Takedowns {
        &self.taken_down
    }

    /// These addresses may be fetched again.
    pub fn allow_again<'a>(&mut self, addresses: impl IntoIterator<Item = &'a str>) {
        self.taken_down.lift(addresses);
        self.reconsider();
    }

    /// Rows were taken out of the store.
    pub fn rows_are_gone(&mut self) {
        self.seen.doubt_all();
        self.reconsider();
    }
}

/// Most known addresses of which a transaction keeps what lists say.
const MAX_LISTED: usize = 2_000;

/// A host whose rest is longer than this gives up its place in memory when others wait for one.
const LONG_REST_MS: i64 = 60_000;

/// And so does one that has had this many leases in a row.
const LONG_TURN: u64 = 1_000;

/// How many addresses each site may still take up, while a batch is sifted.
struct Room(HashMap<Arc<str>, i64>);

impl Room {
    fn is_full(&self, link: &NewUrl) -> bool {
        !is_named(link) && self.0.get(&link.site).is_some_and(|room| *room <= 0)
    }

    /// Whether the link has room; takes it.
    fn take(&mut self, link: &NewUrl) -> bool {
        let fits = !self.is_full(link);
        if let Some(room) = self.0.get_mut(&link.site).filter(|_| fits) {
            *room -= 1;
        }
        fits
    }
}

/// Whether a person named this address in the settings.
fn is_named(link: &NewUrl) -> bool {
    link.class == UrlClass::Seed || link.hops == 0
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// URLs that are new.
    pub new_urls: usize,
    /// Links that were met before.
    pub seen: usize,
    /// Links refused, by rule.
    pub refused: BTreeMap<Refusal, usize>,
    /// Number of the last change of a document.
    pub document_seq: i64,
}

impl Frontier {
    /// Writes the batch in one durable transaction. Ranks and host records are filled in here. On an error the batch is to be given again.
    pub fn commit(
        &mut self,
        store: &mut Store,
        batch: &mut Batch,
        now_ms: i64,
    ) -> Result<CommitReport, StoreError> {
        let mut report = CommitReport::default();
        self.seen.note_others(store, &self.parts)?;
        self.filter_links(store, batch, &mut report, now_ms)?;
        for page in &mut batch.pages {
            page.visit.rank = revisit_rank(page.visit.class, page.visit.state);
        }
        self.add_hosts(batch, now_ms);
        let done = store.commit(batch, now_ms)?;
        self.update_memory(batch, &done, now_ms);
        self.seen.advance(store, &self.parts);
        self.seen.save(store.dir(), false);
        if self.alike.news {
            self.alike.save(store.dir());
        }
        report.new_urls = done.inserted.len();
        report.document_seq = done.document_seq;
        Ok(report)
    }

    /// Whether there is anything to write even without finished pages. When [`Frontier::next`] has nothing to fetch
    /// and this is true, commit and ask again: hosts may have made room for others.
    pub fn has_changes(&self, now_ms: i64) -> bool {
        let nothing = HashSet::new();
        !self.hold.is_empty()
            || self
                .hosts
                .values()
                .any(|q| q.dirty || self.is_leaving(q, &nothing, now_ms))
    }

    /// Whether a host gives up its place in memory once these pages are committed.
    fn is_leaving(&self, queues: &HostQueues, committed: &HashSet<UrlId>, now_ms: i64) -> bool {
        let long = queues.host.not_before_ms > now_ms + LONG_REST_MS || queues.leased > LONG_TURN;
        let done = !queues.has_due() || queues.limited || queues.leaving || (self.crowded && long);
        done && queues.will_rest(committed)
    }

    /// Leaves only links that are in scope and new.
    fn filter_links(
        &mut self,
        store: &Store,
        batch: &mut Batch,
        report: &mut CommitReport,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let found_on: Vec<UrlId> = batch.pages.iter().map(|page| page.id).collect();
        let pages = batch.pages.iter_mut();
        let lists = pages
            .map(|page| (page.visit.class.is_hub(), &mut page.outlinks))
            .chain(std::iter::once((true, &mut batch.urls)));
        let mut lists: Vec<(bool, &mut Vec<NewUrl>)> = lists.collect();
        let crowded = self
            .file_hosts
            .drop_crowded(store, &self.sites, &mut lists)?;
        if crowded > 0 {
            *report.refused.entry(Refusal::FileHosts).or_default() += crowded;
        }
        let mut listed = self.drop_refused_and_seen(&mut lists, report, now_ms);
        let mut looked_up = self.look_up(store, &lists)?.into_iter();
        let mut room = self.room();
        let mut foreign = Vec::new();
        for (i, (_, links)) in lists.into_iter().enumerate() {
            links.retain_mut(|link| {
                if link.free.is_none() {
                    link.free = looked_up.next().flatten();
                }
                if link.free.is_none() {
                    report.seen += 1;
                    listed.extend(take_listed(link));
                    return false;
                }
                let fits = room.take(link);
                if !fits {
                    self.leave_out(link, report);
                } else if !self.parts.has_uri(&link.uri) {
                    foreign.push(NewUrl {
                        via: found_on.get(i).copied().or(link.via),
                        ..link.clone()
                    });
                    return false;
                }
                fits
            });
        }
        batch.foreign.append(&mut foreign);
        listed.truncate(MAX_LISTED);
        batch.announced.append(&mut listed);
        Ok(())
    }

    /// How many addresses each site may still take up.
    fn room(&self) -> Room {
        let most = self.config.max_urls_per_site;
        let of_site = |(name, site): (&Arc<str>, &Site)| (Arc::clone(name), most - site.urls);
        Room(self.sites.iter().map(of_site).collect())
    }

    /// Counts a new address for which its site has no room.
    fn leave_out(&mut self, link: &NewUrl, report: &mut CommitReport) {
        *report.refused.entry(Refusal::SiteFull).or_default() += 1;
        if let Some(site) = self.sites.get_mut(&link.site) {
            site.skip(self.seen.fingerprint(&link.uri), Refusal::SiteFull);
        }
    }

    /// Drops links that are out of scope or surely known, ranks the others, and marks those that are surely new. Returns what
    /// lists say of the known ones.
    fn drop_refused_and_seen(
        &mut self,
        lists: &mut [(bool, &mut Vec<NewUrl>)],
        report: &mut CommitReport,
        now_ms: i64,
    ) -> Vec<(CrawlUri, Box<Announcement>)> {
        let mut listed = Vec::new();
        let mut here = HashSet::new();
        let mut skipped = Vec::new();
        let room = self.room();
        for (on_hub, links) in &mut *lists {
            links.retain_mut(|link| {
                let hash = self.seen.fingerprint(&link.uri);
                // A full site's new addresses are not to fill the filter either.
                let allowed = if room.is_full(link) && !self.may_be_known(&link.uri) {
                    self.allow(link, now_ms).and(Err(Refusal::SiteFull))
                } else {
                    self.allow(link, now_ms)
                };
                if let Err(refusal) = allowed {
                    *report.refused.entry(refusal).or_default() += 1;
                    skipped.push((Arc::clone(&link.site), hash, refusal));
                    return false;
                }
                link.rank = rank(link.class, link.hops, *on_hub);
                if self.seen.is_confirmed(hash) || !here.insert(hash) {
                    report.seen += 1;
                    listed.extend(take_listed(link));
                    return false;
                }
                // The filter knows the addresses of this node's partitions only.
                let is_new = self.parts.has_uri(&link.uri) && self.seen.take(&link.uri, hash);
                link.free = is_new.then_some(hash);
                self.seen.new += u64::from(is_new);
                true
            });
        }
        for (site, hash, refusal) in skipped {
            if let Some(site) = self.sites.get_mut(&site)
                && !self.seen.contains(hash)
            {
                site.skip(hash, refusal);
            }
        }
        for link in lists.iter().flat_map(|(_, links)| links.iter()) {
            if let Some(site) = self.sites.get_mut(&link.site).filter(|s| s.has_skipped()) {
                site.follow(self.seen.fingerprint(&link.uri));
            }
        }
        listed
    }

    /// Those links that the filter is not sure of: the fingerprint of each that is new, none for one that the store knows.
    fn look_up(
        &mut self,
        store: &Store,
        lists: &[(bool, &mut Vec<NewUrl>)],
    ) -> Result<Vec<Option<u64>>, StoreError> {
        let links = lists.iter().flat_map(|(_, links)| links.iter());
        let doubtful: Vec<_> = links.filter(|l| l.free.is_none()).map(|l| &l.uri).collect();
        self.seen.with_store += doubtful.len() as u64;
        let looked_up = store.addresses().free(&doubtful)?;
        for (uri, free) in doubtful.iter().zip(&looked_up) {
            if free.is_none() {
                self.seen.confirm(self.seen.fingerprint(uri));
            } else if self.parts.has_uri(uri) {
                self.seen.false_positives += 1;
            }
        }
        Ok(looked_up)
    }

    /// Whether the store may have an address. Of partitions that are other nodes', or not read yet, the filter knows nothing.
    fn may_be_known(&self, uri: &CrawlUri) -> bool {
        !self.parts.has_uri(uri)
            || !self.seen.is_whole(uri)
            || self.seen.contains(self.seen.fingerprint(uri))
    }

    fn allow(&self, link: &NewUrl, now_ms: i64) -> Result<(), Refusal> {
        let site = self.sites.get(&link.site).ok_or(Refusal::UnknownSite)?;
        if self.taken_down.contains(&link.uri) {
            return Err(Refusal::TakenDown);
        }
        let reach = Reach::new(link.class, link.hops, link.redirects);
        site.scope.check_reach(&link.uri, reach, now_ms)?;
        let may_be_trap = matches!(reach, Reach::Page { hops: 1.., .. });
        if may_be_trap && self.alike.is_trap(&link.uri) {
            return Err(Refusal::Alike);
        }
        Ok(())
    }

    /// Whether a stored URL may still be fetched: it was not taken down since it was found, and is in the scope that its site has now.
    pub(super) fn check_rules(
        &self,
        site: &Site,
        record: &UrlRecord,
        now_ms: i64,
    ) -> Result<(), Refusal> {
        if self.taken_down.contains(&record.uri) {
            return Err(Refusal::TakenDown);
        }
        (site.scope).check_reach(&record.uri, record.into(), now_ms)
    }

    /// Adds what changed of hosts, and which of them leave memory.
    fn add_hosts(&mut self, batch: &mut Batch, now_ms: i64) {
        let committed: HashSet<_> = batch.pages.iter().map(|page| page.id).collect();
        batch.hosts.clear();
        batch.reschedule.clear();
        batch.hold = self
            .hold
            .iter()
            .map(|(_, url)| (url.id, url.due_ms))
            .collect();
        for (name, site) in &self.sites {
            if site.unsaved_pages != 0 {
                let key = (Arc::clone(name), Cow::Borrowed(CYCLE_PAGES));
                batch.counters.insert(key, site.unsaved_pages);
            }
            if site.unsaved_spent() != 0 {
                let key = (Arc::clone(name), Cow::Borrowed(BLIND_SPENT));
                batch.counters.insert(key, site.unsaved_spent());
            }
            for (counter, amount) in site.unsaved.iter().filter(|(_, amount)| **amount != 0) {
                let key = (Arc::clone(name), Cow::Borrowed(*counter));
                batch.counters.insert(key, *amount);
            }
        }
        for (id, queues) in &self.hosts {
            if queues.dirty {
                batch.hosts.push(queues.record());
            }
            if self.is_leaving(queues, &committed, now_ms) {
                let floor_ms = if queues.limited {
                    HELD_MS
                } else {
                    queues.rested_ms()
                };
                batch.reschedule.push((*id, floor_ms));
            }
        }
    }

    /// Counts new addresses to their sites.
    fn count_urls(&mut self, done: &Committed) {
        for of_site in done.inserted.chunk_by(|a, b| a.site == b.site) {
            let id = of_site[0].site;
            if let Some(site) = self.sites.values_mut().find(|site| site.id == id) {
                site.urls += i64::try_from(of_site.len()).unwrap_or(i64::MAX);
            }
        }
    }

    /// Brings memory in line with what was written.
    fn update_memory(&mut self, batch: &Batch, done: &Committed, now_ms: i64) {
        let size = self.config.queue_batch;
        for (host, url) in std::mem::take(&mut self.hold) {
            if let Some(queues) = self.hosts.get_mut(&host) {
                queues.put_down(url.id);
                queues.add(url, size, now_ms);
            }
        }
        for queues in self.hosts.values_mut() {
            queues.dirty = false;
        }
        for site in self.sites.values_mut() {
            site.unsaved_pages = 0;
            site.saved_spent += site.unsaved_spent();
            site.unsaved.clear();
        }
        let mut touched = HashSet::new();
        for page in &batch.pages {
            if let Some(queues) = self.hosts.get_mut(&page.host) {
                queues.put_down(page.id);
            }
            if let Some(due_ms) = page.visit.due_ms {
                let (rank, id) = (page.visit.rank, page.id);
                self.add_due(page.host, DueUrl { rank, due_ms, id }, now_ms, &mut touched);
            }
        }
        for (host, _) in &done.rescheduled {
            if let Some(queues) = self.hosts.remove(host) {
                self.line.forget(*host, queues.number_of_queues());
            }
        }
        let inserted = done.inserted.iter().map(|url| (url.host, url.due));
        for (host, due) in inserted.chain(done.released.iter().copied()) {
            self.add_due(host, due, now_ms, &mut touched);
        }
        self.count_urls(done);
        for (_, due_ms) in &done.rescheduled {
            self.activate_ms = self.activate_ms.min(due_ms.unwrap_or(HELD_MS));
        }
        if self.crowded && !done.rescheduled.is_empty() {
            self.activate_ms = now_ms;
        }
        for host in touched {
            self.enqueue(host, now_ms);
        }
    }
    /// A URL is due at some time: it waits in the queue of its host, or for its host to come into memory.
    fn add_due(&mut self, host: HostId, url: DueUrl, now_ms: i64, touched: &mut HashSet<HostId>) {
        match self.hosts.get_mut(&host) {
            Some(queues) => {
                queues.add(url, self.config.queue_batch, now_ms);
                touched.insert(host);
            }
            None => self.activate_ms = self.activate_ms.min(url.due_ms),
        }
    }
}

/// What a feed or sitemap says of a link, which is known.
fn take_listed(link: &mut NewUrl) -> Option<(CrawlUri, Box<Announcement>)> {
    let listed = link.announced.take_if(|said| said.listed.is_some());
    listed.map(|listed| (link.uri.clone(), listed))
}
