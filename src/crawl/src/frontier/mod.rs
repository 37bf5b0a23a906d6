//! Decides what is fetched next: grants leases, one host at a time as politeness allows, and explains why a host waits.
//! Never fetches and never reads a clock.
//!
//! The crawl loop owns a [`Frontier`] and the writing side of the store and goes round:
//! [`Frontier::next`] gives a [`Lease`] → the page is fetched → [`Frontier::finished`] frees the host →
//! [`Frontier::commit`] makes the pages and their new links durable. A lease lives in memory only: until its commit
//! the URL stays due in the store, so that a crash needs no repair.

mod alike;
mod file_hosts;
mod leasing;
mod line;
mod politeness;
mod queue;
mod seen;
mod shares;
mod sites;
mod territory;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};
use taojin_uri::{CrawlUri, QueueHash};

use crate::scope::Takedowns;
use crate::store::{
    DueUrl, HostId, HostRecord, Partition, Partitions, Reader, SiteId, Store, StoreError, UrlId,
};
use alike::TrapDetector;
use file_hosts::FileHosts;
use line::Line;
use politeness::Addresses;
use queue::{HostQueues, SUSPECT_RANK};
use seen::Seen;
use sites::Site;
use territory::Turns;

pub use crate::store::Cause;
pub use leasing::{CommitReport, FetchReport, Lease, LeaseOutcome, Next};
pub use queue::queue_name;
pub use shares::Shares;
pub use sites::{
    BEYOND_HOPS, HOST_LIMITS, MAX_READING_MS, MAX_SKIPPED, OUT_OF_SCOPE, READING_LIMITS, SITE_FULL,
    SITE_LIMITS, is_blind,
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
    line: Line,
    addresses: Addresses,
    turns: Turns,
    /// Host and site of each URL that is being fetched.
    leases: BTreeMap<UrlId, (HostId, SiteId)>,
    seen: Seen,
    alike: TrapDetector,
    file_hosts: FileHosts,
    /// When the store may have hosts with due URLs that are not in memory.
    activate_ms: i64,
    /// Hosts that were left in the store for want of room.
    crowded: bool,
    /// URLs to put off with the next commit: of sites that are not crawled, unreadable, or not worth it yet.
    hold: Vec<(HostId, DueUrl)>,
    /// URLs that the operator has taken down: a few, by hand. The gate has the same set.
    taken_down: Takedowns,
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
        let shared = self.taken_down.clone();
        shared.replace(store.takedowns()?.into_iter().map(|t| t.url));
        let mut shares = self.line.shares().clone();
        shares.end_all();
        *self = Self::over(store, self.config.clone())?;
        self.line = Line::new(shares);
        self.taken_down = shared;
        Ok(())
    }

    fn over(store: &mut Store, config: Config) -> Result<Self, StoreError> {
        let dir = store.dir().to_owned();
        let seen = Seen::open(store, &dir, config.seen_error, config.seen_capacity)?;
        let taken_down = Takedowns::default();
        taken_down.add(store.takedowns()?.into_iter().map(|t| t.url));
        let mut frontier = Frontier {
            config,
            sites: HashMap::new(),
            only: Vec::new(),
            hosts: HashMap::new(),
            line: Line::new(Shares::default()),
            addresses: Addresses::default(),
            turns: Turns::default(),
            leases: BTreeMap::new(),
            seen,
            alike: TrapDetector::open(&dir),
            file_hosts: FileHosts::default(),
            activate_ms: i64::MIN,
            crowded: false,
            hold: Vec::new(),
            taken_down,
            parts: store.cluster().first_share(),
            leads: false,
            leaving: BTreeSet::new(),
            taken_over_ms: HashMap::new(),
            handed_over_ms: HashMap::new(),
            to_catch_up: Partitions::none(),
        };
        let held = store.cluster().held_partitions()?;
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
    /// Time without trouble after which the doubling starts again, in milliseconds.
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
            // After so long without trouble the doubling starts again.
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

/// What holds a host, for `taojin why` and the status page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Its record.
    pub host: HostRecord,
    /// Delay between two fetches from it, in milliseconds, without backoff.
    pub delay_ms: i64,
    /// Where that delay comes from.
    pub delay_cause: Cause,
    /// It is not asked before this.
    pub next_fetch_ms: Option<i64>,
    /// Why not sooner.
    pub cause: Cause,
    /// Due URLs that are counted (at most 10,000).
    pub due: usize,
    /// Time that the due URLs take at this delay, in milliseconds.
    pub eta_ms: i64,
}

/// Whether a crawl with this data directory has found that addresses of this form lead to pages that hardly differ, for
/// `taojin why`.
pub fn leads_nowhere(store_dir: &Path, uri: &CrawlUri) -> bool {
    TrapDetector::open(store_dir).is_trap(uri)
}

/// Due URLs counted for an explanation; more is "many".
const COUNTED: usize = 10_000;

impl Explanation {
    /// What the store knows of the host, without a daemon.
    pub fn for_host(
        store: &Reader,
        config: &Config,
        authority: &str,
        site_delay_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<Option<Self>, StoreError> {
        let Some(host) = store.host(authority)? else {
            return Ok(None);
        };
        let (delay_ms, delay_cause) = politeness::delay(config, &host, site_delay_ms);
        let due = store.due(host.id, now_ms, COUNTED)?.len();
        let next_due = store.next_due(host.id, None)?;
        let held = host.not_before_ms > now_ms;
        let cause = if held {
            host.cause
        } else if host.next_due_ms.is_some_and(|t| t >= crate::store::HELD_MS) {
            Cause::CycleLimit
        } else {
            Cause::None
        };
        Ok(Some(Explanation {
            delay_ms,
            delay_cause,
            next_fetch_ms: next_due.map(|due| due.max(host.not_before_ms)),
            cause,
            due,
            eta_ms: delay_ms.saturating_mul(i64::try_from(due).unwrap_or(i64::MAX)),
            host,
        }))
    }
}

/// How many hosts are in which state. Each host counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Asked as usual, perhaps after the usual delay.
    pub open: i64,
    /// Left alone for a while because of an error or because they asked for it.
    pub backing_off: i64,
    /// Put aside after too many errors in a row.
    pub parked: i64,
    /// Had their pages of this cycle.
    pub limited: i64,
}

impl HostCounts {
    /// Counts all hosts of the store.
    pub fn read(store: &Reader, now_ms: i64) -> Result<Self, StoreError> {
        let held = store.hosts_held(now_ms)?;
        let mut counts = HostCounts {
            limited: held.limited,
            ..HostCounts::default()
        };
        for (cause, count) in held.by_cause {
            match cause {
                Cause::Parked => counts.parked += count,
                Cause::CycleLimit => counts.limited += count,
                Cause::RetryAfter | Cause::Throttled | Cause::Unreachable | Cause::TurnedAway => {
                    counts.backing_off += count;
                }
                _ => {}
            }
        }
        counts.open = held.all - counts.backing_off - counts.parked - counts.limited;
        Ok(counts)
    }
}

/// Numbers of the filter of seen addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Addresses in the filter.
    pub seen_addresses: u64,
    /// New addresses that the filter knew to be new.
    pub seen_new: u64,
    /// False positives of the filter, found out by the store.
    pub seen_false_positives: u64,
}

impl Frontier {
    /// Numbers for metrics and the status page.
    pub fn stats(&self) -> Stats {
        Stats {
            seen_addresses: u64::try_from(self.seen.addresses()).unwrap_or_default(),
            seen_new: self.seen.new,
            seen_false_positives: self.seen.false_positives,
        }
    }
}

/// Hosts at rest that are named.
const MAX_RESTING: usize = 100;

/// Due URLs that are counted.
const MAX_COUNTED: usize = 1_000_000;

/// Hosts looked at before one is taken to be due without a look.
const MAX_LOOKED_AT: usize = 10_000;

/// A host with due URLs that is not asked for some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resting {
    /// `host` or `host:port`.
    pub host: Arc<str>,
    /// It is not asked before this, Unix milliseconds.
    pub until_ms: i64,
    /// Why not.
    pub cause: Cause,
}

impl Resting {
    fn from_record(record: &HostRecord) -> Self {
        Resting {
            host: Arc::clone(&record.authority),
            until_ms: record.not_before_ms,
            cause: record.cause,
        }
    }
}

/// How long something goes on, and what counts as left to do.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// When it began: a URL that was visited since, and is due again by its interval, is work for another day.
    pub since_ms: i64,
    /// What time it is.
    pub now_ms: i64,
    /// A host that rests for longer is not waited for.
    pub patience_ms: i64,
}

impl Span {
    fn until_ms(&self) -> i64 {
        self.now_ms.saturating_add(self.patience_ms)
    }

    fn has_due(&self, store: &Reader, host: HostId) -> Result<bool, StoreError> {
        store.has_due_since(host, self.now_ms, self.since_ms)
    }
}

impl Frontier {
    /// Whether a URL that is due may be fetched, now or within the patience: one that becomes due later is not waited
    /// for. Fetches under way are not looked at.
    pub fn has_work(&self, store: &Reader, span: &Span) -> Result<bool, StoreError> {
        for (host, queues) in &self.hosts {
            if self.is_ready(queues, span) && span.has_due(store, *host)? {
                return Ok(true);
            }
        }
        self.has_stored_work(store, &self.only, span)
    }

    /// The same for hosts that are not in memory.
    fn has_stored_work(
        &self,
        store: &Reader,
        sites: &[SiteId],
        span: &Span,
    ) -> Result<bool, StoreError> {
        let due = store.hosts_due_between(
            sites,
            &self.parts,
            i64::MIN,
            span.until_ms(),
            MAX_LOOKED_AT,
        )?;
        let is_crowd = due.len() == MAX_LOOKED_AT;
        for (host, _) in due {
            if !self.hosts.contains_key(&host) && span.has_due(store, host)? {
                return Ok(true);
            }
        }
        Ok(is_crowd)
    }

    /// How many URLs are due, a million at most. For a person: reads the index of all due URLs.
    pub fn count_due(&self, store: &Reader, now_ms: i64) -> Result<u64, StoreError> {
        store.count_due(&self.only, now_ms, MAX_COUNTED)
    }

    /// Whether nothing of a site is being fetched, and nothing of it that is due may be fetched within the patience: then
    /// its cycle is over. Nothing of a paused site may be fetched.
    pub fn is_site_done(
        &self,
        store: &Reader,
        site: &str,
        span: &Span,
    ) -> Result<bool, StoreError> {
        let Some(site) = self.sites.get(site) else {
            return Ok(true);
        };
        for host in store.hosts_of_site(site.id)? {
            let Some(queues) = self.hosts.get(&host) else {
                continue;
            };
            let may_go_on = !site.paused && self.is_ready(queues, span);
            if queues.in_flight > 0 || (may_go_on && span.has_due(store, host)?) {
                return Ok(false);
            }
        }
        Ok(site.paused || !self.has_stored_work(store, &[site.id], span)?)
    }

    /// Hosts with due URLs that are not asked within the patience, longest rest first; a hundred at most.
    pub fn resting(&self, store: &Reader, span: &Span) -> Result<Vec<Resting>, StoreError> {
        let mut resting = Vec::new();
        for record in store.hosts_at_rest(&self.only, span.until_ms(), MAX_LOOKED_AT)? {
            if resting.len() < MAX_RESTING && span.has_due(store, record.id)? {
                resting.push(Resting::from_record(&record));
            }
        }
        Ok(resting)
    }

    /// Whether a host in memory may be asked within the patience.
    fn is_ready(&self, queues: &HostQueues, span: &Span) -> bool {
        let address = queues.host.ip.and_then(|ip| self.addresses.get(ip));
        let address_ms = address.map_or(i64::MIN, |a| a.not_before_ms);
        !queues.limited && queues.first_ms().max(address_ms) <= span.until_ms()
    }
}

/// The host of a site with due URLs that rests longest, of those not asked within `patience_ms`; by the store alone.
pub fn longest_rest(
    store: &Reader,
    site: SiteId,
    now_ms: i64,
    patience_ms: i64,
) -> Result<Option<Resting>, StoreError> {
    let after_ms = now_ms.saturating_add(patience_ms);
    let hosts = store.hosts_at_rest(&[site], after_ms, 1)?;
    Ok(hosts.first().map(Resting::from_record))
}
