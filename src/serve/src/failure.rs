//! Why a request got no answer, whatever it asked for.

use super::search::source::SourceError;

/// Why a request got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Not done within the time limit.
    Busy,
    /// The engine that keeps the index does not answer; the log has the reason.
    Away,
    /// The index or the status source failed; the log has the reason.
    Broken,
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Away(_) => Self::Away,
            SourceError::Failed(_) => Self::Broken,
        }
    }
}
