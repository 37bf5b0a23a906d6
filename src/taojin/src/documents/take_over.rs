//! Documents that only an index of an older version keeps, into the log of the store. In: the folder of the index, the
//! store. Out: the same documents in the store, each once, however often it is broken off. The index itself is made anew
//! from there afterwards.

use std::path::Path;

use super::encode;
use taojin_crawl::store::{OldDocument, Store};
use taojin_search::index;

/// Documents written in one transaction.
const AT_ONCE: usize = 1_000;

/// How far the documents of an older index have been taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TakeOver {
    /// Documents done.
    pub(crate) done: u64,
    /// All of them.
    pub(crate) all: u64,
}

/// Copies what the index in `dir` keeps into the store, unless that is done already. `each` is told how far it is. Gives
/// how many documents there were; none when there was nothing to do.
pub(crate) fn take_over(
    dir: &Path,
    store: &mut Store,
    mut each: impl FnMut(TakeOver),
) -> anyhow::Result<Option<u64>> {
    if store.has_all_documents()? || !index::keeps_documents(dir) {
        return Ok(None);
    }
    let mut waiting = Vec::with_capacity(AT_ONCE);
    let mut done = 0;
    index::kept_documents(dir, |stored, all| -> Result<(), anyhow::Error> {
        if done == 0 {
            each(TakeOver { done, all });
        }
        waiting.push(OldDocument {
            fingerprint: stored.fingerprint,
            seq: i64::try_from(stored.seq).unwrap_or(i64::MAX),
            fetched_ms: stored.fetched_ms,
            document: encode(&stored.document, stored.fetched_ms),
        });
        done += 1;
        if waiting.len() == AT_ONCE {
            store.take_over(&waiting)?;
            waiting.clear();
            each(TakeOver { done, all });
        }
        Ok(())
    })?;
    store.take_over(&waiting)?;
    store.set_has_all_documents()?;
    Ok(Some(done))
}

impl TakeOver {
    /// What it is and what it costs, said before it begins.
    pub(crate) fn notice(self) -> String {
        format!(
            "{} documents of an older version move from the search index into the store, some 5,000 a second; the store \
             grows by about as much as the documents take in the index, and a new index is made beside the old one, \
             which is searched meanwhile and removed afterwards",
            self.all
        )
    }
}
