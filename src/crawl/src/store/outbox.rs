//! Documents on their way to the index. In: a sequence number. Out: the rows after it. Rows are written by
//! [`Store::commit`](super::Store::commit) and trimmed there; the indexer upserts by fingerprint, so that reading a row twice does no harm.

use super::batch::DocOp;
use super::error::StoreError;
use super::open::Reader;

/// One row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Rises by one from row to row, never comes twice, also not after trimming.
    pub seq: i64,
    /// Key of the document.
    pub fingerprint: u64,
    /// What to do.
    pub op: DocOp,
}

impl Reader {
    /// At most `limit` rows after `seq`, in order.
    pub fn outbox_after(&self, seq: i64, limit: usize) -> Result<Vec<OutboxRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT seq, fingerprint, doc FROM outbox WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        self.rows(sql, [seq, limit], |row| {
            Ok(OutboxRow {
                seq: row.get(0)?,
                fingerprint: row.get::<_, i64>(1)?.cast_unsigned(),
                op: row
                    .get::<_, Option<Vec<u8>>>(2)?
                    .map_or(DocOp::Delete, DocOp::Upsert),
            })
        })
    }

    /// How many rows stand after `seq`. Rows up to what the index has committed may still be there: they are trimmed
    /// together with the next page.
    pub fn outbox_count_after(&self, seq: i64) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM outbox WHERE seq > ?1";
        self.conn
            .query_row(sql, [seq], |row| row.get(0))
            .map_err(|e| self.fail(e))
    }

    /// Number of the last row ever written; 0 if none was.
    pub fn last_outbox_seq(&self) -> Result<i64, StoreError> {
        self.conn
            .query_row(
                "SELECT coalesce(max(value), 0) FROM meta WHERE name = 'outbox_seq'",
                [],
                |row| row.get(0),
            )
            .map_err(|e| self.fail(e))
    }
}
