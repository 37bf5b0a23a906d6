//! The suites of the store and of the frontier on PostgreSQL: a server of its own is started, and this very test program runs
//! them again with it.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use super::super::sql::{NONE, NodeLease, PgConnector, Postgres};
use super::*;
pub(super) use server::server;

mod connection;
mod nodes;

#[path = "../../../../../../tests/postgres.rs"]
mod server;

/// Address of the server that the suites run on; without it they run on SQLite.
const SERVER: &str = "TAOJIN_TEST_POSTGRES";

/// Tests of what only files have: damage of pages, older versions, runs of fingerprints, copies, triggers of SQLite.
const ONLY_FILES: &[&str] = &[
    "on_postgres::",
    "store::tests::keys::",
    "store::tests::moving::",
    "store::tests::crash::",
    "store::tests::shape::",
    "store::tests::terms::",
    "commit_survives_damaged_pages",
    "log_failed_commit_writes_nothing",
    "takedown_overwrites_files",
    "salvaged_store_finds_its_addresses",
    "saved_filter_is_completed",
    "awaiting_fields_seek_by_index",
    "statement_stays_compiled",
];

/// A schema of its own for the store of this directory.
pub(in crate::store) fn in_schema(dir: &Path, url: &str) -> StorePlace {
    static MADE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let name = format!("t{:016x}", xxh3_64(dir.as_os_str().as_encoded_bytes()));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.insert(name.clone()) {
        let conn = Postgres::connect(&way_to(url), &NodeLease::default()).unwrap();
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {name}");
        conn.run_script(&sql).unwrap();
    }
    StorePlace::new(dir, &format!("{url}?options=-csearch_path%3D{name}"), None)
}

fn way_to(url: &str) -> PgConnector {
    let place = StorePlace::new(Path::new("/"), url, None);
    place.server().unwrap().unwrap().connector
}

/// A connection to the database itself.
fn admin(place: &StorePlace) -> Postgres {
    let server = place.server().unwrap().unwrap();
    Postgres::connect(&server.connector, &NodeLease::default()).unwrap()
}

/// Where the store of this directory is while the suites run on PostgreSQL.
pub(in crate::store) fn place(dir: &Path) -> Option<StorePlace> {
    Some(in_schema(dir, &std::env::var(SERVER).ok()?))
}

/// What the database does when no node renews its lease.
pub(crate) fn expire_leases(place: &StorePlace) {
    let sql = "UPDATE node SET expires_ms = 0";
    admin(place).run_script(sql).unwrap();
}

#[test]
fn postgres_runs_store_suites() {
    let Some(server) = server("the suites of store and frontier on PostgreSQL") else {
        return;
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["store::tests::", "frontier::tests::", "--test-threads=4"]);
    for name in ONLY_FILES {
        command.args(["--skip", name]);
    }
    let output = command.env(SERVER, server.url()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    let summary = words
        .lines()
        .rfind(|l| l.starts_with("test result"))
        .unwrap();
    assert!(!summary.contains(" 0 passed"), "{words}");
}

#[test]
fn postgres_unfit_is_one_line() {
    let Some(server) = server("databases that cannot be used") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let refused = |url: &str| {
        let error = Store::open(StorePlace::new(dir.path(), url, None)).unwrap_err();
        let words = error.to_string();
        assert!(!words.contains('\n'), "{words}");
        words
    };
    let admin = Postgres::connect(&way_to(&server.url()), &NodeLease::default()).unwrap();
    for sql in [
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
        "CREATE ROLE guest LOGIN",
        "CREATE SCHEMA other",
        "CREATE TABLE other.orders (id BIGINT)",
    ] {
        admin.run_script(sql).unwrap();
    }
    let url = server.url();
    assert!(refused("postgres://u:secret@h/d").contains("store.password_file"));
    assert!(refused("mysql://x").contains("must begin with postgres://"));
    assert!(refused("postgres://u@127.0.0.1:1/x").contains("cannot be reached"));
    let database = |name: &str| format!("{}/{name}", url.rsplit_once('/').unwrap().0);
    assert!(refused(&database("absent")).contains("CREATE DATABASE"));
    assert!(refused(&database("latin")).contains("LATIN1"));
    assert!(refused(&url.replace("taojin@", "guest@")).contains("GRANT CREATE"));
    assert!(refused(&format!("{url}?options=-csearch_path%3Dother")).contains("another program's"));
    assert!(refused(&format!("{url}?options=-csearch_path%3Dnowhere")).contains("search_path"));
}

/// The same store seen from another machine.
pub(crate) fn beside(place: &StorePlace, dir: &Path) -> StorePlace {
    let mut beside = place.clone();
    beside.dir = dir.to_owned();
    beside
}

#[test]
fn open_refuses_newer_store() {
    let Some(server) = server("versions of the tables") else {
        return;
    };
    let one = tempfile::tempdir().unwrap();
    let place = in_schema(one.path(), &server.url());
    let node = Store::open(&place).unwrap();
    let set_version = |version: i64| {
        let conn = admin(&place);
        let sql = format!("UPDATE taojin_store SET version = {version}");
        conn.run_script(&sql).unwrap();
    };
    set_version(99);
    for newer in [
        Store::open(&place).map(drop),
        Reader::open(&place).map(drop),
    ] {
        let is_newer = matches!(newer, Err(StoreError::Newer { found: 99, .. }));
        assert!(is_newer || matches!(newer, Err(StoreError::Locked { .. })));
    }
    drop(node);
}
