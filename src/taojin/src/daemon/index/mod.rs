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
mod indexer;
mod progress;
mod rebuild;
mod remote;
mod trouble;
mod turns;
mod watching;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context as _;

use super::Shared;
use crate::config::LoadedConfig;
use crate::documents::{IndexAt, RemoteAt};
use embedded::EmbeddedEngine;
use engine::Engine;
use indexer::Indexer;
use remote::RemoteEngine;
use taojin_crawl::store::{self, Store, StoreError};
use taojin_search::analyze::Analyzer;
use taojin_search::index;

pub(super) use copying::Copier;
pub(super) use progress::IndexProgress;
pub use progress::RebuildProgress;
pub(super) use trouble::IndexTrouble;
pub(super) use watching::watch;

/// Changes read from the log at once.
const ROWS: usize = 256;
/// Time that a stopping daemon gives the index to catch up; the rest is done at the next start.
const DRAIN: Duration = Duration::from_secs(3);

/// What the indexing thread runs until its channel is closed.
pub(super) type Indexing = Box<dyn FnOnce(&Receiver<()>) + Send>;

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
    if let Some(at) = IndexAt::new(loaded).remote() {
        let indexer = remote_indexer(loaded, at, analyzer, reader, shared, forever)?;
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
    at: &RemoteAt,
    analyzer: &Analyzer,
    reader: store::Reader,
    shared: &Shared,
    forever: bool,
) -> anyhow::Result<Indexer<RemoteEngine>> {
    let store = reader.identity()?;
    let engine = RemoteEngine::new(loaded, at.clone(), analyzer, store, shared);
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
    if let Some(at) = IndexAt::new(loaded).remote() {
        let indexer = remote_indexer(loaded, at, &analyzer, reader, &shared, false)?;
        return take_all(indexer).context(DocumentsWait);
    }
    let indexer = embedded_indexer(loaded, &analyzer, reader, &shared, false)?;
    take_all(indexer).context(DocumentsWait)
}

fn take_all<E: Engine>(mut indexer: Indexer<E>) -> anyhow::Result<()> {
    indexer.claim_now(false)?;
    indexer.open_now()?;
    indexer.take_all()?;
    indexer.finish();
    Ok(())
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
    if let Some(at) = IndexAt::new(loaded).remote() {
        let indexer = remote_indexer(loaded, at, &analyzer, reader, &shared, false)?;
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
    indexer.finish();
    Ok(())
}

/// Waits for new documents; returns whether the daemon stops.
fn is_over(wake: &Receiver<()>, wait: Duration) -> bool {
    matches!(wake.recv_timeout(wait), Err(RecvTimeoutError::Disconnected))
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
