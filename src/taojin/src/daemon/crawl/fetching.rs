//! The fetch tasks. In: leases. Out: what became of each visit. One task for each lease; ends with the crawl loop.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::archive::WarcSink;
use super::crawl_loop::Event;
use super::visit;
use super::visit::Tools;
use super::visited::{Finished, Work};
use crate::config::Loaded;
use crate::daemon::learn::templates::Templates;
use crate::daemon::{Mode, Shared};
use taojin_crawl::fetch::{Fetcher, RobotsCache};

/// The robots.txt files that are known, in the data directory.
const ROBOTS_FILE: &str = "robots.json";

/// Those are saved this often, and at the end.
pub(crate) const SAVE_ROBOTS: Duration = Duration::from_secs(300);

/// What the fetch tasks need; an archive only where pages come from the network.
pub(crate) fn tools(
    loaded: &Loaded,
    mode: &Mode,
    shared: &Arc<Shared>,
    templates: Templates,
) -> anyhow::Result<Tools> {
    let config = &loaded.config;
    let archived = config.warc.enabled && !matches!(mode, Mode::Replay { .. });
    let dir = loaded.warc_dir();
    let open = || {
        WarcSink::open(&dir, config.warc.max_bytes)
            .with_context(|| format!("archive in {} cannot be written", dir.display()))
    };
    let agent = config.fetch.robots_token().to_owned();
    Ok(Tools {
        fetcher: Fetcher::new(config.fetch.clone())?,
        robots: RobotsCache::open(&config.data_dir.join(ROBOTS_FILE), &agent),
        page: config.page.clone(),
        extract: config.crawl.documents.then(|| config.extract.clone()),
        shared: Arc::clone(shared),
        templates,
        archive: archived.then(open).transpose()?.map(Arc::new),
    })
}

/// A failure costs the next start some requests and is only logged.
pub(crate) fn save_robots(tools: &Tools, data_dir: &Path) {
    let agent = tools.fetcher.config().robots_token();
    if let Err(error) = tools.robots.save(&data_dir.join(ROBOTS_FILE), agent) {
        tracing::warn!(%error, "robots.txt files could not be saved");
    }
}

/// Starts a visit for each lease; ends when the loop drops its end.
pub(crate) async fn fetch_tasks(
    tools: Arc<Tools>,
    mut work: mpsc::Receiver<Work>,
    events: SyncSender<Event>,
) {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            next = work.recv() => match next {
                Some(work) => {
                    visits.spawn(one_visit(Arc::clone(&tools), work, events.clone()));
                }
                None => return,
            },
            Some(ended) = visits.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a visit did not end by itself");
                }
            }
        }
    }
}

async fn one_visit(tools: Arc<Tools>, work: Work, events: SyncSender<Event>) {
    // A page that brings the parser down is that page's fault: its lease must come back all the same.
    let visit = std::panic::AssertUnwindSafe(visit::visit(&tools, &work)).catch_unwind();
    let (visited, report) = visit.await.unwrap_or_else(|_| visit::panicked(&work.lease));
    let finished = Event::Finished(Box::new(Finished {
        lease: work.lease,
        visited,
        report,
    }));
    // There is room for every connection; the channel is closed only when the crawl is over.
    let _ = events.try_send(finished);
}
