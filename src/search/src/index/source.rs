//! Where documents are kept. The index holds none of their text: it asks here for what it shows and for what it compares.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::entry::{Entry, host_of};
use taojin_extract::Document;

/// A document with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// Identity of the page.
    pub fingerprint: u64,
    /// Number of the change that made it what it is.
    pub seq: u64,
    /// When the page was fetched, Unix milliseconds.
    pub fetched_ms: i64,
    /// When that change was found, Unix milliseconds.
    pub changed_ms: i64,
    /// The document without its links.
    pub document: Document,
}

impl StoredDocument {
    /// The identifier used in addresses and answers: 16 hexadecimal digits.
    pub fn id(&self) -> String {
        format!("{:016x}", self.fingerprint)
    }

    /// Name of the site, or the host of a document that came from none; what counts by site go by.
    pub fn site(&self) -> String {
        let host = || host_of(&self.document.url);
        self.document.site.clone().unwrap_or_else(host)
    }

    /// The document on its way into an index.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            fingerprint: self.fingerprint,
            seq: self.seq,
            fetched_ms: self.fetched_ms,
            changed_ms: self.changed_ms,
            document: &self.document,
        }
    }
}

/// Why a document could not be read.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Keeps documents for an index.
pub trait DocumentSource: Send + Sync {
    /// Document `fingerprint` as change `seq` left it, or, where that version is not kept any more, as it is now; none
    /// where it is gone.
    fn get(&self, fingerprint: u64, seq: u64) -> Result<Option<StoredDocument>, SourceError>;
}

/// Documents in memory, for tests, measurements and collections that are not kept.
#[derive(Debug, Default)]
pub struct MemoryDocuments {
    by_fingerprint: Mutex<HashMap<u64, StoredDocument>>,
}

impl MemoryDocuments {
    /// Keeps a document, in place of one with the same fingerprint.
    pub fn put(&self, entry: &Entry<'_>) {
        let stored = StoredDocument {
            fingerprint: entry.fingerprint,
            seq: entry.seq,
            fetched_ms: entry.fetched_ms,
            changed_ms: entry.changed_ms,
            document: entry.document.clone(),
        };
        let mut all = self
            .by_fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.insert(entry.fingerprint, stored);
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
}
