//! Detects workers of the daemon that are stuck or have ended.
//!
//! Each worker records a heartbeat when it has done something or found nothing to do, and what keeps it waiting. The watchdog
//! reports which do not progress, since when and why, to the status and to systemd. If a worker ends before its time the
//! daemon stops and says so, since it would be half alive; it never restarts anything itself: that is systemd's work.
//! [`Liveness`] takes times of a clock that never jumps; a worker's [`Heartbeat`] passes in the present.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::crawl::crawler::Event;
use super::crawl::visit::visitor::SAVE_ROBOTS;
use super::report::systemd;
use super::serving::Serving;
use super::shared::lock;
use super::{Crawl, Shared};
use crate::serve::{Words, worker_in_chinese};

/// A commit on a slow disk takes a second or two, taking out a big site tells of itself meanwhile.
const CRAWL_LOOP_LIMIT: Duration = Duration::from_secs(45);
/// The longest visit: a minute for robots.txt, a minute for each of some redirects, then extraction. While pages are
/// under way, one of them must end within this time.
const FETCHING_LIMIT: Duration = Duration::from_secs(15 * 60);
/// A commit writes out up to 256 MB of postings; an index that cannot be opened is tried again meanwhile.
const INDEXER_LIMIT: Duration = Duration::from_secs(3 * 60);
/// The server's task tells of itself every few seconds.
const SERVER_LIMIT: Duration = Duration::from_secs(45);

/// How often systemd is told without a watchdog of its own.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// How often is looked whether a thread has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same while the end is waited for.
const LOOK_AT_END: Duration = Duration::from_millis(50);

/// A worker without which the daemon is only half alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worker {
    /// Commits pages and hands out leases.
    CrawlLoop,
    /// Visits pages.
    Fetching,
    /// Carries documents into the index.
    Indexer,
    /// Answers readers.
    Server,
}

impl Worker {
    /// All of them.
    pub(super) const ALL: [Worker; 4] = [
        Worker::CrawlLoop,
        Worker::Fetching,
        Worker::Indexer,
        Worker::Server,
    ];

    /// Name as printed, logged and answered.
    pub(super) fn name(self) -> &'static str {
        match self {
            Worker::CrawlLoop => "crawl loop",
            Worker::Fetching => "fetching",
            Worker::Indexer => "indexer",
            Worker::Server => "server",
        }
    }

    /// Time after its last mark from which it counts as stuck.
    pub(super) fn limit(self) -> Duration {
        match self {
            Worker::CrawlLoop => CRAWL_LOOP_LIMIT,
            Worker::Fetching => FETCHING_LIMIT,
            Worker::Indexer => INDEXER_LIMIT,
            Worker::Server => SERVER_LIMIT,
        }
    }
}

/// The last marks of all workers.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    marks: [Mutex<Option<Checkpoint>>; Worker::ALL.len()],
}

#[derive(Debug, Clone)]
struct Checkpoint {
    at: Instant,
    /// Time that the step which begins there may take.
    limit: Duration,
    /// What is in its way.
    problem: Option<String>,
}

/// How a worker does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkerState {
    /// Which one.
    pub worker: Worker,
    /// Time since its last mark.
    pub idle: Duration,
    /// Whether that is longer than it may take.
    pub stuck: bool,
    /// What is in its way, if it says so.
    pub problem: Option<String>,
}

impl Liveness {
    /// The worker has got on, or has nothing to do; whatever stood in its way is over.
    pub(super) fn record_heartbeat(&self, worker: Worker, now: Instant) {
        self.expect_within(worker, now, worker.limit());
    }

    /// The same, before a step that may take up to `limit`, where that is longer than usual.
    pub(super) fn expect_within(&self, worker: Worker, now: Instant, limit: Duration) {
        self.set(worker, now, limit.max(worker.limit()), None);
    }

    /// The worker cannot get on, for the reason given, and tries again. Its last mark stays: one that tries for too long is
    /// stuck.
    pub(super) fn fails(&self, worker: Worker, now: Instant, problem: String) {
        let at = self.mark(worker).as_ref().map_or(now, |mark| mark.at);
        self.set(worker, at, worker.limit(), Some(problem));
    }

    /// The worker waits for something that a new start would not bring either, such as room on the disk.
    pub(super) fn waits(&self, worker: Worker, now: Instant, problem: String) {
        self.set(worker, now, worker.limit(), Some(problem));
    }

    fn set(&self, worker: Worker, at: Instant, limit: Duration, problem: Option<String>) {
        *self.mark(worker) = Some(Checkpoint { at, limit, problem });
    }

    /// How the workers that were started do.
    pub(super) fn states(&self, now: Instant) -> Vec<WorkerState> {
        let state = |worker: Worker| {
            let mark = self.mark(worker).clone()?;
            let idle = now.saturating_duration_since(mark.at);
            Some(WorkerState {
                worker,
                idle,
                stuck: idle > mark.limit,
                problem: mark.problem,
            })
        };
        Worker::ALL.into_iter().filter_map(state).collect()
    }

    /// Those of them that are stuck.
    pub(super) fn stuck(&self, now: Instant) -> Vec<WorkerState> {
        let mut states = self.states(now);
        states.retain(|state| state.stuck);
        states
    }

    /// Which workers do not get on, and why; `None` when all do.
    pub(super) fn trouble(&self, now: Instant) -> Option<Words> {
        let mut states = self.states(now);
        states.retain(|state| state.stuck || state.problem.is_some());
        let (en, zh): (Vec<String>, Vec<String>) = states
            .iter()
            .map(|state| (state.to_string(), state.in_chinese()))
            .unzip();
        (!en.is_empty()).then(|| Words::new(en.join("; "), zh.join("；")))
    }

    fn mark(&self, worker: Worker) -> MutexGuard<'_, Option<Checkpoint>> {
        lock(&self.marks[worker as usize])
    }
}

/// By what one worker reports how it does, at the moment of each call.
#[derive(Debug, Clone)]
pub(super) struct Heartbeat {
    liveness: Arc<Liveness>,
    worker: Worker,
}

impl Heartbeat {
    pub(super) fn new(liveness: Arc<Liveness>, worker: Worker) -> Self {
        Self { liveness, worker }
    }

    /// Records that the worker has got on, or has nothing to do.
    pub(super) fn record(&self) {
        self.liveness.record_heartbeat(self.worker, Instant::now());
    }

    /// The same, before a step that may take up to `limit`, where that is longer than usual.
    pub(super) fn expect_within(&self, limit: Duration) {
        (self.liveness).expect_within(self.worker, Instant::now(), limit);
    }

    /// Reports that the worker cannot get on and tries again: one that tries for too long is stuck.
    pub(super) fn fails(&self, problem: impl Display) {
        let problem = format!("{problem:#}");
        self.liveness.fails(self.worker, Instant::now(), problem);
    }

    /// Reports that the worker waits for something that a new start would not bring either.
    pub(super) fn waits(&self, problem: impl Display) {
        let problem = format!("{problem:#}");
        self.liveness.waits(self.worker, Instant::now(), problem);
    }
}

impl std::fmt::Display for WorkerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.worker.name();
        match (&self.problem, self.stuck) {
            (Some(problem), _) => write!(f, "{name}: {problem}"),
            (None, true) => write!(f, "{name}: no progress for {} s", self.idle.as_secs()),
            (None, false) => write!(f, "{name}: works"),
        }
    }
}

impl WorkerState {
    /// The same for a person who reads Chinese. What an error says stays as it is.
    fn in_chinese(&self) -> String {
        let name = worker_in_chinese(self.worker.name());
        match (&self.problem, self.stuck) {
            (Some(problem), _) => format!("{name}：{problem}"),
            (None, true) => format!("{name}：{} 秒没有进展", self.idle.as_secs()),
            (None, false) => format!("{name}：正常"),
        }
    }
}

/// A worker that ended although nobody told it to.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} has ended unexpectedly (the log above says why): the daemon has stopped so that it can be started again, nothing \
     that was fetched is lost"
)]
pub(super) struct EndedEarly(&'static str);

/// Waits for the end of the crawl: passes the sign to stop on, tells systemd how it goes, saves what is worth it. Gives the
/// worker that ended early, if one did.
pub(super) async fn watch_over(
    crawl: &Crawl,
    serving: Option<&Serving>,
    following: &mut JoinSet<()>,
    shutdown: impl Future<Output = ()>,
    data_dir: &Path,
    forever: bool,
) -> Result<(), EndedEarly> {
    let shared = &crawl.shared;
    let mut watch = tokio::time::interval(systemd::watchdog_interval().unwrap_or(TELL_EVERY));
    let mut save = tokio::time::interval_at(tokio::time::Instant::now() + SAVE_ROBOTS, SAVE_ROBOTS);
    tokio::pin!(shutdown);
    let (mut stopping, mut ended) = (false, Ok(()));
    let stop = || {
        shared.lifecycle().stop();
        shared.node().hurry();
        systemd::stopping();
        // Wakes the loop up; with a full channel it is awake and sees the sign.
        let _ = crawl.events.try_send(Event::Stop);
    };
    while !crawl.crawling.is_finished() {
        if !stopping && let Some(name) = ended_early(crawl, serving, following) {
            stopping = true;
            ended = Err(EndedEarly(name));
            tracing::error!("{name} has ended unexpectedly, stopping");
            stop();
        }
        tokio::select! {
            () = &mut shutdown, if !stopping => {
                stopping = true;
                tracing::info!("stopping");
                stop();
            }
            _ = watch.tick() => notify_systemd(shared, forever),
            _ = save.tick() => crawl.visitor.save_robots(data_dir),
            () = tokio::time::sleep(LOOK_AT_END), if stopping || !forever => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
    ended
}

/// A worker that is no longer there. None of them ends before the crawl loop.
fn ended_early(
    crawl: &Crawl,
    serving: Option<&Serving>,
    following: &mut JoinSet<()>,
) -> Option<&'static str> {
    let panicked = following.try_join_next().is_some_and(|end| end.is_err());
    let workers = [
        ("the indexer", crawl.indexing.is_finished()),
        (
            "the thread of the fetch tasks",
            crawl.fetching.is_finished(),
        ),
        ("the learner", crawl.learning.is_finished()),
        ("the server", serving.is_some_and(Serving::is_finished)),
        ("the task that sends webhooks", panicked),
    ];
    let ended = workers.into_iter().find(|(_, has_ended)| *has_ended);
    // The loop may have ended between two looks, and the others after it.
    let is_over = crawl.shared.lifecycle().is_crawl_over();
    ended.map(|(name, _)| name).filter(|_| !is_over)
}

/// Tells systemd that all workers get on, or nothing: then it starts the service again.
fn notify_systemd(shared: &Shared, forever: bool) {
    let stuck = shared.liveness().stuck(Instant::now());
    if stuck.is_empty() {
        systemd::alive();
    }
    for state in &stuck {
        let idle_s = state.idle.as_secs();
        tracing::error!(
            idle_s,
            "stuck: {state}; without progress the service is started again"
        );
    }
    if forever {
        let paused = shared
            .pause()
            .reason()
            .map(|why| format!("paused: {}", why.en));
        let trouble = shared.liveness().trouble(Instant::now());
        let state = trouble.map(|trouble| trouble.en).or(paused);
        let state = state.or_else(|| shared.reload().problem().map(|problem| problem.en));
        let lag = shared.index().lag();
        systemd::status(
            &state
                .unwrap_or_else(|| format!("crawling, {lag} documents on their way to the index")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn watchdog_names_stuck_worker() {
        for stopped in Worker::ALL {
            let (liveness, start) = (Liveness::default(), Instant::now());
            for worker in Worker::ALL {
                liveness.record_heartbeat(worker, start);
            }
            let later = start + stopped.limit() + SECOND;
            for worker in Worker::ALL.into_iter().filter(|w| *w != stopped) {
                liveness.record_heartbeat(worker, later);
            }
            assert!(
                liveness
                    .stuck(start + stopped.limit())
                    .iter()
                    .all(|s| s.worker != stopped)
            );
            let stuck = liveness.stuck(later);
            assert_eq!(stuck.len(), 1, "{stuck:?}");
            assert_eq!(stuck[0].worker, stopped);
            assert!(stuck[0].to_string().starts_with(stopped.name()));
            let trouble = liveness.trouble(later).expect("a stuck worker");
            let chinese = worker_in_chinese(stopped.name());
            assert_ne!(chinese, stopped.name());
            let idle_s = (stopped.limit() + SECOND).as_secs();
            assert_eq!(trouble.zh, format!("{chinese}：{idle_s} 秒没有进展"));
        }
    }

    #[test]
    fn watchdog_ignores_unstarted_worker() {
        let (liveness, now) = (Liveness::default(), Instant::now());
        liveness.record_heartbeat(Worker::Indexer, now);
        assert_eq!(liveness.states(now).len(), 1);
    }

    #[test]
    fn watchdog_reports_endless_retries() {
        let (liveness, start) = (Liveness::default(), Instant::now());
        liveness.record_heartbeat(Worker::Indexer, start);
        let mut now = start;
        while now <= start + INDEXER_LIMIT {
            now += 5 * SECOND;
            liveness.fails(Worker::Indexer, now, "it cannot be opened".to_owned());
        }
        let stuck = liveness.stuck(now);
        assert_eq!(stuck[0].to_string(), "indexer: it cannot be opened");
        liveness.record_heartbeat(Worker::Indexer, now);
        assert_eq!(liveness.states(now)[0].problem, None);
        assert!(liveness.stuck(now).is_empty());
    }

    #[test]
    fn watchdog_tolerates_full_disk() {
        let (liveness, now) = (Liveness::default(), Instant::now());
        liveness.waits(Worker::CrawlLoop, now, "no space left".to_owned());
        let state = &liveness.states(now + SECOND)[0];
        assert!(!state.stuck && state.problem.is_some());
    }

    #[test]
    fn watchdog_limits_long_steps() {
        let (liveness, now) = (Liveness::default(), Instant::now());
        let long = INDEXER_LIMIT * 4;
        liveness.expect_within(Worker::Indexer, now, long);
        assert!(liveness.stuck(now + long).is_empty());
        assert_eq!(liveness.stuck(now + long + SECOND).len(), 1);
    }
}
