//! Row numbers of sites and hosts by name. Out: the number, of a row that is made if it is missing.

use std::sync::Arc;

use super::error::Result;
use super::numbers::Numbers;
use super::open::Caches;
use super::record::{HostId, SiteId};
use super::sql::{Connection, params};
use taojin_uri::CrawlUri;

/// Row number of a site by name, made if missing.
pub(super) fn site_id(conn: &Connection, caches: &mut Caches, name: &Arc<str>) -> Result<SiteId> {
    if let Some(&id) = caches.sites.get(name) {
        return Ok(id);
    }
    conn.put(
        "INSERT INTO site (name) VALUES (?1) ON CONFLICT DO NOTHING",
        [name],
    )?;
    let id = conn.query_row("SELECT id FROM site WHERE name = ?1", [name], |row| {
        row.get(0)
    })?;
    caches.sites.insert(Arc::clone(name), id);
    Ok(id)
}

/// Row number of a host by its authority, made if missing.
pub(super) fn host_id(
    conn: &Connection,
    caches: &mut Caches,
    uri: &CrawlUri,
    numbers: &mut Numbers,
) -> Result<HostId> {
    let authority = uri.authority();
    if let Some(&id) = caches.hosts.get(authority) {
        return Ok(id);
    }
    let found = conn.row(
        "SELECT id FROM host WHERE authority = ?1",
        [authority],
        |row| row.get(0),
    )?;
    let id = match found {
        Some(id) => id,
        None => conn.query_row(
            "INSERT INTO host (id, authority) VALUES (?1, ?2) RETURNING id",
            params![numbers.next_host(uri), authority],
            |row| row.get(0),
        )?,
    };
    caches.hosts.insert(authority.into(), id);
    Ok(id)
}
