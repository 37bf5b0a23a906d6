//! Watches over the daemon while it runs. In: its threads and tasks, their marks, the sign to stop. Out: what systemd is
//! told, and the name of a worker that ended before its time: without it the daemon would be half alive, so it stops and
//! says so. Never restarts anything itself: that is systemd's work.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::crawl::state::Event;
use super::crawl::tools::{SAVE_ROBOTS, save_robots};
use super::report::systemd;
use super::serving::Serving;
use super::{Crawl, Shared};

/// How often systemd is told without a watchdog of its own.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// How often is looked whether a thread has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same while the end is waited for.
const LOOK_AT_END: Duration = Duration::from_millis(50);

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
    let shared = &crawl.tools.shared;
    let mut watch = tokio::time::interval(systemd::watchdog_interval().unwrap_or(TELL_EVERY));
    let mut save = tokio::time::interval_at(tokio::time::Instant::now() + SAVE_ROBOTS, SAVE_ROBOTS);
    tokio::pin!(shutdown);
    let (mut stopping, mut ended) = (false, Ok(()));
    let stop = || {
        shared.set_stopping();
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
            _ = watch.tick() => tell(shared, forever),
            _ = save.tick() => save_robots(&crawl.tools, data_dir),
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
    let is_over = crawl.tools.shared.is_over();
    ended.map(|(name, _)| name).filter(|_| !is_over)
}

/// Tells systemd that all workers get on, or nothing: then it starts the service again.
fn tell(shared: &Shared, forever: bool) {
    let states = shared.liveness().states(Instant::now());
    if !states.iter().any(|state| state.stuck) {
        systemd::alive();
    }
    for state in states.iter().filter(|state| state.stuck) {
        let idle_s = state.idle.as_secs();
        tracing::error!(
            idle_s,
            "stuck: {state}; without progress the service is started again"
        );
    }
    if forever {
        let paused = shared.paused().map(|why| format!("paused: {why}"));
        let state = shared.trouble(Instant::now()).or(paused);
        let state = state.or_else(|| shared.refused());
        let lag = shared.index_lag();
        systemd::status(
            &state
                .unwrap_or_else(|| format!("crawling, {lag} documents on their way to the index")),
        );
    }
}
