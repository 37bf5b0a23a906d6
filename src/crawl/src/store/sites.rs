//! Sites as the store knows them: cycles, pausing, forgetting. Settings of sites are not kept here.
//!
//! Every commit keeps up the counts for status pages, so that reading them costs the same at ten URLs and at ten
//! million.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Partitions;
use super::commit::site_id;
use super::error::Result;
use super::open::{Reader, Store};
use super::record::{HELD_MS, SiteId, SiteRecord, UrlClass, UrlId, UrlState};
use super::sql::{Connection, NONE, Row, ToSql, params};
use super::urls::RANKS;

const COLUMNS: &str = "id, name, paused, last_cycle_ms, cycles, last_error, paused_ms";

impl Reader {
    /// A site by name.
    pub fn site(&self, name: &str) -> Result<Option<SiteRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM site WHERE name = ?1");
        self.row(&sql, [name], site_record)
    }

    /// All sites by name.
    pub fn sites(&self) -> Result<Vec<SiteRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM site ORDER BY name");
        self.rows(&sql, NONE, site_record)
    }
}

impl Store {
    /// Row number of a site, made if missing.
    pub fn add_site(&mut self, name: &Arc<str>) -> Result<SiteId> {
        let mut caches = std::mem::take(&mut self.caches);
        let id = match caches.sites.get(name) {
            Some(known) => *known,
            None => self.write(|tx| site_id(tx, &mut caches, name))?,
        };
        self.caches = caches;
        Ok(id)
    }

    /// Starts a cycle: the seeds, hubs, feeds and sitemaps of the site whose interval has passed become due with
    /// `rank`. How many are due now that were not. Of these partitions only; the books of the site are kept by the node that
    /// [has](Partitions::has_site) it.
    pub fn begin_cycle(
        &mut self,
        name: &Arc<str>,
        parts: &Partitions,
        rank: u8,
        now_ms: i64,
    ) -> Result<usize> {
        let site = self.add_site(name)?;
        self.write(|tx| {
            // A seed is asked for in every cycle; the others may have a longer interval when they bring nothing.
            let lists_due = format!(
                "UPDATE url SET due_ms = ?2, rank = ?3 WHERE site_id = ?1 AND class < {article} AND state <> {gone} \
                 AND (due_ms IS NULL OR due_ms > ?2) \
                 AND (class = {seed} OR fetched_ms IS NULL OR fetched_ms + interval_ms <= ?2){}",
                parts.condition("id"),
                article = UrlClass::Article as i64,
                gone = UrlState::Gone as i64,
                seed = UrlClass::Seed as i64,
            );
            let due = tx.execute(&lists_due, params![site, now_ms, rank])?;
            resume(tx, site, parts, now_ms)?;
            wake_hosts(tx, site, parts, now_ms)?;
            if !parts.has_site(name) {
                return Ok(due);
            }
            tx.execute(
                "UPDATE site SET last_cycle_ms = ?2, cycles = cycles + 1, paused = 0, last_error = NULL WHERE id = ?1",
                params![site, now_ms],
            )?;
            tx.execute(
                "DELETE FROM counter WHERE site_id = ?1 AND substr(name, 1, 6) = 'cycle_'",
                [site],
            )?;
            Ok(due)
        })
    }

    /// Makes the articles of a site due at once (`recrawl everything`), also those with a document that is never looked at again.
    /// How many.
    pub fn recheck_articles(&mut self, name: &Arc<str>, rank: u8, now_ms: i64) -> Result<usize> {
        let site = self.add_site(name)?;
        self.write(|tx| {
            let due = tx.execute(
                "UPDATE url SET due_ms = ?2, rank = ?3 WHERE site_id = ?1 AND class IN (?4, ?5) \
                 AND (due_ms > ?2 OR (due_ms IS NULL AND documented = 1)) AND host_id IN (SELECT host_id FROM host_site WHERE site_id = ?1)",
                params![
                    site,
                    now_ms,
                    rank,
                    UrlClass::Article,
                    UrlClass::Attachment
                ],
            )?;
            wake_hosts(tx, site, &Partitions::ALL, now_ms)?;
            Ok(due)
        })
    }

    /// Marks a site as paused or not. Pausing holds no URL by itself: the frontier holds those of sites that it was
    /// not given. Resuming makes held URLs due again.
    pub fn pause_site(&mut self, name: &Arc<str>, paused: bool, now_ms: i64) -> Result<()> {
        let site = self.add_site(name)?;
        self.set_pause(
            site,
            "UPDATE site SET paused = ?2 WHERE id = ?1",
            params![site, paused],
            !paused,
            now_ms,
        )
    }

    /// The operator pauses a site (`since_ms`) or lets it go on (none). Kept apart from [`Store::pause_site`], which
    /// follows the configuration. Nothing is held by this alone; letting it go on makes held URLs due.
    pub fn set_operator_pause(
        &mut self,
        name: &Arc<str>,
        since_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<()> {
        let site = self.add_site(name)?;
        self.set_pause(
            site,
            "UPDATE site SET paused_ms = ?2 WHERE id = ?1",
            params![site, since_ms],
            since_ms.is_none(),
            now_ms,
        )
    }

    fn set_pause(
        &self,
        site: SiteId,
        update: &str,
        values: &[&dyn ToSql],
        goes_on: bool,
        now_ms: i64,
    ) -> Result<()> {
        self.write(|tx| {
            tx.execute(update, values)?;
            if goes_on && resume(tx, site, &Partitions::ALL, now_ms)? > 0 {
                wake_hosts(tx, site, &Partitions::ALL, now_ms)?;
            }
            Ok(())
        })
    }

    /// Makes a URL due now, whatever its schedule says.
    pub fn make_due(&mut self, id: UrlId, now_ms: i64) -> Result<()> {
        self.write(|tx| {
            tx.execute(
                "UPDATE url SET due_ms = ?2 WHERE id = ?1 AND (due_ms IS NULL OR due_ms > ?2)",
                [id, now_ms],
            )?;
            wake_host_of(tx, id, now_ms)
        })
    }
}

/// Makes the held URLs of a site due. How many.
fn resume(conn: &Connection, site: SiteId, parts: &Partitions, now_ms: i64) -> Result<usize> {
    let sql = format!(
        "UPDATE url SET due_ms = ?2 WHERE site_id = ?1 AND rank = ?3 AND due_ms = ?4 AND due_ms IS NOT NULL \
         AND host_id IN (SELECT host_id FROM host_site WHERE site_id = ?1){}",
        parts.condition("id")
    );
    let mut resumed = 0;
    for rank in 0..RANKS {
        resumed += conn.execute(&sql, params![site, now_ms, rank, HELD_MS])?;
    }
    Ok(resumed)
}

/// The hosts of a site may have URLs due at `now_ms`.
fn wake_hosts(conn: &Connection, site: SiteId, parts: &Partitions, now_ms: i64) -> Result<()> {
    let sql = format!(
        "UPDATE host SET next_due_ms = ?2 WHERE (next_due_ms IS NULL OR next_due_ms > ?2) \
         AND id IN (SELECT host_id FROM host_site WHERE site_id = ?1){}",
        parts.condition("id")
    );
    conn.execute(&sql, params![site, now_ms])?;
    Ok(())
}

/// The host of a URL may have one due at `now_ms`.
pub(super) fn wake_host_of(conn: &Connection, id: UrlId, now_ms: i64) -> Result<()> {
    conn.execute(
        "UPDATE host SET next_due_ms = ?2 WHERE (next_due_ms IS NULL OR next_due_ms > ?2) \
         AND id = (SELECT host_id FROM url WHERE id = ?1)",
        [id, now_ms],
    )?;
    Ok(())
}

fn site_record(row: &Row<'_>) -> rusqlite::Result<SiteRecord> {
    Ok(SiteRecord {
        id: row.get(0)?,
        name: Arc::from(row.text(1)?),
        paused: row.get(2)?,
        last_cycle_ms: row.get(3)?,
        cycles: row.get(4)?,
        last_error: row.get(5)?,
        paused_ms: row.get(6)?,
    })
}

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
