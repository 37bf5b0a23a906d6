//! The connection: encrypted, cut off in the middle of a commit, and what texts it cannot carry.

use super::*;

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
fn tls_requires_known_authority() {
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
fn postgres_nul_is_replaced() {
    let Some(server) = server("NUL on PostgreSQL") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &server.url())).unwrap();
    offer(&mut store, &["http://a.cn/1"]);
    let mut page = visited(&store, "http://a.cn/1", "http://a.cn/2", says("\0"));
    page.visit.etag = Some("a\0b".to_owned());
    commit_pages(&mut store, vec![page]);
    let record = known(&store, "http://a.cn/1");
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

/// Half of the transactions are carried out before the connection is cut, half are not. `TAOJIN_LONG=1` cuts a
/// thousand of them.
#[test]
fn postgres_lost_commit_is_settled() {
    let Some(server) = server("a lost answer to COMMIT") else {
        return;
    };
    let cutter = Cutter::new(server.folder().to_owned());
    let url = server.url_by(cutter.folder.path());
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(in_schema(dir.path(), &url)).unwrap();
    let is_long = std::env::var_os("TAOJIN_LONG").is_some();
    let rounds: i64 = if is_long { 1_000 } else { 40 };
    let mut redone = 0;
    for round in 0..rounds {
        let mut batch = Batch {
            urls: vec![link(&format!("http://a.cn/{round}"))],
            documents: vec![(round.unsigned_abs(), says(format!("{round}")))],
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
    assert_eq!(redone, rounds / 2, "what was carried out is taken for done");
    let counts = store.counts().unwrap();
    assert_eq!(
        (counts.total("urls"), counts.total("fetches")),
        (rounds, rounds)
    );
    let most = usize::try_from(rounds).unwrap() + 1;
    let rows = store.documents_after(0, most).unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    assert_eq!(
        numbers,
        (1..=rounds).collect::<Vec<_>>(),
        "no gap, none twice"
    );
}
