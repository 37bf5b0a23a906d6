//! Documents that an older version kept in the search index only, on their way into the log. In: such documents. Out: rows
//! of the log, each once, however often it is broken off.

use super::sql::{self, Connection, Optional, params};

use super::documents::NewDocument;
use super::error::StoreError;
use super::keys::set_meta;
use super::open::{LAST_SEQ, Reader, Store};

/// That nothing is kept elsewhere any more.
const ALL_DOCUMENTS: &str = "all_documents";

/// A document that was kept elsewhere before the store had a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldDocument {
    /// Key of the document.
    pub fingerprint: u64,
    /// Number that it had, if it is free.
    pub seq: i64,
    /// When its page was fetched, Unix milliseconds.
    pub fetched_ms: i64,
    /// The document.
    pub document: NewDocument,
}

impl Reader {
    /// Whether all documents are in the log, also those that an older version kept elsewhere.
    pub fn has_all_documents(&self) -> Result<bool, StoreError> {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        let all = self.row(sql, [ALL_DOCUMENTS], |row| row.get::<i64>(0))?;
        Ok(all.is_some())
    }
}

impl Store {
    /// Takes documents into the log that were kept elsewhere before. What the log has a row of stays as it is.
    pub fn take_over(&mut self, documents: &[OldDocument]) -> Result<(), StoreError> {
        self.renew_dictionary()?;
        let mut seq = self.document_seq;
        let mut compressor = std::mem::take(&mut self.compressor);
        let mut write = |conn: &Connection, seq: &mut i64| -> sql::Result<()> {
            let tx = conn.transaction()?;
            for old in documents {
                let taken = tx
                    .prepare_cached("SELECT 1 FROM document WHERE seq = ?1")?
                    .query_row([old.seq], |_| Ok(()))
                    .optional()?
                    .is_some();
                let has_own = !taken && (1..=*seq).contains(&old.seq);
                let number = if has_own { old.seq } else { *seq + 1 };
                let new = &old.document;
                let added = tx
                    .prepare_cached(
                        "INSERT INTO document (seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, \
                         url, site, body) VALUES (?1, ?2, 0, 1, ?1, ?3, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                    )?
                    .execute(params![
                        number,
                        old.fingerprint.cast_signed(),
                        old.fetched_ms,
                        new.url,
                        new.site,
                        compressor.pack(&new.body),
                    ])?;
                if added > 0 {
                    *seq = number.max(*seq);
                }
            }
            set_meta(&tx, LAST_SEQ, *seq)?;
            tx.commit()
        };
        let written = write(&self.conn, &mut seq);
        self.compressor = compressor;
        written.map_err(|e| self.fail(e))?;
        self.document_seq = seq;
        Ok(())
    }

    /// Notes that they are.
    pub fn set_has_all_documents(&mut self) -> Result<(), StoreError> {
        self.write(|tx| set_meta(tx, ALL_DOCUMENTS, 1))
    }
}
