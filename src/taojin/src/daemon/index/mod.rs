//! Indexes documents from the store's log, in order.
//!
//! A commit of the index says up to which change it holds everything. The store is never written to.
//!
//! Nothing is lost and nothing is there twice: the log keeps every document, and one that is added again after a crash
//! replaces itself. An index that is missing is made from the log; one that is damaged, of another version or of another
//! store is made again beside the old one.

mod copying;
mod feeding;
mod progress;
mod rebuild;
mod remote;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::Shared;
use super::crawl::disk::Pause;
use super::report::systemd;
use super::watchdog::{Heartbeat, Worker};
use crate::config::LoadedConfig;
use crate::documents::{IndexAt, StoreDocuments};
use crate::serve::metrics;
use feeding::{AddedRows, LogFeed};
use rebuild::IndexRebuild;
use taojin_crawl::store::{self, Store, StoreError};
use taojin_search::analyze::Analyzer;
use taojin_search::index::{self, DocumentSource, IndexError, IndexWriter, Writer, caught};

pub(super) use copying::Copier;
pub(super) use progress::IndexProgress;
pub use progress::RebuildProgress;
pub(super) use remote::RemoteIndexer;

/// Changes read from the log at once.
const ROWS: usize = 256;
/// A document is searchable this long after it came in, plus the time of a commit.
const COMMIT_AFTER: Duration = Duration::from_millis(500);
/// The same while so many come that there are always more: each commit makes a segment, and small ones are merged at once.
const COMMIT_LATER: Duration = Duration::from_secs(5);
/// Time without new documents after which the index is tidied.
const TIDY_AFTER: Duration = Duration::from_secs(15);
/// Time that a stopping daemon gives the index to catch up; the rest is done at the next start.
const DRAIN: Duration = Duration::from_secs(3);

/// Changes between two commits: what a crash costs at most, some seconds of work.
const COMMIT_ROWS: usize = 20_000;

/// Time that a command without a daemon takes to cut documents again whose terms came or went.
const RECUT: Duration = Duration::from_secs(10);

/// Pause before the index is opened again after it failed (full disk, I/O error).
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Opens indexes of one store for writing.
struct WriterOpener {
    analyzer: Analyzer,
    config: index::Config,
    documents: Arc<dyn DocumentSource>,
    store_id: i64,
    /// Indexes whose files are as they were written.
    checked: HashSet<PathBuf>,
}

impl WriterOpener {
    /// Opens the index in `dir`, if what is in its files is what was written: a merge would hide the damage.
    fn open(&mut self, dir: &Path) -> Result<Writer, IndexError> {
        // Once: opening is tried again every few seconds while a disk is full.
        if !self.checked.contains(dir) {
            index::check_files(dir, systemd::still_starting)?;
            self.checked.insert(dir.to_owned());
        }
        let documents = Arc::clone(&self.documents);
        Writer::open(dir, &self.analyzer, &self.config, documents, self.store_id)
    }
}

/// The indexing thread's state.
pub(super) struct Indexer {
    dir: PathBuf,
    opener: WriterOpener,
    log: LogFeed,
    /// None while the index cannot be written into: it is opened again, or is to be replaced.
    writer: Option<Writer>,
    /// The index that is to replace it.
    rebuild: Option<IndexRebuild<Writer>>,
    /// Whether this is the daemon, not one pass of a crawl.
    forever: bool,
    progress: Arc<IndexProgress>,
    heartbeat: Heartbeat,
    pause: Arc<Pause>,
}

/// Takes every change in the log into the index, now. For commands without a daemon.
pub(crate) fn catch_up(loaded: &LoadedConfig) -> anyhow::Result<()> {
    if !loaded.config.cluster.serve {
        return Ok(());
    }
    let reader = copying::whole_log(loaded)?;
    if let Some(at) = IndexAt::new(loaded).remote() {
        remote::take_all(loaded, at.clone(), reader, false, &mut |_| {})
            .context("what changed is in the store and waits there")?;
        return Ok(());
    }
    let mut indexer = Indexer::open(
        loaded,
        &loaded.analyzer()?,
        reader,
        &Shared::default(),
        false,
    )?;
    indexer.take_all()?;
    indexer.finish();
    Ok(())
}

/// Makes the index again from the log, now, or continues where that was broken off. For commands without a daemon. Gives how
/// many documents it holds.
pub(crate) fn rebuild_index(
    loaded: &LoadedConfig,
    mut each: impl FnMut(RebuildProgress),
) -> anyhow::Result<u64> {
    loaded.refuse_without_index()?;
    let reader = copying::whole_log(loaded)?;
    if let Some(at) = IndexAt::new(loaded).remote() {
        return remote::take_all(loaded, at.clone(), reader, true, &mut each);
    }
    let analyzer = loaded.analyzer()?;
    let mut indexer = Indexer::closed(loaded, &analyzer, reader, &Shared::default(), false)?;
    indexer.start_rebuild()?;
    indexer.complete_anew(&mut each)?;
    indexer.take_all()?;
    let documents = crate::documents::open_index(loaded, &analyzer)?;
    indexer.finish();
    Ok(documents.num_docs()?)
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

/// Waits for new documents; gives whether the daemon stops.
fn is_over(wake: &Receiver<()>, wait: Duration) -> bool {
    matches!(wake.recv_timeout(wait), Err(RecvTimeoutError::Disconnected))
}

/// What the indexing thread does on a machine that only crawls: nothing waits for an index.
pub(super) fn without_index(woken: &Receiver<()>, progress: &IndexProgress) {
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
    let is_ours = noted.seq > 0 && noted.store == store.store_id()?;
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

impl Indexer {
    /// Over the index of the data directory. Where it must be made again, a daemon does so while it works; everybody else now.
    pub(super) fn open(
        loaded: &LoadedConfig,
        analyzer: &Analyzer,
        reader: store::Reader,
        shared: &Shared,
        forever: bool,
    ) -> anyhow::Result<Self> {
        let mut indexer = Self::closed(loaded, analyzer, reader, shared, forever)?;
        while let Err(error) = indexer.open_writer() {
            // A document that brings it down is known now, and is left out the next time.
            if !indexer.log.take_warning() {
                return Err(error);
            }
            (indexer.writer, indexer.rebuild) = (None, None);
        }
        if !forever {
            indexer.complete_anew(&mut |_| {})?;
        }
        Ok(indexer)
    }

    fn closed(
        loaded: &LoadedConfig,
        analyzer: &Analyzer,
        reader: store::Reader,
        shared: &Shared,
        forever: bool,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            dir: loaded.index_dir(),
            opener: WriterOpener {
                analyzer: analyzer.clone(),
                config: loaded.config.index.clone(),
                documents: Arc::new(StoreDocuments::new(loaded.documents_place())),
                store_id: reader.store_id()?,
                checked: HashSet::new(),
            },
            log: LogFeed::new(reader),
            writer: None,
            rebuild: None,
            forever,
            progress: Arc::clone(shared.index()),
            heartbeat: shared.heartbeat(Worker::Indexer),
            pause: Arc::clone(shared.pause()),
        })
    }

    /// Opens the index, or begins to make it again where it cannot be gone on with.
    fn open_writer(&mut self) -> anyhow::Result<()> {
        let problem = match self.opener.open(&self.dir) {
            Ok(writer) => {
                self.progress.set_indexed(writer.last_seq());
                let again = writer.is_of_other_version();
                let writer = self.writer.insert(writer);
                let all = again && self.log.retry_skipped(writer)?;
                // What was begun before continues.
                if all || index::fresh_dir(&self.dir).exists() {
                    self.start_rebuild()?;
                }
                return Ok(());
            }
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error @ IndexError::Newer { .. }) => return Err(error.into()),
            Err(error @ IndexError::Unreadable { .. }) => {
                let aside = index::put_aside(&self.dir)?;
                tracing::error!(
                    "{error}; it is now in {}, and the index is rebuilt from the store",
                    aside.display()
                );
                self.progress.set_indexed(0);
                self.writer = Some(self.opener.open(&self.dir)?);
                return Ok(());
            }
            Err(error) => error,
        };
        tracing::warn!("the index is rebuilt from the store: {problem}");
        if !index::can_be_searched(&self.dir) {
            // Of no use to readers meanwhile: they search the new one while it grows.
            index::remove(&self.dir)?;
            self.progress.set_indexed(0);
            self.writer = Some(self.opener.open(&self.dir)?);
            return Ok(());
        }
        self.progress.set_indexed(index::committed_seq(&self.dir));
        self.start_rebuild()
    }

    /// Works until the other end of `wake` is dropped, then takes what is left as far as [`DRAIN`] allows.
    pub(super) fn run(mut self, wake: &Receiver<()>) {
        let mut stopping = false;
        loop {
            let failed = match caught(|| self.follow(wake, stopping)) {
                Ok(Ok(())) => return self.finish(),
                Ok(Err(error)) => error,
                // Of the index, while it committed or merged: no document's fault that can be told.
                Err(panic) => anyhow::Error::msg(panic),
            };
            tracing::error!(
                error = format!("{failed:#}"),
                "index failed, opening it again"
            );
            self.note_failure(&failed);
            if stopping {
                return;
            }
            stopping = !self.reopen(wake);
        }
    }

    /// Indexes what comes until the other end is gone; returns early only with an error.
    fn follow(&mut self, wake: &Receiver<()>, mut stopping: bool) -> anyhow::Result<()> {
        let mut seq = self.last_seq();
        let mut waiting_since: Option<Instant> = None;
        let mut deadline: Option<Instant> = None;
        let mut has_more = false;
        // What an earlier run left may be tidied as well.
        let mut quiet_since = Some(Instant::now());
        // While documents are cut again: since when some wait for a commit, and how long to rest, which is half of the time.
        let mut recut_since: Option<Instant> = None;
        let mut rest: Option<Duration> = None;
        loop {
            self.heartbeat.record();
            let room = self.update_merge_policy();
            if !stopping {
                let wait = match self.rebuild {
                    Some(_) if room => Duration::ZERO,
                    _ if has_more => Duration::ZERO,
                    _ => waiting_since
                        .map_or(COMMIT_AFTER, |t| COMMIT_AFTER.saturating_sub(t.elapsed()))
                        .min(rest.unwrap_or(COMMIT_AFTER)),
                };
                stopping = is_over(wake, wait);
            }
            if stopping {
                deadline.get_or_insert_with(|| Instant::now() + DRAIN);
            }
            if self.progress.take_rebuild_request() && self.rebuild.is_none() {
                index::clear_fresh(&self.dir)?;
                self.start_rebuild()?;
            }
            let is_whole_log = !self.progress.is_copying();
            let added = match self.writer {
                Some(_) => self.add_rows(&mut seq)?,
                None => AddedRows {
                    count: 0,
                    has_more: false,
                },
            };
            has_more = added.has_more;
            if added.count > 0 {
                waiting_since.get_or_insert_with(Instant::now);
            }
            let late = deadline.is_some_and(|d| Instant::now() >= d);
            let last = stopping && (!has_more || late);
            let has_all = is_whole_log && !has_more && self.writer.is_some();
            if has_all && waiting_since.is_none() {
                self.progress.set_caught_up(true);
            }
            let is_idle = added.count == 0 && !stopping && room && self.rebuild.is_none();
            rest = match &mut self.writer {
                Some(writer) if is_idle => recut(writer, &self.progress)?,
                _ => None,
            };
            if rest.is_some() {
                recut_since.get_or_insert_with(Instant::now);
            }
            let many_come = has_more && added.are_many();
            let commit_after = if many_come {
                COMMIT_LATER
            } else {
                COMMIT_AFTER
            };
            if waiting_since.is_some_and(|t| last || t.elapsed() >= commit_after)
                || recut_since.is_some_and(|t| last || t.elapsed() >= COMMIT_LATER)
            {
                self.commit(seq)?;
                (waiting_since, recut_since) = (None, None);
                quiet_since = Some(Instant::now());
            }
            if quiet_since
                .is_some_and(|t| room && waiting_since.is_none() && t.elapsed() >= TIDY_AFTER)
                && let Some(writer) = &mut self.writer
            {
                quiet_since = None;
                writer.tidy()?;
            }
            if last {
                return self.pause_anew();
            }
            if room && self.rebuild.is_some() && self.advance_anew()? {
                seq = self.last_seq();
            }
        }
    }

    /// While the crawl pauses for want of room on the disk, nothing is merged and no new index is made: either would fill
    /// the disk further. Gives whether there is room.
    fn update_merge_policy(&mut self) -> bool {
        let room = !self.forever || !self.pause.is_active();
        for writer in [
            self.writer.as_mut(),
            self.rebuild.as_mut().map(IndexRebuild::writer_mut),
        ] {
            writer.into_iter().for_each(|w| w.allow_merges(room));
        }
        room
    }

    /// All changes that the index lacks.
    fn take_all(&mut self) -> anyhow::Result<()> {
        let mut seq = self.last_seq();
        while self.add_rows(&mut seq)?.count > 0 {}
        self.commit(seq)
    }

    /// Leaves a pass's index as small as it can be. The daemon, which is waited for when it stops, tidies while
    /// nothing comes in.
    fn finish(&mut self) {
        let Some(mut writer) = self.writer.take().filter(|_| !self.forever) else {
            return;
        };
        let done = recut_within(&mut writer, RECUT).and_then(|()| writer.tidy());
        if let Err(error) = done.and_then(|_| writer.close()) {
            tracing::warn!(%error, "index could not be tidied");
        }
    }

    fn last_seq(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::last_seq)
    }

    /// Adds some changes after `seq` and moves `seq` on.
    fn add_rows(&mut self, seq: &mut u64) -> anyhow::Result<AddedRows> {
        let writer = self.writer.as_mut().context("the index is not open")?;
        self.log.add_rows(writer, seq)
    }

    fn commit(&mut self, seq: u64) -> anyhow::Result<()> {
        let writer = self.writer.as_mut().context("the index is not open")?;
        Ok(commit(writer, seq, &self.progress)?)
    }

    /// Opens the new index, empty or as far as it came before.
    pub(crate) fn start_rebuild(&mut self) -> anyhow::Result<()> {
        let dir = index::fresh_dir(&self.dir);
        let last = self.log.last_seq()?;
        let writer = match self.opener.open(&dir) {
            Ok(writer) if writer.last_seq() <= last => writer,
            Err(error) if error.is_transient() => return Err(error.into()),
            // Of an attempt that is of no use any more.
            _ => {
                index::clear_fresh(&self.dir)?;
                self.opener.open(&dir)?
            }
        };
        self.progress.set_rebuild(Some(RebuildProgress {
            seq: writer.last_seq(),
            last,
        }));
        tracing::info!(
            from = writer.last_seq(),
            to = last,
            "the index is rebuilt from the store"
        );
        self.rebuild = Some(IndexRebuild::new(writer));
        Ok(())
    }

    /// Takes some more changes into the new index; once it has them all it takes the place of the old one. Gives whether
    /// it did.
    pub(crate) fn advance_anew(&mut self) -> anyhow::Result<bool> {
        let rebuild = self.rebuild.as_mut().context("no index is being made")?;
        if rebuild.advance(&mut self.log, COMMIT_ROWS)? {
            let at = rebuild.progress(&self.log)?;
            self.progress.set_rebuild(Some(at));
            return Ok(false);
        }
        let rebuild = self.rebuild.take().context("no index is being made")?;
        let (seq, added) = (rebuild.seq(), rebuild.added());
        let fresh = rebuild.commit()?;
        // The last merges are waited for; a millisecond for each change is ten times what they take.
        self.heartbeat.expect_within(Duration::from_millis(seq));
        fresh.close()?;
        if let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        index::put_in_place(&self.dir)?;
        self.writer = Some(self.opener.open(&self.dir)?);
        self.progress.set_indexed(self.last_seq());
        self.progress.set_rebuild(None);
        tracing::info!(changes = added, "the new index is in place");
        Ok(true)
    }

    /// Finishes the new index, if one is being made.
    pub(crate) fn complete_anew(
        &mut self,
        each: &mut dyn FnMut(RebuildProgress),
    ) -> anyhow::Result<()> {
        while let Some(rebuild) = &self.rebuild {
            each(rebuild.progress(&self.log)?);
            systemd::still_starting();
            self.advance_anew()?;
        }
        Ok(())
    }

    /// Keeps what there is of a new index for the next start. Merges that run are given up: they may take minutes, which
    /// nobody who stops a daemon waits for.
    pub(crate) fn pause_anew(&mut self) -> anyhow::Result<()> {
        if let Some(rebuild) = self.rebuild.take() {
            rebuild.commit()?;
        }
        Ok(())
    }

    pub(crate) fn note_failure(&mut self, failed: &anyhow::Error) {
        self.log.record_failure();
        if is_full(failed) {
            self.heartbeat.waits(failed);
        } else {
            self.heartbeat.fails(failed);
        }
    }

    /// Tries until the index opens again; false when the daemon stops meanwhile.
    pub(crate) fn reopen(&mut self, wake: &Receiver<()>) -> bool {
        self.writer = None;
        self.rebuild = None;
        loop {
            if !self.log.take_warning() {
                thread::sleep(RETRY_AFTER);
            }
            if matches!(wake.try_recv(), Err(TryRecvError::Disconnected)) {
                return false;
            }
            let failed = match caught(|| self.open_writer()) {
                Ok(Ok(())) => return true,
                Ok(Err(error)) => error,
                Err(panic) => anyhow::Error::msg(panic),
            };
            tracing::error!(
                error = format!("{failed:#}"),
                "index still cannot be opened"
            );
            self.note_failure(&failed);
        }
    }
}

/// Whether a failure says that the disk is full: room helps, a new start does not.
pub(crate) fn is_full(failed: &anyhow::Error) -> bool {
    failed.chain().any(|cause| {
        matches!(cause.downcast_ref(), Some(IndexError::Full { .. }))
            || matches!(cause.downcast_ref(), Some(StoreError::Full { .. }))
    })
}
