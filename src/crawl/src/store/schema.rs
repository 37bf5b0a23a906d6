//! The tables, and how an older database becomes a newer one. In: a connection. Out: the same at [`VERSION`].
//!
//! Rows of `url` are appended in the order of finding and have a small number that never comes twice; the only table
//! of random fingerprints is `seen`, 13 bytes a URL, and it is written in sorted runs, block beside block (see `keys`).
//! That keeps the pages a commit dirties few, however many URLs there are and however few hosts they are on.

use std::path::Path;

use super::error::StoreError;
use super::sql::{self, Connection};
use super::tables;

/// `PRAGMA application_id`: "TaoJ".
pub(super) const APPLICATION_ID: i64 = 0x5461_6F4A;

/// Version of the tables that this program reads and writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The version since which there is a log of documents.
pub(super) const WITH_DOCUMENTS: i64 = 8;

/// Step `i` leads from version `i` to `i + 1`.
pub(super) const MIGRATIONS: &[&str] = &[V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11];

const V1: &str = "
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  paused INTEGER NOT NULL DEFAULT 0,
  last_cycle_ms BIGINT,
  cycles BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  authority TEXT NOT NULL UNIQUE,
  next_due_ms BIGINT,
  not_before_ms BIGINT NOT NULL DEFAULT 0,
  cause INTEGER NOT NULL DEFAULT 0,
  backoff_level INTEGER NOT NULL DEFAULT 0,
  trouble_ms BIGINT,
  errors INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  crawl_delay_ms BIGINT,
  elapsed_ms BIGINT NOT NULL DEFAULT 0,
  ip TEXT,
  fetched BIGINT NOT NULL DEFAULT 0,
  cycle_ms BIGINT NOT NULL DEFAULT 0,
  cycle_pages BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX host_due ON host (next_due_ms) WHERE next_due_ms IS NOT NULL;
CREATE TABLE host_site (
  host_id BIGINT NOT NULL,
  site_id BIGINT NOT NULL,
  PRIMARY KEY (site_id, host_id)
);
CREATE TABLE url (
  id INTEGER PRIMARY KEY,
  host_id BIGINT NOT NULL,
  hash BIGINT NOT NULL,
  url TEXT NOT NULL,
  site_id BIGINT NOT NULL,
  class INTEGER NOT NULL,
  state INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  due_ms BIGINT,
  hops INTEGER NOT NULL,
  redirects INTEGER NOT NULL,
  via BIGINT,
  first_seen_ms BIGINT NOT NULL,
  crashes INTEGER NOT NULL DEFAULT 0,
  interval_ms BIGINT NOT NULL DEFAULT 0,
  status INTEGER,
  etag TEXT,
  last_modified TEXT,
  digest BIGINT,
  fetched_ms BIGINT,
  changed_ms BIGINT,
  not_found_since_ms BIGINT,
  unchanged INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0,
  documented INTEGER NOT NULL DEFAULT 0,
  target TEXT,
  error TEXT
);
CREATE UNIQUE INDEX url_key ON url (host_id, hash);
CREATE INDEX url_due ON url (host_id, rank, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX url_hub ON url (site_id, class) WHERE class < 4;
CREATE TABLE in_flight (
  url_id INTEGER PRIMARY KEY
);
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY,
  fingerprint BIGINT NOT NULL,
  doc BLOB
);
CREATE TABLE counter (
  site_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  value BIGINT NOT NULL,
  PRIMARY KEY (site_id, name)
);
";

/// Documents that stand for several pages, their age, and the last error of each site.
const V2: &str = "
ALTER TABLE site ADD COLUMN last_error TEXT;
ALTER TABLE url ADD COLUMN content BIGINT;
ALTER TABLE url ADD COLUMN alias_of BIGINT;
CREATE INDEX url_content ON url (site_id, content) WHERE documented = 1 AND content IS NOT NULL;
CREATE INDEX url_alias ON url (alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX url_canonical ON url (target) WHERE documented = 1 AND target IS NOT NULL;
INSERT INTO counter (site_id, name, value)
  SELECT site_id, 'checked_s', sum(fetched_ms / 1000) FROM url WHERE documented = 1 AND fetched_ms IS NOT NULL
  GROUP BY site_id;
";

/// What followers of topics were told.
const V3: &str = "
CREATE TABLE follow (
  name TEXT PRIMARY KEY,
  asked TEXT NOT NULL,
  seq BIGINT NOT NULL,
  fetched_ms BIGINT NOT NULL,
  deliveries BIGINT NOT NULL DEFAULT 0,
  told BIGINT NOT NULL DEFAULT 0,
  given_up BIGINT NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  next_ms BIGINT NOT NULL DEFAULT 0,
  told_ms BIGINT,
  last_error TEXT
);
CREATE TABLE follow_hit (
  id INTEGER PRIMARY KEY,
  follow TEXT NOT NULL,
  fingerprint BIGINT NOT NULL,
  delivery BIGINT,
  state INTEGER NOT NULL
);
CREATE UNIQUE INDEX follow_hit_key ON follow_hit (follow, fingerprint);
CREATE INDEX follow_hit_waiting ON follow_hit (follow, delivery) WHERE state = 0;
";

/// Fingerprints in blocks, which the next start fills from the rows; row numbers that never come twice.
const V4: &str = "
CREATE TABLE seen (
  first INTEGER PRIMARY KEY,
  entries BLOB NOT NULL
);
DROP INDEX url_key;
INSERT INTO meta (name, value) SELECT 'url_id', coalesce(max(id), 0) FROM url;
";

/// Templates, the pages they are learned from, how pages fit.
const V5: &str = "
CREATE TABLE template (
  id INTEGER PRIMARY KEY,
  site TEXT NOT NULL,
  version BIGINT NOT NULL,
  learned_ms BIGINT NOT NULL,
  pages BIGINT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  data BLOB NOT NULL
);
CREATE INDEX template_site ON template (site, version);
CREATE TABLE template_page (
  id INTEGER PRIMARY KEY,
  site TEXT NOT NULL,
  template_id BIGINT,
  url TEXT NOT NULL,
  seen_ms BIGINT NOT NULL,
  seen BLOB NOT NULL,
  html BLOB
);
CREATE INDEX template_page_site ON template_page (site, template_id);
CREATE INDEX template_page_template ON template_page (template_id) WHERE template_id IS NOT NULL;
CREATE TABLE template_fit (
  site TEXT PRIMARY KEY,
  matched BIGINT NOT NULL,
  unmatched BIGINT NOT NULL,
  note TEXT,
  note_ms BIGINT
);
";

/// Fingerprints in sorted runs, which the next start makes of the rows.
const V6: &str = "
DELETE FROM seen;
ALTER TABLE seen RENAME COLUMN first TO id;
DELETE FROM meta WHERE name = 'seen_upto';
CREATE TABLE seen_run (
  run INTEGER PRIMARY KEY,
  entries BIGINT NOT NULL
);
";

/// Sites that the operator has paused, and addresses that were taken down: `named` is the fingerprint of the address that
/// the operator named, shared by the other addresses of the same document.
const V7: &str = "
ALTER TABLE site ADD COLUMN paused_ms BIGINT;
CREATE TABLE takedown (
  fingerprint INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  named BIGINT NOT NULL,
  at_ms BIGINT NOT NULL
);
CREATE INDEX takedown_named ON takedown (named);
";

/// The log of documents, which the outbox becomes: what waits there is its beginning. The documents that only the search
/// index has are copied by [`Store::take_over`](super::Store::take_over) afterwards.
const V8: &str = "
CREATE TABLE document (
  seq INTEGER PRIMARY KEY,
  fingerprint BIGINT NOT NULL,
  state INTEGER NOT NULL,
  version BIGINT NOT NULL,
  first_seq BIGINT NOT NULL,
  first_seen_ms BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  ended_ms BIGINT,
  url TEXT NOT NULL,
  site TEXT NOT NULL,
  body BLOB
);
CREATE UNIQUE INDEX document_latest ON document (fingerprint) WHERE state <> 1;
CREATE INDEX document_replaced ON document (fingerprint, seq) WHERE state = 1;
CREATE INDEX document_ended ON document (state, ended_ms) WHERE ended_ms IS NOT NULL;
INSERT INTO document (seq, fingerprint, state, version, first_seq, first_seen_ms, changed_ms, ended_ms, url, site, body)
  SELECT seq, fingerprint, CASE WHEN doc IS NULL THEN 2 ELSE 0 END, 1, seq,
    coalesce(json_extract(CAST(doc AS TEXT), '$.fetched_ms'), 0),
    coalesce(json_extract(CAST(doc AS TEXT), '$.fetched_ms'), 0),
    CASE WHEN doc IS NULL THEN unixepoch() * 1000 END,
    coalesce(json_extract(CAST(doc AS TEXT), '$.document.url'), ''),
    coalesce(json_extract(CAST(doc AS TEXT), '$.document.site'), ''),
    doc
  FROM outbox WHERE seq IN (SELECT max(seq) FROM outbox GROUP BY fingerprint);
DROP TABLE outbox;
UPDATE meta SET name = 'document_seq' WHERE name = 'outbox_seq';
INSERT INTO meta (name, value) VALUES ('store_id', random());
";

/// What compresses documents: what those of this store have in common.
const V9: &str = "
CREATE TABLE dictionary (
  id INTEGER PRIMARY KEY,
  made_at BIGINT NOT NULL,
  data BLOB NOT NULL
);
";

/// What happened to a document that a follower is told of, and how far the log was looked at for those that are gone.
/// `known`: the follower was told of it before. `later`: what is to be told once the delivery that it is in is settled.
const V10: &str = "
ALTER TABLE follow ADD COLUMN log_seq BIGINT;
ALTER TABLE follow_hit ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE follow_hit ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
ALTER TABLE follow_hit ADD COLUMN later INTEGER;
UPDATE follow_hit SET known = 1 WHERE state = 1;
";

/// When a page last showed its document, and what it shows instead.
const V11: &str = "
ALTER TABLE url ADD COLUMN confirmed_ms BIGINT;
ALTER TABLE url ADD COLUMN answer BIGINT;
CREATE INDEX url_answer ON url (site_id, answer) WHERE answer IS NOT NULL;
UPDATE url SET confirmed_ms = fetched_ms WHERE documented = 1;
";

/// The newest version that this program knows.
pub(super) fn known(conn: &Connection) -> i64 {
    match conn.postgres() {
        Some(_) => tables::VERSION,
        None => VERSION,
    }
}

/// Version of the open database; an error if it is not ours.
pub(super) fn version(conn: &Connection, path: &Path) -> Result<i64, StoreError> {
    match conn.sqlite() {
        Some(conn) => version_of_file(conn, path),
        None => tables::version(conn, path),
    }
}

/// The same of a file.
pub(super) fn version_of_file(conn: &rusqlite::Connection, path: &Path) -> Result<i64, StoreError> {
    let read = |name: &str| {
        conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .map_err(|e| StoreError::sql(path, e))
    };
    let (application, version) = (read("application_id")?, read("user_version")?);
    if application == APPLICATION_ID && version > VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: VERSION,
        });
    }
    let empty = application == 0 && version == 0;
    if application != APPLICATION_ID && !empty {
        return Err(foreign(path));
    }
    if empty && has_tables(conn, path)? {
        return Err(foreign(path));
    }
    Ok(version)
}

/// Brings the database to the newest version, each step in its own transaction.
pub(super) fn migrate(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let from = version(conn, path)?;
    let migrated = match conn {
        Connection::Sqlite(conn) => migrate_file(conn, from),
        Connection::Postgres(_) => tables::migrate(conn, from),
    };
    migrated.map_err(|e| StoreError::sql(path, e))
}

/// The same of a file that has version `from`.
pub(super) fn migrate_file(conn: &rusqlite::Connection, from: i64) -> sql::Result<()> {
    for (step, sql) in (0i64..).zip(MIGRATIONS) {
        if step < from {
            continue;
        }
        let tx = conn.unchecked_transaction()?;
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", step + 1)?;
        tx.commit()?;
    }
    Ok(())
}

fn has_tables(conn: &rusqlite::Connection, path: &Path) -> Result<bool, StoreError> {
    conn.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_master)", [], |row| {
        row.get(0)
    })
    .map_err(|e| StoreError::sql(path, e))
}

fn foreign(path: &Path) -> StoreError {
    StoreError::Damaged {
        path: path.to_owned(),
        detail: "another program's SQLite database".to_owned(),
    }
}
