//! The walls that are known: what several addresses of a site show instead of the documents that they had.

use std::collections::HashMap;

use super::Records;
use taojin_crawl::store::StoreError;

/// Walls remembered; above it they are read from the store again.
const MOST_WALLS: usize = 4_096;

/// Walls by site: the digest of their words, and since when, Unix milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Walls {
    of_site: HashMap<String, HashMap<u64, i64>>,
    known: usize,
    is_read: bool,
}

impl Walls {
    /// The walls of a site: digest of their words, and since when they are known, Unix milliseconds.
    pub(super) fn of_site(
        &mut self,
        records: &dyn Records,
        site: &str,
    ) -> Result<Option<&HashMap<u64, i64>>, StoreError> {
        if !self.is_read || self.known > MOST_WALLS {
            *self = Walls {
                is_read: true,
                ..Walls::default()
            };
            for wall in records.walls(MOST_WALLS)? {
                self.add(&wall.site, wall.answer, wall.since_ms);
            }
        }
        Ok(self.of_site.get(site))
    }

    /// Remembers a wall that pages of `site` show since then.
    pub(super) fn add(&mut self, site: &str, answer: u64, since_ms: i64) {
        let walls = self.of_site.entry(site.to_owned()).or_default();
        self.known += usize::from(!walls.contains_key(&answer));
        let since = walls.entry(answer).or_insert(since_ms);
        *since = since_ms.min(*since);
    }
}
