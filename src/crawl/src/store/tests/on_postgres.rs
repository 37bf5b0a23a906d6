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

use xxhash_rust::xxh3::xxh3_64;

use super::super::sql::Postgres;
use super::*;
use server::server;

#[path = "../../../../../tests/postgres.rs"]
mod server;

/// Address of the server that the suites run on; without it they run on SQLite.
const SERVER: &str = "TAOJIN_TEST_POSTGRES";

/// Tests of what only files have: damage of pages, older versions, runs of fingerprints, copies, triggers of SQLite.
const ONLY_FILES: &[&str] = &[
    "on_postgres::",
    "store::tests::keys::",
    "store::tests::crash::",
    "store::tests::terms::",
    "damaged_pages_stop_no_commit",
    "a_failed_commit_writes_nothing_into_the_log",
    "the_text_of_a_takedown_is_in_no_file_of_the_store",
    "a_store_of_the_first_version_is_brought_up_to_date",
];

/// A schema of its own for the store of this folder.
pub(in crate::store) fn in_schema(dir: &Path, url: &str) -> StorePlace {
    static MADE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let name = format!("t{:016x}", xxh3_64(dir.as_os_str().as_encoded_bytes()));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.insert(name.clone()) {
        let conn = Postgres::connect(&config_of(url)).unwrap();
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {name}");
        conn.run_script(&sql).unwrap();
    }
    StorePlace::new(dir, &format!("{url}?options=-csearch_path%3D{name}"), None)
}

fn config_of(url: &str) -> tokio_postgres::Config {
    let place = StorePlace::new(Path::new("/"), url, None);
    place.server().unwrap().unwrap().config
}

/// Where the store of this folder is while the suites run on PostgreSQL.
pub(in crate::store) fn place(dir: &Path) -> Option<StorePlace> {
    Some(in_schema(dir, &std::env::var(SERVER).ok()?))
}

#[test]
fn the_suites_of_store_and_frontier_hold_on_postgresql() {
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
fn what_cannot_hold_a_store_says_so_in_one_line() {
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
    let admin = Postgres::connect(&config_of(&server.url())).unwrap();
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

#[test]
fn one_process_writes_and_a_newer_store_asks_for_the_newer_program() {
    let Some(server) = server("two writers on PostgreSQL") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let mut beside = place.clone();
    beside.dir = two.path().to_owned();
    let store = Store::open(&place).unwrap();
    let taken = Store::open(&beside).unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }), "{taken}");
    drop(store);
    drop(Store::open(&beside).unwrap());
    let conn = Postgres::connect(&place.server().unwrap().unwrap().config).unwrap();
    conn.run_script("UPDATE taojin_store SET version = 99")
        .unwrap();
    for newer in [
        Store::open(&place).map(drop),
        Reader::open(&place).map(drop),
    ] {
        assert!(matches!(newer, Err(StoreError::Newer { found: 99, .. })));
    }
}

#[test]
fn a_crash_of_the_server_is_waited_for_and_loses_nothing() {
    let Some(mut server) = server("a crash of PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    for round in 0..3 {
        let address = format!("http://a.cn/{round}");
        assert_eq!(offer(&mut store, &[&address]).inserted.len(), 1);
        server.crash();
        assert!(store.lookup(&uri(&address)).unwrap().is_some());
        assert_eq!(store.counts().unwrap().total("urls"), round + 1);
    }
}

/// Another process took the place of one that was paused or cut off.
#[test]
fn a_writer_whose_place_was_taken_changes_nothing_more() {
    let Some(server) = server("fencing on PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let place = in_schema(dir.path(), &server.url());
    let mut store = Store::open(&place).unwrap();
    offer(&mut store, &["http://a.cn/1"]);
    let conn = Postgres::connect(&place.server().unwrap().unwrap().config).unwrap();
    conn.run_script("UPDATE writer SET token = token + 1")
        .unwrap();
    let batch = Batch {
        urls: vec![link("http://a.cn/2")],
        ..Batch::default()
    };
    for _ in 0..2 {
        let error = store.commit(&batch, NOW).unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    }
    let reader = Reader::open(&place).unwrap();
    assert_eq!(reader.counts().unwrap().total("urls"), 1);
}

#[test]
fn a_text_of_the_web_with_a_nul_stops_no_commit() {
    let Some(server) = server("NUL on PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    offer(&mut store, &["http://a.cn/1"]);
    let mut page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("\0"));
    page.visit.etag = Some("a\0b".to_owned());
    commit_pages(&mut store, vec![page]);
    let record = store.lookup(&uri("http://a.cn/1")).unwrap().unwrap();
    assert_eq!(record.visit.etag.as_deref(), Some("a\u{fffd}b"));
}

/// A way to the server that cuts the connection when the next COMMIT comes by: before it is passed on, or after it was
/// carried out and before the answer.
struct Cutter {
    folder: tempfile::TempDir,
    cut: Arc<Mutex<Option<bool>>>,
}

impl Cutter {
    fn new(server: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cut: Arc<Mutex<Option<bool>>> = Arc::default();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let wanted = Arc::clone(&cut);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = UnixStream::connect(server.join(SOCKET)).unwrap();
                let (mut back, mut to_client) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut back, &mut to_client);
                    let _ = to_client.shutdown(Shutdown::Both);
                });
                let wanted = Arc::clone(&wanted);
                thread::spawn(move || pass_on(client, server, &wanted));
            }
        });
        Cutter { folder, cut }
    }
}

const SOCKET: &str = ".s.PGSQL.5432";

fn pass_on(mut client: UnixStream, mut server: UnixStream, cut: &Mutex<Option<bool>>) {
    let mut bytes = [0; 1 << 16];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let is_commit = bytes[..read].windows(7).any(|w| w == b"COMMIT\0");
        let wanted = is_commit.then(|| cut.lock().unwrap().take()).flatten();
        if wanted.is_some() {
            let _ = client.shutdown(Shutdown::Both);
        }
        if wanted == Some(false) {
            break;
        }
        if server.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

#[test]
fn a_lost_answer_to_commit_neither_doubles_nor_loses_anything() {
    let Some(server) = server("a lost answer to COMMIT") else {
        return;
    };
    let cutter = Cutter::new(server.folder().to_owned());
    let url = server.url_by(cutter.folder.path());
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &url)).unwrap();
    let mut redone = 0;
    for round in 0..40 {
        let mut batch = Batch {
            urls: vec![link(&format!("http://a.cn/{round}"))],
            documents: vec![(round, says(format!("{round}")))],
            ..Batch::default()
        };
        batch.count(&site(), "fetches", 1);
        *cutter.cut.lock().unwrap() = Some(round % 2 == 0);
        while let Err(error) = store.commit(&batch, NOW) {
            assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
            redone += 1;
        }
        assert!(cutter.cut.lock().unwrap().is_none(), "nothing was cut");
    }
    assert_eq!(redone, 20, "what was carried out is taken for done");
    let counts = store.counts().unwrap();
    assert_eq!((counts.total("urls"), counts.total("fetches")), (40, 40));
    let rows = store.documents_after(0, 100).unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>(), "no gap, none twice");
}
