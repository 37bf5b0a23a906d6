//! The present documents of a store in PostgreSQL as a file of this machine, so that it answers searches by itself: quicker than
//! with a question to the database for each hit, and also while the database is away. In: the log of the database. Out: a file with
//! the tables of a store, of which only those of documents have rows. It may be lost: it is made again from the log.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use rusqlite::OpenFlags;

use super::documents::{DocumentRow, GONE, PRESENT};
use super::error::{Result, StoreError};
use super::keys::{meta, set_meta};
use super::open::{DATABASE, FORGOTTEN_SEQ, LAST_SEQ, Reader, configure};
use super::place::StorePlace;
use super::sql::{self, Connection, params};
use super::{bodies, schema};

/// The identity of the store that it is a copy of.
const STORE_ID: &str = "store_id";

/// A copy of the documents, and the store that they come from.
#[derive(Debug)]
pub struct DocumentCopy {
    source: Reader,
    file: Reader,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Changes that were taken in just now.
    pub changes: usize,
    /// Number of the last change that the copy has.
    pub seq: i64,
    /// Number of the last change that the store has.
    pub last_seq: i64,
}

impl DocumentCopy {
    /// Opens the copy that belongs to this store ([`StorePlace::copy`]), or begins one: where there is none, or one of another store
    /// or history, or one that is damaged. The store is asked, once.
    pub fn open(place: &StorePlace) -> Result<Self> {
        let source = Reader::open(place)?;
        source.set_patience(std::time::Duration::ZERO);
        let store_id = source.store_id()?;
        let at = place.copy();
        let file = match open_file(&at) {
            Ok(file) if file.store_id()? == store_id || file.last_document_seq()? == 0 => file,
            Err(error) if !matches!(error, StoreError::Damaged { .. }) => return Err(error),
            other => {
                match other {
                    Ok(_) => tracing::warn!("the copy of the documents is of another store"),
                    Err(error) => tracing::error!("{error}; it is a copy, which is made again"),
                }
                fs::remove_dir_all(at.dir()).map_err(|e| StoreError::io(at.dir(), e))?;
                open_file(&at)?
            }
        };
        set_meta(&file.conn, STORE_ID, store_id)?;
        Ok(DocumentCopy { source, file })
    }

    /// Takes in at most `limit` of the changes that the copy lacks: durable and to be read afterwards.
    pub fn take(&mut self, limit: usize) -> Result<Copied> {
        let last_seq = self.source.last_document_seq()?;
        let mut copied = Copied {
            changes: 0,
            seq: self.file.last_document_seq()?,
            last_seq,
        };
        if copied.seq >= last_seq {
            return Ok(copied);
        }
        let rows = self.source.documents_after(copied.seq, limit)?;
        let forgotten = self.source.forgotten_seq()?;
        self.take_dictionaries(&rows)?;
        copied.changes = rows.len();
        // The last changes of all may be versions that were replaced since.
        copied.seq = match rows.last() {
            Some(row) if rows.len() == limit => row.seq,
            Some(row) => row.seq.max(last_seq),
            None => last_seq,
        };
        self.file.write(|tx| {
            for row in &rows {
                put(tx, row)?;
            }
            if forgotten > meta(tx, FORGOTTEN_SEQ)? {
                let sql = format!("DELETE FROM document WHERE state = {GONE} AND seq <= ?1");
                tx.execute(&sql, [forgotten])?;
                set_meta(tx, FORGOTTEN_SEQ, forgotten)?;
            }
            set_meta(tx, LAST_SEQ, copied.seq)
        })?;
        Ok(copied)
    }

    /// Copies the dictionaries that the bodies of these rows need.
    fn take_dictionaries(&self, rows: &[DocumentRow]) -> Result<()> {
        let mut needed: Vec<NonZeroU32> = rows.iter().filter_map(bodies::dictionary_of).collect();
        needed.sort_unstable();
        needed.dedup();
        for id in needed {
            let known =
                self.file
                    .row("SELECT 1 FROM dictionary WHERE id = ?1", [id.get()], |_| {
                        Ok(())
                    })?;
            if known.is_some() {
                continue;
            }
            let sql = "SELECT made_at, data FROM dictionary WHERE id = ?1";
            let read = |row: &sql::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?));
            if let Some((made_at, data)) = self.source.row(sql, [id.get()], read)? {
                let sql = "INSERT INTO dictionary (id, made_at, data) VALUES (?1, ?2, ?3)";
                let values = params![id.get(), made_at, data];
                self.file.conn.execute(sql, values)?;
            }
        }
        Ok(())
    }
}

/// Puts a row in the place of what the copy has of the document.
fn put(tx: &Connection, row: &DocumentRow) -> Result<()> {
    let fingerprint = row.fingerprint.cast_signed();
    tx.put(
        "DELETE FROM document WHERE fingerprint = ?1 AND state <> 1",
        [fingerprint],
    )?;
    let (state, ended_ms) = match row.body {
        Some(_) => (PRESENT, None),
        None => (GONE, Some(row.changed_ms)),
    };
    tx.put("INSERT INTO document (seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, ended_ms, url, site, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", params![
        row.seq,
        fingerprint,
        state,
        row.version,
        row.first_seq,
        row.first_seen_ms,
        row.changed_ms,
        ended_ms,
        row.url,
        row.site,
        row.body.as_ref().map(|body| &body.0),
    ])
}

/// The file, with its tables.
fn open_file(at: &StorePlace) -> Result<Reader> {
    fs::create_dir_all(at.dir()).map_err(|e| StoreError::io(at.dir(), e))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let file = Reader::connect(at, flags)?;
    schema::version(&file.conn)?;
    configure(&file.conn)?;
    schema::create(&file.conn)?;
    // What a loss of power takes is taken in again.
    file.conn.run_script("PRAGMA synchronous = normal")?;
    Ok(file)
}

/// Whether there is a copy at all.
pub(super) fn is_there(at: &Path) -> bool {
    at.join(DATABASE).exists()
}
