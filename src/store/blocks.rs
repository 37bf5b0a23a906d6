//! Fingerprints in blocks: the table `seen`. In: sorted fingerprints with their rows. Out: the row of a fingerprint.
//! A block holds all fingerprints from its first one to the next block's, sorted, 13 bytes each: the fingerprint and the
//! row in five bytes (a million million rows). One that grows too large is divided. So a block and a page of the
//! database are about the same, and many fingerprints go into one with one statement.

use rusqlite::{Connection, OptionalExtension, params};

use super::record::UrlId;

/// Bytes of an entry: the fingerprint, big-endian so that it sorts as bytes, and the row.
const ENTRY: usize = 13;

/// Entries of a block: what still lies within one page of 4 KiB.
const MOST: usize = 300;

/// Order of blocks: SQLite sorts signed numbers.
fn place(hash: u64) -> i64 {
    (hash ^ (1 << 63)).cast_signed()
}

/// The row of a fingerprint.
pub(super) fn find(conn: &Connection, hash: u64) -> rusqlite::Result<Option<UrlId>> {
    let mut select = conn
        .prepare_cached("SELECT entries FROM seen WHERE first <= ?1 ORDER BY first DESC LIMIT 1")?;
    let mut rows = select.query([place(hash)])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (entries, _) = row.get_ref(0)?.as_blob()?.as_chunks::<ENTRY>();
    let at = entries.binary_search_by_key(&hash, |e| decode(e).0);
    Ok(at.ok().map(|at| decode(&entries[at]).1))
}

/// Adds entries, sorted; those that are there already stay as they are.
pub(super) fn add(conn: &Connection, mut new: &[(u64, UrlId)]) -> rusqlite::Result<()> {
    let mut merged = Vec::with_capacity(2 * MOST);
    while let Some(&(hash, _)) = new.first() {
        let block = block_of(conn, hash)?;
        let here = match block.next {
            Some(next) => new.partition_point(|(hash, _)| place(*hash) < next),
            None => new.len(),
        };
        merge(&block.entries, &new[..here], &mut merged);
        new = &new[here..];
        replace(conn, block.first, &merged)?;
    }
    Ok(())
}

/// Takes fingerprints out, sorted or not.
pub(super) fn remove(conn: &Connection, hashes: &[u64]) -> rusqlite::Result<()> {
    for &hash in hashes {
        let mut block = block_of(conn, hash)?;
        let before = block.entries.len();
        block.entries.retain(|(h, _)| *h != hash);
        if block.entries.len() < before {
            replace(conn, block.first, &block.entries)?;
        }
    }
    Ok(())
}

/// Calls `each` with every fingerprint.
pub(super) fn for_each(conn: &Connection, mut each: impl FnMut(u64)) -> rusqlite::Result<()> {
    let mut select = conn.prepare("SELECT entries FROM seen ORDER BY first")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (entries, _) = row.get_ref(0)?.as_blob()?.as_chunks::<ENTRY>();
        entries.iter().for_each(|e| each(decode(e).0));
    }
    Ok(())
}

struct Block {
    /// Where it begins; the first block begins before all others.
    first: i64,
    /// Where the next one begins.
    next: Option<i64>,
    entries: Vec<(u64, UrlId)>,
}

fn block_of(conn: &Connection, hash: u64) -> rusqlite::Result<Block> {
    let found = conn
        .prepare_cached(
            "SELECT first, entries FROM seen WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
        )?
        .query_row([place(hash)], |row| {
            let (entries, _) = row.get_ref(1)?.as_blob()?.as_chunks::<ENTRY>();
            Ok((row.get(0)?, entries.iter().map(decode).collect()))
        })
        .optional()?;
    let (first, entries) = found.unwrap_or((i64::MIN, Vec::new()));
    let next = conn
        .prepare_cached("SELECT first FROM seen WHERE first > ?1 ORDER BY first LIMIT 1")?
        .query_row([first.max(place(hash))], |row| row.get(0))
        .optional()?;
    Ok(Block {
        first,
        next,
        entries,
    })
}

/// Writes a block anew, in several if it has grown too large.
fn replace(conn: &Connection, first: i64, entries: &[(u64, UrlId)]) -> rusqlite::Result<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO seen (first, entries) VALUES (?1, ?2) ON CONFLICT (first) DO UPDATE SET entries = excluded.entries",
    )?;
    let parts = entries.len().div_ceil(MOST).max(1);
    let size = entries.len().div_ceil(parts).max(1);
    let mut begin = first;
    let mut bytes = Vec::with_capacity(MOST * ENTRY);
    for (i, part) in entries.chunks(size).enumerate() {
        if i > 0 {
            begin = place(part[0].0);
        }
        bytes.clear();
        part.iter().for_each(|entry| bytes.extend(encode(*entry)));
        put.execute(params![begin, bytes])?;
    }
    if entries.is_empty() {
        put.execute(params![begin, bytes])?;
    }
    Ok(())
}

/// Both lists in order, each fingerprint once.
fn merge(old: &[(u64, UrlId)], new: &[(u64, UrlId)], merged: &mut Vec<(u64, UrlId)>) {
    merged.clear();
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let take_old = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if a.0 == b.0 => {
                new.next();
                true
            }
            (Some(a), Some(b)) => a.0 < b.0,
            (a, _) => a.is_some(),
        };
        let next = if take_old { old.next() } else { new.next() };
        let Some(&entry) = next else { return };
        merged.push(entry);
    }
}

fn encode((hash, id): (u64, UrlId)) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&hash.to_be_bytes());
    entry[8..].copy_from_slice(&id.to_be_bytes()[3..]);
    entry
}

fn decode(entry: &[u8; ENTRY]) -> (u64, UrlId) {
    let [a, b, c, d, e, f, g, h, row @ ..] = *entry;
    let hash = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let id = row
        .into_iter()
        .fold(0, |id, byte| (id << 8) | i64::from(byte));
    (hash, id)
}
