//! Opening the store. In: the data directory. Out: [`Store`], the one writing side, or [`Reader`], any number of
//! which may stand beside it in this or another process. Never waits for a lock that another daemon holds.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::bodies::{Compressor, Decompressor};
use super::error::StoreError;
use super::keys::{Keys, NEWEST};
use super::record::{HostId, Retention, SiteId, UrlId};
use super::schema;

/// The database inside the data directory.
pub(super) const DATABASE: &str = "crawl.sqlite";

/// The number of the last change ever made.
pub(super) const LAST_SEQ: &str = "document_seq";

/// The highest number of an end of a document that was forgotten.
pub(super) const FORGOTTEN_SEQ: &str = "forgotten_seq";

/// Held by the process that writes.
const LOCK: &str = "taojin.lock";

/// Page cache of a connection in KiB: enough for the inner pages of 10 million URLs, small against the index.
const CACHE_KIB: i64 = 32 * 1024;

/// Pages in the WAL before they move into the database: rarer than SQLite's 1,000, since a commit of 256 pages
/// dirties several hundred, and the fsync of a checkpoint is the dearest thing that a commit can meet.
const CHECKPOINT_PAGES: i64 = 8_000;

/// The WAL file is cut back to this after a checkpoint.
const WAL_BYTES: i64 = 64 << 20;

/// A reader that meets a lock waits this long; writers never hold one for longer than a commit.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// Statements kept compiled.
const STATEMENTS: usize = 64;

/// A connection that reads. All queries of the store are methods of it; [`Store`] has them too.
#[derive(Debug)]
pub struct Reader {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
    pub(super) site_names: RefCell<HashMap<SiteId, Arc<str>>>,
    pub(super) bodies: RefCell<Decompressor>,
}

impl Reader {
    /// Opens the database of `dir` for reading only, beside a daemon or without one.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        if !path.try_exists().map_err(|e| StoreError::io(&path, e))? {
            return Err(StoreError::Missing { path });
        }
        Self::open_as(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// The same for small changes that need no lock: templates.
    pub(super) fn open_to_write(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        if !path.try_exists().map_err(|e| StoreError::io(&path, e))? {
            return Err(StoreError::Missing { path });
        }
        let reader = Self::open_as(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        configure(&reader.conn).map_err(|e| reader.fail(e))?;
        Ok(reader)
    }

    fn open_as(path: PathBuf, flags: OpenFlags) -> Result<Self, StoreError> {
        let reader = Self::connect(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let found = schema::version(&reader.conn, &reader.path)?;
        if found == 0 {
            return Err(StoreError::Missing { path: reader.path });
        }
        if found < schema::VERSION {
            return Err(StoreError::Older {
                path: reader.path,
                found,
                known: schema::VERSION,
            });
        }
        Ok(reader)
    }

    /// A second connection that writes, beside the [`Store`] of this process.
    pub(super) fn writing(dir: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Self::connect(dir.join(DATABASE), flags)?;
        configure(&reader.conn).map_err(|e| reader.fail(e))?;
        Ok(reader)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last change ever made; 0 if none was.
    pub fn last_document_seq(&self) -> Result<i64, StoreError> {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        let last = self.row(sql, [LAST_SEQ], |row| row.get(0))?;
        Ok(last.unwrap_or_default())
    }

    fn connect(path: PathBuf, flags: OpenFlags) -> Result<Self, StoreError> {
        let conn =
            Connection::open_with_flags(&path, flags).map_err(|e| StoreError::sql(&path, e))?;
        conn.busy_timeout(BUSY)
            .map_err(|e| StoreError::sql(&path, e))?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        conn.pragma_update(None, "cache_size", -CACHE_KIB)
            .map_err(|e| StoreError::sql(&path, e))?;
        Ok(Reader {
            conn,
            path,
            site_names: RefCell::default(),
            bodies: RefCell::default(),
        })
    }

    /// What a query gives, row by row.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        map: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params, map)?.collect())
            .map_err(|e| self.fail(e))
    }

    /// The one row that a query gives, if any.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        map: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, map).optional())
            .map_err(|e| self.fail(e))
    }

    pub(super) fn fail(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.path, source)
    }
}

/// The writing side. One process has it; dropping it releases the lock.
#[derive(Debug)]
pub struct Store {
    reader: Reader,
    pub(super) caches: Caches,
    pub(super) keys: Keys,
    /// Number of the last change of a document.
    pub(super) document_seq: i64,
    pub(super) retention: Retention,
    pub(super) compressor: Compressor,
    /// The highest row number ever given to a URL.
    pub(super) last_url: UrlId,
    dir: PathBuf,
    _lock: File,
}

/// Ids that were read or made; emptied when a transaction fails, since it may have made some of them.
#[derive(Debug, Default)]
pub(super) struct Caches {
    pub(super) hosts: HashMap<Box<str>, HostId>,
    pub(super) sites: HashMap<Arc<str>, SiteId>,
    pub(super) host_sites: HashSet<(SiteId, HostId)>,
}

impl Deref for Store {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Store {
    /// Takes the lock of `dir` (made if missing) and opens or creates its database, migrating an older one.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
        let lock = lock(dir)?;
        let path = dir.join(DATABASE);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut reader = Reader::connect(path, flags)?;
        schema::version(&reader.conn, &reader.path)?;
        configure(&reader.conn).map_err(|e| reader.fail(e))?;
        schema::migrate(&mut reader.conn, &reader.path)?;
        let mut store = Store {
            reader,
            caches: Caches::default(),
            keys: Keys::default(),
            document_seq: 0,
            retention: Retention::default(),
            compressor: Compressor::default(),
            last_url: 0,
            dir: dir.to_owned(),
            _lock: lock,
        };
        store.document_seq = store.last_document_seq()?;
        store.last_url = store.reader.last_url()?;
        store.keys = Keys::load(&store.conn, NEWEST).map_err(|e| store.fail(e))?;
        Ok(store)
    }

    /// A second connection that only reads.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Reader::open(&self.dir)
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// One transaction: all of it is there afterwards, or nothing.
    pub(super) fn write<T>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let write = || {
            let tx = self.conn.unchecked_transaction()?;
            let result = change(&tx)?;
            tx.commit()?;
            Ok(result)
        };
        write().map_err(|e| self.fail(e))
    }

    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.reader.conn
    }
}

fn configure(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", WAL_BYTES)
}

pub(super) fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| StoreError::io(&path, e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let read = (&mut file).take(20).read_to_string(&mut pid);
            if read.is_err() || pid.trim().is_empty() {
                pid = "unknown".to_owned();
            }
            return Err(StoreError::Locked {
                dir: dir.to_owned(),
                pid: pid.trim().to_owned(),
            });
        }
        Err(TryLockError::Error(e)) => return Err(StoreError::io(&path, e)),
    }
    let stamp = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    stamp(&mut file).map_err(|e| StoreError::io(&path, e))?;
    Ok(file)
}
