//! Which addresses there are, by their fingerprints: for the filter of the frontier. In: a row, a partition, addresses. Out: the
//! fingerprints after it; which of the addresses have a record.

use std::collections::HashSet;

use super::error::Result;
use super::keys::watermark;
use super::open::{Reader, Store};
use super::partitions::{Partition, first_row, given};
use super::record::UrlId;
use super::runs;
use super::sql::{Connection, Row, list};
use taojin_uri::CrawlUri;

impl Reader {
    /// Calls `each` with the fingerprint of every URL found after row `after`; the last row number (or `after`).
    pub fn fingerprints(&self, after: UrlId, mut each: impl FnMut(u64)) -> Result<UrlId> {
        let tx = self.conn.snapshot()?;
        let given = given(&tx)?;
        // In PostgreSQL rows of one partition lie side by side, not those that were found last.
        let Some(file) = tx.sqlite() else {
            return Ok(given);
        };
        let mut from = after;
        if after == 0 {
            // Nearly all of them stand in runs, a tenth as large as the rows.
            tx.wrap(runs::for_each(file, &mut each))?;
            from = tx.wrap(watermark(file))?;
        }
        tx.each("SELECT hash FROM url WHERE id > ?1", [from], |row| {
            each(row.get::<i64>(0)?.cast_unsigned());
            Ok(true)
        })?;
        Ok(after.max(given))
    }

    /// Calls `each` with some fingerprints of a partition after row `after`, in the order of the rows. The last row; none where
    /// there was none.
    pub fn fingerprints_of(
        &self,
        part: Partition,
        after: UrlId,
        mut each: impl FnMut(u64),
    ) -> Result<Option<UrlId>> {
        let mut last = None;
        let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get(1)?));
        let sql = "SELECT hash, id FROM url WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        for (hash, id) in self.rows(sql, [after, first_row(part + 1), SOME], read)? {
            each(hash.cast_unsigned());
            last = Some(id);
        }
        Ok(last)
    }

    /// How many row numbers were ever given to URLs: rises with each. In SQLite it is the highest.
    pub fn last_url(&self) -> Result<UrlId> {
        given(&self.conn)
    }
}

/// Fingerprints read at once.
const SOME: i64 = 50_000;

/// Addresses asked for in one statement.
const AT_ONCE: usize = 1_000;

fn known_at_once(conn: &Connection, uris: &[&CrawlUri]) -> Result<Vec<bool>> {
    let mut known = HashSet::new();
    for some in uris.chunks(AT_ONCE) {
        let hashes = list(some.iter().map(|uri| uri.fingerprint().cast_signed()));
        let sql = format!("SELECT hash FROM url WHERE hash IN ({hashes})");
        known.extend(conn.query_once(&sql, |row| row.get::<i64>(0))?);
    }
    let is_known = |uri: &&CrawlUri| known.contains(&uri.fingerprint().cast_signed());
    Ok(uris.iter().map(is_known).collect())
}

impl Store {
    /// Which of these addresses have a record, in the order asked. One read transaction.
    pub fn known(&self, uris: &[&CrawlUri]) -> Result<Vec<bool>> {
        if self.conn.sqlite().is_none() {
            return known_at_once(&self.conn, uris);
        }
        let _tx = self.conn.snapshot()?;
        uris.iter()
            .map(|uri| Ok(self.find(uri)?.is_some()))
            .collect()
    }

    /// The same as [`Reader::last_url`], from memory.
    pub fn newest_url(&self) -> UrlId {
        self.numbers.given()
    }

    /// The last row number of a partition, from memory.
    pub fn last_row(&self, part: Partition) -> UrlId {
        self.numbers.last_of(part)
    }

    pub(super) fn find(&self, uri: &CrawlUri) -> Result<Option<UrlId>> {
        self.keys.find(&self.conn, uri.fingerprint())
    }
}
