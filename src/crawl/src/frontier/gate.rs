//! Whether a due URL is worth a fetch now. In: its record, its site, what was spent. Out: yes, not in this cycle, or when.
//!
//! A page whose server sends neither `ETag` nor `Last-Modified` cannot be asked whether it has changed: it comes whole
//! each time, mostly for nothing. Such *blind* rechecks, of articles and of lists that brought nothing twice in a row (or
//! once, if nothing was ever added to them), are paid for: each is a debt of its site, so is any list that came whole for nothing, and each fetch of the site pays a
//! small part of a debt back. A recheck that finds a change costs nothing. While a site is in debt its blind rechecks
//! wait, no article longer than a month and no list longer than a fortnight. So what is fetched for nothing stays far below
//! a tenth of all fetches, and a site whose pages do change is looked at as often as any other.

use super::leasing::Frontier;
use super::sites::HOST_LIMITS;
use crate::store::{DueUrl, HELD_MS, HostId, UrlClass, UrlId, UrlRecord, UrlState};

/// What a fetch of the site pays back of one that was for nothing.
const PAID_BACK: f64 = 0.03;
/// Blind rechecks before a site that has changed nothing must wait: a small site is looked at whole.
const MOST_DEBT: f64 = 20.0;
/// Lists are asked for whatever they cost; beyond this their debt is forgotten.
const WORST_DEBT: f64 = 40.0;
const DAY_MS: i64 = 86_400_000;
/// A page that was not seen for this long is fetched whatever it costs: a deletion is noticed within a month.
const LONGEST_MS: i64 = 30 * DAY_MS;
/// A list after one to two times this: those of a site, found together, take turns.
const LONGEST_LIST_MS: i64 = 7 * DAY_MS;
/// A recheck that must wait waits at least this long.
const LEAST_WAIT_MS: i64 = 3_600_000;
/// A pass over other sites came upon it, on a host that they share: it waits until that pass is probably over.
const OTHER_SITE_MS: i64 = 600_000;

/// What is to become of a due URL.
pub(super) enum Gate {
    /// It is fetched.
    Open,
    /// Its turn comes with the next cycle of its site.
    Hold,
    /// It is due again then.
    Later(i64),
    /// Its site had its pages of this cycle.
    SiteLimit,
    /// Its host had its pages of this cycle.
    HostLimit,
}

/// A URL that waits for the next cycle of its site.
pub(super) fn held(id: UrlId, rank: u8) -> DueUrl {
    DueUrl {
        rank,
        due_ms: HELD_MS,
        id,
    }
}

/// Blind rechecks of a site that were not paid back yet.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Debt {
    pub(super) spent: f64,
    /// Every known article is asked for, whatever it costs.
    pub(super) waived: bool,
}

impl Debt {
    fn is_too_high(&self) -> bool {
        !self.waived && self.spent >= MOST_DEBT
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self, record: &UrlRecord) {
        self.spent = (self.spent - PAID_BACK).max(0.0);
        if Frontier::is_blind(record) {
            self.charge();
        }
    }

    fn charge(&mut self) {
        self.spent = (self.spent + 1.0).min(WORST_DEBT);
    }

    /// A blind recheck found something, or did not take place.
    pub(super) fn refund(&mut self) {
        self.spent = (self.spent - 1.0).max(0.0);
    }
}

impl Frontier {
    /// Whether the page was read before and its server cannot say that it has not changed.
    pub fn is_blind(record: &UrlRecord) -> bool {
        let visit = &record.visit;
        let found_ms = visit
            .changed_ms
            .unwrap_or(i64::MAX)
            .saturating_sub(record.first_seen_ms);
        let quiet = visit.unchanged > 1 || (visit.unchanged == 1 && found_ms < DAY_MS);
        let archive = visit.class == UrlClass::Hub && quiet;
        visit.state == UrlState::Fetched
            && visit.digest.is_some()
            && (archive || !visit.class.is_hub())
            && visit.etag.is_none()
            && visit.last_modified.is_none()
    }

    /// Whether a URL may be fetched in this cycle of its site and host.
    pub(super) fn gate(&self, record: &UrlRecord, now_ms: i64) -> Gate {
        let Some(site) = self.sites.get(&record.site) else {
            return Gate::Hold;
        };
        if !self.only.is_empty() && !self.only.contains(&site.id) {
            return Gate::Later(now_ms + OTHER_SITE_MS);
        }
        if site.paused || self.taken_down.contains(&record.uri.fingerprint()) {
            return Gate::Hold;
        }
        let full = site.scope.rules().max_pages_per_cycle;
        if full.is_some_and(|max| site.cycle_pages >= max) {
            return Gate::SiteLimit;
        }
        let Some(queue) = self.queues.get(&record.host) else {
            return Gate::Hold;
        };
        let turn = i64::from(record.uri.fingerprint() as u8);
        let longest_ms = match record.visit.class.is_hub() {
            true => LONGEST_LIST_MS / 256 * (256 + turn),
            false => LONGEST_MS,
        };
        let seen_ms = record.visit.fetched_ms.unwrap_or(i64::MIN);
        if site.debt.is_too_high() && Self::is_blind(record) && now_ms < seen_ms + longest_ms {
            return Gate::Later(now_ms + record.visit.interval_ms.max(LEAST_WAIT_MS));
        }
        let pages = if queue.host.cycle_ms < site.last_cycle_ms {
            0
        } else {
            queue.host.cycle_pages
        };
        if pages >= self.config.pages_per_host_per_cycle {
            return Gate::HostLimit;
        }
        Gate::Open
    }

    /// The host had its pages: it rests until a cycle of one of its sites begins.
    pub(super) fn limit(&mut self, host: HostId, record: &UrlRecord) {
        self.note_limit(&record.site, HOST_LIMITS);
        if let Some(queue) = self.queues.get_mut(&host) {
            queue.put_down(record.id);
            queue.invalidate();
            queue.limited = true;
        }
    }

    /// Counts a URL of a site that a limit puts off to the next cycle.
    pub(super) fn note_limit(&mut self, site: &str, counter: &'static str) {
        if let Some(site) = self.sites.get_mut(site) {
            *site.unsaved.entry(counter).or_default() += 1;
        }
    }

    /// What became of a fetch: whether it was a blind recheck ([`Frontier::is_blind`]), and whether the page came whole
    /// and said nothing new.
    pub fn settle_debt(&mut self, site: &str, blind: bool, wasted: bool) {
        let Some(site) = self.sites.get_mut(site) else {
            return;
        };
        match (blind, wasted) {
            (true, false) => site.debt.refund(),
            (false, true) => site.debt.charge(),
            _ => {}
        }
    }
}
