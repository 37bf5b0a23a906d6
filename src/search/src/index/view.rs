//! One state of an index, whichever engine keeps it: a [`View`] takes plans and returns documents by their place in
//! this state, and counts.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::NaiveDate;
use tantivy::DocAddress;

use super::IndexError;
use super::duplicates::reprints::Placed;
use super::facets::days::DAY_MS;
use super::rank::plan::Plan;
use super::reader::Watermark;
use super::schema::Column;
use super::stop::CancellationToken;

/// How many documents there are, and how many of them have a term.
pub(crate) trait Statistics {
    /// All documents.
    fn documents(&self) -> u64;
    /// Those with this term in this field.
    fn frequency(&self, column: Column, term: &str) -> u64;
}

/// What a ranking goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// The best score first.
    Score,
    /// The latest publication first, undated documents last.
    Published,
    /// The latest fetch first.
    Fetched,
    /// The best score first, worn off by age.
    Aged { now_ms: i64, half_life_ms: i64 },
}

/// What is wanted of the documents that a plan fits.
pub(crate) struct Wanted<'a> {
    pub(crate) order: Order,
    /// These of them, in that order.
    pub(crate) range: Range<usize>,
    /// Whether they are to be counted by site and by day.
    pub(crate) counts: bool,
    /// Where a day begins.
    pub(crate) utc_offset_minutes: i32,
    pub(crate) stop: &'a CancellationToken,
}

/// A document's place and score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) score: f32,
    pub(crate) at: DocAddress,
    /// Group of reprints, once it was looked up.
    pub(crate) group: Option<u64>,
}

/// By site and by value, most first, and by day.
pub(crate) type Counts = (Names, Names, Days);

/// Documents by name, most first.
pub(crate) type Names = Vec<(String, u64)>;

/// Documents by day.
pub(crate) type Days = BTreeMap<NaiveDate, u64>;

/// Part of all documents that fit, and how many those are.
pub(crate) struct Ranking {
    pub(crate) total: usize,
    pub(crate) documents: Vec<Ranked>,
    pub(crate) counts: Option<Counts>,
}

/// The order of the reprints of one text: the least comes first. The same in every index of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Precedence {
    /// Day of publication, or of the fetch where a document has no date.
    pub(crate) day: i64,
    /// Whether the document names another source.
    pub(crate) is_copy: bool,
    /// Time of publication, or of the fetch; Unix milliseconds.
    pub(crate) at_ms: i64,
    /// Time of the fetch, Unix milliseconds.
    pub(crate) fetched_ms: i64,
    /// Number of its last change.
    pub(crate) seq: u64,
    /// Its place.
    pub(crate) at: DocAddress,
}

impl Precedence {
    pub(crate) fn new(
        published_ms: Option<i64>,
        fetched_ms: i64,
        is_original: bool,
        seq: u64,
        at: DocAddress,
    ) -> Self {
        let at_ms = published_ms.unwrap_or(fetched_ms);
        Self {
            day: at_ms.div_euclid(DAY_MS),
            is_copy: !is_original,
            at_ms,
            fetched_ms,
            seq,
            at,
        }
    }
}

/// One state of an index. A [`DocAddress`] that it gives is a place in it, and in no other.
pub(crate) trait View {
    /// Runs `ask` with statistics that know all that it asks for; where they must be fetched, a first time to learn what
    /// that is. What it asks for must not depend on the answers.
    fn with_statistics(&self, ask: &mut dyn FnMut(&dyn Statistics)) -> Result<(), IndexError>;

    /// The Latin words of a field of grams that differ from this one in so many letters at most, each with the number of its
    /// documents, in no order. A letter is missing, too much, another, or has changed places with the next.
    fn similar(
        &self,
        column: Column,
        word: &str,
        most_edits: u8,
    ) -> Result<Vec<(String, u64)>, IndexError>;

    /// The documents that a plan fits.
    fn rank(&self, plan: &Plan, wanted: &Wanted<'_>) -> Result<Ranking, IndexError>;

    /// Those of them that are in one of these groups of reprints, each with its group, the first of each group first; none
    /// of those at the places in `without`.
    fn members(
        &self,
        plan: &Plan,
        groups: &[u64],
        without: &[DocAddress],
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, Precedence)>, IndexError>;

    /// The groups of reprints with more than one document that a plan fits, and how many; at most `limit`, most first.
    fn groups(
        &self,
        plan: &Plan,
        limit: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<(u64, u64)>, IndexError>;

    /// About so many of the documents that a plan fits, spread evenly over them.
    fn sample(
        &self,
        plan: &Plan,
        count: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<DocAddress>, IndexError>;

    /// Calls `each` with every document that a plan fits and that came after `after`, in no order, until it returns false;
    /// then gives false.
    fn each(
        &self,
        plan: &Plan,
        after: Option<Watermark>,
        each: &mut dyn FnMut(DocAddress) -> Result<bool, IndexError>,
    ) -> Result<bool, IndexError>;

    /// The newest document.
    fn watermark(&self) -> Result<Watermark, IndexError>;

    /// The document with this fingerprint.
    fn find(&self, fingerprint: u64) -> Result<Option<DocAddress>, IndexError>;

    /// Fingerprint, and number of the last change, of the document at a place.
    fn identity(&self, at: DocAddress) -> Result<(u64, u64), IndexError>;

    /// The same of every document that came after `after`, in no order.
    fn identities(&self, after: Option<Watermark>) -> Result<Vec<(u64, u64)>, IndexError> {
        let mut identities = Vec::new();
        self.each(&Plan::All, after, &mut |at| {
            identities.push(self.identity(at)?);
            Ok(true)
        })?;
        Ok(identities)
    }

    /// Its group of reprints.
    fn group(&self, at: DocAddress) -> Result<Option<u64>, IndexError>;

    /// Its place among the reprints; none where it has none.
    fn placed(&self, at: DocAddress) -> Result<Option<Placed>, IndexError>;

    /// Its site.
    fn site(&self, at: DocAddress) -> Result<String, IndexError>;

    /// Bytes of the index on disk.
    fn size_bytes(&self) -> Result<u64, IndexError>;

    /// Number of the last change that is in the index.
    fn last_seq(&self) -> Result<u64, IndexError>;
}

/// What `ask` makes of the statistics of a view.
pub(crate) fn reckoned<T>(
    view: &dyn View,
    ask: impl Fn(&dyn Statistics) -> T,
) -> Result<T, IndexError> {
    let mut answer = None;
    view.with_statistics(&mut |statistics| answer = Some(ask(statistics)))?;
    answer.map_or_else(|| unreachable!("a view asks at least once"), Ok)
}

/// A score that time has worn off: what holds the query as typed still comes first, but its title counts no more than its
/// text.
pub(crate) fn aged(score: f32, freshness: f32) -> f32 {
    use super::rank::plain::TIER;
    (score / TIER).floor().min(1.0) * TIER + (score % TIER) * freshness
}
