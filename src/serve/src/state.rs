//! The state of a running server, and the way of a request to the index.
//!
//! [`ServeState`] has its parts; `Server` shares them between the handlers. Searches run on threads of their own, never on
//! those that serve clients, and end in time: with a response or a [`Failure`].

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::Value;
use taojin_extract::Document;
use taojin_search::index::{CancellationToken, DateUnit, SiteTitles, Suggestion};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::api::log::DocumentLog;
use crate::api::terms::TermReview;
use crate::config::Config;
use crate::control::{Command, CommandDone, CommandError, SiteControl};
use crate::feeds::follow::Topics;
use crate::guard::client::Client;
use crate::guard::limiter::Limiter;
use crate::guard::operator::Sessions;
use crate::guard::places::Places;
use crate::metrics::{SEARCH_SECONDS, SEARCHES_TOTAL, render_state};
use crate::now_ms;
use crate::pages::help;
use crate::pages::templates::TemplateReview;
use crate::search::examples::Examples;
use crate::search::overview::Overview;
use crate::search::params::Rules;
use crate::search::source::{
    Marked, RecentHit, Related, SearchRequest, SearchResults, SearchSource, SourceError,
};
use crate::search::trends::Trends;
use crate::status::{Readiness, ReadinessSource, Status, StatusSource};

/// A status read so long ago is new enough for `/metrics`: reading one costs more the more hosts there are.
const MEASURED_FOR: Duration = Duration::from_secs(5);
/// Suggestions of one answer: what fits above the keyboard of a phone.
const SUGGESTIONS: usize = 8;
/// Reprints, and documents on the same topic, below a document.
const RELATED: usize = 6;

/// After so long a client that has too many requests waiting may come back: most of them are answered then.
const QUEUE_WAIT: Duration = Duration::from_secs(2);

/// Commands to the crawler at once, and how long one may take: a big site is purged at some thousand addresses a second.
const COMMANDS: usize = 4;
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// Names of the workers of this process that do not get on. Asked often, so it must cost nothing.
pub type HealthSource = Arc<dyn Fn() -> Vec<&'static str> + Send + Sync>;

/// All that a server can reach. The index is only read, changes are carried out by the daemon, and none of it is the file system.
#[derive(Clone)]
pub struct ServeState {
    /// Limits and addresses.
    pub config: Config,
    /// What is searched.
    pub source: Arc<dyn SearchSource>,
    /// Topics that are followed: each has its feeds.
    pub follows: Topics,
    /// Where domain terms are decided about; `None` if there is nothing to decide.
    pub terms: Option<Arc<dyn TermReview>>,
    /// Where commands about sites go; none where nobody could carry them out.
    pub sites: Option<Arc<dyn SiteControl>>,
    /// What `/status` shows.
    pub status: StatusSource,
    /// What `/healthz` goes by.
    pub health: HealthSource,
    /// What `/readyz` and the remarks in answers go by.
    pub readiness: ReadinessSource,
    /// What `/metrics` shows.
    pub metrics: PrometheusHandle,
    /// Where templates are checked; `None` if there is no store.
    pub templates: Option<Arc<dyn TemplateReview>>,
    /// What documents said before, and what changes; `None` if there is no store.
    pub log: Option<Arc<dyn DocumentLog>>,
}

/// A [`ServeState`] made ready for requests.
pub(crate) struct Shared {
    state: ServeState,
    pub(crate) base: String,
    /// The description of the API, without examples.
    pub(crate) openapi: Value,
    /// Who is signed in.
    pub(crate) sessions: Sessions,
    overview: Mutex<Option<Arc<Overview>>>,
    examples: Mutex<Option<Arc<Examples>>>,
    running: Arc<Places>,
    /// Commands wait for the crawler, not for a search.
    commands: Arc<Semaphore>,
    /// The status that `/metrics` showed last, and when it was read.
    measured: Mutex<Option<(Instant, Arc<Status>)>>,
    /// How many documents there are.
    counted: Arc<Counted>,
    started_ms: i64,
}

impl Deref for Shared {
    type Target = ServeState;

    fn deref(&self) -> &ServeState {
        &self.state
    }
}

/// Form in which handlers get it.
pub(crate) type Server = Arc<Shared>;

impl Shared {
    /// `openapi` is the description of the API.
    pub(crate) fn new(state: ServeState, openapi: Value) -> Shared {
        Shared {
            base: state.config.link_base(),
            openapi,
            running: Arc::new(Places::new(
                state.config.concurrent_searches,
                Arc::new(Limiter::new(&state.config)),
            )),
            commands: Arc::new(Semaphore::new(COMMANDS)),
            sessions: Sessions::default(),
            overview: Mutex::new(None),
            examples: Mutex::new(None),
            measured: Mutex::default(),
            counted: Arc::default(),
            started_ms: now_ms(),
            state,
        }
    }

    /// Who may ask.
    pub(crate) fn limiter(&self) -> &Arc<Limiter> {
        self.running.limiter()
    }

    /// How good answers are.
    pub(crate) fn readiness(&self) -> Readiness {
        (self.readiness)()
    }

    /// Searches; the time it took includes waiting for a place.
    pub(crate) async fn search(&self, wanted: SearchRequest) -> Result<SearchResults, Failure> {
        let started = Instant::now();
        let waiting = Waiting::new();
        let wanted = waiting.search(wanted);
        let source = Arc::clone(&self.source);
        let result = self.blocking(move || source.search(&wanted)).await;
        let took = started.elapsed();
        let outcome = match result {
            Ok(_) => "ok",
            Err(Failure::Busy) => "timeout",
            Err(Failure::TooMany(_)) => "refused",
            Err(Failure::Away | Failure::Broken) => "error",
        };
        metrics::histogram!(SEARCH_SECONDS).record(took);
        metrics::counter!(SEARCHES_TOTAL, "outcome" => outcome).increment(1);
        result.map(|found| SearchResults {
            took_ms: took.as_secs_f64() * 1_000.0,
            ..found
        })
    }

    /// Compares searches by date.
    pub(crate) async fn trends(
        &self,
        wanted: Vec<SearchRequest>,
        unit: Option<DateUnit>,
    ) -> Result<Trends, Failure> {
        let waiting = Waiting::new();
        let wanted: Vec<SearchRequest> = wanted.into_iter().map(|w| waiting.search(w)).collect();
        let source = Arc::clone(&self.source);
        self.blocking(move || source.trends(&wanted, unit)).await
    }

    /// What a text that is being typed may become.
    pub(crate) async fn suggest(&self, typed: String) -> Result<Vec<Suggestion>, Failure> {
        let source = Arc::clone(&self.source);
        self.blocking(move || source.suggest(&typed, SUGGESTIONS))
            .await
    }

    /// The hits of a search that came last.
    pub(crate) async fn latest(&self, wanted: SearchRequest) -> Result<Vec<RecentHit>, Failure> {
        let waiting = Waiting::new();
        let wanted = waiting.search(wanted);
        let source = Arc::clone(&self.source);
        self.blocking(move || source.latest(&wanted)).await
    }

    /// The document with this id, if there is one.
    pub(crate) async fn document(&self, id: String) -> Result<Option<Document>, Failure> {
        if !is_id(&id) {
            return Ok(None);
        }
        let source = Arc::clone(&self.source);
        self.blocking(move || source.document(&id)).await
    }

    /// What goes with the document with this id.
    pub(crate) async fn related(&self, id: String) -> Result<Related, Failure> {
        let source = Arc::clone(&self.source);
        self.blocking(move || source.related(&id, RELATED)).await
    }

    /// What the home page shows; a little old, so that no visit waits for what another one has asked just now.
    pub(crate) async fn overview(&self) -> Result<Arc<Overview>, Failure> {
        let known = self.overview.lock();
        let known = known.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| {
            let documents = self.documents().unwrap_or(known.documents);
            known.serves(now_ms(), documents)
        }) {
            return Ok(known);
        }
        let (source, follows) = (Arc::clone(&self.source), (self.follows)());
        let status = self.config.operator_pages.then(|| Arc::clone(&self.status));
        let made = self.blocking(move || {
            let status = status.and_then(|status| {
                let failed = |error: &String| tracing::warn!(%error, "home page without status");
                status().inspect_err(failed).ok()
            });
            Overview::read(&*source, &follows, status, now_ms()).map(Arc::new)
        });
        let made = made.await?;
        *self.overview.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Examples of searches that find something here, read again every few minutes.
    pub(crate) async fn examples(&self) -> Result<Arc<Examples>, Failure> {
        let known = self.examples.lock();
        let known = known.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.serves(now_ms())) {
            return Ok(known);
        }
        let source = Arc::clone(&self.source);
        let now = help::local(now_ms(), self.utc_offset_minutes());
        let made = self.blocking(move || Examples::read(&*source, now).map(Arc::new));
        let made = made.await?;
        *self.examples.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Offset from UTC, in minutes, of times that name none.
    pub(crate) fn utc_offset_minutes(&self) -> i32 {
        self.source.utc_offset_minutes()
    }

    /// Marks the matches of `query` in each text.
    pub(crate) async fn mark(
        &self,
        query: String,
        texts: Vec<String>,
    ) -> Result<Vec<Marked>, Failure> {
        let source = Arc::clone(&self.source);
        self.blocking(move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            Ok(source.mark(&query, &texts))
        })
        .await
    }

    /// Whether a search is answered at all: one rare word, one hit.
    pub(crate) async fn probe(&self) -> Result<(), Failure> {
        let source = Arc::clone(&self.source);
        let waiting = Waiting::new();
        let wanted = waiting.search(SearchRequest {
            text: "淘金".to_owned(),
            limit: 1,
            ..SearchRequest::default()
        });
        self.blocking(move || source.search(&wanted).map(drop))
            .await
    }

    /// What readers call sites.
    pub(crate) fn site_titles(&self) -> SiteTitles {
        self.source.site_titles()
    }

    /// Documents that can be found, at once; `None` if that is not known.
    pub(crate) fn documents(&self) -> Option<u64> {
        self.counted.documents(&self.source)
    }

    /// What a query string is read with.
    pub(crate) fn rules(&self, strict: bool) -> Rules<'_> {
        Rules {
            config: &self.config,
            now_ms: now_ms(),
            utc_offset_minutes: self.source.utc_offset_minutes(),
            strict,
        }
    }

    /// Asks or changes one of the parts that a server may have; `None` if it has not.
    pub(crate) async fn ask<S: ?Sized + Send + Sync + 'static, T: Send + 'static>(
        &self,
        part: &Option<Arc<S>>,
        work: impl FnOnce(&S) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<Option<T>, Failure> {
        let Some(part) = part.clone() else {
            return Ok(None);
        };
        self.blocking(move || work(&part).map(Some)).await
    }

    /// Hands a command to the crawler; the inner error is what it says to it.
    pub(crate) async fn command(
        &self,
        command: Command,
    ) -> Result<Result<CommandDone, CommandError>, Failure> {
        self.ask_crawler(move |sites| sites.execute(command)).await
    }

    /// Asks the crawler for something, a minute at most; the inner error is why it does not do it.
    pub(crate) async fn ask_crawler<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn SiteControl) -> Result<T, CommandError> + Send + 'static,
    ) -> Result<Result<T, CommandError>, Failure> {
        let Some(sites) = self.sites.clone() else {
            let message = "this server has no crawler to ask".to_owned();
            return Ok(Err(CommandError::NoCrawler(message)));
        };
        let place = Arc::clone(&self.commands).acquire_owned();
        let place = async { Ok(place.await.expect("the semaphore is never closed")) };
        run_within(COMMAND_TIME, place, move || Ok(work(&*sites))).await
    }

    /// The status as the source gives it.
    pub(crate) async fn status(&self) -> Result<Status, Failure> {
        let status = Arc::clone(&self.status);
        self.blocking(move || status().map_err(SourceError::Failed))
            .await
    }

    /// What `/metrics` shows: what was counted, and the state of a few seconds ago at most.
    pub(crate) async fn figures(&self) -> String {
        let status = self.recent_status().await;
        let mut text = self.metrics.render();
        text.push_str(&render_state(
            status.as_deref(),
            self.documents(),
            self.started_ms,
        ));
        text
    }

    /// How far the index is behind the store where that is too far to be asked.
    pub(crate) async fn too_far_behind(&self) -> Option<Duration> {
        let most_ms = match self.config.max_lag_ms {
            0 => return None,
            ms => ms,
        };
        let lag_ms = self.recent_status().await?.index.index_lag_ms;
        (lag_ms > most_ms).then(|| Duration::from_millis(lag_ms))
    }

    /// The state of a few seconds ago at most; `None` if it cannot be read.
    async fn recent_status(&self) -> Option<Arc<Status>> {
        let kept = || self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = kept().clone().filter(|(at, _)| at.elapsed() < MEASURED_FOR);
        if let Some((_, status)) = recent {
            return Some(status);
        }
        let status = self.status().await.ok().map(Arc::new);
        *kept() = status.clone().map(|status| (Instant::now(), status));
        status
    }

    /// Runs `work` on a blocking thread, at most so many at a time, and waits for it until the time limit. Clients take turns. It is
    /// the one place outside the daemon that leaves the task: a search is plain computation over mapped files, and
    /// on a runtime thread it would stop every other client. What runs on after the time limit keeps its place, so
    /// that slow searches cannot pile up.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, Failure> {
        let limit = Duration::from_millis(self.config.time_limit_ms);
        let client = Client::current();
        let place = async {
            let place = self.running.acquire(client).await;
            let place = place.ok_or(Failure::TooMany(QUEUE_WAIT))?;
            // What it asked for before may have used up its allowance while this waited.
            let checked = self.limiter().check(client, Instant::now());
            checked.map_err(Failure::TooMany).map(|()| place)
        };
        run_within(limit, place, work).await
    }
}

/// Waits for a place and runs `work` in it on a blocking thread, both within a time.
async fn run_within<P: Send + 'static, T: Send + 'static>(
    limit: Duration,
    place: impl Future<Output = Result<P, Failure>>,
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, Failure> {
    let deadline = Instant::now() + limit;
    let place = timeout_at(deadline, place)
        .await
        .map_err(|_| Failure::Busy)??;
    let task = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(place);
        result
    });
    match timeout_at(deadline, task).await {
        Err(_) => Err(Failure::Busy),
        Ok(Ok(Ok(value))) => Ok(value),
        Ok(Ok(Err(error))) => {
            tracing::error!(%error, "request failed");
            Err(error.into())
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "request panicked");
            Err(Failure::Broken)
        }
    }
}

/// Whether a text can be an id at all: short, and of characters that mean nothing anywhere.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// An answer is as good as new for so long.
const FRESH: Duration = Duration::from_secs(2);

/// What was answered last.
#[derive(Debug, Default)]
struct Known {
    documents: Option<u64>,
    answered: Option<Instant>,
    /// Whether an answer is being waited for.
    asks: bool,
}

/// The number of documents.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Known>);

impl Counted {
    /// The number; `None` if the source cannot tell, or has not answered yet.
    pub(crate) fn documents(self: &Arc<Self>, source: &Arc<dyn SearchSource>) -> Option<u64> {
        if !source.is_remote() {
            return source.documents();
        }
        let mut known = self.known();
        let is_old = known.answered.is_none_or(|at| at.elapsed() >= FRESH);
        if is_old
            && !known.asks
            && let Ok(runtime) = Handle::try_current()
        {
            known.asks = true;
            let (own, source) = (Arc::clone(self), Arc::clone(source));
            runtime.spawn_blocking(move || {
                let documents = source.documents();
                *own.known() = Known {
                    documents,
                    answered: Some(Instant::now()),
                    asks: false,
                };
            });
        }
        known.documents
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops searches when it is dropped.
pub(super) struct Waiting(CancellationToken);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Waiting {
    /// Somebody waits.
    pub(super) fn new() -> Self {
        Self(CancellationToken::default())
    }

    /// A search that ends with the waiting.
    pub(super) fn search(&self, wanted: SearchRequest) -> SearchRequest {
        SearchRequest {
            stop: self.0.clone(),
            ..wanted
        }
    }
}

/// Why a request got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Not done within the time limit.
    Busy,
    /// The client has too many requests waiting or has used up its allowance, and may come back after this time.
    TooMany(Duration),
    /// The engine that keeps the index does not answer; the log has the reason.
    Away,
    /// The index or the status source failed; the log has the reason.
    Broken,
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Away(_) => Self::Away,
            SourceError::Failed(_) => Self::Broken,
        }
    }
}
