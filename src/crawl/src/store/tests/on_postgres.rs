//! The suites of the store and of the frontier on PostgreSQL: a server of its own is started, and this very test program runs
//! them again with it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::super::sql::Postgres;
use super::*;

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

/// Nobody: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// A server that starts slower than this has failed.
const START: Duration = Duration::from_secs(60);

/// A PostgreSQL server in a folder of its own, reached by a socket in it.
pub(in crate::store) struct Server {
    dir: TempDir,
    bin: PathBuf,
    process: Child,
}

impl Server {
    /// Starts one; none where PostgreSQL 15 or later is not installed.
    pub(in crate::store) fn start() -> Option<Self> {
        let bin = installed()?;
        let dir = tempfile::tempdir().unwrap();
        if is_root(dir.path()) {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let made = run(&bin, "initdb", dir.path())
            .args([
                "-A",
                "trust",
                "-U",
                "taojin",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
            ])
            .arg(dir.path().join("data"))
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let process = spawn(&bin, dir.path());
        Some(Server { dir, bin, process })
    }

    /// Its address.
    pub(in crate::store) fn url(&self) -> String {
        let folder = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://taojin@{folder}/postgres")
    }

    /// Ends it as a crash would, and starts it again.
    pub(in crate::store) fn crash(&mut self) {
        let file = self.dir.path().join("data/postmaster.pid");
        let pid = fs::read_to_string(file).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let stopped = run(&self.bin, "pg_ctl", self.dir.path())
            .args(["kill", "QUIT", &pid])
            .status();
        assert!(stopped.unwrap().success());
        self.process.wait().unwrap();
        self.process = spawn(&self.bin, self.dir.path());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_root(dir: &Path) -> bool {
    fs::metadata(dir).unwrap().uid() == 0
}

fn run(bin: &Path, program: &str, dir: &Path) -> Command {
    let mut command = Command::new(bin.join(program));
    let owner = fs::metadata(dir).unwrap().uid();
    if is_root(Path::new("/proc/self")) {
        command.uid(owner).gid(owner);
    }
    command.current_dir(dir).stdout(Stdio::null());
    command
}

fn spawn(bin: &Path, dir: &Path) -> Child {
    let settings = "listen_addresses= fsync=off max_connections=200 log_min_messages=fatal \
                    max_prepared_transactions=0 shared_buffers=32MB";
    let mut command = run(bin, "postgres", dir);
    command.arg("-D").arg(dir.join("data")).arg("-k").arg(dir);
    for setting in settings.split_whitespace() {
        command.args(["-c", setting]);
    }
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Folder of the programs of the newest PostgreSQL.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |name: &str| name.parse::<u32>().ok().filter(|v| *v >= 15);
    let newest = versions
        .filter_map(|v| version(v.file_name().to_str()?))
        .max()?;
    let bin = PathBuf::from(format!("/usr/lib/postgresql/{newest}/bin"));
    bin.join("initdb").exists().then_some(bin)
}

/// A server that answers, or a word that the test is skipped.
pub(in crate::store) fn server(test: &str) -> Option<Server> {
    let Some(server) = Server::start() else {
        println!(
            "{test} is skipped: PostgreSQL 15 is not installed (apt-get install postgresql-15)"
        );
        return None;
    };
    let place = Place::postgres(Path::new("/"), &server.url()).unwrap();
    let config = place.server.unwrap().config;
    let end = Instant::now() + START;
    while let Err(error) = Postgres::connect(&config) {
        assert!(Instant::now() < end, "PostgreSQL does not start: {error:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(server)
}

/// A schema of its own for the store of this folder.
pub(in crate::store) fn in_schema(dir: &Path, url: &str) -> Place {
    static MADE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let name = format!("t{:016x}", xxh3_64(dir.as_os_str().as_encoded_bytes()));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.insert(name.clone()) {
        let config = Place::postgres(dir, url).unwrap().server.unwrap().config;
        let conn = Postgres::connect(&config).unwrap();
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {name}");
        conn.run_script(&sql).unwrap();
    }
    Place::postgres(dir, &format!("{url}?options=-csearch_path%3D{name}")).unwrap()
}

/// Where the store of this folder is while the suites run on PostgreSQL.
pub(in crate::store) fn place(dir: &Path) -> Option<Place> {
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
    println!("{summary}");
    assert!(!summary.contains(" 0 passed"), "{words}");
}

#[test]
fn what_cannot_hold_a_store_says_so_in_one_line() {
    let Some(server) = server("databases that cannot be used") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let refused = |url: &str| {
        let place = Place::postgres(dir.path(), url);
        let error = place
            .and_then(|place| Store::open(place).map(drop))
            .unwrap_err();
        let words = error.to_string();
        assert!(!words.contains('\n'), "{words}");
        words
    };
    let admin = Place::postgres(dir.path(), &server.url())
        .unwrap()
        .server
        .unwrap();
    let admin = Postgres::connect(&admin.config).unwrap();
    for sql in [
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
        "CREATE ROLE guest LOGIN",
        "CREATE SCHEMA other",
        "CREATE TABLE other.orders (id BIGINT)",
    ] {
        admin.run_script(sql).unwrap();
    }
    let url = server.url();
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
    let beside = Place {
        dir: two.path().to_owned(),
        ..place.clone()
    };
    let store = Store::open(&place).unwrap();
    let taken = Store::open(&beside).unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }), "{taken}");
    drop(store);
    drop(Store::open(&beside).unwrap());
    let conn = Postgres::connect(&place.server.as_ref().unwrap().config).unwrap();
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
    let conn = Postgres::connect(&place.server.as_ref().unwrap().config).unwrap();
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
