//! What the indexer does when the index fails: it says so, and opens the index again until that works.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use super::Indexer;
use crate::daemon::liveness::Worker;
use taojin_crawl::store::StoreError;
use taojin_search::index::{IndexError, caught};

/// Pause before the index is opened again after it failed (full disk, I/O error).
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl Indexer {
    pub(super) fn note_failure(&mut self, failed: &anyhow::Error) {
        self.caution.failed();
        self.anew_caution.failed();
        if is_full(failed) {
            self.shared.waits(Worker::Indexer, failed);
        } else {
            self.shared.fails(Worker::Indexer, failed);
        }
    }

    /// Whether the last failure named its row: that is left out the next time, so there is no reason to wait.
    pub(super) fn take_warning(&mut self) -> bool {
        self.caution.take_warning() | self.anew_caution.take_warning()
    }

    /// Tries until the index opens again; false when the daemon stops meanwhile.
    pub(super) fn reopen(&mut self, poke: &Receiver<()>) -> bool {
        self.writer = None;
        self.anew = None;
        loop {
            if !self.take_warning() {
                thread::sleep(RETRY_AFTER);
            }
            if matches!(poke.try_recv(), Err(TryRecvError::Disconnected)) {
                return false;
            }
            let failed = match caught(|| self.open_writer()) {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => error,
                Err(panic) => anyhow::Error::msg(panic),
            };
            tracing::error!(
                error = format!("{failed:#}"),
                "index still cannot be opened"
            );
            self.note_failure(&failed);
        }
    }
}

/// Whether a failure says that the disk is full: room helps, a new start does not.
pub(super) fn is_full(failed: &anyhow::Error) -> bool {
    failed.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(IndexError::Full { .. }))
            || matches!(cause.downcast_ref(), Some(StoreError::Full { .. }))
    })
}
