//! Whether a server is worth being asked. In: a source that the daemon supplies. Out: one of three words, which `/readyz`, answers
//! and pages go by.

use std::sync::Arc;

/// Where a [`Readiness`] comes from. Asked with each search, so it must cost nothing.
pub type ReadinessSource = Arc<dyn Fn() -> Readiness + Send + Sync>;

/// Whether a server is worth being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It is.
    Ready,
    /// The database of the cluster does not answer: answers are of the documents that this machine had by then.
    Degraded,
    /// The index does not have all documents yet that were in the store when the process began: it has the changes up to `indexed`.
    Filling {
        /// Number of the last change that the index has.
        indexed: u64,
    },
}

impl Readiness {
    /// What a program is told where an answer may lack something.
    pub(crate) fn remark(self) -> Option<String> {
        match self {
            Readiness::Ready => None,
            Readiness::Degraded => Some(
                "the database (store.url) gives no answer at present: this is what this machine has, and what came since is missing"
                    .to_owned(),
            ),
            Readiness::Filling { indexed } => Some(format!(
                "the index of this machine is not complete yet, it has the changes up to {indexed}"
            )),
        }
    }
}
