//! Copies of the store: made while it is in use, and restored. A backup is one SQLite file that is whole and checked.
//!
//! A copy holds everything that cannot be made again: documents with their versions, addresses with their next visits,
//! takedowns, templates, topics, and what people decided about terms. It takes the state of one moment, however long the
//! copying takes, and a copy that was broken off never has the name that was asked for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params_from_iter};

use taojin_uri::{CrawlUri, FingerprintKey};

use super::addresses::KEY;
use super::documents::{PRESENT, REPLACED_STORE, new_history};
use super::error::{Result, StoreError};
use super::open::{DATABASE, Reader, Store, distrust_cells, lock, open_foreign};
use super::record::{UrlClass, UrlState};
use super::shape::{Shape, check_inert};
use super::{KeptFile, TermList, kept_files, schema, sql};

/// Pages copied at once, between two reports of how far it is: 16 MiB.
const PAGES: i32 = 4_096;

const READ_ONLY: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY;
const READ_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE;

/// The rights of a directory that a file can have as well.
const FILE_MODE: u32 = 0o666;

/// What a copy of a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupFacts {
    /// Documents, each with its present version.
    pub documents: i64,
    /// Addresses, visited or to be visited.
    pub urls: i64,
    /// Number of the last change of a document.
    pub last_change: i64,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// How far copying is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// Pages of the database that are copied.
    pub done: u64,
    /// All of them.
    pub all: u64,
}

/// Writes a copy of the store, as it is now, to `file`, next to a daemon or without one, with the `kept` files that are
/// there. Takes the place of a file that is there. `each` is told how far it is.
pub fn back_up(
    reader: &Reader,
    file: &Path,
    kept: &[KeptFile<'_>],
    mut each: impl FnMut(CopyProgress),
) -> Result<BackupFacts> {
    let draft = draft_of(file);
    let made = copy_to(reader, &draft, kept, &mut each);
    let named = made.and_then(|facts| {
        fs::rename(&draft, file).map_err(|e| StoreError::io(file, e))?;
        sync_folder(file)?;
        Ok(facts)
    });
    if named.is_err() {
        // What is left of it is of no use, and a full disk needs the room.
        let _ = fs::remove_file(&draft);
    }
    named
}

fn copy_to(
    reader: &Reader,
    draft: &Path,
    kept: &[KeptFile<'_>],
    each: &mut dyn FnMut(CopyProgress),
) -> Result<BackupFacts> {
    let Some(file) = reader.conn.sqlite() else {
        return Err(StoreError::Unfit {
            path: reader.path().to_owned(),
            detail: "back it up with PostgreSQL's own means, such as pg_dump".to_owned(),
        });
    };
    // A copy of it could not be restored.
    check_shape(file, reader.path())?;
    create(draft)?;
    // While it is read from, a snapshot stays as it is, whatever the daemon writes.
    let snapshot = reader.conn.wrap(file.unchecked_transaction())?;
    reader.last_document_seq()?;
    let failed = |e: rusqlite::Error| StoreError::sql(draft, e);
    let mut copy = open_foreign(draft, READ_WRITE).map_err(failed)?;
    copy_pages(&snapshot, &mut copy, each).map_err(failed)?;
    drop(snapshot);
    // A file alone, without the log next to it that a database in use has.
    copy.pragma_update(None, "journal_mode", "delete")
        .map_err(failed)?;
    let folder = reader.path().parent().unwrap_or(Path::new("."));
    if TermList::exists(folder) {
        TermList::open(folder)?.copy_into(&copy)?;
    }
    kept_files::copy_into(&copy, draft, kept)?;
    let facts = checked(&copy, draft)?;
    drop(copy);
    let synced = File::open(draft).and_then(|file| file.sync_all());
    synced.map_err(|e| StoreError::io(draft, e))?;
    Ok(facts)
}

/// What a copy of a store holds, after a look at every page of it. An error says that it is damaged, of a newer version, no
/// store at all, or one with something in it that stores do not have.
pub fn check_backup(file: &Path) -> Result<BackupFacts> {
    fs::metadata(file).map_err(|e| StoreError::io(file, e))?;
    let copy = open_foreign(file, READ_ONLY).map_err(|e| StoreError::sql(file, e))?;
    checked(&copy, file)
}

fn check_shape(copy: &Connection, path: &Path) -> Result<()> {
    let shape = Shape::of_store().map_err(|e| StoreError::sql(path, e))?;
    shape.check(copy, path)
}

/// Puts the copy in the place of the store in `dir`, which no process may have open, and what it carries of the `kept` files
/// in their places. A store that was there is kept beside it; gives where. What follows documents by their numbers notices that this is another history.
pub fn restore(
    dir: &Path,
    file: &Path,
    kept: &[KeptFile<'_>],
    mut each: impl FnMut(CopyProgress),
) -> Result<Option<PathBuf>> {
    check_backup(file)?;
    let fill = |draft: &Path| {
        let failed = |e: rusqlite::Error| StoreError::sql(draft, e);
        let from = open_foreign(file, READ_ONLY).map_err(|e| StoreError::sql(file, e))?;
        let mut copy = open_foreign(draft, READ_WRITE).map_err(failed)?;
        copy_pages(&from, &mut copy, &mut each).map_err(failed)?;
        // The file may have been another one when it was checked.
        check_shape(&copy, file)?;
        TermList::take_out_of(&copy, dir)?;
        kept_files::take_out_of(&copy, draft, kept)
    };
    replace(dir, fill).map(|(kept, ())| kept)
}

/// Puts what can still be read of the damaged store in `file` in the place of the store in `dir`, which may be that one.
/// What is lost is crawled again. Gives where the store that was there is kept, and how much could be read.
pub fn restore_damaged(dir: &Path, file: &Path) -> Result<(Option<PathBuf>, Salvaged)> {
    fs::metadata(file).map_err(|e| StoreError::io(file, e))?;
    let fill = |draft: &Path| {
        let failed = |e: rusqlite::Error| StoreError::sql(draft, e);
        let copy = open_foreign(draft, READ_WRITE).map_err(failed)?;
        schema::STORE.create(&copy, draft)?;
        let unreadable = |e: rusqlite::Error| StoreError::sql(file, e);
        let old = open_foreign(file, READ_WRITE).map_err(unreadable)?;
        let found = schema::STORE.version_of(&old, file)?;
        if found == 0 {
            return Err(StoreError::Damaged {
                path: file.to_owned(),
                detail: "it is empty".to_owned(),
            });
        }
        check_inert(&old, file)?;
        if found < schema::FIRST_WITH_KEY {
            for name in KEY {
                copy.execute("UPDATE meta SET value = 0 WHERE name = ?1", [name])
                    .map_err(failed)?;
            }
        }
        let done = salvage(&old, &copy).map_err(failed)?;
        match done.rows {
            0 => Err(StoreError::Damaged {
                path: file.to_owned(),
                detail: "not one row can be read".to_owned(),
            }),
            _ => Ok(done),
        }
    };
    replace(dir, fill)
}

/// Has a store made next to the one in `dir`, and puts it in its place in one step.
fn replace<T>(dir: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<(Option<PathBuf>, T)> {
    fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
    let held = lock(dir)?;
    let path = dir.join(DATABASE);
    let draft = draft_of(&path);
    create(&draft)?;
    let filled = fill(&draft).and_then(|done| {
        let synced = File::open(&draft).and_then(|file| file.sync_all());
        synced.map_err(|e| StoreError::io(&draft, e))?;
        Ok(done)
    });
    if filled.is_err() {
        let _ = fs::remove_file(&draft);
    }
    let done = filled?;
    let old = close_old_store(&path)?;
    // Before it has its name: a store that was set back must never be taken for the one it replaces.
    begin_new_history(&draft, old.as_ref())?;
    let mut kept = None;
    if old.is_some() {
        let aside = path.with_extension("sqlite.replaced");
        remove(&aside)?;
        fs::hard_link(&path, &aside).map_err(|e| StoreError::io(&aside, e))?;
        kept = Some(aside);
    }
    open_like_folder(&draft, dir).map_err(|e| StoreError::io(&draft, e))?;
    fs::rename(&draft, &path).map_err(|e| StoreError::io(&path, e))?;
    sync_folder(&path)?;
    drop(held);
    drop(Store::open(dir)?);
    give_to_owner(dir).map_err(|e| StoreError::io(dir, e))?;
    Ok((kept, done))
}

fn begin_new_history(draft: &Path, old: Option<&OldStore>) -> Result<()> {
    let copy = open_foreign(draft, READ_WRITE).map_err(|e| StoreError::sql(draft, e))?;
    let copy = sql::Connection::to_file(copy, draft.to_owned());
    schema::create(&copy)?;
    let (seq, replaced) = old.map_or((0, &[][..]), |old| (old.last_change, &old.identities));
    new_history(&copy, seq, replaced)?;
    Ok(())
}

/// Lets those read a file who may read its directory: copies are for their owner alone, the store is for its group too.
pub(super) fn open_like_folder(file: &Path, folder: &Path) -> io::Result<()> {
    let mode = folder.metadata()?.mode() & FILE_MODE;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
}

/// What an administrator made in the data directory of a service belongs to the service.
pub(super) fn give_to_owner(dir: &Path) -> io::Result<()> {
    let folder = dir.metadata()?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let file = entry.metadata()?;
        if file.is_file() && file.uid() == 0 && folder.uid() != 0 {
            chown(entry.path(), Some(folder.uid()), Some(folder.gid()))?;
        }
    }
    Ok(())
}

/// What is known of the store that is about to be replaced.
#[derive(Default)]
struct OldStore {
    last_change: i64,
    /// Its own, and those of the stores whose place it took.
    identities: Vec<i64>,
}

impl OldStore {
    fn read(old: &Connection) -> rusqlite::Result<Self> {
        let sql = format!(
            "SELECT name, value FROM meta WHERE name IN ('document_seq', 'store_id') OR name LIKE '{REPLACED_STORE}%'"
        );
        let mut found = Self::default();
        let mut select = old.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let (name, value): (String, i64) = (row.get(0)?, row.get(1)?);
            if name == "document_seq" {
                found.last_change = value;
            } else {
                found.identities.push(value);
            }
        }
        Ok(found)
    }
}

/// Closes the store that is about to be replaced, so that nothing of it stays in a log next to it. None if there is no store.
fn close_old_store(path: &Path) -> Result<Option<OldStore>> {
    if !path.try_exists().map_err(|e| StoreError::io(path, e))? {
        return Ok(None);
    }
    // One that is damaged or of another program is replaced too: that is what a copy is for.
    let found = open_foreign(path, READ_WRITE).and_then(|old| {
        old.pragma_update(None, "journal_mode", "delete")?;
        OldStore::read(&old)
    });
    // Any of these would be taken for a part of the new store.
    for beside in ["sqlite-wal", "sqlite-shm", "sqlite-journal"] {
        remove(&path.with_extension(beside))?;
    }
    Ok(Some(found.unwrap_or_default()))
}

fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    each: &mut dyn FnMut(CopyProgress),
) -> rusqlite::Result<()> {
    let backup = Backup::new(from, to)?;
    loop {
        let step = backup.step(PAGES)?;
        let at = backup.progress();
        let pages = |n| u64::try_from(n).unwrap_or_default();
        each(CopyProgress {
            done: pages(at.pagecount - at.remaining),
            all: pages(at.pagecount),
        });
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Another process holds a lock for a moment.
            _ => std::thread::sleep(std::time::Duration::from_millis(50)),
        }
    }
}

/// Looks at every page, and counts.
fn checked(copy: &Connection, path: &Path) -> Result<BackupFacts> {
    let failed = |e| StoreError::sql(path, e);
    let damaged = |detail: String| StoreError::Damaged {
        path: path.to_owned(),
        detail,
    };
    let version = schema::STORE.version_of(copy, path)?;
    if version == 0 {
        return Err(damaged("it is empty".to_owned()));
    }
    distrust_cells(copy).map_err(failed)?;
    check_shape(copy, path)?;
    let found: String = copy
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(failed)?;
    if found != "ok" {
        return Err(damaged(found));
    }
    let number = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(BackupFacts {
        documents: number(&format!(
            "SELECT count(*) FROM document WHERE state = {PRESENT}"
        ))
        .map_err(failed)?,
        urls: number("SELECT count(*) FROM url").map_err(failed)?,
        last_change: number("SELECT coalesce(max(value), 0) FROM meta WHERE name = 'document_seq'")
            .map_err(failed)?,
        bytes: fs::metadata(path)
            .map_err(|e| StoreError::io(path, e))?
            .len(),
    })
}

/// A file that only its owner reads, empty.
fn create(path: &Path) -> Result<()> {
    remove(path)?;
    let mut options = fs::OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(path);
    made.map(drop).map_err(|e| StoreError::io(path, e))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path, e)),
        _ => Ok(()),
    }
}

pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| StoreError::io(folder, e))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Tables that are copied row by row, by a move too; sets of fingerprints are made from the addresses again.
pub(super) const TABLES: [&str; 14] = [
    "meta",
    "site",
    "host",
    "host_site",
    "url",
    "counter",
    "follow",
    "follow_hit",
    "template",
    "template_page",
    "template_fit",
    "takedown",
    "document",
    "dictionary",
];

/// After the copy: no watermark of a set that is not there, a page without its document is fetched again, no page answers
/// "not modified" whose links may be lost, and the counts are those of the rows.
fn repair() -> String {
    let article = UrlClass::Article as i64;
    let states =
        UrlState::ALL.map(|state| format!("WHEN {} THEN '{}' ", state as i64, state.as_str()));
    let states = states.concat();
    format!(
        "
DELETE FROM meta WHERE name = 'seen_upto';
UPDATE url SET etag = NULL, last_modified = NULL;
UPDATE url SET digest = NULL WHERE class < {article};
UPDATE url SET documented = 0, digest = NULL, content = NULL,
  due_ms = coalesce(fetched_ms, first_seen_ms)
  WHERE documented = 1 AND NOT EXISTS
    (SELECT 1 FROM document WHERE document.fingerprint = url.hash AND document.state = {PRESENT});
UPDATE host SET next_due_ms = (SELECT min(due_ms) FROM url WHERE url.host_id = host.id);
REPLACE INTO meta (name, value)
  SELECT 'url_id', max(coalesce((SELECT max(id) FROM url), 0),
                       coalesce((SELECT value FROM meta WHERE name = 'url_id'), 0));
REPLACE INTO meta (name, value)
  SELECT 'document_seq', max(coalesce((SELECT max(seq) FROM document), 0),
                             coalesce((SELECT value FROM meta WHERE name = 'document_seq'), 0));
DELETE FROM counter WHERE name IN ('urls', 'documents', 'checked_s', 'unconfirmed', 'new', 'fetched', 'redirect', 'gone', 'failed', 'refused');
INSERT INTO counter (site_id, name, value) SELECT site_id, 'urls', count(*) FROM url GROUP BY site_id;
INSERT INTO counter (site_id, name, value) SELECT site_id, 'documents', count(*) FROM url WHERE documented = 1 GROUP BY site_id;
INSERT INTO counter (site_id, name, value)
  SELECT site_id, 'checked_s', sum(coalesce(confirmed_ms, 0) / 1000) FROM url WHERE documented = 1 GROUP BY site_id;
INSERT INTO counter (site_id, name, value)
  SELECT site_id, 'unconfirmed', count(*) FROM url WHERE documented = 1 AND confirmed_ms < fetched_ms GROUP BY site_id;
INSERT INTO counter (site_id, name, value)
  SELECT site_id, CASE state {states} END, count(*) FROM url GROUP BY site_id, state;
"
    )
}

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Rows that could be read, of all tables.
    pub rows: u64,
    /// Places where rows could not be read: each stands for a damaged page or more of them.
    pub gaps: u64,
}

/// Copies what can be read of `old` into an empty store. Two connections, since one that met a damaged page writes no more.
pub(super) fn salvage(old: &Connection, store: &Connection) -> rusqlite::Result<Salvaged> {
    let tx = store.unchecked_transaction()?;
    let mut done = Salvaged::default();
    for table in TABLES {
        copy_table(old, &tx, table, &mut done)?;
    }
    tx.execute_batch(&repair())?;
    fit_fingerprints(&tx)?;
    tx.commit()?;
    Ok(done)
}

/// Gives rows fingerprints of the key that the copy has, where that of the damaged store could not be read: documents have other
/// identifiers then, but each is found at its address.
fn fit_fingerprints(tx: &Connection) -> rusqlite::Result<()> {
    let half = |name| {
        let sql = "SELECT coalesce(max(value), 0) FROM meta WHERE name = ?1";
        tx.query_row(sql, [name], |row| row.get::<_, i64>(0))
    };
    let [first, second] = KEY;
    let key = FingerprintKey::new([half(first)?.cast_unsigned(), half(second)?.cast_unsigned()]);
    tx.execute_batch("CREATE TEMP TABLE fitted (old INTEGER PRIMARY KEY, new BIGINT NOT NULL)")?;
    {
        let mut note = tx.prepare("INSERT OR IGNORE INTO fitted VALUES (?1, ?2)")?;
        let sql = "SELECT hash, url FROM url UNION ALL SELECT fingerprint, url FROM takedown \
             UNION ALL SELECT fingerprint, url FROM document";
        let mut rows = tx.prepare(sql)?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let (old, url): (i64, String) = (row.get(0)?, row.get(1)?);
            let Ok(uri) = CrawlUri::parse(&url) else {
                continue;
            };
            if key.fingerprints(&uri).all(|own| own.cast_signed() != old) {
                note.execute([old, key.fingerprint(&uri).cast_signed()])?;
            }
        }
    }
    let columns = [
        ("url", "hash"),
        ("takedown", "fingerprint"),
        ("takedown", "named"),
        ("document", "fingerprint"),
        ("follow_hit", "fingerprint"),
    ];
    for (table, column) in columns {
        tx.execute_batch(&format!(
            "UPDATE OR REPLACE {table} SET {column} = (SELECT new FROM fitted WHERE old = {column}) \
             WHERE {column} IN (SELECT old FROM fitted)"
        ))?;
    }
    tx.execute_batch("DROP TABLE fitted")
}

fn copy_table(
    old: &Connection,
    tx: &Connection,
    table: &str,
    done: &mut Salvaged,
) -> rusqlite::Result<()> {
    let names: Vec<String> = tx
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let (columns, marks) = (names.join(", "), vec!["?"; names.len()].join(", "));
    let select = format!("SELECT rowid, {columns} FROM {table} WHERE rowid > ?1 ORDER BY rowid");
    // Of two rows that a damaged page makes alike the first is taken.
    let insert = format!("REPLACE INTO {table} ({columns}) VALUES ({marks})");
    let mut insert = tx.prepare(&insert)?;
    let mut last = i64::MIN;
    loop {
        let mut written = Ok(());
        let mut read = || -> rusqlite::Result<()> {
            let mut select = old.prepare(&select)?;
            let mut rows = select.query([last])?;
            while let Some(row) = rows.next()? {
                last = row.get(0)?;
                let values = (1..=names.len()).map(|i| row.get::<_, Value>(i));
                let values: Vec<Value> = values.collect::<rusqlite::Result<_>>()?;
                written = insert.execute(params_from_iter(values)).map(|_| ());
                match written.as_ref().map_err(rusqlite::Error::sqlite_error_code) {
                    Ok(()) => done.rows += 1,
                    // Nonsense on a damaged page that is not seen to be damaged.
                    Err(Some(ErrorCode::ConstraintViolation)) => written = Ok(()),
                    Err(_) => return Ok(()),
                }
            }
            Ok(())
        };
        let ended = read().is_ok();
        written?;
        if ended {
            return Ok(());
        }
        done.gaps += 1;
        match beyond(old, table, last) {
            Some(next) => last = next,
            None => return Ok(()),
        }
    }
}

/// The number after which to go on, where the row after `last` cannot be read; none if nothing can be read any more.
pub(super) fn beyond(old: &Connection, table: &str, last: i64) -> Option<i64> {
    let sql = format!("SELECT rowid FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT 1");
    let next = |after: i64| {
        old.query_row(&sql, [after], |row| row.get::<_, i64>(0))
            .optional()
    };
    // Its number can be read, so only what the row holds is damaged.
    if let Ok(row) = next(last) {
        return row;
    }
    let last = last.max(0);
    let mut step = 1_i64;
    while next(last.checked_add(step)?).is_err() {
        step = step.checked_mul(2)?;
    }
    // Between these two the damage ends.
    let (mut damaged, mut whole) = (last + step / 2, last + step);
    while whole - damaged > 1 {
        let middle = damaged + (whole - damaged) / 2;
        match next(middle) {
            Ok(_) => whole = middle,
            Err(_) => damaged = middle,
        }
    }
    Some(whole)
}
