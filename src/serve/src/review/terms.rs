//! The review of domain terms as the server sees it. In: terms to accept or to reject. Out: the list of those that nobody
//! has decided about. The daemon or the command line carries the decisions out.

use std::sync::Arc;

use crate::search::source::Marked;

/// A term to decide about.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewTerm {
    /// As it is mostly written.
    pub term: String,
    /// How likely it is a term, 0 to 1.
    pub termhood: f64,
    /// Times that it occurred.
    pub occurrences: u64,
    /// Documents that have it.
    pub documents: u64,
    /// Whether the general dictionary has it.
    pub in_dictionary: bool,
    /// Sentences with the term marked.
    pub evidence: Vec<Marked>,
}

/// A part of the review list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReviewList {
    /// Terms not decided about.
    pub proposed: u64,
    /// Terms in the lexicon of accepted ones.
    pub accepted: u64,
    /// Terms that are not proposed again.
    pub rejected: u64,
    /// Some of those not decided about, best first.
    pub terms: Vec<ReviewTerm>,
}

/// The one thing that a server can change: the review list. Errors are for the log.
pub trait TermReview: Send + Sync {
    /// Terms not decided about, best first.
    fn list(&self, offset: usize, limit: usize) -> Result<ReviewList, String>;
    /// Puts terms into the lexicon; how many are new there.
    fn accept(&self, terms: &[String]) -> Result<usize, String>;
    /// Takes terms off the list and out of the lexicon; how many were in use.
    fn reject(&self, terms: &[String]) -> Result<usize, String>;
}

/// A review that several requests share.
pub type Review = Arc<dyn TermReview>;
