//! Which addresses have a record: the exact set behind the frontier's filter. In: the fingerprint of each new address.
//! Out: the row that has it. Never takes an address for new that has a row.
//!
//! The fingerprints of the newest rows stand in memory, those of all rows up to a watermark in the blocks of the table
//! `seen`. When there are enough of the newest, they are sorted and go into their blocks a piece with each commit, so
//! that a block takes up many each time it is written (the idea of the log-structured merge tree, O'Neil et al. 1996).
//! Each by itself in an index, a fingerprint would cost a page read and written as soon as the index outgrows the
//! cache. After a crash those beyond the watermark are read from the rows; one that went into its block already stays
//! there once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use rusqlite::Connection;

use super::blocks;
use super::record::UrlId;

/// Fingerprints in memory before they are sorted: as many as a hash table of 2²⁰ places takes, 18 MB.
pub(super) const NEWEST: usize = (1 << 20) / 8 * 7;

/// Sorted ones that go into their blocks for each new one: done when half as many new ones have come.
const PACE: usize = 2;

/// The newest fingerprints.
#[derive(Debug, Default)]
pub(super) struct Keys {
    newest: HashMap<u64, UrlId, BuildHasherDefault<AsItIs>>,
    /// Those of the transaction that is open.
    open: Vec<u64>,
    /// Those on their way into the blocks.
    sorted: Vec<(u64, UrlId)>,
    /// How many of `sorted` stand there.
    written: usize,
    /// The same when the open transaction is done.
    writing: usize,
    /// The last row of `sorted`.
    upto: UrlId,
    /// How many in `newest` before they are sorted.
    pub(super) limit: usize,
}

impl Keys {
    /// Those of all rows that the blocks do not answer for. More than `limit` of them, as after a migration, go into
    /// their blocks at once.
    pub(super) fn load(conn: &Connection, limit: usize) -> rusqlite::Result<Self> {
        let mut keys = Keys {
            limit,
            ..Keys::default()
        };
        let mut from = watermark(conn)?;
        let mut select =
            conn.prepare("SELECT hash, id FROM url WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        loop {
            let mut rows = select.query([from, i64::try_from(limit).unwrap_or(i64::MAX)])?;
            while let Some(row) = rows.next()? {
                from = row.get(1)?;
                keys.newest
                    .insert(row.get::<_, i64>(0)?.cast_unsigned(), from);
            }
            if keys.newest.len() < limit {
                return Ok(keys);
            }
            keys.sort();
            let tx = conn.unchecked_transaction()?;
            keys.write_some(&tx, usize::MAX)?;
            tx.commit()?;
            keys.settle();
        }
    }

    /// The row of a fingerprint.
    pub(super) fn find(&self, conn: &Connection, hash: u64) -> rusqlite::Result<Option<UrlId>> {
        match self.find_newest(hash) {
            Some(id) => Ok(Some(id)),
            None => blocks::find(conn, hash),
        }
    }

    /// Whether a fingerprint that should be new was added a moment ago: twice in one transaction, say.
    pub(super) fn is_newest(&self, hash: u64) -> bool {
        self.newest.contains_key(&hash)
    }

    fn find_newest(&self, hash: u64) -> Option<UrlId> {
        let of_sorted = || {
            let at = self.sorted.binary_search_by_key(&hash, |(hash, _)| *hash);
            at.ok().map(|at| self.sorted[at].1)
        };
        self.newest.get(&hash).copied().or_else(of_sorted)
    }

    /// Takes up the fingerprint of a row that the open transaction adds.
    pub(super) fn add(&mut self, hash: u64, id: UrlId) {
        self.newest.insert(hash, id);
        self.open.push(hash);
    }

    /// Puts the next piece of the sorted ones into their blocks, at the end of the open transaction.
    pub(super) fn write_next(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        match self.newest.len() >= self.limit {
            true => self.write_some(conn, usize::MAX),
            false => self.write_some(conn, PACE * self.open.len()),
        }
    }

    fn write_some(&mut self, conn: &Connection, most: usize) -> rusqlite::Result<()> {
        let rest = self.sorted.get(self.written..).unwrap_or_default();
        let count = rest.len().min(most);
        self.writing = self.written + count;
        if count > 0 {
            blocks::add(conn, &rest[..count])?;
        }
        if count > 0 && count == rest.len() {
            set_meta(conn, "seen_upto", self.upto)?;
        }
        Ok(())
    }

    /// The open transaction is durable.
    pub(super) fn settle(&mut self) {
        self.open.clear();
        self.written = self.writing;
        if self.written == self.sorted.len() {
            self.sorted = Vec::new();
            (self.written, self.writing) = (0, 0);
            if self.newest.len() >= self.limit {
                self.sort();
            }
        }
    }

    /// Nothing of the open transaction is there.
    pub(super) fn undo(&mut self) {
        for hash in self.open.drain(..) {
            self.newest.remove(&hash);
        }
        self.writing = self.written;
    }

    fn sort(&mut self) {
        self.sorted = self.newest.drain().collect();
        self.sorted.sort_unstable();
        self.upto = self.sorted.iter().map(|(_, id)| *id).max().unwrap_or(0);
    }
}

/// A fingerprint is a hash already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The row of a fingerprint without the memory of the writing side: the newest rows are looked through, which takes a
/// third of a second at worst.
pub(super) fn find_beside(conn: &Connection, hash: u64) -> rusqlite::Result<Option<UrlId>> {
    if let Some(id) = blocks::find(conn, hash)? {
        return Ok(Some(id));
    }
    let mut select = conn.prepare_cached("SELECT id FROM url WHERE id > ?1 AND hash = ?2")?;
    let mut rows = select.query([watermark(conn)?, hash.cast_signed()])?;
    rows.next()?.map(|row| row.get(0)).transpose()
}

/// The blocks answer for all rows up to this one.
pub(super) fn watermark(conn: &Connection) -> rusqlite::Result<UrlId> {
    conn.prepare_cached("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'seen_upto'")?
        .query_row([], |row| row.get(0))
}

/// Keeps a number beside the tables.
pub(super) fn set_meta(conn: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?
    .execute(rusqlite::params![name, value])?;
    Ok(())
}
