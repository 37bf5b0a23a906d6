//! What a site may cost in rechecks for nothing. In: fetches as they begin and end. Out: whether the budget is spent.
//!
//! A page whose server sends neither `ETag` nor `Last-Modified` cannot be asked whether it has changed: it comes whole
//! each time, mostly for nothing. Such *blind* rechecks, of articles and of lists that brought nothing twice in a row (or
//! once, if nothing was ever added to them), come out of a budget: each costs one, so does any list that came whole for
//! nothing, and each fetch of the site gives a small part back. A recheck that finds a change costs nothing. While the
//! budget is spent blind rechecks wait, no article longer than a month and no list longer than a fortnight. So what is
//! fetched for nothing stays far below a tenth of all fetches, and a site whose pages do change is looked at as often as
//! any other.

use crate::store::{UrlClass, UrlRecord, UrlState};

/// What a fetch of the site gives back of one that was for nothing.
const GIVEN_BACK: f64 = 0.03;
/// Blind rechecks before a site that has changed nothing must wait: a small site is looked at whole.
const MAX_SPENT: f64 = 20.0;
/// Lists are asked for whatever they cost; what is beyond this is forgotten.
const MAX_COUNTED: f64 = 40.0;
const DAY_MS: i64 = 86_400_000;

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
