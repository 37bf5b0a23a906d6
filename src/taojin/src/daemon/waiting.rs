//! The start of a node whose database does not answer. In: what this machine has on its own disk. Out: searches of that, until the
//! database answers or the daemon is told to stop.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::crawl::outage::{is_outage, refuse};
use super::crawl::state::Event;
use super::liveness::Worker;
use super::report::systemd;
use super::{Shared, node_place, open_store_at};
use crate::config::Loaded;
use taojin_crawl::store::{NodeLease, Reader, Store};

/// The database is asked again so often.
const RETRY: Duration = Duration::from_secs(2);

/// The store as soon as its database answers; none where the daemon is to stop. The server runs already.
pub(super) async fn for_store(
    loaded: &Loaded,
    shared: &Shared,
    inbox: &mut Receiver<Event>,
    mut error: anyhow::Error,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<Option<Store>> {
    tokio::pin!(shutdown);
    tracing::error!("{error:#}; what this machine has is served meanwhile");
    shared.set_caught_up();
    systemd::ready("serving what this machine has: the database does not answer");
    loop {
        shared.node().set_silent(true);
        shared.waits(Worker::CrawlLoop, &error);
        systemd::alive();
        for event in inbox.try_iter() {
            if let Event::Wish(wish) = event {
                refuse(&wish);
            }
        }
        tokio::select! {
            () = &mut shutdown => return Ok(None),
            () = tokio::time::sleep(RETRY) => {}
        }
        // By a place of its own, which nothing else waits for.
        let asked_by = NodeLease::default();
        let place = loaded.store_place().with_lease(asked_by.clone());
        let asking = tokio::task::spawn_blocking(move || Reader::open(place).map(drop));
        let answered = tokio::select! {
            () = &mut shutdown => {
                asked_by.hurry();
                asked_by.set_silent(true);
                return Ok(None);
            }
            answered = asking => answered?,
        };
        if let Err(failed) = answered {
            error = failed.into();
            match is_outage(&error) {
                true => continue,
                false => return Err(error),
            }
        }
        shared.node().set_silent(false);
        match open_store_at(loaded, node_place(loaded, shared)) {
            Err(failed) if is_outage(&failed) => error = failed,
            opened => return opened.map(Some),
        }
    }
}
