//! Why a host waits, in numbers and words. In: the frontier's memory and the store. Out: [`Explanation`], [`Stats`].

use std::path::Path;

use super::Frontier;
use super::alike::Alike;
use super::config::Config;
use super::politeness;
use crate::store::{Cause, HostRecord, Reader, StoreError};
use taojin_uri::CrawlUri;

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
