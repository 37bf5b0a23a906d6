//! Documents that could not be indexed and were skipped, so that those after them are indexed. The list is part of the
//! index's own commit, and so is never of another moment than the index. Bounded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

/// Documents that are listed; more are only counted. The list is written with each commit.
const LISTED_MAX: usize = 100;
/// Characters kept of an address and of a reason.
const TEXT_MAX: usize = 300;

/// A document that the index lacks, although the store has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedDocument {
    /// Key of the document.
    pub fingerprint: u64,
    /// Number of the change that could not be taken.
    pub seq: u64,
    /// Its address.
    pub url: String,
    /// Why.
    pub reason: String,
}

/// All documents that an index lacks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedDocuments {
    /// The first of them, by key.
    pub listed: Vec<SkippedDocument>,
    /// How many more there were.
    pub unlisted: u64,
}

impl SkippedDocuments {
    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many documents were left out.
    pub fn count(&self) -> u64 {
        self.listed.len() as u64 + self.unlisted
    }

    /// Lists a document, or counts it where the list is full.
    pub(crate) fn put(&mut self, left: SkippedDocument) {
        let cut = |text: &str| text.chars().take(TEXT_MAX).collect();
        let left = SkippedDocument {
            url: cut(&left.url),
            reason: cut(&left.reason),
            ..left
        };
        match self.place(left.fingerprint) {
            Ok(at) => self.listed[at] = left,
            Err(_) if self.listed.len() >= LISTED_MAX => self.unlisted += 1,
            Err(at) => self.listed.insert(at, left),
        }
    }

    /// The document is in the index after all, or gone.
    pub(crate) fn forget(&mut self, fingerprint: u64) {
        if let Ok(at) = self.place(fingerprint) {
            self.listed.remove(at);
        }
    }

    fn place(&self, fingerprint: u64) -> Result<usize, usize> {
        let key = |left: &SkippedDocument| left.fingerprint;
        self.listed.binary_search_by_key(&fingerprint, key)
    }
}

/// Runs `work`; an error says how it panicked. What `work` was changing must not be used any more.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        format!(
            "panicked: {}",
            text.unwrap_or_else(|| "no message".to_owned())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_list_is_bounded() {
        let mut all = SkippedDocuments::default();
        for n in 0..LISTED_MAX as u64 + 5 {
            let (url, reason) = ("长".repeat(2 * TEXT_MAX), "r".repeat(2 * TEXT_MAX));
            for seq in [n, n + 1] {
                all.put(SkippedDocument {
                    fingerprint: n,
                    seq,
                    url: url.clone(),
                    reason: reason.clone(),
                });
            }
        }
        assert_eq!((all.listed.len(), all.unlisted), (LISTED_MAX, 10));
        assert!(all.listed.iter().all(|l| l.url.chars().count() == TEXT_MAX));
        let before = all.count();
        all.forget(0);
        assert_eq!(all.count(), before - 1);
    }

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(
            caught(|| panic!("bad {}", 1)).unwrap_err(),
            "panicked: bad 1"
        );
        assert_eq!(caught(|| panic!("worse")).unwrap_err(), "panicked: worse");
    }
}
