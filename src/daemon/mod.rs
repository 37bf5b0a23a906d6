//! The daemon: the only place that spawns. It wires the stages with channels and nothing else:
//!
//! ```text
//!  crawl loop (thread) ──leases──▶ fetch tasks (tokio) ──finished──▶ crawl loop ──outbox──▶ indexer (thread)
//! ```
//!
//! In: a configuration, what to do, a future that ends when it is to stop. Out: a [`Summary`]. Stops front to back:
//! no new leases, requests under way get a grace, one last transaction, the index catches up.

mod body;
mod crawl_log;
mod crawl_loop;
mod indexer;
mod settle;
mod shared;
mod site_run;
mod status;
mod summary;
mod systemd;
mod visit;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use crawl_log::LogLine;
pub use shared::Shared;
pub(crate) use site_run::scope;
pub use status::{StatusBoard, status_source};
pub use summary::Summary;

use crate::analyze::Analyzer;
use crate::config::Loaded;
use crate::fetch::{Fetcher, RobotsCache};
use crate::frontier::{Frontier, Lease};
use crate::index::{Reader, Writer};
use crate::schedule::Site;
use crate::serve::{self, ServeState};
use crate::store::{self, Store};
use crawl_log::CrawlLog;
use crawl_loop::{CrawlLoop, Event};
use indexer::Indexer;
use settle::Finished;
use shared::STUCK_MS;
use visit::Tools;

/// Room for events beyond one for each connection.
const SPARE_EVENTS: usize = 64;

/// Told of each fetch as it ends.
pub type Progress = Box<dyn FnMut(&LogLine) + Send>;

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
}

/// How to run.
pub struct Options {
    /// What to do.
    pub mode: Mode,
    /// Told of each fetch as it ends.
    pub progress: Option<Progress>,
    /// Serve the HTTP API and the web page here.
    pub listener: Option<tokio::net::TcpListener>,
    /// Sites to take up while running (SIGHUP).
    pub reload: Option<mpsc::Receiver<Vec<Site>>>,
}

impl Options {
    /// Nothing told and nothing served.
    pub fn quiet(mode: Mode) -> Self {
        Self {
            mode,
            progress: None,
            listener: None,
            reload: None,
        }
    }
}

/// The clock, in the unit of the whole project: Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// Crawls as the options say until done or until `shutdown` ends. Everything fetched by then is durable; what the
/// index has not taken yet waits in the outbox for the next start.
pub async fn run(
    loaded: &Loaded,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<Summary> {
    let data_dir = &loaded.config.data_dir;
    std::fs::create_dir_all(data_dir)
        .with_context(|| format!("data directory {} cannot be made", data_dir.display()))?;
    let store = Store::open(data_dir)?;
    let analyzer = Analyzer::new(&loaded.lexicons()?);
    let writer = Writer::open(&loaded.index_dir(), &analyzer, &loaded.config.index)?;
    let shared = Arc::new(Shared::default());
    shared.beat(now_ms());
    shared.set_indexed(writer.last_seq());

    let (poke, poked) = sync_channel(1);
    let indexer = Indexer {
        dir: loaded.index_dir(),
        config: loaded.config.index.clone(),
        analyzer: analyzer.clone(),
        reader: store::Reader::open(data_dir)?,
        writer: Some(writer),
        shared: Arc::clone(&shared),
    };
    let (events, inbox) = sync_channel(loaded.config.crawl.max_connections + SPARE_EVENTS);
    let (leases, work) = mpsc::channel(loaded.config.crawl.max_connections);
    let forever = options.mode == Mode::Forever;
    let crawl = open_loop(
        loaded,
        options.mode,
        store,
        Wiring {
            inbox,
            leases,
            poke,
            shared: Arc::clone(&shared),
        },
    )?;
    let crawl = CrawlLoop {
        progress: options.progress,
        ..crawl
    };
    let tools = Arc::new(Tools {
        fetcher: Fetcher::new(loaded.config.fetch.clone())?,
        robots: RobotsCache::new(),
        page: loaded.config.page.clone(),
        extract: loaded.config.extract.clone(),
        shared: Arc::clone(&shared),
    });

    let indexing = spawn_thread("indexer", move || indexer.run(&poked))?;
    let crawling = spawn_thread("crawl-loop", move || crawl.run())?;
    let fetching = tokio::spawn(fetch_tasks(tools, work, events.clone()));
    let reloading = options
        .reload
        .map(|r| tokio::spawn(forward_sites(r, events.clone())));
    let (stop_serving, serving) = start_server(loaded, options.listener, &analyzer, &shared);
    if forever {
        systemd::ready(&format!(
            "crawling {} sites",
            loaded.sites.iter().filter(|s| s.enabled).count()
        ));
    }

    let mut watch =
        tokio::time::interval(systemd::watchdog_interval().unwrap_or(Duration::from_secs(10)));
    tokio::pin!(shutdown);
    let mut stopping = false;
    while !crawling.is_finished() {
        tokio::select! {
            () = &mut shutdown, if !stopping => {
                stopping = true;
                systemd::stopping();
                tracing::info!("stopping");
                // A full channel is emptied by the loop at once; a closed one means it has ended.
                let _ = events.try_send(Event::Stop);
            }
            _ = watch.tick() => tick(&shared, forever),
            () = tokio::time::sleep(Duration::from_millis(50)), if stopping || !forever => {}
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
        }
    }
    fetching.abort();
    if let Some(task) = reloading {
        task.abort();
    }
    let summary = join(crawling).await??;
    // The loop held the other end of the poke channel; with it gone the indexer finishes.
    join(indexing).await?;
    drop(stop_serving);
    if let Some(task) = serving {
        task.await??;
    }
    Ok(summary)
}

/// The ends of the channels that the crawl loop holds.
struct Wiring {
    inbox: std::sync::mpsc::Receiver<Event>,
    leases: mpsc::Sender<Lease>,
    poke: SyncSender<()>,
    shared: Arc<Shared>,
}

fn open_loop(
    loaded: &Loaded,
    mode: Mode,
    mut store: Store,
    wiring: Wiring,
) -> anyhow::Result<CrawlLoop> {
    let config = &loaded.config;
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
    let frontier = Frontier::open(&mut store, config.frontier.clone())?;
    wiring
        .shared
        .set_outbox(u64::try_from(store.last_outbox_seq()?).unwrap_or_default());
    let mut crawl = CrawlLoop {
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
        shared: wiring.shared,
        progress: None,
        summary: Summary::begin(now_ms()),
        batch: store::Batch::default(),
        batch_since_ms: 0,
        stop_at: None,
    };
    crawl.take_sites(&loaded.sites, now_ms())?;
    Ok(crawl)
}

/// Starts a visit for each lease; ends when the loop drops its end.
async fn fetch_tasks(
    tools: Arc<Tools>,
    mut work: mpsc::Receiver<Lease>,
    events: SyncSender<Event>,
) {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            lease = work.recv() => match lease {
                Some(lease) => {
                    visits.spawn(one_visit(Arc::clone(&tools), lease, events.clone()));
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

async fn one_visit(tools: Arc<Tools>, lease: Lease, events: SyncSender<Event>) {
    // A page that brings the parser down is that page's fault: its lease must come back all the same.
    let visit = std::panic::AssertUnwindSafe(visit::visit(&tools, &lease)).catch_unwind();
    let (visited, report) = visit.await.unwrap_or_else(|_| visit::panicked(&lease));
    let finished = Event::Finished(Box::new(Finished {
        lease,
        visited,
        report,
    }));
    // There is room for every connection; the channel is closed only when the crawl is over.
    let _ = events.try_send(finished);
}

async fn forward_sites(mut reload: mpsc::Receiver<Vec<Site>>, events: SyncSender<Event>) {
    while let Some(sites) = reload.recv().await {
        let _ = events.try_send(Event::Sites(sites));
    }
}

type Serving = tokio::task::JoinHandle<std::io::Result<()>>;

/// Serves beside the crawl, until the sender that is given back is dropped.
fn start_server(
    loaded: &Loaded,
    listener: Option<tokio::net::TcpListener>,
    analyzer: &Analyzer,
    shared: &Arc<Shared>,
) -> (Option<tokio::sync::oneshot::Sender<()>>, Option<Serving>) {
    let Some(listener) = listener else {
        return (None, None);
    };
    let board = StatusBoard::of(loaded, Some(Arc::clone(shared)));
    let state = match serve_state(loaded, analyzer, board) {
        Ok(state) => state,
        Err(error) => {
            tracing::error!(error = %error, "searches are not served");
            return (None, None);
        }
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(serve::serve(listener, state, async move {
        // An error means that the sender was dropped, which is the sign.
        let _ = stopped.await;
    }));
    (Some(stop), Some(task))
}

/// What a server over this data needs.
pub fn serve_state(
    loaded: &Loaded,
    analyzer: &Analyzer,
    board: StatusBoard,
) -> anyhow::Result<ServeState> {
    let reader = Arc::new(Reader::open(
        &loaded.index_dir(),
        analyzer,
        &loaded.config.index,
    )?);
    let counted = Arc::clone(&reader);
    Ok(ServeState {
        config: loaded.config.serve.clone(),
        source: reader,
        status: status_source(board, move || counted.num_docs().unwrap_or_default()),
        metrics: metrics_handle()?,
    })
}

/// The process counts once, whoever asks first.
fn metrics_handle() -> anyhow::Result<PrometheusHandle> {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(handle.clone());
    }
    let handle = serve::metrics::install()?;
    Ok(HANDLE.get_or_init(|| handle).clone())
}

fn tick(shared: &Shared, forever: bool) {
    if shared.is_stuck(now_ms()) {
        tracing::error!("the crawl loop has not turned for {} s", STUCK_MS / 1000);
    } else {
        systemd::alive();
    }
    if forever {
        systemd::status(&format!(
            "crawling, {} documents on their way to the index",
            shared.outbox_lag()
        ));
    }
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

/// Waits for a thread without holding up the runtime.
async fn join<T: Send + 'static>(handle: thread::JoinHandle<T>) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(move || handle.join())
        .await?
        .map_err(|_| anyhow::anyhow!("a thread of the daemon has panicked; see the log above"))
}

/// Whether `dir` can hold the data of a crawl; for `check`.
pub fn data_dir_problem(dir: &Path) -> Option<String> {
    (dir.exists() && !dir.is_dir())
        .then(|| format!("data_dir = \"{}\": is not a directory", dir.display()))
}
