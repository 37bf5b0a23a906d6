//! The one way to the database. In: SQL and values. Out: rows. Two databases stand behind it, SQLite and PostgreSQL; the
//! statements of the store are written once and run on both. SQLite is asked directly; PostgreSQL through [`Postgres`].
//!
//! A statement is written as SQLite has it (`?1`), with what both understand: `RETURNING`, `ON CONFLICT`, sums cast to BIGINT,
//! and values whose type follows from the column that they meet. What one of them has alone stands behind
//! [`Connection::sqlite`].

mod answers;
mod lease;
mod node;
mod postgres;
mod tls;
mod values;

use std::ops::Deref;

use tokio_postgres::error::SqlState;

pub(super) use answers::in_words;
pub use lease::NodeLease;
pub use node::Gained;
pub(in crate::store) use node::NOW_MS;
pub(super) use node::Share;
pub(super) use postgres::Postgres;
pub(super) use rusqlite::types::{FromSql, Value};
pub(super) use rusqlite::{ToSql, params};
pub(super) use tls::Way;

/// What came of a statement.
pub(super) type Result<T> = std::result::Result<T, Error>;

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
            _ if answers::is_passing(&error) => Error::Unreachable(answers::in_words(&error)),
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

/// No row is an answer too.
pub(super) trait Optional<T> {
    /// None where the query gave no row.
    fn optional(self) -> Result<Option<T>>;
}

impl<T> Optional<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
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
    pub(super) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Postgres(row) => {
                let cell: values::Cell<'_> = row.try_get(column)?;
                Ok(T::column_result(cell.0)?)
            }
        }
    }

    /// The text of a column, counted from 0.
    pub(super) fn text(&self, column: usize) -> Result<&str> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?.as_str()?),
            Row::Postgres(row) => {
                let cell: values::Cell<'_> = row.try_get(column)?;
                Ok(cell.0.as_str()?)
            }
        }
    }
}

/// A connection to one of the two databases.
#[derive(Debug)]
pub(super) enum Connection {
    /// A file.
    Sqlite(rusqlite::Connection),
    /// A server.
    Postgres(Box<Postgres>),
}

impl Connection {
    /// SQLite's own connection, for what only SQLite has.
    pub(super) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Connection::Sqlite(conn) => Some(conn),
            Connection::Postgres(_) => None,
        }
    }

    /// PostgreSQL's own connection.
    pub(super) fn postgres(&self) -> Option<&Postgres> {
        match self {
            Connection::Sqlite(_) => None,
            Connection::Postgres(conn) => Some(conn),
        }
    }

    /// A statement that is compiled once for each connection.
    pub(super) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        Ok(match self {
            Connection::Sqlite(conn) => Statement::Sqlite(conn.prepare_cached(sql)?),
            Connection::Postgres(conn) => Statement::Postgres(conn, sql.to_owned()),
        })
    }

    /// Runs a statement; how many rows it changed.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }

    /// Inserts rows with `INSERT … VALUES` before them and `conflict` behind, as [`Statement::put`] does. PostgreSQL gets many in one
    /// statement, so no two of them may be in conflict where `conflict` changes a row.
    pub(super) fn put_rows<const N: usize>(
        &self,
        insert: &str,
        conflict: &str,
        rows: &[[Value; N]],
    ) -> Result<()> {
        let most = self.postgres().map_or(1, |_| ROWS_AT_ONCE);
        let mut rest = rows;
        let mut statement: Option<(usize, Statement<'_>)> = None;
        while let Some(len) = rest.len().checked_ilog2() {
            // So that there are few statements to compile.
            let (some, others) = rest.split_at(most.min(1 << len));
            rest = others;
            let values: Vec<&dyn ToSql> = some.as_flattened().iter().map(|v| v as _).collect();
            match &mut statement {
                Some((of, statement)) if *of == some.len() => statement.put(&values[..])?,
                _ => {
                    let sql = format!("{insert} VALUES {} {conflict}", places(some.len(), N));
                    let (_, compiled) = statement.insert((some.len(), self.prepare_cached(&sql)?));
                    compiled.put(&values[..])?;
                }
            }
        }
        Ok(())
    }

    /// The one row of an answer.
    pub(super) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, map)
    }

    /// The rows of a statement that is not asked again soon and has its values in it.
    pub(super) fn query_once<T>(
        &self,
        sql: &str,
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        match self {
            Connection::Sqlite(conn) => {
                let mut statement = conn.prepare(sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    found.push(map(&Row::Sqlite(row))?);
                }
            }
            Connection::Postgres(conn) => {
                for row in conn.query_unprepared(sql)? {
                    found.push(map(&Row::Postgres(&row))?);
                }
            }
        }
        Ok(found)
    }

    /// What a transaction that writes does is there as a whole or not at all.
    pub(super) fn transaction(&self) -> Result<Transaction<'_>> {
        self.begin(rusqlite::TransactionBehavior::Immediate, "BEGIN")
    }

    /// All that is read in it is of one moment.
    pub(super) fn snapshot(&self) -> Result<Transaction<'_>> {
        self.begin(
            rusqlite::TransactionBehavior::Deferred,
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        )
    }

    fn begin(
        &self,
        behavior: rusqlite::TransactionBehavior,
        begin: &str,
    ) -> Result<Transaction<'_>> {
        let open = match self {
            Connection::Sqlite(conn) => {
                Open::Sqlite(rusqlite::Transaction::new_unchecked(conn, behavior)?)
            }
            Connection::Postgres(conn) => {
                conn.begin(begin)?;
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
    pub(super) fn commit(mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Sqlite(tx)) => Ok(tx.commit()?),
            Some(Open::Postgres(conn)) => conn.commit(),
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

/// A compiled statement.
pub(super) enum Statement<'a> {
    /// Of SQLite.
    Sqlite(rusqlite::CachedStatement<'a>),
    /// Of PostgreSQL, which compiles it when it is first run.
    Postgres(&'a Postgres, String),
}

impl Statement<'_> {
    /// Runs it; how many rows it changed.
    pub(super) fn execute(&mut self, params: impl Params) -> Result<usize> {
        params.bind(|values| match self {
            Statement::Sqlite(statement) => Ok(statement.execute(values)?),
            Statement::Postgres(conn, sql) => conn.execute(sql, values::bound(values)?),
        })
    }

    /// Runs it where nobody asks how many rows it changed. PostgreSQL gets many such statements in one message, before the
    /// next one that has an answer: inside a transaction only.
    pub(super) fn put(&mut self, params: impl Params) -> Result<()> {
        params.bind(|values| match self {
            Statement::Sqlite(statement) => {
                statement.execute(values)?;
                Ok(())
            }
            Statement::Postgres(conn, sql) => conn.put(sql, values::bound(values)?),
        })
    }

    /// The one row of the answer.
    pub(super) fn query_row<T>(
        &mut self,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        params.bind(|values| match self {
            Statement::Sqlite(statement) => {
                let mut rows = statement.query(values)?;
                map(&Row::Sqlite(rows.next()?.ok_or_else(Error::no_rows)?))
            }
            Statement::Postgres(conn, sql) => {
                let rows = conn.query(sql, values::bound(values)?)?;
                map(&Row::Postgres(rows.first().ok_or_else(Error::no_rows)?))
            }
        })
    }

    /// The rows of the answer.
    pub(super) fn query_map<T>(
        &mut self,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<std::vec::IntoIter<Result<T>>> {
        let mut found = Vec::new();
        self.each(params, |row| {
            found.push(map(row));
            Ok(true)
        })?;
        Ok(found.into_iter())
    }

    /// Calls `each` with the rows of the answer while it says true. PostgreSQL sends all of them, so bound their number.
    pub(super) fn each(
        &mut self,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        params.bind(|values| match self {
            Statement::Sqlite(statement) => {
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    if !each(&Row::Sqlite(row))? {
                        break;
                    }
                }
                Ok(())
            }
            Statement::Postgres(conn, sql) => {
                for row in conn.query(sql, values::bound(values)?)? {
                    if !each(&Row::Postgres(&row))? {
                        break;
                    }
                }
                Ok(())
            }
        })
    }
}
