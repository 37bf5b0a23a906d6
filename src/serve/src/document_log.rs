//! What the server asks of the log of documents. In: how far a copy is, or which document. Out: changes, or versions. The
//! implementation stands in `documents`; it only reads.

use taojin_crawl::store::{Cursor, CursorLost};
use taojin_uri::CrawlUri;

use super::api::changes_answer::ChangesAnswer;
use super::api::history_answer::HistoryAnswer;
use super::search::source::SourceError;

/// Changes of one answer at most: with what is said of each, some 500 kB.
pub const CHANGES_MAX: usize = 1_000;
/// Changes of one answer when the client does not say.
pub const CHANGES_DEFAULT: usize = 100;

/// Which document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentKey {
    /// The one at an address, or that stands for the page there.
    Url(CrawlUri),
    /// The one with the fingerprint that its id is made of.
    Id(u64),
}

/// The log of documents, to be read. Calls block; the server makes them on blocking threads.
pub trait DocumentLog: Send + Sync + 'static {
    /// At most `limit` changes after `cursor`; with `documents` each new or changed document stands in it, whole.
    fn changes(
        &self,
        cursor: &Cursor,
        limit: usize,
        documents: bool,
    ) -> Result<Result<ChangesAnswer, CursorLost>, SourceError>;

    /// The versions of a document; none if nothing is known of it.
    fn history(&self, key: &DocumentKey) -> Result<Option<HistoryAnswer>, SourceError>;

    /// What the page of a document says of its history. Empty if nothing is known of it.
    fn past(&self, id: u64) -> Result<Past, SourceError>;
}

/// What the page of a document says of its history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Past {
    /// Its versions, the latest first.
    pub versions: Vec<VersionListed>,
    /// When its web page last showed it, Unix milliseconds, if the last visit did not.
    pub confirmed_ms: Option<i64>,
}

/// A version in the list on a document's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionListed {
    /// Number of the version, 1 for the first.
    pub version: i64,
    /// When it was found, Unix milliseconds.
    pub changed_ms: i64,
    /// Whether it says that the document is gone.
    pub gone: bool,
}
