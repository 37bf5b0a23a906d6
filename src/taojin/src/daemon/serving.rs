//! Serves searches during a crawl: a task on a listener that ends when its guard is dropped.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::oneshot;

use super::control::Controller;
use super::control::page_fetcher::PageFetcher;
use super::review::templates::TemplateReviewer;
use super::watchdog::{Liveness, Worker};
use super::{Shared, StatusBoard, TermReviewer, index, status_source};
use crate::config::LoadedConfig;
use crate::documents::{StoreLog, open_index};
use crate::serve::{self, Readiness, ServeState};
use taojin_search::analyze::Analyzer;

pub(super) type Serving = tokio::task::JoinHandle<std::io::Result<()>>;

/// How often the server's task tells that it turns.
const BEAT: Duration = Duration::from_secs(5);

/// Serves beside the crawl, until the sender that is given back is dropped; `None` if there is nothing to listen on.
pub(super) fn start_server(
    loaded: &LoadedConfig,
    listener: Option<tokio::net::TcpListener>,
    analyzer: &Analyzer,
    board: StatusBoard,
    shared: &Arc<Shared>,
) -> anyhow::Result<Option<(oneshot::Sender<()>, Serving)>> {
    let Some(listener) = listener else {
        return Ok(None);
    };
    let log = StoreLog::of_settings(loaded).of_node(shared.node().clone());
    let control = Controller::new(loaded, board.current());
    let control = control.with_pages(PageFetcher::new(loaded, shared));
    let (health, progress) = (Arc::clone(shared), Arc::clone(shared));
    let state = ServeState {
        log: Some(Arc::new(log)),
        sites: Some(Arc::new(control)),
        health: Arc::new(move || stuck(health.liveness())),
        readiness: Arc::new(move || progress.index().readiness(progress.node().is_silent())),
        ..serve_state(loaded, analyzer, board).context("searches cannot be served")?
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let heartbeat = shared.heartbeat(Worker::Server);
    heartbeat.record();
    let serving = serve::serve(listener, state, async move {
        // An error means that the sender was dropped, which is the sign.
        let _ = stopped.await;
    });
    let task = tokio::spawn(async move {
        tokio::pin!(serving);
        let mut beat = tokio::time::interval(BEAT);
        loop {
            tokio::select! {
                ended = &mut serving => return ended,
                _ = beat.tick() => heartbeat.record(),
            }
        }
    });
    Ok(Some((stop, task)))
}

/// Names of the workers that do not get on.
fn stuck(liveness: &Liveness) -> Vec<&'static str> {
    let stuck = liveness.stuck(Instant::now());
    stuck.iter().map(|state| state.worker.name()).collect()
}

/// What a server over this data needs.
pub fn serve_state(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    board: StatusBoard,
) -> anyhow::Result<ServeState> {
    let reader = open_index(loaded, analyzer)?;
    let reader = Arc::new(reader.with_titles(board.titles()));
    // Made now, so that the first search does not wait for it.
    analyzer.dictionary();
    let counted = Arc::clone(&reader);
    Ok(ServeState {
        config: loaded.config.serve.clone(),
        source: reader,
        follows: board.topics(),
        terms: Some(Arc::new(TermReviewer::new(loaded))),
        sites: Some(Arc::new(Controller::new(loaded, board.current()))),
        status: status_source(board, move || counted.num_docs().unwrap_or_default()),
        metrics: metrics_handle()?,
        // Nothing but the server itself works here.
        health: Arc::new(Vec::new),
        readiness: Arc::new(|| Readiness::Ready),
        templates: Some(Arc::new(TemplateReviewer {
            place: loaded.store_place(),
            page: loaded.config.page.clone(),
            extract: loaded.config.extract.clone(),
            max_distance: loaded.config.templates.max_distance,
        })),
        log: Some(Arc::new(StoreLog::of_settings(loaded))),
    })
}

/// The same for a server without a crawl: it is not ready over an index that another process has not completed.
pub fn serve_state_alone(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    board: StatusBoard,
) -> anyhow::Result<ServeState> {
    let progress = index::watch(loaded)?;
    Ok(ServeState {
        readiness: Arc::new(move || progress.readiness(false)),
        ..serve_state(loaded, analyzer, board)?
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
