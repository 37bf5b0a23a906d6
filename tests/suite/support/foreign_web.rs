//! A server on loopback for many foreign hosts, some of which never send what they announce, and the program crawling
//! them with the settings as shipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::folder::Folder;
use super::http::{Request, serve_raw};

/// Bytes of a page by host and path, with the value of `Content-Type`.
pub(crate) type Pages = BTreeMap<String, (&'static str, Vec<u8>)>;

/// How often each address was asked for.
type Log = Arc<Mutex<BTreeMap<String, usize>>>;

/// A server on loopback for many hosts, and what it was asked for.
pub(crate) struct ForeignWeb {
    port: u16,
    log: Log,
    folder: Folder,
}

impl Deref for ForeignWeb {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl ForeignWeb {
    /// Serves the pages; each host is a site whose seed is `/`. All settings are the defaults, but for the delay.
    pub(crate) fn start(pages: Pages) -> Self {
        let hosts: BTreeSet<String> = pages.keys().map(|a| host_of(a).to_owned()).collect();
        let log = Log::default();
        let asked = Arc::clone(&log);
        let port = serve_raw(1, move |request, stream| {
            let mut log = asked.lock().expect("no panic");
            *log.entry(request.address()).or_default() += 1;
            drop(log);
            answer(request, stream, &pages)
        })
        .port();
        let mut config = "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = 0\nmax_delay_ms = 0\n\
                          [fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n[fetch.hosts]\n"
            .to_owned();
        for host in &hosts {
            writeln!(config, "\"{host}\" = \"127.0.0.1\"").expect("a string");
        }
        let folder = Folder::new(&config, &[]);
        for host in &hosts {
            let site = format!("seeds = [\"http://{host}:{port}/\"]\n");
            folder.write(&format!("sites.d/{host}.toml"), site);
        }
        Self { port, log, folder }
    }

    /// The server was asked for each of these.
    pub(crate) fn check_asked(&self, addresses: &[String]) {
        let log = self.log.lock().expect("no panic").clone();
        let missing: Vec<&String> = addresses.iter().filter(|a| !log.contains_key(*a)).collect();
        if let Some(first) = missing.first() {
            let why = self.done(&["why", &self.url(first)]);
            let count = missing.len();
            panic!("{count} pages were not asked for: {first}:\n{why}");
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
        let port = format!(":{}", self.port);
        let short = |url: String| url.replace("http://", "").replace(&port, "");
        let urls = self.documents().into_iter().map(|d| d.url);
        urls.map(short).collect()
    }

    /// The answer of `taojin why`.
    pub(crate) fn asked_why(&self, address: &str) -> Value {
        self.json(&["why", "--json", &self.url(address)])
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

fn answer(request: &Request, stream: &mut TcpStream, pages: &Pages) -> std::io::Result<()> {
    let (status, (kind, body)) = match pages.get(&request.address()) {
        Some((kind, body)) => ("200 OK", (*kind, body.as_slice())),
        None => ("404 Not Found", ("text/html", &b"<p>no"[..])),
    };
    // Some servers never send what they announce.
    let is_short = request.path.starts_with("/short/");
    let is_chunked = request.path.starts_with("/chunked/");
    let length = if is_chunked {
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}", body.len())
    } else {
        format!(
            "Content-Length: {}\r\n",
            body.len() + usize::from(is_short) * 99
        )
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())?;
    if is_short || is_chunked {
        Err(ErrorKind::BrokenPipe.into())
    } else {
        Ok(())
    }
}
