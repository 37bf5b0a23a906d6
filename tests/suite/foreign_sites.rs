//! Sites that nobody here made: long chains of list pages, titles that are numbers, pages that ask for this and that.
//! Every page that is linked is asked for, by the server's log; what is not in the index has a reason in `taojin why`.
//! With `TAOJIN_CORPUS` the saved pages of `DIR/<set>/html/*` are served as well, each set as a site of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use taojin::analyze::Analyzer;
use taojin::index::{self, Reader};

/// Lists of a site, each of which leads only to the next.
const LISTS: usize = 70;
/// Links of a list.
const PER_LIST: usize = 20;

/// Bytes of a page by host and path, with the value of `Content-Type`.
type Pages = BTreeMap<String, (&'static str, Vec<u8>)>;

/// How often each address was asked for.
type Log = Arc<Mutex<BTreeMap<String, usize>>>;

/// A server on loopback for many hosts, and what it was asked for.
struct ForeignWeb {
    port: u16,
    log: Log,
    dir: tempfile::TempDir,
}

impl ForeignWeb {
    /// Serves the pages; each host is a site whose seed is `/`. All settings are the defaults, but for the delay.
    fn start(pages: Pages) -> Self {
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

    fn taojin(&self, args: &[&str]) -> Vec<u8> {
        let output = self.command(args).output().expect("taojin runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {errors}");
        output.stdout
    }

    /// The server was asked for each of these.
    fn check_asked(&self, addresses: &[String]) {
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

    fn times_asked(&self, address: &str) -> usize {
        let log = self.log.lock().expect("no panic");
        log.get(address).copied().unwrap_or_default()
    }

    /// The whole address of `host/path`.
    fn url(&self, address: &str) -> String {
        let (host, path) = address.split_once('/').expect("host/path");
        format!("http://{host}:{}/{path}", self.port)
    }

    /// Host and path of each document in the index.
    fn indexed(&self) -> BTreeSet<String> {
        let dir = self.dir.path().join("data/index");
        let reader = Reader::open(&dir, &Analyzer::new(&[]), &index::Config::default())
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
    fn configure(&self, more: &str) {
        let file = self.dir.path().join("taojin.toml");
        let config = fs::read_to_string(&file).expect("taojin.toml") + more;
        fs::write(file, config).expect("taojin.toml");
    }

    /// One pass, whether or not its pages can be read.
    fn crawl_whatever(&self, more: &[&str]) {
        let mut command = self.command(&["crawl", "--json"]);
        command.args(more).output().expect("taojin runs");
    }

    /// The answer of `taojin why`.
    fn asked_why(&self, address: &str) -> Value {
        let answer = self.taojin(&["why", "--json", &self.url(address)]);
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// What `taojin why` says of a page without a document.
    fn why(&self, address: &str) -> String {
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
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim() {
                "" => break,
                text => lines.push(text.to_owned()),
            }
        }
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

/// How the lists of a site are written.
struct Manner {
    host: String,
    /// Title of the page with this number.
    title: fn(usize) -> String,
    next: &'static str,
    heading: &'static str,
}

impl Manner {
    fn english(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            title: |n| format!("page R{n}"),
            next: "next",
            heading: "All pages",
        }
    }

    fn chinese(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            title: |n| format!("第{n}号通知"),
            next: "下一页",
            heading: "通知公告",
        }
    }

    fn address(&self, n: usize) -> String {
        format!("{}/notes/R{n}.html", self.host)
    }

    /// A chain of lists: the first is the seed, and only "next" leads to the others.
    fn lists(&self, pages: &mut Pages, count: usize) -> Vec<String> {
        let numbers: Vec<usize> = (0..count).collect();
        let mut addresses = Vec::new();
        let path = |i: usize| match i {
            0 => "/".to_owned(),
            i => format!("/list_{}.html", i + 1),
        };
        let chunks: Vec<&[usize]> = numbers.chunks(PER_LIST).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            let items: String = chunk
                .iter()
                .map(|n| {
                    format!(
                        "<li><a href=\"/notes/R{n}.html\">{}</a></li>",
                        (self.title)(*n)
                    )
                })
                .collect();
            let next = match i + 1 < chunks.len() {
                true => format!("<a href=\"{}\">{}</a>", path(i + 1), self.next),
                false => String::new(),
            };
            let html = format!(
                "<html><head><title>{0}</title></head><body><h1>{0}</h1><ul>{items}</ul><p>{next}</p></body></html>",
                self.heading
            );
            let address = format!("{}{}", self.host, path(i));
            pages.insert(
                address.clone(),
                ("text/html; charset=utf-8", html.into_bytes()),
            );
            addresses.push(address);
        }
        addresses.extend(numbers.iter().map(|n| self.address(*n)));
        addresses
    }

    /// A small article; what it says depends on its number.
    fn article(&self, n: usize, words: &[&str], joint: &str, stop: &str) -> String {
        let mut state = n as u64 + 1;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            words[(state >> 33) as usize % words.len()]
        };
        let mut sentence = || {
            let words: Vec<&str> = (0..12).map(|_| word()).collect();
            words.join(joint) + stop
        };
        let paragraphs: String = (0..4)
            .map(|_| format!("<p>{}{}</p>", sentence(), sentence()))
            .collect();
        let title = (self.title)(n);
        format!(
            "<html><head><title>{title}</title></head><body><h1>{title}</h1><div>{paragraphs}</div></body></html>"
        )
    }
}

const ENGLISH: [&str; 24] = [
    "the",
    "crew",
    "measured",
    "pressure",
    "at",
    "well",
    "before",
    "noon",
    "and",
    "found",
    "water",
    "near",
    "old",
    "pipeline",
    "while",
    "engineers",
    "from",
    "town",
    "checked",
    "every",
    "valve",
    "with",
    "great",
    "care",
];
const CHINESE: [&str; 20] = [
    "钻井队",
    "上午",
    "检查了",
    "输气管道",
    "的",
    "压力",
    "并且",
    "记录",
    "工程师",
    "在",
    "山坡上",
    "发现",
    "地下水",
    "附近",
    "新的",
    "阀门",
    "随后",
    "报告",
    "县城",
    "化验室",
];

#[test]
fn every_page_of_a_long_chain_of_lists_is_asked_for_and_what_is_left_out_has_a_reason() {
    let mut pages = Pages::new();
    let english = Manner::english("english.test");
    let chinese = Manner::chinese("chinese.test");
    let count = LISTS * PER_LIST;
    let mut linked = english.lists(&mut pages, count);
    linked.extend(chinese.lists(&mut pages, LISTS * 4));
    let utf8 = "text/html; charset=utf-8";
    for n in 0..count {
        let html = english.article(n, &ENGLISH, " ", ". ");
        pages.insert(english.address(n), (utf8, html.into_bytes()));
    }
    for n in 0..LISTS * 4 {
        let html = chinese.article(n, &CHINESE, "", "。");
        let (gbk, _, _) = encoding_rs::GBK.encode(&html);
        let declared = b"<meta http-equiv=Content-Type content='text/html; charset=gb2312'>";
        let bytes = [&declared[..], &gbk].concat();
        // As Apache says it of every page.
        pages.insert(chinese.address(n), ("text/html; charset=iso-8859-1", bytes));
    }
    let odd = odd_pages(&english);
    for (n, (_, html)) in &odd {
        pages.insert(english.address(*n), (utf8, html.clone().into_bytes()));
    }
    let web = ForeignWeb::start(pages);
    web.taojin(&["crawl", "--json"]);
    web.check_asked(&linked);
    let indexed = web.indexed();
    let left_out: BTreeSet<&String> = linked.iter().filter(|a| !indexed.contains(*a)).collect();
    let mut expected: BTreeSet<String> = odd.keys().map(|n| english.address(*n)).collect();
    // Lists are read for their links.
    expected.extend(linked.iter().filter(|a| !a.contains("/notes/")).cloned());
    assert_eq!(left_out, expected.iter().collect());
    for (n, (reason, _)) in &odd {
        let said = web.why(&english.address(*n));
        assert!(said.contains(reason), "{reason:?}: {said}");
    }
    let said = web.why("english.test/list_21.html");
    assert!(!said.is_empty() && !said.contains("error page"), "{said}");
}

#[test]
fn a_body_that_always_ends_too_early_is_taken_at_the_third_equal_answer() {
    let manner = Manner::english("broken.test");
    let list = b"<title>All</title><a href=/short/1.html>one</a> <a href=/chunked/2.html>two</a>";
    let html = "text/html; charset=utf-8";
    let mut pages = Pages::from([("broken.test/".to_owned(), (html, list.to_vec()))]);
    let short = [1, 2].map(|n| match n {
        1 => "broken.test/short/1.html".to_owned(),
        _ => "broken.test/chunked/2.html".to_owned(),
    });
    for (n, address) in (1..).zip(&short) {
        let article = manner.article(n, &ENGLISH, " ", ". ").into_bytes();
        pages.insert(address.clone(), (html, article));
    }
    let web = ForeignWeb::start(pages);
    web.configure("[revisit]\nretry_ms = 1\n");
    let asked = || short.each_ref().map(|address| web.times_asked(address));
    for _ in 0..3 {
        web.crawl_whatever(&[]);
        if asked() == [3, 3] {
            break;
        }
        assert!(web.indexed().is_empty(), "{:?}", asked());
    }
    for times in [3, 4] {
        assert_eq!(asked(), [times, times]);
        assert_eq!(web.indexed(), short.iter().cloned().collect());
        for address in &short {
            let answer = web.asked_why(address);
            let note = answer["note"].as_str().unwrap_or_default();
            assert!(
                note.contains("truncated: the body broke off after"),
                "{answer}"
            );
        }
        // And once more at once, now that it is known.
        web.crawl_whatever(&["--site", "broken.test", "--recheck"]);
    }
}

/// Pages that get no document, and what is to be said of them.
fn odd_pages(manner: &Manner) -> BTreeMap<usize, (&'static str, String)> {
    let article = |n: usize| manner.article(n, &ENGLISH, " ", ". ");
    let with_head = |n: usize, tag: &str| article(n).replace("</head>", &format!("{tag}</head>"));
    let menu: String = (0..40)
        .map(|n| format!("<li><a href=\"/notes/R{n}.html\">what the crew of well {n} found near town</a></li>"))
        .collect();
    BTreeMap::from([
        (
            11,
            (
                "noindex",
                with_head(11, "<meta name=robots content=noindex>"),
            ),
        ),
        (404, ("same text as", article(403).replace("R404", "R403"))),
        (
            405,
            (
                "error page",
                "<title>404 - page not found</title><h1>Sorry</h1><p>This page does not exist."
                    .to_owned(),
            ),
        ),
        (
            500,
            (
                "no main text",
                "<title>page R500</title><body><script>draw()</script>".to_owned(),
            ),
        ),
        (
            501,
            (
                "list page",
                format!("<title>All wells</title><ul>{menu}</ul>"),
            ),
        ),
    ])
}

#[test]
fn saved_pages_served_as_sites_are_all_asked_for() {
    let Some(folder) = std::env::var_os("TAOJIN_CORPUS") else {
        crate::say("saved pages are skipped: TAOJIN_CORPUS is not set (see CONTRIBUTING.md)");
        return;
    };
    let (mut pages, mut linked) = (Pages::new(), Vec::new());
    for set in names_in(Path::new(&folder)) {
        let files = names_in(&Path::new(&folder).join(&set).join("html"));
        if files.is_empty() {
            continue;
        }
        let host = format!("{}.test", set.replace('_', "-"));
        let manner = match set.starts_with("zh") {
            true => Manner::chinese(&host),
            false => Manner::english(&host),
        };
        linked.extend(manner.lists(&mut pages, files.len()));
        for (n, file) in files.iter().enumerate() {
            let path = Path::new(&folder).join(&set).join("html").join(file);
            let bytes = fs::read(path).expect("a saved page");
            pages.insert(manner.address(n), ("text/html", bytes));
        }
    }
    let web = ForeignWeb::start(pages);
    web.taojin(&["crawl", "--json"]);
    web.check_asked(&linked);
    let indexed = web.indexed();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for address in linked.iter().filter(|a| !indexed.contains(*a)) {
        let reason = web.why(address);
        assert!(
            !reason.is_empty() && !reason.starts_with("no reason"),
            "{address}"
        );
        let short = reason.split("http").next().unwrap_or_default();
        *reasons.entry(short.to_owned()).or_default() += 1;
    }
    let count = linked.len();
    crate::say(&format!(
        "{count} pages, {} documents, left out: {reasons:?}",
        indexed.len()
    ));
}

/// Names in a folder, in order; none if it is no folder.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
