//! Numbers for status pages. Out: counts that are kept up by every commit, so that asking costs the same at ten
//! URLs and at ten million.

use std::collections::BTreeMap;

use super::error::StoreError;
use super::open::Reader;

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
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let read = || -> rusqlite::Result<Counts> {
            let one = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, i64>(0));
            let mut counts = Counts {
                hosts: one("SELECT count(*) FROM host")?,
                bytes: one(
                    "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                )?,
                sites: BTreeMap::new(),
            };
            let mut select = self.conn.prepare_cached(
                "SELECT site.name, counter.name, counter.value FROM site \
                 LEFT JOIN counter ON counter.site_id = site.id",
            )?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let site = counts.sites.entry(row.get(0)?).or_default();
                if let Some(name) = row.get::<_, Option<String>>(1)? {
                    site.insert(name, row.get(2)?);
                }
            }
            Ok(counts)
        };
        read().map_err(|e| self.fail(e))
    }
}
