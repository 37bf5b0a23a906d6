//! Numbers for status pages. Out: counts that are kept up by every commit, so that asking costs the same at ten
//! URLs and at ten million.

use std::collections::BTreeMap;

use super::error::Result;
use super::open::Reader;
use super::sql::NONE;

/// Counts of the whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Hosts known.
    pub hosts: i64,
    /// Bytes of the database without its WAL.
    pub bytes: i64,
    /// By site.
    pub sites: BTreeMap<String, SiteCounts>,
}

/// Counts of a site: `urls`, `documents`, one name a [`UrlState`](super::UrlState), and what the crawl loop counts.
pub type SiteCounts = BTreeMap<String, i64>;

impl Counts {
    /// Sum of a counter over all sites.
    pub fn total(&self, name: &str) -> i64 {
        self.sites.values().filter_map(|site| site.get(name)).sum()
    }
}

impl Reader {
    /// Counts of everything.
    pub fn counts(&self) -> Result<Counts> {
        let one = |sql: &str| self.conn.query_row(sql, NONE, |row| row.get::<i64>(0));
        let size = match self.conn.sqlite() {
            Some(_) => "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            None => "SELECT pg_database_size(current_database())",
        };
        let mut counts = Counts {
            hosts: one("SELECT count(*) FROM host")?,
            bytes: one(size)?,
            sites: BTreeMap::new(),
        };
        let sql = "SELECT site.name, counter.name, counter.value FROM site \
                   LEFT JOIN counter ON counter.site_id = site.id";
        self.conn.each(sql, NONE, |row| {
            let site = counts.sites.entry(row.get(0)?).or_default();
            if let Some(name) = row.get::<Option<String>>(1)? {
                site.insert(name, row.get(2)?);
            }
            Ok(true)
        })?;
        Ok(counts)
    }
}
