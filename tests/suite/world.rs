//! The sample web behind the real `taojin` program: a server in this process, a configuration on disk, and what the
//! index holds afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use taojin::documents::open_folder;
use taojin_demo::{self as demo, Server, World};
use taojin_search::analyze::Analyzer;
use taojin_search::index;
use taojin_uri::CrawlUri;

/// The moment at which every test world stands.
pub(crate) const NOW_MS: i64 = 1_790_000_000_000;

/// A sample web that is being served, until this is dropped.
pub(crate) struct Web {
    pub(crate) server: Arc<Server>,
    _runtime: tokio::runtime::Runtime,
}

impl Web {
    /// Serves the world that `make` gives for a port.
    pub(crate) fn start(make: impl FnOnce(u16) -> World) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime");
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0)))
            .expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let server = Server::new(make(port));
        runtime.spawn(demo::serve(
            Arc::clone(&server),
            listener,
            std::future::pending(),
        ));
        Self {
            server,
            _runtime: runtime,
        }
    }

    /// Address in the index → how often it is there, for every article that should be found.
    pub(crate) fn planted(&self) -> Vec<String> {
        let world = self.server.world();
        let url = |site: usize, path: &str| {
            let text = world.sites[site].url(path);
            CrawlUri::parse(&text)
                .expect("planted addresses are good")
                .to_string()
        };
        world
            .articles
            .iter()
            .map(|a| url(a.site, &a.path))
            .collect()
    }
}

/// A data folder with a configuration for the sample web.
pub(crate) struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// Writes `taojin.toml` and one file for each site. `extra` goes to the end of `taojin.toml`.
    pub(crate) fn new(web: &Web, frontier: &str) -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let sites = dir.path().join("sites.d");
        fs::create_dir_all(&sites).expect("sites.d");
        let world = web.server.world();
        let mut hosts = String::new();
        for site in &world.sites {
            hosts.push_str(&format!("\"{}\" = \"127.0.0.1\"\n", site.host));
            let text = format!(
                "name = \"{}\"\nseeds = {:?}\nschedule = \"@daily\"\n[scope]\nhosts = [\"{}\"]\n",
                site.name, site.seeds, site.authority
            );
            fs::write(sites.join(format!("{}.toml", site.name)), text).expect("site file");
        }
        let config = format!(
            "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[serve]\nlisten = \"127.0.0.1:0\"\n[frontier]\n{frontier}\n[fetch]\nallow_addresses = \
             [\"127.0.0.0/8\"]\n[fetch.hosts]\n{hosts}",
            dir.path().join("data")
        );
        fs::write(dir.path().join("taojin.toml"), config).expect("taojin.toml");
        Self { dir }
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The program with this configuration.
    pub(crate) fn taojin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taojin"));
        command
            .arg("--config")
            .arg(self.dir.path().join("taojin.toml"))
            .args(args);
        command
    }

    /// Address → how often it is in the index.
    pub(crate) fn indexed(&self) -> BTreeMap<String, usize> {
        let reader = open_folder(
            &self.data_dir(),
            &Analyzer::new(&[]),
            &index::Config::default(),
        )
        .expect("the index opens");
        let mut found = BTreeMap::new();
        reader
            .for_each(|stored| {
                *found.entry(stored.document.url).or_insert(0) += 1;
                true
            })
            .expect("the index can be read");
        found
    }
}

/// A server over data that nobody crawls; killed at the end.
pub(crate) struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    pub(crate) fn start(home: &Home) -> Self {
        Self::of(home.taojin(&["serve", "--listen", "127.0.0.1:0"]))
    }

    /// What a command serves that says where.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("taojin starts");
        let lines = BufReader::new(child.stderr.take().expect("its messages")).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| {
                let rest = line.split("http://").nth(1)?;
                rest.split('/').next().map(str::to_owned)
            })
            .expect("an address");
        Self { child, address }
    }

    pub(crate) fn get(&self, target: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        write!(
            stream,
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
