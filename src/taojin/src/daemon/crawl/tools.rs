//! What every visit needs: the HTTP client, the robots.txt files, templates, the archive. In: a configuration. Out:
//! [`Tools`], shared by all fetch tasks.

use std::net::IpAddr;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::archive::WarcSink;
use crate::config::Loaded;
use crate::daemon::learn::templates::Templates;
use crate::daemon::{Mode, Shared};
use taojin_crawl::fetch::{Fetcher, RobotsCache};
use taojin_crawl::frontier::Lease;
use taojin_crawl::store::{InFlight, NodeLease};
use taojin_extract as extract;
use taojin_extract::page;

/// What every visit needs; shared by all fetch tasks.
pub(crate) struct Tools {
    pub(crate) fetcher: Fetcher,
    pub(crate) robots: RobotsCache,
    pub(crate) page: page::Config,
    /// None: documents are not wanted.
    pub(crate) extract: Option<extract::Config>,
    /// Pages of an article that become one document, at most.
    pub(crate) article_pages: usize,
    pub(crate) shared: Arc<Shared>,
    /// Templates of the sites.
    pub(crate) templates: Templates,
    /// Where everything that is fetched is archived, if it is.
    pub(crate) archive: Option<Arc<WarcSink>>,
    /// The pages that are being visited, for the case that one takes the process down.
    pub(crate) in_flight: Arc<InFlight>,
    /// By what this process may fetch, if several machines may have the store.
    pub(crate) node: Option<NodeLease>,
    /// How many pages may be extracted at once: as many as there are processors.
    extracting: Arc<Semaphore>,
}

/// A page up to this size is extracted where it was fetched: that takes some milliseconds, and handing it over to another
/// thread costs a twentieth of it.
const SMALL_PAGE_BYTES: u64 = 512 * 1024;

impl Tools {
    /// Ends as soon as this process may not fetch any more: another machine may be about to.
    pub(crate) async fn may_not_fetch(&self) {
        match &self.node {
            Some(node) => node.in_doubt().await,
            None => std::future::pending().await,
        }
    }

    /// Where the host of a lease is, if that has to be known before it is asked and is not: other nodes may ask the same server.
    pub(crate) async fn locate(&self, lease: &Lease) -> Option<IpAddr> {
        match self.node.is_some() && !lease.is_located() {
            true => self.fetcher.locate(&lease.record.uri).await,
            false => None,
        }
    }

    /// Does work on `bytes` of a page. What may take long is done beside the fetch tasks, so that their time limits stay true.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        bytes: u64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        if bytes <= SMALL_PAGE_BYTES {
            return work();
        }
        let permit = Arc::clone(&self.extracting).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        match done.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The fetch tasks are being stopped, and this one with them.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The robots.txt files that are known, in the data directory.
pub(crate) const ROBOTS_FILE: &str = "robots.json";

/// Those are saved this often, and at the end.
pub(crate) const SAVE_ROBOTS: Duration = Duration::from_secs(300);

/// What the fetch tasks need; an archive only where pages come from the network. The store has counted before what was in
/// flight at an unclean stop.
pub(crate) fn tools(
    loaded: &Loaded,
    mode: &Mode,
    shared: &Arc<Shared>,
    templates: Templates,
    node: Option<NodeLease>,
) -> anyhow::Result<Tools> {
    let config = &loaded.config;
    let archived = config.warc.enabled && !matches!(mode, Mode::Replay { .. });
    let dir = loaded.warc_dir();
    let open = || {
        WarcSink::open(&dir, config.warc.max_bytes)
            .with_context(|| format!("archive in {} cannot be written", dir.display()))
    };
    let agent = config.fetch.robots_token().to_owned();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Tools {
        fetcher: Fetcher::new(config.fetch.clone())?,
        robots: RobotsCache::open(&config.data_dir.join(ROBOTS_FILE), &agent),
        page: config.page.clone(),
        extract: config.crawl.documents.then(|| config.extract.clone()),
        article_pages: config.crawl.article_pages,
        shared: Arc::clone(shared),
        templates,
        archive: archived.then(open).transpose()?.map(Arc::new),
        in_flight: InFlight::open(&config.data_dir),
        node,
        extracting: Arc::new(Semaphore::new(processors)),
    })
}

/// A failure costs the next start some requests and is only logged.
pub(crate) fn save_robots(tools: &Tools, data_dir: &Path) {
    let agent = tools.fetcher.config().robots_token();
    if let Err(error) = tools.robots.save(&data_dir.join(ROBOTS_FILE), agent) {
        tracing::warn!(%error, "robots.txt files could not be saved");
    }
}
