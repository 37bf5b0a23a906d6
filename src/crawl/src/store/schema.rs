//! The tables, in SQLite and in PostgreSQL.
//!
//! Rows of `url` are appended in the order of finding and have a small number that never comes twice; the only table
//! of random fingerprints is `seen`, 13 bytes a URL, and it is written in sorted runs, block after block (see `keys`).
//! That keeps the pages a commit dirties few, however many URLs there are and however few hosts they are on.

use std::path::Path;

use rusqlite::{Transaction, TransactionBehavior};

use super::error::{Result, StoreError};
use super::sql::{Connection, NONE};

/// Version of the tables that this program makes. It reads and writes those of version 1 too, whose fingerprints have no key.
pub(super) const VERSION: i64 = 2;

/// The first version whose stores have a key of their fingerprints.
pub(super) const FIRST_WITH_KEY: i64 = 2;

/// The tables of a file.
pub(super) struct FileTables {
    /// `PRAGMA application_id`.
    pub(super) application_id: i64,
    /// `PRAGMA user_version`.
    pub(super) version: i64,
    /// SQL that makes them.
    pub(super) sql: &'static str,
}

/// Those of the store; its files say "TaoJ".
pub(super) const STORE: FileTables = FileTables {
    application_id: 0x5461_6F4A,
    version: VERSION,
    sql: include_str!("schema.sqlite.sql"),
};

const POSTGRES: &str = include_str!("schema.postgres.sql");

/// Oldest PostgreSQL that this is tested with.
const OLDEST: i64 = 15;

/// One process makes tables at a time; the others wait and find them.
const ONE_BY_ONE: &str =
    "SELECT CAST(pg_advisory_lock(1415664488, hashtext(current_schema()::text)) AS TEXT)";
const NEXT_ONE: &str = "SELECT pg_advisory_unlock(1415664488, hashtext(current_schema()::text))";

/// Version of the open database, at most [`VERSION`]; 0 if it has no tables yet.
///
/// # Errors
/// If it is another program's, of another version, or cannot hold a store.
pub(super) fn version(conn: &Connection) -> Result<i64> {
    match conn.sqlite() {
        Some(file) => STORE.version_of(file, conn.path()),
        None => check_version(read_version(conn)?, VERSION, conn.path()),
    }
}

impl FileTables {
    /// Their version in an open file: 0 if it has none yet. It is refused where it is another program's, or of a newer version.
    pub(super) fn version_of(&self, conn: &rusqlite::Connection, path: &Path) -> Result<i64> {
        let failed = |e| StoreError::sql(path, e);
        let pragma = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = pragma("application_id").map_err(failed)?;
        if application == self.application_id {
            return check_version(pragma("user_version").map_err(failed)?, self.version, path);
        }
        let tables: i64 = conn
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
            .map_err(failed)?;
        if application != 0 || tables > 0 {
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                detail: "another program's SQLite database".to_owned(),
            });
        }
        Ok(0)
    }

    /// Makes them in a file if they are missing, whichever process comes first.
    pub(super) fn create(&self, conn: &rusqlite::Connection, path: &Path) -> Result<()> {
        let failed = |e| StoreError::sql(path, e);
        let tx =
            Transaction::new_unchecked(conn, TransactionBehavior::Immediate).map_err(failed)?;
        if self.version_of(&tx, path)? == 0 {
            tx.execute_batch(self.sql)
                .and_then(|()| tx.pragma_update(None, "application_id", self.application_id))
                .and_then(|()| tx.pragma_update(None, "user_version", self.version))
                .map_err(failed)?;
        }
        tx.commit().map_err(failed)
    }
}

fn check_version(found: i64, known: i64, path: &Path) -> Result<i64> {
    if found > known {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    Ok(found)
}

/// Makes the tables if they are missing, and the columns that tables of before are without.
pub(super) fn create(conn: &Connection) -> Result<()> {
    if version(conn)? > 0 {
        return add_columns(conn);
    }
    if let Some(file) = conn.sqlite() {
        return STORE.create(file, conn.path());
    }
    conn.run_script(ONE_BY_ONE)?;
    // Callers drop the connection after an error, and the lock goes with it.
    if read_version(conn)? == 0 {
        conn.run_script(&format!("BEGIN; {POSTGRES} COMMIT"))?;
    }
    conn.run_script(NEXT_ONE)
}

/// A column that tables of before are without, and what adds it.
struct AddedColumn {
    table: &'static str,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// The index of [`schema.sqlite.sql`](STORE) over the template of each document.
const ADD_TEMPLATE_OF_URL: &str = "ALTER TABLE url ADD COLUMN template_id BIGINT; \
     ALTER TABLE url ADD COLUMN template_ms BIGINT; \
     CREATE INDEX url_template ON url (site_id, template_id, template_ms) WHERE documented = 1";
const ADD_CHANGE_OF_TEMPLATE: &str = "ALTER TABLE template ADD COLUMN changed_ms BIGINT NOT NULL DEFAULT 0; \
     UPDATE template SET changed_ms = learned_ms";

const ADDED: [AddedColumn; 3] = [
    // What is said of attachments was not kept at first.
    AddedColumn {
        table: "url",
        name: "announced",
        sqlite: "ALTER TABLE url ADD COLUMN announced TEXT",
        postgres: "ALTER TABLE url ADD COLUMN IF NOT EXISTS announced TEXT; \
             ALTER TABLE inbox ADD COLUMN IF NOT EXISTS announced TEXT",
    },
    AddedColumn {
        table: "template",
        name: "changed_ms",
        sqlite: ADD_CHANGE_OF_TEMPLATE,
        postgres: ADD_CHANGE_OF_TEMPLATE,
    },
    AddedColumn {
        table: "url",
        name: "template_id",
        sqlite: ADD_TEMPLATE_OF_URL,
        postgres: ADD_TEMPLATE_OF_URL,
    },
];

/// Whether tables of before are without this column.
pub(super) fn is_added_column(table: &str, name: &str) -> bool {
    let is_added = |column: &AddedColumn| column.table == table && column.name == name;
    // The script of one of them adds another.
    ADDED.iter().any(is_added) || (table, name) == ("url", "template_ms")
}

/// Whether tables of before are without this index.
pub(super) fn is_added_index(name: &str) -> bool {
    let made = format!("CREATE INDEX {name} ");
    ADDED.iter().any(|column| column.sqlite.contains(&made))
}

fn add_columns(conn: &Connection) -> Result<()> {
    if ADDED
        .iter()
        .try_fold(true, |all, column| Ok(all && column.is_there(conn)?))?
    {
        return Ok(());
    }
    if conn.sqlite().is_some() {
        return add_missing(conn);
    }
    // Callers drop the connection after an error, and the lock goes with it.
    conn.run_script(ONE_BY_ONE)?;
    add_missing(conn)?;
    conn.run_script(NEXT_ONE)
}

fn add_missing(conn: &Connection) -> Result<()> {
    for column in &ADDED {
        if !column.is_there(conn)? {
            let script = if conn.sqlite().is_some() {
                column.sqlite
            } else {
                column.postgres
            };
            conn.run_script(&format!("BEGIN; {script}; COMMIT"))?;
        }
    }
    Ok(())
}

impl AddedColumn {
    fn is_there(&self, conn: &Connection) -> Result<bool> {
        let Self { table, name, .. } = self;
        let sql = if conn.sqlite().is_some() {
            format!("SELECT count(*) FROM pragma_table_info('{table}') WHERE name = '{name}'")
        } else {
            format!(
                "SELECT count(*) FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attname = '{name}'"
            )
        };
        Ok(conn.query_row(&sql, NONE, |row| row.get::<i64>(0))? > 0)
    }
}

fn read_version(conn: &Connection) -> Result<i64> {
    let text = |sql: &str| conn.query_row(sql, NONE, |row| row.get::<Option<String>>(0));
    let number = |sql: &str| conn.query_row(sql, NONE, |row| row.get::<i64>(0));
    let server = number("SELECT CAST(current_setting('server_version_num') AS BIGINT)")?;
    if server / 10_000 < OLDEST {
        let found = server / 10_000;
        let words = format!("it is PostgreSQL {found}: use {OLDEST} or later");
        return Err(conn.unfit(words));
    }
    let encoding = text("SELECT current_setting('server_encoding')")?.unwrap_or_default();
    if encoding != "UTF8" {
        let words = format!(
            "its encoding is {encoding}: make one for taojin with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        );
        return Err(conn.unfit(words));
    }
    let Some(schema) = text("SELECT CAST(current_schema() AS TEXT)")? else {
        let words = "the user may use no schema of its search_path: GRANT USAGE, CREATE ON SCHEMA public TO the user";
        return Err(conn.unfit(words));
    };
    let tables = number(
        "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v') \
         AND relnamespace = current_schema()::regnamespace",
    )?;
    if tables == 0 {
        let sql = "SELECT has_schema_privilege(current_schema(), 'CREATE')";
        return if conn.query_row(sql, NONE, |row| row.get::<bool>(0))? {
            Ok(0)
        } else {
            Err(conn.unfit(format!(
                "the user may not make tables in it: GRANT CREATE ON SCHEMA {schema} TO the user"
            )))
        };
    }
    let ours = number(
        "SELECT count(*) FROM pg_class WHERE relname = 'taojin_store' \
         AND relnamespace = current_schema()::regnamespace",
    )?;
    if ours == 0 {
        return Err(conn.unfit(format!(
            "the schema {schema} holds another program's tables: make a database for taojin alone"
        )));
    }
    conn.row("SELECT version FROM taojin_store", NONE, |row| row.get(0))
        .map(Option::unwrap_or_default)
}
