//! New URLs in the one transaction of the crawl. In: a URL that may be new. Out: its row, if it is.

use std::sync::Arc;

use rusqlite::params;

use super::batch::{Inserted, NewUrl};
use super::commit::Writing;
use super::ids::{host_id, site_id};
use super::record::{HostId, SiteId, UrlId};

pub(super) const INSERT_URL: &str = "INSERT INTO url (id, host_id, hash, url, site_id, class, state, rank, due_ms, hops, redirects, via, first_seen_ms) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8, ?9, ?10, ?11, ?12)";

/// Where a URL belongs. The next one mostly belongs there as well.
pub(super) struct Home {
    site: Arc<str>,
    authority: Box<str>,
    site_id: SiteId,
    host_id: HostId,
}

impl Writing<'_> {
    /// Adds a URL unless it is known.
    pub(super) fn insert(&mut self, url: &NewUrl, via: Option<UrlId>) -> rusqlite::Result<()> {
        let hash = url.uri.fingerprint();
        let known = match url.is_new {
            true => self.keys.is_newest(hash),
            false => self.keys.find(self.conn, hash)?.is_some(),
        };
        if known {
            self.done.known += 1;
            return Ok(());
        }
        let (site, host) = self.home(url)?;
        let due_ms = url.due_ms.unwrap_or(self.now_ms);
        self.last_url += 1;
        let id = self.last_url;
        self.insert_url.execute(params![
            id,
            host,
            hash.cast_signed(),
            url.uri.as_str(),
            site,
            url.class as i64,
            url.rank,
            due_ms,
            url.hops,
            url.redirects,
            via,
            self.now_ms,
        ])?;
        self.keys.add(hash, id);
        self.done.inserted.push(Inserted {
            id,
            host,
            site,
            hash,
            rank: url.rank,
            due_ms,
        });
        Ok(())
    }

    /// Row numbers of the site and the host, both made if missing.
    fn home(&mut self, url: &NewUrl) -> rusqlite::Result<(SiteId, HostId)> {
        let authority = url.uri.authority();
        if let Some(home) = &self.home
            && Arc::ptr_eq(&home.site, &url.site)
            && *home.authority == *authority
        {
            return Ok((home.site_id, home.host_id));
        }
        let site = site_id(self.conn, self.caches, &url.site)?;
        let host = host_id(self.conn, self.caches, authority)?;
        if self.caches.host_sites.insert((site, host)) {
            self.conn
                .prepare_cached(
                    "INSERT INTO host_site (site_id, host_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                )?
                .execute([site, host])?;
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
