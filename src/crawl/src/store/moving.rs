//! A store moves from a file into PostgreSQL and back. In: a data folder and an empty database, or the other way round. Out: the
//! same records in the other place. Either everything moves or nothing does: into a database in one transaction, into a folder
//! under another name first.
//!
//! Rows of addresses and hosts get new numbers, since those of PostgreSQL begin with their partition. The numbers of documents and
//! the name of the store stay: a search index beside it goes on, and so does whoever reads the log of documents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection as SqliteFile, params_from_iter};
use taojin_uri::CrawlUri;

use super::backup::{CopyProgress, give_to_owner, open_like_folder, sync_folder};
use super::batch::Batch;
use super::clock::CLOCK;
use super::error::StoreError;
use super::in_flight;
use super::keys::meta;
use super::open::{DATABASE, Reader, Store, lock};
use super::partitions::{first_row, partition};
use super::place::StorePlace;
use super::salvage::TABLES;
use super::schema;
use super::sql::{self, Connection, Error, NONE};
use super::urls::RANKS;

/// What is copied before somebody is told how far it is.
const STEP: u64 = 1_000;
/// Statements that go to PostgreSQL together: a body of a document may have megabytes.
const TOGETHER: u64 = 200;
/// Rows that come from PostgreSQL together, and of a table with bodies.
const FETCHED: [usize; 2] = [2_000, 100];
/// The folder in which a store from PostgreSQL is made, beside where it goes.
const DRAFT: &str = "import.part";

/// Columns with the number of a row of another table, or of their own: `(table, column, whose number)`.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("url", "id", "url"),
    ("url", "host_id", "host"),
    ("url", "via", "url"),
    ("url", "alias_of", "url"),
    ("host", "id", "host"),
    ("host_site", "host_id", "host"),
];

/// Tables whose rows PostgreSQL numbers by itself.
const IDENTITIES: [&str; 4] = ["site", "follow_hit", "template", "template_page"];

/// Old and new numbers of the rows, on the side of the file.
const MAPS: &str = "CREATE TEMP TABLE moved_url (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE moved_host (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);";

/// How many rows of each table were moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct MovedRows(pub BTreeMap<&'static str, u64>);

impl MovedRows {
    /// Rows of one table.
    pub fn of(&self, table: &str) -> u64 {
        self.0.get(table).copied().unwrap_or_default()
    }
}

/// How far it is.
struct Progress<'a> {
    at: CopyProgress,
    each: &'a mut dyn FnMut(CopyProgress),
}

impl Progress<'_> {
    fn add(&mut self, rows: u64) {
        let before = self.at.done / STEP;
        self.at.done += rows;
        if self.at.done / STEP > before {
            (self.each)(self.at);
        }
    }
}

/// Copies the store in the folder `dir`, which no process may have open, into the empty database of `place`. The file stays as it
/// is. Repeat it where it was broken off: nothing of it is there then.
pub fn import(
    dir: &Path,
    place: &StorePlace,
    mut each: impl FnMut(CopyProgress),
) -> Result<MovedRows, StoreError> {
    let path = dir.join(DATABASE);
    if !path.try_exists().map_err(|e| StoreError::io(&path, e))? {
        return Err(StoreError::Missing { path });
    }
    let source = Store::open(StorePlace::new(dir, "", None))?;
    let target = Reader::connect_database(place)?;
    schema::migrate(&target.conn, &target.path)?;
    let rows = fill_database(&source, &target, &mut each).map_err(|e| target.fail(e))?;
    target
        .conn
        .postgres()
        .map_or(Ok(()), |conn| conn.run_script("ANALYZE"))
        .map_err(|e| target.fail(e))?;
    // Numbers of rows that are no longer.
    in_flight::forget(place.dir());
    Ok(rows)
}

fn fill_database(
    source: &Store,
    target: &Reader,
    each: &mut dyn FnMut(CopyProgress),
) -> sql::Result<MovedRows> {
    let (Some(file), Some(conn)) = (source.conn.sqlite(), target.conn.postgres()) else {
        return Err(Error::Unfit("it is no database".to_owned()));
    };
    let tx = target.conn.transaction()?;
    conn.refuse_nodes()?;
    refuse_contents(&tx)?;
    let last = number_by_partition(file)?;
    let mut progress = Progress {
        at: CopyProgress {
            done: 0,
            all: count_all(&source.conn)?,
        },
        each,
    };
    let mut moved = MovedRows::default();
    for table in TABLES {
        let rows = copy_into_database(file, &tx, table, &mut progress)?;
        moved.0.insert(table, rows);
    }
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
    compare_counts(&tx, &moved)?;
    tx.commit()?;
    Ok(moved)
}

/// Gives every address and host the number that it has in PostgreSQL. The last number of each partition.
fn number_by_partition(file: &SqliteFile) -> sql::Result<BTreeMap<i64, i64>> {
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    let noted = file.unchecked_transaction()?;
    noted.execute_batch(MAPS)?;
    for (table, address) in [("host", "'http://' || authority || '/'"), ("url", "url")] {
        let mut insert =
            noted.prepare(&format!("INSERT INTO temp.moved_{table} VALUES (?1, ?2)"))?;
        let mut select = noted.prepare(&format!("SELECT id, {address} FROM {table}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let address: String = row.get(1)?;
            let uri = CrawlUri::parse(&address)
                .map_err(|e| Error::Unfit(format!("{table} {address}: {e}")))?;
            let part = partition(&uri);
            let number = last.entry(part).or_default();
            *number += 1;
            insert.execute([row.get::<_, i64>(0)?, first_row(part) | *number])?;
        }
    }
    noted.commit()?;
    Ok(last)
}

fn copy_into_database(
    file: &SqliteFile,
    tx: &Connection,
    table: &str,
    progress: &mut Progress<'_>,
) -> sql::Result<u64> {
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
    let mut insert = tx.prepare_cached(&insert_into(table, &columns, |_, mark| mark))?;
    let mut select = file.prepare(&select)?;
    let mut rows = select.query([])?;
    let mut copied = 0;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..columns.len())
            .map(|i| row.get(i))
            .collect::<rusqlite::Result<_>>()?;
        let values: Vec<&dyn rusqlite::ToSql> = values.iter().map(|v| v as _).collect();
        copied += 1;
        match copied % TOGETHER {
            // Sends those before it as well.
            0 => _ = insert.execute(values.as_slice())?,
            _ => insert.put(values.as_slice())?,
        }
        progress.add(1);
    }
    Ok(copied)
}

/// Copies the store in the database of `place`, with which no node may crawl, into the folder `dir`, which has none yet. The
/// database stays as it is.
pub fn export(
    place: &StorePlace,
    dir: &Path,
    mut each: impl FnMut(CopyProgress),
) -> Result<MovedRows, StoreError> {
    fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
    let held = lock(dir)?;
    let path = dir.join(DATABASE);
    if path.try_exists().map_err(|e| StoreError::io(&path, e))? {
        return Err(unfit(
            &path,
            "there is a store already: name another folder",
        ));
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
) -> Result<MovedRows, StoreError> {
    let failed = |e: sql::Error| StoreError::sql(&source.path, e);
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
    let tx = source.conn.snapshot().map_err(failed)?;
    if let Some(conn) = source.conn.postgres() {
        conn.refuse_nodes().map_err(failed)?;
    }
    let draft = folder.join(DATABASE);
    let unwritable = |e: sql::Error| StoreError::sql(&draft, e);
    let file = SqliteFile::open(&draft).map_err(|e| StoreError::sql(&draft, e))?;
    let mut progress = Progress {
        at: CopyProgress {
            done: 0,
            all: count_all(&tx).map_err(failed)?,
        },
        each,
    };
    let moved = fill_file(&tx, &file, &mut progress).map_err(unwritable)?;
    drop(file);
    take_up(source, folder)?;
    Ok(moved)
}

fn fill_file(
    tx: &Connection,
    file: &SqliteFile,
    progress: &mut Progress<'_>,
) -> sql::Result<MovedRows> {
    // Nothing of it counts before it is whole and has its name.
    file.pragma_update(None, "journal_mode", "off")?;
    file.pragma_update(None, "synchronous", "off")?;
    schema::migrate_file(file, 0)?;
    file.execute_batch(MAPS)?;
    let filled = file.unchecked_transaction()?;
    let last = number_one_by_one(tx, &filled)?;
    let mut moved = MovedRows::default();
    for table in TABLES {
        let rows = copy_into_file(tx, &filled, table, progress)?;
        moved.0.insert(table, rows);
    }
    filled.execute(
        "REPLACE INTO meta (name, value) VALUES ('url_id', ?1)",
        [last],
    )?;
    filled.commit()?;
    Ok(moved)
}

/// Gives every address and host the number that it has in a file. The last one of the addresses.
fn number_one_by_one(tx: &Connection, filled: &SqliteFile) -> sql::Result<i64> {
    let mut last = 0;
    for table in ["host", "url"] {
        let mut insert =
            filled.prepare(&format!("INSERT INTO temp.moved_{table} VALUES (?1, ?2)"))?;
        last = 0;
        each_row(
            tx,
            &format!("SELECT id FROM {table} ORDER BY id"),
            FETCHED[0],
            |row| {
                last += 1;
                insert.execute([row.get::<i64>(0)?, last])?;
                Ok(())
            },
        )?;
    }
    Ok(last)
}

fn copy_into_file(
    tx: &Connection,
    filled: &SqliteFile,
    table: &str,
    progress: &mut Progress<'_>,
) -> sql::Result<u64> {
    let columns = columns(filled, table)?;
    let insert = insert_into(table, &columns, |column, mark| {
        renumbered(table, column, &mark)
    });
    let mut insert = filled.prepare(&insert)?;
    let has_bodies = ["document", "template", "template_page", "dictionary"].contains(&table);
    let order = match table {
        "url" | "host" | "site" | "follow_hit" | "template" | "template_page" | "dictionary" => {
            "id"
        }
        "document" => "seq",
        _ => "1",
    };
    let select = format!(
        "SELECT {} FROM {table} ORDER BY {order}",
        columns.join(", ")
    );
    let mut copied = 0;
    each_row(tx, &select, FETCHED[usize::from(has_bodies)], |row| {
        let values: Vec<Value> = (0..columns.len())
            .map(|i| row.get(i))
            .collect::<sql::Result<_>>()?;
        insert.execute(params_from_iter(values))?;
        copied += 1;
        progress.add(1);
        Ok(())
    })?;
    Ok(copied)
}

/// Calls `each` with the rows of a query in PostgreSQL, of which `fetched` are in memory.
fn each_row(
    tx: &Connection,
    select: &str,
    fetched: usize,
    mut each: impl FnMut(&sql::Row<'_>) -> sql::Result<()>,
) -> sql::Result<()> {
    tx.execute(
        &format!("DECLARE moving NO SCROLL CURSOR FOR {select}"),
        NONE,
    )?;
    let fetch = format!("FETCH {fetched} FROM moving");
    while !tx.query_once(&fetch, &mut each)?.is_empty() {}
    tx.execute("CLOSE moving", NONE)?;
    Ok(())
}

/// Addresses that nodes have found for each other and that nobody has taken up become rows.
fn take_up(source: &Reader, folder: &Path) -> Result<(), StoreError> {
    let mut store = Store::open(StorePlace::new(folder, "", None))?;
    let now_ms = meta(&store.conn, CLOCK).map_err(|e| store.fail(e))?;
    let mut after = i64::MIN;
    loop {
        let sent = source.sent_after(after, STEP)?;
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

/// Nothing but what a new store has.
fn refuse_contents(tx: &Connection) -> sql::Result<()> {
    for (table, what) in [
        ("url", "addresses"),
        ("document", "documents"),
        ("site", "sites"),
    ] {
        let found: i64 = tx.query_row(&format!("SELECT count(*) FROM {table}"), NONE, |row| {
            row.get(0)
        })?;
        if found > 0 {
            return Err(Error::Unfit(format!(
                "it has {found} {what} already: name an empty one in [store] url, or empty it with DROP SCHEMA public CASCADE; \
                 CREATE SCHEMA public"
            )));
        }
    }
    Ok(())
}

fn compare_counts(tx: &Connection, moved: &MovedRows) -> sql::Result<()> {
    for (table, rows) in &moved.0 {
        let found: i64 = tx.query_row(&format!("SELECT count(*) FROM {table}"), NONE, |row| {
            row.get(0)
        })?;
        let is_short = found.cast_unsigned() < *rows;
        if is_short {
            return Err(Error::Unfit(format!(
                "{rows} rows of {table} were sent and {found} are there: nothing was moved"
            )));
        }
    }
    Ok(())
}

fn count_all(conn: &Connection) -> sql::Result<u64> {
    let mut all = 0;
    for table in TABLES {
        let sql = format!("SELECT count(*) FROM {table}");
        all += conn
            .query_row(&sql, NONE, |row| row.get::<i64>(0))?
            .cast_unsigned();
    }
    Ok(all)
}

fn columns(file: &SqliteFile, table: &str) -> sql::Result<Vec<String>> {
    let mut names = file.prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let names = names.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
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

fn unfit(path: &Path, detail: &str) -> StoreError {
    StoreError::Unfit {
        path: path.to_owned(),
        detail: detail.to_owned(),
    }
}
