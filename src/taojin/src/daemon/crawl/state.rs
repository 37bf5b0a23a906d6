//! The crawl loop's state, and what reaches it from outside. Its work stands beside it: the loop itself, handing out
//! leases, taking what visits found, committing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::archive::WarcSink;
use super::article::OpenArticle;
use super::crawl_log::CrawlLog;
use super::disk::DiskWatch;
use super::replay::Replay;
use super::sharing::Sharing;
use super::site_run::SiteRun;
use super::visited::{Finished, Work};
use super::walls::Walls;
use crate::config::CrawlConfig;
use crate::daemon::control::{Watches, Wish};
use crate::daemon::learn::templates::Seen;
use crate::daemon::reloading::Current;
use crate::daemon::report::summary::Summary;
use crate::daemon::{Mode, Progress, Shared};
use crate::documents::IndexAt;
use taojin_crawl::frontier::Frontier;
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::store::{Batch, Store, UrlId};
use taojin_uri::CrawlUri;

/// What reaches the loop from outside.
pub(crate) enum Event {
    /// A lease has ended.
    Finished(Box<Finished>),
    /// The operator asks for something.
    Wish(Box<Wish>),
    /// Wind down.
    Stop,
}

/// The loop's state.
pub(crate) struct CrawlLoop {
    pub(crate) store: Store,
    /// Archives that the pages come from, instead of the network.
    pub(crate) replay: Option<Replay>,
    /// Where the fetch tasks archive what they fetch.
    pub(crate) archive: Option<Arc<WarcSink>>,
    pub(crate) frontier: Frontier,
    pub(crate) config: CrawlConfig,
    pub(crate) revisit: schedule::Config,
    pub(crate) mode: Mode,
    pub(crate) sites: BTreeMap<Arc<str>, SiteRun>,
    pub(crate) events: Receiver<Event>,
    pub(crate) leases: tokio::sync::mpsc::Sender<Work>,
    pub(crate) index_poke: SyncSender<()>,
    pub(crate) log: CrawlLog,
    pub(crate) disk: DiskWatch,
    pub(crate) shared: Arc<Shared>,
    pub(crate) progress: Option<Progress>,
    pub(crate) summary: Summary,
    /// Known addresses that a pass is still to fetch, about: what a limit holds back is among them.
    pub(crate) left: u64,
    pub(crate) walls: Walls,
    /// Addresses of pages on which others were found a moment ago.
    pub(crate) lists: HashMap<UrlId, Option<CrawlUri>>,
    pub(crate) batch: Batch,
    /// When the first page of the batch came.
    pub(crate) batch_since: Option<Instant>,
    pub(crate) stop_at: Option<Instant>,
    /// When the cycles are looked at for one that is over.
    pub(crate) cycles_looked: Every,
    pub(crate) sharing: Sharing,
    /// When the history of documents is looked through.
    pub(crate) forgot: Every,
    /// The configuration of this moment.
    pub(crate) current: watch::Receiver<Current>,
    /// All sites of the configuration, those that are not enabled too.
    pub(crate) configured: Vec<Site>,
    pub(crate) index: IndexAt,
    pub(crate) orders: Orders,
    pub(crate) learner: Option<SyncSender<Seen>>,
}

/// What was asked for one by one.
#[derive(Default)]
pub(crate) struct Orders {
    /// URLs that were asked for by hand and wait for their hosts.
    pub(crate) asked: Vec<UrlId>,
    /// Articles that wait for their next page, by the row of the first: it is among `asked`.
    pub(crate) open: HashMap<UrlId, Box<OpenArticle>>,
    /// URLs that were purged while they were being fetched: what comes of them is dropped.
    pub(crate) forgotten: HashSet<UrlId>,
    pub(crate) watches: Watches,
}

/// Something that is done every so often, the first time at once.
#[derive(Debug, Default)]
pub(crate) struct Every(Option<Instant>);

impl Every {
    /// Whether it is time again; if so, it counts as done now.
    pub(crate) fn is_due(&mut self, every: Duration) -> bool {
        let is_due = self.0.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}
