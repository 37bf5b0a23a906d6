//! The exact set of URLs that have a record, behind the frontier's filter: finds the row of a fingerprint. Never takes
//! a URL for new that has a row.
//!
//! A log-structured merge tree (O'Neil et al. 1996). The fingerprints of the newest rows stand in memory, those of all
//! rows up to a watermark in sorted runs (see `runs`). When there are enough of the newest, they are sorted and become
//! a run, a piece with each commit; four runs of about the same size become one, a piece with each commit as well. So
//! a fingerprint is written once and again each time that the set has grown fourfold, side by side with others. Each by
//! itself in an index, it would cost a page read and written as soon as the index outgrows the cache.
//!
//! After a crash the fingerprints beyond the watermark are read from the rows, and what was half merged begins again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::error::Result;
use super::record::UrlId;
use super::runs::{self, LAST_RUN, Merge, Run, RunId};
use super::sql::{self, Connection, params};

/// Fingerprints in memory before they become a run: as many as a hash table of 2¹⁸ places takes, 4.5 MB.
pub(super) const NEWEST: usize = (1 << 18) / 8 * 7;

/// Sorted ones that are written to their run for each new one: done when half as many new ones have come.
const FLUSH_PACE: usize = 2;

/// Entries that are merged for each new one. Each fourfold growth of the set merges every entry once, so that this
/// keeps up with 4⁸ times [`NEWEST`], far beyond any disk.
const MERGE_PACE: usize = 8;

/// Runs of one class that become one. Fewer would write a fingerprint more often, more would be slower to ask.
const FAN_IN: usize = 4;

const SET_META: &str = "INSERT INTO meta (name, value) VALUES (?1, ?2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// The newest fingerprints, and which runs have the others.
#[derive(Debug, Default)]
pub(super) struct Keys {
    newest: HashMap<u64, UrlId, BuildHasherDefault<AsItIs>>,
    /// Those of the transaction that is open.
    open: Vec<u64>,
    /// Those on their way into a run.
    flush: Option<Merge>,
    /// The last row among them.
    flush_upto: UrlId,
    /// Complete runs, the largest first.
    runs: Vec<Run>,
    /// Runs that become one.
    merge: Option<Merge>,
    /// Runs that do not count any more and have blocks still.
    left: Vec<RunId>,
    /// What the open transaction completes: the flush, the merge.
    completed: [bool; 2],
    /// How many in `newest` before they are sorted.
    pub(super) limit: usize,
    /// The database has an index of its own; `newest` holds what the open transaction adds.
    by_index: bool,
}

impl Keys {
    /// Those of all rows that the runs do not answer for. More than `limit` of them, as after a migration, become runs
    /// at once.
    pub(super) fn load(conn: &Connection, limit: usize) -> Result<Self> {
        match conn.sqlite() {
            Some(file) => conn.wrap(Self::load_file(file, limit)),
            None => Ok(Keys {
                by_index: true,
                limit: usize::MAX,
                ..Keys::default()
            }),
        }
    }

    fn load_file(conn: &rusqlite::Connection, limit: usize) -> rusqlite::Result<Self> {
        let runs = runs::live(conn)?;
        let mut left = runs::with_blocks(conn)?;
        left.retain(|run| runs.iter().all(|r| r.id != *run));
        let mut keys = Keys {
            runs,
            left,
            limit,
            ..Keys::default()
        };
        let mut from = watermark(conn)?;
        let mut select =
            conn.prepare("SELECT hash, id FROM url WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        loop {
            let mut rows = select.query([from, sql::limit(limit)])?;
            while let Some(row) = rows.next()? {
                from = row.get(1)?;
                keys.newest
                    .insert(row.get::<_, i64>(0)?.cast_unsigned(), from);
            }
            if keys.newest.len() < limit {
                return Ok(keys);
            }
            keys.begin();
            while keys.flush.is_some() || keys.merge.is_some() {
                let tx = conn.unchecked_transaction()?;
                keys.write_some(&tx, usize::MAX, usize::MAX)?;
                tx.commit()?;
                keys.settle();
            }
        }
    }

    /// The row of a fingerprint.
    pub(super) fn find(&self, conn: &Connection, hash: u64) -> Result<Option<UrlId>> {
        if let Some(id) = self.find_newest(hash) {
            return Ok(Some(id));
        }
        match conn.sqlite() {
            Some(file) => conn.wrap(find_in(file, &self.runs, hash)),
            None => find_by_index(conn, hash),
        }
    }

    /// Whether a fingerprint that should be new was added a moment ago: twice in one transaction, say.
    pub(super) fn is_newest(&self, hash: u64) -> bool {
        self.newest.contains_key(&hash)
    }

    fn find_newest(&self, hash: u64) -> Option<UrlId> {
        let flushed = || self.flush.as_ref().and_then(|flush| flush.find(hash));
        self.newest.get(&hash).copied().or_else(flushed)
    }

    /// Takes up the fingerprint of a row that the open transaction adds.
    pub(super) fn add(&mut self, hash: u64, id: UrlId) {
        self.newest.insert(hash, id);
        self.open.push(hash);
    }

    /// Writes the next piece of the runs that are being made, at the end of the open transaction.
    pub(super) fn write_next(&mut self, conn: &Connection) -> Result<()> {
        let Some(file) = conn.sqlite() else {
            return Ok(());
        };
        let new = self.open.len();
        let flush = if self.newest.len() >= self.limit {
            usize::MAX
        } else {
            FLUSH_PACE * new
        };
        conn.wrap(self.write_some(file, flush, MERGE_PACE * new))
    }

    fn write_some(
        &mut self,
        conn: &rusqlite::Connection,
        flush: usize,
        merge: usize,
    ) -> rusqlite::Result<()> {
        let mut put = conn.prepare_cached("INSERT INTO seen_run (run, entries) VALUES (?1, ?2)")?;
        let mut drop = conn.prepare_cached("DELETE FROM seen_run WHERE run = ?1")?;
        self.completed = [false; 2];
        if let Some(writing) = self.flush.as_mut().filter(|_| flush > 0)
            && writing.step(conn, flush)?
        {
            put.execute([writing.run.id, writing.run.entries])?;
            conn.execute(SET_META, rusqlite::params!["seen_upto", self.flush_upto])?;
            self.completed[0] = true;
        }
        if let Some(merging) = self.merge.as_mut().filter(|_| merge > 0)
            && merging.step(conn, merge)?
        {
            put.execute([merging.run.id, merging.run.entries])?;
            for run in merging.parts() {
                drop.execute([run])?;
            }
            self.completed[1] = true;
        }
        // What is merged is cleared away twice as fast.
        let blocks = 2 * runs::blocks(merge.min(1 << 20));
        if let Some(&run) = self.left.last().filter(|_| blocks > 0)
            && runs::clear(conn, run, blocks)?
        {
            self.left.pop();
        }
        Ok(())
    }

    /// The open transaction is durable.
    pub(super) fn settle(&mut self) {
        self.open.clear();
        if self.by_index {
            self.newest.clear();
            return;
        }
        let [flushed, merged] = std::mem::take(&mut self.completed);
        let flush = self.flush.take_if(|_| flushed);
        let merge = self.merge.take_if(|_| merged);
        for done in flush.into_iter().chain(merge) {
            self.left.extend(done.parts());
            self.runs
                .retain(|run| done.parts().all(|part| part != run.id));
            self.runs.push(done.run);
        }
        self.runs.sort_by_key(|run| (-run.entries, run.id));
        self.begin();
    }

    /// Nothing of the open transaction is there: what was being written begins again.
    pub(super) fn undo(&mut self) {
        for hash in self.open.drain(..) {
            self.newest.remove(&hash);
        }
        if self.by_index {
            return;
        }
        self.completed = [false; 2];
        if let Some(merge) = self.merge.take() {
            self.left.push(merge.run.id);
        }
        if let Some(flush) = self.flush.take() {
            self.left.push(flush.run.id);
            self.flush = self
                .free()
                .map(|run| Merge::of_entries(run, flush.into_entries()));
        }
    }

    /// Begins to write what there is enough of.
    fn begin(&mut self) {
        if self.flush.is_none()
            && self.newest.len() >= self.limit
            && let Some(run) = self.free()
        {
            let mut entries: Vec<_> = self.newest.drain().collect();
            entries.sort_unstable();
            self.flush_upto = entries.iter().map(|(_, id)| *id).max().unwrap_or(0);
            self.flush = Some(Merge::of_entries(run, entries));
        }
        if self.merge.is_none()
            && let Some(run) = self.free()
        {
            let mut alike = self.runs.chunk_by(|a, b| self.class(a) == self.class(b));
            let many = alike.rfind(|runs| runs.len() >= FAN_IN);
            self.merge = many.map(|runs| Merge::of_runs(run, runs));
        }
    }

    /// How often a run of the newest would have to grow fourfold to be as large.
    fn class(&self, run: &Run) -> u32 {
        let size = run.entries.unsigned_abs() / (self.limit as u64).max(1);
        size.checked_ilog(FAN_IN as u64).unwrap_or(0)
    }

    /// A number that no run has.
    fn free(&self) -> Option<RunId> {
        let taken = |id: &RunId| {
            let writing = self.flush.iter().chain(&self.merge);
            let mut writing = writing.map(|merge| merge.run.id);
            self.left.contains(id)
                || self.runs.iter().any(|run| run.id == *id)
                || writing.any(|run| run == *id)
        };
        (1..=LAST_RUN).find(|id| !taken(id))
    }
}

/// The row of a fingerprint in the first of these runs that has it.
fn find_in(
    conn: &rusqlite::Connection,
    runs: &[Run],
    hash: u64,
) -> rusqlite::Result<Option<UrlId>> {
    for run in runs {
        if let Some(id) = runs::find(conn, run.id, hash)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
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
/// tenth of a second at worst.
pub(super) fn find_beside(conn: &Connection, hash: u64) -> Result<Option<UrlId>> {
    let Some(file) = conn.sqlite() else {
        return find_by_index(conn, hash);
    };
    let runs = conn.wrap(runs::live(file))?;
    if let Some(id) = conn.wrap(find_in(file, &runs, hash))? {
        return Ok(Some(id));
    }
    let sql = "SELECT id FROM url WHERE id > ?1 AND hash = ?2";
    let from = conn.wrap(watermark(file))?;
    conn.row(sql, [from, hash.cast_signed()], |row| row.get(0))
}

fn find_by_index(conn: &Connection, hash: u64) -> Result<Option<UrlId>> {
    let sql = "SELECT id FROM url WHERE hash = ?1";
    conn.row(sql, [hash.cast_signed()], |row| row.get(0))
}

/// The runs answer for all rows up to this one.
pub(super) fn watermark(conn: &rusqlite::Connection) -> rusqlite::Result<UrlId> {
    conn.prepare_cached("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'seen_upto'")?
        .query_row([], |row| row.get(0))
}

/// A number that is kept next to the tables; 0 where it never was.
pub(super) fn meta(conn: &Connection, name: &str) -> Result<i64> {
    let sql = "SELECT coalesce(max(value), 0) FROM meta WHERE name = ?1";
    conn.query_row(sql, [name], |row| row.get(0))
}

/// Keeps a number next to the tables.
pub(super) fn set_meta(conn: &Connection, name: &str, value: i64) -> Result<()> {
    conn.put(SET_META, params![name, value])
}
