//! The daemon: starts the threads of the stages and connects them with channels.
//!
//! ```text
//!  crawl loop (thread) ──leases──▶ fetch tasks (threads of their own) ──finished──▶ crawl loop ──documents──▶ indexer (thread)
//! ```
//!
//! [`run`] takes a configuration, [`Options`] and a future that ends when it is to stop, and returns a [`Summary`]. It stops front
//! to back: no new leases, requests under way get a grace, one last transaction, the index catches up.

mod clock;
pub mod control;
mod following;
pub mod index;
mod reloading;
mod serving;
mod shared;
#[cfg(test)]
mod tests;
mod watchdog;

/// The loop, one visit from lease to outcome, what is stored and logged of it.
mod crawl {
    pub(crate) mod archive;
    pub(crate) mod crawl_log;
    pub(crate) mod crawl_status;
    pub(crate) mod crawler;
    pub(crate) mod disk;
    pub(crate) mod interval;
    pub(crate) mod judge;
    pub(crate) mod sharing;
    pub(crate) mod site_rules;
    pub(crate) mod sites;
    pub(crate) mod visit;
}
/// Learning of templates beside the crawl, and templates in use.
mod learn {
    pub(crate) mod learner;
    pub(crate) mod templates;
}
/// What the daemon says of itself: status, counts, systemd.
mod report {
    pub(crate) mod status;
    pub(crate) mod summary;
    pub(crate) mod systemd;
    pub(crate) mod tally;
    pub(crate) mod verdict;
}
/// What a person decides about templates and terms, and the search for terms.
mod review {
    mod fit;
    pub(crate) mod templates;
    pub(crate) mod term_corpus;
    pub(crate) mod terms;
}

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

pub use clock::Clock;
pub use crawl::archive::documents_of_archive;
pub(crate) use crawl::archive::pages_of_archive;
pub use crawl::crawl_log::LogLine;
pub(crate) use crawl::visit::{NO_TEXT, reason_in_chinese};
pub(crate) use learn::templates::{pack, unpack};
pub use reloading::LexiconWatch;
pub(crate) use reloading::titles_of;
pub use report::status::{StatusBoard, status_source};
pub use report::summary::{RestingHost, SiteSummary, Summary};
pub use review::term_corpus::{Budget, ReadDocuments};
pub use review::terms::{DiscoveredTerms, discover_in_index, find_terms_after_crawl};
pub use review::terms::{KeptTerms, TermFacts, TermReviewer, TermSearch};
pub use serving::{serve_state, serve_state_alone};
pub use shared::Shared;

use crate::config::{ConfigError, LoadedConfig};
use crate::documents::IndexAt;
use control::ControlSocket;
use crawl::crawler::{CrawlChannels, Crawler, Event};
use crawl::sharing::{is_outage, wait_for_store};
use crawl::visit::tasks;
use crawl::visit::visitor::{Visitor, open_gate};
use index::Copier;
use learn::learner::open_learner;
use learn::templates::Seen;
use reloading::{Current, pass_on};
use report::systemd;
use review::terms;
use serving::start_server;
use shared::Lifecycle;
use taojin_crawl::store::{Follows, NodeLease, Reader, Store, StorePlace};
use taojin_search::analyze::Analyzer;
use watchdog::{EndedEarly, Worker, watch_over};

/// Room for events beyond one for each connection.
const SPARE_EVENTS: usize = 64;

/// A database that does not answer is waited for so long at each question; then the crawl loop waits itself, and hears what comes
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that a stop gives the indexer, whatever an engine does; what is left is done at the next start.
const INDEX_GRACE: Duration = Duration::from_secs(4);
/// How often is looked whether it is over.
const LOOK_AT_STOP: Duration = Duration::from_millis(100);

/// Told of each fetch as it ends, and of how many known addresses are still to be fetched.
pub type ProgressCallback = Box<dyn FnMut(&LogLine, u64) + Send>;

/// What the daemon does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Crawl each site on its schedule until told to stop.
    Forever,
    /// One cycle of the named sites (of all that are due, if none is named), then end.
    Pass {
        /// Names of sites.
        sites: Vec<String>,
        /// Also ask for every known article again, due or not.
        recheck: bool,
    },
    /// The pages of these WARC or ARC files as if they were fetched now, then end. Asks no server anything.
    Replay {
        /// The files, in the order in which they are read.
        files: Vec<PathBuf>,
    },
    /// Visit this address, as soon as its host may be asked, then end.
    Visit {
        /// The address.
        url: String,
    },
}

/// How to run.
pub struct Options {
    /// What to do.
    pub mode: Mode,
    /// Told of each fetch as it ends.
    pub progress: Option<ProgressCallback>,
    /// Serve the HTTP API and the web page here.
    pub listener: Option<tokio::net::TcpListener>,
    /// The configuration as it is read again while running (SIGHUP), or what is wrong with it: its sites and topics
    /// are taken up, or everything stays as it was.
    pub reload: Option<mpsc::Receiver<Result<LoadedConfig, ConfigError>>>,
    /// What time it is for the crawl.
    pub clock: Clock,
}

impl Options {
    /// Nothing told and nothing served.
    pub fn quiet(mode: Mode) -> Self {
        Self {
            mode,
            progress: None,
            listener: None,
            reload: None,
            clock: Clock::default(),
        }
    }
}

/// A moment as people read it in the log, with its zone.
pub(crate) fn local_time(ms: Option<i64>) -> String {
    ms.and_then(chrono::DateTime::from_timestamp_millis)
        .map_or_else(
            || "never".to_owned(),
            |t| {
                let local = t.with_timezone(&chrono::Local);
                local.format("%Y-%m-%d %H:%M:%S %:z").to_string()
            },
        )
}

/// The clock, in the unit of the whole project: Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// Crawls as the options say until done or until `shutdown` ends. Everything fetched by then is durable; what the
/// index has not taken yet waits in the store for the next start.
pub async fn run(
    loaded: &LoadedConfig,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<Summary> {
    let data_dir = &loaded.config.data_dir;
    std::fs::create_dir_all(data_dir)
        .with_context(|| format!("data directory {} cannot be made", data_dir.display()))?;
    let analyzer = loaded.analyzer()?;
    let mode = options.mode;
    let forever = mode == Mode::Forever;
    let shared = Arc::new(Shared::new(options.clock));
    let (events, mut inbox) = sync_channel(loaded.config.crawl.max_connections + SPARE_EVENTS);
    let lexicons = LexiconWatch::start(loaded, &analyzer)?;
    let current = lexicons.current().subscribe();
    let reloading = options.reload.map(|reload| {
        let current = lexicons.current().clone();
        tokio::spawn(pass_on(reload, Arc::clone(shared.reload()), current))
    });
    let board = StatusBoard::new(loaded, Some(Arc::clone(&shared))).now(current.clone());
    let mut listener = options.listener;
    // The web page's commands come over the socket, too.
    let mut open_doors = || {
        let control = forever.then(|| open_control(data_dir, &events, &shared, board.clone()));
        let listener = listener.take();
        let started = start_server(loaded, listener, &analyzer, board.clone(), &shared)?;
        anyhow::Ok((control, started))
    };
    tokio::pin!(shutdown);
    let mut doors = None;
    let store = match open_store_at(loaded, node_place(loaded, shared.node())) {
        Err(error) if forever && is_outage(&error) && loaded.store_place().has_copy() => {
            doors = Some(open_doors()?);
            let opened = wait_for_store(loaded, &shared, &mut inbox, error, &mut shutdown).await;
            match opened? {
                Some(store) => store,
                None => return Ok(Summary::default()),
            }
        }
        opened => opened?,
    };
    let channel = (events.clone(), inbox);
    let progress = options.progress;
    let sites = current.clone();
    let watched = (analyzer.clone(), sites);
    let (crawl, follows) = Crawl::start(loaded, &mode, store, progress, &shared, channel, watched)?;
    let (control, started) = match doors.map_or_else(open_doors, Ok) {
        Ok(doors) => doors,
        Err(error) => {
            // A daemon without its server would look healthy for ever.
            shared.lifecycle().stop();
            crawl.finish(data_dir).await?;
            return Err(error);
        }
    };
    let (mut stop_serving, mut serving) = started.unzip();
    let serves_forever = forever && loaded.config.cluster.serve;
    let mut following = JoinSet::new();
    if serves_forever {
        following = following::start(loaded, &analyzer, follows, current, shared.crawl());
        terms::start_looking(loaded, &analyzer, &shared)?;
    }
    if forever {
        let sites = loaded.sites.iter().filter(|s| s.enabled).count();
        systemd::ready(&format!("crawling {sites} sites"));
    }
    let ended = watch_over(
        &crawl,
        serving.as_ref(),
        &mut following,
        &mut shutdown,
        data_dir,
        forever,
    )
    .await;
    if shared.node().is_silent() {
        // Nobody knows how long the rest takes.
        drop(stop_serving.take());
    }
    // What is being sent now is sent again after the next start, unless its answer came.
    drop(following);
    if let Some(task) = reloading {
        task.abort();
    }
    let finished = first_failure(crawl.finish(data_dir).await, ended);
    drop((control, lexicons));
    let summary = finished?;
    drop(stop_serving);
    if let Some(task) = serving.take() {
        task.await??;
    }
    Ok(summary)
}

/// What the crawl gave, unless a worker ended early.
fn first_failure(
    finished: anyhow::Result<Summary>,
    ended: Result<(), EndedEarly>,
) -> anyhow::Result<Summary> {
    match (finished, ended) {
        (finished, Ok(())) => finished,
        (Err(error), Err(ended)) => Err(error.context(ended)),
        (Ok(_), Err(ended)) => Err(ended.into()),
    }
}

/// The threads of the crawl: loop, fetch tasks, indexer, learner.
struct Crawl {
    events: SyncSender<Event>,
    visitor: Arc<Visitor>,
    shared: Arc<Shared>,
    seen: SyncSender<Seen>,
    crawling: thread::JoinHandle<anyhow::Result<Summary>>,
    fetching: thread::JoinHandle<()>,
    indexing: thread::JoinHandle<()>,
    learning: thread::JoinHandle<()>,
    /// Where documents are copied from a database.
    copying: Option<thread::JoinHandle<()>>,
}

impl Crawl {
    /// Opens the index and starts the threads; also what the topics wait for.
    fn start(
        loaded: &LoadedConfig,
        mode: &Mode,
        store: Store,
        progress: Option<ProgressCallback>,
        shared: &Arc<Shared>,
        (events, inbox): (SyncSender<Event>, Receiver<Event>),
        (analyzer, current): (Analyzer, watch::Receiver<Current>),
    ) -> anyhow::Result<(Self, Follows)> {
        let is_daemon = *mode == Mode::Forever;
        if let Some(node) = store.lease() {
            shared.clock().go_by(node);
        }
        if is_daemon {
            store.set_patience(PATIENCE);
        }
        let (wake, woken) = sync_channel(1);
        let (wake, copier) = if loaded.copies_documents() {
            let (wake_copier, copier_woken) = sync_channel(1);
            let copier = Copier::open(store.place(), shared, wake)?;
            (wake_copier, Some(move || copier.run(&copier_woken)))
        } else {
            (wake, None)
        };
        let reader = match &copier {
            None => store.reader()?,
            Some(_) => Reader::open(loaded.documents_place())?,
        };
        let indexer = index::start(loaded, &analyzer, reader, shared, is_daemon)?;
        let follows = store.follows()?;
        let (leases, work) = mpsc::channel(loaded.config.crawl.max_connections);
        let (learner, pages, templates, seen) =
            open_learner(loaded, node_place(loaded, shared.node()));
        let node = store.lease();
        let gate = open_gate(loaded, mode, shared)?;
        if !matches!(mode, Mode::Replay { .. }) {
            shared.gate().open(Arc::clone(&gate));
        }
        let channels = CrawlChannels {
            events: inbox,
            gate: Arc::clone(&gate),
            leases,
            wake,
            shared: Arc::clone(shared),
            current,
            progress,
            learner: templates.learner.clone(),
        };
        let crawler = Crawler::open(loaded, mode.clone(), store, channels)?;
        // The frontier has counted what was under way at the last stop: the visitor begins a new list of that.
        let visitor = Visitor::open(loaded, gate, shared, templates, node)?;
        let visitor = Arc::new(visitor);
        shared.heartbeat(Worker::CrawlLoop).record();
        shared.heartbeat(Worker::Fetching).record();
        if loaded.config.cluster.serve {
            shared.heartbeat(Worker::Indexer).record();
        }
        let visiting = Arc::clone(&visitor);
        let visit = move |task| Arc::clone(&visiting).visit(task);
        let threads = Self {
            indexing: spawn_thread("indexer", move || indexer(&woken))?,
            crawling: spawn_thread("crawl-loop", move || crawler.run())?,
            learning: spawn_thread("learner", move || learner.run(&pages))?,
            copying: copier
                .map(|copy| spawn_thread("copier", copy))
                .transpose()?,
            fetching: tasks::start(
                visit,
                work,
                events.clone(),
                shared.heartbeat(Worker::Fetching),
            )?,
            events,
            visitor,
            shared: Arc::clone(shared),
            seen,
        };
        Ok((threads, follows))
    }

    /// Waits for the threads in the order in which they end, and closes what they wrote: all of it, whichever of them went
    /// wrong.
    async fn finish(self, data_dir: &Path) -> anyhow::Result<Summary> {
        let summary = join("the crawl loop", self.crawling).await;
        // The loop held the other end of the leases; with it gone the fetch tasks end.
        let fetched = join("the thread of the fetch tasks", self.fetching).await;
        self.visitor.close(data_dir);
        let seen = self.seen;
        // The learner empties its channel and ends; it is never more than a few pages behind.
        let _ = tokio::task::spawn_blocking(move || seen.send(Seen::Stop)).await;
        let learned = join("the learner", self.learning).await;
        if let Some(copying) = self.copying {
            join("the copier", copying).await?;
        }
        // The loop held the other end of the poke channel; with it gone the indexer finishes.
        let indexed = join_indexer(self.indexing, self.shared.lifecycle()).await;
        let mut summary = summary??;
        fetched.and(indexed).and(learned)?;
        let index = self.shared.index();
        // Without trouble another node takes them in.
        if let Some(trouble) = index.trouble() {
            summary.unfinished.index_waiting = index.lag();
            summary.unfinished.index_trouble = Some(trouble.text);
        }
        Ok(summary)
    }
}

/// The store, for this process as the node that it is or becomes.
fn node_place(loaded: &LoadedConfig, node: &NodeLease) -> StorePlace {
    loaded.store_place().with_lease(node.clone())
}

/// The store of the data directory, with its retention.
pub(crate) fn open_store(loaded: &LoadedConfig) -> anyhow::Result<Store> {
    open_store_at(loaded, loaded.store_place())
}

fn open_store_at(loaded: &LoadedConfig, place: StorePlace) -> anyhow::Result<Store> {
    let mut store = Store::open(place)?;
    index::refuse_lost_store(&loaded.index_dir(), &store)?;
    taojin_search::index::complete_swap(&loaded.index_dir())?;
    taojin_search::index::refuse_newer(&loaded.index_dir())?;
    store.set_retention(loaded.config.documents.retention());
    if let Some(ahead) = index::is_ahead(&IndexAt::new(loaded), &store)? {
        tracing::warn!(
            index = ahead,
            store = store.last_document_seq()?,
            "the index knows later changes than the store: was it restored from a backup? The index is rebuilt"
        );
        store.begin_new_history(ahead)?;
    }
    Ok(store)
}

/// The socket for commands. The daemon runs without it as well; then the reason is in the log.
fn open_control(
    data_dir: &Path,
    events: &SyncSender<Event>,
    shared: &Arc<Shared>,
    board: StatusBoard,
) -> Option<ControlSocket> {
    ControlSocket::open(data_dir, events.clone(), shared, board)
        .inspect_err(
            |error| tracing::error!(error = %format!("{error:#}"), "commands are not taken"),
        )
        .ok()
}

fn spawn_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<thread::JoinHandle<T>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .with_context(|| format!("thread {name} cannot be started"))
}

/// Waits for the indexer: of a daemon that stops not much longer than [`INDEX_GRACE`], whatever an engine does.
async fn join_indexer(
    indexing: thread::JoinHandle<()>,
    lifecycle: &Lifecycle,
) -> anyhow::Result<()> {
    let indexed = join("the indexer", indexing);
    tokio::pin!(indexed);
    let mut look = tokio::time::interval(LOOK_AT_STOP);
    let mut stopping_since: Option<Instant> = None;
    loop {
        tokio::select! {
            indexed = &mut indexed => return indexed,
            _ = look.tick() => {}
        }
        if lifecycle.is_stopping() {
            let since = *stopping_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= INDEX_GRACE {
                lifecycle.engine_stop().stop();
            }
        }
    }
}

/// Waits for a thread without holding up the runtime.
async fn join<T: Send + 'static>(
    name: &'static str,
    handle: thread::JoinHandle<T>,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(move || handle.join())
        .await?
        .map_err(|_| anyhow::anyhow!("{name} has panicked; see the log above"))
}
