//! Row numbers of addresses and hosts. In: an address. Out: a number that never comes twice.
//!
//! In SQLite they rise by one. In PostgreSQL a number begins with the partition of its address, the hash of the registrable
//! domain modulo 256, and rises inside it: so every key of the crawl has the partition in it, and rows of one partition lie
//! side by side. The partition of a domain never changes.

use std::collections::{BTreeMap, BTreeSet};

use taojin_uri::CrawlUri;

use super::error::Result;
use super::keys::{meta, set_meta};
use super::partitions::{first_row, partition};
use super::record::UrlId;
use super::sql::{self, Connection, params};

/// Partitions of the addresses, for ever.
pub const PARTITIONS: u64 = 256;

/// Name of the highest row number of a URL in SQLite.
const LAST_URL: &str = "url_id";

/// The last number of each partition.
#[derive(Debug, Default, Clone)]
pub(super) struct Numbers {
    last: BTreeMap<i64, i64>,
    /// Partitions whose last number is not written yet.
    unwritten: BTreeSet<i64>,
    is_partitioned: bool,
}

impl Numbers {
    /// Those that were given so far.
    pub(super) fn load(conn: &Connection) -> Result<Self> {
        let is_partitioned = conn.postgres().is_some();
        let last = if is_partitioned {
            let read = |row: &sql::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            conn.rows("SELECT part, last FROM part", sql::NONE, read)?
        } else {
            vec![(0, meta(conn, LAST_URL)?)]
        };
        Ok(Numbers {
            last: BTreeMap::from_iter(last),
            unwritten: BTreeSet::new(),
            is_partitioned,
        })
    }

    /// The last number of a partition that another node has given back.
    pub(super) fn set_last(&mut self, part: i64, last: i64) {
        self.last.insert(part, last);
        self.unwritten.remove(&part);
    }

    /// The last row number of a partition.
    pub(super) fn last_of(&self, part: i64) -> UrlId {
        first_row(part) | self.last.get(&part).copied().unwrap_or_default()
    }

    /// How many numbers were ever given: rises with each.
    pub(super) fn given(&self) -> UrlId {
        self.last.values().sum()
    }

    /// The next number for an address.
    pub(super) fn next_url(&mut self, uri: &CrawlUri) -> UrlId {
        let part = if self.is_partitioned {
            partition(uri)
        } else {
            0
        };
        let last = self.last.entry(part).or_default();
        *last += 1;
        self.unwritten.insert(part);
        first_row(part) | *last
    }

    /// The next number for the host of an address; none where the database gives it.
    pub(super) fn next_host(&mut self, uri: &CrawlUri) -> Option<i64> {
        self.is_partitioned.then(|| self.next_url(uri))
    }

    /// Writes down which were given.
    pub(super) fn write(&mut self, conn: &Connection) -> Result<()> {
        for part in std::mem::take(&mut self.unwritten) {
            let last = self.last.get(&part).copied().unwrap_or_default();
            match self.is_partitioned {
                false => set_meta(conn, LAST_URL, last)?,
                true => conn.put(
                    "INSERT INTO part (part, last) VALUES (?1, ?2) \
                         ON CONFLICT (part) DO UPDATE SET last = excluded.last",
                    params![part, last],
                )?,
            }
        }
        Ok(())
    }
}

/// How many numbers a store has ever given.
pub(super) fn given(conn: &Connection) -> Result<UrlId> {
    match conn.postgres() {
        None => meta(conn, LAST_URL),
        Some(_) => conn.query_row(
            "SELECT CAST(coalesce(sum(last), 0) AS BIGINT) FROM part",
            sql::NONE,
            |row| row.get(0),
        ),
    }
}
