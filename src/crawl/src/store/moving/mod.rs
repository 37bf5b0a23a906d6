//! A store moves from a file into PostgreSQL and back. In: a data folder and an empty database, or the other way round. Out: the
//! same records in the other place. Either everything moves or nothing does: into a database in one transaction, into a folder
//! under another name first.
//!
//! Rows of addresses and hosts get new numbers, since those of PostgreSQL begin with their partition. The numbers of documents and
//! the name of the store stay: a search index beside it goes on, and so does whoever reads the log of documents.

mod export;
mod import;

use std::collections::BTreeMap;

use rusqlite::Connection as SqliteFile;

use super::backup::CopyProgress;
use super::salvage::TABLES;
use super::sql::{self, Connection, NONE};

pub use export::export;
pub use import::import;

/// What is copied before somebody is told how far it is.
const STEP: u64 = 1_000;
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
    pub fn of(&self, table: &str) -> u64 {
        self.0.get(table).copied().unwrap_or_default()
    }
}

/// How far it is.
struct Progress<'a> {
    at: CopyProgress,
    each: &'a mut dyn FnMut(CopyProgress),
}

impl<'a> Progress<'a> {
    /// Nothing of the rows of all tables is copied yet.
    fn new(from: &Connection, each: &'a mut dyn FnMut(CopyProgress)) -> sql::Result<Self> {
        let all = count_all(from)?;
        let at = CopyProgress { done: 0, all };
        Ok(Progress { at, each })
    }

    fn add(&mut self, rows: u64) {
        let before = self.at.done / STEP;
        self.at.done += rows;
        if self.at.done / STEP > before {
            (self.each)(self.at);
        }
    }
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
