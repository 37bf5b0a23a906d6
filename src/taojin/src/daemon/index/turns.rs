//! The next changes of the log in the order in which they are indexed: sites take turns, so that the small article of one does not
//! wait for the large ones of another.
//!
//! The index knows one number, up to which it has everything. What was taken in beyond it is taken in again after a crash, which
//! changes nothing.

use std::collections::BTreeMap;

use taojin_crawl::fair::FairQueue;
use taojin_crawl::store::{self, StoreError};

/// Changes looked ahead at: the more, the more of one site another one can overtake; about 200 bytes each.
const AHEAD: usize = 4_096;

/// A change that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitingChange {
    /// Of this document.
    pub(super) fingerprint: u64,
    /// Its number.
    pub(super) seq: u64,
}

/// The changes that follow one, in turns.
#[derive(Debug, Default)]
pub(super) struct LogTurns {
    /// Everything up to this one is in the index.
    seq: u64,
    /// The last one that was listed.
    listed: u64,
    /// Those that were listed and are not counted in `seq`; whether they are in the index.
    open: BTreeMap<u64, bool>,
    waiting: FairQueue<String, WaitingChange>,
    /// There may be changes behind those that were listed.
    is_cut: bool,
}

impl LogTurns {
    /// Begins behind this number, unless it is there already.
    pub(super) fn begin(&mut self, seq: u64) {
        if self.seq != seq {
            *self = LogTurns {
                seq,
                listed: seq,
                ..LogTurns::default()
            };
        }
    }

    /// Lists what follows in the log, as far as there is room.
    pub(super) fn list(&mut self, reader: &store::Reader) -> Result<(), StoreError> {
        // Not for each row that ends.
        let room = AHEAD.saturating_sub(self.open.len());
        if room < AHEAD / 2 {
            return Ok(());
        }
        let after = i64::try_from(self.listed).unwrap_or(i64::MAX);
        let rows = reader.documents_after_without_bodies(after, room)?;
        self.is_cut = rows.len() == room;
        for row in rows {
            let seq = u64::try_from(row.seq).unwrap_or_default();
            let fingerprint = row.fingerprint;
            self.listed = seq;
            self.open.insert(seq, false);
            let site = if row.site.is_empty() {
                row.url
            } else {
                row.site
            };
            self.waiting.push(site, WaitingChange { fingerprint, seq });
        }
        Ok(())
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<WaitingChange> {
        self.waiting.pop()
    }

    /// It is in the index now, or needs not be. The number up to which everything is.
    pub(super) fn finish(&mut self, change: WaitingChange) -> u64 {
        self.open.insert(change.seq, true);
        while let Some(first) = self.open.first_entry().filter(|first| *first.get()) {
            self.seq = first.remove_entry().0;
        }
        self.seq
    }

    /// Whether changes wait.
    pub(super) fn has_more(&self) -> bool {
        self.is_cut || !self.waiting.is_empty()
    }
}
