//! Carries documents from the store's outbox into the search index. In: outbox rows in order. Out: an index whose
//! commit says up to which row it holds everything. Never writes to the store: the crawl loop trims the outbox.
//!
//! Nothing is lost and nothing is there twice: a row is forgotten only after the commit that holds it, and a
//! document added again after a crash replaces itself.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::Shared;
use super::outbox;
use crate::config::Loaded;
use crate::serve::metrics;
use anyhow::Context as _;
use taojin_crawl::store::{self, DocOp};
use taojin_search::index::{self, Entry, Writer};

/// Rows read from the outbox at once.
const ROWS: usize = 256;
/// A document is searchable this long after it came in, plus the time of a commit.
const COMMIT_AFTER: Duration = Duration::from_millis(500);
/// Pause before the index is opened again after it failed (full disk, I/O error).
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Time without new documents after which the index is tidied.
const TIDY_AFTER: Duration = Duration::from_secs(15);
/// Time that a stopping daemon gives the index to catch up; the rest is done at the next start.
const DRAIN: Duration = Duration::from_secs(3);

/// The indexing thread's state.
pub(super) struct Indexer {
    pub(super) dir: PathBuf,
    pub(super) config: index::Config,
    pub(super) reader: store::Reader,
    /// None only while the index is being opened again: it locks its folder.
    pub(super) writer: Option<Writer>,
    /// Whether this is the daemon, not one pass of a crawl.
    pub(super) forever: bool,
    pub(super) shared: std::sync::Arc<Shared>,
}

/// The index for writing; one of another version is made anew first.
pub(super) fn open(dir: &Path, config: &index::Config) -> Result<Writer, index::IndexError> {
    let (writer, upgraded) = Writer::open_or_upgrade(dir, config)?;
    if let Some(documents) = upgraded {
        tracing::warn!(
            documents,
            "the index was of another version and has been made anew"
        );
    }
    Ok(writer)
}

/// Takes everything in the outbox into the index, now. For commands without a daemon.
pub(super) fn empty_outbox(loaded: &Loaded, reader: store::Reader) -> anyhow::Result<()> {
    let (dir, config) = (loaded.index_dir(), loaded.config.index.clone());
    let mut indexer = Indexer {
        writer: Some(open(&dir, &config)?),
        dir,
        config,
        reader,
        forever: false,
        shared: std::sync::Arc::default(),
    };
    let mut seq = indexer.writer()?.last_seq();
    while indexer.add_rows(&mut seq)? > 0 {}
    indexer.commit(seq)?;
    indexer.finish();
    Ok(())
}

impl Indexer {
    /// Works until the other end of `poke` is dropped, then empties the outbox as far as [`DRAIN`] allows.
    pub(super) fn run(mut self, poke: &Receiver<()>) {
        let mut stopping = false;
        loop {
            let failed = match self.catch_up(poke, stopping) {
                Ok(()) => return self.finish(),
                Err(error) => error,
            };
            tracing::error!(error = %failed, "index failed, opening it again");
            if stopping {
                return;
            }
            stopping = !self.reopen(poke);
        }
    }

    /// Indexes what comes until the poker is gone; returns early only with an error.
    fn catch_up(&mut self, poke: &Receiver<()>, mut stopping: bool) -> anyhow::Result<()> {
        let mut seq = self.writer()?.last_seq();
        let mut waiting_since: Option<Instant> = None;
        let mut deadline: Option<Instant> = None;
        // What an earlier run left may be tidied as well.
        let mut quiet_since = Some(Instant::now());
        loop {
            if !stopping {
                let wait = waiting_since
                    .map_or(COMMIT_AFTER, |t| COMMIT_AFTER.saturating_sub(t.elapsed()));
                stopping = matches!(poke.recv_timeout(wait), Err(RecvTimeoutError::Disconnected));
            }
            if stopping {
                deadline.get_or_insert_with(|| Instant::now() + DRAIN);
            }
            let added = self.add_rows(&mut seq)?;
            if added > 0 {
                waiting_since.get_or_insert_with(Instant::now);
            }
            let late = deadline.is_some_and(|d| Instant::now() >= d);
            let last = stopping && (added < ROWS || late);
            if waiting_since.is_some_and(|t| last || t.elapsed() >= COMMIT_AFTER) {
                self.commit(seq)?;
                waiting_since = None;
                quiet_since = Some(Instant::now());
            }
            if quiet_since.is_some_and(|t| waiting_since.is_none() && t.elapsed() >= TIDY_AFTER) {
                quiet_since = None;
                self.writer()?.tidy()?;
            }
            if last {
                return Ok(());
            }
        }
    }

    /// Leaves a pass's index as small as it can be. The daemon, which is waited for when it stops, tidies while
    /// nothing comes in.
    fn finish(&mut self) {
        let Some(mut writer) = self.writer.take().filter(|_| !self.forever) else {
            return;
        };
        if let Err(error) = writer.tidy().and_then(|_| writer.close()) {
            tracing::warn!(%error, "index could not be tidied");
        }
    }

    /// Adds at most [`ROWS`] rows after `seq` and moves `seq` on. Gives how many.
    fn add_rows(&mut self, seq: &mut u64) -> anyhow::Result<usize> {
        let rows = self
            .reader
            .outbox_after(i64::try_from(*seq).unwrap_or(i64::MAX), ROWS)?;
        for row in &rows {
            match &row.op {
                DocOp::Upsert(json) => self.upsert(row.fingerprint, row.seq, json)?,
                DocOp::Delete => self.writer()?.delete(row.fingerprint),
            }
            *seq = u64::try_from(row.seq).unwrap_or(*seq);
        }
        Ok(rows.len())
    }

    fn upsert(&mut self, fingerprint: u64, seq: i64, json: &[u8]) -> anyhow::Result<()> {
        // A row that this program cannot read (written by another version) must not stop all later ones.
        let (fetched_ms, document) = match outbox::read(json) {
            Ok(row) => row,
            Err(error) => {
                tracing::error!(seq, %error, "document in the outbox cannot be read, left out");
                return Ok(());
            }
        };
        self.writer()?.upsert(&Entry {
            fingerprint,
            seq: u64::try_from(seq).unwrap_or_default(),
            fetched_ms,
            document: &document,
        })?;
        Ok(())
    }

    fn writer(&mut self) -> anyhow::Result<&mut Writer> {
        self.writer.as_mut().context("the index is not open")
    }

    fn commit(&mut self, seq: u64) -> anyhow::Result<()> {
        let started = Instant::now();
        self.writer()?.commit(seq)?;
        ::metrics::histogram!(metrics::COMMIT_SECONDS).record(started.elapsed().as_secs_f64());
        self.shared.set_indexed(seq);
        tracing::debug!(seq, "index committed");
        Ok(())
    }

    /// Tries until the index opens again; false when the daemon stops meanwhile.
    fn reopen(&mut self, poke: &Receiver<()>) -> bool {
        self.writer = None;
        loop {
            thread::sleep(RETRY_AFTER);
            if matches!(
                poke.try_recv(),
                Err(std::sync::mpsc::TryRecvError::Disconnected)
            ) {
                return false;
            }
            match open(&self.dir, &self.config) {
                Ok(writer) => {
                    self.writer = Some(writer);
                    return true;
                }
                Err(error) => tracing::error!(%error, "index still cannot be opened"),
            }
        }
    }
}
