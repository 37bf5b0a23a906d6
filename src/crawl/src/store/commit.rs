//! The one transaction of the crawl: writes a [`Batch`] and returns a [`Committed`] after it is durable, or an error
//! after which nothing of it is stored and the same batch may be tried again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use taojin_uri::{CrawlUri, FingerprintKey};

use super::addresses::{Place, is_at, place};
use super::cluster::{Numbers, Partition};
use super::documents::{Compressor, DocOp, Log};
use super::error::{Result, StoreError};
use super::keys::{Keys, set_meta};
use super::open::{CLOCK, Caches, Store};
use super::record::{
    Announcement, Batch, Committed, DueUrl, FinishedPage, HostId, HostRecord, Inserted, NewUrl,
    SiteId, UrlId, UrlRecord, UrlState, UrlVisit,
};
use super::sql::{self, Connection, Row, Value, list, params};
use super::urls::earliest_due;
use super::used_templates::UsedTemplate;
use super::{cluster, urls};

/// Ids kept by name; above it the cache starts again. About 100 bytes each.
const CACHE_HOSTS: usize = 100_000;

/// A transaction that another node's stood in the way of is tried again at once so often.
const TRIES: usize = 5;

/// Rows asked for in one statement.
const AT_ONCE: usize = 256;

const UPDATE_URL: &str = "UPDATE url SET state = ?2, class = ?3, due_ms = ?4, rank = ?5, interval_ms = ?6, status = ?7, etag = ?8, \
     last_modified = ?9, digest = ?10, fetched_ms = ?11, changed_ms = ?12, not_found_since_ms = ?13, unchanged = ?14, \
     errors = ?15, documented = ?16, target = ?17, error = ?18, content = ?19, alias_of = ?20, \
     confirmed_ms = ?21, answer = ?22, cut_failure = ?23, cut_bytes = ?24, \
     template_id = coalesce(?25, template_id), template_ms = coalesce(?26, template_ms), crashes = 0 WHERE id = ?1";

const UPDATE_HOST: &str = "UPDATE host SET not_before_ms = ?2, cause = ?3, backoff_level = ?4, trouble_ms = ?5, errors = ?6, \
     last_error = ?7, crawl_delay_ms = ?8, elapsed_ms = ?9, ip = ?10, fetched = ?11, cycle_ms = ?12, cycle_pages = ?13 \
     WHERE id = ?1";

impl Store {
    /// Writes the batch in one durable transaction. `now_ms` is the finding time of new URLs and the due time of
    /// those that name none.
    pub fn commit(&mut self, batch: &Batch, now_ms: i64) -> Result<Committed> {
        self.renew_dictionary()?;
        for _ in 1..TRIES {
            match self.try_commit(batch, now_ms) {
                Err(StoreError::Deadlock { .. }) => {
                    tracing::debug!("two nodes waited for each other")
                }
                done => return done,
            }
        }
        self.try_commit(batch, now_ms)
    }

    fn try_commit(&mut self, batch: &Batch, now_ms: i64) -> Result<Committed> {
        let Store {
            reader,
            caches,
            keys,
            numbers,
            compressor,
            ..
        } = self;
        if caches.hosts.len() > CACHE_HOSTS || caches.host_sites.len() > CACHE_HOSTS {
            *caches = Caches::default();
        }
        let key = reader.addresses().key();
        let numbers_before = numbers.clone();
        let mut write = || {
            let tx = reader.conn.transaction()?;
            let mut log = Log::new(&tx, self.document_seq, now_ms);
            log.versions = self.retention.versions;
            let mut writing = Writing::new(log, caches, compressor);
            let mut new_urls = NewUrls::new(&tx, key, keys, numbers, now_ms);
            let done = writing.run(batch, &mut new_urls)?;
            drop((writing, new_urls));
            set_meta(&tx, CLOCK, now_ms)?;
            tx.commit()?;
            Ok(done)
        };
        let result: Result<Committed> = write();
        match &result {
            Ok(done) => {
                keys.settle();
                self.document_seq = done.document_seq;
            }
            Err(_) => {
                keys.undo();
                *numbers = numbers_before;
                *caches = Caches::default();
            }
        }
        result
    }

    /// The record of an address, quicker than next to the writing side.
    pub fn lookup(&self, uri: &CrawlUri) -> Result<Option<UrlRecord>> {
        self.addresses().lookup(uri)
    }

    /// The same as [`Reader::last_url`](super::Reader::last_url), from memory.
    pub fn newest_url(&self) -> UrlId {
        self.numbers.given()
    }

    /// The last row number of a partition, from memory.
    pub fn last_row(&self, part: Partition) -> UrlId {
        self.numbers.last_of(part)
    }
}

/// One open transaction, and what it changes next to the rows of its pages.
struct Writing<'a> {
    conn: &'a Connection,
    log: Log<'a>,
    /// What becomes of documents: written last, since nodes take turns with the log.
    documents: Vec<(u64, Ending<'a>)>,
    caches: &'a mut Caches,
    compressor: &'a mut Compressor,
    now_ms: i64,
    done: Committed,
    before: HashMap<UrlId, PreviousVisit>,
    /// Fingerprints of pages whose documents may change.
    fingerprints: HashMap<UrlId, u64>,
    due: HashMap<HostId, i64>,
    counters: HashMap<SiteId, HashMap<Cow<'static, str>, i64>>,
}

impl<'a> Writing<'a> {
    fn new(log: Log<'a>, caches: &'a mut Caches, compressor: &'a mut Compressor) -> Self {
        Writing {
            conn: log.conn,
            caches,
            compressor,
            now_ms: log.now_ms,
            log,
            documents: Vec::new(),
            done: Committed::default(),
            before: HashMap::new(),
            fingerprints: HashMap::new(),
            due: HashMap::new(),
            counters: HashMap::new(),
        }
    }

    fn run(&mut self, batch: &'a Batch, new_urls: &mut NewUrls<'_>) -> Result<Committed> {
        self.read_before(batch)?;
        for page in &batch.pages {
            // What was purged while the page was on its way leaves nothing to finish, and its links do not count.
            if self.finish(page)? {
                for link in &page.outlinks {
                    new_urls.insert(self.caches, link, Some(page.id))?;
                }
            }
        }
        for url in &batch.urls {
            new_urls.insert(self.caches, url, url.via)?;
        }
        self.done.inserted = new_urls.finish()?;
        for (uri, announced) in &batch.announced {
            new_urls.announce(uri, announced)?;
        }
        cluster::write(self.conn, new_urls.key, batch, self.now_ms)?;
        self.count_inserted();
        for host in &batch.hosts {
            self.update_host(host)?;
        }
        for &(id, due_ms) in &batch.hold {
            self.conn.put(
                "UPDATE url SET due_ms = ?2 WHERE id = ?1 AND due_ms IS NOT NULL",
                [id, due_ms],
            )?;
        }
        self.wake_hosts()?;
        self.reschedule(&batch.reschedule)?;
        for (fingerprint, op) in &batch.documents {
            self.documents.push((*fingerprint, Ending::Op(op)));
        }
        for ((site, name), amount) in &batch.counters {
            let site = site_id(self.conn, self.caches, site)?;
            self.count(site, name.clone(), *amount);
        }
        for (site, error) in &batch.site_errors {
            let site = site_id(self.conn, self.caches, site)?;
            self.conn.put(
                "UPDATE site SET last_error = ?2 WHERE id = ?1",
                params![site, error],
            )?;
        }
        self.write_counters()?;
        self.write_log()?;
        self.done.document_seq = self.log.seq;
        Ok(std::mem::take(&mut self.done))
    }

    /// Whether the page still has a row.
    fn finish(&mut self, page: &'a FinishedPage) -> Result<bool> {
        let v = &page.visit;
        let Some(before) = self.before.get_mut(&page.id) else {
            return Ok(false);
        };
        let after = PreviousVisit::after(before.site, v);
        let added = after.counted();
        let before = std::mem::replace(before, after);
        let (template_id, template_ms) = UsedTemplate::columns(page.template);
        self.conn.put(
            UPDATE_URL,
            params![
                page.id,
                v.state,
                v.class,
                v.due_ms,
                v.rank,
                v.interval_ms,
                v.status,
                v.etag,
                v.last_modified,
                v.digest.map(u64::cast_signed),
                v.fetched_ms,
                v.changed_ms,
                v.not_found_since_ms,
                v.unchanged,
                v.errors,
                v.documented,
                v.target,
                v.error,
                v.content.map(u64::cast_signed),
                v.alias_of,
                v.confirmed_ms,
                v.answer.map(u64::cast_signed),
                v.truncation.map(|t| t.failure.as_str()),
                v.truncation.map(|t| t.wire_bytes.cast_signed()),
                template_id,
                template_ms,
            ],
        )?;
        if let Some(due_ms) = v.due_ms {
            self.wake(page.host, due_ms);
        }
        self.count(before.site, before.state.as_str(), -1);
        self.count(before.site, v.state.as_str(), 1);
        for (name, amount) in added {
            self.count(before.site, name, amount);
        }
        for (name, amount) in before.counted() {
            self.count(before.site, name, -amount);
        }
        let own = page.document.as_ref().map(|op| (page.id, op));
        let other = page.other_document.as_ref().map(|(id, op)| (*id, op));
        for (id, op) in own.into_iter().chain(other) {
            if let Some(fingerprint) = self.fingerprints.get(&id) {
                self.documents.push((*fingerprint, Ending::Op(op)));
            }
        }
        for &id in &page.yielding {
            self.supersede(id, page.id, before.site)?;
        }
        self.release(page, &before)?;
        Ok(true)
    }

    fn supersede(&mut self, id: UrlId, primary: UrlId, site: SiteId) -> Result<()> {
        let Some(gave) = urls::supersede(self.conn, id, primary)? else {
            return Ok(());
        };
        for (name, amount) in gave.before.counted() {
            self.count(site, name, -amount);
        }
        if let Some(before) = self.before.get_mut(&id) {
            (before.documented, before.content) = (false, None);
        }
        self.documents.push((gave.fingerprint, Ending::Superseded));
        Ok(())
    }

    /// Writes down what becomes of documents. From here to the end of the transaction no other node writes to the log: so its
    /// numbers have no gap, and whoever reads it sees them in their order.
    fn write_log(&mut self) -> Result<()> {
        if self.documents.is_empty() {
            return Ok(());
        }
        self.log.take_turn()?;
        let all: Vec<u64> = self.documents.iter().map(|(of, _)| *of).collect();
        for some in all.chunks(AT_ONCE) {
            self.log.look_up(some)?;
        }
        for (fingerprint, ending) in std::mem::take(&mut self.documents) {
            match ending {
                Ending::Op(op) => self.log.put(fingerprint, op, self.compressor)?,
                Ending::Superseded => self.log.end(fingerprint)?,
            }
        }
        self.log.note_last()
    }

    /// What the pages were before their visits: one question for all of them.
    fn read_before(&mut self, batch: &Batch) -> Result<()> {
        for pages in batch.pages.chunks(AT_ONCE) {
            let others = pages.iter().flat_map(|page| &page.other_document);
            let ids = list(
                pages
                    .iter()
                    .map(|page| page.id)
                    .chain(others.map(|(id, _)| *id)),
            );
            let sql = format!(
                "SELECT {}, id, hash FROM url WHERE id IN ({ids})",
                PreviousVisit::COLUMNS
            );
            let rows = self.conn.query_once(&sql, |row| {
                let fingerprint = row.get::<i64>(7)?.cast_unsigned();
                Ok((row.get(6)?, fingerprint, PreviousVisit::read(row)?))
            })?;
            for (id, fingerprint, before) in rows {
                self.fingerprints.insert(id, fingerprint);
                self.before.insert(id, before);
            }
        }
        Ok(())
    }

    /// Pages that stood for what this page's document was.
    fn release(&mut self, page: &FinishedPage, before: &PreviousVisit) -> Result<()> {
        let content = page.visit.content.map(u64::cast_signed);
        if !before.documented || (page.visit.documented && before.content == content) {
            return Ok(());
        }
        let all = !page.visit.documented;
        let released = urls::release(self.conn, page.id, before.content, all, self.now_ms)?;
        for (host, due) in &released {
            self.wake(*host, due.due_ms);
        }
        self.done.released.extend(released);
        Ok(())
    }

    fn update_host(&mut self, host: &HostRecord) -> Result<()> {
        self.conn.put(
            UPDATE_HOST,
            params![
                host.id,
                host.not_before_ms,
                host.cause,
                host.backoff_level,
                host.trouble_ms,
                host.errors,
                host.last_error,
                host.crawl_delay_ms,
                host.elapsed_ms,
                host.ip.map(|ip| ip.to_string()),
                host.fetched,
                host.cycle_ms,
                host.cycle_pages,
            ],
        )?;
        Ok(())
    }

    fn count(&mut self, site: SiteId, name: impl Into<Cow<'static, str>>, amount: i64) {
        let counts = self.counters.entry(site).or_default();
        *counts.entry(name.into()).or_default() += amount;
    }

    fn wake(&mut self, host: HostId, due_ms: i64) {
        let earliest = self.due.entry(host).or_insert(due_ms);
        *earliest = due_ms.min(*earliest);
    }

    /// What the new URLs change next to their own rows.
    fn count_inserted(&mut self) {
        let inserted = std::mem::take(&mut self.done.inserted);
        for of_host in inserted.chunk_by(|a, b| (a.host, a.site) == (b.host, b.site)) {
            let count = sql::limit(of_host.len());
            self.count(of_host[0].site, "urls", count);
            self.count(of_host[0].site, UrlState::New.as_str(), count);
            if let Some(due_ms) = of_host.iter().map(|url| url.due.due_ms).min() {
                self.wake(of_host[0].host, due_ms);
            }
        }
        self.done.inserted = inserted;
    }

    fn wake_hosts(&mut self) -> Result<()> {
        let sql = "UPDATE host SET next_due_ms = ?2 WHERE id = ?1 AND (next_due_ms IS NULL OR next_due_ms > ?2)";
        for (host, due_ms) in self.due.drain() {
            self.conn.put(sql, [host, due_ms])?;
        }
        Ok(())
    }

    fn reschedule(&mut self, hosts: &[(HostId, i64)]) -> Result<()> {
        let sql = "UPDATE host SET next_due_ms = ?2 WHERE id = ?1";
        for &(host, floor_ms) in hosts {
            let due_ms = earliest_due(self.conn, host, None)?.map(|due| due.max(floor_ms));
            self.conn.put(sql, params![host, due_ms])?;
            self.done.rescheduled.push((host, due_ms));
        }
        Ok(())
    }

    fn write_counters(&mut self) -> Result<()> {
        let mut sums: Vec<_> = self
            .counters
            .iter()
            .flat_map(|(site, counts)| counts.iter().map(move |(name, n)| (site, name, n)))
            .filter(|(_, _, amount)| **amount != 0)
            .collect();
        // All nodes in the same order, so that they do not wait for each other.
        sums.sort_unstable();
        let row = |(site, name, amount): (&SiteId, &Cow<'static, str>, &i64)| {
            [(*site).into(), name.to_string().into(), (*amount).into()]
        };
        let rows: Vec<[sql::Value; 3]> = sums.into_iter().map(row).collect();
        self.conn.put_rows(
            "INSERT INTO counter (site_id, name, value)",
            "ON CONFLICT (site_id, name) DO UPDATE SET value = counter.value + excluded.value",
            &rows,
        )
    }
}

/// What becomes of a document.
enum Ending<'a> {
    Op(&'a DocOp),
    /// Its page gave way to another address of the same document.
    Superseded,
}

/// What a page was before its visit.
pub(super) struct PreviousVisit {
    pub(super) site: SiteId,
    pub(super) state: UrlState,
    pub(super) documented: bool,
    pub(super) content: Option<i64>,
    pub(super) fetched_ms: Option<i64>,
    pub(super) confirmed_ms: Option<i64>,
}

impl PreviousVisit {
    /// The columns that [`read`](Self::read) reads.
    pub(super) const COLUMNS: &str =
        "site_id, state, documented, content, fetched_ms, confirmed_ms";

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(PreviousVisit {
            site: row.get(0)?,
            state: row.get(1)?,
            documented: row.get(2)?,
            content: row.get(3)?,
            fetched_ms: row.get(4)?,
            confirmed_ms: row.get(5)?,
        })
    }

    /// What the page is to be after a visit.
    pub(super) fn after(site: SiteId, visit: &UrlVisit) -> Self {
        PreviousVisit {
            site,
            state: visit.state,
            documented: visit.documented,
            content: visit.content.map(u64::cast_signed),
            fetched_ms: visit.fetched_ms,
            confirmed_ms: visit.confirmed_ms,
        }
    }

    /// What its document, if it has one, adds to counters of its site: documents, the sum of the times at which they were
    /// confirmed, in seconds (in milliseconds the sum of ten million would overflow), and how many their last visit did not show.
    pub(super) fn counted(&self) -> [(&'static str, i64); 3] {
        let number = |n: i64| if self.documented { n } else { 0 };
        [
            ("documents", number(1)),
            (
                "checked_s",
                number(self.confirmed_ms.unwrap_or_default() / 1000),
            ),
            (
                "unconfirmed",
                number(i64::from(self.confirmed_ms < self.fetched_ms)),
            ),
        ]
    }
}

const INSERT_URL: &str = "INSERT INTO url (id, host_id, hash, url, site_id, class, state, rank, due_ms, hops, redirects, via, announced, first_seen_ms)";

/// What is said of an attachment as the tables keep it.
pub(super) fn announced_text(url: &NewUrl) -> Option<String> {
    let announced = url.announced.as_ref()?;
    serde_json::to_string(announced).ok()
}

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
    key: FingerprintKey,
    keys: &'a mut Keys,
    rows: Vec<[Value; 14]>,
    home: Option<Home>,
    numbers: &'a mut Numbers,
    now_ms: i64,
    inserted: Vec<Inserted>,
}

impl<'a> NewUrls<'a> {
    /// Nothing is added yet.
    pub(super) fn new(
        conn: &'a Connection,
        key: FingerprintKey,
        keys: &'a mut Keys,
        numbers: &'a mut Numbers,
        now_ms: i64,
    ) -> Self {
        NewUrls {
            conn,
            key,
            keys,
            rows: Vec::new(),
            home: None,
            numbers,
            now_ms,
            inserted: Vec::new(),
        }
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
        let free = url.free.filter(|free| !self.keys.is_newest(*free));
        let place = match free {
            Some(fingerprint) => Place::Free(fingerprint),
            None => self.place(&url.uri)?,
        };
        let Place::Free(hash) = place else {
            return Ok(());
        };
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
            announced_text(url).into(),
            self.now_ms.into(),
        ]);
        self.keys.add(hash, id);
        let rank = url.rank;
        let due = DueUrl { rank, due_ms, id };
        self.inserted.push(Inserted { host, site, due });
        Ok(())
    }

    fn place(&self, uri: &CrawlUri) -> Result<Place> {
        let find = |fingerprint| self.keys.find(self.conn, fingerprint);
        place(self.key, uri, find, |id| {
            // Rows of this transaction are not in the table yet.
            let added = self.rows.iter().rfind(|row| row[0] == Value::Integer(id));
            match added {
                Some(row) => Ok(row[3] == Value::Text(uri.as_str().to_owned())),
                None => is_at(self.conn, id, uri),
            }
        })
    }

    /// Keeps what a list says of a known address, unless something was said before.
    fn announce(&self, uri: &CrawlUri, announced: &Announcement) -> Result<()> {
        let said = serde_json::to_string(announced).ok();
        let (Some(id), Some(said)) = (self.place(uri)?.row(), said) else {
            return Ok(());
        };
        self.conn.put(
            "UPDATE url SET announced = ?2 WHERE id = ?1 AND announced IS NULL",
            params![id, said],
        )
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
