//! The page “OpenSearch in ten minutes” is followed from its first line to its last: its commands make the certificates, the role
//! and the user, OpenSearch runs with its configuration and the security plugin, and Taojin with each of its `[search]` sections.
//!
//! What differs from a reader's machine: `search1.internal` is a port of `localhost`, the system's folders are in a temporary
//! one, systemd starts nothing, and OpenSearch is started by the test where the page starts a container.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::docs::{CodeBlock, code_blocks};
use crate::support::daemon::{Daemon, LISTEN};
use crate::support::folder::{Folder, Process, Ran, RunExt as _, assert_has};
use crate::support::http::free_port;
use crate::support::opensearch::Engine;
use crate::support::{ROOT, say, wait_until};

const TEST: &str = "opensearch_in_ten_minutes";
const PAGES: [&str; 2] = ["docs/opensearch.md", "docs/opensearch.zh-CN.md"];
/// Parts of the blocks that start OpenSearch on a reader's machine.
const CONTAINER: &str = "podman run";
const PACKAGE: &str = "apt-get install";
/// A part of the block for a machine without the store.
const NEW_MACHINE: &str = "--take-over";
/// A part of the section for several nodes, and how many they are.
const THIRD: &str = "search3.internal";
const NODES: usize = 3;
/// What goes before each block of commands.
const PRELUDE: &str = "set -e\nsudo() { \"$@\"; }\nsystemctl() { :; }\ninstall() { shift 4; cp \"$@\"; }\ntaojin() { \"$TAOJIN\" --config \"$CONFIG\" \"$@\"; }\n";
/// The configuration of nginx around what the page shows.
const PROXY: &str = "daemon off;\nmaster_process off;\npid pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\nclient_body_temp_path body;\n\
    proxy_temp_path proxy;\nfastcgi_temp_path fastcgi;\nuwsgi_temp_path uwsgi;\nscgi_temp_path scgi;\n";

fn blocks(page: &str) -> Vec<CodeBlock> {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
    code_blocks(&text)
}

fn has_program(name: &str) -> bool {
    let mut look = Command::new("sh");
    look.args(["-c", &format!("command -v {name}")]);
    look.ran().code == Some(0)
}

/// A reader at work.
struct Reader {
    folder: Folder,
    engine: Option<Engine>,
    /// The commands between the start of OpenSearch and Taojin's configuration.
    setup: Vec<String>,
    /// Settings of the section `[search]`, as lines.
    settings: Vec<String>,
    proxy: Option<Process>,
    proxy_port: u16,
    printed: String,
}

impl Reader {
    fn new() -> Self {
        let folder = Folder::new(LISTEN, &[]);
        for name in ["etc", "backups", "nginx"] {
            fs::create_dir(folder.file(name)).expect("a folder");
        }
        Self {
            folder,
            engine: None,
            setup: Vec::new(),
            settings: Vec::new(),
            proxy: None,
            proxy_port: free_port(),
            printed: String::new(),
        }
    }

    /// The folder that the page has the reader make.
    fn dir(&self) -> PathBuf {
        self.folder.file("opensearch")
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("OpenSearch runs")
    }

    /// A text of the page as it goes for this machine.
    fn adapted(&self, text: &str) -> String {
        let top = self.folder.path().display();
        let mut text = text
            .replace("/etc/taojin", &format!("{top}/etc"))
            .replace("/var/backups", &format!("{top}/backups"))
            .replace("/etc/nginx", &format!("{top}/nginx"))
            .replace("listen 443", &format!("listen {}", self.proxy_port))
            .replace(
                "//search.internal",
                &format!("//localhost:{}", self.proxy_port),
            );
        for number in 0..NODES {
            let host = format!("search{}.internal", number + 1);
            if let Some(engine) = &self.engine {
                let node = number.min(engine.urls().len() - 1);
                let place = format!("localhost:{}", engine.port(node));
                text = text.replace(&format!("{host}:9200"), &place);
            }
            text = text.replace(&host, "localhost");
        }
        text
    }

    /// False where OpenSearch cannot be had.
    fn start(&mut self, nodes: usize) -> bool {
        // One at a time.
        self.engine = None;
        self.engine = Engine::start_secured(TEST, nodes, &self.dir());
        self.engine.is_some()
    }

    fn shell(&self, commands: &str) -> Ran {
        let dir = self.dir();
        let dir = if dir.exists() {
            &*dir
        } else {
            self.folder.path()
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("{PRELUDE}{}", self.adapted(commands))])
            .env("TAOJIN", env!("CARGO_BIN_EXE_taojin"))
            .env("CONFIG", self.folder.file("taojin.toml"))
            .env("LC_ALL", "C.UTF-8")
            .current_dir(dir);
        shell.ran().good()
    }

    fn run(&mut self, commands: &str) {
        if commands.contains(NEW_MACHINE) {
            fs::remove_dir_all(self.folder.data_dir()).expect("a data folder");
        }
        let ran = self.shell(commands);
        if commands.contains("api ") {
            assert_eq!(
                ran.out.matches("\"status\":\"CREATED\"").count(),
                2,
                "{ran:?}"
            );
        }
        if self.engine.is_some() && self.settings.is_empty() {
            self.setup.push(commands.to_owned());
        }
        if commands.contains("taojin ") && !self.settings.is_empty() {
            assert_eq!(self.folder.total("储气库"), 1);
        }
        let lacks = "is not a right of this user";
        assert!(!ran.out.contains(lacks), "{ran:?}");
        self.printed = ran.out;
    }

    /// Configures Taojin so; what the section leaves out stays.
    fn configure(&mut self, section: &str) {
        let section = self.adapted(section);
        let (header, settings) = section.split_once('\n').expect("lines");
        assert_eq!(header, "[search]");
        let key = |line: &str| line.split(" = ").next().map(str::to_owned);
        for line in settings.lines() {
            self.settings.retain(|known| key(known) != key(line));
            self.settings.push(line.to_owned());
        }
        let whole = self.folder.read("taojin.toml");
        let others = whole.split("[search]").next().expect("a part");
        let text = format!("{others}[search]\n{}\n", self.settings.join("\n"));
        self.folder.write("taojin.toml", text);
    }

    /// A cluster of several nodes, with the same commands.
    fn grow(&mut self) {
        assert!(self.start(NODES), "it did start");
        for commands in self.setup.clone() {
            self.shell(&commands);
        }
    }

    /// Starts nginx with what the page has. False where it is not installed.
    fn start_proxy(&mut self, server: &str) -> bool {
        if !has_program("nginx") {
            say(&format!(
                "{TEST}: the proxy is skipped, nginx is not installed"
            ));
            return false;
        }
        for (from, to) in [
            ("node.pem", "search.pem"),
            ("node.key", "search.key"),
            ("ca.pem", "opensearch-ca.pem"),
        ] {
            fs::copy(self.dir().join(from), self.folder.file("nginx").join(to)).expect("copied");
        }
        let config = format!("{PROXY}{}}}\n", self.adapted(server));
        self.folder.write("nginx/nginx.conf", config);
        let mut nginx = Command::new("nginx");
        nginx
            .arg("-p")
            .arg(self.folder.file("nginx"))
            .args(["-c", "nginx.conf", "-e", "stderr"]);
        self.proxy = Some(Process::of(&mut nginx));
        wait_until("nginx listens", || {
            TcpStream::connect(("127.0.0.1", self.proxy_port)).is_ok()
        });
        true
    }

    /// The user may do nothing with another index.
    fn assert_confined(&self) {
        let port = self.engine().port(0);
        let ran = self.shell(&format!(
            "curl -sS --cacert ca.pem -u \"taojin:$(cat /etc/taojin/opensearch.password)\" -X PUT https://localhost:{port}/other"
        ));
        assert_has(&ran.out, &["no permissions for [indices:admin/create]"]);
    }

    fn assert_daemon_serves(&self) {
        let daemon = Daemon::start(&self.folder);
        wait_until("the index is complete", || daemon.get("/readyz").0 == 200);
        let found = daemon.json("/api/search?q=%E5%82%A8%E6%B0%94%E5%BA%93");
        assert_eq!(found["total"], 1, "{found}");
        let status = daemon.status();
        assert_eq!(status["outbox_lag"], 0, "nothing waits");
        let bytes = status["disk"]["index_bytes"].as_u64();
        assert!(bytes > Some(0), "its size may be asked for: {status}");
    }
}

/// A line of `taojin check` without the address, which differs, and the time.
fn finding(line: &str) -> &str {
    let text = line.rsplit_once(" (").map_or(line, |(text, _)| text);
    text.split_once(": ").map_or(text, |(_, text)| text)
}

#[test]
fn opensearch_in_ten_minutes() {
    for program in ["openssl", "curl"] {
        if !has_program(program) {
            say(&format!("{TEST}: skipped, {program} is not installed"));
            return;
        }
    }
    let mut reader = Reader::new();
    for block in blocks(PAGES[0]) {
        let text = &*block.text;
        match &*block.language {
            "sh" if text.contains(PACKAGE) => {}
            "sh" if text.contains(CONTAINER) => {
                if !reader.start(1) {
                    return;
                }
            }
            "sh" => reader.run(text),
            "text" => {
                for line in text.lines() {
                    assert_has(&reader.printed, &[finding(line)]);
                }
            }
            "toml" => {
                if text.contains(THIRD) {
                    reader.assert_confined();
                    reader.assert_daemon_serves();
                    reader.grow();
                }
                reader.configure(text);
            }
            // The proxy is the last part of the page.
            "nginx" if !reader.start_proxy(text) => break,
            "nginx" => {}
            other => panic!("{other}: {text}"),
        }
    }
    let health = reader
        .engine()
        .get("/_cluster/health/taojin-v*")
        .expect("its health");
    assert_eq!(health["status"], "green", "{health}");
    assert_eq!(health["active_primary_shards"], 4, "{health}");
    assert_eq!(health["active_shards"], 8, "{health}");
    assert_eq!(reader.folder.total("储气库"), 1);
    reader.assert_daemon_serves();
}

#[test]
fn opensearch_guides_have_the_same_blocks() {
    let [english, chinese] = PAGES.map(|page| {
        let blocks = blocks(page).into_iter();
        let bare = |line: &str| {
            line.split(" #")
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        };
        let bare = |block: CodeBlock| block.text.lines().map(bare).collect::<Vec<_>>();
        blocks.map(bare).collect::<Vec<_>>()
    });
    assert_eq!(english, chinese);
}
