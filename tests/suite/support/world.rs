//! A web of several sites behind the real `taojin` program: a server in this process, a configuration on disk, and what
//! the index holds afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use taojin::daemon::Clock;
use taojin::documents::open_folder;
use taojin_demo::trial::{self, TrialPlan, TrialWeb};
use taojin_demo::{self as demo, SampleSite, SampleWeb};
use taojin_search::analyze::Analyzer;
use taojin_search::index;
use taojin_uri::CrawlUri;

/// Sites of a trial web.
const TRIAL_SITES: u32 = 6;

/// A site, as its file in `sites.d` names it.
struct WebSite {
    name: String,
    seed: String,
    authority: String,
}

/// A web that is being served, until this is dropped: the trial web, or the sample web.
pub(crate) struct Web<W = TrialWeb> {
    pub(crate) server: Arc<W>,
    sites: Vec<WebSite>,
    planted: Vec<String>,
    _runtime: tokio::runtime::Runtime,
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("runtime")
}

impl Web {
    /// Serves six plain sites with this many articles in all, or a few more.
    pub(crate) fn start(articles: u32) -> Self {
        let runtime = runtime();
        let plan = TrialPlan {
            seed: 5,
            hosts: TRIAL_SITES,
            articles: articles.div_ceil(TRIAL_SITES),
            ..TrialPlan::default()
        };
        let (sockets, port) = runtime
            .block_on(trial::bind(plan.hosts))
            .expect("free addresses");
        let server = Arc::new(TrialWeb::new(plan, port));
        runtime.spawn(demo::serve(Arc::clone(&server), sockets));
        let site = |host| WebSite {
            name: format!("trial-{host}"),
            seed: server.seed_url(host),
            authority: server.authority(host),
        };
        Self {
            sites: (0..TRIAL_SITES).map(site).collect(),
            planted: server.articles(),
            server,
            _runtime: runtime,
        }
    }
}

impl Web<SampleWeb> {
    /// Serves the sample web, which stands at the real clock, since the program reads it.
    pub(crate) fn sample() -> Self {
        let runtime = runtime();
        let socket = runtime
            .block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0)))
            .expect("a free port");
        let port = socket.local_addr().expect("an address").port();
        let now_ms = Clock::default().now_ms();
        let server = Arc::new(SampleWeb::new(port, now_ms));
        runtime.spawn(demo::serve(Arc::clone(&server), vec![socket]));
        let site = |site: &SampleSite| WebSite {
            name: site.name.clone(),
            seed: server.url(site, &site.home),
            authority: server.authority(site),
        };
        Self {
            sites: server.sites().iter().map(site).collect(),
            planted: server.articles().into_iter().map(|a| a.url).collect(),
            server,
            _runtime: runtime,
        }
    }
}

impl<W: demo::Web> Web<W> {
    /// URLs of all articles that a crawl should find.
    pub(crate) fn planted(&self) -> Vec<String> {
        let canonical = |url: &String| CrawlUri::parse(url).expect("a good URL").to_string();
        self.planted.iter().map(canonical).collect()
    }

    /// Names of the sites.
    pub(crate) fn site_names(&self) -> Vec<&str> {
        self.sites.iter().map(|site| &*site.name).collect()
    }

    /// Requests since the start.
    pub(crate) fn requests(&self) -> u64 {
        self.server.log().total()
    }
}

/// A data folder with a configuration for a web.
pub(crate) struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// Writes `taojin.toml` and one file for each site. `extra` goes to the end of `taojin.toml`.
    pub(crate) fn new<W>(web: &Web<W>, frontier: &str) -> Self {
        let dir = tempfile::tempdir().expect("temporary directory");
        let sites = dir.path().join("sites.d");
        fs::create_dir_all(&sites).expect("sites.d");
        let mut hosts = String::new();
        for site in &web.sites {
            let (host, _) = site.authority.split_once(':').expect("host and port");
            if host.ends_with("localhost") {
                hosts.push_str(&format!("\"{host}\" = \"127.0.0.1\"\n"));
            }
            let text = format!(
                "name = \"{}\"\nseeds = [{:?}]\nschedule = \"@daily\"\n[scope]\nhosts = [\"{}\"]\n",
                site.name, site.seed, site.authority
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
