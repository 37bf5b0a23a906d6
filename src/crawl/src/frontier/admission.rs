//! Whether a due URL is worth a fetch now. In: its record, its site, what was spent. Out: yes, not in this cycle, or when.
//! A recheck that cannot be asked for conditionally waits while the [budget](super::budget) of its site is spent.

use super::Frontier;
use super::budget::is_blind;
use super::site::HOST_LIMITS;
use crate::store::{DueUrl, HELD_MS, HostId, UrlId, UrlRecord};

const DAY_MS: i64 = 86_400_000;
/// A page that was not seen for this long is fetched whatever it costs: a deletion is noticed within a month.
const MAX_WAIT_MS: i64 = 30 * DAY_MS;
/// A list after one to two times this: those of a site, found together, take turns.
const MAX_LIST_WAIT_MS: i64 = 7 * DAY_MS;
/// A recheck that must wait waits at least this long.
const MIN_WAIT_MS: i64 = 3_600_000;
/// A pass over other sites came upon it, on a host that they share: it waits until that pass is probably over.
const OTHER_SITE_MS: i64 = 600_000;

/// What is to become of a due URL.
pub(super) enum Admission {
    /// It is fetched.
    Now,
    /// Its turn comes with the next cycle of its site.
    NextCycle,
    /// It is due again then.
    Later(i64),
    /// Its site had its pages of this cycle.
    SiteLimit,
    /// Its host had its pages of this cycle.
    HostLimit,
}

/// A URL that waits for the next cycle of its site.
pub(super) fn until_next_cycle(id: UrlId, rank: u8) -> DueUrl {
    DueUrl {
        rank,
        due_ms: HELD_MS,
        id,
    }
}

impl Frontier {
    /// Whether a URL may be fetched in this cycle of its site and host.
    pub(super) fn admit(&self, record: &UrlRecord, now_ms: i64) -> Admission {
        let Some(site) = self.sites.get(&record.site) else {
            return Admission::NextCycle;
        };
        if !self.only.is_empty() && !self.only.contains(&site.id) {
            return Admission::Later(now_ms + OTHER_SITE_MS);
        }
        if site.paused || self.taken_down.contains(&record.uri.fingerprint()) {
            return Admission::NextCycle;
        }
        let full = site.scope.rules().max_pages_per_cycle;
        if full.is_some_and(|max| site.cycle_pages >= max) {
            return Admission::SiteLimit;
        }
        let Some(queues) = self.hosts.get(&record.host) else {
            return Admission::NextCycle;
        };
        let turn = i64::from(record.uri.fingerprint() as u8);
        let max_wait_ms = match record.visit.class.is_hub() {
            true => MAX_LIST_WAIT_MS / 256 * (256 + turn),
            false => MAX_WAIT_MS,
        };
        let seen_ms = record.visit.fetched_ms.unwrap_or(i64::MIN);
        if site.budget.is_spent() && is_blind(record) && now_ms < seen_ms + max_wait_ms {
            return Admission::Later(now_ms + record.visit.interval_ms.max(MIN_WAIT_MS));
        }
        let pages = if queues.host.cycle_ms < site.last_cycle_ms {
            0
        } else {
            queues.host.cycle_pages
        };
        if pages >= self.config.pages_per_host_per_cycle {
            return Admission::HostLimit;
        }
        Admission::Now
    }

    /// The host had its pages: it rests until a cycle of one of its sites begins.
    pub(super) fn limit(&mut self, host: HostId, record: &UrlRecord) {
        self.note_limit(&record.site, HOST_LIMITS);
        if let Some(queues) = self.hosts.get_mut(&host) {
            queues.put_down(record.id);
            queues.invalidate();
            queues.limited = true;
        }
    }

    /// Counts a URL of a site that a limit puts off to the next cycle.
    pub(super) fn note_limit(&mut self, site: &str, counter: &'static str) {
        if let Some(site) = self.sites.get_mut(site) {
            *site.unsaved.entry(counter).or_default() += 1;
        }
    }

    /// Books what became of a fetch: whether it was a blind recheck ([`is_blind`]), and whether the page came whole and
    /// said nothing new.
    pub fn book_recheck(&mut self, site: &str, blind: bool, wasted: bool) {
        let Some(site) = self.sites.get_mut(site) else {
            return;
        };
        match (blind, wasted) {
            (true, false) => site.budget.refund(),
            (false, true) => site.budget.charge(),
            _ => {}
        }
    }
}
