//! Opens the store: [`Store`] is the one writing side, a [`Reader`] may exist any number of times, in this or another
//! process. Never waits for a lock that another daemon holds.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use taojin_uri::FingerprintKey;

use super::addresses::{Addresses, read_key};
use super::cluster::{Cluster, Moved, Numbers, Partition, Partitions};
use super::documents::{Compressor, Decompressor};
use super::error::{Result, StoreError};
use super::follows::Follows;
use super::in_flight::{forget, left_in_flight};
use super::keys::{Keys, NEWEST, meta, set_meta};
use super::place::StorePlace;
use super::purge::Purge;
use super::record::{HELD_MS, HostId, Retention, SiteId, UrlId, UrlState};
use super::sql::{Connection, NONE, NodeLease, Params, Postgres, Row, Share, list, params};
use super::templates::Templates;
use super::{cluster, schema};

/// The database inside the data directory.
pub(super) const DATABASE: &str = "crawl.sqlite";

/// The number of the last change ever made.
pub(super) const LAST_SEQ: &str = "document_seq";

/// The highest number of an end of a document that was forgotten.
pub(super) const FORGOTTEN_SEQ: &str = "forgotten_seq";

/// Held by the process that writes.
const LOCK: &str = "taojin.lock";

/// A child runs its own program after some milliseconds, and after a second or two on a busy machine.
const FORK_WAIT: Duration = Duration::from_millis(20);
const FORK_WAITS: u32 = 150;

/// Page cache of a connection in KiB: enough for the inner pages of 10 million URLs, small against the index.
const CACHE_KIB: i64 = 32 * 1024;

/// The same of a connection that only reads: it follows the log or reads documents, each page once.
const READER_CACHE_KIB: i64 = 4 * 1024;

/// Page of a new database. In SQLite's 4 KiB fit two or three documents of usual length, so that a sixth of their space is left
/// empty; in these it is a twelfth. A database keeps the size that it was made with.
const PAGE_BYTES: i64 = 8 * 1024;

/// Bytes in the WAL before its pages move into the database: rarer than SQLite's 1,000 pages, since a commit of 256 visits
/// dirties several hundred, and the fsync of a checkpoint is the dearest thing that a commit can meet.
const CHECKPOINT_BYTES: i64 = 32 << 20;

/// The WAL file is cut back to this after a checkpoint.
const WAL_BYTES: i64 = 64 << 20;

/// A reader that meets a lock waits this long; writers never hold one for longer than a commit.
const BUSY: Duration = Duration::from_secs(5);

/// Statements kept compiled.
const STATEMENTS: usize = 64;

/// A connection that reads. All queries of the store are methods of it; [`Store`] has them too.
#[derive(Debug)]
pub struct Reader {
    pub(super) conn: Connection,
    pub(super) bodies: RefCell<Decompressor>,
    /// None until it is read from the tables.
    key: FingerprintKey,
}

impl Reader {
    /// Opens the database for reading only, next to a daemon or without one.
    pub fn open(place: impl Into<StorePlace>) -> Result<Self> {
        Self::open_as(&place.into(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// The same for small changes that need no lock: templates, followers.
    pub(super) fn open_to_write(place: &StorePlace) -> Result<Self> {
        Self::open_as(place, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    fn open_as(place: &StorePlace, flags: OpenFlags) -> Result<Self> {
        let path = place.dir.join(DATABASE);
        if !place.is_postgres() && !path.try_exists().map_err(|e| StoreError::io(&path, e))? {
            return Err(StoreError::Missing { path });
        }
        let mut reader = Self::connect(place, flags)?;
        if schema::version(&reader.conn)? == 0 {
            let path = reader.path().to_owned();
            return Err(StoreError::Missing { path });
        }
        if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            configure(&reader.conn)?;
        }
        reader.key = read_key(&reader.conn)?;
        Ok(reader)
    }

    /// What nodes say to each other.
    pub fn cluster(&self) -> Cluster<'_> {
        Cluster(self)
    }

    /// What it has of addresses.
    pub fn addresses(&self) -> Addresses<'_> {
        Addresses::new(self, self.key, None)
    }

    /// Templates of sites.
    pub fn templates(&self) -> Templates<'_> {
        Templates(self)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        self.conn.path()
    }

    /// Number of the last change ever made; 0 if none was.
    pub fn last_document_seq(&self) -> Result<i64> {
        meta(&self.conn, LAST_SEQ)
    }

    /// For how long a database that does not answer is waited for before there is an error.
    pub fn set_patience(&self, patience: Duration) {
        if let Some(conn) = self.conn.postgres() {
            conn.set_patience(patience);
        }
    }

    /// The highest number of an end of a document that was forgotten; 0 if none was.
    pub(super) fn forgotten_seq(&self) -> Result<i64> {
        meta(&self.conn, FORGOTTEN_SEQ)
    }

    /// A connection to a PostgreSQL database that can hold a store, whether it has its tables or not.
    pub(super) fn connect_database(place: &StorePlace) -> Result<Self> {
        if !place.is_postgres() {
            let detail = "it is empty".to_owned();
            return Err(StoreError::Address { detail });
        }
        let reader = Self::connect(place, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::version(&reader.conn)?;
        Ok(reader)
    }

    pub(super) fn connect(place: &StorePlace, flags: OpenFlags) -> Result<Self> {
        let Some(server) = place.server()? else {
            return Self::connect_to_file(place.dir.join(DATABASE), flags);
        };
        let conn = Postgres::connect(&server.connector, &place.lease);
        let conn = conn.map_err(|e| StoreError::sql(&server.at, e))?;
        Ok(Reader {
            conn: Connection::to_server(conn, server.at),
            bodies: RefCell::default(),
            key: FingerprintKey::NONE,
        })
    }

    pub(super) fn connect_to_file(path: PathBuf, flags: OpenFlags) -> Result<Self> {
        let conn = connect_file(&path, flags).map_err(|e| StoreError::sql(&path, e))?;
        Ok(Reader {
            conn: Connection::to_file(conn, path),
            bodies: RefCell::default(),
            key: FingerprintKey::NONE,
        })
    }

    /// What a query gives, row by row.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.conn.rows(sql, params, map)
    }

    /// The one row that a query gives, if any.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.conn.row(sql, params, map)
    }

    /// One transaction: all of it is there afterwards, or nothing.
    pub(super) fn write<T>(&self, change: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let tx = self.conn.transaction()?;
        let result = change(&tx)?;
        tx.commit()?;
        Ok(result)
    }
}

/// The writing side. One process has it; dropping it releases the lock.
#[derive(Debug)]
pub struct Store {
    pub(super) reader: Reader,
    pub(super) caches: Caches,
    pub(super) keys: Keys,
    /// Number of the last change of a document.
    pub(super) document_seq: i64,
    pub(super) retention: Retention,
    pub(super) compressor: Compressor,
    pub(super) numbers: Numbers,
    pub(super) place: StorePlace,
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
    /// Takes the lock of the data directory (made if missing) and opens or creates the database.
    pub fn open(place: impl Into<StorePlace>) -> Result<Self> {
        let place = place.into();
        let dir = &place.dir;
        std::fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
        let lock = lock(dir)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let reader = Reader::connect(&place, flags)?;
        schema::version(&reader.conn)?;
        configure(&reader.conn)?;
        schema::create(&reader.conn)?;
        cluster::join(&reader, &place)?;
        let mut store = Store {
            reader,
            caches: Caches::default(),
            keys: Keys::default(),
            document_seq: 0,
            retention: Retention::default(),
            compressor: Compressor::default(),
            numbers: Numbers::default(),
            place,
            _lock: lock,
        };
        store.reload()?;
        Ok(store)
    }

    /// Reads again what is kept in memory.
    fn reload(&mut self) -> Result<()> {
        self.caches = Caches::default();
        self.reader.key = read_key(&self.conn)?;
        self.document_seq = self.last_document_seq()?;
        self.numbers = Numbers::load(&self.conn)?;
        self.keys = Keys::load(&self.conn, NEWEST)?;
        Ok(())
    }

    /// After a database did not answer: whether it does again, and whether the last transaction was carried out whose answer was
    /// lost. An error that is not [`StoreError::Unreachable`] is final.
    pub fn settle(&mut self) -> Result<bool> {
        let Some(conn) = self.conn.postgres() else {
            return Ok(false);
        };
        let is_done = self.conn.wrap(conn.settle())?;
        self.reload()?;
        Ok(is_done)
    }

    /// After an unclean stop: the URLs that were being visited then ([`InFlight`](super::InFlight)). Each has its `crashes` raised by one; those at
    /// `suspect` crashes or more go to the end of their host with `rank`, those at `poison` or more are given up.
    pub fn recover(&mut self, suspect: u8, poison: u8, rank: u8) -> Result<Vec<UrlId>> {
        let ids = self.write(|tx| {
            let mut ids = left_in_flight(self.dir());
            ids.sort_unstable();
            ids.dedup();
            for id in &ids {
                tx.execute("UPDATE url SET crashes = crashes + 1, \
                     rank = CASE WHEN crashes + 1 >= ?2 THEN ?4 ELSE rank END, \
                     due_ms = CASE WHEN crashes + 1 >= ?3 THEN NULL ELSE due_ms END, \
                     state = CASE WHEN crashes + 1 >= ?3 THEN 4 ELSE state END, \
                     error = CASE WHEN crashes + 1 >= ?3 THEN 'in flight at every crash' ELSE error END \
                     WHERE id = ?1 AND crashes < 255", params![id, suspect, poison, rank])?;
            }
            Ok(ids)
        })?;
        forget(self.dir());
        Ok(ids)
    }

    /// The same as [`Reader::addresses`], quicker than next to the writing side.
    pub fn addresses(&self) -> Addresses<'_> {
        Addresses::new(&self.reader, self.reader.key, Some(&self.keys))
    }

    /// To take out what was crawled.
    pub fn purge(&mut self) -> Purge<'_> {
        Purge(self)
    }

    /// Opens the deliveries to followers, to be written next to the crawl.
    pub fn follows(&self) -> Result<Follows> {
        Follows::open(&self.place)
    }

    /// A second connection that only reads.
    pub fn reader(&self) -> Result<Reader> {
        Reader::open(&self.place)
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.place.dir
    }

    /// Where it is.
    pub fn place(&self) -> &StorePlace {
        &self.place
    }

    /// Asks for an even share of the partitions where `own` are this node's.
    pub fn take_share(&mut self, own: &Partitions) -> Result<Moved> {
        let Some(conn) = self.conn.postgres().filter(|_| own.are_shared()) else {
            return Ok(Moved {
                leads: true,
                ..Moved::default()
            });
        };
        let share: Share = self.conn.wrap(conn.take_share(own.len()))?;
        for gained in &share.gained {
            self.numbers.set_last(gained.part, gained.last);
        }
        Ok(Moved {
            gained: share.gained,
            surplus: own
                .iter()
                .collect::<Vec<_>>()
                .split_off(own.len() - share.surplus),
            leads: share.leads,
        })
    }

    /// Gives partitions back of which nothing is under way: another node may have them at once.
    pub fn give_back(&mut self, parts: &[Partition]) -> Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "UPDATE part SET session = NULL, rests = 0 WHERE part IN ({})",
            list(parts.iter().copied())
        );
        self.write(|tx| tx.execute(&sql, NONE))?;
        // What another node adds is not known here.
        self.caches.hosts.clear();
        self.caches.host_sites.clear();
        Ok(())
    }

    /// The lease by which this process has the store; none where a lock on a file is enough.
    pub fn lease(&self) -> Option<NodeLease> {
        self.conn.postgres().and_then(Postgres::lease)
    }

    /// Whether this process may fetch now; an error once another one has taken its place.
    pub fn is_leased(&self) -> Result<bool> {
        match self.lease() {
            Some(lease) if lease.is_lost() => Err(StoreError::Fenced {
                path: self.path().to_owned(),
            }),
            Some(lease) => Ok(lease.is_held()),
            None => Ok(true),
        }
    }
}

fn connect_file(path: &Path, flags: OpenFlags) -> rusqlite::Result<rusqlite::Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let is_reader = flags.contains(OpenFlags::SQLITE_OPEN_READ_ONLY);
    let conn = if is_reader && is_at_rest(path) {
        open_at_rest(path, flags)?
    } else {
        rusqlite::Connection::open_with_flags(path, flags)?
    };
    harden(&conn)?;
    conn.busy_timeout(BUSY)?;
    // A statement stays compiled whatever its values are, also that of its LIMIT: it takes ten times as long to compile
    // one as to run it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    let cache_kib = if is_reader {
        READER_CACHE_KIB
    } else {
        CACHE_KIB
    };
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    Ok(conn)
}

/// Opens a SQLite file that may come from anywhere. Nothing that its schema says is run but expressions, with functions that do no
/// harm; extensions cannot be loaded, as always in this program. It is opened as a file of exactly this name, never as a URI.
pub(super) fn open_foreign(
    path: &Path,
    access: OpenFlags,
) -> rusqlite::Result<rusqlite::Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = rusqlite::Connection::open_with_flags(path, flags)?;
    harden(&conn)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(conn)
}

/// Has every page of an open file looked at for cells that cannot be, when it is read. On a damaged one fewer rows can be read so.
pub(super) fn distrust_cells(conn: &rusqlite::Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "cell_size_check", true)
}

/// For every file that is opened, since any may have been put there: no statement can damage it, or reach what lies under its
/// tables, and its schema calls no function that may do harm.
fn harden(conn: &rusqlite::Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        .map(drop)
}

/// Whether nobody writes to the database, and this user could not make the files next to it that reading wants otherwise: a
/// member of the service's group while the service does not run.
fn is_at_rest(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new("."));
    let log = path.with_extension("sqlite-wal");
    !log.exists() && rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err()
}

/// Opens a database as a file that does not change. Should a writer start meanwhile, its changes stand in its log, which is
/// not read; only where the log is moved into the database while somebody reads does that reading fail.
fn open_at_rest(path: &Path, flags: OpenFlags) -> rusqlite::Result<rusqlite::Connection> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let uri = url::Url::from_file_path(&absolute).map(|uri| format!("{uri}?immutable=1"));
    match uri {
        Ok(uri) => rusqlite::Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI),
        Err(()) => rusqlite::Connection::open_with_flags(path, flags),
    }
}

pub(super) fn configure(conn: &Connection) -> Result<()> {
    let configure = |file: &rusqlite::Connection| {
        file.pragma_update(None, "page_size", PAGE_BYTES)?;
        file.pragma_update(None, "journal_mode", "wal")?;
        file.pragma_update(None, "synchronous", "full")?;
        let page_bytes: i64 = file.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = CHECKPOINT_BYTES / page_bytes.max(1);
        file.pragma_update(None, "wal_autocheckpoint", pages)?;
        file.pragma_update(None, "journal_size_limit", WAL_BYTES)
    };
    conn.wrap(conn.sqlite().map_or(Ok(()), configure))
}

/// Takes the directory for this process, until the file is closed.
///
/// A child that this process is starting holds its parent's locks until it runs its own program. A lock in this process' name is
/// therefore waited for, [`FORK_WAITS`] times; another process' is not.
pub(super) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| StoreError::io(&path, e))?;
    let own_pid = std::process::id().to_string();
    let mut waits = 0;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {
                let pid = read_holder(&mut file);
                if pid != own_pid || waits == FORK_WAITS {
                    let dir = dir.to_owned();
                    return Err(StoreError::Locked { dir, pid });
                }
                waits += 1;
                std::thread::sleep(FORK_WAIT);
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io(&path, e)),
        }
    }
    let stamp = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{own_pid}")
    };
    stamp(&mut file).map_err(|e| StoreError::io(&path, e))?;
    Ok(file)
}

/// The process that writes to a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub pid: u32,
    /// Since when it holds the directory, Unix milliseconds.
    pub since_ms: i64,
}

/// Who holds the lock of a data directory, as the kernel lists it: to try the lock would keep a process out that starts at
/// this moment.
pub fn holder(dir: &Path) -> Option<Holder> {
    let path = dir.join(LOCK);
    let about = std::fs::metadata(&path).ok()?;
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let end = format!(":{}", about.ino());
    let is_held = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        words.any(|word| word == "FLOCK") && words.any(|word| word.ends_with(&end))
    };
    if !locks.lines().any(is_held) {
        return None;
    }
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Holder {
        pid: read_holder(&mut File::open(&path).ok()?).parse().ok()?,
        since_ms: i64::try_from(since.as_millis()).ok()?,
    })
}

/// The process id in the lock file; `unknown` if it has none.
fn read_holder(file: &mut File) -> String {
    let mut pid = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(20).read_to_string(&mut pid));
    match pid.trim() {
        pid if read.is_ok() && !pid.is_empty() => pid.to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// Name of the time of the last transaction.
pub(super) const CLOCK: &str = "clock_ms";

/// A clock may be set right by this much without a word.
const SLACK_MS: i64 = 60_000;

impl Store {
    /// Cuts moments that were planned by a clock that was ahead of `now_ms`. Gives by how much it was, in milliseconds; none
    /// if it was not. `visit_ms` is the longest time between two visits of an address. Takes some seconds for millions of addresses, and does nothing otherwise.
    pub fn set_clock_right(&mut self, now_ms: i64, visit_ms: i64) -> Result<Option<i64>> {
        let last = self.row("SELECT value FROM meta WHERE name = ?1", [CLOCK], |row| {
            row.get::<i64>(0)
        })?;
        let Some(ahead_ms) = last.map(|last| last - now_ms).filter(|ms| *ms > SLACK_MS) else {
            return Ok(None);
        };
        let visit_ms = now_ms.saturating_add(visit_ms);
        self.write(|tx| {
            // A host that rests for longer than a clock that is right would have it is asked early, once.
            for column in ["not_before_ms", "trouble_ms"] {
                let sql = format!("UPDATE host SET {column} = {column} - ?1 WHERE {column} > ?2");
                tx.execute(&sql, [ahead_ms, now_ms])?;
            }
            for (table, column) in [
                ("host", "cycle_ms"),
                ("host", "next_due_ms"),
                ("follow", "next_ms"),
            ] {
                let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {column} > ?1");
                tx.execute(&sql, [now_ms])?;
            }
            // What was never visited waits for nothing; the rest for no longer than its own interval.
            tx.execute(
                "UPDATE url SET due_ms = ?2 WHERE state = ?1 AND due_ms > ?2 AND due_ms < ?3",
                params![UrlState::New, now_ms, HELD_MS],
            )?;
            tx.execute(
                "UPDATE url SET due_ms = ?1 + interval_ms \
                 WHERE interval_ms > 0 AND due_ms > ?1 + interval_ms AND due_ms < ?2",
                [now_ms, HELD_MS],
            )?;
            tx.execute(
                "UPDATE url SET due_ms = ?1 WHERE due_ms > ?1 AND due_ms < ?2",
                [visit_ms, HELD_MS],
            )?;
            set_meta(tx, CLOCK, now_ms)
        })?;
        Ok(Some(ahead_ms))
    }
}
