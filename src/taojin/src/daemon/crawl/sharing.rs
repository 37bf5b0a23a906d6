//! Shares the crawl with the other nodes of a cluster, and waits for the database at the start.
//!
//! Partitions are taken over and given back; URLs that other nodes found and pauses that an operator requested there arrive
//! here. Nothing is done where the store belongs to this node alone.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::crawler::Event;
use super::interval::Interval;
use crate::config::LoadedConfig;
use crate::daemon::control::{PendingRequest, Reply, Response};
use crate::daemon::report::systemd;
use crate::daemon::watchdog::Worker;
use crate::daemon::{Shared, node_place, open_store_at};
use crate::serve::CommandError;
use taojin_crawl::frontier::Frontier;
use taojin_crawl::store::{Batch, NodeLease, Reader, SiteDifferences, Store, StoreError};

/// The partitions, and what other nodes have sent, are checked so often.
const LOOK: Duration = Duration::from_secs(1);
/// So often while partitions change hands; turns at servers while some are wanted.
pub(super) const LOOK_SOON: Duration = Duration::from_millis(250);
/// What an operator told another node is read so often.
const READ_PAUSES: Duration = Duration::from_secs(5);
/// The sites of the nodes are compared so often.
const COMPARE: Duration = Duration::from_secs(60);

/// The database is asked again so often.
const RETRY: Duration = Duration::from_secs(2);

/// When a node looks after what it shares with others.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    partitions: Interval,
    turns: Interval,
    pauses: Interval,
    sites: Interval,
    /// How the sites of the nodes differed.
    differences: SiteDifferences,
}

impl Sharing {
    /// Takes this node's share of the partitions, gives back what is too many, and takes up what other nodes have found:
    /// whether that is now in the batch.
    pub(super) fn look(
        &mut self,
        store: &mut Store,
        frontier: &mut Frontier,
        batch: &mut Batch,
        now: i64,
    ) -> anyhow::Result<bool> {
        if !frontier.partitions().are_shared() {
            return Ok(false);
        }
        let every = |soon: bool| if soon { LOOK_SOON } else { LOOK };
        let turns = self.turns.is_due(every(frontier.takes_turns()));
        let share = self.partitions.is_due(every(frontier.is_giving_back()));
        if !(turns || share) || !store.is_leased()? {
            return Ok(false);
        }
        if turns {
            frontier.take_turns(store, now)?;
        }
        if !share {
            return Ok(false);
        }
        frontier.share_partitions(store, now)?;
        if self.pauses.is_due(READ_PAUSES) {
            frontier.read_sites(store)?;
        }
        if self.sites.is_due(COMPARE) {
            let differences = SiteDifferences::from_nodes(&store.cluster().nodes()?);
            if differences != self.differences && !differences.sites.is_empty() {
                tracing::warn!("{differences}");
            }
            self.differences = differences;
        }
        Ok(frontier.take_up_sent(store, batch)?)
    }
}

/// Whether a failure is that the database does not answer.
pub(crate) fn is_outage(error: &anyhow::Error) -> bool {
    let is_away = |error: &StoreError| matches!(error, StoreError::Unreachable { .. });
    error.downcast_ref().is_some_and(is_away)
}

/// Tells who asks for something that nothing can be stored.
pub(crate) fn refuse(request: &PendingRequest) {
    let refused =
        CommandError::failed("nothing can be stored at present; see the log of the daemon");
    let _ = request
        .reply
        .try_send(Reply::Now(Response::Refused(refused)));
}

/// The store as soon as its database answers; `None` if the daemon is to stop. The server runs already.
pub(crate) async fn wait_for_store(
    loaded: &LoadedConfig,
    shared: &Shared,
    inbox: &mut Receiver<Event>,
    mut error: anyhow::Error,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<Option<Store>> {
    tokio::pin!(shutdown);
    tracing::error!("{error:#}; what this machine has is served meanwhile");
    shared.index().set_caught_up(true);
    systemd::ready("serving what this machine has: the database does not answer");
    loop {
        shared.node().set_silent(true);
        shared.heartbeat(Worker::CrawlLoop).waits(&error);
        systemd::alive();
        for event in inbox.try_iter() {
            if let Event::Request(request) = event {
                refuse(&request);
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
            if !is_outage(&error) {
                return Err(error);
            }
            continue;
        }
        shared.node().set_silent(false);
        match open_store_at(loaded, node_place(loaded, shared.node())) {
            Err(failed) if is_outage(&failed) => error = failed,
            opened => return opened.map(Some),
        }
    }
}
