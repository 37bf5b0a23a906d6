//! What is fetched next. In: URLs found on pages, the sites' scopes, what became of each fetch, and the time. Out:
//! leases, one host at a time as politeness allows, and why a host waits. Never fetches, never reads a clock.
//!
//! The crawl loop owns a [`Frontier`] and the writing side of the store and goes round:
//! [`Frontier::next`] gives a [`Lease`] → the page is fetched → [`Frontier::finished`] frees the host →
//! [`Frontier::commit`] makes the pages and their new links durable. A lease lives in memory only: until its commit
//! the URL stays due in the store, so that a crash needs no repair.

mod alike;
mod asked;
mod assign;
mod commit;
mod config;
mod explain;
mod gate;
mod lease;
mod leasing;
mod politeness;
mod queue;
mod remaining;
mod scope;
mod seen;
mod sites;
mod trap;

#[cfg(test)]
mod tests;

pub use asked::Asked;
pub use assign::{queue_key, rank, shard};
pub use commit::CommitReport;
pub use config::Config;
pub use explain::{Explanation, HostCounts, Stats, leads_nowhere};
pub use lease::{FetchReport, Lease, Next};
pub use leasing::Frontier;
pub use politeness::Cause;
pub use remaining::{Resting, Span, longest_rest};
pub use scope::{Refusal, Scope, ScopeError, SiteScope, pattern_problem};
pub use seen::Seen;
pub use sites::{BEYOND_HOPS, HOST_LIMITS, OUT_OF_SCOPE, SITE_LIMITS, SetSitesError};
