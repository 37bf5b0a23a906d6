//! What a page was before its visit: what its counters and its document depend on. In: its row. Out: [`Before`].

use super::record::{SiteId, UrlState, Visit};
use super::sql::Row;

/// What a page was before its visit.
pub(super) struct Before {
    pub(super) site: SiteId,
    pub(super) state: UrlState,
    pub(super) documented: bool,
    pub(super) content: Option<i64>,
    pub(super) fetched_ms: Option<i64>,
    pub(super) confirmed_ms: Option<i64>,
}

impl Before {
    /// The columns that [`read`](Self::read) reads.
    pub(super) const COLUMNS: &str =
        "site_id, state, documented, content, fetched_ms, confirmed_ms";

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Before {
            site: row.get(0)?,
            state: row.get(1)?,
            documented: row.get(2)?,
            content: row.get(3)?,
            fetched_ms: row.get(4)?,
            confirmed_ms: row.get(5)?,
        })
    }

    /// What the page is to be after a visit.
    pub(super) fn after(site: SiteId, visit: &Visit) -> Self {
        Before {
            site,
            state: visit.state,
            documented: visit.documented,
            content: visit.content.map(u64::cast_signed),
            fetched_ms: visit.fetched_ms,
            confirmed_ms: visit.confirmed_ms,
        }
    }

    /// What its document, if it has one, adds to counters of its site: documents, the sum of the times at which they were
    /// confirmed, in seconds (in milliseconds the sum of ten million would overflow), and how many their last visit did not show.
    pub(super) fn counted(&self) -> [(&'static str, i64); 3] {
        let number = |n: i64| if self.documented { n } else { 0 };
        [
            ("documents", number(1)),
            (
                "checked_s",
                number(self.confirmed_ms.unwrap_or_default() / 1000),
            ),
            (
                "unconfirmed",
                number(i64::from(self.confirmed_ms < self.fetched_ms)),
            ),
        ]
    }
}
