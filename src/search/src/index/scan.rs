//! Every document that fits, one after the other. In: a [`Query`] and the [`Watermark`] of an earlier run. Out: the
//! documents that came or changed since then, in no order, and the watermark to go on from. Never holds more than one
//! block of documents, whatever their number.

use serde::{Deserialize, Serialize};
use tantivy::collector::TopDocs;
use tantivy::query::EnableScoring;
use tantivy::{DocSet, Order, Searcher, SegmentReader, TERMINATED};

use super::IndexError;
use super::query::Query;
use super::reader::Reader;
use super::schema::{FETCHED_FIELD, SEQ_FIELD};
use super::source::StoredDocument;

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
}

impl Reader {
    /// Where the index stands: a scan after this gives only what comes later.
    pub fn watermark(&self) -> Result<Watermark, IndexError> {
        let searcher = self.searcher()?;
        self.reached(&searcher, Watermark::default())
    }

    /// Calls `each` with every document that fits and came after `after`, until it returns false; then the
    /// watermark stays. Limit, offset and order of the query do not matter.
    pub fn scan(
        &self,
        query: &Query,
        after: Watermark,
        mut each: impl FnMut(StoredDocument) -> bool,
    ) -> Result<Watermark, IndexError> {
        self.affordable(query)?;
        let searcher = self.searcher()?;
        let built = self.build(&searcher, query);
        let weight = built
            .weight(EnableScoring::disabled_from_searcher(&searcher))
            .map_err(|e| self.failed(e))?;
        for (ordinal, segment) in (0..).zip(searcher.segment_readers()) {
            let mut fitting = weight.scorer(segment, 1.0).map_err(|e| self.failed(e))?;
            let fresh = self.fresh(segment, after)?;
            let mut id = fitting.doc();
            while id != TERMINATED {
                if !segment.is_deleted(id) && fresh(id) {
                    let at = tantivy::DocAddress::new(ordinal, id);
                    if let Some(stored) = self.load(&searcher, at)?
                        && !each(stored)
                    {
                        return Ok(after);
                    }
                }
                id = fitting.advance();
            }
        }
        self.reached(&searcher, after)
    }

    /// The documents that fit and came last, latest first.
    pub fn latest(&self, query: &Query, limit: usize) -> Result<Vec<StoredDocument>, IndexError> {
        self.affordable(query)?;
        let searcher = self.searcher()?;
        let order = TopDocs::with_limit(limit.clamp(1, Query::MAX_LIMIT))
            .order_by_fast_field::<i64>(FETCHED_FIELD, Order::Desc);
        let built = self.build(&searcher, query);
        let found = searcher.search(built.as_ref(), &query.stop.with(order));
        found
            .map_err(|e| self.failed(e))?
            .into_iter()
            .filter_map(|(_, at)| self.load(&searcher, at).transpose())
            .collect()
    }

    /// Tells the documents of a segment that came after `after`, without loading them.
    fn fresh(
        &self,
        segment: &SegmentReader,
        after: Watermark,
    ) -> Result<impl Fn(u32) -> bool, IndexError> {
        let columns = segment.fast_fields();
        let seqs = columns.u64(SEQ_FIELD).map_err(|e| self.failed(e))?;
        let times = columns.i64(FETCHED_FIELD).map_err(|e| self.failed(e))?;
        Ok(move |id| {
            let (seq, time) = (seqs.first(id), times.first(id));
            after.is_before(seq.unwrap_or_default(), time.unwrap_or_default())
        })
    }

    fn reached(&self, searcher: &Searcher, from: Watermark) -> Result<Watermark, IndexError> {
        let mut reached = from;
        for segment in searcher.segment_readers() {
            let columns = segment.fast_fields();
            let seqs = columns.u64(SEQ_FIELD).map_err(|e| self.failed(e))?;
            let times = columns.i64(FETCHED_FIELD).map_err(|e| self.failed(e))?;
            if segment.max_doc() > 0 {
                reached.seq = reached.seq.max(seqs.max_value());
                reached.fetched_ms = reached.fetched_ms.max(times.max_value());
            }
        }
        Ok(reached)
    }
}
