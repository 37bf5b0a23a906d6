//! How far the search index is behind the store, as the indexer reports it to everybody else.
//!
//! The store's log numbers its changes from 1. Whoever stores or copies documents reports the last number, the indexer the
//! last one that its index has; [`IndexProgress::lag`] is what lies between. Nothing here waits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::trouble::IndexTrouble;
use crate::daemon::shared::lock;
use crate::serve::Readiness;
use taojin_search::index::RecutProgress;
use taojin_search::index::remote::Colour;

/// How far a new index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildProgress {
    /// The last change that it has.
    pub seq: u64,
    /// The last change there is.
    pub last: u64,
}

/// How far the index is, and the requests of operators to rebuild it.
#[derive(Debug, Default)]
pub(in crate::daemon) struct IndexProgress {
    document_seq: AtomicU64,
    indexed_seq: AtomicU64,
    is_copying: AtomicBool,
    is_caught_up: AtomicBool,
    is_rebuild_requested: AtomicBool,
    is_take_over_requested: AtomicBool,
    trouble: Mutex<Option<IndexTrouble>>,
    colour: Mutex<Option<Colour>>,
    rebuild: Mutex<Option<RebuildProgress>>,
    rebuilds: AtomicU64,
    recut: Mutex<Option<RecutProgress>>,
}

impl IndexProgress {
    /// Notes the last change of a document that is stored. A lower number than before changes nothing.
    pub(in crate::daemon) fn set_document_seq(&self, seq: u64) {
        self.document_seq.fetch_max(seq, Ordering::Relaxed);
    }

    /// Notes up to which change the index has everything; 0 for an empty one.
    pub(in crate::daemon) fn set_indexed(&self, seq: u64) {
        self.indexed_seq.store(seq, Ordering::Relaxed);
    }

    /// Returns the last change that the index has.
    pub(in crate::daemon) fn indexed(&self) -> u64 {
        self.indexed_seq.load(Ordering::Relaxed)
    }

    /// Returns how many changes are stored that the index has not committed.
    pub(in crate::daemon) fn lag(&self) -> u64 {
        self.document_seq
            .load(Ordering::Relaxed)
            .saturating_sub(self.indexed())
    }

    /// Notes why documents wait; none: they do not. Returns whether that is another state than before.
    pub(in crate::daemon) fn set_trouble(&self, trouble: Option<IndexTrouble>) -> bool {
        let mut known = lock(&self.trouble);
        let state = |trouble: &Option<IndexTrouble>| trouble.as_ref().map(|t| t.state);
        let is_new = state(&known) != state(&trouble);
        let since_ms = known
            .as_ref()
            .filter(|_| !is_new)
            .map(|known| known.since_ms);
        *known = trouble.map(|trouble| IndexTrouble {
            since_ms: since_ms.unwrap_or(trouble.since_ms),
            ..trouble
        });
        is_new
    }

    /// Notes how much of the index its engine has; none where that is not known.
    pub(in crate::daemon) fn set_colour(&self, colour: Option<Colour>) {
        *lock(&self.colour) = colour;
    }

    /// Returns how much of the index its engine has.
    pub(in crate::daemon) fn colour(&self) -> Option<Colour> {
        *lock(&self.colour)
    }

    /// Returns why documents wait, if they do.
    pub(in crate::daemon) fn trouble(&self) -> Option<IndexTrouble> {
        lock(&self.trouble).clone()
    }

    /// Notes whether documents that are in the database are still to be copied to this machine.
    pub(in crate::daemon) fn set_copying(&self, is_copying: bool) {
        self.is_copying.store(is_copying, Ordering::SeqCst);
    }

    pub(in crate::daemon) fn is_copying(&self) -> bool {
        self.is_copying.load(Ordering::SeqCst)
    }

    /// Notes whether the index has all documents that were there at the start, or when it was lost.
    pub(in crate::daemon) fn set_caught_up(&self, is_caught_up: bool) {
        self.is_caught_up.store(is_caught_up, Ordering::SeqCst);
    }

    /// Whether the index has all documents that were there at the start, or when it was lost.
    pub(in crate::daemon) fn is_caught_up(&self) -> bool {
        self.is_caught_up.load(Ordering::SeqCst)
    }

    /// Returns whether searches are answered, and how well, where the store does not answer if `is_store_silent`.
    pub(in crate::daemon) fn readiness(&self, is_store_silent: bool) -> Readiness {
        if !self.is_caught_up() {
            let indexed = self.indexed();
            return Readiness::Filling { indexed };
        }
        if is_store_silent {
            Readiness::Degraded
        } else {
            Readiness::Ready
        }
    }

    /// Asks the indexer to rebuild the index.
    pub(in crate::daemon) fn request_rebuild(&self) {
        self.is_rebuild_requested.store(true, Ordering::Relaxed);
    }

    /// Asks the indexer to rebuild an index of another store as well.
    pub(in crate::daemon) fn request_take_over(&self) {
        self.is_take_over_requested.store(true, Ordering::Relaxed);
    }

    /// Whether a take-over was requested since the last call.
    pub(in crate::daemon) fn take_take_over_request(&self) -> bool {
        self.is_take_over_requested.swap(false, Ordering::Relaxed)
    }

    /// Whether a rebuild was requested since the last call.
    pub(in crate::daemon) fn take_rebuild_request(&self) -> bool {
        self.is_rebuild_requested.swap(false, Ordering::Relaxed)
    }

    /// Notes how far the new index is; `None` when it is in its place.
    pub(in crate::daemon) fn set_rebuild(&self, progress: Option<RebuildProgress>) {
        if progress.is_none() {
            self.rebuilds.fetch_add(1, Ordering::Relaxed);
        }
        *lock(&self.rebuild) = progress;
    }

    /// Returns how far the new index is, if one is being made.
    pub(in crate::daemon) fn rebuild_progress(&self) -> Option<RebuildProgress> {
        *lock(&self.rebuild)
    }

    /// Returns how often the index was rebuilt since the start.
    pub(in crate::daemon) fn finished_rebuilds(&self) -> u64 {
        self.rebuilds.load(Ordering::Relaxed)
    }

    /// Notes how far documents are cut again for terms that came or went. Returns how far they were.
    pub(in crate::daemon) fn set_recut(
        &self,
        progress: Option<RecutProgress>,
    ) -> Option<RecutProgress> {
        std::mem::replace(&mut *lock(&self.recut), progress)
    }

    /// Returns how far documents are cut again, if any are to be.
    pub(in crate::daemon) fn recut(&self) -> Option<RecutProgress> {
        *lock(&self.recut)
    }
}
