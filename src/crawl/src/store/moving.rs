//! Moves a store from a file into PostgreSQL and back, with the same records. Either everything moves or nothing does:
//! into a database in one transaction, into a directory under another name first, and what moves is of one moment.
//!
//! Rows of addresses and hosts get new numbers, since those of PostgreSQL begin with their partition. The numbers of documents and
//! the name of the store stay: a search index next to it goes on, and so does whoever reads the log of documents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::num::NonZeroU32;
use std::path::Path;

use rusqlite::OpenFlags;
use taojin_uri::CrawlUri;

use super::addresses::write_key;
use super::backup::{CopyProgress, TABLES, give_to_owner, open_like_folder, sync_folder};
use super::cluster::{first_row, partition};
use super::documents::{DocumentRow, GONE, PRESENT, REPLACED};
use super::error::{Result, StoreError};
use super::keys::{meta, set_meta};
use super::open::{CLOCK, DATABASE, FORGOTTEN_SEQ, LAST_SEQ, Reader, Store, configure, lock};
use super::place::StorePlace;
use super::record::Batch;
use super::sql::{self, Connection, NONE, Row, Value, params};
use super::urls::RANKS;
use super::{documents, in_flight, schema};

/// What is copied before somebody is told how far it is.
const STEP: u64 = 1_000;
/// Rows that come from PostgreSQL together, and of a table with bodies.
const FETCHED: [usize; 2] = [2_000, 100];
/// Statements that go to PostgreSQL together: a body of a document may have megabytes.
const TOGETHER: u64 = 200;
/// The directory in which a store from PostgreSQL is made, next to where it goes.
const DRAFT: &str = "export.part";
/// Tables whose rows PostgreSQL numbers by itself.
const IDENTITIES: [&str; 4] = ["site", "follow_hit", "template", "template_page"];
/// Columns with the number of a row of another table, or of their own: `(table, column, whose number)`.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("url", "id", "url"),
    ("url", "host_id", "host"),
    ("url", "via", "url"),
    ("url", "alias_of", "url"),
    ("host", "id", "host"),
    ("host_site", "host_id", "host"),
];

/// Old and new numbers of the rows, on the side of the file.
const MAPS: &str = "CREATE TEMP TABLE moved_url (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE moved_host (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);";

/// How many rows of each table were moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct MovedRows(pub BTreeMap<&'static str, u64>);

impl MovedRows {
    /// Rows of one table.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.0.get(table).copied().unwrap_or_default()
    }
}

/// Copies the store in the directory `dir`, which no process may have open, into the empty database of `place`. The file stays as it
/// is. Repeat it where it was broken off: nothing of it is there then.
pub fn import(
    dir: &Path,
    place: &StorePlace,
    mut each: impl FnMut(CopyProgress),
) -> Result<MovedRows> {
    let path = dir.join(DATABASE);
    if !path.try_exists().map_err(|e| StoreError::io(&path, e))? {
        return Err(StoreError::Missing { path });
    }
    let source = Store::open(StorePlace::new(dir, "", None))?;
    let target = Reader::connect_database(place)?;
    schema::create(&target.conn)?;
    let rows = fill_database(&source, &target.conn, &mut each)?;
    target.conn.run_script("ANALYZE")?;
    // Numbers of rows that are no longer.
    in_flight::forget(place.dir());
    Ok(rows)
}

fn fill_database(
    source: &Reader,
    target: &Connection,
    each: &mut dyn FnMut(CopyProgress),
) -> Result<MovedRows> {
    let file = &source.conn;
    let tx = target.transaction()?;
    refuse_nodes(&tx)?;
    for (table, what) in [
        ("url", "addresses"),
        ("document", "documents"),
        ("site", "sites"),
    ] {
        let found = count(&tx, table)?;
        if found > 0 {
            return Err(tx.unfit(format!(
                "it has {found} {what} already: name an empty one in [store] url, or empty it with DROP SCHEMA public CASCADE; \
                 CREATE SCHEMA public"
            )));
        }
    }
    let last = number_by_partition(file)?;
    let mut progress = Progress::new(file, each)?;
    let mut moved = MovedRows::default();
    for table in TABLES {
        let columns = columns(file, table)?;
        let values: Vec<String> = columns
            .iter()
            .map(|column| renumbered(table, column, column))
            .collect();
        let only = match table {
            "meta" => "WHERE name NOT IN ('url_id', 'seen_upto')",
            _ => "",
        };
        let select = format!(
            "SELECT {} FROM {table} {only} ORDER BY rowid",
            values.join(", ")
        );
        let insert = insert_into(table, &columns, |_, mark| mark);
        let rows = progress.copy(file, &select, 0, &tx, &insert, columns.len())?;
        moved.0.insert(table, rows);
    }
    write_key(&tx, source.addresses().key())?;
    for (part, last) in last {
        tx.execute("UPDATE part SET last = ?2 WHERE part = ?1", [part, last])?;
    }
    for table in IDENTITIES {
        tx.query_once(
            &format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) FROM {table}"
            ),
            |_| Ok(()),
        )?;
    }
    for (table, rows) in &moved.0 {
        let found = count(&tx, table)?;
        if found < *rows {
            return Err(tx.unfit(format!(
                "{rows} rows of {table} were sent and {found} are there: nothing was moved"
            )));
        }
    }
    tx.commit()?;
    Ok(moved)
}

/// Gives every address and host the number that it has in PostgreSQL. The last number of each partition.
fn number_by_partition(file: &Connection) -> Result<BTreeMap<i64, i64>> {
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    let noted = file.transaction()?;
    noted.run_script(MAPS)?;
    for (table, address) in [("host", "'http://' || authority || '/'"), ("url", "url")] {
        let insert = format!("INSERT INTO temp.moved_{table} VALUES (?1, ?2)");
        let select = format!("SELECT id, CAST({address} AS TEXT) FROM {table}");
        each_row(&noted, &select, 0, 2, |row| {
            let [id, Value::Text(address)] = &row[..] else {
                return Err(file.unfit(format!("{table} has a row without an address")));
            };
            let uri = CrawlUri::parse(address)
                .map_err(|e| file.unfit(format!("{table} {address}: {e}")))?;
            let part = partition(&uri);
            let number = last.entry(part).or_default();
            *number += 1;
            let new = first_row(part) | *number;
            noted.put(&insert, &[id.clone(), new.into()][..])
        })?;
    }
    noted.commit()?;
    Ok(last)
}

/// Copies the store in the database of `place`, with which no node may crawl, into the directory `dir`, which has none yet. The
/// database stays as it is.
pub fn export(
    place: &StorePlace,
    dir: &Path,
    mut each: impl FnMut(CopyProgress),
) -> Result<MovedRows> {
    fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
    let held = lock(dir)?;
    let path = dir.join(DATABASE);
    if path.try_exists().map_err(|e| StoreError::io(&path, e))? {
        let detail = "there is a store already: name another folder".to_owned();
        return Err(StoreError::Unfit { path, detail });
    }
    let source = Reader::open(place)?;
    let folder = dir.join(DRAFT);
    let made = fill_folder(&source, &folder, &mut each);
    let moved = made.and_then(|rows| {
        let draft = folder.join(DATABASE);
        let synced = File::open(&draft).and_then(|file| file.sync_all());
        synced.map_err(|e| StoreError::io(&draft, e))?;
        open_like_folder(&draft, dir).map_err(|e| StoreError::io(&draft, e))?;
        fs::rename(&draft, &path).map_err(|e| StoreError::io(&path, e))?;
        sync_folder(&path)?;
        Ok(rows)
    });
    // What is left of it is of no use.
    let _ = fs::remove_dir_all(&folder);
    let moved = moved?;
    in_flight::forget(dir);
    drop(held);
    give_to_owner(dir).map_err(|e| StoreError::io(dir, e))?;
    Ok(moved)
}

fn fill_folder(
    source: &Reader,
    folder: &Path,
    each: &mut dyn FnMut(CopyProgress),
) -> Result<MovedRows> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
    let tx = source.conn.snapshot()?;
    refuse_nodes(&tx)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let file = Reader::connect_to_file(folder.join(DATABASE), flags)?;
    let mut progress = Progress::new(&tx, each)?;
    let moved = fill_file(&tx, &file.conn, &mut progress)?;
    write_key(&file.conn, source.addresses().key())?;
    drop(file);
    take_up(source, folder)?;
    Ok(moved)
}

fn fill_file(tx: &Connection, file: &Connection, progress: &mut Progress<'_>) -> Result<MovedRows> {
    // Nothing of it counts before it is whole and has its name.
    file.run_script("PRAGMA journal_mode = memory; PRAGMA synchronous = off")?;
    schema::create(file)?;
    file.run_script(MAPS)?;
    let filled = file.transaction()?;
    let last = number_one_by_one(tx, &filled)?;
    let mut moved = MovedRows::default();
    for table in TABLES {
        let columns = columns(&filled, table)?;
        let insert = insert_into(table, &columns, |column, mark| {
            renumbered(table, column, &mark)
        });
        let has_bodies = ["document", "template", "template_page", "dictionary"].contains(&table);
        let order = match table {
            "url" | "host" | "site" | "follow_hit" | "template" | "template_page"
            | "dictionary" => "id",
            "document" => "seq",
            _ => "1",
        };
        let names = columns.join(", ");
        let select = format!("SELECT {names} FROM {table} ORDER BY {order}");
        let fetched = FETCHED[usize::from(has_bodies)];
        let rows = progress.copy(tx, &select, fetched, &filled, &insert, columns.len())?;
        moved.0.insert(table, rows);
    }
    let sql = "REPLACE INTO meta (name, value) VALUES ('url_id', ?1)";
    filled.execute(sql, [last])?;
    filled.commit()?;
    Ok(moved)
}

/// Gives every address and host the number that it has in a file. The last one of the addresses.
fn number_one_by_one(tx: &Connection, filled: &Connection) -> Result<i64> {
    let mut last = 0;
    for table in ["host", "url"] {
        let insert = format!("INSERT INTO temp.moved_{table} VALUES (?1, ?2)");
        let select = format!("SELECT id FROM {table} ORDER BY id");
        last = 0;
        each_row(tx, &select, FETCHED[0], 1, |mut row| {
            last += 1;
            row.push(last.into());
            filled.put(&insert, &row[..])
        })?;
    }
    Ok(last)
}

/// Addresses that nodes have found for each other and that nobody has taken up become rows.
fn take_up(source: &Reader, folder: &Path) -> Result<()> {
    let mut store = Store::open(StorePlace::new(folder, "", None))?;
    let now_ms = meta(&store.conn, CLOCK)?;
    let mut after = i64::MIN;
    loop {
        let sent = source.cluster().sent_after(after, STEP)?;
        let Some(last) = sent.iter().map(|(hash, _)| hash.cast_signed()).max() else {
            return Ok(());
        };
        after = last;
        let mut batch = Batch::default();
        for (_, url) in sent {
            let Some(mut url) = url else { continue };
            // Its row has another number now.
            url.via = None;
            url.rank = RANKS - 1;
            batch.urls.push(url);
        }
        store.commit(&batch, now_ms)?;
    }
}

/// How far it is.
struct Progress<'a> {
    at: CopyProgress,
    each: &'a mut dyn FnMut(CopyProgress),
}

impl<'a> Progress<'a> {
    /// Nothing of the rows of all tables is copied yet.
    fn new(from: &Connection, each: &'a mut dyn FnMut(CopyProgress)) -> Result<Self> {
        let mut all = 0;
        for table in TABLES {
            all += count(from, table)?;
        }
        let at = CopyProgress { done: 0, all };
        Ok(Progress { at, each })
    }

    /// Copies what a query with so many columns gives. How many rows that was.
    fn copy(
        &mut self,
        from: &Connection,
        select: &str,
        fetched: usize,
        to: &Connection,
        insert: &str,
        columns: usize,
    ) -> Result<u64> {
        let mut copied = 0;
        each_row(from, select, fetched, columns, |row| {
            copied += 1;
            self.at.done += 1;
            if self.at.done.is_multiple_of(STEP) {
                (self.each)(self.at);
            }
            if u64::is_multiple_of(copied, TOGETHER) {
                // Sends those before it as well.
                to.execute(insert, &row[..]).map(|_| ())
            } else {
                to.put(insert, &row[..])
            }
        })?;
        Ok(copied)
    }
}

/// Calls `each` with the rows of a query with so many columns. Of PostgreSQL, `fetched` of them are in memory.
fn each_row(
    conn: &Connection,
    select: &str,
    fetched: usize,
    columns: usize,
    mut each: impl FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    let read = |row: &Row<'_>| -> rusqlite::Result<Vec<Value>> {
        (0..columns).map(|i| row.get(i)).collect()
    };
    if conn.sqlite().is_some() {
        let mut done = Ok(());
        conn.each(select, NONE, |row| {
            done = each(read(row)?);
            Ok(done.is_ok())
        })?;
        return done;
    }
    let declare = format!("DECLARE moving NO SCROLL CURSOR FOR {select}");
    conn.execute(&declare, NONE)?;
    let fetch = format!("FETCH {fetched} FROM moving");
    loop {
        let rows = conn.query_once(&fetch, read)?;
        if rows.is_empty() {
            break;
        }
        rows.into_iter().try_for_each(&mut each)?;
    }
    conn.execute("CLOSE moving", NONE)?;
    Ok(())
}

/// For an open transaction that wants the database for itself.
fn refuse_nodes(tx: &Connection) -> Result<()> {
    match tx.postgres() {
        Some(conn) => tx.wrap(conn.refuse_nodes()),
        None => Ok(()),
    }
}

fn count(conn: &Connection, table: &str) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {table}");
    let rows: i64 = conn.query_row(&sql, NONE, |row| row.get(0))?;
    Ok(rows.cast_unsigned())
}

fn columns(file: &Connection, table: &str) -> Result<Vec<String>> {
    let sql = format!("SELECT name FROM pragma_table_info('{table}')");
    file.query_once(&sql, |row| row.get(0))
}

fn insert_into(table: &str, columns: &[String], value: impl Fn(&str, String) -> String) -> String {
    let values: Vec<String> = columns
        .iter()
        .zip(1..)
        .map(|(column, i)| value(column, format!("?{i}")))
        .collect();
    let on_conflict = match table {
        // A new store has a name of its own, and takes that of the one that moves in.
        "meta" => "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        _ => "",
    };
    format!(
        "INSERT INTO {table} ({}) VALUES ({}) {on_conflict}",
        columns.join(", "),
        values.join(", ")
    )
}

/// A value, or the new number of the row that it is the old number of.
fn renumbered(table: &str, column: &str, value: &str) -> String {
    let is_number = |(of, name, _): &&(&str, &str, &str)| *of == table && *name == column;
    match NUMBERS.iter().find(is_number) {
        Some((_, _, whose)) => format!("(SELECT new FROM temp.moved_{whose} WHERE old = {value})"),
        None => value.to_owned(),
    }
}

/// The identity of the store that it is a copy of.
const STORE_ID: &str = "store_id";

/// A copy of the documents, and the store that they come from.
#[derive(Debug)]
pub struct DocumentCopy {
    source: Reader,
    file: Reader,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Changes that were taken in just now.
    pub changes: usize,
    /// Number of the last change that the copy has.
    pub seq: i64,
    /// Number of the last change that the store has.
    pub last_seq: i64,
}

impl DocumentCopy {
    /// Opens the copy that belongs to this store ([`StorePlace::copy`]), or begins one: where there is none, or one of another store
    /// or history, or one that is damaged. The store is asked, once.
    pub fn open(place: &StorePlace) -> Result<Self> {
        let source = Reader::open(place)?;
        source.set_patience(std::time::Duration::ZERO);
        let store_id = source.identity()?.id;
        let at = place.copy();
        let mut file = match open_file(&at) {
            Ok(file) if file.identity()?.id == store_id || file.last_document_seq()? == 0 => file,
            Err(error) if !matches!(error, StoreError::Damaged { .. }) => return Err(error),
            other => {
                match other {
                    Ok(_) => tracing::warn!("the copy of the documents is of another store"),
                    Err(error) => tracing::error!("{error}; it is a copy, which is made again"),
                }
                fs::remove_dir_all(at.dir()).map_err(|e| StoreError::io(at.dir(), e))?;
                open_file(&at)?
            }
        };
        set_meta(&file.conn, STORE_ID, store_id)?;
        if file.addresses().key() != source.addresses().key() {
            write_key(&file.conn, source.addresses().key())?;
            file = open_file(&at)?;
        }
        Ok(DocumentCopy { source, file })
    }

    /// Takes in at most `limit` of the changes that the copy lacks: durable and to be read afterwards.
    pub fn take(&mut self, limit: usize) -> Result<Copied> {
        let last_seq = self.source.last_document_seq()?;
        let mut copied = Copied {
            changes: 0,
            seq: self.file.last_document_seq()?,
            last_seq,
        };
        if copied.seq >= last_seq {
            return Ok(copied);
        }
        let rows = self.source.documents_after(copied.seq, limit)?;
        let forgotten = self.source.forgotten_seq()?;
        self.take_dictionaries(&rows)?;
        copied.changes = rows.len();
        // The last changes of all may be versions that were replaced since.
        copied.seq = match rows.last() {
            Some(row) if rows.len() == limit => row.seq,
            Some(row) => row.seq.max(last_seq),
            None => last_seq,
        };
        self.file.write(|tx| {
            for row in &rows {
                put(tx, row)?;
            }
            if forgotten > meta(tx, FORGOTTEN_SEQ)? {
                let sql = format!("DELETE FROM document WHERE state = {GONE} AND seq <= ?1");
                tx.execute(&sql, [forgotten])?;
                set_meta(tx, FORGOTTEN_SEQ, forgotten)?;
            }
            set_meta(tx, LAST_SEQ, copied.seq)
        })?;
        Ok(copied)
    }

    /// Copies the dictionaries that the bodies of these rows need.
    fn take_dictionaries(&self, rows: &[DocumentRow]) -> Result<()> {
        let mut needed: Vec<NonZeroU32> =
            rows.iter().filter_map(documents::dictionary_of).collect();
        needed.sort_unstable();
        needed.dedup();
        for id in needed {
            let known =
                self.file
                    .row("SELECT 1 FROM dictionary WHERE id = ?1", [id.get()], |_| {
                        Ok(())
                    })?;
            if known.is_some() {
                continue;
            }
            let sql = "SELECT made_at, data FROM dictionary WHERE id = ?1";
            let read = |row: &sql::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?));
            if let Some((made_at, data)) = self.source.row(sql, [id.get()], read)? {
                let sql = "INSERT INTO dictionary (id, made_at, data) VALUES (?1, ?2, ?3)";
                let values = params![id.get(), made_at, data];
                self.file.conn.execute(sql, values)?;
            }
        }
        Ok(())
    }
}

/// Puts a row in the place of what the copy has of the document.
fn put(tx: &Connection, row: &DocumentRow) -> Result<()> {
    let fingerprint = row.fingerprint.cast_signed();
    tx.put(
        &format!("DELETE FROM document WHERE fingerprint = ?1 AND state <> {REPLACED}"),
        [fingerprint],
    )?;
    let (state, ended_ms) = match row.body {
        Some(_) => (PRESENT, None),
        None => (GONE, Some(row.changed_ms)),
    };
    tx.put("INSERT INTO document (seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, ended_ms, url, site, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)", params![
        row.seq,
        fingerprint,
        state,
        row.version,
        row.first_seq,
        row.first_seen_ms,
        row.changed_ms,
        ended_ms,
        row.url,
        row.site,
        row.body.as_ref().map(|body| &body.0),
    ])
}

/// The file, with its tables.
fn open_file(at: &StorePlace) -> Result<Reader> {
    fs::create_dir_all(at.dir()).map_err(|e| StoreError::io(at.dir(), e))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let file = Reader::connect(at, flags)?;
    schema::version(&file.conn)?;
    configure(&file.conn)?;
    schema::create(&file.conn)?;
    // What a loss of power takes is taken in again.
    file.conn.run_script("PRAGMA synchronous = normal")?;
    Ok(file)
}

/// Whether there is a copy at all.
pub(super) fn is_there(at: &Path) -> bool {
    at.join(DATABASE).exists()
}
