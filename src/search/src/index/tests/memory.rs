use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::index::{DocumentSource, SourceError, StoredDocument};

/// Documents in memory.
#[derive(Debug, Default)]
pub(in crate::index) struct MemoryDocuments {
    by_fingerprint: Mutex<HashMap<u64, StoredDocument>>,
}

impl MemoryDocuments {
    /// Keeps a document, in place of one with the same fingerprint.
    pub(in crate::index) fn put(&self, stored: StoredDocument) {
        let mut all = self
            .by_fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.insert(stored.fingerprint, stored);
    }

    /// Drops a document.
    pub(in crate::index) fn remove(&self, fingerprint: u64) {
        let mut all = self
            .by_fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.remove(&fingerprint);
    }
}

impl DocumentSource for MemoryDocuments {
    fn get(&self, fingerprint: u64, _: u64) -> Result<Option<StoredDocument>, SourceError> {
        let all = self
            .by_fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(all.get(&fingerprint).cloned())
    }

    fn find(&self, url: &str) -> Result<Option<u64>, SourceError> {
        let all = self
            .by_fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut at = all.iter().filter(|(_, stored)| stored.document.url == url);
        Ok(at.next().map(|(fingerprint, _)| *fingerprint))
    }
}
