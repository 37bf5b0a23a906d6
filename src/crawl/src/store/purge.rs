//! Removes what was crawled of a URL or a site. Nothing of it is left in the store, and the log of documents records
//! that they are gone. A URL that was taken down is remembered, so that no link brings it back. Archives (WARC) are
//! files of their own and stay as they are.

use taojin_uri::{CrawlUri, FingerprintKey};

use super::commit::PreviousVisit;
use super::documents::Log;
use super::error::Result;
use super::keys::{Keys, NEWEST};
use super::open::{Caches, Store};
use super::record::{SiteId, UrlId, UrlState};
use super::sites::wake_host_of;
use super::sql::{Connection, params};
use super::urls::{Takedown, takedown};
use super::{runs, templates};

/// URLs or documents deleted in one transaction, so that a big site does not fill the WAL.
const BATCH: i64 = 5_000;

/// What was taken out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purged {
    /// Rows of URLs.
    pub urls: usize,
    /// Fingerprints of the documents that are gone.
    pub documents: Vec<u64>,
    /// Row numbers (of an address only).
    pub ids: Vec<UrlId>,
    /// The addresses, the one that has the document first (of an address only).
    pub addresses: Vec<CrawlUri>,
    /// Number of the last change of a document: once the index has committed it, nothing is found any more.
    pub document_seq: i64,
}

/// Takes out of the store what was crawled.
#[derive(Debug)]
pub struct Purge<'a>(pub(super) &'a mut Store);

impl Purge<'_> {
    /// Takes down an address: the document that stands for it, all its addresses, and the pages saved for templates. From
    /// now on none of these addresses is visited. Works also for an address that was never crawled.
    pub fn page(mut self, uri: &CrawlUri, now_ms: i64) -> Result<Purged> {
        let mut found = Vec::new();
        if let Some(record) = self.0.lookup(uri)? {
            for id in self.0.same_document(record.id)? {
                found.extend(self.0.url(id)?.zip(self.0.addresses().fingerprint_of(id)?));
            }
        }
        let key = self.0.addresses().key();
        let named = takedown_number(&self.0.conn, key, uri)?;
        // An imported document has no row of its address.
        let imported = self.0.addresses().document_key(uri)?;
        let before = self.0.document(imported)?;
        let mut done = Purged {
            urls: found.len(),
            ..Purged::default()
        };
        self.begin_overwriting()?;
        self.write_log(now_ms, |tx, log| {
            for (record, fingerprint) in &found {
                let site: SiteId =
                    tx.query_row("SELECT site_id FROM url WHERE id = ?1", [record.id], |r| {
                        r.get(0)
                    })?;
                let visit = &record.visit;
                tx.execute("UPDATE url SET state = ?2, due_ms = NULL, etag = NULL, last_modified = NULL, digest = NULL, \
                     content = NULL, documented = 0, target = NULL, alias_of = NULL, error = NULL, answer = NULL, \
                     cut_failure = NULL, cut_bytes = NULL WHERE id = ?1", params![record.id, UrlState::Refused])?;
                count(tx, site, visit.state.as_str(), -1)?;
                count(tx, site, UrlState::Refused.as_str(), 1)?;
                for (name, amount) in PreviousVisit::after(site, visit).counted() {
                    count(tx, site, name, -amount)?;
                }
                if visit.documented {
                    done.documents.push(*fingerprint);
                }
                done.ids.push(record.id);
                done.addresses.push(record.uri.clone());
            }
            if !done.addresses.contains(uri) {
                done.addresses.push(uri.clone());
            }
            for address in &done.addresses {
                let fingerprint = takedown_number(tx, key, address)?;
                tx.execute("INSERT INTO takedown (fingerprint, url, named, at_ms) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (fingerprint) DO NOTHING", params![fingerprint, address.as_str(), named, now_ms])?;
                tx.execute("DELETE FROM template_page WHERE url = ?1", [address.as_str()])?;
            }
            for (_, fingerprint) in &found {
                log.erase(*fingerprint)?;
            }
            log.erase(imported)?;
            templates::raise(tx)
        })?;
        if before.is_some_and(|row| row.body.is_some()) && !done.documents.contains(&imported) {
            done.documents.push(imported);
        }
        done.document_seq = self.0.document_seq;
        self.end_overwriting();
        Ok(done)
    }

    /// Lifts a takedown, of all addresses that were named with this one. Those that have a row are due again.
    pub fn allow(self, uri: &CrawlUri, now_ms: i64) -> Result<Vec<Takedown>> {
        let Some(this) = self.0.takedown(uri)? else {
            return Ok(Vec::new());
        };
        let sql =
            "SELECT fingerprint, url, named, at_ms FROM takedown WHERE named = ?1 ORDER BY url";
        let named = this.named.cast_signed();
        let all = self.0.rows(sql, [named], takedown)?;
        let mut rows = Vec::new();
        for address in &all {
            if let Ok(uri) = CrawlUri::parse(&address.url) {
                rows.extend(self.0.lookup(&uri)?.map(|record| record.id));
            }
        }
        self.0.write(|tx| {
            tx.execute("DELETE FROM takedown WHERE named = ?1", [named])?;
            for id in &rows {
                let (site, state) = tx.query_row(
                    "SELECT site_id, state FROM url WHERE id = ?1",
                    [id],
                    |row| Ok((row.get::<SiteId>(0)?, row.get::<UrlState>(1)?)),
                )?;
                count(tx, site, state.as_str(), -1)?;
                count(tx, site, UrlState::New.as_str(), 1)?;
                tx.execute(
                    "UPDATE url SET state = ?2, due_ms = ?3 WHERE id = ?1",
                    params![id, UrlState::New, now_ms],
                )?;
                wake_host_of(tx, *id, now_ms)?;
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Takes out everything of a site: its URLs, counters and templates, the documents of its URLs and
    /// those in `more`. `keep` leaves the site itself, with its pause and the time of its last cycle. `each` is told how
    /// many URLs are gone so far, after every transaction. Works in several transactions; after a crash in between call it again.
    pub fn site(
        mut self,
        name: &str,
        keep: bool,
        more: &[u64],
        now_ms: i64,
        mut each: impl FnMut(usize),
    ) -> Result<Purged> {
        let mut done = Purged::default();
        self.begin_overwriting()?;
        if let Some(site) = self.0.site(name)? {
            // Runs that were being made of others would bring forgotten addresses back.
            self.0.keys = Keys::default();
            let forgotten = self.forget_urls(site.id, now_ms, &mut done, &mut each);
            self.0.caches = Caches::default();
            self.0.keys = Keys::load(&self.0.conn, NEWEST)?;
            forgotten?;
            self.0.write(|tx| end_site(tx, site.id, keep))?;
        }
        self.0.write(|tx| drop_templates(tx, name))?;
        for some in more.chunks(BATCH as usize) {
            self.write_log(now_ms, |_, log| {
                some.iter().try_for_each(|document| log.erase(*document))
            })?;
            each(done.urls);
        }
        self.end_overwriting();
        done.documents.extend(more);
        done.documents.sort_unstable();
        done.documents.dedup();
        done.document_seq = self.0.document_seq;
        Ok(done)
    }

    /// From now on the room of deleted rows is overwritten.
    fn begin_overwriting(&self) -> Result<()> {
        let begin = |file: &rusqlite::Connection| file.pragma_update(None, "secure_delete", true);
        self.0.conn.wrap(self.0.conn.sqlite().map_or(Ok(()), begin))
    }

    /// Afterwards nothing of the deleted rows is left in the files, unless a reader that is under way needs the log next to the
    /// database: then it is overwritten in its turn. A failure (full disk) is only told: the rows are gone whatever it says.
    fn end_overwriting(&self) {
        let Some(file) = self.0.conn.sqlite() else {
            return;
        };
        let emptied = file
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .and_then(|()| file.pragma_update(None, "secure_delete", false));
        if let Err(error) = emptied {
            tracing::warn!(
                %error,
                "the texts are deleted, but their bytes stay in crawl.sqlite-wal until it is overwritten"
            );
        }
    }

    fn forget_urls(
        &mut self,
        site: SiteId,
        now_ms: i64,
        done: &mut Purged,
        each: &mut impl FnMut(usize),
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let doomed = self.write_log(now_ms, |tx, log| forget_some(tx, log, site, after))?;
            done.urls += doomed.len();
            let documents = doomed.iter().filter(|(_, _, documented)| *documented);
            done.documents
                .extend(documents.map(|(_, hash, _)| hash.cast_unsigned()));
            match doomed.last() {
                Some((last, ..)) => after = *last,
                None => return Ok(()),
            }
            each(done.urls);
        }
    }

    /// One transaction that writes to the log of documents.
    fn write_log<T>(
        &mut self,
        now_ms: i64,
        change: impl FnOnce(&Connection, &mut Log<'_>) -> Result<T>,
    ) -> Result<T> {
        let (done, seq) = self.0.write(|tx| {
            let mut log = Log::new(tx, self.0.document_seq, now_ms);
            log.take_turn()?;
            let done = change(tx, &mut log)?;
            log.note_last()?;
            Ok((done, log.seq))
        })?;
        self.0.document_seq = seq;
        Ok(done)
    }
}

/// A fingerprint of an address that no other takedown has: no address is taken down in the name of another, or left standing.
fn takedown_number(conn: &Connection, key: FingerprintKey, address: &CrawlUri) -> Result<i64> {
    let first = key.fingerprint(address);
    let others = (1..).map(|step| first.wrapping_add(step));
    for number in key.fingerprints(address).chain(others) {
        let number = number.cast_signed();
        let sql = "SELECT url FROM takedown WHERE fingerprint = ?1";
        let found = conn.row(sql, [number], |row| Ok(row.text(0)? == address.as_str()))?;
        if found.unwrap_or(true) {
            return Ok(number);
        }
    }
    Ok(first.cast_signed())
}

/// Deletes some URLs of a site after row `after` and their documents. Gives their row numbers and fingerprints, and whether they
/// had a document.
fn forget_some(
    tx: &Connection,
    log: &mut Log<'_>,
    site: SiteId,
    after: UrlId,
) -> Result<Vec<(UrlId, i64, bool)>> {
    let doomed: Vec<(UrlId, i64, bool)> = tx.rows(
        "SELECT id, hash, documented FROM url WHERE id > ?2 AND site_id = ?1 ORDER BY id LIMIT ?3",
        [site, after, BATCH],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let live = match tx.sqlite() {
        Some(file) => Some((file, tx.wrap(runs::live(file))?)),
        None => None,
    };
    for (id, hash, documented) in &doomed {
        if let Some((file, live)) = &live {
            tx.wrap(runs::remove(file, live, hash.cast_unsigned()))?;
        }
        tx.execute("DELETE FROM url WHERE id = ?1", [id])?;
        if *documented {
            log.erase(hash.cast_unsigned())?;
        }
    }
    Ok(doomed)
}

/// What a site has next to its URLs; with `keep` it stays as one that was crawled and has nothing.
fn end_site(tx: &Connection, site: SiteId, keep: bool) -> Result<()> {
    tx.execute("DELETE FROM host_site WHERE site_id = ?1", [site])?;
    tx.execute("DELETE FROM counter WHERE site_id = ?1", [site])?;
    let sql = if keep {
        "UPDATE site SET last_error = NULL WHERE id = ?1"
    } else {
        "DELETE FROM site WHERE id = ?1"
    };
    tx.execute(sql, [site])?;
    Ok(())
}

/// Deletes the templates of a site.
fn drop_templates(tx: &Connection, name: &str) -> Result<()> {
    for table in ["template", "template_page", "template_fit"] {
        tx.execute(&format!("DELETE FROM {table} WHERE site = ?1"), [name])?;
    }
    templates::raise(tx)?;
    Ok(())
}

fn count(conn: &Connection, site: SiteId, name: &str, amount: i64) -> Result<()> {
    conn.execute(
        "INSERT INTO counter (site_id, name, value) VALUES (?1, ?2, ?3) \
         ON CONFLICT (site_id, name) DO UPDATE SET value = counter.value + excluded.value",
        params![site, name, amount],
    )?;
    Ok(())
}
