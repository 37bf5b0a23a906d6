//! Partitions of the crawl: which of them this node has. In: an address, a row number, the name of a site. Out: whether it is
//! this node's; the condition that leaves only its rows. A partition is the hash of a registrable domain modulo 256, for ever.

use std::collections::BTreeSet;

use taojin_uri::CrawlUri;
use xxhash_rust::xxh3::xxh3_64;

use super::numbers::PARTITIONS;
use super::record::UrlId;
use super::sql::list;

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
