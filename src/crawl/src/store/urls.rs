//! Reading URL records. In: a row number, an address, a host. Out: records, and what is due.

use super::error::Result;
use super::in_flight::{forget, left_in_flight};
use super::keys::find_beside;
use super::open::{Reader, Store};
use super::record::{DueUrl, HELD_MS, HostId, UrlId, UrlRecord, Visit};
use super::sql::{self, Connection, Row, ToSql, params};
use taojin_uri::CrawlUri;

/// Ranks that the frontier may use: 0 … `RANKS - 1`.
pub const RANKS: u8 = 16;

/// Begins a question that seeks once for each rank.
const EACH_RANK: &str = "WITH RECURSIVE ranks (rank) AS \
     (SELECT CAST(0 AS BIGINT) UNION ALL SELECT rank + 1 FROM ranks WHERE rank < 15)";

const COLUMNS: &str = "id, host_id, url, coalesce((SELECT name FROM site WHERE site.id = site_id), ''), class, state, rank, due_ms, hops, redirects, via, first_seen_ms, crashes, \
     interval_ms, status, etag, last_modified, digest, fetched_ms, changed_ms, not_found_since_ms, unchanged, errors, \
     documented, target, error, content, alias_of, confirmed_ms, answer";

/// The first so many due URLs of a rank of a host.
const DUE: &str = "SELECT due_ms, id FROM url WHERE host_id = ?1 AND rank = ?2 AND due_ms <= ?3 \
     AND due_ms IS NOT NULL ORDER BY due_ms, id LIMIT ?4";

/// The first so many due URLs of each rank of a host from the fifth value on, after one time and until another, for
/// PostgreSQL: one index seek a rank, and one round trip.
const DUE_OF_RANKS: &str = "SELECT x.rank, x.due_ms, x.id FROM generate_series(CAST(?5 AS BIGINT), 15) AS ranks (rank) CROSS JOIN LATERAL \
     (SELECT url.rank, due_ms, id FROM url WHERE host_id = ?1 AND url.rank = ranks.rank AND due_ms > ?2 AND due_ms <= ?3 \
     AND due_ms IS NOT NULL ORDER BY due_ms, id LIMIT ?4) AS x";

impl Reader {
    /// The record of a URL by its row number; `None` if there is none, or if its address no longer parses.
    pub fn url(&self, id: UrlId) -> Result<Option<UrlRecord>> {
        self.url_where("id = ?1", params![id])
    }

    /// The record of an address.
    pub fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>> {
        self.lookup_fingerprint(uri.fingerprint())
    }

    /// The record of the address with this fingerprint.
    pub fn lookup_fingerprint(&self, fingerprint: u64) -> Result<Option<UrlRecord>> {
        match find_beside(&self.conn, fingerprint)? {
            Some(id) => self.url(id),
            None => Ok(None),
        }
    }

    fn url_where(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Option<UrlRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM url WHERE {condition}");
        Ok(self.row(&sql, values, url_record)?.flatten())
    }

    /// The first `limit` URLs of `host` due at `now_ms`, in order of rank, due time and finding.
    pub fn due(&self, host: HostId, now_ms: i64, limit: usize) -> Result<Vec<DueUrl>> {
        let mut found = match self.conn.sqlite() {
            None => self.due_of_ranks(host, 0, now_ms, limit)?,
            Some(_) => {
                let mut found = Vec::new();
                for rank in 0..RANKS {
                    let room = limit - found.len();
                    if room == 0 {
                        break;
                    }
                    found.extend(self.due_of_rank(host, rank, now_ms, room)?);
                }
                found
            }
        };
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }

    fn due_of_rank(
        &self,
        host: HostId,
        rank: u8,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<DueUrl>> {
        self.rows(DUE, params![host, rank, now_ms, sql::limit(limit)], |row| {
            Ok(DueUrl {
                rank,
                due_ms: row.get(0)?,
                id: row.get(1)?,
            })
        })
    }

    /// The first `limit` due URLs of each rank from `from` on. PostgreSQL is asked once for all ranks.
    fn due_of_ranks(
        &self,
        host: HostId,
        from: u8,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<DueUrl>> {
        let mut found = Vec::new();
        if self.conn.sqlite().is_some() {
            for rank in from..RANKS {
                found.extend(self.due_of_rank(host, rank, now_ms, limit)?);
            }
            return Ok(found);
        }
        let values = params![host, i64::MIN, now_ms, sql::limit(limit), i64::from(from)];
        self.rows(DUE_OF_RANKS, values, |row| {
            Ok(DueUrl {
                rank: row.get(0)?,
                due_ms: row.get(1)?,
                id: row.get(2)?,
            })
        })
    }

    /// The `limit` URLs of `host` of rank `from` and above that have been due for longest at `now_ms`.
    pub fn oldest_due(
        &self,
        host: HostId,
        now_ms: i64,
        from: u8,
        limit: usize,
    ) -> Result<Vec<DueUrl>> {
        let mut found = self.due_of_ranks(host, from, now_ms, limit)?;
        found.sort_by_key(|url| (url.due_ms, url.id));
        found.truncate(limit);
        Ok(found)
    }

    /// The earliest due time of `host`; only times after `after_ms` if one is given.
    pub fn next_due(&self, host: HostId, after_ms: Option<i64>) -> Result<Option<i64>> {
        earliest_due(&self.conn, host, after_ms)
    }

    /// Whether `host` has a URL due at `now_ms` that was not visited since `since_ms`, or that is due sooner after its
    /// visit than its interval asks, since something else wants it. One that failed since then does not count: trying it
    /// again is work for later.
    pub fn has_due_since(&self, host: HostId, now_ms: i64, since_ms: i64) -> Result<bool> {
        let sql = format!(
            "{EACH_RANK} SELECT 1 FROM ranks WHERE EXISTS (SELECT 1 FROM url WHERE host_id = ?1 AND url.rank = ranks.rank \
             AND due_ms <= ?2 AND due_ms IS NOT NULL \
             AND (fetched_ms IS NULL OR fetched_ms < ?3 OR (errors = 0 AND due_ms < fetched_ms + interval_ms))) LIMIT 1"
        );
        let found = self.row(&sql, [host, now_ms, since_ms], |_| Ok(()))?;
        Ok(found.is_some())
    }
}

impl Store {
    /// The record of an address, quicker than beside the writing side.
    pub fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>> {
        match self.find(uri)? {
            Some(id) => self.url(id),
            None => Ok(None),
        }
    }

    /// After an unclean stop: the URLs that were being visited then ([`InFlight`](super::InFlight)). Each has its `crashes` raised by one; those at
    /// `suspect` crashes or more go to the end of their host with `rank`, those at `poison` or more are given up.
    pub fn recover(&mut self, suspect: u8, poison: u8, rank: u8) -> Result<Vec<UrlId>> {
        let ids = self.write(|tx| {
            let mut ids = left_in_flight(self.dir());
            ids.sort_unstable();
            ids.dedup();
            for id in &ids {
                tx.execute("UPDATE url SET crashes = crashes + 1, \
                     rank = CASE WHEN crashes + 1 >= ?2 THEN ?4 ELSE rank END, \
                     due_ms = CASE WHEN crashes + 1 >= ?3 THEN NULL ELSE due_ms END, \
                     state = CASE WHEN crashes + 1 >= ?3 THEN 4 ELSE state END, \
                     error = CASE WHEN crashes + 1 >= ?3 THEN 'in flight at every crash' ELSE error END \
                     WHERE id = ?1 AND crashes < 255", params![id, suspect, poison, rank])?;
            }
            Ok(ids)
        })?;
        forget(self.dir());
        Ok(ids)
    }
}

/// One index seek a rank.
pub(super) fn earliest_due(
    conn: &Connection,
    host: HostId,
    after_ms: Option<i64>,
) -> Result<Option<i64>> {
    let sql = format!(
        "{EACH_RANK} SELECT min((SELECT due_ms FROM url WHERE host_id = ?1 AND url.rank = ranks.rank AND due_ms > ?2 AND due_ms < ?3 \
         AND due_ms IS NOT NULL ORDER BY due_ms LIMIT 1)) FROM ranks"
    );
    let values = [host, after_ms.unwrap_or(i64::MIN), HELD_MS];
    conn.query_row(&sql, values, |row| row.get(0))
}

/// The record; `None` if the address no longer parses.
fn url_record(row: &Row<'_>) -> rusqlite::Result<Option<UrlRecord>> {
    let address = row.text(2)?;
    let Ok(uri) = CrawlUri::parse(address) else {
        tracing::warn!(url = address, "stored address does not parse any more");
        return Ok(None);
    };
    Ok(Some(UrlRecord {
        id: row.get(0)?,
        host: row.get(1)?,
        uri,
        site: row.get(3)?,
        hops: row.get(8)?,
        redirects: row.get(9)?,
        via: row.get(10)?,
        first_seen_ms: row.get(11)?,
        crashes: row.get(12)?,
        visit: Visit {
            class: row.get(4)?,
            state: row.get(5)?,
            rank: row.get(6)?,
            due_ms: row.get(7)?,
            interval_ms: row.get(13)?,
            status: row.get(14)?,
            etag: row.get(15)?,
            last_modified: row.get(16)?,
            digest: row.get::<Option<i64>>(17)?.map(i64::cast_unsigned),
            fetched_ms: row.get(18)?,
            changed_ms: row.get(19)?,
            not_found_since_ms: row.get(20)?,
            unchanged: row.get(21)?,
            errors: row.get(22)?,
            documented: row.get(23)?,
            target: row.get(24)?,
            error: row.get(25)?,
            content: row.get::<Option<i64>>(26)?.map(i64::cast_unsigned),
            alias_of: row.get(27)?,
            confirmed_ms: row.get(28)?,
            answer: row.get::<Option<i64>>(29)?.map(i64::cast_unsigned),
        },
    }))
}
