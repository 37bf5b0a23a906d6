//! From PostgreSQL into a file: of one moment, under another name first.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection as SqliteFile, params_from_iter};

use super::{MAPS, MovedRows, Progress, STEP, columns, insert_into, renumbered};
use crate::store::backup::{CopyProgress, give_to_owner, open_like_folder, sync_folder};
use crate::store::batch::Batch;
use crate::store::clock::CLOCK;
use crate::store::error::StoreError;
use crate::store::in_flight;
use crate::store::keys::meta;
use crate::store::open::{DATABASE, Reader, Store, lock};
use crate::store::place::StorePlace;
use crate::store::salvage::TABLES;
use crate::store::schema;
use crate::store::sql::{self, Connection, NONE};
use crate::store::urls::RANKS;

/// Rows that come from PostgreSQL together, and of a table with bodies.
const FETCHED: [usize; 2] = [2_000, 100];
/// The folder in which a store from PostgreSQL is made, beside where it goes.
const DRAFT: &str = "export.part";

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
    schema::STORE.create(&file, &draft)?;
    let mut progress = Progress::new(&tx, each).map_err(failed)?;
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

fn unfit(path: &Path, detail: &str) -> StoreError {
    StoreError::Unfit {
        path: path.to_owned(),
        detail: detail.to_owned(),
    }
}
