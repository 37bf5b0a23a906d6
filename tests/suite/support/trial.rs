//! A trial web that is being served, and a data folder with a configuration for it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use taojin::config::{self, Loaded};
use taojin::documents::open_folder;
use taojin_crawl::store::StorePlace;
use taojin_demo::trial::{self, TrialPlan, TrialWeb};
use taojin_demo::{Hit, Web as _, serve};
use taojin_search::analyze::Analyzer;
use taojin_search::index;
use taojin_uri::CrawlUri;

/// The name of the one site that all hosts of the web belong to.
pub(crate) const SITE: &str = "trial";

/// The web, the folder.
pub(crate) struct Trial {
    pub(crate) web: Arc<TrialWeb>,
    dir: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Trial {
    /// Serves the web of this plan; `frontier` goes into that section, `more` to the end of `taojin.toml`.
    pub(crate) fn new(plan: TrialPlan, frontier: &str, more: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime");
        let (sockets, port) = runtime
            .block_on(trial::bind(plan.hosts))
            .expect("free addresses");
        let web = Arc::new(TrialWeb::new(plan, port));
        runtime.spawn(serve(Arc::clone(&web), sockets));
        let dir = tempfile::tempdir().expect("temporary directory");
        let sites = dir.path().join("sites.d");
        fs::create_dir(&sites).expect("sites.d");
        let hosts = 0..web.plan().hosts;
        let seeds: Vec<String> = hosts.clone().map(|h| web.seed_url(h)).collect();
        let names: Vec<String> = hosts.map(|h| web.authority(h)).collect();
        let site = format!(
            "seeds = {seeds:?}\nschedule = \"@daily\"\ntime_zone = \"UTC\"\n[scope]\nhosts = {names:?}\n"
        );
        fs::write(sites.join(format!("{SITE}.toml")), site).expect("site file");
        let config = format!(
            "data_dir = {:?}\n[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\n{frontier}\n[fetch]\n\
             allow_addresses = [\"127.0.0.0/8\"]\n{more}",
            dir.path().join("data")
        );
        fs::write(dir.path().join("taojin.toml"), config).expect("taojin.toml");
        Self {
            web,
            dir,
            _runtime: runtime,
        }
    }

    /// Requests since the start.
    pub(crate) fn requests(&self) -> u64 {
        self.web.log().total()
    }

    /// The requests since they were last taken; they stay in the log.
    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.web.log().hits()
    }

    /// Takes the requests since they were last taken.
    pub(crate) fn take_hits(&self) -> Vec<Hit> {
        self.web.log().take()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
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

    /// The configuration, to crawl in this process.
    pub(crate) fn loaded(&self) -> Loaded {
        config::load(Some(&self.dir.path().join("taojin.toml")), None)
            .expect("a good configuration")
    }

    /// Addresses of all articles that there are today.
    pub(crate) fn articles(&self) -> Vec<String> {
        let parse = |text: &String| CrawlUri::parse(text).expect("a good address").to_string();
        self.web.articles().iter().map(parse).collect()
    }

    /// More keys for the section `[crawl]`.
    pub(crate) fn set_crawl(&self, keys: &str) {
        let file = self.dir.path().join("taojin.toml");
        let text = fs::read_to_string(&file).expect("taojin.toml");
        let with = text.replace("[crawl]\n", &format!("[crawl]\n{keys}"));
        fs::write(file, with).expect("taojin.toml");
    }

    /// When cycles begin, as in the file of a site.
    pub(crate) fn set_schedule(&self, schedule: &str) {
        let file = self.dir.path().join("sites.d").join(format!("{SITE}.toml"));
        let text = fs::read_to_string(&file).expect("site file");
        fs::write(file, text.replace("@daily", schedule)).expect("site file");
    }

    /// Address → how often it is in the index.
    pub(crate) fn indexed(&self) -> BTreeMap<String, usize> {
        indexed(self.loaded().store_place()).expect("the index can be read")
    }

    /// The same; none where it cannot be read at present.
    pub(crate) fn try_indexed(&self) -> Option<BTreeMap<String, usize>> {
        indexed(self.loaded().store_place())
    }
}

/// Address → how often it is in the index of a store; none where it cannot be read.
pub(crate) fn indexed(place: impl Into<StorePlace>) -> Option<BTreeMap<String, usize>> {
    let reader = open_folder(place, &Analyzer::new(&[]), &index::Config::default()).ok()?;
    let mut found = BTreeMap::new();
    let read = reader.for_each(|stored| {
        *found.entry(stored.document.url).or_insert(0) += 1;
        true
    });
    read.ok().map(|()| found)
}
