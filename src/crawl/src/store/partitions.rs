//! Partitions of the crawl: which of them this node has. In: an address, a row number, the name of a site. Out: whether it is
//! this node's; the condition that leaves only its rows. A partition is the hash of a registrable domain modulo 256, for ever.
//!
//! Row numbers of addresses and hosts. In: an address. Out: a number that never comes twice.
//!
//! In SQLite they rise by one. In PostgreSQL a number begins with the partition of its address, the hash of the registrable
//! domain modulo 256, and rises inside it: so every key of the crawl has the partition in it, and rows of one partition lie
//! side by side. The partition of a domain never changes.

use std::collections::{BTreeMap, BTreeSet};

use taojin_uri::CrawlUri;
use xxhash_rust::xxh3::xxh3_64;

use super::error::Result;
use super::keys::{meta, set_meta};
use super::record::UrlId;
use super::sql::{self, Connection, list, params};

/// Bits of a row number below its partition: more than a hundred million million rows in each.
pub(super) const PARTITION_SHIFT: u32 = 47;

/// Number of a partition, 0 to 255.
pub type Partition = i64;

/// The partitions whose hosts this node crawls. A store in a file belongs to one node, which has all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partitions(Option<BTreeSet<Partition>>);

impl Partitions {
    /// All there are, of a store that only one process can have.
    pub const ALL: Self = Partitions(None);

    /// None yet.
    pub fn none() -> Self {
        Partitions(Some(BTreeSet::new()))
    }

    /// Whether other nodes may have some.
    pub fn are_shared(&self) -> bool {
        self.0.is_some()
    }

    /// How many these are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(PARTITIONS as usize, BTreeSet::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this is one of them.
    pub fn has(&self, part: Partition) -> bool {
        self.0.as_ref().is_none_or(|own| own.contains(&part))
    }

    /// Whether the row of an address or of a host is in one of them.
    pub fn has_row(&self, id: UrlId) -> bool {
        self.0.is_none() || self.has(part_of_row(id))
    }

    /// Whether an address belongs to one of them.
    pub fn has_uri(&self, uri: &CrawlUri) -> bool {
        self.0.is_none() || self.has(partition(uri))
    }

    /// Whether this node keeps the books of a site, whose hosts may be in several partitions: one node does.
    pub fn has_site(&self, name: &str) -> bool {
        self.0.is_none() || self.has((xxh3_64(name.as_bytes()) % PARTITIONS).cast_signed())
    }

    /// Takes up another one.
    pub fn add(&mut self, part: Partition) {
        if let Some(own) = &mut self.0 {
            own.insert(part);
        }
    }

    /// Gives one up.
    pub fn remove(&mut self, part: Partition) {
        if let Some(own) = &mut self.0 {
            own.remove(&part);
        }
    }

    /// In order; of a store in a file, none is told by itself.
    pub fn iter(&self) -> impl Iterator<Item = Partition> + '_ {
        self.0.iter().flatten().copied()
    }

    /// A condition that leaves only rows of them; nothing where all are this node's.
    pub(super) fn condition(&self, column: &str) -> String {
        match &self.0 {
            Some(own) if own.is_empty() => " AND FALSE".to_owned(),
            Some(own) if (own.len() as u64) < PARTITIONS => format!(
                " AND ({column} >> {PARTITION_SHIFT}) IN ({})",
                list(own.iter().copied())
            ),
            _ => String::new(),
        }
    }
}

/// The partition of an address.
pub fn partition(uri: &CrawlUri) -> Partition {
    (xxh3_64(uri.registrable_domain().as_bytes()) % PARTITIONS).cast_signed()
}

/// The partition that a row number begins with.
pub fn part_of_row(id: UrlId) -> Partition {
    id >> PARTITION_SHIFT
}

/// Below all rows of a partition.
pub fn first_row(part: Partition) -> UrlId {
    part << PARTITION_SHIFT
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_addresses_and_sites_belong_to_whoever_has_their_partition() {
        let news = CrawlUri::parse("http://news.example.com/1").unwrap();
        let www = CrawlUri::parse("https://www.example.com/2").unwrap();
        let part = partition(&news);
        assert_eq!(part, partition(&www), "one registrable domain");
        let mut own = Partitions::none();
        assert!(own.is_empty() && !own.has_uri(&news) && Partitions::ALL.has_uri(&news));
        assert_eq!(own.condition("id"), " AND FALSE");
        own.add(part);
        assert!(own.has_uri(&www) && own.has_row(first_row(part) | 7));
        assert!(!own.has_row(first_row((part + 1) % 256) | 7));
        assert_eq!(own.condition("id"), format!(" AND (id >> 47) IN ({part})"));
        (0..256).for_each(|part| own.add(part));
        assert_eq!((own.len(), own.condition("id")), (256, String::new()));
        own.remove(0);
        assert!(!own.has(0) && Partitions::ALL.has(0));
    }
}
