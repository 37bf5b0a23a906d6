//! Fingerprints in sorted runs: the tables `seen` and `seen_run`. Finds the row of a fingerprint, iterates over all of
//! them in order, and merges small runs into larger ones. Never changes a block that is written, unless a URL is
//! forgotten.
//!
//! A run is written once, from its first block to its last, and blocks lie side by side in the table: sequential writes,
//! however many fingerprints there are. A block holds up to 300 entries of 13 bytes, the fingerprint and the row in five
//! bytes (a million million rows), which is what fits a page of the database. Only runs that `seen_run` names count;
//! other blocks are of a run that is being written, was left half written, or has become part of another.

use rusqlite::{Connection, OptionalExtension, params};

use super::record::UrlId;

/// A fingerprint and its row.
pub(super) type Entry = (u64, UrlId);

/// Bytes of an entry: the fingerprint, big-endian so that it sorts as bytes, and the row.
const ENTRY: usize = 13;

/// Entries of a block: what still lies within one page of 4 KiB.
const MOST: usize = 300;

/// Bits of a fingerprint that the number of its block leaves out, to make room for the number of the run.
const LEFT_OUT: u32 = 17;

/// Number of a run: at most sixteen bits, given again when nothing is left of an older run that had it.
pub(super) type RunId = i64;

/// The highest number of a run.
pub(super) const LAST_RUN: RunId = (1 << 16) - 1;

/// A run that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) entries: i64,
}

/// Number of the block of a run that begins with this fingerprint.
fn place(run: RunId, hash: u64) -> i64 {
    run << (64 - LEFT_OUT) | (hash >> LEFT_OUT).cast_signed()
}

/// Numbers of the blocks of a run: from the first, up to the second.
fn blocks_of(run: RunId) -> (i64, i64) {
    (place(run, 0), place(run, u64::MAX))
}

/// The complete runs, the largest first: it is the likeliest to have a fingerprint.
pub(super) fn live(conn: &Connection) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached("SELECT run, entries FROM seen_run ORDER BY entries DESC, run")?
        .query_map([], |row| {
            Ok(Run {
                id: row.get(0)?,
                entries: row.get(1)?,
            })
        })?
        .collect()
}

/// Numbers of all runs that have a block, complete or not.
pub(super) fn with_blocks(conn: &Connection) -> rusqlite::Result<Vec<RunId>> {
    let mut runs = Vec::new();
    let mut select =
        conn.prepare_cached("SELECT id FROM seen WHERE id >= ?1 ORDER BY id LIMIT 1")?;
    let mut from = 0;
    while let Some(block) = select
        .query_row([from], |row| row.get::<_, i64>(0))
        .optional()?
    {
        let run = block >> (64 - LEFT_OUT);
        runs.push(run);
        if run == LAST_RUN {
            break;
        }
        from = place(run + 1, 0);
    }
    Ok(runs)
}

/// The row of a fingerprint in a run.
pub(super) fn find(conn: &Connection, run: RunId, hash: u64) -> rusqlite::Result<Option<UrlId>> {
    let block = block_of(conn, run, hash, |_, bytes| {
        let (entries, _) = bytes.as_chunks::<ENTRY>();
        let at = entries.binary_search_by_key(&hash, |e| decode(e).0);
        at.ok().map(|at| decode(&entries[at]).1)
    })?;
    Ok(block.flatten())
}

/// Takes a fingerprint out of all complete runs.
pub(super) fn remove(conn: &Connection, runs: &[Run], hash: u64) -> rusqlite::Result<()> {
    for run in runs {
        let without = block_of(conn, run.id, hash, |id, bytes| {
            let (entries, _) = bytes.as_chunks::<ENTRY>();
            let at = entries.binary_search_by_key(&hash, |e| decode(e).0).ok()?;
            let mut left = bytes.to_vec();
            left.drain(at * ENTRY..(at + 1) * ENTRY);
            Some((id, left))
        })?;
        if let Some((id, left)) = without.flatten() {
            conn.prepare_cached("UPDATE seen SET entries = ?2 WHERE id = ?1")?
                .execute(params![id, left])?;
        }
    }
    Ok(())
}

/// What `of` makes of the block of a run in which a fingerprint is if the run has it.
fn block_of<T>(
    conn: &Connection,
    run: RunId,
    hash: u64,
    of: impl FnOnce(i64, &[u8]) -> T,
) -> rusqlite::Result<Option<T>> {
    let mut select = conn.prepare_cached(
        "SELECT id, entries FROM seen WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
    )?;
    let mut rows = select.query([blocks_of(run).0, place(run, hash)])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(of(row.get(0)?, row.get_ref(1)?.as_blob()?)))
}

/// Calls `each` with every fingerprint of the complete runs.
pub(super) fn for_each(conn: &Connection, mut each: impl FnMut(u64)) -> rusqlite::Result<()> {
    let mut select =
        conn.prepare_cached("SELECT entries FROM seen WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    for run in live(conn)? {
        let mut rows = select.query(<[i64; 2]>::from(blocks_of(run.id)))?;
        while let Some(row) = rows.next()? {
            let (entries, _) = row.get_ref(0)?.as_blob()?.as_chunks::<ENTRY>();
            entries.iter().for_each(|e| each(decode(e).0));
        }
    }
    Ok(())
}

/// Deletes some blocks of a run; whether those were the last.
pub(super) fn clear(conn: &Connection, run: RunId, blocks: usize) -> rusqlite::Result<bool> {
    let (first, last) = blocks_of(run);
    let most = i64::try_from(blocks).unwrap_or(i64::MAX);
    let deleted = conn
        .prepare_cached(
            "DELETE FROM seen WHERE id IN (SELECT id FROM seen WHERE id BETWEEN ?1 AND ?2 LIMIT ?3)",
        )?
        .execute([first, last, most])?;
    Ok(deleted < blocks)
}

/// Blocks that so many entries take.
pub(super) fn blocks(entries: usize) -> usize {
    entries.div_ceil(MOST)
}

/// A run that is being made of entries in memory, or of other runs.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) run: Run,
    sources: Vec<Source>,
    /// The block that is being filled.
    block: Vec<Entry>,
}

impl Merge {
    /// Of sorted entries.
    pub(super) fn of_entries(run: RunId, entries: Vec<Entry>) -> Self {
        Self::new(
            run,
            vec![Source {
                entries,
                ..Source::default()
            }],
        )
    }

    /// Of complete runs.
    pub(super) fn of_runs(run: RunId, runs: &[Run]) -> Self {
        let source = |run: &Run| Source {
            run: Some(run.id),
            next: blocks_of(run.id).0,
            ..Source::default()
        };
        Self::new(run, runs.iter().map(source).collect())
    }

    fn new(id: RunId, sources: Vec<Source>) -> Self {
        Merge {
            run: Run { id, entries: 0 },
            sources,
            block: Vec::with_capacity(MOST),
        }
    }

    /// Those of [`Merge::of_entries`] back.
    pub(super) fn into_entries(self) -> Vec<Entry> {
        let first = self.sources.into_iter().next();
        first.map_or_else(Vec::new, |source| source.entries)
    }

    /// Numbers of the runs that become one.
    pub(super) fn parts(&self) -> impl Iterator<Item = RunId> {
        self.sources.iter().filter_map(|source| source.run)
    }

    /// The row of a fingerprint, of those that came from memory.
    pub(super) fn find(&self, hash: u64) -> Option<UrlId> {
        let entries = &self.sources.first()?.entries;
        let at = entries.binary_search_by_key(&hash, |(h, _)| *h).ok()?;
        Some(entries[at].1)
    }

    /// Writes the next entries, about so many; whether those were the last.
    pub(super) fn step(&mut self, conn: &Connection, entries: usize) -> rusqlite::Result<bool> {
        for _ in 0..entries {
            let Some(entry) = self.take(conn)? else {
                self.write(conn)?;
                return Ok(true);
            };
            // Two blocks of a run have different numbers.
            let apart = |last: &Entry| last.0 >> LEFT_OUT != entry.0 >> LEFT_OUT;
            if self.block.len() >= MOST && self.block.last().is_some_and(apart) {
                self.write(conn)?;
            }
            self.block.push(entry);
        }
        Ok(false)
    }

    /// The least entry that is left; of equal fingerprints the newest row.
    fn take(&mut self, conn: &Connection) -> rusqlite::Result<Option<Entry>> {
        let mut least: Option<Entry> = None;
        for source in &mut self.sources {
            let Some(entry) = source.first(conn)? else {
                continue;
            };
            if least.is_none_or(|(hash, id)| entry.0 < hash || (entry.0 == hash && entry.1 > id)) {
                least = Some(entry);
            }
        }
        if let Some((hash, _)) = least {
            self.sources.iter_mut().for_each(|source| source.pass(hash));
        }
        Ok(least)
    }

    fn write(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let Some(&(first, _)) = self.block.first() else {
            return Ok(());
        };
        let bytes: Vec<u8> = self.block.iter().copied().flat_map(encode).collect();
        conn.prepare_cached("INSERT INTO seen (id, entries) VALUES (?1, ?2)")?
            .execute(params![place(self.run.id, first), bytes])?;
        self.run.entries += i64::try_from(self.block.len()).unwrap_or(i64::MAX);
        self.block.clear();
        Ok(())
    }
}

/// Where entries of a merge come from.
#[derive(Debug, Default)]
struct Source {
    /// The run; none when all entries are in memory.
    run: Option<RunId>,
    /// Its blocks from here on were not read.
    next: i64,
    entries: Vec<Entry>,
    /// How many of `entries` were taken.
    at: usize,
    /// Nothing comes after `entries`.
    last: bool,
}

impl Source {
    fn first(&mut self, conn: &Connection) -> rusqlite::Result<Option<Entry>> {
        while self.at == self.entries.len() {
            let Some(run) = self.run.filter(|_| !self.last) else {
                return Ok(None);
            };
            let mut select = conn.prepare_cached(
                "SELECT id, entries FROM seen WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1",
            )?;
            let mut rows = select.query([self.next, blocks_of(run).1])?;
            let Some(row) = rows.next()? else {
                self.last = true;
                return Ok(None);
            };
            let (entries, _) = row.get_ref(1)?.as_blob()?.as_chunks::<ENTRY>();
            (self.entries, self.at) = (entries.iter().map(decode).collect(), 0);
            self.next = row.get::<_, i64>(0)? + 1;
        }
        Ok(Some(self.entries[self.at]))
    }

    fn pass(&mut self, hash: u64) {
        if self.entries.get(self.at).is_some_and(|e| e.0 == hash) {
            self.at += 1;
        }
    }
}

fn encode((hash, id): Entry) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&hash.to_be_bytes());
    entry[8..].copy_from_slice(&id.to_be_bytes()[3..]);
    entry
}

fn decode(entry: &[u8; ENTRY]) -> Entry {
    let [a, b, c, d, e, f, g, h, row @ ..] = *entry;
    let hash = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let id = row
        .into_iter()
        .fold(0, |id, byte| (id << 8) | i64::from(byte));
    (hash, id)
}
