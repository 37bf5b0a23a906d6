//! Every document that fits, one after the other. In: a [`Query`] and the [`Watermark`] of an earlier run. Out: the
//! documents that came or changed since then, in no order, and the watermark to go on from. Never holds more than one
//! block of documents, whatever their number.

use super::IndexError;
use super::query::Query;
use super::reader::Reader;
use super::search::Search;
use super::stored::StoredDocument;
use super::view::{Order, Wanted};
use serde::{Deserialize, Serialize};

/// How far an earlier run came. A document that is written or changed later has a higher number in the outbox, or, if
/// it was imported, a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watermark {
    /// Highest number in the outbox.
    pub seq: u64,
    /// Latest time at which a document was fetched or imported, Unix milliseconds.
    pub fetched_ms: i64,
}

impl Watermark {
    /// Whether a document came or changed after this.
    pub fn is_before(&self, seq: u64, fetched_ms: i64) -> bool {
        seq > self.seq || fetched_ms > self.fetched_ms
    }

    fn max(self, other: Self) -> Self {
        Self {
            seq: self.seq.max(other.seq),
            fetched_ms: self.fetched_ms.max(other.fetched_ms),
        }
    }
}

impl Reader {
    /// Where the index stands: a scan after this gives only what comes later.
    pub fn watermark(&self) -> Result<Watermark, IndexError> {
        self.view()?.watermark()
    }

    /// Calls `each` with every document that fits and came after `after`, until it returns false; then the
    /// watermark stays. Limit, offset and order of the query do not matter.
    pub fn scan(
        &self,
        query: &Query,
        after: Watermark,
        mut each: impl FnMut(StoredDocument) -> bool,
    ) -> Result<Watermark, IndexError> {
        let view = self.view()?;
        let plan = Search::new(self, view.as_ref(), query)?.plan;
        // Before the documents: what comes meanwhile is for the next run.
        let newest = view.watermark()?;
        let all = view.each(&plan, Some(after), &mut |at| {
            let stored = self.load(view.as_ref(), at)?;
            Ok(stored.is_none_or(&mut each))
        })?;
        Ok(match all {
            true => after.max(newest),
            false => after,
        })
    }

    /// The documents that fit and came last, latest first.
    pub fn latest(&self, query: &Query, limit: usize) -> Result<Vec<StoredDocument>, IndexError> {
        let view = self.view()?;
        let plan = Search::new(self, view.as_ref(), query)?.plan;
        let wanted = Wanted {
            order: Order::Fetched,
            range: 0..limit.clamp(1, Query::MAX_LIMIT),
            counts: false,
            utc_offset_minutes: 0,
            stop: &query.stop,
        };
        let latest = view.rank(&plan, &wanted)?.documents;
        let latest = latest.into_iter();
        latest
            .filter_map(|ranked| self.load(view.as_ref(), ranked.at).transpose())
            .collect()
    }
}
