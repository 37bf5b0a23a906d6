//! Commands from web page and API. In: what `serve` was asked. Out: the answer of the daemon of the data folder, over its
//! socket also where that is this process. Blocks; `serve` calls it on threads for that.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use tokio::sync::watch;

use super::{Request, ask};
use crate::config::Loaded;
use crate::daemon::reloading::Current;
use crate::serve::{
    CommandDone, CommandRefused, SiteCommand, SiteControl, SiteView, SourceError, Visit, Why,
};
use taojin_crawl::schedule::Site;

/// The end of the crawl log that is looked through for visits of one site.
const LOG_TAIL: u64 = 256 * 1024;
/// Visits that are shown.
const VISITS: usize = 20;

/// Where `serve` hands commands.
pub(in crate::daemon) struct Controller {
    data_dir: PathBuf,
    log: PathBuf,
    current: watch::Receiver<Current>,
}

impl Controller {
    /// Over the data folder of a configuration.
    pub(in crate::daemon) fn new(loaded: &Loaded, current: watch::Receiver<Current>) -> Self {
        Self {
            data_dir: loaded.config.data_dir.clone(),
            log: loaded.log_dir().join("crawl.log"),
            current,
        }
    }
}

impl SiteControl for Controller {
    fn carry_out(&self, command: SiteCommand) -> Result<CommandDone, CommandRefused> {
        match ask(&self.data_dir, &Request::Command(command), |_| {})? {
            Some(answer) => answer.into_done(),
            None => Err(CommandRefused::new(
                Why::NoCrawler,
                "no crawler runs on this data folder, so nothing was done; start one with: taojin run",
            )),
        }
    }

    fn site(&self, name: &str) -> Result<Option<SiteView>, SourceError> {
        let sites = self.current.borrow().sites.clone();
        let Some(site) = sites.iter().find(|s| s.name == name) else {
            return Ok(None);
        };
        Ok(Some(SiteView {
            visits: self.visits(name),
            ..view(site)
        }))
    }
}

impl Controller {
    /// The last visits of a site, as far as the end of the log has them. Without a log there are none.
    fn visits(&self, name: &str) -> Vec<Visit> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
            let mut tail = Vec::new();
            file.take(LOG_TAIL).read_to_end(&mut tail)?;
            Ok(tail)
        };
        let tail = read().unwrap_or_default();
        tail.rsplit(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice::<Visit>(line).ok())
            .filter(|visit| visit.site == name)
            .take(VISITS)
            .collect()
    }
}

fn view(site: &Site) -> SiteView {
    SiteView {
        enabled: site.enabled,
        schedule: site.schedule.clone(),
        time_zone: site.time_zone.clone(),
        seeds: site.seeds.clone(),
        lists: site.feeds.iter().chain(&site.sitemaps).cloned().collect(),
        hosts: site.hosts(),
        include: site.scope.include.clone(),
        exclude: site.scope.exclude.clone(),
        max_hops: site.scope.max_hops,
        max_pages_per_cycle: site.max_pages_per_cycle,
        delay_ms: site.delay_ms,
        visits: Vec::new(),
    }
}
