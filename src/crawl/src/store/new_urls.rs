//! New URLs in the one transaction of the crawl. In: a URL that may be new. Out: its row, if it is.
//!
//! Row numbers of sites and hosts by name. Out: the number, of a row that is made if it is missing.

use std::sync::Arc;

use taojin_uri::CrawlUri;

use super::error::Result;
use super::keys::Keys;
use super::open::Caches;
use super::partitions::Numbers;
use super::record::{DueUrl, HostId, Inserted, NewUrl, SiteId, UrlId, UrlState};
use super::sql::{Connection, Value, params};

const INSERT_URL: &str = "INSERT INTO url (id, host_id, hash, url, site_id, class, state, rank, due_ms, hops, redirects, via, first_seen_ms)";

/// Where a URL belongs. The next one mostly belongs there as well.
struct Home {
    site: Arc<str>,
    authority: Box<str>,
    site_id: SiteId,
    host_id: HostId,
}

/// The new rows of one open transaction.
pub(super) struct NewUrls<'a> {
    conn: &'a Connection,
    keys: &'a mut Keys,
    rows: Vec<[Value; 13]>,
    home: Option<Home>,
    numbers: &'a mut Numbers,
    now_ms: i64,
    inserted: Vec<Inserted>,
}

impl<'a> NewUrls<'a> {
    /// Nothing is added yet.
    pub(super) fn new(
        conn: &'a Connection,
        keys: &'a mut Keys,
        numbers: &'a mut Numbers,
        now_ms: i64,
    ) -> Result<Self> {
        Ok(NewUrls {
            conn,
            keys,
            rows: Vec::new(),
            home: None,
            numbers,
            now_ms,
            inserted: Vec::new(),
        })
    }

    /// What was added. After the last one.
    pub(super) fn finish(&mut self) -> Result<Vec<Inserted>> {
        self.conn
            .put_rows(INSERT_URL, "ON CONFLICT DO NOTHING", &self.rows)?;
        self.numbers.write(self.conn)?;
        self.keys.write_next(self.conn)?;
        Ok(std::mem::take(&mut self.inserted))
    }

    /// Adds a URL unless it is known.
    pub(super) fn insert(
        &mut self,
        caches: &mut Caches,
        url: &NewUrl,
        via: Option<UrlId>,
    ) -> Result<()> {
        let hash = url.uri.fingerprint();
        let known = match url.is_new {
            true => self.keys.is_newest(hash),
            false => self.keys.find(self.conn, hash)?.is_some(),
        };
        if known {
            return Ok(());
        }
        let (site, host) = self.home(caches, url)?;
        let due_ms = url.due_ms.unwrap_or(self.now_ms);
        let id = self.numbers.next_url(&url.uri);
        self.rows.push([
            id.into(),
            host.into(),
            hash.cast_signed().into(),
            url.uri.as_str().to_owned().into(),
            site.into(),
            (url.class as i64).into(),
            (UrlState::New as i64).into(),
            url.rank.into(),
            due_ms.into(),
            url.hops.into(),
            url.redirects.into(),
            via.into(),
            self.now_ms.into(),
        ]);
        self.keys.add(hash, id);
        let rank = url.rank;
        let due = DueUrl { rank, due_ms, id };
        self.inserted.push(Inserted { host, site, due });
        Ok(())
    }

    /// Row numbers of the site and the host, both made if missing.
    fn home(&mut self, caches: &mut Caches, url: &NewUrl) -> Result<(SiteId, HostId)> {
        let authority = url.uri.authority();
        if let Some(home) = &self.home
            && home.site == url.site
            && *home.authority == *authority
        {
            return Ok((home.site_id, home.host_id));
        }
        let site = site_id(self.conn, caches, &url.site)?;
        let host = host_id(self.conn, caches, &url.uri, self.numbers)?;
        if caches.host_sites.insert((site, host)) {
            self.conn.put(
                "INSERT INTO host_site (site_id, host_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [site, host],
            )?;
        }
        self.home = Some(Home {
            site: Arc::clone(&url.site),
            authority: authority.into(),
            site_id: site,
            host_id: host,
        });
        Ok((site, host))
    }
}

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
