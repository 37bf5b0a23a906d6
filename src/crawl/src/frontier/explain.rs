//! Why a host waits, in numbers and words. In: the frontier's memory and the store. Out: [`Explanation`], [`Stats`].
//!
//! What is still to be done. In: the frontier's memory, the store, the time. Out: whether anything is left, in all or of
//! a site, and which hosts rest for too long. Changes nothing.

use std::path::Path;
use std::sync::Arc;

use taojin_uri::CrawlUri;

use super::alike::Alike;
use super::queue::HostQueues;
use super::{Config, Frontier, politeness};
use crate::store::{Cause, HostId, HostRecord, Reader, SiteId, StoreError};

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

/// Whether a crawl with this data folder has found that addresses of this form lead to pages that hardly differ, for
/// `taojin why`.
pub fn leads_nowhere(store_dir: &Path, uri: &CrawlUri) -> bool {
    Alike::open(store_dir).is_trap(uri)
}

/// Due URLs counted for an explanation; more is "many".
const COUNTED: usize = 10_000;

impl Explanation {
    /// What the store knows of the host, without a daemon.
    pub fn of(
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
    pub fn of(store: &Reader, now_ms: i64) -> Result<Self, StoreError> {
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
    fn of(record: &HostRecord) -> Self {
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
                resting.push(Resting::of(&record));
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
    Ok(hosts.first().map(Resting::of))
}
