//! Indexes documents from the store's log in OpenSearch, so that several nodes search one index.
//!
//! One node of a cluster does this for all; another takes over when it is silent. While the engine is away documents wait in
//! the log, and nothing is lost.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::feeding::{SuspectRows, add, add_rows, try_left_out_again};
use super::{DRAIN, RECUT, ROWS, RebuildProgress, commit, is_over, recut, recut_within};
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::daemon::watchdog::Worker;
use crate::documents::{IndexAt, RemoteAt, StoreDocuments};
use crate::serve::metrics;
use taojin_crawl::store;
use taojin_search::analyze::Analyzer;
use taojin_search::index::remote::{RemoteState, RemoteWriter};
use taojin_search::index::{self, IndexWriter as _, caught};

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

/// How often the documents of index and store are counted, beside the first time.
const AUDIT_EVERY: Duration = Duration::from_secs(3_600);
/// The same after they differed: an engine remembers for a minute that somebody deleted a document there, and takes it from
/// nobody meanwhile.
const AUDIT_AGAIN: Duration = Duration::from_secs(120);

/// The thread that feeds an engine.
pub(in crate::daemon) struct RemoteIndexer {
    at: RemoteAt,
    analyzer: Analyzer,
    config: index::Config,
    store_id: i64,
    reader: store::Reader,
    documents: Arc<StoreDocuments>,
    shared: Arc<Shared>,
    /// What failures have taught, for the index that is searched and the one that is being made.
    caution: SuspectRows,
    fresh_caution: SuspectRows,
    /// Name of this one among those that could write.
    holder: String,
    /// Whether no other one can be there: the store is a file of this machine, which this program has locked.
    alone: bool,
    /// The state that was seen last, and since when it is the same.
    seen: Option<(RemoteState, Instant)>,
    /// The last change that the index was seen to have.
    indexed: u64,
    /// Searches lack documents until the index has this change: the end of the log when it was seen first, or lost.
    goal: Option<u64>,
}

/// An index that is to take the place of the one that is searched.
struct FreshIndex {
    writer: RemoteWriter,
    /// The last change that was added.
    seq: u64,
    /// Changes added since the last commit.
    uncommitted: usize,
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
            fresh_caution: SuspectRows::default(),
            holder: some_name(),
            seen: None,
            indexed: 0,
            goal: None,
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
            self.fresh_caution.failed();
            self.shared.heartbeat(Worker::Indexer).waits(&failed);
            if is_over(wake, RETRY_AFTER) {
                return;
            }
        }
    }

    /// Waits for its turn and feeds the engine. Gives whether the daemon stops; an error is tried again.
    fn turn(&mut self, wake: &Receiver<()>) -> anyhow::Result<bool> {
        self.shared.heartbeat(Worker::Indexer).record();
        if !self.is_free()? {
            if self.shared.index().take_rebuild_request() {
                tracing::warn!(
                    "another node writes the search index: `taojin reindex` works there"
                );
            }
            return Ok(is_over(wake, BEAT_EVERY));
        }
        let writer = self.open()?;
        tracing::info!(index = %self.at.index.place(), from = writer.last_seq(), "this node writes the search index");
        self.follow(writer, wake)?.release()?;
        Ok(true)
    }

    /// Whether nobody else writes the index.
    fn is_free(&mut self) -> anyhow::Result<bool> {
        let state = self.at.index.state()?;
        if self.alone || state.holder.is_empty() || state.holder == self.holder {
            return Ok(true);
        }
        self.note_progress(state.served.seq)?;
        match &self.seen {
            Some((seen, since)) if *seen == state => Ok(since.elapsed() >= SILENT),
            _ => {
                self.seen = Some((state, Instant::now()));
                Ok(false)
            }
        }
    }

    /// The number of the last change in the log.
    fn last_seq(&self) -> anyhow::Result<u64> {
        let last = self.reader.last_document_seq()?;
        Ok(u64::try_from(last).unwrap_or_default())
    }

    /// Tells how far the index is, and whether searches lack documents.
    fn note_progress(&mut self, seq: u64) -> anyhow::Result<()> {
        let was_lost = seq < self.indexed;
        self.indexed = seq;
        let goal = match self.goal {
            Some(goal) if !was_lost => goal,
            _ => *self.goal.insert(self.last_seq()?),
        };
        self.shared.index().set_indexed(seq);
        self.shared.index().set_caught_up(seq >= goal);
        Ok(())
    }

    fn open(&mut self) -> anyhow::Result<RemoteWriter> {
        let mut writer = RemoteWriter::open(
            self.at.index.clone(),
            &self.analyzer,
            &self.config,
            self.at.layout,
            self.documents.clone(),
            self.store_id,
            &self.holder,
        )?;
        let last = self.last_seq()?;
        if writer.last_seq() > last {
            bail!(
                "the search index knows changes up to {}, the store up to {last}: was the store restored from a backup? \
                 Restart taojin, which then goes on behind them",
                writer.last_seq()
            );
        }
        if writer.is_of_other_version()
            && try_left_out_again(&self.reader, &mut writer, &mut self.caution)?
        {
            self.shared.index().request_rebuild();
        }
        self.note_progress(writer.last_seq())?;
        Ok(writer)
    }

    /// Feeds the engine until the other end is gone.
    fn follow(
        &mut self,
        mut writer: RemoteWriter,
        wake: &Receiver<()>,
    ) -> anyhow::Result<RemoteWriter> {
        let mut seq = writer.last_seq();
        let (mut waiting, mut committed) = (0, Instant::now());
        let mut deadline: Option<Instant> = None;
        let mut next_audit = Instant::now();
        let mut fresh = None;
        if writer.has_fresh() {
            fresh = Some(self.start_fresh(&writer)?);
        }
        loop {
            self.shared.heartbeat(Worker::Indexer).record();
            if self.shared.index().take_rebuild_request() && fresh.is_none() {
                fresh = Some(self.start_fresh(&writer)?);
            }
            let added = add_rows(&self.reader, &mut writer, &mut seq, &mut self.caution)?;
            waiting += added;
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let last = deadline.is_some() && (added < ROWS || late);
            let due = committed.elapsed() >= COMMIT_AFTER || waiting >= COMMIT_ROWS || last;
            if (waiting > 0 || self.shared.index().recut().is_some()) && due {
                commit(&mut writer, seq, self.shared.index())?;
                self.note_progress(seq)?;
                (waiting, committed) = (0, Instant::now());
            } else if committed.elapsed() >= BEAT_EVERY {
                writer.record_heartbeat()?;
                committed = Instant::now();
            }
            if last {
                if let Some(mut fresh) = fresh {
                    fresh.writer.commit(fresh.seq)?;
                }
                return Ok(writer);
            }
            if added == ROWS {
                continue;
            }
            let mut wait = COMMIT_AFTER;
            if let Some(mut making) = fresh.take() {
                wait = Duration::ZERO;
                if self.advance(&mut making)? {
                    commit(&mut writer, seq, self.shared.index())?;
                    writer = self.finish_fresh(writer, making)?;
                    (seq, waiting, committed) = (writer.last_seq(), 0, Instant::now());
                } else {
                    fresh = Some(making);
                }
            } else if waiting == 0 && deadline.is_none() {
                if Instant::now() >= next_audit {
                    let differed = self.audit(&mut writer)?;
                    next_audit = Instant::now() + if differed { AUDIT_AGAIN } else { AUDIT_EVERY };
                }
                if let Some(taken) = recut(&mut writer, self.shared.index())? {
                    // Half of the time is left.
                    wait = taken.min(COMMIT_AFTER);
                }
            }
            if deadline.is_none() && is_over(wake, wait) {
                deadline = Some(Instant::now() + DRAIN);
            }
        }
    }

    /// Begins to make the index again beside the one that is searched, or goes on with that.
    fn start_fresh(&mut self, writer: &RemoteWriter) -> anyhow::Result<FreshIndex> {
        let fresh = writer.fresh(self.at.layout)?;
        let (seq, last) = (fresh.last_seq(), self.last_seq()?);
        tracing::info!(
            from = seq,
            to = last,
            "the search index is rebuilt from the store"
        );
        self.shared
            .index()
            .set_rebuild(Some(RebuildProgress { seq, last }));
        Ok(FreshIndex {
            writer: fresh,
            seq,
            uncommitted: 0,
        })
    }

    /// Takes some more changes into the new index. Gives whether it has all.
    fn advance(&mut self, fresh: &mut FreshIndex) -> anyhow::Result<bool> {
        let added = add_rows(
            &self.reader,
            &mut fresh.writer,
            &mut fresh.seq,
            &mut self.fresh_caution,
        )?;
        fresh.uncommitted += added;
        if fresh.uncommitted >= COMMIT_ROWS {
            fresh.writer.commit(fresh.seq)?;
            fresh.uncommitted = 0;
        }
        let (seq, last) = (fresh.seq, self.last_seq()?);
        self.shared
            .index()
            .set_rebuild(Some(RebuildProgress { seq, last }));
        Ok(added == 0)
    }

    /// Lets the new index take the place of the old one.
    fn finish_fresh(
        &mut self,
        writer: RemoteWriter,
        mut fresh: FreshIndex,
    ) -> anyhow::Result<RemoteWriter> {
        fresh.writer.commit(fresh.seq)?;
        let writer = writer.put_in_place(fresh.writer)?;
        tracing::info!(changes = fresh.seq, "the new search index is in place");
        self.shared.index().set_rebuild(None);
        self.note_progress(writer.last_seq())?;
        Ok(writer)
    }

    /// Mends the index where it has another number of documents than the store: somebody changed it there, or what it had
    /// confirmed was lost. Gives whether it had.
    fn audit(&mut self, writer: &mut RemoteWriter) -> anyhow::Result<bool> {
        let seq = writer.last_seq();
        let number = i64::try_from(seq).unwrap_or(i64::MAX);
        let store = self.reader.present_documents()?;
        let waiting = u64::try_from(self.reader.documents_waiting(number)?).unwrap_or_default();
        let index = writer.num_docs()? + writer.left_out().count();
        if index.abs_diff(store) <= waiting {
            tracing::debug!(index, store, "index and store have the same documents");
            return Ok(false);
        }
        tracing::warn!(
            index,
            store,
            "index and store have different numbers of documents; they are compared"
        );
        let mut repaired = 0;
        let mut after = 0;
        while after < seq {
            self.shared.heartbeat(Worker::Indexer).record();
            writer.record_heartbeat()?;
            let (listed, until) = writer.listed_after(after)?;
            let stored = self.reader.present_between(after, until)?;
            let [there, wanted] = [&listed, &stored].map(|of| of.iter().collect::<HashSet<_>>());
            for (fingerprint, version) in there.symmetric_difference(&wanted) {
                let row = self.reader.document(*fingerprint)?;
                match row {
                    // The log brings it.
                    Some(row) if row.seq > number => continue,
                    Some(row) => add(&self.reader, &row, writer, &mut self.caution)?,
                    None => writer.delete(*fingerprint, *version)?,
                }
                repaired += 1;
            }
            after = until;
        }
        writer.commit(seq)?;
        ::metrics::counter!(metrics::INDEX_REPAIRED_TOTAL).increment(repaired);
        tracing::warn!(
            documents = repaired,
            "the search index was repaired from the store"
        );
        Ok(true)
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
    let was_empty = writer.last_seq() == 0;
    let mut seq = writer.last_seq();
    let mut waiting = 0;
    loop {
        let added = add_rows(&indexer.reader, &mut writer, &mut seq, &mut indexer.caution)?;
        waiting += added;
        if added == 0 || waiting >= COMMIT_ROWS {
            writer.commit(seq)?;
            waiting = 0;
            let last = indexer.last_seq()?;
            each(RebuildProgress { seq, last });
        }
        if added == 0 {
            break;
        }
    }
    let anew = anew || indexer.shared.index().take_rebuild_request();
    if anew && !was_empty {
        let mut fresh = indexer.start_fresh(&writer)?;
        while !indexer.advance(&mut fresh)? {
            let (seq, last) = (fresh.seq, indexer.last_seq()?);
            each(RebuildProgress { seq, last });
        }
        writer = indexer.finish_fresh(writer, fresh)?;
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
