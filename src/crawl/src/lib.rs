//! What to fetch, politely and durably: the store of URLs, the schedules of sites, the frontier, the HTTP client. The
//! current time is always passed in. Never parses HTML.

#[macro_use]
mod words;

pub mod fair;
pub mod fetch;
pub mod frontier;
mod outcome;
pub mod schedule;
pub mod scope;
pub mod store;

pub use outcome::{DocumentChange, Failure, NoPage, Problem, Truncation, VisitOutcome};

/// A day in milliseconds.
const DAY_MS: i64 = 86_400_000;
