//! What can still be read of a damaged store. In: the file. Out: a store with the rows of its undamaged pages, where what is
//! missing is fetched again: a page whose document was lost is due at once. Also the way past a damaged page of the log.

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params_from_iter};

use super::documents::{COLUMNS, DocumentRow, REPLACED, read};
use super::error::Result;
use super::open::Reader;

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
const REPAIR: &str = "
DELETE FROM meta WHERE name = 'seen_upto';
UPDATE url SET etag = NULL, last_modified = NULL;
UPDATE url SET digest = NULL WHERE class < 4;
UPDATE url SET documented = 0, digest = NULL, content = NULL,
  due_ms = coalesce(fetched_ms, first_seen_ms)
  WHERE documented = 1 AND NOT EXISTS
    (SELECT 1 FROM document WHERE document.fingerprint = url.hash AND document.state = 0);
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
  SELECT site_id, CASE state WHEN 0 THEN 'new' WHEN 1 THEN 'fetched' WHEN 2 THEN 'redirect' WHEN 3 THEN 'gone'
    WHEN 4 THEN 'failed' ELSE 'refused' END, count(*) FROM url GROUP BY site_id, state;
";

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Rows that could be read, of all tables.
    pub rows: u64,
    /// Places where rows could not be read: each stands for a damaged page or more of them.
    pub gaps: u64,
}

impl Reader {
    /// The first change after number `seq` as if its document were gone: for a row whose body lies in a damaged page of the
    /// database.
    pub fn document_after_without_body(&self, seq: i64) -> Result<Option<DocumentRow>> {
        let columns = COLUMNS.replace(", body", ", NULL");
        let sql = format!(
            "SELECT {columns} FROM document WHERE seq > ?1 AND state <> {REPLACED} ORDER BY seq LIMIT 1"
        );
        self.row(&sql, [seq], read)
    }

    /// A number behind the damaged part of the log that begins after number `seq`; none where nothing more can be read.
    pub fn beyond_damage(&self, seq: i64) -> Option<i64> {
        beyond(self.conn.sqlite()?, "document", seq)
    }
}

/// Copies what can be read of `old` into an empty store. Two connections, since one that met a damaged page writes no more.
pub(super) fn salvage(old: &Connection, store: &Connection) -> rusqlite::Result<Salvaged> {
    let tx = store.unchecked_transaction()?;
    let mut done = Salvaged::default();
    for table in TABLES {
        copy_table(old, &tx, table, &mut done)?;
    }
    tx.execute_batch(REPAIR)?;
    tx.commit()?;
    Ok(done)
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
fn beyond(old: &Connection, table: &str, last: i64) -> Option<i64> {
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
