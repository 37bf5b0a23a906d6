//! Copies the documents of a store in PostgreSQL to this machine, for its indexer and all its searches.
//!
//! [`Copier`] follows the log of the database and wakes the indexer. While the database is away nothing is copied and nothing
//! fails.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use super::{DRAIN, IndexProgress, is_over};
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::daemon::watchdog::{Heartbeat, Worker};
use taojin_crawl::store::{DocumentCopy, Reader, StoreError, StorePlace};

/// Changes taken into the copy at once.
const ROWS: usize = 1_024;
/// What other nodes have stored is searched for so often.
const LOOK: Duration = Duration::from_millis(250);
/// The same after a failure.
const RETRY: Duration = Duration::from_secs(2);

/// The log as the index reads it: of a store in PostgreSQL this machine's copy, with all that is in the store at this moment. For
/// commands without a daemon.
pub(super) fn whole_log(loaded: &LoadedConfig) -> Result<Reader, StoreError> {
    if loaded.copies_documents() {
        let mut copy = DocumentCopy::open(&loaded.store_place())?;
        while copy.take(ROWS)?.changes > 0 {}
    }
    Reader::open(loaded.documents_place())
}

/// The copying thread's state.
pub(in crate::daemon) struct Copier {
    copy: DocumentCopy,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
    /// Wakes the indexer; dropping it ends it.
    wake: SyncSender<()>,
}

impl Copier {
    /// Over the copy that belongs to this store.
    pub(in crate::daemon) fn open(
        place: &StorePlace,
        shared: &Shared,
        wake: SyncSender<()>,
    ) -> Result<Self, StoreError> {
        let copy = DocumentCopy::open(place)?;
        let progress = Arc::clone(shared.index());
        progress.set_copying(true);
        Ok(Self {
            copy,
            progress,
            heartbeat: shared.heartbeat(Worker::Indexer),
            wake,
        })
    }

    /// Works until the other end of `woken` is dropped, then takes what is left as far as [`DRAIN`] allows.
    pub(in crate::daemon) fn run(mut self, woken: &Receiver<()>) {
        let mut wait = Duration::ZERO;
        let mut deadline: Option<Instant> = None;
        loop {
            if deadline.is_none() && is_over(woken, wait) {
                deadline = Some(Instant::now() + DRAIN);
            }
            let has_all = match self.copy.take(ROWS) {
                Ok(copied) => {
                    if copied.seq >= copied.last_seq {
                        self.progress.set_copying(false);
                    }
                    let last_seq = u64::try_from(copied.last_seq).unwrap_or_default();
                    self.progress.set_document_seq(last_seq);
                    // A full channel means that the indexer has been poked already.
                    let _ = self.wake.try_send(());
                    wait = if copied.seq < copied.last_seq {
                        Duration::ZERO
                    } else {
                        LOOK
                    };
                    copied.seq >= copied.last_seq
                }
                Err(StoreError::Unreachable { .. }) => {
                    wait = RETRY;
                    true
                }
                Err(error) => {
                    tracing::error!("documents are not copied, trying again: {error}");
                    if matches!(error, StoreError::Full { .. }) {
                        self.heartbeat.waits(error);
                    }
                    wait = RETRY;
                    true
                }
            };
            if deadline.is_some_and(|end| has_all || Instant::now() >= end) {
                return;
            }
        }
    }
}
