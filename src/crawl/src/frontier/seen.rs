//! The filter of URLs that were met before: a fingerprint is certainly new, or probably known. Never decides alone that
//! a URL is known: the exact set is the URL table of the store.
//!
//! A scalable Bloom filter (Almeida et al. 2007; crate `growable-bloom-filter`) stands in front of the table:
//! stage i has error p₀ rⁱ with r = 0.8515625, so the total stays below p₀ / (1 − r) = 6.74 p₀. The crate's
//! `desired_error` is p₀, the first stage's: it is derived from the total that is wanted. Before the filter, a
//! small table of fingerprints that were found in the store answers for the links that every page of a site has.
//!
//! The filter is saved next to the store now and then, with the row that it is complete to; at the start the rows
//! after it are added. A file that is missing, damaged or of another store costs a rebuild, never a page.
//!
//! Of a store that several nodes share, the filter has the addresses of the partitions that this node took, and is filled
//! while it crawls. Until it has a partition whole, it calls nothing of that new.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use growable_bloom_filter::{GrowableBloom, GrowableBloomBuilder};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::store::{Partition, Partitions, Reader, Store, StoreError, UrlId, first_row, partition};
use taojin_uri::{CrawlUri, FingerprintKey};

/// Beside the database.
const FILE: &str = "seen.filter";
/// First bytes of the file; changes with its layout.
const MAGIC: u64 = u64::from_le_bytes(*b"TJSEEN02");
/// The filter is saved after this many new URLs, or a sixteenth of all: adding the rest takes well below a second.
const SAVE_AFTER: i64 = 200_000;

/// A stage holds this many times what the one before it does: a link is searched for in all of them, each a miss of the
/// processor's cache.
const GROWTH: usize = 4;

/// Tightening ratio of the crate.
const TIGHTENING: f64 = 0.851_562_5;

/// Slots for fingerprints that the store confirmed: 512 KiB.
const CONFIRMED_SLOTS: usize = 1 << 16;

/// The filter and its tallies.
#[derive(Debug)]
pub(super) struct Seen {
    /// That of the store.
    key: FingerprintKey,
    filter: GrowableBloom,
    confirmed: Vec<u64>,
    /// Row of the store up to which the filter is complete.
    upto: UrlId,
    /// The same for each partition, of a shared store.
    parts: BTreeMap<Partition, UrlId>,
    /// Partitions of which rows beyond that are still to be read.
    unread: BTreeSet<Partition>,
    /// The same for the saved file.
    saved: UrlId,
    error: f64,
    /// URLs that the filter knew and the store did not: false positives, found out and kept.
    pub(super) false_positives: u64,
    /// New URLs that the filter knew to be new.
    pub(super) new: u64,
    /// Questions that the store had to answer.
    pub(super) with_store: u64,
}

impl Seen {
    /// An empty filter with at most `error` false positives in total, growing from `capacity`.
    pub(super) fn new(key: FingerprintKey, error: f64, capacity: usize) -> Self {
        let first = (error * (1.0 - TIGHTENING)).clamp(1e-9, 0.5);
        Seen {
            key,
            filter: GrowableBloomBuilder::new()
                .desired_error_ratio(first)
                .estimated_insertions(capacity.max(64))
                .growth_factor(GROWTH)
                .build(),
            confirmed: vec![0; CONFIRMED_SLOTS],
            upto: 0,
            parts: BTreeMap::new(),
            unread: BTreeSet::new(),
            saved: 0,
            error,
            false_positives: 0,
            new: 0,
            with_store: 0,
        }
    }

    /// The filter for a store: from its file and the rows after it, else from all rows.
    pub(super) fn open(
        store: &Store,
        dir: &Path,
        error: f64,
        capacity: usize,
    ) -> Result<Self, StoreError> {
        let key = store.addresses().key();
        let mut seen = Seen::new(key, error, capacity);
        if store.cluster().first_share().are_shared() {
            return Ok(seen);
        }
        match load(&dir.join(FILE), error) {
            Ok((filter, upto)) if upto <= store.last_url()? => {
                seen.filter = filter;
                (seen.upto, seen.saved) = (upto, upto);
            }
            Ok(_) => tracing::info!("filter of seen URLs is of another store and is rebuilt"),
            Err(reason) => tracing::debug!(%reason, "filter of seen URLs is rebuilt"),
        }
        if seen.upto == 0 {
            // One stage with room for all and a quarter more is filled in half the time of many small ones.
            let known = usize::try_from(store.last_url()?).unwrap_or(0);
            seen = Seen::new(key, error, capacity.max(known + known / 4));
        }
        seen.catch_up(store)?;
        Ok(seen)
    }

    /// How many row numbers the filter has seen: about as many addresses.
    pub(super) fn addresses(&self) -> UrlId {
        let of_parts = self.parts.iter().map(|(part, row)| row - first_row(*part));
        self.upto + of_parts.sum::<UrlId>()
    }

    /// Reads rows that did not come through here: those of archived pages; what another node added to a partition before this
    /// one had it comes bit by bit, with [`Seen::read_some`].
    pub(super) fn note_others(
        &mut self,
        store: &Store,
        own: &Partitions,
    ) -> Result<(), StoreError> {
        for part in own.iter() {
            let row = self.parts.entry(part).or_insert(first_row(part));
            if store.last_row(part) > *row {
                self.unread.insert(part);
            }
        }
        if !own.are_shared() && store.newest_url() > self.upto {
            self.catch_up(store)?;
        }
        Ok(())
    }

    /// Reads the next rows of a partition that is not whole yet; whether there are more.
    pub(super) fn read_some(
        &mut self,
        store: &Store,
        own: &Partitions,
    ) -> Result<bool, StoreError> {
        self.unread.retain(|part| own.has(*part));
        let Some(&part) = self.unread.first() else {
            return Ok(false);
        };
        let filter = &mut self.filter;
        let row = self.parts.entry(part).or_insert(first_row(part));
        match store.fingerprints_of(part, *row, |hash| {
            filter.insert(hash);
        })? {
            Some(last) => *row = last,
            None => {
                *row = store.last_row(part);
                self.unread.remove(&part);
            }
        }
        Ok(!self.unread.is_empty())
    }

    /// Saves the filter if it has grown enough since the last time, or `always`. A failure costs the next start
    /// some time and is only logged.
    pub(super) fn save(&mut self, dir: &Path, always: bool) {
        let grown = self.upto - self.saved;
        let enough = grown >= SAVE_AFTER.max(self.upto / 16) || (always && grown > 0);
        if !enough {
            return;
        }
        let path = dir.join(FILE);
        match write(&path, &self.filter, self.upto, self.error) {
            Ok(()) => self.saved = self.upto,
            Err(error) => {
                // Half a filter must not take the room that a full disk lacks.
                let _ = fs::remove_file(path.with_extension("new"));
                tracing::warn!(%error, "filter of seen URLs could not be saved");
            }
        }
    }

    /// Adds what the store has beyond the row that the filter is complete to.
    pub(super) fn catch_up(&mut self, store: &Reader) -> Result<(), StoreError> {
        let filter = &mut self.filter;
        self.upto = store.fingerprints(self.upto, |hash| {
            filter.insert(hash);
        })?;
        Ok(())
    }

    /// What finds an address.
    pub(super) fn fingerprint(&self, uri: &CrawlUri) -> u64 {
        self.key.fingerprint(uri)
    }

    /// Certainly met before: the store said so earlier. Without a key nothing is certain: whoever knows the function can make an
    /// address that is taken for another.
    pub(super) fn is_confirmed(&self, hash: u64) -> bool {
        self.key != FingerprintKey::NONE && self.confirmed[slot(hash)] == hash
    }

    /// Maybe met before.
    pub(super) fn contains(&self, hash: u64) -> bool {
        self.filter.contains(hash)
    }

    /// The store has it.
    pub(super) fn confirm(&mut self, hash: u64) {
        self.confirmed[slot(hash)] = hash;
    }

    /// The store has lost rows: nothing is certain any more. The filter keeps its addresses, which the store is asked
    /// about.
    pub(super) fn doubt_all(&mut self) {
        self.confirmed.fill(0);
    }

    /// Remembers it in the filter; whether that had never met it.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        self.filter.insert(hash)
    }

    /// Remembers an address with this fingerprint in the filter; whether it is new for certain.
    pub(super) fn take(&mut self, uri: &CrawlUri, hash: u64) -> bool {
        let is_whole = self.is_whole(uri);
        self.insert(hash) && is_whole
    }

    /// Whether the filter has all addresses of the partition of this one, if it is one of this node.
    pub(super) fn is_whole(&self, uri: &CrawlUri) -> bool {
        self.unread.is_empty() || !self.unread.contains(&partition(uri))
    }

    /// The store has been written, all of it through [`Seen::insert`].
    pub(super) fn advance(&mut self, store: &Store, own: &Partitions) {
        if !own.are_shared() {
            self.upto = self.upto.max(store.newest_url());
        }
        for part in own.iter().filter(|part| !self.unread.contains(part)) {
            self.parts.insert(part, store.last_row(part));
        }
    }
}

/// Layout: magic, row, error, filter as postcard, xxh3 of the filter; numbers little-endian.
fn write(path: &Path, filter: &GrowableBloom, upto: UrlId, error: f64) -> std::io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = BufWriter::new(File::create(&fresh)?);
    file.write_all(&MAGIC.to_le_bytes())?;
    file.write_all(&upto.to_le_bytes())?;
    file.write_all(&error.to_le_bytes())?;
    let mut packed = Checked {
        file: &mut file,
        sum: Xxh3::new(),
    };
    postcard::to_io(filter, &mut packed).map_err(std::io::Error::other)?;
    let sum = packed.sum.digest();
    file.write_all(&sum.to_le_bytes())?;
    file.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .sync_all()?;
    fs::rename(&fresh, path)?;
    // The new name is durable with its directory.
    path.parent()
        .map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

/// Sums up what goes through to the file.
struct Checked<'a> {
    file: &'a mut BufWriter<File>,
    sum: Xxh3,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

fn load(path: &Path, error: f64) -> Result<(GrowableBloom, UrlId), String> {
    let bytes = fs::read(path).map_err(|e| e.to_string())?;
    let number = |at: usize| -> Result<u64, String> {
        let bytes = bytes.get(at..at + 8).ok_or("too short")?;
        Ok(u64::from_le_bytes(
            bytes.try_into().map_err(|_| "too short")?,
        ))
    };
    if number(0)? != MAGIC {
        return Err("of another version".to_owned());
    }
    if f64::from_bits(number(16)?).to_bits() != error.to_bits() {
        return Err("made for another error".to_owned());
    }
    let end = bytes.len().checked_sub(8).ok_or("too short")?;
    let packed = bytes.get(24..end).ok_or("too short")?;
    if number(end)? != xxh3_64(packed) {
        return Err("damaged".to_owned());
    }
    let filter = postcard::from_bytes(packed).map_err(|e| e.to_string())?;
    Ok((filter, number(8)?.cast_signed()))
}

fn slot(hash: u64) -> usize {
    usize::try_from(hash & (CONFIRMED_SLOTS as u64 - 1)).expect("below the number of slots")
}
