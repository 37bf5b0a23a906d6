//! New terms on an old index, through everything that searches: the command line, the web server of another process,
//! and the index itself. Nothing is indexed again; a kill leaves the old terms or the new ones.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for anything: far above what it takes, so that only a hang fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// A word that no dictionary has.
const TERM: &str = "顺北八十四斜井";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// An index of documents with the term, and of as many with all its parts elsewhere.
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let data = dir.path().join("data");
        fs::create_dir(dir.path().join("sites.d")).expect("sites.d");
        fs::write(
            dir.path().join("taojin.toml"),
            format!("data_dir = {data:?}\n[serve]\nlisten = \"127.0.0.1:0\"\n"),
        )
        .expect("taojin.toml");
        let mut lines = String::new();
        // Different texts, so that none is taken for a reprint of another.
        let news = "春雨秋霜夏荷冬雪梅兰竹菊".chars().zip(0..);
        for (c, n) in news {
            let more: String = (0..12)
                .map(|i| format!("{c}花开了{i}次，{n}人看见{c}树；"))
                .collect();
            for text in [
                format!("{TERM}投产了。{more}"),
                format!("{more}斜井在顺北第八十四米转向。"),
            ] {
                let url = format!("http://a.test/{n}/{}", lines.len());
                let document = serde_json::json!({ "url": url, "text": text, "kind": "article" });
                lines.push_str(&format!("{document}\n"));
            }
        }
        let place = Self { dir };
        let file = place.path().join("documents.jsonl");
        fs::write(&file, lines).expect("documents");
        place.done(&["import", &file.to_string_lossy()]);
        place
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        let config = self.path().join("taojin.toml");
        command.arg("--config").arg(config).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("taojin runs")
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn total(&self) -> u64 {
        let answer = self.done(&["search", TERM, "--json"]);
        total(&answer)
    }
}

fn total(answer: &str) -> u64 {
    let answer: Value = serde_json::from_str(answer).expect("one JSON object");
    answer["total"].as_u64().expect("a total")
}

/// `taojin serve` until dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(place: &Place) -> Self {
        let mut child = place
            .command(&["serve"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("taojin serves");
        let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let (_, rest) = line.split_once("http://")?;
                Some(rest.split('/').next()?.to_owned())
            })
            .expect("the server says its address");
        // A full pipe would stop the server.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    fn total(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.address).expect("the server answers");
        let query: String = url::form_urlencoded::byte_serialize(TERM.as_bytes()).collect();
        write!(
            stream,
            "GET /api/search?q={query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        )
        .expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let from = body.find('{').expect("JSON");
        let to = body.rfind('}').expect("JSON");
        total(body.get(from..=to).expect("a JSON object"))
    }

    fn wait_for(&self, wanted: u64) {
        let begin = Instant::now();
        while self.total() != wanted {
            assert!(
                begin.elapsed() < PATIENCE,
                "still {} hits, not {wanted}",
                self.total()
            );
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_new_term_finds_old_documents_at_once_and_a_removed_one_is_gone() {
    let place = Place::new();
    let server = Server::start(&place);
    assert_eq!(
        (place.total(), server.total()),
        (24, 24),
        "all its parts are enough, wherever they stand"
    );
    place.done(&["terms", "accept", TERM]);
    assert_eq!(place.total(), 12, "the whole term");
    server.wait_for(12);
    place.done(&["terms", "reject", TERM]);
    assert_eq!(place.total(), 24);
    server.wait_for(24);
    // The file is the operator's own: an editor is as good as a command.
    let file = place.path().join("data/terms.txt");
    fs::write(&file, format!("# 我们的词\n{TERM}  # 新井\n")).expect("written");
    server.wait_for(12);
    fs::remove_file(&file).expect("removed");
    server.wait_for(24);
}

#[test]
fn a_list_of_terms_is_imported_exported_and_found_by_every_member() {
    let place = Place::new();
    let file = place.path().join("mine.txt");
    fs::write(&file, format!("{TERM}\tnz\n第八十四米\n八十四斜井 # 词\n")).expect("written");
    let said = place.done(&["terms", "import", &file.to_string_lossy()]);
    assert!(said.starts_with("3 of 3 terms are new"), "{said}");
    assert_eq!(
        place.done(&["terms", "export"]),
        format!("{TERM}\tnz\n第八十四米\n八十四斜井\n")
    );
    for (term, hits) in [
        (TERM, 12),
        ("第八十四米", 12),
        ("八十四斜井", 12),
        ("斜井", 24),
    ] {
        let quoted = format!("\"{term}\"");
        for query in [term, &quoted] {
            assert_eq!(
                total(&place.done(&["search", query, "--json"])),
                hits,
                "{query}"
            );
        }
    }
    let output = place.run(&["terms", "accept", "有#号"]);
    assert_eq!(output.status.code(), Some(2));
    let accepted = place.done(&["terms", "list", "--accepted"]);
    assert_eq!(accepted.lines().count(), 3);
    // A term of a built-in lexicon can be taken out too.
    place.done(&["terms", "reject", "页岩气"]);
    let text = fs::read_to_string(place.path().join("data/terms.txt")).expect("the lexicon");
    assert!(text.contains("\n-页岩气\n"), "{text}");
}

#[test]
fn killed_at_any_moment_the_lexicon_is_whole() {
    let place = Place::new();
    let file = place.path().join("many.txt");
    let many: String = (0..3_000).map(|n| format!("新井{n}号\n")).collect();
    fs::write(&file, many).expect("written");
    for wait_ms in [20, 60, 120, 200, 320, 480] {
        let mut child = place
            .command(&["terms", "import", &file.to_string_lossy()])
            .stdout(Stdio::null())
            .spawn()
            .expect("taojin runs");
        thread::sleep(Duration::from_millis(wait_ms));
        let _ = child.kill();
        child.wait().expect("it ends");
        let there = place.done(&["terms", "export"]).lines().count();
        assert!(
            there == 0 || there == 3_000,
            "{there} terms after {wait_ms} ms"
        );
        place.done(&["terms", "list", "--rejected"]);
    }
    place.done(&["terms", "import", &file.to_string_lossy()]);
    assert_eq!(place.done(&["terms", "export"]).lines().count(), 3_000);
}

#[test]
fn terms_of_an_index_are_proposed_and_decided_about() {
    let place = Place::new();
    let lines: String = (0..6)
        .map(|n| {
            let text =
                format!("水平井压裂液{n}号投产。用水平井压裂液，省钱。水平井压裂液的配方，很好。");
            format!("{}\n", serde_json::json!({ "id": n, "text": text }))
        })
        .collect();
    let file = place.path().join("texts.jsonl");
    fs::write(&file, lines).expect("written");
    let from = file.to_string_lossy().into_owned();
    let found = place.done(&["terms", "discover", "--from", &from, "--json"]);
    let first: Value = serde_json::from_str(found.lines().next().expect("a term")).expect("JSON");
    assert_eq!(first["term"], "水平井压裂液");
    assert!(
        first["evidence"][0]["sentence"]
            .as_str()
            .is_some_and(|s| s.contains("水平井压裂液"))
    );
    assert_eq!(
        place.done(&["terms", "list"]),
        "",
        "what is in a file is only shown"
    );
    place.done(&["terms", "discover", "--from", &from, "--keep"]);
    assert!(place.done(&["terms", "list"]).contains("水平井压裂液"));
    place.done(&["terms", "reject", "水平井压裂液"]);
    place.done(&["terms", "discover", "--from", &from, "--keep"]);
    assert!(!place.done(&["terms", "list"]).contains("水平井压裂液"));
    assert!(
        place
            .done(&["terms", "list", "--rejected"])
            .contains("水平井压裂液")
    );
    place.done(&["terms", "discover"]);
}
