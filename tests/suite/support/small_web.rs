//! A few pages whose answers a test sets one by one, on loopback, and the program crawling them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use taojin::documents::open_folder;
use taojin_search::analyze::Analyzer;
use taojin_search::index;

/// What an address answers.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// How long the answer takes.
    pub(crate) delay: Duration,
}

impl Reply {
    pub(crate) fn page(body: &str) -> Self {
        Self {
            status: 200,
            body: body.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.headers.push_str(line);
        self.headers.push_str("\r\n");
        self
    }
}

type Replies = Arc<Mutex<BTreeMap<String, Reply>>>;

/// The pages, the requests they had, and a data folder.
pub(crate) struct SmallWeb {
    pub(crate) port: u16,
    replies: Replies,
    log: Arc<Mutex<Vec<String>>>,
    dir: tempfile::TempDir,
}

impl SmallWeb {
    /// A site of the hosts `a.test` and `www.a.test` whose seed is the page `/` of the first.
    pub(crate) fn new(more_config: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let (replies, log) = (Replies::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answers, asked) = (Arc::clone(&replies), Arc::clone(&log));
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, asked) = (Arc::clone(&answers), Arc::clone(&asked));
                thread::spawn(move || answer(stream, &answers, &asked));
            }
        });
        let dir = tempfile::tempdir().expect("temporary directory");
        let sites = dir.path().join("sites.d");
        fs::create_dir(&sites).expect("sites.d");
        let site = format!(
            "seeds = [\"http://a.test:{port}/\"]\n[scope]\nhosts = [\"a.test:{port}\", \"www.a.test:{port}\"]\n"
        );
        fs::write(sites.join("a.toml"), site).expect("site file");
        let config = format!(
            "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\nmin_delay_ms = 0\n\
             max_delay_ms = 0\nthrottle_backoff_ms = 1\nconnect_backoff_ms = 20\nmax_backoff_ms = 20\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n[fetch.hosts]\n\
             \"a.test\" = \"127.0.0.1\"\n\"www.a.test\" = \"127.0.0.1\"\n{more_config}",
            dir.path().join("data")
        );
        fs::write(dir.path().join("taojin.toml"), config).expect("taojin.toml");
        Self {
            port,
            replies,
            log,
            dir,
        }
    }

    /// The folder of the configuration; the data folder is `data` in it.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The whole address of `a.test/path`.
    pub(crate) fn url(&self, address: &str) -> String {
        let (host, path) = address.split_once('/').expect("host/path");
        format!("http://{host}:{}/{path}", self.port)
    }

    /// Sets what `a.test/path` answers; whatever was not set is 404, or what [`set_rest`](Self::set_rest) says.
    pub(crate) fn set(&self, address: &str, reply: Reply) {
        let mut replies = self.replies.lock().expect("no panic");
        replies.insert(address.to_owned(), reply);
    }

    /// Sets what all addresses answer that were not set.
    pub(crate) fn set_rest(&self, reply: Reply) {
        self.set("", reply);
    }

    /// The seed: a list of links to these addresses.
    pub(crate) fn seed(&self, addresses: &[&str]) {
        let links: String = addresses
            .iter()
            .map(|a| {
                format!(
                    "<li><a href=\"{}\">{a} 的一条新闻标题在此</a></li>",
                    self.url(a)
                )
            })
            .collect();
        self.set(
            "a.test/",
            Reply::page(&format!("<title>列表</title><ul>{links}</ul>")),
        );
    }

    /// Requests for an address since the last look.
    pub(crate) fn asked(&self, address: &str) -> usize {
        let log = self.log.lock().expect("no panic");
        log.iter().filter(|a| *a == address).count()
    }

    /// All of them.
    pub(crate) fn requests(&self) -> usize {
        self.log.lock().expect("no panic").len()
    }

    pub(crate) fn forget_log(&self) {
        self.log.lock().expect("no panic").clear();
    }

    pub(crate) fn taojin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.dir.path().join("taojin.toml"))
            .args(args);
        command
    }

    /// One pass in which every known article is asked for again; its counts.
    pub(crate) fn crawl(&self) -> Value {
        self.json(&["crawl", "--site", "a", "--recheck", "--json"])
    }

    /// What a command prints.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.taojin(args).output().expect("taojin runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {errors}");
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    /// Address (without scheme and port) of each document in the index → its other addresses.
    pub(crate) fn indexed(&self) -> BTreeMap<String, Vec<String>> {
        let port = format!(":{}", self.port);
        let short = |url: &str| url.replace("http://", "").replace(&port, "");
        let dir = self.dir.path().join("data");
        let reader = open_folder(&dir, &Analyzer::new(&[]), &index::Config::default())
            .expect("the index opens");
        let mut found = BTreeMap::new();
        reader
            .for_each(|stored| {
                let document = stored.document;
                let others = document.addresses.iter().map(|a| short(a)).collect();
                let before = found.insert(short(&document.url), others);
                assert!(before.is_none(), "{} is there twice", document.url);
                true
            })
            .expect("the index can be read");
        found
    }
}

fn answer(stream: TcpStream, replies: &Replies, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let Some(lines) = request(&mut reader) else {
            return;
        };
        let header = |name: &str| {
            let wanted = |l: &&String| l.to_ascii_lowercase().starts_with(&format!("{name}:"));
            let line = lines.iter().find(wanted)?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let host = header("host").unwrap_or_default();
        let path = lines[0].split(' ').nth(1).unwrap_or("/").to_owned();
        let address = format!("{}{path}", host.split(':').next().unwrap_or_default());
        log.lock().expect("no panic").push(address.clone());
        let known = replies.lock().expect("no panic");
        let reply = known.get(&address).or(known.get("")).cloned();
        drop(known);
        let mut reply = reply.unwrap_or(Reply::status(404));
        thread::sleep(reply.delay);
        let tag = format!(
            "\"{:x}\"",
            reply
                .body
                .bytes()
                .fold(7u64, |h, b| h.wrapping_mul(31) + u64::from(b))
        );
        if reply.status == 200 && header("if-none-match") == Some(tag.clone()) {
            reply = Reply::status(304);
        }
        let text = format!(
            "HTTP/1.1 {} X\r\nContent-Type: text/html; charset=utf-8\r\nETag: {tag}\r\n{}Content-Length: {}\r\n\r\n{}",
            reply.status,
            reply.headers,
            reply.body.len(),
            reply.body
        );
        if reader.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// The lines of the next request's head; none when the client is gone.
pub(crate) fn request(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        match line.trim() {
            "" => return Some(lines),
            text => lines.push(text.to_owned()),
        }
    }
}

/// A news page with a title and a text of its own.
pub(crate) fn article(title: &str, head: &str) -> String {
    let paragraphs: String = (1..7)
        .map(|n| {
            format!(
                "<p>{title}的第{n}段：钻井队在山坡上连续工作了{n}天，记录了岩心的颜色、气味和重量，\
                 并把样品装进编号的木箱，由卡车运到县城的化验室，等待下一步的结果公布。</p>"
            )
        })
        .collect();
    format!(
        "<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1>\
         <div>2026年09月03日 10:20 来源：试验报</div><div class=\"content\">{paragraphs}</div></body></html>"
    )
}
