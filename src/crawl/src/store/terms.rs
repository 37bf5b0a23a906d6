//! The review list of domain terms. In: terms that were found and what was decided about them. Out: the list, best
//! first. Never knows how terms are found, and never holds what is in use: that is the lexicon file.
//!
//! It is a database of its own, `terms.sqlite`, and not a table beside the crawl's: a review goes on in the command
//! line and in the web page while the daemon runs, whose database has one writer; and an index that was imported has
//! no crawl. The write lock of this database also stands for the lexicon file: who edits that file holds it
//! ([`TermList::alone`]), so that no two processes write it at the same time.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};

use super::error::StoreError;
use super::open::BUSY;

/// The database inside the data directory.
const DATABASE: &str = "terms.sqlite";
/// `PRAGMA application_id`: "TaoT".
const APPLICATION_ID: i64 = 0x5461_6F54;
/// Version of its tables.
const VERSION: i64 = 1;
const TABLES: &str = "
CREATE TABLE term (
  normal TEXT PRIMARY KEY,
  term TEXT NOT NULL,
  termhood REAL NOT NULL,
  occurrences BIGINT NOT NULL,
  documents BIGINT NOT NULL,
  facts TEXT NOT NULL,
  state INTEGER NOT NULL,
  found_ms BIGINT NOT NULL,
  decided_ms BIGINT
);
CREATE INDEX term_order ON term (state, termhood DESC, normal);
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
";

const COLUMNS: &str =
    "normal, term, termhood, occurrences, documents, facts, state, found_ms, decided_ms";

/// What was decided about a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermState {
    /// Nothing yet.
    Proposed = 0,
    /// It went to the lexicon.
    Accepted = 1,
    /// It is no term: it is not proposed again.
    Rejected = 2,
}

/// A term of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct TermRecord {
    /// In normal form: its key.
    pub normal: String,
    /// As it is mostly written.
    pub term: String,
    /// How likely it is a term, 0 to 1.
    pub termhood: f64,
    /// Times that it occurred.
    pub occurrences: u64,
    /// Documents that have it.
    pub documents: u64,
    /// Evidence and measures, as whoever found it wrote them.
    pub facts: String,
    /// What was decided.
    pub state: TermState,
    /// When it was found first, Unix milliseconds.
    pub found_ms: i64,
    /// When it was decided about, Unix milliseconds.
    pub decided_ms: Option<i64>,
}

/// How many terms there are of each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TermCounts {
    /// Not decided about.
    pub proposed: u64,
    /// Accepted.
    pub accepted: u64,
    /// Rejected.
    pub rejected: u64,
}

/// Up to where the documents were looked through for terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TermMark {
    /// Number in the log that the index held then.
    pub seq: u64,
    /// When, Unix milliseconds; 0 for never.
    pub at_ms: i64,
}

/// The list, open for reading and writing. Any number of processes may have it open.
#[derive(Debug)]
pub struct TermList {
    conn: Connection,
    path: PathBuf,
}

impl TermList {
    /// Opens the list in `dir`, or makes an empty one there.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
        let path = dir.join(DATABASE);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut list = Self::connect(path, flags)?;
        let created = create_tables(&mut list.conn);
        match created.map_err(|e| list.fail(e))? {
            Found::Ours => Ok(list),
            Found::Newer(found) => Err(StoreError::Newer {
                path: list.path,
                found,
                known: VERSION,
            }),
            Found::Foreign => Err(StoreError::Damaged {
                path: list.path,
                detail: "another program's SQLite database".to_owned(),
            }),
        }
    }

    /// Whether there is a list in `dir`: reading one that is not there makes none.
    pub fn exists(dir: &Path) -> bool {
        dir.join(DATABASE).exists()
    }

    /// Copies what people decided into a backup of the store.
    pub(super) fn copy_into(&self, backup: &Connection) -> Result<(), StoreError> {
        let from = self.path.to_string_lossy();
        let sql = "CREATE TABLE backup_term AS SELECT * FROM list.term; \
                   CREATE TABLE backup_term_meta AS SELECT * FROM list.meta;";
        let copy = || {
            backup.execute("ATTACH ?1 AS list", [&*from])?;
            backup.execute_batch(sql)?;
            backup.execute_batch("DETACH list")
        };
        copy().map_err(|e| self.fail(e))
    }

    /// Moves the list that a backup of the store carries to `dir`, in the place of the one there. A backup without one
    /// leaves it as it is.
    pub(super) fn take_out_of(backup: &Connection, dir: &Path) -> Result<(), StoreError> {
        let path = dir.join(DATABASE);
        let fail = |e| StoreError::sql(&path, e);
        if !backup.table_exists(None, "backup_term").map_err(fail)? {
            return Ok(());
        }
        drop(Self::open(dir)?);
        let sql = format!(
            "BEGIN; DELETE FROM list.term; DELETE FROM list.meta; \
             INSERT INTO list.term ({COLUMNS}) SELECT {COLUMNS} FROM backup_term; \
             INSERT INTO list.meta (name, value) SELECT name, value FROM backup_term_meta; COMMIT; DETACH list; \
             DROP TABLE backup_term; DROP TABLE backup_term_meta;"
        );
        let take = || {
            backup.execute("ATTACH ?1 AS list", [&*path.to_string_lossy()])?;
            backup.execute_batch(&sql)
        };
        take().map_err(fail)
    }

    fn connect(path: PathBuf, flags: OpenFlags) -> Result<Self, StoreError> {
        let open = || -> rusqlite::Result<Connection> {
            let conn = Connection::open_with_flags(&path, flags)?;
            conn.busy_timeout(BUSY)?;
            conn.pragma_update(None, "journal_mode", "wal")?;
            conn.pragma_update(None, "synchronous", "full")?;
            Ok(conn)
        };
        match open() {
            Ok(conn) => Ok(Self { conn, path }),
            Err(error) => Err(StoreError::sql(&path, error)),
        }
    }

    /// Puts what was found in place of what is only proposed. What was decided stays decided. In one transaction,
    /// with the mark up to which was looked.
    pub fn propose(&mut self, found: &[TermRecord], mark: TermMark) -> Result<(), StoreError> {
        let run = |conn: &mut Connection| -> rusqlite::Result<()> {
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            tx.execute("UPDATE term SET documents = -1 WHERE state = 0", [])?;
            let mut insert = tx.prepare_cached(
                "INSERT INTO term (normal, term, termhood, occurrences, documents, facts, state, found_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)
                 ON CONFLICT (normal) DO UPDATE SET term = excluded.term, termhood = excluded.termhood,
                   occurrences = excluded.occurrences, documents = excluded.documents, facts = excluded.facts",
            )?;
            for term in found {
                insert.execute(params![
                    term.normal,
                    term.term,
                    term.termhood,
                    term.occurrences.cast_signed(),
                    term.documents.cast_signed(),
                    term.facts,
                    mark.at_ms
                ])?;
            }
            drop(insert);
            tx.execute("DELETE FROM term WHERE state = 0 AND documents = -1", [])?;
            for (name, value) in [("seq", mark.seq.cast_signed()), ("at_ms", mark.at_ms)] {
                tx.execute(
                    "REPLACE INTO meta (name, value) VALUES (?1, ?2)",
                    params![name, value],
                )?;
            }
            tx.commit()
        };
        run(&mut self.conn).map_err(|e| self.fail(e))
    }

    /// Terms of a state, best first.
    pub fn list(
        &self,
        state: TermState,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<TermRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM term WHERE state = ?1 ORDER BY termhood DESC, normal LIMIT ?2 OFFSET ?3"
        );
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let run = || {
            let mut select = self.conn.prepare_cached(&sql)?;
            let rows =
                select.query_map(params![state as i64, signed(limit), signed(offset)], record)?;
            rows.collect::<rusqlite::Result<Vec<TermRecord>>>()
        };
        run().map_err(|e| self.fail(e))
    }

    /// What is known of a term in normal form.
    pub fn get(&self, normal: &str) -> Result<Option<TermRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM term WHERE normal = ?1");
        self.conn
            .query_row(&sql, [normal], record)
            .optional()
            .map_err(|e| self.fail(e))
    }

    /// How many terms there are of each state.
    pub fn counts(&self) -> Result<TermCounts, StoreError> {
        let count = |state: TermState| {
            let sql = "SELECT count(*) FROM term WHERE state = ?1";
            let count = self
                .conn
                .query_row(sql, [state as i64], |row| row.get::<_, i64>(0));
            count.map(|n| n.cast_unsigned()).map_err(|e| self.fail(e))
        };
        Ok(TermCounts {
            proposed: count(TermState::Proposed)?,
            accepted: count(TermState::Accepted)?,
            rejected: count(TermState::Rejected)?,
        })
    }

    /// Up to where was looked last.
    pub fn mark(&self) -> Result<TermMark, StoreError> {
        let value = |name: &str| {
            let sql = "SELECT value FROM meta WHERE name = ?1";
            let value = self.conn.query_row(sql, [name], |row| row.get::<_, i64>(0));
            value
                .optional()
                .map(Option::unwrap_or_default)
                .map_err(|e| self.fail(e))
        };
        Ok(TermMark {
            seq: value("seq")?.cast_unsigned(),
            at_ms: value("at_ms")?,
        })
    }

    /// Runs `work` while no other process writes the list or the lexicon file, then notes the decision about the
    /// terms (normal form and as written) that `work` gives. If `work` fails, nothing is noted.
    pub fn alone<E: From<StoreError>>(
        &mut self,
        state: TermState,
        now_ms: i64,
        work: impl FnOnce() -> Result<Vec<(String, String)>, E>,
    ) -> Result<usize, E> {
        let Self { conn, path } = self;
        let failed = |e: rusqlite::Error| StoreError::sql(path, e);
        let tx = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let terms = work()?;
        let note = || -> rusqlite::Result<()> {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO term (normal, term, termhood, occurrences, documents, facts, state, found_ms, decided_ms)
                 VALUES (?1, ?2, 0, 0, 0, '', ?3, ?4, ?4)
                 ON CONFLICT (normal) DO UPDATE SET state = excluded.state, decided_ms = excluded.decided_ms",
            )?;
            for (normal, term) in &terms {
                upsert.execute(params![normal, term, state as i64, now_ms])?;
            }
            drop(upsert);
            tx.commit()
        };
        note().map_err(failed)?;
        Ok(terms.len())
    }

    fn fail(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.path, source)
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<TermRecord> {
    Ok(TermRecord {
        normal: row.get(0)?,
        term: row.get(1)?,
        termhood: row.get(2)?,
        occurrences: row.get::<_, i64>(3)?.cast_unsigned(),
        documents: row.get::<_, i64>(4)?.cast_unsigned(),
        facts: row.get(5)?,
        state: match row.get::<_, i64>(6)? {
            1 => TermState::Accepted,
            2 => TermState::Rejected,
            _ => TermState::Proposed,
        },
        found_ms: row.get(7)?,
        decided_ms: row.get(8)?,
    })
}

/// What a database file turned out to be.
enum Found {
    Ours,
    Newer(i64),
    Foreign,
}

/// Makes the tables if they are missing, in one transaction, whichever process comes first.
fn create_tables(conn: &mut Connection) -> rusqlite::Result<Found> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let pragma = |name: &str| tx.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Ok(Found::Foreign);
    }
    if version > VERSION {
        return Ok(Found::Newer(version));
    }
    if version == 0 {
        tx.execute_batch(TABLES)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    tx.commit()?;
    Ok(Found::Ours)
}
