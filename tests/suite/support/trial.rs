//! A trial web that is being served, and a data folder with a configuration for it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use taojin_demo::trial::{TrialPlan, TrialWeb};
use taojin_demo::{Fault, Hit, Web as _};
use taojin_uri::CrawlUri;

use super::folder::{Folder, indexed};
use super::world::serve_trial;

/// The name of the one site that all hosts of the web belong to.
pub(crate) const SITE: &str = "trial";

/// The web, the folder.
pub(crate) struct Trial {
    pub(crate) web: Arc<TrialWeb>,
    folder: Folder,
    _runtime: tokio::runtime::Runtime,
}

impl Deref for Trial {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Trial {
    /// Serves the web of this plan; `frontier` goes into that section, `more` to the end of `taojin.toml`.
    pub(crate) fn new(plan: TrialPlan, frontier: &str, more: &str) -> Self {
        let (web, runtime) = serve_trial(plan);
        let hosts = 0..web.plan().hosts;
        let seeds: Vec<String> = hosts.clone().map(|h| web.seed_url(h)).collect();
        let names: Vec<String> = hosts.map(|h| web.authority(h)).collect();
        let site = format!(
            "seeds = {seeds:?}\nschedule = \"@daily\"\ntime_zone = \"UTC\"\n[scope]\nhosts = {names:?}\n"
        );
        let config = format!(
            "[crawl]\nmin_free_bytes = 0\nmin_free_percent = 0\n[frontier]\n{frontier}\n[fetch]\n\
             allow_addresses = [\"127.0.0.0/8\"]\n{more}"
        );
        Self {
            web,
            folder: Folder::new(&config, &[(&format!("{SITE}.toml"), &site)]),
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

    /// Addresses of all articles that there are today.
    pub(crate) fn articles(&self) -> Vec<String> {
        let parse = |text: &String| CrawlUri::parse(text).expect("a good address").to_string();
        self.web.articles().iter().map(parse).collect()
    }

    /// Articles of today that are not in these documents once.
    pub(crate) fn missing(&self, found: &BTreeMap<String, usize>) -> Vec<String> {
        let mut articles = self.articles();
        articles.retain(|url| found.get(url) != Some(&1));
        articles
    }

    /// When cycles begin, as in the file of a site.
    pub(crate) fn set_schedule(&self, schedule: &str) {
        self.replace(&format!("sites.d/{SITE}.toml"), "@daily", schedule);
    }

    /// Address → how often it is in the index; none where it cannot be read at present.
    pub(crate) fn try_indexed(&self) -> Option<BTreeMap<String, usize>> {
        indexed(self.loaded().store_place())
    }

    pub(crate) fn indexed(&self) -> BTreeMap<String, usize> {
        self.try_indexed().expect("the index can be read")
    }
}

/// Articles that came whole more than once.
pub(crate) fn fetched_again(log: &[Hit]) -> u32 {
    let mut times: HashMap<(&str, &str), u32> = HashMap::new();
    for hit in log {
        let whole = matches!(hit.fault, None | Some(Fault::Slow));
        if hit.status == 200 && whole && hit.target.starts_with("/news/") {
            *times.entry((&hit.authority, &hit.target)).or_default() += 1;
        }
    }
    times.values().map(|n| n - 1).sum()
}
