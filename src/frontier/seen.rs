//! Which URLs were met before. In: fingerprints. Out: new for certain, or met before as far as the filter knows.
//! Never decides alone that a URL is old: the exact set is the URL table of the store.
//!
//! A scalable Bloom filter (Almeida et al. 2007; crate `growable-bloom-filter`) stands in front of the table:
//! stage i has error p₀ rⁱ with r = 0.8515625, so the total stays below p₀ / (1 − r) = 6.74 p₀. The crate's
//! `desired_error` is p₀, the first stage's: it is derived from the total that is wanted. Before the filter, a
//! small table of fingerprints that were found in the store answers for the links that every page of a site has.

use growable_bloom_filter::GrowableBloom;

use crate::store::{Reader, StoreError, UrlId};

/// Tightening ratio of the crate.
const TIGHTENING: f64 = 0.851_562_5;

/// Slots for fingerprints that the store confirmed: 512 KiB.
const CONFIRMED_SLOTS: usize = 1 << 16;

/// The filter and its tallies.
#[derive(Debug)]
pub struct Seen {
    filter: GrowableBloom,
    confirmed: Vec<u64>,
    /// Row of the store up to which the filter is complete.
    upto: UrlId,
    /// URLs that the filter knew and the store did not: false positives, found out and kept.
    pub false_positives: u64,
    /// URLs that the filter did not know and the store did: the filter lagged behind.
    pub missed: u64,
    /// Questions answered without the store.
    pub without_store: u64,
    /// Questions that the store had to answer.
    pub with_store: u64,
}

impl Seen {
    /// An empty filter with at most `error` false positives in total, growing from `capacity`.
    pub fn new(error: f64, capacity: usize) -> Self {
        let first = (error * (1.0 - TIGHTENING)).clamp(1e-9, 0.5);
        Seen {
            filter: GrowableBloom::new(first, capacity.max(64)),
            confirmed: vec![0; CONFIRMED_SLOTS],
            upto: 0,
            false_positives: 0,
            missed: 0,
            without_store: 0,
            with_store: 0,
        }
    }

    /// The filter for a store.
    pub(super) fn open(store: &Reader, error: f64, capacity: usize) -> Result<Self, StoreError> {
        Seen::rebuild(store, error, capacity)
    }

    /// Fills the filter from the store.
    pub fn rebuild(store: &Reader, error: f64, capacity: usize) -> Result<Self, StoreError> {
        let mut seen = Seen::new(error, capacity);
        seen.catch_up(store)?;
        Ok(seen)
    }

    /// Adds what the store has beyond the row that the filter is complete to.
    pub(super) fn catch_up(&mut self, store: &Reader) -> Result<(), StoreError> {
        let filter = &mut self.filter;
        self.upto = store.fingerprints(self.upto, |hash| {
            filter.insert(hash);
        })?;
        Ok(())
    }

    /// Certainly met before: the store said so earlier.
    pub(super) fn is_confirmed(&self, hash: u64) -> bool {
        self.confirmed[slot(hash)] == hash
    }

    /// Maybe met before.
    pub fn contains(&self, hash: u64) -> bool {
        self.filter.contains(hash)
    }

    /// The store has it.
    pub(super) fn confirm(&mut self, hash: u64) {
        self.confirmed[slot(hash)] = hash;
    }

    /// Remembers it in the filter.
    pub fn insert(&mut self, hash: u64) {
        self.filter.insert(hash);
    }

    /// The store has been written up to this row, all through [`Seen::insert`].
    pub(super) fn advance(&mut self, upto: UrlId) {
        self.upto = self.upto.max(upto);
    }
}

fn slot(hash: u64) -> usize {
    usize::try_from(hash & (CONFIRMED_SLOTS as u64 - 1)).expect("below the number of slots")
}
