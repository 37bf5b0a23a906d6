//! Indexes documents from the store's log in OpenSearch, so that several nodes search one index.
//!
//! One node of a cluster does this for all; another takes over when it is silent. While the engine is away documents wait in
//! the log, and nothing is lost.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::feeding::{SuspectRows, add_rows};
use super::{DRAIN, RECUT, ROWS, RebuildProgress, commit, is_over, recut, recut_within};
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::daemon::watchdog::Worker;
use crate::documents::{IndexAt, RemoteAt, StoreDocuments};
use taojin_crawl::store;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{RemoteState, RemoteWriter};
use taojin_search::index::{self, IndexError, IndexWriter, caught};

/// A document is searchable this long after it came in, plus the time of a commit: three requests.
const COMMIT_AFTER: Duration = Duration::from_secs(1);
/// How often a holder says that it is there, and others look whether it is.
const BEAT_EVERY: Duration = Duration::from_secs(5);
/// A holder that was silent for so long by the clock of the one who waits is gone.
const SILENT: Duration = Duration::from_secs(20);
/// Pause before it is tried again after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Changes between two commits while the index catches up.
const COMMIT_ROWS: usize = 4_096;

/// The thread that feeds an engine.
pub(in crate::daemon) struct RemoteIndexer {
    at: RemoteAt,
    analyzer: Analyzer,
    config: index::Config,
    store_id: i64,
    reader: store::Reader,
    documents: Arc<StoreDocuments>,
    shared: Arc<Shared>,
    caution: SuspectRows,
    /// Name of this one among those that could write.
    holder: String,
    /// Whether no other one can be there: the store is a file of this machine, which this program has locked.
    alone: bool,
    /// The state that was seen last, and since when it is the same.
    seen: Option<(RemoteState, Instant)>,
    /// Where the log ends that an index made again must reach.
    anew_until: Option<u64>,
}

impl RemoteIndexer {
    pub(in crate::daemon) fn new(
        loaded: &LoadedConfig,
        at: RemoteAt,
        analyzer: &Analyzer,
        reader: store::Reader,
        shared: Arc<Shared>,
    ) -> anyhow::Result<Self> {
        let place = loaded.store_place();
        Ok(Self {
            at,
            analyzer: analyzer.clone(),
            config: loaded.config.index.clone(),
            store_id: reader.store_id()?,
            reader,
            alone: !place.is_postgres(),
            documents: Arc::new(StoreDocuments::new(place)),
            shared,
            caution: SuspectRows::default(),
            holder: some_name(),
            seen: None,
            anew_until: None,
        })
    }

    /// Works until the other end of `wake` is dropped, then takes what is left as far as [`DRAIN`] allows.
    pub(in crate::daemon) fn run(mut self, wake: &Receiver<()>) {
        loop {
            let failed = match caught(|| self.turn(wake)) {
                Ok(Ok(true)) => return,
                Ok(Ok(false)) => continue,
                Ok(Err(error)) => error,
                Err(panic) => anyhow::Error::msg(panic),
            };
            tracing::error!(
                error = format!("{failed:#}"),
                "the search index cannot be written; documents wait in the store"
            );
            self.caution.failed();
            self.shared.waits(Worker::Indexer, &failed);
            if is_over(wake, RETRY_AFTER) {
                return;
            }
        }
    }

    /// Waits for its turn and feeds the engine. Gives whether the daemon stops; an error is tried again.
    fn turn(&mut self, wake: &Receiver<()>) -> anyhow::Result<bool> {
        // The engine is searched by all nodes, however far it is.
        self.shared.set_caught_up();
        self.shared.record_heartbeat(Worker::Indexer);
        if !self.is_free()? {
            if self.shared.take_reindex_request() {
                tracing::warn!(
                    "another node writes the search index: `taojin reindex` works there"
                );
            }
            return Ok(is_over(wake, BEAT_EVERY));
        }
        let mut writer = self.open()?;
        tracing::info!(index = %self.at.index.place(), from = writer.last_seq(), "this node writes the search index");
        self.shared.set_indexed(writer.last_seq());
        self.follow(&mut writer, wake)?;
        writer.release()?;
        Ok(true)
    }

    /// Whether nobody else writes the index.
    fn is_free(&mut self) -> anyhow::Result<bool> {
        let state = self.at.index.state()?;
        if self.alone || state.holder.is_empty() || state.holder == self.holder {
            return Ok(true);
        }
        self.shared.set_indexed(state.seq);
        match &self.seen {
            Some((seen, since)) if *seen == state => Ok(since.elapsed() >= SILENT),
            _ => {
                self.seen = Some((state, Instant::now()));
                Ok(false)
            }
        }
    }

    fn open(&self) -> anyhow::Result<RemoteWriter> {
        let writer = RemoteWriter::open(
            self.at.index.clone(),
            &self.analyzer,
            &self.config,
            (self.at.shards, self.at.replicas),
            self.documents.clone(),
            self.store_id,
            &self.holder,
        )?;
        let last = u64::try_from(self.reader.last_document_seq()?).unwrap_or_default();
        if writer.last_seq() > last {
            bail!(
                "the search index knows changes up to {}, the store up to {last}: was the store restored from a backup? \
                 Restart taojin, which then goes on behind them",
                writer.last_seq()
            );
        }
        Ok(writer)
    }

    /// Feeds the engine until the other end is gone.
    fn follow(&mut self, writer: &mut RemoteWriter, wake: &Receiver<()>) -> anyhow::Result<()> {
        let mut seq = writer.last_seq();
        let (mut waiting, mut committed) = (0, Instant::now());
        let mut deadline: Option<Instant> = None;
        loop {
            self.shared.record_heartbeat(Worker::Indexer);
            if self.shared.take_reindex_request() {
                self.begin_again(writer)?;
                seq = 0;
            }
            let added = add_rows(&self.reader, writer, &mut seq, &mut self.caution)?;
            waiting += added;
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let last = deadline.is_some() && (added < ROWS || late);
            let due = committed.elapsed() >= COMMIT_AFTER || waiting >= COMMIT_ROWS || last;
            if (waiting > 0 || self.shared.recut().is_some()) && due {
                self.commit(writer, seq)?;
                (waiting, committed) = (0, Instant::now());
            } else if committed.elapsed() >= BEAT_EVERY {
                writer.record_heartbeat()?;
                committed = Instant::now();
            }
            if last {
                return Ok(());
            }
            if added == ROWS {
                continue;
            }
            let mut wait = COMMIT_AFTER;
            if waiting == 0 {
                self.end_anew(seq);
                if deadline.is_none()
                    && let Some(taken) = recut(writer, &self.shared)?
                {
                    // Half of the time is left.
                    wait = taken.min(COMMIT_AFTER);
                }
            }
            if deadline.is_none() && is_over(wake, wait) {
                deadline = Some(Instant::now() + DRAIN);
            }
        }
    }

    fn commit(&self, writer: &mut RemoteWriter, seq: u64) -> Result<(), IndexError> {
        commit(writer, seq, &self.shared)?;
        if let Some(last) = self.anew_until {
            self.shared
                .set_reindexing(Some(RebuildProgress { seq, last }));
        }
        Ok(())
    }

    /// Goes through the log again, from its beginning. What is found meanwhile is what was there and what came since.
    fn begin_again(&mut self, writer: &mut RemoteWriter) -> anyhow::Result<()> {
        let last = u64::try_from(self.reader.last_document_seq()?).unwrap_or_default();
        tracing::info!(
            to = last,
            "all documents are sent to the search index again"
        );
        writer.begin_again()?;
        self.anew_until = Some(last);
        self.shared
            .set_reindexing(Some(RebuildProgress { seq: 0, last }));
        Ok(())
    }

    fn end_anew(&mut self, seq: u64) {
        if self.anew_until.take_if(|until| seq >= *until).is_some() {
            self.shared.set_reindexing(None);
        }
    }
}

/// Takes every change in the log into the engine, now; with `again` also those that it has. For commands without a daemon.
/// Returns how many documents there are.
pub(super) fn take_all(
    loaded: &LoadedConfig,
    at: RemoteAt,
    reader: store::Reader,
    anew: bool,
    each: &mut dyn FnMut(RebuildProgress),
) -> anyhow::Result<u64> {
    let analyzer = loaded.analyzer()?;
    let mut indexer = RemoteIndexer::new(loaded, at, &analyzer, reader, Arc::default())?;
    let begun = Instant::now();
    while !indexer.is_free()? {
        if begun.elapsed() > SILENT + BEAT_EVERY {
            bail!(
                "a running node of the cluster writes the search index: it takes these changes by itself"
            );
        }
        std::thread::sleep(BEAT_EVERY);
    }
    let mut writer = indexer.open()?;
    if anew {
        writer.begin_again()?;
    }
    let mut seq = writer.last_seq();
    let mut waiting = 0;
    loop {
        let added = add_rows(&indexer.reader, &mut writer, &mut seq, &mut indexer.caution)?;
        waiting += added;
        if added == 0 || waiting >= COMMIT_ROWS {
            writer.commit(seq)?;
            waiting = 0;
            let last = u64::try_from(indexer.reader.last_document_seq()?).unwrap_or_default();
            each(RebuildProgress { seq, last });
        }
        if added == 0 {
            break;
        }
    }
    recut_within(&mut writer, RECUT)?;
    writer.release()?;
    let reader = IndexAt::new(loaded).open(&analyzer)?;
    Ok(reader.num_docs()?)
}

/// A name that no other one has.
fn some_name() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Keys from the system's source of chance.
    let chance = std::hash::RandomState::new().build_hasher().finish();
    format!("{chance:016x}")
}
