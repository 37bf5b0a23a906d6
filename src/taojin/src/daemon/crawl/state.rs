//! The crawl loop's state, and what reaches it from outside. Its work stands beside it: the loop itself, handing out
//! leases, taking what visits found, committing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Instant;

use super::archive::WarcSink;
use super::article::OpenArticle;
use super::crawl_log::CrawlLog;
use super::disk::DiskWatch;
use super::replay::Replay;
use super::site_run::SiteRun;
use super::visited::{Finished, Work};
use super::walls::Walls;
use crate::config::CrawlConfig;
use crate::daemon::control::{IndexPlace, Watches, Wish};
use crate::daemon::learn::templates::Seen;
use crate::daemon::report::summary::Summary;
use crate::daemon::{Mode, Progress, Shared};
use taojin_crawl::frontier::Frontier;
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::store::{Batch, SiteDifferences, Store, UrlId};
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
    /// When the cycles were last looked at for one that is over.
    pub(crate) cycles_looked: Option<Instant>,
    /// When the partitions of a shared store were last looked at.
    pub(crate) shared_at: Option<Instant>,
    /// When turns at servers were last asked for.
    pub(crate) turns_at: Option<Instant>,
    /// When the settings of the operator were last read that another node may have changed.
    pub(crate) pauses_read: Option<Instant>,
    /// When the sites of the nodes were last compared, and how they differed.
    pub(crate) compared: Option<Instant>,
    pub(crate) differences: SiteDifferences,
    /// When nothing was left to forget of the history of documents.
    pub(crate) forgot: Option<Instant>,
    /// All sites of the configuration, those that are not enabled too.
    pub(crate) configured: Vec<Site>,
    pub(crate) index: IndexPlace,
    /// URLs that were asked for by hand and wait for their hosts.
    pub(crate) asked: Vec<UrlId>,
    /// Articles that wait for their next page, by the row of the first: it is among `asked`.
    pub(crate) open: HashMap<UrlId, Box<OpenArticle>>,
    /// URLs that were purged while they were being fetched: what comes of them is dropped.
    pub(crate) forgotten: HashSet<UrlId>,
    pub(crate) watches: Watches,
    pub(crate) learner: Option<SyncSender<Seen>>,
}
