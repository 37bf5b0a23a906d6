//! The review list of domain terms: those that were found, best first, and what was decided about them. Never knows how
//! terms are found, and never holds what is in use: that is the lexicon file.
//!
//! It is a database of its own, `terms.sqlite`, and not a table next to the crawl's: a review goes on in the command
//! line and in the web page while the daemon runs, whose database has one writer; and an index that was imported has
//! no crawl. The write lock of this database also stands for the lexicon file: who edits that file holds it
//! ([`TermList::alone`]), so that no two processes write it at the same time.

use std::path::Path;

use rusqlite::OpenFlags;

use super::error::{Result, StoreError};
use super::keys::{meta, set_meta};
use super::open::{Reader, configure};
use super::schema::FileTables;
use super::sql::{self, NONE, Row, params, stored};

/// The database inside the data directory.
const DATABASE: &str = "terms.sqlite";
/// Its file says "TaoT".
const TABLES: FileTables = FileTables {
    application_id: 0x5461_6F54,
    version: 1,
    sql: "
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
",
};

/// What a backup carries of the list that is attached to it.
const COPY: &str = "CREATE TABLE backup_term AS SELECT * FROM list.term; \
     CREATE TABLE backup_term_meta AS SELECT * FROM list.meta;";

const COLUMNS: &str =
    "normal, term, termhood, occurrences, documents, facts, state, found_ms, decided_ms";

stored!(TermState);

words! {
/// What was decided about a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TermState {
    /// Nothing yet.
    #[default]
    Proposed => "proposed",
    /// It went to the lexicon.
    Accepted => "accepted",
    /// It went to the lexicon by itself.
    Entered => "entered",
    /// It is no term: it is not proposed again.
    Rejected => "rejected",
}
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
    /// In the lexicon, also by themselves.
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

/// Makes the tables in which a backup carries a list, empty.
pub(super) fn make_carried_tables(conn: &rusqlite::Connection) -> rusqlite::Result<()> {
    let list = TABLES.sql.replace("CREATE TABLE ", "CREATE TABLE list.");
    let list = list.replace("CREATE INDEX ", "CREATE INDEX list.");
    conn.execute_batch(&format!(
        "ATTACH ':memory:' AS list; {list} {COPY} DETACH list"
    ))
}

/// The list, open for reading and writing. Any number of processes may have it open.
#[derive(Debug)]
pub struct TermList {
    reader: Reader,
}

impl TermList {
    /// Opens the list in `dir`, or makes an empty one there.
    pub fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let reader = Reader::connect_to_file(dir.join(DATABASE), flags)?;
        configure(&reader.conn)?;
        if let Some(file) = reader.conn.sqlite() {
            TABLES.create(file, reader.path())?;
        }
        Ok(Self { reader })
    }

    /// Whether there is a list in `dir`: reading one that is not there makes none.
    pub fn exists(dir: &Path) -> bool {
        dir.join(DATABASE).exists()
    }

    /// Copies what people decided into a backup of the store.
    pub(super) fn copy_into(&self, backup: &rusqlite::Connection) -> Result<()> {
        let from = self.reader.path().to_string_lossy();
        let copy = || -> rusqlite::Result<()> {
            backup.execute("ATTACH ?1 AS list", [&*from])?;
            backup.execute_batch(COPY)?;
            backup.execute_batch("DETACH list")
        };
        self.reader.conn.wrap(copy())
    }

    /// Moves the list that a backup of the store carries to `dir`, in the place of the one there. A backup without one
    /// leaves it as it is.
    pub(super) fn take_out_of(backup: &rusqlite::Connection, dir: &Path) -> Result<()> {
        let path = dir.join(DATABASE);
        let fail = |e: rusqlite::Error| StoreError::sql(&path, e);
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

    /// Puts what was found in place of what is only proposed. What was decided stays decided. In one transaction,
    /// with the mark up to which was looked.
    pub fn propose(&mut self, found: &[TermRecord], mark: TermMark) -> Result<()> {
        self.reader.write(|tx| {
            tx.execute("UPDATE term SET documents = -1 WHERE state = ?1", [TermState::Proposed])?;
            for term in found {
                tx.execute(
                    "INSERT INTO term (normal, term, termhood, occurrences, documents, facts, state, found_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?8, ?7)
                     ON CONFLICT (normal) DO UPDATE SET term = excluded.term, termhood = excluded.termhood,
                       occurrences = excluded.occurrences, documents = excluded.documents, facts = excluded.facts",
                    params![
                        term.normal,
                        term.term,
                        term.termhood,
                        term.occurrences.cast_signed(),
                        term.documents.cast_signed(),
                        term.facts,
                        mark.at_ms,
                        TermState::Proposed
                    ],
                )?;
            }
            tx.execute("DELETE FROM term WHERE state = ?1 AND documents = -1", [TermState::Proposed])?;
            set_meta(tx, "seq", mark.seq.cast_signed())?;
            set_meta(tx, "at_ms", mark.at_ms)
        })
    }

    /// Terms of a state, best first.
    pub fn list(&self, state: TermState, offset: usize, limit: usize) -> Result<Vec<TermRecord>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM term WHERE state = ?1 ORDER BY termhood DESC, normal LIMIT ?2 OFFSET ?3"
        );
        let values = params![state, sql::limit(limit), sql::limit(offset)];
        self.reader.rows(&sql, values, record)
    }

    /// What is known of a term in normal form.
    pub fn get(&self, normal: &str) -> Result<Option<TermRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM term WHERE normal = ?1");
        self.reader.row(&sql, [normal], record)
    }

    /// How many terms there are of each state.
    pub fn counts(&self) -> Result<TermCounts> {
        let sql = "SELECT state, count(*) FROM term GROUP BY state";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<i64>(1)?.cast_unsigned()));
        let mut counts = TermCounts::default();
        for (state, count) in self.reader.rows(sql, NONE, read)? {
            match state {
                TermState::Proposed => counts.proposed = count,
                TermState::Accepted | TermState::Entered => counts.accepted += count,
                TermState::Rejected => counts.rejected = count,
            }
        }
        Ok(counts)
    }

    /// Up to where was looked last.
    pub fn mark(&self) -> Result<TermMark> {
        let value = |name: &str| meta(&self.reader.conn, name);
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
        let tx = self.reader.conn.transaction()?;
        let terms = work()?;
        for (normal, term) in &terms {
            tx.execute(
                "INSERT INTO term (normal, term, termhood, occurrences, documents, facts, state, found_ms, decided_ms)
                 VALUES (?1, ?2, 0, 0, 0, '', ?3, ?4, ?4)
                 ON CONFLICT (normal) DO UPDATE SET state = excluded.state, decided_ms = excluded.decided_ms",
                params![normal, term, state, now_ms],
            )?;
        }
        tx.commit()?;
        Ok(terms.len())
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<TermRecord> {
    Ok(TermRecord {
        normal: row.get(0)?,
        term: row.get(1)?,
        termhood: row.get(2)?,
        occurrences: row.get::<i64>(3)?.cast_unsigned(),
        documents: row.get::<i64>(4)?.cast_unsigned(),
        facts: row.get(5)?,
        state: row.get(6)?,
        found_ms: row.get(7)?,
        decided_ms: row.get(8)?,
    })
}
