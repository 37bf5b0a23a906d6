//! A server on loopback for many foreign hosts, some of which never send what they announce, and the program crawling
//! them with the settings as shipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use taojin::documents::open_folder;
use taojin_search::analyze::Analyzer;
use taojin_search::index;

use crate::support::small_web::request;

/// Bytes of a page by host and path, with the value of `Content-Type`.
pub(crate) type Pages = BTreeMap<String, (&'static str, Vec<u8>)>;

/// How often each address was asked for.
type Log = Arc<Mutex<BTreeMap<String, usize>>>;

/// A server on loopback for many hosts, and what it was asked for.
pub(crate) struct ForeignWeb {
    port: u16,
    log: Log,
    dir: tempfile::TempDir,
}

impl ForeignWeb {
    /// Serves the pages; each host is a site whose seed is `/`. All settings are the defaults, but for the delay.
    pub(crate) fn start(pages: Pages) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let hosts: BTreeSet<String> = pages.keys().map(|a| host_of(a).to_owned()).collect();
        let log = Log::default();
        let (pages, asked) = (Arc::new(pages), Arc::clone(&log));
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, asked) = (Arc::clone(&pages), Arc::clone(&asked));
                thread::spawn(move || answer(stream, &pages, &asked));
            }
        });
        let dir = tempfile::tempdir().expect("temporary directory");
        let sites = dir.path().join("sites.d");
        fs::create_dir(&sites).expect("sites.d");
        let mut config = format!(
            "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = 0\n\
             max_delay_ms = 0\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n[fetch.hosts]\n",
            dir.path().join("data")
        );
        for host in &hosts {
            let site = format!("seeds = [\"http://{host}:{port}/\"]\n");
            fs::write(sites.join(format!("{host}.toml")), site).expect("site file");
            writeln!(config, "\"{host}\" = \"127.0.0.1\"").expect("a string");
        }
        fs::write(dir.path().join("taojin.toml"), config).expect("taojin.toml");
        Self { port, log, dir }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.dir.path().join("taojin.toml"))
            .args(args);
        command
    }

    pub(crate) fn taojin(&self, args: &[&str]) -> Vec<u8> {
        let output = self.command(args).output().expect("taojin runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {errors}");
        output.stdout
    }

    /// The server was asked for each of these.
    pub(crate) fn check_asked(&self, addresses: &[String]) {
        let log = self.log.lock().expect("no panic").clone();
        let missing: Vec<&String> = addresses.iter().filter(|a| !log.contains_key(*a)).collect();
        if let Some(first) = missing.first() {
            let why = self.taojin(&["why", &self.url(first)]);
            let why = String::from_utf8_lossy(&why);
            panic!(
                "{} pages were not asked for: {first}:\n{why}",
                missing.len()
            );
        }
    }

    pub(crate) fn times_asked(&self, address: &str) -> usize {
        let log = self.log.lock().expect("no panic");
        log.get(address).copied().unwrap_or_default()
    }

    /// The whole address of `host/path`.
    fn url(&self, address: &str) -> String {
        let (host, path) = address.split_once('/').expect("host/path");
        format!("http://{host}:{}/{path}", self.port)
    }

    /// Host and path of each document in the index.
    pub(crate) fn indexed(&self) -> BTreeSet<String> {
        let dir = self.dir.path().join("data");
        let reader = open_folder(&dir, &Analyzer::new(&[]), &index::Config::default())
            .expect("the index opens");
        let port = format!(":{}", self.port);
        let mut found = BTreeSet::new();
        reader
            .for_each(|stored| {
                let url = stored.document.url.replace("http://", "");
                found.insert(url.replace(&port, ""));
                true
            })
            .expect("the index can be read");
        found
    }

    /// Adds to the configuration.
    pub(crate) fn configure(&self, more: &str) {
        let file = self.dir.path().join("taojin.toml");
        let config = fs::read_to_string(&file).expect("taojin.toml") + more;
        fs::write(file, config).expect("taojin.toml");
    }

    /// One pass, whether or not its pages can be read.
    pub(crate) fn crawl_whatever(&self, more: &[&str]) {
        let mut command = self.command(&["crawl", "--json"]);
        command.args(more).output().expect("taojin runs");
    }

    /// The answer of `taojin why`.
    pub(crate) fn asked_why(&self, address: &str) -> Value {
        let answer = self.taojin(&["why", "--json", &self.url(address)]);
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// What `taojin why` says of a page without a document.
    pub(crate) fn why(&self, address: &str) -> String {
        let answer = self.asked_why(address);
        assert_eq!(answer["in_index"], false, "{answer}");
        answer["reason"].as_str().unwrap_or_default().to_owned()
    }
}

fn host_of(address: &str) -> &str {
    address.split('/').next().unwrap_or_default()
}

fn answer(stream: TcpStream, pages: &Pages, log: &Log) {
    let mut reader = BufReader::new(stream);
    loop {
        let Some(lines) = request(&mut reader) else {
            return;
        };
        let path = lines[0].split(' ').nth(1).unwrap_or("/");
        let host = lines.iter().find_map(|l| {
            let (name, value) = l.split_once(':')?;
            let value = value.trim().split(':').next()?;
            name.eq_ignore_ascii_case("host").then(|| value.to_owned())
        });
        let address = format!("{}{path}", host.unwrap_or_default());
        *log.lock()
            .expect("no panic")
            .entry(address.clone())
            .or_default() += 1;
        let (status, (kind, body)) = match pages.get(&address) {
            Some((kind, body)) => ("200 OK", (*kind, body.as_slice())),
            None => ("404 Not Found", ("text/html", &b"<p>no"[..])),
        };
        // Some servers never send what they announce.
        let is_short = path.starts_with("/short/");
        let length = match path.starts_with("/chunked/") {
            true => format!("Transfer-Encoding: chunked\r\n\r\n{:x}", body.len()),
            false => format!(
                "Content-Length: {}\r\n",
                body.len() + usize::from(is_short) * 99
            ),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}\r\n");
        let sent = [head.as_bytes(), body].concat();
        let is_broken = is_short || path.starts_with("/chunked/");
        if reader.get_mut().write_all(&sent).is_err() || is_broken {
            return;
        }
    }
}
