//! What the daemon's parts hold of each other. In: a configuration, an open store, the ends of channels. Out: the crawl
//! loop and the learner, ready to run. Never starts anything.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};

use super::crawl::crawl_log::CrawlLog;
use super::crawl::disk::{self, DiskWatch};
use super::crawl::replay::Replay;
use super::crawl::sharing::Sharing;
use super::crawl::state::{CrawlLoop, Event, Every, Orders};
use super::crawl::visited::Work;
use super::crawl::walls::Walls;
use super::learn::learner::Learner;
use super::learn::templates::{Seen, Templates};
use super::reloading::Current;
use super::report::summary::Summary;
use super::{Mode, Progress, Shared};
use crate::config::Loaded;
use crate::documents::IndexAt;
use taojin_crawl::frontier::{Frontier, Scope};
use taojin_crawl::schedule::{self, Site};
use taojin_crawl::store::{self, Store, StorePlace};

/// Pages seen that wait for the learner; what comes while it learns and finds no room is not learned from.
const SEEN_PAGES: usize = 256;

/// What the crawl loop holds of others.
pub(super) struct Wiring {
    pub(super) inbox: std::sync::mpsc::Receiver<Event>,
    pub(super) leases: mpsc::Sender<Work>,
    pub(super) poke: SyncSender<()>,
    pub(super) shared: Arc<Shared>,
    pub(super) current: watch::Receiver<Current>,
    pub(super) progress: Option<Progress>,
    pub(super) learner: Option<SyncSender<Seen>>,
}

/// The crawl loop over an open store, with its sites taken up.
pub(super) fn open_loop(
    loaded: &Loaded,
    mode: Mode,
    mut store: Store,
    wiring: Wiring,
) -> anyhow::Result<CrawlLoop> {
    let config = &loaded.config;
    let now = wiring.shared.now_ms();
    let log = CrawlLog::open(
        &loaded.log_dir(),
        config.crawl.crawl_log_bytes,
        config.crawl.crawl_log_files,
    )
    .with_context(|| {
        format!(
            "crawl log in {} cannot be opened",
            loaded.log_dir().display()
        )
    })?;
    set_clock_right(&mut store, &config.revisit, now)?;
    disk::remove_partial(&config.data_dir);
    let frontier = Frontier::open(&mut store, config.frontier.clone())?;
    wiring
        .shared
        .set_document_seq(u64::try_from(store.last_document_seq()?).unwrap_or_default());
    wiring.shared.set_frontier(frontier.stats());
    let replay = match &mode {
        Mode::Replay { files } => Some(Replay::new(
            files,
            config.fetch.max_body_bytes,
            scopes(&loaded.sites)?,
        )),
        _ => None,
    };
    let mut crawl = CrawlLoop {
        replay,
        archive: None,
        store,
        frontier,
        config: config.crawl.clone(),
        revisit: config.revisit.clone(),
        mode,
        sites: BTreeMap::new(),
        events: wiring.inbox,
        leases: wiring.leases,
        index_poke: wiring.poke,
        log,
        disk: DiskWatch::new(&config.data_dir, &config.crawl),
        shared: wiring.shared,
        progress: wiring.progress,
        summary: Summary::begin(now),
        left: 0,
        walls: Walls::default(),
        lists: HashMap::new(),
        batch: store::Batch::default(),
        batch_since: None,
        stop_at: None,
        cycles_looked: Every::default(),
        sharing: Sharing::default(),
        forgot: Every::default(),
        current: wiring.current,
        configured: Vec::new(),
        index: IndexAt::of(loaded),
        orders: Orders::default(),
        learner: wiring.learner,
    };
    crawl.take_sites(&loaded.sites, now)?;
    Ok(crawl)
}

/// Has nothing wait for a clock that was ahead.
fn set_clock_right(store: &mut Store, pages: &schedule::Config, now: i64) -> anyhow::Result<()> {
    let longest_ms = pages.max_ms.max(pages.max_retry_ms).max(pages.hub_max_ms);
    if let Some(ahead_ms) = store.set_clock_right(now, longest_ms)? {
        tracing::warn!(
            ahead_s = ahead_ms / 1000,
            "the clock was ahead when the last page was stored: what was planned by it is due as if it had been right"
        );
    }
    Ok(())
}

/// The learner, what it hears, what the fetch tasks need of templates, and the way to tell the learner that it is over.
pub(super) fn learner(
    loaded: &Loaded,
    place: StorePlace,
) -> (Learner, Receiver<Seen>, Templates, SyncSender<Seen>) {
    let registry = Arc::default();
    let (seen, inbox) = sync_channel(SEEN_PAGES);
    let learner = Learner {
        place,
        config: loaded.config.templates.clone(),
        registry: Arc::clone(&registry),
    };
    learner.load();
    let templates = Templates {
        registry,
        learner: loaded.config.templates.enabled.then(|| seen.clone()),
    };
    (learner, inbox, templates, seen)
}

/// The sites in use and what belongs to them.
fn scopes(sites: &[Site]) -> anyhow::Result<Vec<(Arc<str>, Arc<Scope>)>> {
    let mut scopes = Vec::new();
    for site in sites.iter().filter(|s| s.enabled) {
        scopes.push((Arc::from(site.name.as_str()), Arc::new(Scope::new(site)?)));
    }
    Ok(scopes)
}
