//! From a file into PostgreSQL: everything in one transaction.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection as SqliteFile;
use rusqlite::types::Value;
use taojin_uri::CrawlUri;

use super::{MAPS, MovedRows, Progress, columns, insert_into, renumbered};
use crate::store::backup::CopyProgress;
use crate::store::error::StoreError;
use crate::store::in_flight;
use crate::store::open::{DATABASE, Reader, Store};
use crate::store::partitions::{first_row, partition};
use crate::store::place::StorePlace;
use crate::store::salvage::TABLES;
use crate::store::schema;
use crate::store::sql::{self, Connection, Error, NONE};

/// Statements that go to PostgreSQL together: a body of a document may have megabytes.
const TOGETHER: u64 = 200;

/// Tables whose rows PostgreSQL numbers by itself.
const IDENTITIES: [&str; 4] = ["site", "follow_hit", "template", "template_page"];

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
    schema::create(&target.conn, &target.path)?;
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
    let mut progress = Progress::new(&source.conn, each)?;
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
    let insert = insert_into(table, &columns, |_, mark| mark);
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
            0 => _ = tx.execute(&insert, values.as_slice())?,
            _ => tx.put(&insert, values.as_slice())?,
        }
        progress.add(1);
    }
    Ok(copied)
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
