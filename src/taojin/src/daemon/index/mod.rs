//! Indexes documents from the store's log, in order: one [`Indexer`] over each [`Engine`] that keeps an index.
//!
//! A commit of the index says up to which change it holds everything. The store is never written to.
//!
//! Nothing is lost and nothing is there twice: the log keeps every document, and one that is added again after a crash
//! replaces itself. An index that is missing is made from the log; one that is damaged, of another version or of another
//! store is made again beside the old one.

mod catch_up;
mod copying;
mod embedded;
mod engine;
mod feeding;
mod progress;
mod rebuild;
mod remote;
#[cfg(test)]
mod tests;
mod trouble;
mod turns;
mod watching;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::Shared;
use super::crawl::disk::Pause;
use super::report::systemd;
use super::shared::Lifecycle;
use super::watchdog::{Heartbeat, Worker};
use crate::config::LoadedConfig;
use crate::documents::IndexAt;
use crate::serve::metrics;
use catch_up::CatchUp;
use embedded::EmbeddedEngine;
use engine::{Claim, Engine, Opened};
use feeding::{AddedRows, LogFeed};
use rebuild::IndexRebuild;
use remote::{BEAT_EVERY, RemoteEngine, SILENT};
use taojin_crawl::store::{self, Store, StoreError};
use taojin_search::analyze::Analyzer;
use taojin_search::index::{self, IndexError, IndexWriter, caught};

pub(super) use copying::Copier;
pub(super) use progress::IndexProgress;
pub use progress::RebuildProgress;
pub(super) use trouble::IndexTrouble;
pub(super) use watching::watch;

/// Changes read from the log at once.
const ROWS: usize = 256;
/// Time between two commits while so many changes come that there are always more: each commit makes a segment, and small ones are
/// merged at once.
const COMMIT_LATER: Duration = Duration::from_secs(5);
/// Time that a stopping daemon gives the index to catch up; the rest is done at the next start.
const DRAIN: Duration = Duration::from_secs(3);

/// Time that a command without a daemon takes to cut documents again whose terms came or went.
const RECUT: Duration = Duration::from_secs(10);

/// Pause before the index is opened again after it failed (full disk, I/O error, an engine that is away).
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// What the indexing thread runs until its channel is closed.
pub(super) type Indexing = Box<dyn FnOnce(&Receiver<()>) + Send>;

/// Carries the changes of the log into an index.
struct Indexer<E: Engine> {
    engine: E,
    log: LogFeed,
    /// None while the index cannot be written into: it is opened again, or is to be replaced.
    writer: Option<E::Writer>,
    /// The index that is to replace it.
    rebuild: Option<IndexRebuild<E::Writer>>,
    /// Whether this is the daemon, not one pass of a crawl.
    forever: bool,
    catch_up: CatchUp,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
    pause: Arc<Pause>,
    lifecycle: Arc<Lifecycle>,
}

/// What carries documents into the search index, wherever that is. Over a folder it is opened now; where it must be made again, a
/// daemon (`forever`) does so while it works, everybody else now.
pub(super) fn start(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    reader: store::Reader,
    shared: &Shared,
    forever: bool,
) -> anyhow::Result<Indexing> {
    if !loaded.config.cluster.serve {
        let progress = Arc::clone(shared.index());
        return Ok(Box::new(move |woken| without_index(woken, &progress)));
    }
    if IndexAt::new(loaded).remote().is_some() {
        let indexer = remote_indexer(loaded, analyzer, reader, shared, forever)?;
        return Ok(Box::new(move |woken| indexer.run(woken)));
    }
    let mut indexer = embedded_indexer(loaded, analyzer, reader, shared, forever)?;
    indexer.open_now()?;
    Ok(Box::new(move |woken| indexer.run(woken)))
}

fn embedded_indexer(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    reader: store::Reader,
    shared: &Shared,
    forever: bool,
) -> anyhow::Result<Indexer<EmbeddedEngine>> {
    let engine = EmbeddedEngine::new(loaded, analyzer, reader.identity()?.id);
    Ok(Indexer::new(engine, reader, shared, forever))
}

fn remote_indexer(
    loaded: &LoadedConfig,
    analyzer: &Analyzer,
    reader: store::Reader,
    shared: &Shared,
    forever: bool,
) -> anyhow::Result<Indexer<RemoteEngine>> {
    let at = IndexAt::new(loaded).remote().cloned();
    let engine = RemoteEngine::new(
        loaded,
        at.context("the index is in a folder")?,
        analyzer,
        reader.identity()?,
        shared,
    );
    Ok(Indexer::new(engine, reader, shared, forever))
}

/// Changes are in the store and not in the index: why, and what helps, says what caused this. Whoever takes changes into the index next
/// takes these too.
#[derive(Debug, thiserror::Error)]
#[error("what changed is in the store and waits there")]
pub(crate) struct DocumentsWait;

/// Takes every change in the log into the index, now. For commands without a daemon. Fails with [`DocumentsWait`].
pub(crate) fn catch_up(loaded: &LoadedConfig) -> anyhow::Result<()> {
    if !loaded.config.cluster.serve {
        return Ok(());
    }
    let (analyzer, reader) = (loaded.analyzer()?, copying::whole_log(loaded)?);
    let shared = Shared::default();
    if IndexAt::new(loaded).remote().is_some() {
        let indexer = remote_indexer(loaded, &analyzer, reader, &shared, false)?;
        return take_all(indexer).context(DocumentsWait);
    }
    let indexer = embedded_indexer(loaded, &analyzer, reader, &shared, false)?;
    take_all(indexer).context(DocumentsWait)
}

fn take_all<E: Engine>(mut indexer: Indexer<E>) -> anyhow::Result<()> {
    indexer.claim_now(false)?;
    indexer.open_now()?;
    indexer.take_all()?;
    indexer.finish()
}

/// Makes the index again from the log, now, or continues where that was broken off; with `takes_over` that of another store as well.
/// For commands without a daemon. Returns how many documents it holds.
pub(crate) fn rebuild_index(
    loaded: &LoadedConfig,
    takes_over: bool,
    mut each: impl FnMut(RebuildProgress),
) -> anyhow::Result<u64> {
    loaded.refuse_without_index()?;
    let (analyzer, reader) = (loaded.analyzer()?, copying::whole_log(loaded)?);
    let shared = Shared::default();
    if IndexAt::new(loaded).remote().is_some() {
        let indexer = remote_indexer(loaded, &analyzer, reader, &shared, false)?;
        rebuild(indexer, takes_over, &mut each)?;
    } else {
        let indexer = embedded_indexer(loaded, &analyzer, reader, &shared, false)?;
        rebuild(indexer, takes_over, &mut each)?;
    }
    Ok(crate::documents::open_index(loaded, &analyzer)?.num_docs()?)
}

fn rebuild<E: Engine>(
    mut indexer: Indexer<E>,
    takes_over: bool,
    each: &mut dyn FnMut(RebuildProgress),
) -> anyhow::Result<()> {
    indexer.claim_now(takes_over)?;
    indexer.start_rebuild()?;
    indexer.complete_rebuild(each)?;
    indexer.take_all()?;
    indexer.finish()
}

/// Commits and says so.
fn commit(
    writer: &mut dyn IndexWriter,
    seq: u64,
    progress: &IndexProgress,
) -> Result<(), IndexError> {
    let started = Instant::now();
    writer.commit(seq)?;
    ::metrics::histogram!(metrics::COMMIT_SECONDS).record(started.elapsed().as_secs_f64());
    progress.set_indexed(seq);
    tracing::debug!(seq, "index committed");
    Ok(())
}

/// Cuts some documents again whose terms came or went, and shows how far that is. Gives how long that took; none where all are as
/// they should be.
fn recut(
    writer: &mut dyn IndexWriter,
    progress: &IndexProgress,
) -> Result<Option<Duration>, IndexError> {
    let started = Instant::now();
    let now = writer.recut(ROWS)?;
    match (progress.set_recut(now), now) {
        (None, Some(at)) => tracing::info!(
            to = at.last,
            "terms came or went: documents with them are cut again"
        ),
        (Some(_), None) => tracing::info!("all documents are cut with the terms of now"),
        _ => {}
    }
    Ok(now.map(|_| started.elapsed()))
}

/// The same for a command that ends: as many as there is time for; the next one continues.
fn recut_within(writer: &mut dyn IndexWriter, time: Duration) -> Result<(), IndexError> {
    let started = Instant::now();
    while started.elapsed() < time && writer.recut(ROWS)?.is_some() {}
    writer.commit(writer.last_seq())
}

/// Waits for new documents; returns whether the daemon stops.
fn is_over(wake: &Receiver<()>, wait: Duration) -> bool {
    matches!(wake.recv_timeout(wait), Err(RecvTimeoutError::Disconnected))
}

/// Waits whatever comes; returns whether the daemon stops.
fn rest(wake: &Receiver<()>, time: Duration) -> bool {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match wake.recv_timeout(left) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => return true,
        }
    }
}

/// What the indexing thread does on a machine that only crawls: nothing waits for an index.
fn without_index(woken: &Receiver<()>, progress: &IndexProgress) {
    while woken.recv().is_ok() {
        progress.set_indexed(progress.indexed() + progress.lag());
    }
}

/// The last change that the index has, where it is of this store and the store does not know it (any more). That an engine
/// does not answer is no reason not to crawl, and is said by what writes there.
pub(super) fn is_ahead(at: &IndexAt, store: &Store) -> Result<Option<i64>, StoreError> {
    let noted = match at.noted() {
        Ok(noted) => noted,
        Err(error) => {
            tracing::debug!("{error}");
            return Ok(None);
        }
    };
    let seq = i64::try_from(noted.seq).unwrap_or(i64::MAX);
    let is_ours = noted.seq > 0 && noted.store == store.identity()?.id;
    Ok((is_ours && seq > store.last_document_seq()?).then_some(seq))
}

/// Refuses to continue with an empty store beside an index of another one: its documents were in the store that is gone, and
/// a new index would leave no sign of them.
pub(super) fn refuse_lost_store(dir: &Path, store: &Store) -> anyhow::Result<()> {
    let noted = index::noted(dir).unwrap_or_default();
    if store.last_document_seq()? > 0 || noted.seq == 0 {
        return Ok(());
    }
    Err(StoreError::Lost {
        path: store.path().to_owned(),
        index: dir.to_owned(),
        changes: noted.seq,
    }
    .into())
}

/// What one run of the loop remembers.
struct Turn {
    /// Up to this change everything is in the index, committed or not.
    seq: u64,
    /// Changes that wait for a commit, and since when.
    waiting: usize,
    waiting_since: Option<Instant>,
    has_more: bool,
    many_come: bool,
    /// The daemon stops, and gives the index so long.
    deadline: Option<Instant>,
    is_stopping: bool,
    /// When something was committed last. What an earlier run left may be tidied as well.
    quiet_since: Instant,
    /// While documents are cut again: since when some wait for a commit, and how long to rest, which is half of the time.
    recut_since: Option<Instant>,
    rest: Option<Duration>,
}

impl Turn {
    fn new(seq: u64) -> Self {
        Self {
            seq,
            waiting: 0,
            waiting_since: None,
            has_more: false,
            many_come: false,
            deadline: None,
            is_stopping: false,
            quiet_since: Instant::now(),
            recut_since: None,
            rest: None,
        }
    }

    /// How long to wait for new changes.
    fn wait(&self, commit_after: Duration) -> Duration {
        if self.has_more {
            return Duration::ZERO;
        }
        let until_commit = self.waiting_since.map_or(commit_after, |since| {
            commit_after.saturating_sub(since.elapsed())
        });
        until_commit.min(self.rest.unwrap_or(commit_after))
    }

    fn note_added(&mut self, added: AddedRows) {
        self.waiting += added.count;
        (self.has_more, self.many_come) = (added.has_more, added.has_more && added.are_many());
        if added.count > 0 {
            self.waiting_since.get_or_insert_with(Instant::now);
        }
    }

    /// Whether this is the last one: the daemon stops, and all is in the index or there is no more time.
    fn is_last(&self) -> bool {
        let is_late = self.deadline.is_some_and(|end| Instant::now() >= end);
        self.is_stopping && (!self.has_more || is_late)
    }

    fn is_commit_due(&self, pace: engine::Pace) -> bool {
        let is_last = self.is_last();
        let commit_after = if self.many_come {
            COMMIT_LATER
        } else {
            pace.commit_after
        };
        let since = |since: Option<Instant>, time: Duration| {
            since.is_some_and(|since| is_last || since.elapsed() >= time)
        };
        self.waiting >= pace.commit_rows
            || since(self.waiting_since, commit_after)
            || since(self.recut_since, COMMIT_LATER)
    }

    fn note_commit(&mut self) {
        self.waiting = 0;
        (self.waiting_since, self.recut_since) = (None, None);
        self.quiet_since = Instant::now();
    }
}

impl<E: Engine> Indexer<E> {
    fn new(engine: E, reader: store::Reader, shared: &Shared, forever: bool) -> Self {
        Self {
            engine,
            log: LogFeed::new(reader),
            writer: None,
            rebuild: None,
            forever,
            catch_up: CatchUp::default(),
            progress: Arc::clone(shared.index()),
            heartbeat: shared.heartbeat(Worker::Indexer),
            pause: Arc::clone(shared.pause()),
            lifecycle: Arc::clone(shared.lifecycle()),
        }
    }

    /// Takes the right to write the index for a command.
    fn claim_now(&mut self, takes_over: bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        while let Claim::Others { .. } = self.engine.claim(&self.log, takes_over)? {
            if begun.elapsed() > SILENT + BEAT_EVERY {
                bail!(
                    "a running node of the cluster writes the search index: it takes these changes by itself"
                );
            }
            thread::sleep(BEAT_EVERY);
        }
        Ok(())
    }

    /// Opens the index before anything else works. A command does not go on before one that must be made again is there.
    fn open_now(&mut self) -> anyhow::Result<()> {
        while let Err(error) = self.open() {
            // A document that brings it down is known now, and is left out the next time.
            if !self.log.take_warning() {
                return Err(error);
            }
            (self.writer, self.rebuild) = (None, None);
        }
        if !self.forever {
            self.complete_rebuild(&mut |_| {})?;
        }
        Ok(())
    }

    /// Opens the index, or begins to make it again where it cannot be gone on with.
    fn open(&mut self) -> anyhow::Result<()> {
        let Opened {
            writer,
            seq,
            mut needs_rebuild,
        } = self.engine.open()?;
        self.writer = writer;
        if let Some(writer) = &mut self.writer {
            let was_other = writer.is_of_other_version();
            needs_rebuild |= was_other && self.log.retry_skipped(writer)?;
            self.note_progress(seq)?;
        } else {
            self.progress.set_indexed(seq);
            self.progress.set_caught_up(false);
        }
        if needs_rebuild {
            self.start_rebuild()?;
        }
        Ok(())
    }

    /// Works until the other end of `wake` is dropped, then takes what is left as far as [`DRAIN`] allows.
    fn run(mut self, wake: &Receiver<()>) {
        loop {
            let failed = match caught(|| self.work(wake)) {
                Ok(Ok(())) => match self.finish() {
                    Ok(()) => return,
                    Err(error) => error.context("the index could not be left in order"),
                },
                Ok(Err(error)) => error,
                // Of the index, while it committed or merged: no document's fault that can be told.
                Err(panic) => anyhow::Error::msg(panic),
            };
            self.note_failure(&failed);
            (self.writer, self.rebuild) = (None, None);
            let is_known = self.log.take_warning();
            if is_over(wake, Duration::ZERO) || (!is_known && rest(wake, RETRY_AFTER)) {
                return;
            }
        }
    }

    /// Takes the right to write the index, opens it and follows the log until the daemon stops.
    fn work(&mut self, wake: &Receiver<()>) -> anyhow::Result<()> {
        if self.writer.is_none() && self.rebuild.is_none() {
            loop {
                let takes_over = self.progress.take_take_over_request();
                let Claim::Others { seq } = self.engine.claim(&self.log, takes_over)? else {
                    break;
                };
                self.heartbeat.record();
                self.note_progress(seq)?;
                if self.progress.take_rebuild_request() {
                    tracing::warn!(
                        "another node writes the search index: `taojin reindex` works there"
                    );
                }
                if is_over(wake, BEAT_EVERY) {
                    return Ok(());
                }
            }
            self.open()?;
        }
        self.follow(wake)
    }

    /// Indexes what comes until the other end is gone; returns early only with an error.
    fn follow(&mut self, wake: &Receiver<()>) -> anyhow::Result<()> {
        let pace = self.engine.pace();
        let mut turn = Turn::new(self.last_seq());
        loop {
            self.heartbeat.record();
            self.engine.keep_claim()?;
            let has_room = self.update_room();
            if !turn.is_stopping {
                let has_work = self.rebuild.is_some() && has_room;
                let wait = if has_work {
                    Duration::ZERO
                } else {
                    turn.wait(pace.commit_after)
                };
                turn.is_stopping = is_over(wake, wait);
            }
            if turn.is_stopping && turn.deadline.is_none() && self.is_hurried() {
                turn.deadline = Some(Instant::now() + DRAIN);
            }
            if self.progress.take_rebuild_request() && self.rebuild.is_none() {
                self.engine.discard_fresh()?;
                self.start_rebuild()?;
            }
            let has_all_of_log = !self.progress.is_copying();
            self.add_rows(&mut turn)?;
            let is_idle = turn.waiting == 0 && !turn.has_more && !turn.is_stopping;
            if is_idle && has_all_of_log && self.writer.is_some() {
                self.note_progress(turn.seq)?;
            }
            if is_idle && has_room && self.rebuild.is_none() {
                self.improve(&mut turn)?;
            } else {
                turn.rest = None;
            }
            if turn.is_commit_due(pace) {
                self.commit(turn.seq)?;
                turn.note_commit();
            }
            if turn.is_last() {
                return self.pause_rebuild();
            }
            if has_room && self.rebuild.is_some() && self.advance_rebuild()? {
                turn.seq = self.last_seq();
            }
        }
    }

    /// Whether a stop does not wait until everything is in the index. A pass that has done its work does.
    fn is_hurried(&self) -> bool {
        self.forever || self.lifecycle.is_stopping()
    }

    /// Work for times when nothing comes in.
    fn improve(&mut self, turn: &mut Turn) -> anyhow::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        turn.rest = recut(writer, &self.progress)?;
        if turn.rest.is_some() {
            turn.recut_since.get_or_insert_with(Instant::now);
        } else {
            let quiet = turn.quiet_since.elapsed();
            self.engine.tidy(writer, &mut self.log, quiet)?;
        }
        Ok(())
    }

    /// While the crawl pauses for want of room on the disk, no new index is made: it would fill the disk further. Returns whether
    /// there is room.
    fn update_room(&mut self) -> bool {
        let has_room = !self.forever || !self.pause.is_active();
        if let Some(writer) = &mut self.writer {
            self.engine.set_room(writer, has_room);
        }
        if let Some(rebuild) = &mut self.rebuild {
            self.engine.set_room(rebuild.writer_mut(), has_room);
        }
        has_room
    }

    /// All changes that the index lacks.
    fn take_all(&mut self) -> anyhow::Result<()> {
        let mut turn = Turn::new(self.last_seq());
        let pace = self.engine.pace();
        loop {
            self.engine.keep_claim()?;
            self.add_rows(&mut turn)?;
            if turn.waiting >= pace.commit_rows {
                self.commit(turn.seq)?;
                turn.note_commit();
            }
            if !turn.has_more {
                return self.commit(turn.seq);
            }
        }
    }

    /// Leaves the index in order; a command also cuts documents again whose terms came or went.
    fn finish(&mut self) -> anyhow::Result<()> {
        let mut writer = self.writer.take();
        if let Some(writer) = writer.as_mut().filter(|_| !self.forever) {
            recut_within(writer, RECUT)?;
        }
        self.engine.close(writer, !self.forever)
    }

    fn last_seq(&self) -> u64 {
        self.writer.as_ref().map_or(0, IndexWriter::last_seq)
    }

    /// Adds some of the next changes.
    fn add_rows(&mut self, turn: &mut Turn) -> anyhow::Result<()> {
        if let Some(writer) = &mut self.writer {
            let added = self.log.add_rows(writer, &mut turn.seq)?;
            turn.note_added(added);
        }
        Ok(())
    }

    fn commit(&mut self, seq: u64) -> anyhow::Result<()> {
        let writer = self.writer.as_mut().context("the index is not open")?;
        commit(writer, seq, &self.progress)?;
        self.note_progress(seq)
    }

    /// Says how far the index is, and whether searches lack documents.
    fn note_progress(&mut self, seq: u64) -> anyhow::Result<()> {
        self.progress.set_indexed(seq);
        if self.progress.set_trouble(None) {
            tracing::info!("the search index is written again");
        }
        if self.progress.is_copying() {
            return Ok(());
        }
        let has_all = self.catch_up.reach(seq, || self.log.last_seq())?;
        self.progress.set_caught_up(has_all);
        Ok(())
    }

    /// Opens the new index, empty or as far as it came before.
    fn start_rebuild(&mut self) -> anyhow::Result<()> {
        let last = self.log.last_seq()?;
        let writer = self.engine.open_fresh(last)?;
        let seq = writer.last_seq();
        self.progress
            .set_rebuild(Some(RebuildProgress { seq, last }));
        tracing::info!(from = seq, to = last, "the index is rebuilt from the store");
        self.rebuild = Some(IndexRebuild::new(writer));
        Ok(())
    }

    /// Takes some more changes into the new index; once it has them all it takes the place of the old one. Returns whether it did.
    fn advance_rebuild(&mut self) -> anyhow::Result<bool> {
        let pace = self.engine.pace();
        let rebuild = self.rebuild.as_mut().context("no index is being made")?;
        if rebuild.advance(&mut self.log, pace.commit_rows)? {
            let at = rebuild.progress(&self.log)?;
            self.progress.set_rebuild(Some(at));
            return Ok(false);
        }
        let rebuild = self.rebuild.take().context("no index is being made")?;
        let (seq, added) = (rebuild.seq(), rebuild.added());
        let fresh = rebuild.commit()?;
        // The last merges are waited for; a millisecond for each change is ten times what they take.
        self.heartbeat.expect_within(Duration::from_millis(seq));
        let old = self.writer.take();
        self.writer = Some(self.engine.put_in_place(old, fresh)?);
        self.progress.set_rebuild(None);
        self.note_progress(self.last_seq())?;
        tracing::info!(changes = added, "the new index is in place");
        Ok(true)
    }

    /// Finishes the new index, if one is being made.
    fn complete_rebuild(&mut self, each: &mut dyn FnMut(RebuildProgress)) -> anyhow::Result<()> {
        while let Some(rebuild) = &self.rebuild {
            each(rebuild.progress(&self.log)?);
            systemd::still_starting();
            self.engine.keep_claim()?;
            self.advance_rebuild()?;
        }
        Ok(())
    }

    /// Keeps what there is of a new index for the next start. Merges that run are given up: they may take minutes, which
    /// nobody who stops a daemon waits for.
    fn pause_rebuild(&mut self) -> anyhow::Result<()> {
        if let Some(rebuild) = self.rebuild.take() {
            rebuild.commit()?;
        }
        Ok(())
    }

    /// Notes that documents wait; one line of the log for each change of the cause.
    fn note_failure(&mut self, failed: &anyhow::Error) {
        self.log.record_failure();
        let trouble = IndexTrouble::new(failed);
        if trouble.is_outside {
            self.heartbeat.record();
        } else {
            self.heartbeat.fails(failed);
        }
        let state = trouble.state.name();
        if self.progress.set_trouble(Some(trouble)) {
            tracing::error!(
                state,
                error = format!("{failed:#}"),
                "documents wait in the store: the search index cannot be written"
            );
        }
    }
}
