//! A folder with a configuration, the program run in it, and what it did.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;
use taojin::config::{self, LoadedConfig};
use taojin::documents::open_folder;
use taojin_crawl::store::StorePlace;
use taojin_extract::Document;
use taojin_search::analyze::Analyzer;
use taojin_search::index;

use super::{PATIENCE, poll};

/// What a configuration needs to fetch from this machine, whatever its disk.
pub(crate) const LOOPBACK: &str = "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n";

/// A temporary folder with `taojin.toml`, `sites.d` and, once something ran, `data`.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    /// A configuration of these lines, and files in `sites.d` by name.
    pub(crate) fn new(config: &str, sites: &[(&str, &str)]) -> Self {
        let folder = Self {
            dir: tempfile::tempdir().expect("temporary directory"),
        };
        fs::create_dir(folder.file("sites.d")).expect("sites.d");
        for (name, text) in sites {
            folder.write(&format!("sites.d/{name}"), text);
        }
        let data = folder.data_dir();
        folder.write("taojin.toml", format!("data_dir = {data:?}\n{config}"));
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The path of a file, as an argument.
    pub(crate) fn arg(&self, name: &str) -> String {
        self.file(name).to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.file("data")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.file(name), text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Replaces a text that must stand in the file.
    pub(crate) fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{from} is not in {name}: {text}");
        self.write(name, text.replace(from, to));
    }

    /// Adds to the end of the configuration.
    pub(crate) fn configure(&self, more: &str) {
        self.write("taojin.toml", self.read("taojin.toml") + more);
    }

    /// The program with this configuration, in this folder.
    pub(crate) fn taojin(&self, args: &[&str]) -> Command {
        let mut command = taojin_in(self.path());
        command
            .arg("--config")
            .arg(self.file("taojin.toml"))
            .args(args);
        command
    }

    /// The configuration, to crawl in this process.
    pub(crate) fn loaded(&self) -> LoadedConfig {
        config::load(Some(&self.file("taojin.toml")), None).expect("a good configuration")
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.taojin(args).ran()
    }

    /// What a command prints that must succeed.
    #[track_caller]
    pub(crate) fn done(&self, args: &[&str]) -> String {
        self.run(args).good().out
    }

    /// The same as JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(args).good().json()
    }

    /// The same as lines of JSON.
    #[track_caller]
    pub(crate) fn lines(&self, args: &[&str]) -> Vec<Value> {
        self.run(args).good().lines()
    }

    /// The one line of a refusal with exit code 2.
    #[track_caller]
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        self.run(args).refused()
    }

    /// Imports documents, and nothing if there are none.
    #[track_caller]
    pub(crate) fn import(&self, documents: impl IntoIterator<Item = Value>) {
        fed(&mut self.taojin(&["import", "-"]), documents).good();
    }

    /// Imports articles of these addresses and texts.
    #[track_caller]
    pub(crate) fn import_texts(&self, texts: &[(&str, &str)]) {
        self.import(texts.iter().map(|(url, text)| imported(url, "日报", text)));
    }

    /// How many hits there are.
    #[track_caller]
    pub(crate) fn total(&self, query: &str) -> u64 {
        let found = self.json(&["search", query, "--json"]);
        found["total"].as_u64().expect("a number")
    }

    /// Addresses of the first hits, in alphabetical order.
    pub(crate) fn hits(&self, query: &str) -> Vec<String> {
        let found = self.json(&["search", "--json", query]);
        let hits = found["hits"].as_array().expect("hits").iter();
        let mut urls: Vec<String> = hits.map(|hit| text(&hit["url"])).collect();
        urls.sort();
        urls
    }

    /// Address → how often it is in the index.
    pub(crate) fn indexed(&self) -> BTreeMap<String, usize> {
        indexed(&self.data_dir()).expect("the index can be read")
    }

    /// All documents of the index.
    pub(crate) fn documents(&self) -> Vec<Document> {
        documents(&self.data_dir()).expect("the index can be read")
    }
}

/// The program without a configuration, run in a folder.
pub(crate) fn taojin_in(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
    command
        .current_dir(dir)
        .env("LC_ALL", "C")
        .env_remove("JOURNAL_STREAM")
        .env_remove("NOTIFY_SOCKET")
        .env_remove("INVOCATION_ID")
        .stdin(Stdio::null());
    command
}

/// Documents of the index of a store; none where it cannot be read.
pub(crate) fn documents(place: impl Into<StorePlace>) -> Option<Vec<Document>> {
    let reader = open_folder(place, &Analyzer::new(&[]), &index::Config::default()).ok()?;
    let mut found = Vec::new();
    for identity in reader.changed_after(None).ok()? {
        let stored = reader.version(identity).ok()?;
        found.extend(stored.map(|stored| stored.document));
    }
    Some(found)
}

/// Address → how often it is in the index of a store; none where it cannot be read.
pub(crate) fn indexed(place: impl Into<StorePlace>) -> Option<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for document in documents(place)? {
        *found.entry(document.url).or_insert(0) += 1;
    }
    Some(found)
}

/// An article to be imported.
pub(crate) fn imported(url: &str, title: &str, text: &str) -> Value {
    serde_json::json!({"url": url, "title": title, "text": text, "kind": "article"})
}

/// A text in JSON.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let json = serde_json::from_str(&self.out);
        json.unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let values = serde_json::Deserializer::from_str(&self.out).into_iter();
        values.map(|value| value.expect("JSON")).collect()
    }

    /// The one line that says what is wrong, with exit code 2 and nothing printed.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, &*self.out), (Some(2), ""), "{}", self.err);
        let line = self.err.trim().to_owned();
        assert_eq!(line.lines().count(), 1, "more than one line: {line}");
        line
    }

    #[track_caller]
    pub(crate) fn without_panic(self, what: &str) -> Self {
        assert!(!self.err.contains("panicked at "), "{what}: {}", self.err);
        self
    }

    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }
}

/// Asserts that a text has each of these parts.
#[track_caller]
pub(crate) fn assert_has(text: &str, parts: &[impl AsRef<str>]) {
    for part in parts {
        let part = part.as_ref();
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

pub(crate) trait RunExt {
    /// Runs it to its end.
    fn ran(&mut self) -> Ran;
    /// Starts it without an output.
    fn started(&mut self) -> Process;
}

impl RunExt for Command {
    fn ran(&mut self) -> Ran {
        let output = self.output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    fn started(&mut self) -> Process {
        self.stdout(Stdio::null()).stderr(Stdio::null());
        Process::of(self)
    }
}

/// Gives a command these lines as its input.
pub(crate) fn fed(command: &mut Command, lines: impl IntoIterator<Item = impl Display>) -> Ran {
    let mut input = tempfile::tempfile().expect("a file");
    for line in lines {
        writeln!(input, "{line}").expect("written");
    }
    std::io::Seek::rewind(&mut input).expect("its begin");
    command.stdin(input).ran()
}

/// A running program, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self(command.spawn().expect("the program starts"))
    }

    pub(crate) fn id(&self) -> String {
        self.0.id().to_string()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.id()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// How it has ended; none while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("its state")
    }

    /// Its exit code, once it ends by itself.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let ended = poll(PATIENCE, || self.ended());
        ended.expect("it does not end").code()
    }

    /// Asks it to stop, as systemd does; its exit code.
    #[track_caller]
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
