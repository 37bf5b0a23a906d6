//! Writing the log of documents. In: what happens to a document, inside an open transaction. Out: its new row, under the
//! next number; the row before it becomes history.

use std::collections::HashMap;

use super::bodies::Compressor;
use super::documents::{DocOp, GONE, NewDocument, PRESENT, REPLACED};
use super::error::Result;
use super::keys::set_meta;
use super::open::LAST_SEQ;
use super::sql::{ALL, Connection, Row, Value, list};

const LATEST: &str = "seq, state, version, first_seq, first_seen_ms, url, site";

const INSERT: &str = "INSERT INTO document (seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, ended_ms, url, site, body)";

/// The log inside an open transaction; [`Log::note_last`] ends it.
pub(super) struct Log<'a> {
    pub(super) conn: &'a Connection,
    /// Number of the last change.
    pub(super) seq: i64,
    pub(super) now_ms: i64,
    pub(super) versions: u32,
    /// What was looked up before.
    known: HashMap<u64, Option<Latest>>,
    first_seq: i64,
    /// New rows that are not written yet.
    rows: Vec<[Value; 11]>,
}

/// What the row that follows takes over from the latest one.
#[derive(Clone)]
struct Latest {
    seq: i64,
    state: i64,
    version: i64,
    first_seq: i64,
    first_seen_ms: i64,
    url: String,
    site: String,
}

impl<'a> Log<'a> {
    /// The log after change `seq`, with nothing of its history forgotten.
    pub(super) fn new(conn: &'a Connection, seq: i64, now_ms: i64) -> Self {
        Log {
            conn,
            seq,
            now_ms,
            versions: u32::MAX,
            known: HashMap::new(),
            first_seq: seq,
            rows: Vec::new(),
        }
    }

    /// Writes down what happens to a document.
    pub(super) fn put(
        &mut self,
        fingerprint: u64,
        op: &DocOp,
        compressor: &mut Compressor,
    ) -> Result<()> {
        match op {
            DocOp::Upsert(new) => self.write(fingerprint, Some((new, compressor.pack(&new.body)))),
            DocOp::Delete => self.end(fingerprint),
        }
    }

    /// Writes down that a document is gone. One that was not there is no change.
    pub(super) fn end(&mut self, fingerprint: u64) -> Result<()> {
        self.write(fingerprint, None)
    }

    fn write(&mut self, fingerprint: u64, new: Option<(&NewDocument, Vec<u8>)>) -> Result<()> {
        let before = match self.known.remove(&fingerprint) {
            Some(known) => known,
            None => self.latest(fingerprint)?,
        };
        let was_there = before.as_ref().filter(|row| row.state == PRESENT);
        let (url, site, body) = match (new, was_there) {
            (Some((new, body)), _) => (&new.url, &new.site, Some(body)),
            (None, Some(row)) => (&row.url, &row.site, None),
            (None, None) => return Ok(()),
        };
        self.seq += 1;
        if let Some(row) = &before {
            self.replace(row.seq)?;
        }
        let state = if body.is_some() { PRESENT } else { GONE };
        let ended_ms = body.is_none().then_some(self.now_ms);
        self.rows.push([
            self.seq.into(),
            fingerprint.cast_signed().into(),
            state.into(),
            before.as_ref().map_or(1, |row| row.version + 1).into(),
            was_there.map_or(self.seq, |row| row.first_seq).into(),
            before
                .as_ref()
                .map_or(self.now_ms, |row| row.first_seen_ms)
                .into(),
            self.now_ms.into(),
            ended_ms.into(),
            url.clone().into(),
            site.clone().into(),
            body.into(),
        ]);
        if before.is_some() {
            self.forget_oldest(fingerprint)?;
        }
        Ok(())
    }

    /// Writes the new rows.
    fn write_rows(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.conn.put_rows(INSERT, "", &rows)
    }

    /// Waits until no other node writes to the log, and reads how far it is. Until the end of the transaction it is this one's.
    pub(super) fn take_turn(&mut self) -> Result<()> {
        if self.conn.sqlite().is_some() {
            return Ok(());
        }
        let sql = "INSERT INTO meta (name, value) VALUES (?1, 0) ON CONFLICT (name) DO UPDATE SET value = meta.value \
                   RETURNING value";
        self.seq = self.conn.query_row(sql, [LAST_SEQ], |row| row.get(0))?;
        self.first_seq = self.seq;
        Ok(())
    }

    /// Reads the latest rows of several documents at once.
    pub(super) fn look_up(&mut self, fingerprints: &[u64]) -> Result<()> {
        if fingerprints.is_empty() {
            return Ok(());
        }
        let numbers = list(fingerprints.iter().map(|f| f.cast_signed()));
        let sql = format!(
            "SELECT {LATEST}, fingerprint FROM document WHERE fingerprint IN ({numbers}) AND state <> {REPLACED}"
        );
        let found = self.conn.query_once(&sql, |row| {
            Ok((row.get::<i64>(7)?.cast_unsigned(), Some(latest(row)?)))
        })?;
        self.known.extend(fingerprints.iter().map(|f| (*f, None)));
        self.known.extend(found);
        Ok(())
    }

    /// Writes what is not written yet and keeps the number of the last change, at the end of the transaction: it outlives its row, so
    /// that numbers never come twice.
    pub(super) fn note_last(&mut self) -> Result<()> {
        self.write_rows()?;
        match self.seq == self.first_seq {
            true => Ok(()),
            false => set_meta(self.conn, LAST_SEQ, self.seq),
        }
    }

    /// Takes a document out with all its versions: nothing of its text stays, only that it is gone.
    pub(super) fn erase(&mut self, fingerprint: u64) -> Result<()> {
        self.end(fingerprint)?;
        let sql = format!("DELETE FROM document WHERE fingerprint = ?1 AND state = {REPLACED}");
        self.conn.put(&sql, [fingerprint.cast_signed()])?;
        Ok(())
    }

    /// The latest row of a document without its body, which may fill many pages and is not needed to replace it.
    fn latest(&mut self, fingerprint: u64) -> Result<Option<Latest>> {
        self.write_rows()?;
        let sql =
            format!("SELECT {LATEST} FROM document WHERE fingerprint = ?1 AND state <> {REPLACED}");
        self.conn.row(&sql, [fingerprint.cast_signed()], latest)
    }

    fn replace(&self, seq: i64) -> Result<()> {
        let sql = format!("UPDATE document SET state = {REPLACED}, ended_ms = ?2 WHERE seq = ?1");
        self.conn.put(&sql, [seq, self.now_ms])?;
        Ok(())
    }

    fn forget_oldest(&self, fingerprint: u64) -> Result<()> {
        let sql = format!(
            "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE fingerprint = ?1 AND state = {REPLACED} \
             ORDER BY seq DESC LIMIT {ALL} OFFSET ?2)"
        );
        self.conn
            .put(&sql, [fingerprint.cast_signed(), i64::from(self.versions)])?;
        Ok(())
    }
}

fn latest(row: &Row<'_>) -> rusqlite::Result<Latest> {
    Ok(Latest {
        seq: row.get(0)?,
        state: row.get(1)?,
        version: row.get(2)?,
        first_seq: row.get(3)?,
        first_seen_ms: row.get(4)?,
        url: row.get(5)?,
        site: row.get(6)?,
    })
}
