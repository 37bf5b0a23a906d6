//! Finds what the store has of an address: by its fingerprint, and then by its text. Never takes one address for another that has
//! the same fingerprint: that one has the next of its fingerprints that is free.

use std::collections::HashMap;

use taojin_uri::{CrawlUri, FingerprintKey};

use super::documents::DocumentRow;
use super::error::Result;
use super::keys::{Keys, find_beside, meta, set_meta};
use super::open::Reader;
use super::record::{SiteId, UrlId, UrlRecord};
use super::sql::{Connection, Row, list};

/// The halves of the key, next to the tables.
pub(super) const KEY: [&str; 2] = ["fingerprint_key_1", "fingerprint_key_2"];

/// Addresses in one statement.
const AT_ONCE: usize = 1_000;

/// Where an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In this row.
    Row(UrlId),
    /// In none: this fingerprint of it is no other's.
    Free(u64),
    /// In none, and all its fingerprints are others'.
    Taken,
}

impl Place {
    pub(super) fn row(self) -> Option<UrlId> {
        match self {
            Place::Row(id) => Some(id),
            Place::Free(_) | Place::Taken => None,
        }
    }

    fn free(self) -> Option<u64> {
        match self {
            Place::Free(fingerprint) => Some(fingerprint),
            Place::Row(_) | Place::Taken => None,
        }
    }
}

/// Looks an address up. `find` gives the row of a fingerprint, `is_at` says whether a row is that of the address.
pub(super) fn place(
    key: FingerprintKey,
    address: &CrawlUri,
    mut find: impl FnMut(u64) -> Result<Option<UrlId>>,
    mut is_at: impl FnMut(UrlId) -> Result<bool>,
) -> Result<Place> {
    let mut passed_over = false;
    for fingerprint in key.fingerprints(address) {
        match find(fingerprint)? {
            None => {
                if passed_over {
                    tracing::warn!(url = %address, "address has the fingerprint of another one, and gets its next one");
                }
                return Ok(Place::Free(fingerprint));
            }
            Some(id) if is_at(id)? => return Ok(Place::Row(id)),
            Some(_) => passed_over = true,
        }
    }
    tracing::warn!(url = %address, "address is left out, since all its fingerprints are those of others");
    Ok(Place::Taken)
}

/// Whether a row is that of an address.
pub(super) fn is_at(conn: &Connection, id: UrlId, address: &CrawlUri) -> Result<bool> {
    let found = conn.row("SELECT url FROM url WHERE id = ?1", [id], |row| {
        Ok(row.text(0)? == address.as_str())
    })?;
    Ok(found.unwrap_or_default())
}

/// The key of a database.
pub(super) fn read_key(conn: &Connection) -> Result<FingerprintKey> {
    let [first, second] = KEY;
    let half = |name| Ok(meta(conn, name)?.cast_unsigned());
    Ok(FingerprintKey::new([half(first)?, half(second)?]))
}

/// Gives a database the key of another one, whose fingerprints it takes over.
pub(super) fn write_key(conn: &Connection, key: FingerprintKey) -> Result<()> {
    for (name, half) in KEY.into_iter().zip(key.halves()) {
        set_meta(conn, name, half.cast_signed())?;
    }
    Ok(())
}

/// What a store has of addresses.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    reader: &'a Reader,
    key: FingerprintKey,
    /// What the writing side has in memory: quicker than next to it.
    keys: Option<&'a Keys>,
}

impl<'a> Addresses<'a> {
    pub(super) fn new(reader: &'a Reader, key: FingerprintKey, keys: Option<&'a Keys>) -> Self {
        Self { reader, key, keys }
    }

    /// The key of the fingerprints of the store.
    pub fn key(&self) -> FingerprintKey {
        self.key
    }

    /// The record of an address.
    pub fn lookup(&self, address: &CrawlUri) -> Result<Option<UrlRecord>> {
        match self.place(address)?.row() {
            Some(id) => self.reader.url(id),
            None => Ok(None),
        }
    }

    /// The record of the address with this fingerprint.
    pub fn lookup_fingerprint(&self, fingerprint: u64) -> Result<Option<UrlRecord>> {
        match self.find(fingerprint)? {
            Some(id) => self.reader.url(id),
            None => Ok(None),
        }
    }

    /// The fingerprint that each of these addresses will have, in their order; none for those that have a record. One read
    /// transaction.
    pub fn free(&self, addresses: &[&CrawlUri]) -> Result<Vec<Option<u64>>> {
        if self.reader.conn.sqlite().is_none() {
            return self.free_at_once(addresses);
        }
        let _tx = self.reader.conn.snapshot()?;
        let free = |address: &&CrawlUri| Ok(self.place(address)?.free());
        addresses.iter().map(free).collect()
    }

    /// The fingerprint of a row.
    pub fn fingerprint_of(&self, id: UrlId) -> Result<Option<u64>> {
        let sql = "SELECT hash FROM url WHERE id = ?1";
        let read = |row: &Row<'_>| Ok(row.get::<i64>(0)?.cast_unsigned());
        self.reader.row(sql, [id], read)
    }

    /// The latest row of the document of a URL: its present version, or that it is gone.
    pub fn document_of(&self, id: UrlId) -> Result<Option<DocumentRow>> {
        match self.fingerprint_of(id)? {
            Some(fingerprint) => self.reader.document(fingerprint),
            None => Ok(None),
        }
    }

    /// The fingerprint under which the document of an address is kept, or would be: that of its row, if the address is one of a
    /// site; else that of a document which came from elsewhere.
    pub fn document_key(&self, address: &CrawlUri) -> Result<u64> {
        let mut free = None;
        for fingerprint in self.key.fingerprints(address) {
            let is_own = match (self.find(fingerprint)?, self.reader.document(fingerprint)?) {
                (Some(id), _) => is_at(&self.reader.conn, id, address)?,
                (None, Some(row)) => row.url == address.as_str(),
                (None, None) => {
                    free = free.or(Some(fingerprint));
                    false
                }
            };
            if is_own {
                return Ok(fingerprint);
            }
        }
        // That all of them are others' does not happen: then the document takes the place of one.
        Ok(free.unwrap_or_else(|| self.key.fingerprint(address)))
    }

    /// The hosts of a site's addresses, `host` or `host:port`.
    pub fn authorities(&self, site: SiteId) -> Result<Vec<Box<str>>> {
        let sql = "SELECT authority FROM host_site JOIN host ON host.id = host_site.host_id WHERE site_id = ?1";
        let read = |row: &Row<'_>| Ok(Box::from(row.text(0)?));
        self.reader.rows(sql, [site], read)
    }

    /// The row of a fingerprint.
    fn find(&self, fingerprint: u64) -> Result<Option<UrlId>> {
        match self.keys {
            Some(keys) => keys.find(&self.reader.conn, fingerprint),
            None => find_beside(&self.reader.conn, fingerprint),
        }
    }

    fn place(&self, address: &CrawlUri) -> Result<Place> {
        let find = |fingerprint| self.find(fingerprint);
        let is_at = |id| is_at(&self.reader.conn, id, address);
        place(self.key, address, find, is_at)
    }

    /// The same of many, of a database with an index of fingerprints: few statements for all of them.
    fn free_at_once(&self, addresses: &[&CrawlUri]) -> Result<Vec<Option<u64>>> {
        let mut rows = HashMap::new();
        let key = |address: &CrawlUri| self.key.fingerprint(address).cast_signed();
        for some in addresses.chunks(AT_ONCE) {
            let hashes = list(some.iter().map(|address| key(address)));
            let sql = format!("SELECT hash, url FROM url WHERE hash IN ({hashes})");
            let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?));
            rows.extend(self.reader.conn.query_once(&sql, read)?);
        }
        let free = |address: &&CrawlUri| match rows.get(&key(address)) {
            None => Ok(Some(key(address).cast_unsigned())),
            Some(url) if url == address.as_str() => Ok(None),
            Some(_) => Ok(self.place(address)?.free()),
        };
        addresses.iter().map(free).collect()
    }
}
