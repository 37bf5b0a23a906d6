//! What can go wrong with the store. [`StoreError`] names the file and the repair in its message; callers decide by its
//! variants.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use tokio_postgres::error::SqlState;

use super::sql;

/// What came of a question to the store.
pub(super) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the writing side.
    #[error(
        "{dir} is in use by another taojin (pid {pid}): stop it first, or choose another --data-dir"
    )]
    Locked {
        /// The data directory.
        dir: PathBuf,
        /// What the lock file says of the holder; `unknown` if it says nothing.
        pid: String,
    },
    /// There is no database to read.
    #[error(
        "no crawl data at {path}: run `taojin crawl` or `taojin run` first, or name the right --data-dir"
    )]
    Missing {
        /// The database file that was searched for.
        path: PathBuf,
    },
    /// The file is not our database, or its pages are damaged.
    #[error(
        "{path} is damaged or not a taojin store ({detail}): stop taojin, then put a backup in its place (`taojin restore --replace FILE`), \
         or what can still be read of it (`taojin restore --replace --damaged {path}`)"
    )]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The file has a store's mark, but tables, triggers or other things that no store has.
    #[error(
        "{path} differs from a store of taojin ({found}): it is neither backed up nor restored before that is put right"
    )]
    Foreign {
        /// The database file.
        path: PathBuf,
        /// What it has, or lacks.
        found: String,
    },
    /// The database holds nothing, and the index next to it was made from one that did.
    #[error(
        "{path} is new and empty, but the index in {index} was made from a store with {changes} changes: if the store was lost, \
         put a copy in its place with `taojin restore --replace FILE`; to start over without it, remove {index}"
    )]
    Lost {
        /// The database file.
        path: PathBuf,
        /// Directory of the index.
        index: PathBuf,
        /// Number of the last change that the index has.
        changes: u64,
    },
    /// The database was written by a newer program.
    #[error(
        "{path} has store version {found}, this program knows up to {known}: install the newer taojin again"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Version in the file.
        found: i64,
        /// Newest version this program can read.
        known: i64,
    },
    /// The disk is full; the transaction was rolled back and may be tried again.
    #[error("no space left for {path}: free some, nothing was lost")]
    Full {
        /// The database file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// One document cannot be read; the others can.
    #[error(
        "{path}: the document of {url} is damaged ({detail}): it comes back when its page is fetched again (`taojin visit`)"
    )]
    Body {
        /// The database file.
        path: PathBuf,
        /// Address of the document.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The address of a PostgreSQL database cannot be used.
    #[error(
        "[store] url is no address of a database ({detail}): write postgres://user@host/database"
    )]
    Address {
        /// What is wrong with it.
        detail: String,
    },
    /// PostgreSQL does not answer. What was under way was not done and may be tried again.
    #[error(
        "{path} cannot be reached ({detail}): see that PostgreSQL runs and lets this machine in"
    )]
    Unreachable {
        /// The database.
        path: PathBuf,
        /// The reason.
        detail: String,
    },
    /// This database cannot hold a store, or the user may not use it.
    #[error("{path} cannot be used: {detail}")]
    Unfit {
        /// The database.
        path: PathBuf,
        /// What is wrong, and the mend.
        detail: String,
    },
    /// Another node took over because the lease of this one had run out. What was under way was not done.
    #[error(
        "{path} was taken over by another taojin while this one could not renew its lease: this one stops"
    )]
    Fenced {
        /// The database.
        path: PathBuf,
    },
    /// Two nodes held what the other wanted, and nothing of this transaction was done.
    #[error("store {path}: two nodes waited for each other; try again")]
    Deadlock {
        /// The database.
        path: PathBuf,
    },
    /// Anything else that the database reports.
    #[error("store {path}: {detail}")]
    Failed {
        /// The database.
        path: PathBuf,
        /// The reason.
        detail: String,
    },
}

impl StoreError {
    /// Whether it is no mistake of the caller: the disk is full, the database fails or was taken over.
    pub fn is_of_operation(&self) -> bool {
        use StoreError::{Deadlock, Failed, Fenced, Full};
        matches!(
            self,
            Full { .. } | Failed { .. } | Deadlock { .. } | Fenced { .. }
        )
    }

    /// Sorts an error of the database by what the operator can do about it.
    pub(super) fn sql(path: &Path, source: impl Into<sql::Error>) -> Self {
        let path = path.to_owned();
        let source = match source.into() {
            sql::Error::Sqlite(source) => source,
            sql::Error::Postgres(source) => return Self::postgres(path, &source),
            sql::Error::Unreachable(detail) => return StoreError::Unreachable { path, detail },
            sql::Error::Deadlock => return StoreError::Deadlock { path },
            sql::Error::Fenced => return StoreError::Fenced { path },
            sql::Error::Unfit(detail) => return StoreError::Unfit { path, detail },
        };
        let detail = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, detail }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            _ => StoreError::Failed { path, detail },
        }
    }

    fn postgres(path: PathBuf, source: &tokio_postgres::Error) -> Self {
        let detail = sql::describe(source);
        match source.code() {
            Some(code) if *code == SqlState::DISK_FULL => StoreError::Full { path },
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Unfit {
                path,
                detail: format!("{detail}; GRANT ALL ON ALL TABLES IN SCHEMA … TO the user"),
            },
            Some(code) if code.code().starts_with("28") => StoreError::Unfit {
                path,
                detail: format!(
                    "{detail}; see user and password in [store] url, and pg_hba.conf; a server that wants encryption needs ?sslmode=require in the url"
                ),
            },
            Some(code) if *code == SqlState::INVALID_CATALOG_NAME => StoreError::Unfit {
                path,
                detail: format!("{detail}; make it with CREATE DATABASE … ENCODING 'UTF8'"),
            },
            _ => StoreError::Failed { path, detail },
        }
    }

    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        StoreError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
