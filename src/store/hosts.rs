//! Reading host records. In: a row number, an authority, a time. Out: records, and which hosts have URLs due.

use std::sync::Arc;

use rusqlite::Row;

use super::batch::HELD_MS;
use super::error::StoreError;
use super::open::Reader;
use super::record::{HostId, HostRecord};

const COLUMNS: &str = "id, authority, next_due_ms, not_before_ms, cause, backoff_level, trouble_ms, errors, last_error, \
     crawl_delay_ms, elapsed_ms, ip, fetched, cycle_ms, cycle_pages";

impl Reader {
    /// The record of a host by its authority (`host` or `host:port`).
    pub fn host(&self, authority: &str) -> Result<Option<HostRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM host WHERE authority = ?1");
        self.row(&sql, [authority], host_record)
    }

    /// The record of a host by its row number.
    pub fn host_by_id(&self, id: HostId) -> Result<Option<HostRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM host WHERE id = ?1");
        self.row(&sql, [id], host_record)
    }

    /// Hosts that may have URLs due at `now_ms`, longest overdue first.
    pub fn hosts_due(&self, now_ms: i64, limit: usize) -> Result<Vec<HostId>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT id FROM host WHERE next_due_ms <= ?1 AND next_due_ms IS NOT NULL \
                   ORDER BY next_due_ms LIMIT ?2";
        self.rows(sql, [now_ms, limit], |row| row.get(0))
    }

    /// The earliest time after `after_ms` at which a host may have a URL due.
    pub fn next_host_due(&self, after_ms: i64) -> Result<Option<i64>, StoreError> {
        self.conn
            .prepare_cached(
                "SELECT min(next_due_ms) FROM host WHERE next_due_ms > ?1 AND next_due_ms < ?2 \
                 AND next_due_ms IS NOT NULL",
            )
            .and_then(|mut s| s.query_row([after_ms, HELD_MS], |row| row.get(0)))
            .map_err(|e| self.fail(e))
    }

    /// Hosts in trouble (errors in a row, or held back beyond `now_ms`), longest held first: for the status page.
    pub fn hosts_in_trouble(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<HostRecord>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {COLUMNS} FROM host WHERE errors > 0 OR backoff_level > 0 OR not_before_ms > ?1 \
             ORDER BY not_before_ms DESC LIMIT ?2"
        );
        self.rows(&sql, [now_ms, limit], host_record)
    }
}

fn host_record(row: &Row<'_>) -> rusqlite::Result<HostRecord> {
    Ok(HostRecord {
        id: row.get(0)?,
        authority: Arc::from(row.get_ref(1)?.as_str()?),
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
            .get::<_, Option<String>>(11)?
            .and_then(|text| text.parse().ok()),
        fetched: row.get(12)?,
        cycle_ms: row.get(13)?,
        cycle_pages: row.get(14)?,
    })
}
