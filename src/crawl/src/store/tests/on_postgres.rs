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

use super::super::sql::{NONE, Postgres, Way};
use super::*;
pub(super) use server::server;

#[path = "../../../../../tests/postgres.rs"]
mod server;

/// Address of the server that the suites run on; without it they run on SQLite.
const SERVER: &str = "TAOJIN_TEST_POSTGRES";

/// Tests of what only files have: damage of pages, older versions, runs of fingerprints, copies, triggers of SQLite.
const ONLY_FILES: &[&str] = &[
    "on_postgres::",
    "store::tests::keys::",
    "store::tests::moving::",
    "store::tests::crash::",
    "store::tests::terms::",
    "damaged_pages_stop_no_commit",
    "a_failed_commit_writes_nothing_into_the_log",
    "the_text_of_a_takedown_is_in_no_file_of_the_store",
    "a_store_of_the_first_version_is_brought_up_to_date",
    "the_saved_filter_is_loaded_and_completed",
];

/// A schema of its own for the store of this folder.
pub(in crate::store) fn in_schema(dir: &Path, url: &str) -> StorePlace {
    static MADE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let name = format!("t{:016x}", xxh3_64(dir.as_os_str().as_encoded_bytes()));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.insert(name.clone()) {
        let conn = Postgres::connect(&way_to(url)).unwrap();
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {name}");
        conn.run_script(&sql).unwrap();
    }
    StorePlace::new(dir, &format!("{url}?options=-csearch_path%3D{name}"), None)
}

fn way_to(url: &str) -> Way {
    let place = StorePlace::new(Path::new("/"), url, None);
    place.server().unwrap().unwrap().way
}

/// Where the store of this folder is while the suites run on PostgreSQL.
pub(in crate::store) fn place(dir: &Path) -> Option<StorePlace> {
    Some(in_schema(dir, &std::env::var(SERVER).ok()?))
}

/// What the database does when no node renews its lease.
pub(crate) fn expire_leases(place: &StorePlace) {
    let conn = Postgres::connect(&place.server().unwrap().unwrap().way).unwrap();
    conn.run_script("UPDATE node SET expires_ms = 0").unwrap();
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
    let admin = Postgres::connect(&way_to(&server.url())).unwrap();
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
fn a_newer_store_asks_for_the_newer_program_and_is_not_changed_under_a_node() {
    let Some(server) = server("versions of the tables") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let node = Store::open(&place).unwrap();
    let set_version = |version: i64| {
        let conn = Postgres::connect(&place.server().unwrap().unwrap().way).unwrap();
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
    set_version(2);
    let refused = Store::open(beside(&place, two.path())).unwrap_err();
    assert!(refused.to_string().contains("stop all nodes"), "{refused}");
    drop(node);
}

/// Numbers of the partitions that a node takes.
fn parts_of(moved: &Moved) -> Vec<Partition> {
    moved.gained.iter().map(|gained| gained.part).collect()
}

#[test]
fn nodes_share_the_partitions_evenly_and_hand_them_over() {
    let Some(server) = server("shares of nodes") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    let mut first = Store::open(&place).unwrap();
    let mut own = first.first_share();
    assert!(own.is_empty() && own.are_shared());
    let all = first.take_share(&own).unwrap();
    assert_eq!((all.gained.len(), all.surplus.len()), (256, 0));
    assert!(all.gained.iter().all(|gained| !gained.rests));
    parts_of(&all).into_iter().for_each(|part| own.add(part));

    let mut second = Store::open(beside(&place, two.path())).unwrap();
    let nothing = second.take_share(&second.first_share()).unwrap();
    assert!(nothing.gained.is_empty(), "the first has all");
    let surplus = first.take_share(&own).unwrap().surplus;
    assert_eq!(surplus.len(), 128);
    assert!(!surplus.contains(&0), "the node that leads goes on leading");
    first.give_back(&surplus).unwrap();
    let half = second.take_share(&second.first_share()).unwrap();
    assert_eq!(parts_of(&half), surplus);
    assert!(
        half.gained.iter().all(|gained| !gained.rests),
        "handed over"
    );
    let shares: Vec<i64> = first
        .nodes()
        .unwrap()
        .iter()
        .map(|node| node.partitions)
        .collect();
    assert_eq!(shares, [128, 128]);

    // One that drains has none left to keep and takes none.
    let session = first.nodes().unwrap()[0].session;
    assert!(first.set_draining(session, true).unwrap());
    surplus.iter().for_each(|part| own.remove(*part));
    assert_eq!(first.take_share(&own).unwrap().surplus.len(), 128);
    drop(first);
    // After a clean end another node has the rest at once, and its hosts need not rest.
    let mut own = second.first_share();
    surplus.iter().for_each(|part| own.add(*part));
    let rest = second.take_share(&own).unwrap();
    assert_eq!(rest.gained.len(), 128);
    assert!(rest.gained.iter().all(|gained| !gained.rests));
}

/// A node that went without a word: its machine has its place back at once, another one has its partitions when the lease ends.
#[test]
fn the_partitions_of_a_lost_node_are_free_when_its_lease_ends_and_their_hosts_rest() {
    let Some(server) = server("a lost node on PostgreSQL") else {
        return;
    };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = in_schema(one.path(), &server.url());
    drop(Store::open(&place).unwrap());
    let id = std::fs::read_to_string(one.path().join("node")).unwrap();
    let lost = |lease_ms: i64| {
        let conn = Postgres::connect(&place.server().unwrap().unwrap().way).unwrap();
        let sql = format!(
            "INSERT INTO node (id, host, version, started_ms, expires_ms) VALUES ('{}', 'lost', '1', 0, \
             {lease_ms} + CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)); \
             UPDATE part SET session = (SELECT max(session) FROM node), rests = 0",
            id.trim()
        );
        conn.run_script(&sql).unwrap();
    };
    lost(60_000);
    let mut store = Store::open(&place).unwrap();
    let gained = store.take_share(&store.first_share()).unwrap().gained;
    assert_eq!(gained.len(), 256);
    assert!(gained.iter().all(|gained| gained.rests));
    drop(store);
    lost(1_500);
    let begun = Instant::now();
    let mut store = Store::open(beside(&place, two.path())).unwrap();
    let gained = loop {
        let gained = store.take_share(&store.first_share()).unwrap().gained;
        if !gained.is_empty() {
            break gained;
        }
        assert!(begun.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(100));
    };
    assert!(begun.elapsed() > Duration::from_secs(1));
    assert!(gained.len() == 256 && gained.iter().all(|gained| gained.rests));
    let nodes = store.nodes().unwrap();
    assert_eq!(nodes.len(), 1);
    assert_ne!(nodes[0].id, id.trim());
    assert!((10_000..=15_000).contains(&nodes[0].lease_ms), "{nodes:?}");
}

/// Documents of two nodes at the same time: a follower that reads beside them sees every number, in order.
#[test]
fn the_log_of_two_nodes_has_no_gap_and_nobody_overtakes_a_number() {
    let Some(server) = server("the log of two nodes") else {
        return;
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let place = in_schema(dirs[0].path(), &server.url());
    DatabaseFacts::set_up(&place).unwrap();
    const EACH: usize = 40;
    let write = |node: usize| {
        let mut store = Store::open(beside(&place, dirs[node].path())).unwrap();
        for at in 0..EACH {
            let address = format!("http://node{node}.cn/{at}");
            offer(&mut store, &[&address]);
            let page = visited(&store, &address, "http://x.cn/", says(address.as_str()));
            commit_pages(&mut store, vec![page]);
        }
    };
    let follow = || {
        let reader = Reader::open(&place).unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        let mut last = 0;
        while last < 2 * EACH as i64 {
            assert!(Instant::now() < end, "only {last} documents came");
            for row in reader.documents_after(last, 100).unwrap() {
                assert_eq!(row.seq, last + 1);
                last = row.seq;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| write(0));
        scope.spawn(|| write(1));
        scope.spawn(follow);
    });
}

#[test]
fn the_lease_is_renewed_while_the_store_is_idle_and_comes_back_with_the_server() {
    let Some(mut server) = server("renewals of a lease") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    let expires_ms = || {
        let sql = "SELECT expires_ms FROM node";
        let found = store.row(sql, NONE, |row| row.get::<i64>(0)).unwrap();
        found.unwrap()
    };
    let renewed = || {
        let end = Instant::now() + Duration::from_secs(9);
        let before_ms = expires_ms();
        while expires_ms() <= before_ms {
            assert!(Instant::now() < end, "the lease is not renewed");
            thread::sleep(Duration::from_millis(50));
        }
    };
    renewed();
    server.crash();
    renewed();
    assert!(store.is_leased().unwrap());
    // Also on a connection that was made again, the server ends a transaction whose process is paused.
    let sql = "SELECT current_setting('idle_in_transaction_session_timeout')";
    let limit = store.row(sql, NONE, |row| row.get::<String>(0)).unwrap();
    assert_eq!(limit.as_deref(), Some("15s"));
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
    let conn = Postgres::connect(&place.server().unwrap().unwrap().way).unwrap();
    conn.run_script("DELETE FROM node").unwrap();
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
    // A process that has nothing to write learns of it too, with the next renewal.
    let end = Instant::now() + Duration::from_secs(6);
    while store.is_leased().is_ok() {
        assert!(Instant::now() < end, "the lost lease goes unnoticed");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(matches!(store.is_leased(), Err(StoreError::Fenced { .. })));
}

/// An authority, and a certificate of `localhost` by it, in `dir`; none where openssl is not installed.
fn certificates(dir: &Path) -> Option<()> {
    let openssl = |args: &[&str]| {
        let done = Command::new("openssl").args(args).current_dir(dir).output();
        done.ok().filter(|output| output.status.success()).map(drop)
    };
    let key = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ];
    let authority = [
        "req",
        "-x509",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
        "-subj",
        "/CN=tests",
    ];
    openssl(&[&authority[..], &key[..]].concat())?;
    let request = [
        "req",
        "-keyout",
        "server.key",
        "-out",
        "server.csr",
        "-subj",
        "/CN=localhost",
    ];
    openssl(&[&request[..], &key[..]].concat())?;
    std::fs::write(dir.join("names"), "subjectAltName=DNS:localhost\n").ok()?;
    openssl(&[
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-out",
        "server.pem",
        "-extfile",
        "names",
    ])
}

#[test]
fn an_encrypted_connection_trusts_only_who_is_vouched_for() {
    let Some(mut server) = server("TLS to PostgreSQL") else {
        return;
    };
    let made = server.folder().to_owned();
    if certificates(&made).is_none() {
        return;
    }
    // The server runs as another user, who must have the key for itself.
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&made).unwrap());
    let key = made.join("server.key");
    std::os::unix::fs::chown(&key, Some(owner), None).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    server.restart_with(&[
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", made.join("server.pem").display()),
        format!("ssl_key_file={}", key.display()),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let ca = made.join("ca.pem");
    let place = |host: &str, query: &str, ca: Option<&Path>| {
        let url = format!("postgres://taojin@{host}:{port}/postgres{query}");
        StorePlace::new(dir.path(), &url, None).with_ca_file(ca.map(Path::to_owned))
    };
    let end = Instant::now() + Duration::from_secs(20);
    let store = loop {
        match Store::open(place("localhost", "?sslmode=require", Some(&ca))) {
            Ok(store) => break store,
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        thread::sleep(Duration::from_millis(100));
    };
    let sql = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'taojin' AND ssl";
    let encrypted = store.row(sql, NONE, |row| row.get::<i64>(0)).unwrap();
    assert!(encrypted > Some(0));
    drop(store);
    let refused = |place: StorePlace| Store::open(place).unwrap_err().to_string();
    let unknown = refused(place("localhost", "?sslmode=require", None));
    assert!(unknown.contains("certificate"), "{unknown}");
    let other_name = refused(place("127.0.0.1", "?sslmode=require", Some(&ca)));
    assert!(other_name.contains("certificate"), "{other_name}");
    let plain = refused(place("localhost", "", Some(&ca)));
    assert!(plain.contains("add ?sslmode=require"), "{plain}");
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
