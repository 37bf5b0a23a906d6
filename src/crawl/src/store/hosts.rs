//! Reading host records. In: a row number, an authority, a time. Out: records, and which hosts have URLs due.

use std::sync::Arc;

use super::sql::{self, Row};

use super::error::Result;
use super::open::Reader;
use super::partitions::Partitions;
use super::record::{Cause, HELD_MS, HostId, HostRecord, SiteId};

const COLUMNS: &str = "id, authority, next_due_ms, not_before_ms, cause, backoff_level, trouble_ms, errors, last_error, \
     crawl_delay_ms, elapsed_ms, ip, fetched, cycle_ms, cycle_pages";

/// Hosts that are not asked now, by what holds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostsHeld {
    /// All hosts, held or not.
    pub all: i64,
    /// Held back to a certain time: the cause, and how many.
    pub by_cause: Vec<(Cause, i64)>,
    /// Had their pages of this cycle.
    pub limited: i64,
}

impl Reader {
    /// The record of a host by its authority (`host` or `host:port`).
    pub fn host(&self, authority: &str) -> Result<Option<HostRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM host WHERE authority = ?1");
        self.row(&sql, [authority], host_record)
    }

    /// The record of a host by its row number.
    pub fn host_by_id(&self, id: HostId) -> Result<Option<HostRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM host WHERE id = ?1");
        self.row(&sql, [id], host_record)
    }

    /// Hosts of these sites (of all, if none is named) in these partitions that may have URLs due at `now_ms`, longest
    /// overdue first.
    pub fn hosts_due(
        &self,
        sites: &[SiteId],
        parts: &Partitions,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<HostId>> {
        let due = self.hosts_due_between(sites, parts, i64::MIN, now_ms, limit)?;
        Ok(due.into_iter().map(|(host, _)| host).collect())
    }

    /// Hosts of these sites (of all, if none is named) in these partitions that may have URLs due after `after_ms` and not after
    /// `until_ms`, with that time, soonest first.
    pub fn hosts_due_between(
        &self,
        sites: &[SiteId],
        parts: &Partitions,
        after_ms: i64,
        until_ms: i64,
        limit: usize,
    ) -> Result<Vec<(HostId, i64)>> {
        let sql = format!(
            "SELECT id, next_due_ms FROM host WHERE next_due_ms > ?1 AND next_due_ms <= ?2 \
             AND next_due_ms IS NOT NULL{}{} ORDER BY next_due_ms, id LIMIT ?3",
            of_sites(sites),
            parts.condition("id")
        );
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.rows(&sql, [after_ms, until_ms, sql::limit(limit)], read)
    }

    /// The earliest time after `after_ms` at which a host of these sites (of any, if none is named) in these partitions may
    /// have a URL due.
    pub fn next_host_due(
        &self,
        sites: &[SiteId],
        parts: &Partitions,
        after_ms: i64,
    ) -> Result<Option<i64>> {
        let sql = format!(
            "SELECT min(next_due_ms) FROM host WHERE next_due_ms > ?1 AND next_due_ms < ?2 \
             AND next_due_ms IS NOT NULL{}{}",
            of_sites(sites),
            parts.condition("id")
        );
        let due = self.row(&sql, [after_ms, HELD_MS], |row| row.get(0))?;
        Ok(due.flatten())
    }

    /// Hosts of these sites (of all, if none is named) that are not asked before `after_ms`, longest rest first.
    pub fn hosts_at_rest(
        &self,
        sites: &[SiteId],
        after_ms: i64,
        limit: usize,
    ) -> Result<Vec<HostRecord>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM host WHERE not_before_ms > ?1 AND next_due_ms < {HELD_MS}{} \
             ORDER BY not_before_ms DESC LIMIT ?2",
            of_sites(sites)
        );
        self.rows(&sql, [after_ms, sql::limit(limit)], host_record)
    }

    /// How many URLs are due at `now_ms` on hosts of these sites (of all, if none is named), `limit` at most.
    pub fn count_due(&self, sites: &[SiteId], now_ms: i64, limit: usize) -> Result<u64> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM url WHERE due_ms <= ?1 AND due_ms IS NOT NULL \
             AND host_id IN (SELECT id FROM host WHERE next_due_ms IS NOT NULL{}) LIMIT ?2) AS due",
            of_sites(sites)
        );
        let count = self.row(&sql, [now_ms, sql::limit(limit)], |row| row.get::<i64>(0))?;
        Ok(count.map_or(0, i64::cast_unsigned))
    }

    /// All hosts on which a site has URLs.
    pub fn hosts_of_site(&self, site: SiteId) -> Result<Vec<HostId>> {
        let sql = "SELECT host_id FROM host_site WHERE site_id = ?1";
        self.rows(sql, [site], |row| row.get(0))
    }

    /// How many hosts are held back beyond `now_ms`, by the cause; how many wait for their next cycle; how
    /// many there are in all. One pass over the table of hosts.
    pub fn hosts_held(&self, now_ms: i64) -> Result<HostsHeld> {
        let sql = "SELECT CASE WHEN not_before_ms > ?1 THEN cause END AS held_by, \
                   CASE WHEN not_before_ms <= ?1 AND next_due_ms >= ?2 THEN 1 ELSE 0 END AS limited, count(*) FROM host GROUP BY 1, 2";
        let row = |row: &Row<'_>| {
            Ok((
                row.get::<Option<Cause>>(0)?,
                row.get::<bool>(1)?,
                row.get::<i64>(2)?,
            ))
        };
        let mut held = HostsHeld::default();
        for (cause, limited, count) in self.rows(sql, [now_ms, HELD_MS], row)? {
            held.all += count;
            match cause {
                Some(cause) => held.by_cause.push((cause, count)),
                None if limited => held.limited += count,
                None => {}
            }
        }
        Ok(held)
    }

    /// Hosts in trouble (errors in a row, or held back beyond `now_ms`), longest held first: for the status page.
    pub fn hosts_in_trouble(&self, now_ms: i64, limit: usize) -> Result<Vec<HostRecord>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM host WHERE errors > 0 OR backoff_level > 0 OR not_before_ms > ?1 \
             ORDER BY not_before_ms DESC LIMIT ?2"
        );
        self.rows(&sql, [now_ms, sql::limit(limit)], host_record)
    }
}

/// A condition that leaves only hosts of these sites; nothing if none is named.
fn of_sites(sites: &[SiteId]) -> String {
    if sites.is_empty() {
        return String::new();
    }
    let ids: Vec<String> = sites.iter().map(SiteId::to_string).collect();
    let ids = ids.join(", ");
    format!(" AND id IN (SELECT host_id FROM host_site WHERE site_id IN ({ids}))")
}

fn host_record(row: &Row<'_>) -> rusqlite::Result<HostRecord> {
    Ok(HostRecord {
        id: row.get(0)?,
        authority: Arc::from(row.text(1)?),
        next_due_ms: row.get(2)?,
        not_before_ms: row.get(3)?,
        cause: row.get(4)?,
        backoff_level: row.get(5)?,
        trouble_ms: row.get(6)?,
        errors: row.get(7)?,
        last_error: row.get(8)?,
        crawl_delay_ms: row.get(9)?,
        elapsed_ms: row.get(10)?,
        ip: row
            .get::<Option<String>>(11)?
            .and_then(|text| text.parse().ok()),
        fetched: row.get(12)?,
        cycle_ms: row.get(13)?,
        cycle_pages: row.get(14)?,
    })
}
