//! What is known of addresses and their hosts, and which of them are due: records by row or address, pages that share a document,
//! fingerprints for the filter of the frontier.
//!
//! Pages share a document where the same text stands at several addresses, or where an address names another one as the
//! canonical. When the document goes or says something else, the pages that stood for it are fetched again, whole: none is lost
//! by a wrong guess.

use std::sync::Arc;

use taojin_uri::CrawlUri;

use crate::outcome::{Failure, Truncation};

use super::cluster::{Partition, Partitions, first_row, given};
use super::commit::PreviousVisit;
use super::error::Result;
use super::keys::watermark;
use super::open::Reader;
use super::record::{
    Announcement, Cause, DueUrl, HELD_MS, HostId, HostRecord, SiteId, UrlId, UrlRecord, UrlVisit,
};
use super::runs;
use super::sql::{self, Connection, NONE, Row, ToSql, params};
use super::used_templates::UsedTemplate;

/// Ranks that the frontier may use: 0 … `RANKS - 1`.
pub const RANKS: u8 = 16;

/// Begins a question that seeks once for each rank.
const EACH_RANK: &str = "WITH RECURSIVE ranks (rank) AS \
     (SELECT CAST(0 AS BIGINT) UNION ALL SELECT rank + 1 FROM ranks WHERE rank < 15)";

const URL_COLUMNS: &str = "id, host_id, url, coalesce((SELECT name FROM site WHERE site.id = site_id), ''), class, state, rank, due_ms, hops, redirects, via, first_seen_ms, crashes, \
     interval_ms, status, etag, last_modified, digest, fetched_ms, changed_ms, not_found_since_ms, unchanged, errors, \
     documented, target, error, content, alias_of, confirmed_ms, answer, cut_failure, cut_bytes, announced, \
     template_id, template_ms";

/// The first so many due URLs of a rank of a host.
const DUE: &str = "SELECT due_ms, id FROM url WHERE host_id = ?1 AND rank = ?2 AND due_ms <= ?3 \
     AND due_ms IS NOT NULL ORDER BY due_ms, id LIMIT ?4";

/// The first so many due URLs of each rank of a host from the fifth value on, after one time and until another, for
/// PostgreSQL: one index seek a rank, and one round trip.
const DUE_OF_RANKS: &str = "SELECT x.rank, x.due_ms, x.id FROM generate_series(CAST(?5 AS BIGINT), 15) AS ranks (rank) CROSS JOIN LATERAL \
     (SELECT url.rank, due_ms, id FROM url WHERE host_id = ?1 AND url.rank = ranks.rank AND due_ms > ?2 AND due_ms <= ?3 \
     AND due_ms IS NOT NULL ORDER BY due_ms, id LIMIT ?4) AS x";

/// Addresses of one document that go together; more than this have something wrong with their canonical addresses.
const MAX_ADDRESSES: i64 = 10_000;

/// An address that was taken down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takedown {
    /// A fingerprint of it, which no other one has.
    pub fingerprint: u64,
    /// The address.
    pub url: String,
    /// The same of the address that the operator named.
    pub named: u64,
    /// When, Unix milliseconds.
    pub at_ms: i64,
}

impl Reader {
    /// The record of a URL by its row number; `None` if there is none, or if its address no longer parses.
    pub fn url(&self, id: UrlId) -> Result<Option<UrlRecord>> {
        self.url_where("id = ?1", params![id])
    }

    /// The record of an address.
    pub fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>> {
        self.addresses().lookup(uri)
    }

    fn url_where(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Option<UrlRecord>> {
        let sql = format!("SELECT {URL_COLUMNS} FROM url WHERE {condition}");
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

    /// Whether an address was taken down, and when.
    pub fn takedown(&self, uri: &CrawlUri) -> Result<Option<Takedown>> {
        // A few, by hand: no index of the addresses is needed.
        let sql = "SELECT fingerprint, url, named, at_ms FROM takedown WHERE url = ?1";
        self.row(sql, [uri.as_str()], takedown)
    }

    /// All addresses that were taken down.
    pub fn takedowns(&self) -> Result<Vec<Takedown>> {
        let sql = "SELECT fingerprint, url, named, at_ms FROM takedown ORDER BY at_ms, url";
        self.rows(sql, NONE, takedown)
    }

    /// Row numbers of all pages that share a document with `id`, the page that has it first.
    pub fn same_document(&self, id: UrlId) -> Result<Vec<UrlId>> {
        let sql = "SELECT coalesce(alias_of, id) FROM url WHERE id = ?1";
        let Some(primary) = self.row(sql, [id], |row| row.get::<UrlId>(0))? else {
            return Ok(Vec::new());
        };
        let sql =
            "SELECT id FROM url WHERE alias_of = ?1 AND alias_of IS NOT NULL ORDER BY id LIMIT ?2";
        let mut ids = vec![primary];
        ids.extend(self.rows(sql, [primary, MAX_ADDRESSES], |row| row.get::<UrlId>(0))?);
        if !ids.contains(&id) {
            ids.push(id);
        }
        Ok(ids)
    }
}

pub(super) fn takedown(row: &Row<'_>) -> rusqlite::Result<Takedown> {
    Ok(Takedown {
        fingerprint: row.get::<i64>(0)?.cast_unsigned(),
        url: row.get(1)?,
        named: row.get::<i64>(2)?.cast_unsigned(),
        at_ms: row.get(3)?,
    })
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
        announced: announced(row, 32)?,
        template: UsedTemplate::read(row, 33)?,
        first_seen_ms: row.get(11)?,
        crashes: row.get(12)?,
        visit: UrlVisit {
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
            truncation: truncation(row)?,
        },
    }))
}

/// What is said of an attachment; a text that cannot be read says nothing.
pub(super) fn announced(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<Box<Announcement>>> {
    let text = row.get::<Option<String>>(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn truncation(row: &Row<'_>) -> rusqlite::Result<Option<Truncation>> {
    let failure = row.get::<Option<String>>(30)?;
    let failure = failure.and_then(|word| Failure::parse(&word));
    let wire_bytes = row.get::<Option<i64>>(31)?.map(i64::cast_unsigned);
    Ok(failure
        .zip(wire_bytes)
        .map(|(failure, wire_bytes)| Truncation {
            failure,
            wire_bytes,
        }))
}

const HOST_COLUMNS: &str = "id, authority, next_due_ms, not_before_ms, cause, backoff_level, trouble_ms, errors, last_error, \
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
        let sql = format!("SELECT {HOST_COLUMNS} FROM host WHERE authority = ?1");
        self.row(&sql, [authority], host_record)
    }

    /// The record of a host by its row number.
    pub fn host_by_id(&self, id: HostId) -> Result<Option<HostRecord>> {
        let sql = format!("SELECT {HOST_COLUMNS} FROM host WHERE id = ?1");
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
            "SELECT {HOST_COLUMNS} FROM host WHERE not_before_ms > ?1 AND next_due_ms < {HELD_MS}{} \
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
            "SELECT {HOST_COLUMNS} FROM host WHERE errors > 0 OR backoff_level > 0 OR not_before_ms > ?1 \
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

/// Pages that are looked at for one address; a site with more has something wrong with its canonical addresses.
const MAX_PAGES: i64 = 64;

/// Pages with a document that name an address (`?2`) as their canonical one.
const NAMING: &str = "SELECT id FROM url WHERE target = ?2 AND documented = 1 AND target IS NOT NULL ORDER BY id LIMIT ?1";

/// Pages of a site (`?3`) whose documents have one digest (`?4`).
const ALIKE: &str = "SELECT id FROM url WHERE site_id = (SELECT id FROM site WHERE name = ?3) AND content = ?4 \
     AND documented = 1 AND content IS NOT NULL ORDER BY id LIMIT ?1";

/// Pages that a document may have to do with, each list in order of row numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relatives {
    /// With a document, and they name its address as their canonical one.
    pub naming: Vec<UrlId>,
    /// Of its site, and their documents have the same digest.
    pub alike: Vec<UrlId>,
}

/// What several pages of a site show instead of their documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wall {
    /// Name of the site.
    pub site: String,
    /// Digest of the words.
    pub answer: u64,
    /// When the first of them showed it, Unix milliseconds.
    pub since_ms: i64,
}

impl Reader {
    /// What a document of `site` with this digest, at this address, may have to do with.
    pub fn relatives(&self, uri: &CrawlUri, site: &str, content: u64) -> Result<Relatives> {
        let sql = format!(
            "SELECT 0, id FROM ({NAMING}) AS naming UNION ALL SELECT 1, id FROM ({ALIKE}) AS alike ORDER BY 1, 2"
        );
        let values = params![MAX_PAGES, uri.as_str(), site, content.cast_signed()];
        let found = self.rows(&sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (naming, alike): (Vec<_>, Vec<_>) = found.into_iter().partition(|(of, _)| *of == 0);
        let ids = |found: Vec<(i64, UrlId)>| found.into_iter().map(|(_, id)| id).collect();
        Ok(Relatives {
            naming: ids(naming),
            alike: ids(alike),
        })
    }

    /// Pages with a document that name `uri` as their canonical address.
    pub fn naming(&self, uri: &CrawlUri) -> Result<Vec<UrlId>> {
        self.ids(NAMING, params![MAX_PAGES, uri.as_str()])
    }

    /// Pages that the document of `id` stands for as well.
    pub fn aliases(&self, id: UrlId) -> Result<Vec<UrlId>> {
        self.ids(
            "SELECT id FROM url WHERE alias_of = ?1 AND alias_of IS NOT NULL ORDER BY id LIMIT ?2",
            params![id, MAX_PAGES],
        )
    }

    /// Pages of `site` that showed a page of these words instead of their document, and since when the first of them did, Unix
    /// milliseconds; `not` is not counted.
    pub fn answering(&self, site: &str, answer: u64, not: UrlId) -> Result<(i64, Option<i64>)> {
        let found = self.rows(
            "SELECT count(*), min(not_found_since_ms) FROM url \
             WHERE site_id = (SELECT id FROM site WHERE name = ?1) AND answer = ?2 AND answer IS NOT NULL AND id <> ?3",
            params![site, answer.cast_signed(), not],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(found.first().copied().unwrap_or_default())
    }

    /// What several pages of a site show instead of their documents: at most so many.
    pub fn walls(&self, limit: usize) -> Result<Vec<Wall>> {
        self.rows(
            "SELECT site.name, answer, min(not_found_since_ms) FROM url JOIN site ON site.id = site_id \
             WHERE answer IS NOT NULL AND not_found_since_ms IS NOT NULL GROUP BY site.name, answer HAVING count(*) > 1 LIMIT ?1",
            params![sql::limit(limit)],
            |row| {
                Ok(Wall {
                    site: row.get(0)?,
                    answer: row.get::<i64>(1)?.cast_unsigned(),
                    since_ms: row.get(2)?,
                })
            },
        )
    }

    fn ids(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<UrlId>> {
        self.rows(sql, values, |row| row.get(0))
    }
}

/// What a page was before it gave way.
pub(super) struct SupersededDocument {
    pub(super) fingerprint: u64,
    pub(super) before: PreviousVisit,
}

/// Page `id` no longer has a document of its own: it and all that stood for it stand for `primary` now. None if it had
/// no document.
pub(super) fn supersede(
    conn: &Connection,
    id: UrlId,
    primary: UrlId,
) -> Result<Option<SupersededDocument>> {
    let before = conn.row(
        &format!(
            "SELECT {}, hash FROM url WHERE id = ?1 AND documented = 1",
            PreviousVisit::COLUMNS
        ),
        [id],
        |row| {
            Ok(SupersededDocument {
                fingerprint: row.get::<i64>(6)?.cast_unsigned(),
                before: PreviousVisit::read(row)?,
            })
        },
    )?;
    if before.is_some() {
        // The digest of its text goes as well: it stands for the other by its own word, whatever that says.
        conn.execute(
            "UPDATE url SET documented = 0, content = NULL, alias_of = ?2 WHERE id = ?1",
            [id, primary],
        )?;
        conn.execute("UPDATE url SET alias_of = ?2, content = NULL WHERE alias_of = ?1 AND alias_of IS NOT NULL AND id <> ?2", [id, primary])?;
    }
    Ok(before)
}

/// The document of `primary` is gone, or no longer has the digest `content`: pages that stood for it are due at
/// `now_ms`, unconditionally. `all`: also those that only named it as their canonical address.
pub(super) fn release(
    conn: &Connection,
    primary: UrlId,
    content: Option<i64>,
    all: bool,
    now_ms: i64,
) -> Result<Vec<(HostId, DueUrl)>> {
    conn.rows("UPDATE url SET etag = NULL, last_modified = NULL, digest = NULL, content = NULL, alias_of = NULL, \
         target = NULL, due_ms = CASE WHEN due_ms >= ?5 THEN due_ms ELSE ?4 END \
         WHERE alias_of = ?1 AND alias_of IS NOT NULL AND (?3 OR content = ?2) \
         RETURNING host_id, rank, id", params![primary, content, all, now_ms, HELD_MS], |row| {
        Ok((
            row.get(0)?,
            DueUrl {
                rank: row.get(1)?,
                due_ms: now_ms,
                id: row.get(2)?,
            },
        ))
    })
}

impl Reader {
    /// Calls `each` with the fingerprint of every URL found after row `after`; the last row number (or `after`).
    pub fn fingerprints(&self, after: UrlId, mut each: impl FnMut(u64)) -> Result<UrlId> {
        let tx = self.conn.snapshot()?;
        let given = given(&tx)?;
        // In PostgreSQL rows of one partition lie side by side, not those that were found last.
        let Some(file) = tx.sqlite() else {
            return Ok(given);
        };
        let mut from = after;
        if after == 0 {
            // Nearly all of them stand in runs, a tenth as large as the rows.
            tx.wrap(runs::for_each(file, &mut each))?;
            from = tx.wrap(watermark(file))?;
        }
        tx.each("SELECT hash FROM url WHERE id > ?1", [from], |row| {
            each(row.get::<i64>(0)?.cast_unsigned());
            Ok(true)
        })?;
        Ok(after.max(given))
    }

    /// Calls `each` with some fingerprints of a partition after row `after`, in the order of the rows. The last row; none where
    /// there was none.
    pub fn fingerprints_of(
        &self,
        part: Partition,
        after: UrlId,
        mut each: impl FnMut(u64),
    ) -> Result<Option<UrlId>> {
        let mut last = None;
        let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get(1)?));
        let sql = "SELECT hash, id FROM url WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        for (hash, id) in self.rows(sql, [after, first_row(part + 1), SOME], read)? {
            each(hash.cast_unsigned());
            last = Some(id);
        }
        Ok(last)
    }

    /// How many row numbers were ever given to URLs: rises with each. In SQLite it is the highest.
    pub fn last_url(&self) -> Result<UrlId> {
        given(&self.conn)
    }
}

/// Fingerprints read at once.
const SOME: i64 = 50_000;
