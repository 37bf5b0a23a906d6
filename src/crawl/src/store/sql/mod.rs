//! The one way to the database, SQLite or PostgreSQL: the statements of the store are written once and run on both.
//! SQLite is called directly; PostgreSQL through [`Postgres`].
//!
//! A statement is written as SQLite has it (`?1`), with what both understand: `RETURNING`, `ON CONFLICT`, sums cast to BIGINT,
//! and values whose type follows from the column that they meet. What one of them has alone stands behind
//! [`Connection::sqlite`].

mod node;
mod postgres;

use std::ops::Deref;
use std::path::{Path, PathBuf};

use rusqlite::types::{Type, ValueRef};
use tokio_postgres::error::SqlState;

use super::error::{self as store, StoreError};

pub(in crate::store) use node::NOW_MS;
pub(super) use node::Share;
pub use node::{Gained, NodeLease};
pub(super) use postgres::{PgConnector, Postgres, describe};
pub(super) use rusqlite::types::{FromSql, Value};
pub(super) use rusqlite::{ToSql, params};

/// What came of a statement, before the path of the database is added.
type Result<T, E = Error> = std::result::Result<T, E>;

/// No values.
pub(super) const NONE: [i64; 0] = [];

/// A LIMIT that leaves nothing out.
pub(super) const ALL: i64 = i64::MAX;

/// Rows that PostgreSQL gets in one statement.
const ROWS_AT_ONCE: usize = 64;

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum Error {
    /// SQLite says so, or a value is not what was expected.
    Sqlite(rusqlite::Error),
    /// PostgreSQL says so.
    Postgres(tokio_postgres::Error),
    /// PostgreSQL cannot be reached; whatever was under way was not done.
    Unreachable(String),
    /// Another transaction held what this one wanted, and the other way round; nothing of this one was done.
    Deadlock,
    /// Another node has the place of this one.
    Fenced,
    /// This cannot be used as a store: what is wrong, and the mend.
    Unfit(String),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Sqlite(error)
    }
}

impl From<rusqlite::types::FromSqlError> for Error {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Error::Sqlite(error.into())
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(code) if *code == SqlState::T_R_DEADLOCK_DETECTED => Error::Deadlock,
            _ if postgres::is_passing(&error) => Error::Unreachable(postgres::describe(&error)),
            _ => Error::Postgres(error),
        }
    }
}

impl Error {
    /// The query gave no row.
    fn no_rows() -> Self {
        Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)
    }
}

/// Enums that are stored as the number of the member; one that is not known is the default.
macro_rules! stored {
    ($($name:ident),+) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok((*self as i64).into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                let code = <i64 as rusqlite::types::FromSql>::column_result(value)?;
                let known = $name::ALL.into_iter().find(|member| *member as i64 == code);
                Ok(known.unwrap_or_default())
            }
        }
    )+};
}
pub(super) use stored;

/// A limit as the databases take it.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Numbers as they stand between brackets.
pub(super) fn list(numbers: impl Iterator<Item = i64>) -> String {
    let mut text = String::new();
    for number in numbers {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&number.to_string());
    }
    text
}

/// The places of the values of so many rows: `(?1, ?2), (?3, ?4)`.
fn places(rows: usize, values: usize) -> String {
    let row = |row: usize| {
        let of_row: Vec<String> = (1..=values)
            .map(|n| format!("?{}", row * values + n))
            .collect();
        format!("({})", of_row.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    rows.join(", ")
}

/// Values of a statement.
pub(super) trait Params {
    /// Calls `with` with them.
    fn bind<R>(&self, with: impl FnOnce(&[&dyn ToSql]) -> R) -> R;
}

impl Params for &[&dyn ToSql] {
    fn bind<R>(&self, with: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        with(self)
    }
}

impl Params for &[Value] {
    fn bind<R>(&self, with: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        let values: Vec<&dyn ToSql> = self.iter().map(|value| value as _).collect();
        with(&values)
    }
}

impl<T: ToSql, const N: usize> Params for [T; N] {
    fn bind<R>(&self, with: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        with(&self.each_ref().map(|value| value as &dyn ToSql))
    }
}

/// A row of an answer.
pub(super) enum Row<'a> {
    /// Of SQLite.
    Sqlite(&'a rusqlite::Row<'a>),
    /// Of PostgreSQL.
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The value of a column, counted from 0.
    pub(super) fn get<T: FromSql>(&self, column: usize) -> rusqlite::Result<T> {
        match self {
            Row::Sqlite(row) => row.get(column),
            Row::Postgres(row) => Ok(T::column_result(cell(row, column)?)?),
        }
    }

    /// The text of a column, counted from 0.
    pub(super) fn text(&self, column: usize) -> rusqlite::Result<&str> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?.as_str()?),
            Row::Postgres(row) => Ok(cell(row, column)?.as_str()?),
        }
    }
}

fn cell(row: &tokio_postgres::Row, column: usize) -> rusqlite::Result<ValueRef<'_>> {
    let cell: Result<postgres::FromServer<'_>, _> = row.try_get(column);
    let wrong = |e| rusqlite::Error::FromSqlConversionFailure(column, Type::Null, Box::new(e));
    Ok(cell.map_err(wrong)?.0)
}

/// A connection to one of the two databases. Its errors name the database.
#[derive(Debug)]
pub(super) struct Connection {
    database: Database,
    path: PathBuf,
}

#[derive(Debug)]
enum Database {
    /// A file.
    Sqlite(rusqlite::Connection),
    /// A server.
    Postgres(Box<Postgres>),
}

impl Connection {
    /// A connection to a file.
    pub(super) fn to_file(conn: rusqlite::Connection, path: PathBuf) -> Self {
        let database = Database::Sqlite(conn);
        Connection { database, path }
    }

    /// A connection to a server.
    pub(super) fn to_server(conn: Postgres, path: PathBuf) -> Self {
        let database = Database::Postgres(Box::new(conn));
        Connection { database, path }
    }

    /// The file, or what stands for the server.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// SQLite's own connection, for what only SQLite has.
    pub(super) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match &self.database {
            Database::Sqlite(conn) => Some(conn),
            Database::Postgres(_) => None,
        }
    }

    /// PostgreSQL's own connection.
    pub(super) fn postgres(&self) -> Option<&Postgres> {
        match &self.database {
            Database::Sqlite(_) => None,
            Database::Postgres(conn) => Some(conn),
        }
    }

    /// This database cannot be used: what is wrong, and the mend.
    pub(super) fn unfit(&self, detail: impl Into<String>) -> StoreError {
        StoreError::sql(&self.path, Error::Unfit(detail.into()))
    }

    /// Runs several statements without values.
    pub(super) fn run_script(&self, sql: &str) -> store::Result<()> {
        match &self.database {
            Database::Sqlite(conn) => self.wrap(conn.execute_batch(sql)),
            Database::Postgres(conn) => self.wrap(conn.run_script(sql)),
        }
    }

    /// What came of a connection of their own.
    pub(super) fn wrap<T>(&self, result: Result<T, impl Into<Error>>) -> store::Result<T> {
        result.map_err(|e| StoreError::sql(&self.path, e))
    }

    /// Runs a statement; how many rows it changed. As all statements but those of [`Connection::query_once`] it is compiled once
    /// for each connection.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> store::Result<usize> {
        self.wrap(params.bind(|values| match &self.database {
            Database::Sqlite(conn) => Ok(conn.prepare_cached(sql)?.execute(values)?),
            Database::Postgres(conn) => conn.execute(sql, postgres::bound(values)?),
        }))
    }

    /// Runs it where nobody asks how many rows it changed. PostgreSQL gets many such statements in one message, before the
    /// next one that has an answer: inside a transaction only.
    pub(super) fn put(&self, sql: &str, params: impl Params) -> store::Result<()> {
        let Some(conn) = self.postgres() else {
            return self.execute(sql, params).map(|_| ());
        };
        self.wrap(params.bind(|values| conn.put(sql, postgres::bound(values)?)))
    }

    /// Inserts rows with `INSERT … VALUES` before them and `conflict` behind, as [`Connection::put`] does. PostgreSQL gets many in
    /// one statement, so no two of them may be in conflict where `conflict` changes a row.
    pub(super) fn put_rows<const N: usize>(
        &self,
        insert: &str,
        conflict: &str,
        rows: &[[Value; N]],
    ) -> store::Result<()> {
        let most = self.postgres().map_or(1, |_| ROWS_AT_ONCE);
        let (mut rest, mut of, mut sql) = (rows, 0, String::new());
        while let Some(len) = rest.len().checked_ilog2() {
            // So that there are few statements to compile.
            let (some, others) = rest.split_at(most.min(1 << len));
            rest = others;
            if of != some.len() {
                of = some.len();
                sql = format!("{insert} VALUES {} {conflict}", places(of, N));
            }
            self.put(&sql, some.as_flattened())?;
        }
        Ok(())
    }

    /// Calls `each` with the rows of an answer while it says true. PostgreSQL sends all of them, so bound their number.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> store::Result<()> {
        self.wrap(params.bind(|values| match &self.database {
            Database::Sqlite(conn) => {
                let mut statement = conn.prepare_cached(sql)?;
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    if !each(&Row::Sqlite(row))? {
                        break;
                    }
                }
                Ok::<_, Error>(())
            }
            Database::Postgres(conn) => {
                for row in conn.query(sql, postgres::bound(values)?)? {
                    if !each(&Row::Postgres(&row))? {
                        break;
                    }
                }
                Ok(())
            }
        }))
    }

    /// The rows of an answer.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> store::Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, params, |row| {
            found.push(map(row)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// The first row of an answer, if any.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> store::Result<Option<T>> {
        let mut found = None;
        self.each(sql, params, |row| {
            found = Some(map(row)?);
            Ok(false)
        })?;
        Ok(found)
    }

    /// The one row of an answer.
    pub(super) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> store::Result<T> {
        let row = self.row(sql, params, map)?;
        self.wrap(row.ok_or_else(Error::no_rows))
    }

    /// The rows of a statement that is not asked again soon and has its values in it.
    pub(super) fn query_once<T>(
        &self,
        sql: &str,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> store::Result<Vec<T>> {
        let mut found = Vec::new();
        let mut read = || -> Result<()> {
            match &self.database {
                Database::Sqlite(conn) => {
                    let mut statement = conn.prepare(sql)?;
                    let mut rows = statement.query([])?;
                    while let Some(row) = rows.next()? {
                        found.push(map(&Row::Sqlite(row))?);
                    }
                }
                Database::Postgres(conn) => {
                    for row in conn.query_unprepared(sql)? {
                        found.push(map(&Row::Postgres(&row))?);
                    }
                }
            }
            Ok(())
        };
        self.wrap(read())?;
        Ok(found)
    }

    /// What a transaction that writes does is there as a whole or not at all.
    pub(super) fn transaction(&self) -> store::Result<Transaction<'_>> {
        self.begin(rusqlite::TransactionBehavior::Immediate, "BEGIN")
    }

    /// All that is read in it is of one moment.
    pub(super) fn snapshot(&self) -> store::Result<Transaction<'_>> {
        self.begin(
            rusqlite::TransactionBehavior::Deferred,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        )
    }

    fn begin(
        &self,
        behavior: rusqlite::TransactionBehavior,
        begin: &str,
    ) -> store::Result<Transaction<'_>> {
        let open = match &self.database {
            Database::Sqlite(conn) => {
                Open::Sqlite(self.wrap(rusqlite::Transaction::new_unchecked(conn, behavior))?)
            }
            Database::Postgres(conn) => {
                self.wrap(conn.begin(begin))?;
                Open::Postgres(conn)
            }
        };
        Ok(Transaction {
            conn: self,
            open: Some(open),
        })
    }
}

/// An open transaction; without [`Transaction::commit`] nothing of it stays.
pub(super) struct Transaction<'a> {
    conn: &'a Connection,
    open: Option<Open<'a>>,
}

enum Open<'a> {
    Sqlite(rusqlite::Transaction<'a>),
    Postgres(&'a Postgres),
}

impl Transaction<'_> {
    /// Makes it durable.
    pub(super) fn commit(mut self) -> store::Result<()> {
        match self.open.take() {
            Some(Open::Sqlite(tx)) => self.conn.wrap(tx.commit()),
            Some(Open::Postgres(conn)) => self.conn.wrap(conn.commit()),
            None => Ok(()),
        }
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(Open::Postgres(conn)) = self.open.take() {
            conn.roll_back();
        }
    }
}
