//! What the server asks of an index. In: a [`Wanted`] search or the id of a document. Out: hits and texts with the
//! places to mark. Never a way to write: a source can only be read.

use std::ops::Range;

use crate::extract::Document;

/// One search, within the limits of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The query as typed, trimmed; empty: every document.
    pub text: String,
    /// Sites to search; empty: all.
    pub sites: Vec<String>,
    /// First moment of publication, Unix milliseconds, inclusive.
    pub since_ms: Option<i64>,
    /// Last moment of publication, Unix milliseconds, exclusive.
    pub until_ms: Option<i64>,
    /// Newest first instead of best first.
    pub by_date: bool,
    /// Most hits to return.
    pub limit: usize,
    /// Hits to pass over.
    pub offset: usize,
    /// Whether the counts by site are wanted: they cost a look at every hit.
    pub count_sites: bool,
}

/// Text and the byte ranges of it that matched: on character bounds, in order, not overlapping. A range that is not
/// so is left unmarked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marked {
    /// Plain text, as extracted: hostile until escaped.
    pub text: String,
    /// What to mark.
    pub marks: Vec<Range<usize>>,
}

impl From<&str> for Marked {
    fn from(text: &str) -> Marked {
        Marked {
            text: text.to_owned(),
            marks: Vec::new(),
        }
    }
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Id of the document, for [`SearchSource::document`]: letters, digits, `-` and `_`.
    pub id: String,
    /// Address of the page.
    pub url: String,
    /// Headline; may be empty.
    pub title: Marked,
    /// Site of the configuration.
    pub site: Option<String>,
    /// Publication, ISO 8601.
    pub published: Option<String>,
    /// The best part of the text.
    pub snippet: Marked,
    /// BM25 of the two fields together.
    pub score: f32,
}

/// Hits of one search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundList {
    /// Documents that match, whatever the limit.
    pub total: u64,
    /// The hits asked for, in order.
    pub hits: Vec<Found>,
    /// Matching documents by site, largest first, when asked for; the site filter itself does not count here, so
    /// that a reader sees what another site would give.
    pub sites: Vec<(String, u64)>,
}

/// Why a source gave no answer: one line for the log, not for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// An index to be searched. Calls block; the server makes them on blocking threads.
pub trait SearchSource: Send + Sync + 'static {
    /// Hits for a search. No text is an error: what is no syntax is searched literally.
    fn search(&self, wanted: &Wanted) -> Result<FoundList, SourceError>;

    /// The document with this id, if it is in the index.
    fn document(&self, id: &str) -> Result<Option<Document>, SourceError>;

    /// Marks the matches of a query in each of the texts, in their order.
    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked>;

    /// Offset from UTC, in minutes, of days that name none.
    fn utc_offset_minutes(&self) -> i32;

    /// Documents that can be found.
    fn documents(&self) -> u64;
}
