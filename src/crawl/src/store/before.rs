//! What a page was before its visit: what its counters and its document depend on. In: its row. Out: [`Before`].

use super::record::SiteId;
use super::sql::{self, Row};

/// What a page was before its visit.
pub(super) struct Before {
    pub(super) site: SiteId,
    pub(super) state: i64,
    pub(super) documented: bool,
    pub(super) content: Option<i64>,
    pub(super) fetched_ms: Option<i64>,
}

impl Before {
    pub(super) fn read(row: &Row<'_>) -> sql::Result<Self> {
        Ok(Before {
            site: row.get(0)?,
            state: row.get(1)?,
            documented: row.get(2)?,
            content: row.get(3)?,
            fetched_ms: row.get(4)?,
        })
    }
}

/// What a document adds to the sum of times at which documents were looked at, in seconds: in milliseconds the sum of
/// ten million would overflow.
pub(super) fn checked_s(documented: bool, fetched_ms: Option<i64>) -> i64 {
    fetched_ms.filter(|_| documented).unwrap_or_default() / 1000
}
