//! The loop of an indexer: it follows the log, commits, makes an index again and stops, whatever engine keeps the index.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::catch_up::CatchUp;
use super::engine::{Claim, Engine, Opened, Pace};
use super::feeding::{AddedRows, LogFeed};
use super::progress::{IndexProgress, RebuildProgress};
use super::rebuild::IndexRebuild;
use super::remote::{BEAT_EVERY, SILENT};
use super::trouble::IndexTrouble;
use super::{DRAIN, ROWS, is_over};
use crate::daemon::Shared;
use crate::daemon::crawl::disk::Pause;
use crate::daemon::report::systemd;
use crate::daemon::shared::Lifecycle;
use crate::daemon::watchdog::{Heartbeat, Worker};
use crate::serve::metrics;
use taojin_crawl::store;
use taojin_search::index::{IndexError, IndexWriter, caught};

/// Time that a command without a daemon takes to cut documents again whose terms came or went.
const RECUT: Duration = Duration::from_secs(10);

/// Pause before the index is opened again after it failed (full disk, I/O error, an engine that is away): the first one and the longest.
/// Each is twice as long as the one before.
const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(20)];

/// Time between two commits while so many changes come that there are always more: each commit makes a segment, and small ones are
/// merged at once.
const COMMIT_LATER: Duration = Duration::from_secs(5);

/// Carries the changes of the log into an index.
pub(super) struct Indexer<E: Engine> {
    engine: E,
    log: LogFeed,
    /// None while the index cannot be written into: it is opened again, or is to be replaced.
    writer: Option<E::Writer>,
    /// The index that is to replace it.
    rebuild: Option<IndexRebuild<E::Writer>>,
    /// Whether this is the daemon, not one pass of a crawl.
    forever: bool,
    catch_up: CatchUp,
    /// Pause before the next try, should this one fail.
    retry_after: Duration,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
    pause: Arc<Pause>,
    lifecycle: Arc<Lifecycle>,
}

/// How far one run of the indexer is, and what is due when.
struct FeedState {
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

impl FeedState {
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

    fn is_commit_due(&self, pace: Pace) -> bool {
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
    pub(super) fn new(engine: E, reader: store::Reader, shared: &Shared, forever: bool) -> Self {
        Self {
            engine,
            log: LogFeed::new(reader),
            writer: None,
            rebuild: None,
            forever,
            catch_up: CatchUp::default(),
            retry_after: RETRY_AFTER[0],
            progress: Arc::clone(shared.index()),
            heartbeat: shared.heartbeat(Worker::Indexer),
            pause: Arc::clone(shared.pause()),
            lifecycle: Arc::clone(shared.lifecycle()),
        }
    }

    /// Takes the right to write the index for a command.
    pub(super) fn claim_now(&mut self, takes_over: bool) -> anyhow::Result<()> {
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
    pub(super) fn open_now(&mut self) -> anyhow::Result<()> {
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
    pub(super) fn run(mut self, wake: &Receiver<()>) {
        loop {
            let failed = match caught(|| self.work(wake)) {
                Ok(Ok(())) => return self.finish(),
                Ok(Err(error)) => error,
                // Of the index, while it committed or merged: no document's fault that can be told.
                Err(panic) => anyhow::Error::msg(panic),
            };
            self.note_failure(&failed);
            (self.writer, self.rebuild) = (None, None);
            let is_known = self.log.take_warning();
            if is_over(wake, Duration::ZERO) || (!is_known && rest(wake, self.retry_after)) {
                return;
            }
            self.retry_after = (self.retry_after * 2).min(RETRY_AFTER[1]);
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
                self.note_success();
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
            if !self.forever {
                self.complete_rebuild(&mut |_| {})?;
            }
        }
        self.follow(wake)
    }

    /// Indexes what comes until the other end is gone; returns early only with an error.
    fn follow(&mut self, wake: &Receiver<()>) -> anyhow::Result<()> {
        let pace = self.engine.pace();
        let mut state = FeedState::new(self.last_seq());
        loop {
            self.heartbeat.record();
            self.engine.keep_claim()?;
            let has_room = self.update_room();
            if !state.is_stopping {
                let has_work = self.rebuild.is_some() && has_room;
                let wait = if has_work {
                    Duration::ZERO
                } else {
                    state.wait(pace.commit_after)
                };
                state.is_stopping = is_over(wake, wait);
            }
            if state.is_stopping && state.deadline.is_none() && self.is_hurried() {
                state.deadline = Some(Instant::now() + DRAIN);
            }
            // Of an index that is held already there is nothing to take over.
            self.progress.take_take_over_request();
            if self.progress.take_rebuild_request() && self.rebuild.is_none() {
                self.engine.discard_fresh()?;
                self.start_rebuild()?;
            }
            self.add_rows(&mut state)?;
            let is_idle = state.waiting == 0 && !state.has_more && !state.is_stopping;
            if is_idle && self.writer.is_some() {
                self.note_success();
                self.note_progress(state.seq)?;
            }
            if is_idle && has_room && self.rebuild.is_none() {
                self.improve(&mut state)?;
            } else {
                state.rest = None;
            }
            if state.is_commit_due(pace) {
                self.commit(state.seq)?;
                state.note_commit();
            }
            if state.is_last() {
                return self.pause_rebuild();
            }
            if has_room && self.rebuild.is_some() && self.advance_rebuild()? {
                state.seq = self.last_seq();
            }
        }
    }

    /// Whether a stop does not wait until everything is in the index. A pass that has done its work does.
    fn is_hurried(&self) -> bool {
        self.forever || self.lifecycle.is_stopping()
    }

    /// Work for times when nothing comes in.
    fn improve(&mut self, state: &mut FeedState) -> anyhow::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        state.rest = recut(writer, &self.progress)?;
        if state.rest.is_some() {
            state.recut_since.get_or_insert_with(Instant::now);
        } else {
            let quiet = state.quiet_since.elapsed();
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
    pub(super) fn take_all(&mut self) -> anyhow::Result<()> {
        let mut state = FeedState::new(self.last_seq());
        let pace = self.engine.pace();
        loop {
            self.engine.keep_claim()?;
            self.add_rows(&mut state)?;
            if state.waiting >= pace.commit_rows {
                self.commit(state.seq)?;
                state.note_commit();
            }
            if !state.has_more {
                return self.commit(state.seq);
            }
        }
    }

    /// Leaves the index in order; a command also cuts documents again whose terms came or went. What fails here costs no document.
    pub(super) fn finish(&mut self) {
        let mut writer = self.writer.take();
        let recut = match writer.as_mut().filter(|_| !self.forever) {
            Some(writer) => recut_within(writer, RECUT),
            None => Ok(()),
        };
        let closed = self.engine.close(writer, !self.forever);
        if let Err(error) = recut.map_err(anyhow::Error::from).and(closed) {
            tracing::warn!("the index was not left in order: {error:#}");
        }
    }

    fn last_seq(&self) -> u64 {
        self.writer.as_ref().map_or(0, IndexWriter::last_seq)
    }

    /// Adds some of the next changes.
    fn add_rows(&mut self, state: &mut FeedState) -> anyhow::Result<()> {
        if let Some(writer) = &mut self.writer {
            let added = self.log.add_rows(writer, &mut state.seq)?;
            state.note_added(added);
        }
        Ok(())
    }

    fn commit(&mut self, seq: u64) -> anyhow::Result<()> {
        let writer = self.writer.as_mut().context("the index is not open")?;
        commit(writer, seq, &self.progress)?;
        self.note_success();
        self.note_progress(seq)
    }

    /// Notes that nothing is in the way. That an index could be opened says nothing of that: it may take no document.
    fn note_success(&mut self) {
        self.retry_after = RETRY_AFTER[0];
        if self.progress.set_trouble(None) {
            tracing::info!("the search index is written again");
        }
    }

    /// Says how far the index is, and whether searches lack documents.
    fn note_progress(&mut self, seq: u64) -> anyhow::Result<()> {
        self.progress.set_indexed(seq);
        if self.progress.is_copying() {
            return Ok(());
        }
        let has_all = self.catch_up.reach(seq, || self.log.last_seq())?;
        self.progress.set_caught_up(has_all);
        Ok(())
    }

    /// Opens the new index, empty or as far as it came before.
    pub(super) fn start_rebuild(&mut self) -> anyhow::Result<()> {
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
    pub(super) fn complete_rebuild(
        &mut self,
        each: &mut dyn FnMut(RebuildProgress),
    ) -> anyhow::Result<()> {
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
