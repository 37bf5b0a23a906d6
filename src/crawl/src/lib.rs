//! What to fetch, politely and durably: the store of addresses, the schedules of sites, the frontier, the HTTP client. In:
//! links, outcomes, the time (always passed in). Out: leases and answers. Never parses HTML.

#[macro_use]
mod words;

pub mod fetch;
pub mod frontier;
mod outcome;
pub mod schedule;
pub mod store;

pub use outcome::{DocumentChange, Failure, Truncation, VisitOutcome};
