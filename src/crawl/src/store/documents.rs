//! The log of documents: the one place where they are kept. What a visit says of a document gets a number that rises with each
//! change and never comes twice. The search index and everything else that follows documents is derived from it, by the number
//! that each has reached.
//!
//! Each version is a row that is written once. The latest row of a document is its present text, or says that it is
//! gone; the rows before it are its history, and the only thing that is ever forgotten ([`Retention`]).
//!
//! A copy of the documents somewhere else follows the log by a [`Cursor`]: the changes after it and the next cursor, or why no
//! list of changes can bring this copy up to date any more. A copy that takes in every answer is the same as the store, whenever
//! it asks. Two things can make such a list incomplete. The end of a document is remembered for so long only: the store notes the
//! highest number that it has forgotten so. And a store that was set back to a backup goes on with another history: it has a new
//! id.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, DDict};

use super::backup::beyond;
use super::error::{Result, StoreError};
use super::keys::{meta, set_meta};
use super::open::{FORGOTTEN_SEQ, LAST_SEQ, Reader, Store};
use super::record::Retention;
use super::sql::{self, ALL, Connection, NONE, Row, Value, list, params, stored};
use crate::DAY_MS;

/// Rows looked at in one step of forgetting, so that no transaction is long.
const FORGOTTEN_AT_ONCE: i64 = 500;

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

/// Which store it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreIdentity {
    /// A number that no other store has.
    pub id: i64,
    /// Numbers of the stores whose place it took, in no order: what was made from them can be made again from this one.
    pub replaced: Vec<i64>,
}

/// Names of the numbers in [`StoreIdentity::replaced`] begin so.
pub(super) const REPLACED_STORE: &str = "replaced_store_";

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

    /// How many documents there are.
    pub fn present_documents(&self) -> Result<u64> {
        // Both parts are answered by an index alone; a count of the present rows would read all bodies.
        let sql = format!(
            "SELECT (SELECT count(*) FROM document WHERE state <> {REPLACED}) \
             - (SELECT count(*) FROM document WHERE state = {GONE} AND ended_ms IS NOT NULL)"
        );
        let count: Option<i64> = self.row(&sql, NONE, |row| row.get(0))?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }

    /// Fingerprint and number of each document whose last change is after number `after` and not after `until`, in order.
    pub fn present_between(&self, after: u64, until: u64) -> Result<Vec<(u64, u64)>> {
        let sql = format!(
            "SELECT fingerprint, seq FROM document WHERE seq > ?1 AND seq <= ?2 AND state = {PRESENT} ORDER BY seq"
        );
        let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        self.rows(&sql, [number(after), number(until)], |row| {
            let (fingerprint, seq): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok((fingerprint.cast_unsigned(), seq.unsigned_abs()))
        })
    }

    /// Which store this is: what is derived from it carries its number too.
    pub fn identity(&self) -> Result<StoreIdentity> {
        let sql = format!("SELECT value FROM meta WHERE name LIKE '{REPLACED_STORE}%'");
        Ok(StoreIdentity {
            id: meta(&self.conn, "store_id")?,
            replaced: self.rows(&sql, NONE, |row| row.get(0))?,
        })
    }

    /// At most `limit` changes after number `seq`, in order, as if their documents were gone: also of rows whose bodies lie in a damaged
    /// page of the database.
    pub fn documents_after_without_bodies(
        &self,
        seq: i64,
        limit: usize,
    ) -> Result<Vec<DocumentRow>> {
        let columns = COLUMNS.replace(", body", ", NULL");
        let sql = format!(
            "SELECT {columns} FROM document WHERE seq > ?1 AND state <> {REPLACED} ORDER BY seq LIMIT ?2"
        );
        self.rows(&sql, [seq, sql::limit(limit)], read)
    }

    /// A number behind the damaged part of the log that begins after number `seq`; none where nothing more can be read.
    pub fn beyond_damage(&self, seq: i64) -> Option<i64> {
        beyond(self.conn.sqlite()?, "document", seq)
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
        let replaced = [self.identity()?.id];
        self.document_seq = new_history(&self.conn, seq.max(self.document_seq), &replaced)?;
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

/// Gives the store a new identity, in the place of the `replaced` ones, and has the next change come after number `seq`. Returns the
/// number of the last change.
pub(super) fn new_history(conn: &Connection, seq: i64, replaced: &[i64]) -> Result<i64> {
    let tx = conn.transaction()?;
    let seq = seq.max(meta(&tx, LAST_SEQ)?);
    let random = match tx.sqlite() {
        Some(_) => "SELECT random()",
        None => RANDOM,
    };
    let id: i64 = tx.query_row(random, NONE, |row| row.get(0))?;
    for old in replaced {
        set_meta(&tx, &format!("{REPLACED_STORE}{old:x}"), *old)?;
    }
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
        if self.seq == self.first_seq {
            Ok(())
        } else {
            set_meta(self.conn, LAST_SEQ, self.seq)
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

/// How far someone has followed the log. As text it is a number alone, or `STORE-SEQ` or `STORE-SEQ-BEGAN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// [`Reader::store_id`] of the history it belongs to; none: not known, and not checked.
    pub store: Option<i64>,
    /// All changes up to this number are known.
    pub seq: i64,
    /// Number of the last change when the first, whole list began, while `seq` is below it: what was gone by then was
    /// never in the copy. 0 afterwards.
    pub began: i64,
}

/// Why no list of changes can bring a copy up to date: it must be rebuilt, from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorLost {
    /// Of another store, or of this one before it was set back to a backup.
    #[error("it belongs to another history: the store was replaced or restored from a backup")]
    OtherHistory,
    /// Documents have gone since, and which ones is not remembered any more.
    #[error(
        "it is too old: the store has forgotten which documents have gone since then (documents.keep_deleted_days)"
    )]
    TooOld,
}

/// Some changes, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// Where to go on.
    pub next: Cursor,
    /// Whether there are more changes already.
    pub more: bool,
    /// Number of the last change ever made.
    pub last_seq: i64,
}

impl Cursor {
    /// The same for whoever has seen everything up to `seq`.
    pub fn at(store: i64, seq: i64) -> Self {
        Cursor {
            store: Some(store),
            seq,
            began: 0,
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(store) = self.store {
            write!(f, "{:016x}-", store.cast_unsigned())?;
        }
        write!(f, "{}", self.seq)?;
        match self.began {
            0 => Ok(()),
            began => write!(f, "-{began}"),
        }
    }
}

/// It is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write 0, a number of a change, or the cursor of an answer")]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let number = |digits: &str| {
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse::<i64>().ok().filter(|_| plain).ok_or(NoCursor)
        };
        let Some((store, rest)) = text.split_once('-') else {
            return Ok(Cursor {
                seq: number(text)?,
                ..Cursor::default()
            });
        };
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let id = u64::from_str_radix(store, 16).ok();
        let id = id.filter(|_| store.len() == 16 && store.bytes().all(hex));
        let (seq, began) = rest.split_once('-').unwrap_or((rest, "0"));
        Ok(Cursor {
            store: Some(id.ok_or(NoCursor)?.cast_signed()),
            seq: number(seq)?,
            began: number(began)?,
        })
    }
}

impl Reader {
    /// Calls `each` with the changes after `cursor` in order, of a document that changed several times with the last only,
    /// until there are `limit` or it returns false; the change it was called with then still counts. From number 0 on
    /// these are the present documents alone. All of it is of one moment.
    pub fn follow(
        &self,
        cursor: &Cursor,
        limit: usize,
        each: impl FnMut(DocumentRow, Change) -> bool,
    ) -> Result<Result<Followed, CursorLost>> {
        follow(&*self.conn.snapshot()?, cursor, limit, each)
    }
}

fn follow(
    conn: &Connection,
    cursor: &Cursor,
    limit: usize,
    mut each: impl FnMut(DocumentRow, Change) -> bool,
) -> Result<Result<Followed, CursorLost>> {
    let store = meta(conn, "store_id")?;
    let last_seq = meta(conn, LAST_SEQ)?;
    let known = cursor.seq.max(cursor.began);
    if cursor.store.is_some_and(|id| id != store) || known > last_seq {
        return Ok(Err(CursorLost::OtherHistory));
    }
    // Whoever begins now has no document that is gone by now.
    let began = match cursor.seq {
        0 if cursor.began == 0 => last_seq,
        _ => known,
    };
    if meta(conn, FORGOTTEN_SEQ)? > began {
        return Ok(Err(CursorLost::TooOld));
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM document WHERE seq > ?1 AND state <> {REPLACED} AND (body IS NOT NULL OR seq > ?2) \
         ORDER BY seq LIMIT ?3"
    );
    let (mut taken, mut seq, mut more) = (0, cursor.seq, false);
    let mut full = limit == 0;
    let most = sql::limit(limit.saturating_add(1));
    conn.each(&sql, [cursor.seq, began, most], |row| {
        if full {
            more = true;
            return Ok(false);
        }
        let row = read(row)?;
        seq = row.seq;
        taken += 1;
        let change = match &row.body {
            // What came before the first list began is new to whoever reads it.
            Some(_) if row.seq <= began => Change::New,
            _ => row.change_since(began),
        };
        full = !each(row, change) || taken == limit;
        Ok(true)
    })?;
    let seq = if more { seq } else { last_seq };
    let next = Cursor {
        store: Some(store),
        seq,
        began: if seq < began { began } else { 0 },
    };
    Ok(Ok(Followed {
        next,
        more,
        last_seq,
    }))
}

/// Level of zstd. With a dictionary, news of 2 kB take 12 µs and .464 of their size at level 3, 13 µs and .451 at this one, 21 µs and
/// .426 at level 5, 33 µs and .418 at level 6.
const LEVEL: i32 = 4;
/// Changes of documents before there is a dictionary: fewer do not show what documents have in common.
const FIRST_AT: i64 = 2_000;
/// A new dictionary is made when there were so many times as many changes as before the last one, since sites come and go.
const AGAIN_AT: i64 = 16;
/// Documents that a dictionary is made of.
const SAMPLES: i64 = 2_000;
/// Of them, so many follow each other, since each question takes its time.
const NEIGHBOURS: i64 = 20;
/// Of a long document only so many bytes are looked at: together at most 32 MB.
const SAMPLE_BYTES: usize = 16 * 1024;
/// Longest dictionary. Twice as much would save another 3 % of the store.
const DICTIONARY_BYTES: usize = 256 * 1024;
/// Longest body; a frame that says it holds more is damaged.
const MAX_BYTES: u64 = 256 << 20;
/// How a zstd frame begins. What begins otherwise is the body itself.
const MAGIC: [u8; 4] = zstd_safe::MAGICNUMBER.to_le_bytes();

/// The body of a document as it lies in the store; [`Reader::body`] gives what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedBody(pub(super) Vec<u8>);

/// Makes bodies smaller.
#[derive(Default)]
pub(super) struct Compressor {
    /// With the latest dictionary in it.
    context: Option<CCtx<'static>>,
    /// Number of the change at which the next dictionary is made; 0: not read from the store yet.
    next_at: i64,
}

/// Gives bodies back.
#[derive(Default)]
pub(super) struct Decompressor {
    dictionaries: HashMap<NonZeroU32, DDict<'static>>,
    context: Option<DCtx<'static>>,
}

impl Compressor {
    /// The body as it goes into the store.
    pub(super) fn pack(&mut self, body: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(body.len()));
        let context = self.context.get_or_insert_with(|| compressing(&[]));
        let done = context.compress2(&mut packed, body);
        // Nothing but lack of memory makes it fail; then the body is kept as it is.
        match done {
            Ok(_) => packed,
            Err(_) => body.to_vec(),
        }
    }
}

/// A frame carries a checksum: a damaged one is noticed and never taken for another text.
fn compressing(dictionary: &[u8]) -> CCtx<'static> {
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(LEVEL),
        CParameter::ChecksumFlag(true),
    ] {
        let set = context.set_parameter(parameter);
        debug_assert!(set.is_ok(), "zstd knows both");
    }
    // Nothing but lack of memory makes it fail; then frames are longer.
    let _ = context.load_dictionary(dictionary);
    context
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor")
            .field("next_at", &self.next_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.dictionaries.keys();
        f.debug_list().entries(ids).finish()
    }
}

/// Number of the dictionary that the body of a row needs, if it needs one.
pub(super) fn dictionary_of(row: &DocumentRow) -> Option<NonZeroU32> {
    let PackedBody(packed) = row.body.as_ref()?;
    let is_frame = packed.starts_with(&MAGIC);
    is_frame.then(|| zstd_safe::get_dict_id_from_frame(packed))?
}

impl Reader {
    /// The body of a document as it was given; none where the row says that the document is gone.
    pub fn body(&self, row: &DocumentRow) -> Result<Option<Vec<u8>>> {
        let Some(PackedBody(packed)) = &row.body else {
            return Ok(None);
        };
        if !packed.starts_with(&MAGIC) {
            return Ok(Some(packed.clone()));
        }
        let damaged = |detail: &str| StoreError::Body {
            path: self.path().to_owned(),
            url: row.url.clone(),
            detail: detail.to_owned(),
        };
        let size = zstd_safe::get_frame_content_size(packed)
            .ok()
            .flatten()
            .filter(|size| *size <= MAX_BYTES)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| damaged("it does not say how long it is, or more than 256 MiB"))?;
        let mut body = Vec::with_capacity(size);
        let mut bodies = self.bodies.borrow_mut();
        let Decompressor {
            dictionaries,
            context,
        } = &mut *bodies;
        let context = context.get_or_insert_with(DCtx::create);
        let done = match zstd_safe::get_dict_id_from_frame(packed) {
            None => context.decompress(&mut body, packed),
            Some(id) => {
                let dictionary = match dictionaries.entry(id) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(free) => {
                        let sql = "SELECT data FROM dictionary WHERE id = ?1";
                        let data: Option<Vec<u8>> = self.row(sql, [id.get()], |row| row.get(0))?;
                        let dictionary = data
                            .and_then(|data| DDict::try_create(&data))
                            .ok_or_else(|| damaged("its dictionary is missing"))?;
                        free.insert(dictionary)
                    }
                };
                context.decompress_using_ddict(&mut body, packed, dictionary)
            }
        };
        done.map_err(|code| damaged(zstd_safe::get_error_name(code)))?;
        Ok(Some(body))
    }
}

impl Store {
    /// Makes a dictionary of the documents there are, if it is time. What is written afterwards is made smaller with it.
    /// Where a damaged page of the database stands in its way, documents are stored without one: no commit may fail for it.
    pub(super) fn renew_dictionary(&mut self) -> Result<()> {
        let Err(error) = self.try_renew_dictionary() else {
            return Ok(());
        };
        if !matches!(error, StoreError::Damaged { .. }) {
            return Err(error);
        }
        tracing::error!("no dictionary for compression, documents take more room: {error}");
        self.compressor.next_at = self.document_seq.max(FIRST_AT).saturating_mul(2);
        Ok(())
    }

    fn try_renew_dictionary(&mut self) -> Result<()> {
        if self.compressor.next_at == 0 {
            self.load_dictionary()?;
        }
        if self.document_seq < self.compressor.next_at {
            return Ok(());
        }
        let samples = self.samples()?;
        let made = zstd::dict::from_samples(&samples, DICTIONARY_BYTES);
        let seq = self.document_seq;
        match made {
            Ok(data) => {
                self.write(|tx| add_dictionary(tx, &data, seq))?;
                self.load_dictionary()?;
                tracing::info!(documents = samples.len(), "a dictionary for compression");
            }
            // Nothing is lost but room; another time there is more to make one of.
            Err(error) => {
                self.compressor.next_at = seq.saturating_mul(2);
                tracing::debug!(%error, "no dictionary for compression");
            }
        }
        Ok(())
    }

    fn load_dictionary(&mut self) -> Result<()> {
        let sql = "SELECT made_at, data FROM dictionary ORDER BY made_at DESC LIMIT 1";
        let latest = self.row(sql, NONE, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let latest: Option<(i64, Vec<u8>)> = latest;
        self.compressor.next_at = latest
            .as_ref()
            .map_or(FIRST_AT, |(made_at, _)| made_at.saturating_mul(AGAIN_AT));
        self.compressor.context = latest.map(|(_, data)| compressing(&data));
        Ok(())
    }

    /// Bodies from all over the log.
    fn samples(&self) -> Result<Vec<Vec<u8>>> {
        let step = (self.document_seq / SAMPLES * NEIGHBOURS).max(NEIGHBOURS);
        let mut samples = Vec::new();
        let mut after = 0;
        while after < self.document_seq {
            let rows = self.documents_after(after, NEIGHBOURS as usize)?;
            let Some(last) = rows.last() else {
                break;
            };
            after = last.seq.max(after + step);
            for row in &rows {
                // One that cannot be read is none to learn from.
                if let Ok(Some(mut body)) = self.body(row) {
                    body.truncate(SAMPLE_BYTES);
                    samples.push(body);
                }
            }
        }
        Ok(samples)
    }
}

/// Keeps a dictionary. Should its number be taken, the one that has it is used from now on.
fn add_dictionary(tx: &Connection, data: &[u8], seq: i64) -> Result<()> {
    let id = zstd_safe::get_dict_id_from_dict(data).map(NonZeroU32::get);
    let sql = "INSERT INTO dictionary (id, made_at, data) VALUES (?1, ?2, ?3) \
               ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at";
    tx.execute(sql, params![id, seq, data])?;
    Ok(())
}
