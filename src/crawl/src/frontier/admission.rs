//! Whether a due URL is worth a fetch now. In: its record, its site, what was spent. Out: yes, not in this cycle, or when.
//! A recheck that cannot be asked for conditionally waits while the budget of its site is spent.
//!
//! What a site may cost in rechecks for nothing. In: fetches as they begin and end. Out: whether the budget is spent.
//!
//! A page whose server sends neither `ETag` nor `Last-Modified` cannot be asked whether it has changed: it comes whole
//! each time, mostly for nothing. Such *blind* rechecks, of articles and of lists that brought nothing twice in a row (or
//! once, if nothing was ever added to them), come out of a budget: each costs one, so does any list that came whole for
//! nothing, and each fetch of the site gives a small part back. A recheck that finds a change costs nothing. While the
//! budget is spent blind rechecks wait, no article longer than a month and no list longer than a fortnight. So what is
//! fetched for nothing stays far below a tenth of all fetches, and a site whose pages do change is looked at as often as
//! any other.

use super::Frontier;
use super::sites::HOST_LIMITS;
use crate::store::{DueUrl, HELD_MS, HostId, UrlClass, UrlId, UrlRecord, UrlState};

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

/// What a fetch of the site gives back of one that was for nothing.
const GIVEN_BACK: f64 = 0.03;
/// Blind rechecks before a site that has changed nothing must wait: a small site is looked at whole.
const MAX_SPENT: f64 = 20.0;
/// Lists are asked for whatever they cost; what is beyond this is forgotten.
const MAX_COUNTED: f64 = 40.0;

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

/// What blind rechecks of a site have cost, as far as it was not given back.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Budget {
    pub(super) spent: f64,
    /// Every known article is asked for, whatever it costs.
    pub(super) waived: bool,
}

impl Budget {
    pub(super) fn is_spent(&self) -> bool {
        !self.waived && self.spent >= MAX_SPENT
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self, record: &UrlRecord) {
        self.spent = (self.spent - GIVEN_BACK).max(0.0);
        if is_blind(record) {
            self.charge();
        }
    }

    pub(super) fn charge(&mut self) {
        self.spent = (self.spent + 1.0).min(MAX_COUNTED);
    }

    /// A blind recheck found something, or did not take place.
    pub(super) fn refund(&mut self) {
        self.spent = (self.spent - 1.0).max(0.0);
    }
}
