//! Addresses that one node finds and another one crawls. In: links to partitions of other nodes. Out: what the others found for
//! the partitions of this node. They are sent in the transaction of the page that has them, and taken up in the one that adds
//! their rows: none is lost, and none is there twice.

use std::sync::Arc;

use super::error::Result;
use super::open::{Reader, Store};
use super::partitions::{Partitions, partition};
use super::record::{Batch, NewUrl};
use super::sql::{self, Connection, Row, list, params};
use taojin_uri::CrawlUri;

/// Sends and takes up in the open transaction. In the order of the fingerprints, so that two nodes seldom wait for each other.
pub(super) fn write(conn: &Connection, batch: &Batch, now_ms: i64) -> Result<()> {
    if !batch.taken_up.is_empty() {
        let taken = list(batch.taken_up.iter().map(|hash| hash.cast_signed()));
        conn.put(
            &format!("DELETE FROM inbox WHERE hash IN ({taken})"),
            sql::NONE,
        )?;
    }
    if batch.foreign.is_empty() {
        return Ok(());
    }
    let mut sent: Vec<&NewUrl> = batch.foreign.iter().collect();
    sent.sort_unstable_by_key(|url| url.uri.fingerprint());
    let sql = "INSERT INTO inbox (hash, part, url, site, class, hops, redirects, via, due_ms, sent_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
    for url in sent {
        let values = params![
            url.uri.fingerprint().cast_signed(),
            partition(&url.uri),
            url.uri.as_str(),
            url.site,
            url.class,
            url.hops,
            url.redirects,
            url.via,
            url.due_ms,
            now_ms,
        ];
        conn.put(sql, values)?;
    }
    Ok(())
}

impl Store {
    /// At most `limit` addresses that other nodes have found in these partitions, for [`Batch::urls`] and
    /// [`Batch::taken_up`]. One that does not parse, or that is there already, is only to be taken out.
    pub fn sent_here(
        &self,
        parts: &Partitions,
        limit: usize,
    ) -> Result<Vec<(u64, Option<NewUrl>)>> {
        if !parts.are_shared() || parts.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT hash, url, site, class, hops, redirects, via, due_ms FROM inbox WHERE part IN ({}) LIMIT {limit}",
            list(parts.iter())
        );
        self.conn.query_once(&sql, read)
    }
}

impl Reader {
    /// The same of all partitions, in the order of their fingerprints, behind one of them.
    pub(super) fn sent_after(&self, hash: i64, limit: u64) -> Result<Vec<(u64, Option<NewUrl>)>> {
        let sql = format!(
            "SELECT hash, url, site, class, hops, redirects, via, due_ms FROM inbox \
             WHERE hash > {hash} ORDER BY hash LIMIT {limit}"
        );
        self.conn.query_once(&sql, read)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<(u64, Option<NewUrl>)> {
    let hash = row.get::<i64>(0)?.cast_unsigned();
    let Ok(uri) = CrawlUri::parse(row.text(1)?) else {
        return Ok((hash, None));
    };
    let site: Arc<str> = Arc::from(row.text(2)?);
    let url = NewUrl {
        class: row.get(3)?,
        redirects: row.get(5)?,
        via: row.get(6)?,
        due_ms: row.get(7)?,
        ..NewUrl::link(uri, &site, row.get(4)?)
    };
    Ok((hash, Some(url)))
}
