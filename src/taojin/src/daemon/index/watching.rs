//! Whether the index that another process writes, or did, is complete: for a server without a crawl.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::IndexProgress;
use super::catch_up::CatchUp;
use crate::config::LoadedConfig;
use crate::documents::IndexAt;
use taojin_crawl::store::{Reader, StoreError};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks at the index from now on, in a thread that ends once nobody has the progress any more.
pub(in crate::daemon) fn watch(loaded: &LoadedConfig) -> std::io::Result<Arc<IndexProgress>> {
    let progress = Arc::new(IndexProgress::default());
    let (loaded, watched) = (loaded.clone(), Arc::downgrade(&progress));
    thread::Builder::new()
        .name("index-watch".to_owned())
        .spawn(move || watch_until_unused(&loaded, &watched))?;
    Ok(progress)
}

fn watch_until_unused(loaded: &LoadedConfig, watched: &Weak<IndexProgress>) {
    let index = IndexAt::new(loaded);
    let mut catch_up = CatchUp::default();
    let mut reader = None;
    while let Some(progress) = watched.upgrade() {
        // What cannot be told now changes nothing: a search says what is wrong.
        if let Err(error) = look(loaded, &mut reader, &index, &mut catch_up, &progress) {
            tracing::debug!("{error:#}");
            reader = None;
        }
        drop(progress);
        thread::sleep(LOOK_EVERY);
    }
}

/// Looks once; opens the store where that is not done.
fn look(
    loaded: &LoadedConfig,
    reader: &mut Option<Reader>,
    index: &IndexAt,
    catch_up: &mut CatchUp,
    progress: &IndexProgress,
) -> anyhow::Result<()> {
    let reader = match reader {
        Some(reader) => reader,
        None => match Reader::open(loaded.documents_place()) {
            // An index that was brought here without its store.
            Err(StoreError::Missing { .. }) => {
                progress.set_caught_up(true);
                return Ok(());
            }
            opened => reader.insert(opened?),
        },
    };
    let noted = index.noted()?;
    let seq = if noted.store == reader.identity()?.id {
        noted.seq
    } else {
        0
    };
    let after = i64::try_from(seq).unwrap_or(i64::MAX);
    let has_all = reader.documents_after_without_bodies(after, 1)?.is_empty();
    let last = u64::try_from(reader.last_document_seq()?).unwrap_or_default();
    let is_caught_up = catch_up.reach(seq, || anyhow::Ok(last))?;
    progress.set_indexed(seq);
    progress.set_caught_up(has_all || is_caught_up);
    Ok(())
}
