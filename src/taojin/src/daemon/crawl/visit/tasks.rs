//! The fetch tasks: one for each lease, on threads of their own, so that a page which takes seconds to extract holds up no reader of
//! the same process. They end with the crawl loop.

use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tokio::runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::EndedLease;
use super::visitor::VisitTask;
use crate::daemon::crawl::crawler::Event;
use crate::daemon::spawn_thread;
use crate::daemon::watchdog::Heartbeat;

/// How often an idle runtime tells that it turns.
const BEAT: Duration = Duration::from_secs(5);

/// Starts the thread that makes a visit for each lease with `visit`; it ends when the crawl loop drops its end.
pub(crate) fn start<V, F>(
    visit: V,
    work: mpsc::Receiver<VisitTask>,
    events: SyncSender<Event>,
    heartbeat: Heartbeat,
) -> anyhow::Result<thread::JoinHandle<()>>
where
    V: Fn(VisitTask) -> F + Send + 'static,
    F: Future<Output = EndedLease> + Send + 'static,
{
    let runtime = runtime::Builder::new_multi_thread()
        .thread_name("fetch")
        .enable_all()
        .build()
        .context("the threads of the fetch tasks cannot be started")?;
    spawn_thread("fetch-tasks", move || {
        runtime.block_on(fetch_tasks(visit, work, events, &heartbeat));
        // A page that is still being extracted is not waited for: its URL is due as before.
        runtime.shutdown_background();
    })
}

async fn fetch_tasks<V, F>(
    visit: V,
    mut work: mpsc::Receiver<VisitTask>,
    events: SyncSender<Event>,
    heartbeat: &Heartbeat,
) where
    V: Fn(VisitTask) -> F,
    F: Future<Output = EndedLease> + Send + 'static,
{
    let mut visits = JoinSet::new();
    let mut beat = tokio::time::interval(BEAT);
    loop {
        // While pages are under way, only the end of one is progress.
        if visits.is_empty() {
            heartbeat.record();
        }
        tokio::select! {
            next = work.recv() => match next {
                Some(work) => {
                    let finished = visit(work);
                    let events = events.clone();
                    visits.spawn(async move {
                        let finished = Event::Finished(Box::new(finished.await));
                        // There is room for every connection; the channel is closed only when the crawl is over.
                        let _ = events.try_send(finished);
                    });
                }
                None => return,
            },
            _ = beat.tick() => {}
            Some(ended) = visits.join_next() => {
                heartbeat.record();
                if let Err(error) = ended {
                    tracing::error!(%error, "a visit did not end by itself");
                }
            }
        }
    }
}
