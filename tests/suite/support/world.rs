//! A web of several sites behind the real `taojin` program: a server in this process, a configuration on disk, and what
//! the index holds afterwards.

use std::ops::Deref;
use std::sync::Arc;

use taojin::daemon::Clock;
use taojin_demo::trial::{self, TrialPlan, TrialWeb};
use taojin_demo::{self as demo, SampleSite, SampleWeb};
use taojin_uri::CrawlUri;

use super::folder::Folder;

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

/// Serves a trial web while the runtime lives.
pub(crate) fn serve_trial(plan: TrialPlan) -> (Arc<TrialWeb>, tokio::runtime::Runtime) {
    let runtime = runtime();
    let bound = runtime.block_on(trial::bind(plan.hosts));
    let (sockets, port) = bound.expect("free addresses");
    let web = Arc::new(TrialWeb::new(plan, port));
    runtime.spawn(demo::serve(Arc::clone(&web), sockets));
    (web, runtime)
}

impl Web {
    /// Serves six plain sites with this many articles in all, or a few more.
    pub(crate) fn start(articles: u32) -> Self {
        let (server, runtime) = serve_trial(TrialPlan {
            seed: 5,
            hosts: TRIAL_SITES,
            articles: articles.div_ceil(TRIAL_SITES),
            ..TrialPlan::default()
        });
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
        let socket = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0)));
        let socket = socket.expect("a free port");
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

/// Settings of a frontier that waits for nobody.
pub(crate) const FAST: &str = "min_delay_ms = 1\nmax_delay_ms = 1\nconnections_per_ip = 12";

/// A data folder with a configuration for a web.
pub(crate) struct Home(Folder);

impl Deref for Home {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Home {
    /// Writes `taojin.toml` and one file for each site. `frontier` goes into that section.
    pub(crate) fn new<W>(web: &Web<W>, frontier: &str) -> Self {
        let mut hosts = String::new();
        for site in &web.sites {
            let (host, _) = site.authority.split_once(':').expect("host and port");
            if host.ends_with("localhost") {
                hosts.push_str(&format!("\"{host}\" = \"127.0.0.1\"\n"));
            }
        }
        let folder = Folder::new(
            &format!(
                "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[serve]\nlisten = \"127.0.0.1:0\"\n[frontier]\n\
                 {frontier}\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n[fetch.hosts]\n{hosts}"
            ),
            &[],
        );
        for site in &web.sites {
            let text = format!(
                "name = \"{}\"\nseeds = [{:?}]\nschedule = \"@daily\"\n[scope]\nhosts = [\"{}\"]\n",
                site.name, site.seed, site.authority
            );
            folder.write(&format!("sites.d/{}.toml", site.name), text);
        }
        Self(folder)
    }

    /// Takes the files of all sites away; gives their names in `sites.d` and texts.
    pub(crate) fn take_sites(&self) -> Vec<(String, String)> {
        let entries = std::fs::read_dir(self.file("sites.d")).expect("sites.d");
        let names = entries.map(|e| e.expect("readable").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        let take = |name: String| {
            let name = format!("sites.d/{name}");
            let text = self.read(&name);
            std::fs::remove_file(self.file(&name)).expect("removed");
            (name, text)
        };
        names.into_iter().map(take).collect()
    }
}
