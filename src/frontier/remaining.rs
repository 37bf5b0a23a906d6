//! What is still to be done. In: the frontier's memory, the store, the time. Out: when the next due URL may be fetched,
//! whether a site has any, and which hosts rest for too long. Changes nothing.

use std::sync::Arc;

use super::leasing::Frontier;
use super::politeness::Cause;
use super::queue::Queue;
use crate::store::{HELD_MS, HostId, HostRecord, Reader, StoreError};

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
            cause: Cause::from_code(record.cause),
        }
    }
}

impl Frontier {
    /// When the next URL that is due already may be fetched, if that is within `patience_ms`: a URL that becomes due
    /// later is not waited for, nor is a host that rests for longer. Fetches under way are not looked at.
    pub fn next_due_fetch(
        &self,
        store: &Reader,
        now_ms: i64,
        patience_ms: i64,
    ) -> Result<Option<i64>, StoreError> {
        let until_ms = now_ms.saturating_add(patience_ms);
        let in_memory = self
            .queues
            .values()
            .filter_map(|q| self.ready_ms(q, now_ms));
        let soonest = in_memory.min().filter(|ready_ms| *ready_ms <= until_ms);
        if soonest.is_some_and(|ready_ms| ready_ms <= now_ms) {
            return Ok(soonest);
        }
        let until_ms = soonest.unwrap_or(until_ms);
        let stored = store.hosts_due_between(&self.only, i64::MIN, until_ms, MAX_LOOKED_AT)?;
        let crowd = stored.len() == MAX_LOOKED_AT;
        for (host, ready_ms) in stored {
            if !self.queues.contains_key(&host) && is_due(store, host, now_ms)? {
                return Ok(Some(ready_ms.max(now_ms)));
            }
        }
        Ok(soonest.or(crowd.then_some(now_ms)))
    }

    /// How many URLs are due, a million at most. For a person: reads the index of all due URLs.
    pub fn count_due(&self, store: &Reader, now_ms: i64) -> Result<u64, StoreError> {
        store.count_due(&self.only, now_ms, MAX_COUNTED)
    }

    /// Whether nothing of a site is being fetched, and nothing of it that is due may be fetched within `patience_ms`:
    /// then its cycle is over.
    pub fn is_site_done(
        &self,
        store: &Reader,
        site: &str,
        now_ms: i64,
        patience_ms: i64,
    ) -> Result<bool, StoreError> {
        let Some(site) = self.sites.get(site) else {
            return Ok(true);
        };
        let until_ms = now_ms.saturating_add(patience_ms);
        for host in store.hosts_of_site(site.id)? {
            if let Some(queue) = self.queues.get(&host) {
                let ready = self.ready_ms(queue, now_ms).is_some_and(|t| t <= until_ms);
                if ready || queue.in_flight > 0 {
                    return Ok(false);
                }
            }
        }
        let due = store.hosts_due_between(&[site.id], i64::MIN, until_ms, MAX_LOOKED_AT)?;
        for (host, _) in due {
            if !self.queues.contains_key(&host) && is_due(store, host, now_ms)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Hosts with due URLs that are not asked within `patience_ms`, longest rest first; a hundred at most.
    pub fn resting(
        &self,
        store: &Reader,
        now_ms: i64,
        patience_ms: i64,
    ) -> Result<Vec<Resting>, StoreError> {
        let after_ms = now_ms.saturating_add(patience_ms);
        let mut resting = Vec::new();
        for record in store.hosts_at_rest(&self.only, after_ms, MAX_LOOKED_AT)? {
            if resting.len() < MAX_RESTING && is_due(store, record.id, now_ms)? {
                resting.push(Resting::of(&record));
            }
        }
        Ok(resting)
    }

    /// When a host in memory may be asked for what it has due; `None` if it has nothing, or had its pages.
    fn ready_ms(&self, queue: &Queue, now_ms: i64) -> Option<i64> {
        if queue.limited || !queue.has_due() {
            return None;
        }
        let address = queue.host.ip.and_then(|ip| self.addresses.get(ip));
        let address_ms = address.map_or(i64::MIN, |a| a.not_before_ms);
        let ready_ms = queue.host.not_before_ms.max(address_ms).max(now_ms);
        (ready_ms < HELD_MS).then_some(ready_ms)
    }
}

fn is_due(store: &Reader, host: HostId, now_ms: i64) -> Result<bool, StoreError> {
    Ok(store
        .next_due(host, None)?
        .is_some_and(|due_ms| due_ms <= now_ms))
}

/// The host of a site with due URLs that rests longest, of those not asked within `patience_ms`; by the store alone.
pub fn longest_rest(
    store: &Reader,
    site: crate::store::SiteId,
    now_ms: i64,
    patience_ms: i64,
) -> Result<Option<Resting>, StoreError> {
    let after_ms = now_ms.saturating_add(patience_ms);
    let hosts = store.hosts_at_rest(&[site], after_ms, 1)?;
    Ok(hosts.first().map(Resting::of))
}
