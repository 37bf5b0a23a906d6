//! The log of documents: the one place where they are kept. In: what a visit says of a document, under a number that
//! rises with each change and never comes twice. Out: the changes after a number, the present document, the versions
//! before it. The search index and everything else that follows documents is derived from it, by the number that each
//! has reached.
//!
//! Each version is a row that is written once. The latest row of a document is its present text, or says that it is
//! gone; the rows before it are its history, and the only thing that is ever forgotten ([`Retention`]).

use super::bodies::PackedBody;
use super::error::Result;
use super::keys::{meta, set_meta};
use super::open::{FORGOTTEN_SEQ, LAST_SEQ, Reader, Store};
use super::record::Retention;
use super::sql::{self, Connection, NONE, Row, stored};

/// Rows looked at in one step of forgetting, so that no transaction is long.
const FORGOTTEN_AT_ONCE: i64 = 500;

const DAY_MS: i64 = 86_400_000;

/// State of a row: the present version, a version before it, or that the document is gone.
pub(super) const PRESENT: i64 = 0;
pub(super) const REPLACED: i64 = 1;
pub(super) const GONE: i64 = 2;

pub(super) const COLUMNS: &str =
    "seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, url, site, body";

/// A random number in PostgreSQL, whose own `random()` is a fraction.
const RANDOM: &str =
    "SELECT ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16))::bit(64)::bigint";

/// What happens to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocOp {
    /// It is new, or says something else.
    Upsert(NewDocument),
    /// It is gone.
    Delete,
}

/// A document as it goes into the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// Its address; empty for one that came from a file without an address.
    pub url: String,
    /// The name of its site; empty for one that came from none.
    pub site: String,
    /// The document in the program's own encoding. The store makes it smaller and never looks inside.
    pub body: Vec<u8>,
}

stored!(Change);

words! {
/// What a row of the log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Change {
    /// A document that was not there before.
    New => "new",
    /// A document that was there says something else.
    Changed => "changed",
    /// A document is gone.
    #[default]
    Deleted => "deleted",
}
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRow {
    /// Number of the change: rises from change to change, never comes twice.
    pub seq: i64,
    /// Key of the document.
    pub fingerprint: u64,
    /// 1 for the first version of a document, one more with each change. Being gone counts as one.
    pub version: i64,
    /// Number of the change that made it a document, the first time or after it was gone.
    pub first_seq: i64,
    /// When it became a document for the first time, Unix milliseconds.
    pub first_seen_ms: i64,
    /// When this change was found, Unix milliseconds.
    pub changed_ms: i64,
    /// Its address; empty for one that came from a file without an address.
    pub url: String,
    /// The name of its site; empty for one that came from none.
    pub site: String,
    /// The document, which [`Reader::body`] unpacks; none where this row says that it is gone.
    pub body: Option<PackedBody>,
}

impl DocumentRow {
    /// What happened for someone who has seen all changes up to `since`.
    pub fn change_since(&self, since: i64) -> Change {
        match &self.body {
            None => Change::Deleted,
            Some(_) if self.first_seq > since => Change::New,
            Some(_) => Change::Changed,
        }
    }
}

/// A document as it is, or as it was last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastKnown {
    /// Its latest row.
    pub row: DocumentRow,
    /// The last body that it had, if it is kept.
    pub body: Option<Vec<u8>>,
}

impl Reader {
    /// At most `limit` changes after number `seq`, in order; of a document that changed several times the last only.
    pub fn documents_after(&self, seq: i64, limit: usize) -> Result<Vec<DocumentRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM document WHERE seq > ?1 AND state <> {REPLACED} ORDER BY seq LIMIT ?2"
        );
        self.rows(&sql, [seq, sql::limit(limit)], read)
    }

    /// The latest row of a document: its present version, or that it is gone.
    pub fn document(&self, fingerprint: u64) -> Result<Option<DocumentRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM document WHERE fingerprint = ?1 AND state <> {REPLACED}"
        );
        self.row(&sql, [fingerprint.cast_signed()], read)
    }

    /// The row with this number, also of a version that was replaced; none once it is forgotten.
    pub fn document_version(&self, seq: i64) -> Result<Option<DocumentRow>> {
        let sql = format!("SELECT {COLUMNS} FROM document WHERE seq = ?1");
        self.row(&sql, [seq], read)
    }

    /// All rows of a document that are kept, the latest first.
    pub fn document_history(&self, fingerprint: u64) -> Result<Vec<DocumentRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM document WHERE fingerprint = ?1 AND state = {REPLACED} ORDER BY seq DESC"
        );
        let mut rows: Vec<_> = self.document(fingerprint)?.into_iter().collect();
        rows.extend(self.rows(&sql, [fingerprint.cast_signed()], read)?);
        Ok(rows)
    }

    /// What is known of a document, also of one that is gone; none where nothing is.
    pub fn last_known(&self, fingerprint: u64) -> Result<Option<LastKnown>> {
        let history = self.document_history(fingerprint)?;
        let with_body = history.iter().find(|row| row.body.is_some());
        // One that is damaged is as good as forgotten.
        let body = with_body.and_then(|row| self.body(row).ok()?);
        Ok(history
            .into_iter()
            .next()
            .map(|row| LastKnown { row, body }))
    }

    /// How many documents change after number `seq`.
    pub fn documents_waiting(&self, seq: i64) -> Result<i64> {
        let sql = format!("SELECT count(*) FROM document WHERE seq > ?1 AND state <> {REPLACED}");
        let waiting = self.row(&sql, [seq], |row| row.get(0))?;
        Ok(waiting.unwrap_or_default())
    }

    /// A number that no other store has: what is derived from this one carries it too.
    pub fn store_id(&self) -> Result<i64> {
        let sql = "SELECT value FROM meta WHERE name = 'store_id'";
        Ok(self.row(sql, NONE, |row| row.get(0))?.unwrap_or_default())
    }
}

impl Store {
    /// How long the history of documents is kept from now on.
    pub fn set_retention(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// For a store that was set back, for example to a backup: what was made of its later changes is of another store from
    /// now on, and none of the numbers up to `seq` comes again.
    pub fn begin_new_history(&mut self, seq: i64) -> Result<()> {
        self.document_seq = new_history(&self.conn, seq.max(self.document_seq))?;
        Ok(())
    }

    /// Forgets some of what is older than the [`Retention`] allows, in a short transaction. Gives how many rows went: call
    /// it again soon where that is not 0.
    pub fn forget_old_documents(&mut self, now_ms: i64) -> Result<usize> {
        let retention = self.retention;
        let before = |days: u32| now_ms.saturating_sub(i64::from(days).saturating_mul(DAY_MS));
        let (versions_ms, ends_ms) = (
            before(retention.version_days),
            before(retention.tombstone_days),
        );
        self.write(|tx| {
            let versions = forget(tx, REPLACED, versions_ms)?;
            let ends = forget(tx, GONE, ends_ms)?;
            if let Some(last) = ends.iter().max() {
                set_meta(tx, FORGOTTEN_SEQ, meta(tx, FORGOTTEN_SEQ)?.max(*last))?;
            }
            Ok(versions.len() + ends.len())
        })
    }
}

/// Gives the store a new identity and has the next change come after number `seq`. Gives the number of the last change.
pub(super) fn new_history(conn: &Connection, seq: i64) -> Result<i64> {
    let tx = conn.transaction()?;
    let seq = seq.max(meta(&tx, LAST_SEQ)?);
    let random = match tx.sqlite() {
        Some(_) => "SELECT random()",
        None => RANDOM,
    };
    let id: i64 = tx.query_row(random, NONE, |row| row.get(0))?;
    set_meta(&tx, "store_id", id)?;
    set_meta(&tx, LAST_SEQ, seq)?;
    tx.commit()?;
    Ok(seq)
}

/// Deletes some rows in this state that ended before `before_ms`, and gives their numbers.
fn forget(conn: &Connection, state: i64, before_ms: i64) -> Result<Vec<i64>> {
    let sql = format!(
        "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE state = {state} AND ended_ms < ?1 \
         LIMIT {FORGOTTEN_AT_ONCE}) RETURNING seq"
    );
    conn.rows(&sql, [before_ms], |row| row.get(0))
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let state: i64 = row.get(2)?;
    let body: Option<Vec<u8>> = row.get(9)?;
    Ok(DocumentRow {
        seq: row.get(0)?,
        fingerprint: row.get::<i64>(1)?.cast_unsigned(),
        version: row.get(3)?,
        first_seq: row.get(4)?,
        first_seen_ms: row.get(5)?,
        changed_ms: row.get(6)?,
        url: row.get(7)?,
        site: row.get(8)?,
        body: body.filter(|_| state != GONE).map(PackedBody),
    })
}
