//! Indexes documents from the store's log in OpenSearch, so that several nodes search one index.
//!
//! One node of a cluster does this for all; another takes over when it is silent. While the engine is away documents wait in
//! the log, and nothing is lost.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::feeding::LogFeed;
use super::rebuild::IndexRebuild;
use super::{DRAIN, IndexProgress, RECUT, RebuildProgress, commit, is_over, recut, recut_within};
use crate::config::LoadedConfig;
use crate::daemon::Shared;
use crate::daemon::watchdog::{Heartbeat, Worker};
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
    documents: Arc<StoreDocuments>,
    log: LogFeed,
    candidate: Candidate,
    catch_up: CatchUp,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
}

/// This program as one of those that could write the index, of which one at a time does.
struct Candidate {
    /// As the state of the index names its holder.
    name: String,
    /// Whether no other one can be there: the store is a file of this machine, which this program has locked.
    is_alone: bool,
    /// The state that was seen last, and since when it is the same.
    seen: Option<(RemoteState, Instant)>,
}

impl Candidate {
    fn new(is_alone: bool) -> Self {
        Self {
            name: some_name(),
            is_alone,
            seen: None,
        }
    }

    /// Whether no other one holds the index by this state.
    fn is_unopposed(&self, state: &RemoteState) -> bool {
        self.is_alone || state.holder.is_empty() || state.holder == self.name
    }

    /// Whether the holder is gone: its state has not changed for [`SILENT`]. To be asked every few seconds.
    fn may_take_over(&mut self, state: RemoteState, now: Instant) -> bool {
        match &self.seen {
            Some((seen, since)) if *seen == state => {
                now.saturating_duration_since(*since) >= SILENT
            }
            _ => {
                self.seen = Some((state, now));
                false
            }
        }
    }
}

/// How far an index is that somebody else may write, and may lose.
#[derive(Default)]
struct CatchUp {
    /// The last change that the index was seen to have.
    indexed: u64,
    /// Searches lack documents until the index has this change: the end of the log when it was seen first, or lost.
    goal: Option<u64>,
}

impl CatchUp {
    /// Notes that the index has everything up to `seq`, with a log that ends at `last_seq`. Returns whether searches lack
    /// nothing.
    fn reach<E>(&mut self, seq: u64, last_seq: impl FnOnce() -> Result<u64, E>) -> Result<bool, E> {
        let was_lost = seq < self.indexed;
        self.indexed = seq;
        let goal = match self.goal {
            Some(goal) if !was_lost => goal,
            _ => *self.goal.insert(last_seq()?),
        };
        Ok(seq >= goal)
    }
}

impl RemoteIndexer {
    pub(in crate::daemon) fn new(
        loaded: &LoadedConfig,
        at: RemoteAt,
        analyzer: &Analyzer,
        reader: store::Reader,
        shared: &Shared,
    ) -> anyhow::Result<Self> {
        let place = loaded.store_place();
        Ok(Self {
            at,
            analyzer: analyzer.clone(),
            config: loaded.config.index.clone(),
            store_id: reader.store_id()?,
            log: LogFeed::new(reader),
            candidate: Candidate::new(!place.is_postgres()),
            documents: Arc::new(StoreDocuments::new(place)),
            catch_up: CatchUp::default(),
            progress: Arc::clone(shared.index()),
            heartbeat: shared.heartbeat(Worker::Indexer),
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
            self.log.record_failure();
            self.heartbeat.waits(&failed);
            if is_over(wake, RETRY_AFTER) {
                return;
            }
        }
    }

    /// Waits for its turn and feeds the engine. Gives whether the daemon stops; an error is tried again.
    fn turn(&mut self, wake: &Receiver<()>) -> anyhow::Result<bool> {
        self.heartbeat.record();
        if !self.is_free()? {
            if self.progress.take_rebuild_request() {
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
        if self.candidate.is_unopposed(&state) {
            return Ok(true);
        }
        self.note_progress(state.served.seq)?;
        Ok(self.candidate.may_take_over(state, Instant::now()))
    }

    /// Tells how far the index is, and whether searches lack documents.
    fn note_progress(&mut self, seq: u64) -> anyhow::Result<()> {
        let is_caught_up = self.catch_up.reach(seq, || self.log.last_seq())?;
        self.progress.set_indexed(seq);
        self.progress.set_caught_up(is_caught_up);
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
            &self.candidate.name,
        )?;
        let last = self.log.last_seq()?;
        if writer.last_seq() > last {
            bail!(
                "the search index knows changes up to {}, the store up to {last}: was the store restored from a backup? \
                 Restart taojin, which then goes on behind them",
                writer.last_seq()
            );
        }
        if writer.is_of_other_version() && self.log.retry_skipped(&mut writer)? {
            self.progress.request_rebuild();
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
            self.heartbeat.record();
            if self.progress.take_rebuild_request() && fresh.is_none() {
                fresh = Some(self.start_fresh(&writer)?);
            }
            let added = self.log.add_rows(&mut writer, &mut seq)?;
            waiting += added.count;
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let last = deadline.is_some() && (!added.has_more || late);
            let due = committed.elapsed() >= COMMIT_AFTER || waiting >= COMMIT_ROWS || last;
            if (waiting > 0 || self.progress.recut().is_some()) && due {
                commit(&mut writer, seq, &self.progress)?;
                self.note_progress(seq)?;
                (waiting, committed) = (0, Instant::now());
            } else if committed.elapsed() >= BEAT_EVERY {
                writer.record_heartbeat()?;
                committed = Instant::now();
            }
            if last {
                if let Some(fresh) = fresh {
                    fresh.commit()?;
                }
                return Ok(writer);
            }
            if added.has_more {
                continue;
            }
            let mut wait = COMMIT_AFTER;
            if let Some(mut making) = fresh.take() {
                wait = Duration::ZERO;
                if self.advance(&mut making)? {
                    commit(&mut writer, seq, &self.progress)?;
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
                if let Some(taken) = recut(&mut writer, &self.progress)? {
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
    fn start_fresh(&mut self, writer: &RemoteWriter) -> anyhow::Result<IndexRebuild<RemoteWriter>> {
        let fresh = writer.fresh(self.at.layout)?;
        let rebuild = IndexRebuild::new(fresh);
        let at = rebuild.progress(&self.log)?;
        tracing::info!(
            from = at.seq,
            to = at.last,
            "the search index is rebuilt from the store"
        );
        self.progress.set_rebuild(Some(at));
        Ok(rebuild)
    }

    /// Takes some more changes into the new index. Gives whether it has all.
    fn advance(&mut self, fresh: &mut IndexRebuild<RemoteWriter>) -> anyhow::Result<bool> {
        let has_more = fresh.advance(&mut self.log, COMMIT_ROWS)?;
        let at = fresh.progress(&self.log)?;
        self.progress.set_rebuild(Some(at));
        Ok(!has_more)
    }

    /// Lets the new index take the place of the old one.
    fn finish_fresh(
        &mut self,
        writer: RemoteWriter,
        fresh: IndexRebuild<RemoteWriter>,
    ) -> anyhow::Result<RemoteWriter> {
        let seq = fresh.seq();
        let writer = writer.put_in_place(fresh.commit()?)?;
        tracing::info!(changes = seq, "the new search index is in place");
        self.progress.set_rebuild(None);
        self.note_progress(writer.last_seq())?;
        Ok(writer)
    }

    /// Mends the index where it has another number of documents than the store: somebody changed it there, or what it had
    /// confirmed was lost. Gives whether it had.
    fn audit(&mut self, writer: &mut RemoteWriter) -> anyhow::Result<bool> {
        let seq = writer.last_seq();
        let number = i64::try_from(seq).unwrap_or(i64::MAX);
        let store = self.log.reader().present_documents()?;
        let waiting =
            u64::try_from(self.log.reader().documents_waiting(number)?).unwrap_or_default();
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
            self.heartbeat.record();
            writer.record_heartbeat()?;
            let (listed, until) = writer.listed_after(after)?;
            let stored = self.log.reader().present_between(after, until)?;
            let [there, wanted] = [&listed, &stored].map(|of| of.iter().collect::<HashSet<_>>());
            for (fingerprint, version) in there.symmetric_difference(&wanted) {
                let row = self.log.reader().document(*fingerprint)?;
                match row {
                    // The log brings it.
                    Some(row) if row.seq > number => continue,
                    Some(row) => self.log.add(&row, writer)?,
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
    let mut indexer = RemoteIndexer::new(loaded, at, &analyzer, reader, &Shared::default())?;
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
        let added = indexer.log.add_rows(&mut writer, &mut seq)?;
        waiting += added.count;
        if added.count == 0 || waiting >= COMMIT_ROWS {
            writer.commit(seq)?;
            waiting = 0;
            let last = indexer.log.last_seq()?;
            each(RebuildProgress { seq, last });
        }
        if added.count == 0 {
            break;
        }
    }
    let anew = anew || indexer.progress.take_rebuild_request();
    if anew && !was_empty {
        let mut fresh = indexer.start_fresh(&writer)?;
        while !indexer.advance(&mut fresh)? {
            each(fresh.progress(&indexer.log)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_crawl::store::StoreError;

    #[test]
    fn candidate_waits_for_silence() {
        let held_by = |holder: &str, beat| RemoteState {
            holder: holder.to_owned(),
            beat,
            ..RemoteState::default()
        };
        let mut candidate = Candidate::new(false);
        assert!(candidate.is_unopposed(&held_by("", 1)));
        assert!(candidate.is_unopposed(&held_by(&candidate.name, 1)));
        assert!(!candidate.is_unopposed(&held_by("other", 1)));
        assert!(Candidate::new(true).is_unopposed(&held_by("other", 1)));

        let start = Instant::now();
        for (beat, at, expected, case) in [
            (1, Duration::ZERO, false, "first seen"),
            (1, SILENT - BEAT_EVERY, false, "silent for a while"),
            (2, SILENT, false, "heard again"),
            (2, SILENT * 2 - BEAT_EVERY, false, "counted from then"),
            (2, SILENT * 2, true, "silent for long"),
        ] {
            let is_free = candidate.may_take_over(held_by("other", beat), start + at);
            assert_eq!(is_free, expected, "{case}");
        }
    }

    #[test]
    fn catch_up_goal_stays_unless_lost() {
        let mut catch_up = CatchUp::default();
        for (seq, last_seq, expected, case) in [
            (3, 10, false, "the end of the log is the goal"),
            (10, 20, true, "what came later is not"),
            (12, 20, true, "nor is it taken in its place"),
            (0, 20, false, "the index was lost"),
            (20, 30, true, "and made again"),
        ] {
            let reached = catch_up.reach(seq, || Ok::<_, StoreError>(last_seq));
            assert_eq!(reached.unwrap(), expected, "{case}");
        }
    }
}
