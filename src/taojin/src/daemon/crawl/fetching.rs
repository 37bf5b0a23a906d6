//! The fetch tasks. In: leases. Out: what became of each visit. One task for each lease, on threads of their own: a page
//! that takes seconds to extract holds up no reader of the same process. Ends with the crawl loop.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt;
use tokio::runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::state::Event;
use super::tools::Tools;
use super::visit;
use super::visited::{End, Finished, Work};
use crate::daemon::liveness::Worker;
use crate::daemon::{Shared, spawn_thread};

/// How often an idle runtime tells that it turns.
const BEAT: Duration = Duration::from_secs(5);

/// Starts the thread that makes a visit for each lease with `visit`; it ends when the crawl loop drops its end.
pub(crate) fn start<V, F>(
    visit: V,
    work: mpsc::Receiver<Work>,
    events: SyncSender<Event>,
    shared: Arc<Shared>,
) -> anyhow::Result<thread::JoinHandle<()>>
where
    V: Fn(Work) -> F + Send + 'static,
    F: Future<Output = Finished> + Send + 'static,
{
    let runtime = runtime::Builder::new_multi_thread()
        .thread_name("fetch")
        .enable_all()
        .build()
        .context("the threads of the fetch tasks cannot be started")?;
    spawn_thread("fetch-tasks", move || {
        runtime.block_on(fetch_tasks(visit, work, events, &shared));
        // A page that is still being extracted is not waited for: its URL is due as before.
        runtime.shutdown_background();
    })
}

async fn fetch_tasks<V, F>(
    visit: V,
    mut work: mpsc::Receiver<Work>,
    events: SyncSender<Event>,
    shared: &Shared,
) where
    V: Fn(Work) -> F,
    F: Future<Output = Finished> + Send + 'static,
{
    let mut visits = JoinSet::new();
    let mut beat = tokio::time::interval(BEAT);
    loop {
        // While pages are under way, only the end of one is progress.
        if visits.is_empty() {
            shared.beat(Worker::Fetching);
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
                shared.beat(Worker::Fetching);
                if let Err(error) = ended {
                    tracing::error!(%error, "a visit did not end by itself");
                }
            }
        }
    }
}

/// Makes one visit. A page that brings the parser down is that page's fault: its lease comes back all the same. One that
/// brings the process down was noted before, and is counted at the next start.
pub(crate) async fn one_visit(tools: Arc<Tools>, work: Work) -> Finished {
    let Work {
        lease,
        archived,
        open,
    } = work;
    let is_known = lease.record.id > 0;
    let _under_way = is_known.then(|| tools.in_flight.begin(lease.record.id));
    let is_fetch = archived.is_none();
    if is_fetch
        && open.is_none()
        && let Some(ip) = tools.locate(&lease).await
    {
        let (visited, report) = visit::broken_off();
        let end = End::Located(ip);
        return Finished {
            lease,
            visited,
            report,
            end,
        };
    }
    let visit = AssertUnwindSafe(visit::visit(&tools, &lease, archived, open)).catch_unwind();
    let ended = tokio::select! {
        ended = visit => Some(ended),
        () = tools.may_not_fetch(), if is_fetch => None,
    };
    let (end, (visited, report)) = match ended {
        Some(ended) => (
            End::Whole,
            ended.unwrap_or_else(|_| visit::panicked(&lease)),
        ),
        None => (End::BrokenOff, visit::broken_off()),
    };
    Finished {
        lease,
        visited,
        report,
        end,
    }
}
