//! What the server asks of an index. In: a [`Wanted`] search or the id of a document. Out: hits and texts with the
//! places to mark. Never a way to write: a source can only be read.

use super::trends::Trends;
use taojin_extract::{Document, Meta};
use taojin_search::analyze::Expanded;
use taojin_search::index::{DateUnit, Dates, Match, Reason, Sort, Stop, Suggestion};
use taojin_search::index::{IndexError, SiteTitles};
use taojin_search::query::Note;
pub(crate) use taojin_search::query::snippet::Marked;

/// One search, within the limits of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The query as typed, trimmed; empty: every document.
    pub text: String,
    /// Sites to search; empty: all.
    pub sites: Vec<String>,
    /// How many of the plain words a document must have.
    pub matching: Match,
    /// Whether each hit says why it stands where it does.
    pub explain: bool,
    /// First moment of publication, Unix milliseconds, inclusive.
    pub since_ms: Option<i64>,
    /// Last moment of publication, Unix milliseconds, exclusive.
    pub until_ms: Option<i64>,
    /// New or changed from the first moment on and before the second, Unix milliseconds; none: no limit.
    pub changed_ms: (Option<i64>, Option<i64>),
    /// Order of the hits.
    pub sort: Sort,
    /// Age that halves a score in the order [`Sort::Both`], in milliseconds; none: the configured one.
    pub half_life_ms: Option<i64>,
    /// What time it is, Unix milliseconds: for ages and for periods such as `since:7d`.
    pub now_ms: i64,
    /// Only the reprints of one text, the original or earliest first: a [`Found::group`].
    pub group: Option<u64>,
    /// As a person wants to read it: reprints as one hit, the one that fits best for all; and at most three of
    /// the first ten hits from one site while another site has one that is nearly as good.
    pub grouped: bool,
    /// Most hits to return.
    pub limit: usize,
    /// Hits to pass over.
    pub offset: usize,
    /// Whether counts by site and date and related terms are wanted: they cost a look at every hit.
    pub facets: bool,
    /// Only the words as typed, without their synonyms.
    pub as_typed: bool,
    /// Whether a query that finds nothing may be answered by one that sounds or looks like it.
    pub corrected: bool,
    /// Ends the search when nobody waits for it any more.
    pub stop: Stop,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Named writer.
    pub author: Option<String>,
    /// Media source as printed.
    pub source: Option<String>,
    /// Fields that the page labels.
    pub meta: Meta,
    /// The best part of the text.
    pub snippet: Marked,
    /// BM25 of the two fields together, raised by thousands where the query stands as typed, halved with each half-life in
    /// the order [`Sort::Both`].
    pub score: f32,
    /// What it shares with its reprints; none for a text too short to tell.
    pub group: Option<u64>,
    /// How many other documents that match are reprints of the same text.
    pub duplicates: u64,
    /// Why it stands where it does, if that was asked for.
    pub reasons: Vec<Reason>,
    /// Sites of those, each once, the original or earliest first; the first 20.
    pub outlets: Vec<String>,
}

/// Documents that share something with a query but do not match it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WeakerList {
    /// How many there are.
    pub total: u64,
    /// The best of them.
    pub hits: Vec<Found>,
}

/// What a search that finds nothing could leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOut {
    /// Quotes: the words may stand apart.
    Quotes,
    /// Limits of time.
    Dates,
}

/// A search that finds something, for one that finds nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What it leaves out.
    pub without: LeaveOut,
    /// Its query.
    pub text: String,
    /// Documents that it finds.
    pub total: u64,
}

/// What goes with a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Related {
    /// Other documents with the same text, the original or earliest first.
    pub reprints: Vec<Found>,
    /// Documents on the same topic, best first.
    pub similar: Vec<Found>,
}

/// A hit as it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    /// The hit.
    pub found: Found,
    /// Named writer.
    pub author: Option<String>,
    /// When the page was fetched as it is now, Unix milliseconds.
    pub fetched_ms: i64,
    /// Publication, Unix milliseconds.
    pub published_ms: Option<i64>,
}

/// Hits of one search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundList {
    /// Documents that match, whatever the limit.
    pub total: u64,
    /// The hits asked for, in order.
    pub hits: Vec<Found>,
    /// What matches less, where the page has room behind the last hit.
    pub weaker: Option<WeakerList>,
    /// Searches that find something, where this one finds nothing.
    pub offers: Vec<Offer>,
    /// Matching documents by site, largest first, when asked for; the site filter itself does not count here, so
    /// that a reader sees what another site would give.
    pub sites: Vec<(String, u64)>,
    /// Matching documents by date of publication, when asked for.
    pub dates: Dates,
    /// Terms that the best hits have in common, best first, when asked for.
    pub related: Vec<String>,
    /// A query that finds something, when no document has the words of this one.
    pub did_you_mean: Option<String>,
    /// The query that was searched in place of one that finds nothing.
    pub searched_instead: Option<String>,
    /// Words that were looked for with their synonyms.
    pub synonyms: Vec<Expanded>,
    /// Remarks on the query for the person.
    pub notes: Vec<Note>,
}

/// Why a source gave no answer: one line for the log, not for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// It is kept elsewhere and cannot be asked at present; the crawl goes on.
    #[error("{0}")]
    Away(String),
}

impl From<IndexError> for SourceError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Remote { .. } | IndexError::RemoteMissing(_) => {
                Self::Away(error.to_string())
            }
            error => Self::Failed(error.to_string()),
        }
    }
}

/// An index to be searched. Calls block; the server makes them on blocking threads.
pub trait SearchSource: Send + Sync + 'static {
    /// Hits for a search. No text is an error: what is no syntax is searched literally.
    fn search(&self, wanted: &Wanted) -> Result<FoundList, SourceError>;

    /// At most `limit` suggestions for a text that is being typed.
    fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, SourceError>;

    /// The hits that came or changed last, latest first; at most `wanted.limit`, the other pages do not matter.
    fn latest(&self, wanted: &Wanted) -> Result<Vec<Arrived>, SourceError>;

    /// The document with this id, if it is in the index.
    fn document(&self, id: &str) -> Result<Option<Document>, SourceError>;

    /// Reprints of the document with this id, and others on its topic; at most `limit` of each.
    fn related(&self, id: &str, limit: usize) -> Result<Related, SourceError>;

    /// Compares searches by date; see `Trends`.
    fn trends(&self, wanted: &[Wanted], unit: Option<DateUnit>) -> Result<Trends, SourceError>;

    /// Marks the matches of a query in each of the texts, in their order.
    fn mark(&self, query: &str, texts: &[&str]) -> Vec<Marked>;

    /// Offset from UTC, in minutes, of days that name none.
    fn utc_offset_minutes(&self) -> i32;

    /// Documents that can be found; none where that cannot be told.
    fn documents(&self) -> Option<u64>;

    /// Whether every question goes over the network, so that nothing may wait for [`SearchSource::documents`].
    fn is_remote(&self) -> bool {
        false
    }

    /// What readers call sites.
    fn site_titles(&self) -> SiteTitles {
        SiteTitles::default()
    }
}
