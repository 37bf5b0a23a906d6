//! Commands from web page and API. In: what `serve` was asked. Out: the answer of the crawl loop of this process, or of a
//! daemon beside it over its socket. Blocks; `serve` calls it on threads for that.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::server::{INDEX_TIME, LOOK, hand_over, index_is_late};
use super::{ANSWERS, Answer, Asked, Reply, Request, Wish, ask, stopping};
use crate::config::Loaded;
use crate::daemon::Shared;
use crate::daemon::crawl::state::Event;
use crate::daemon::reloading::Current;
use crate::serve::{
    CommandDone, CommandRefused, SiteCommand, SiteControl, SiteView, SourceError, Visit, Why,
};
use taojin_crawl::schedule::Site;

/// The end of the crawl log that is looked through for visits of one site.
const LOG_TAIL: u64 = 256 * 1024;
/// Visits that are shown.
const VISITS: usize = 20;

/// The way to the crawl loop.
enum Link {
    /// In this process.
    Here(SyncSender<Event>, Arc<Shared>),
    /// In another process on the same data folder, if one runs.
    Socket,
}

/// Where `serve` hands commands.
pub(in crate::daemon) struct Controller {
    link: Link,
    data_dir: PathBuf,
    log: PathBuf,
    current: watch::Receiver<Current>,
}

impl Controller {
    /// Beside a daemon of another process, or none.
    pub(in crate::daemon) fn beside(loaded: &Loaded, current: watch::Receiver<Current>) -> Self {
        Self {
            link: Link::Socket,
            data_dir: loaded.config.data_dir.clone(),
            log: loaded.log_dir().join("crawl.log"),
            current,
        }
    }

    /// In the daemon itself.
    pub(in crate::daemon) fn here(self, events: SyncSender<Event>, shared: Arc<Shared>) -> Self {
        Self {
            link: Link::Here(events, shared),
            ..self
        }
    }
}

impl SiteControl for Controller {
    fn carry_out(&self, command: SiteCommand) -> Result<CommandDone, CommandRefused> {
        let request = Request::Command(command);
        let answer = match &self.link {
            Link::Here(events, shared) => here(events, shared, request)?,
            Link::Socket => match ask(&self.data_dir, &request, |_| {})? {
                Asked::Answered(answer) => *answer,
                Asked::NoDaemon => {
                    return Err(CommandRefused::new(
                        Why::NoCrawler,
                        "no crawler runs on this data folder, so nothing was done; start one with: taojin run",
                    ));
                }
            },
        };
        match answer {
            Answer::Done(done) => Ok(done),
            Answer::Refused(refused) => Err(refused),
            Answer::Step(_) | Answer::Reindexing(_) | Answer::Crawled(_) | Answer::Status(_) => {
                Err(stopping())
            }
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

fn here(
    events: &SyncSender<Event>,
    shared: &Shared,
    request: Request,
) -> Result<Answer, CommandRefused> {
    let (reply, mut replies) = mpsc::channel(ANSWERS);
    hand_over(events, shared, Wish { request, reply })?;
    match replies.blocking_recv() {
        Some(Reply::Now(answer)) => Ok(answer),
        Some(Reply::AfterIndex(seq, answer)) => {
            let since = Instant::now();
            while shared.indexed() < seq {
                if since.elapsed() >= INDEX_TIME {
                    return Err(index_is_late());
                }
                std::thread::sleep(LOOK);
            }
            Ok(answer)
        }
        None => Err(stopping()),
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
