//! Webs on loopback for the demo and for tests.
//!
//! [`SampleWeb`] is what `taojin demo` crawls: an oil and gas news world in Chinese, written once as plain files under `web/`,
//! in two rounds, with everything that makes real sites hard to crawl, and with the ground truth of what a crawl must
//! find. [`trial::TrialWeb`] is made while it is served and as large as a test wants, with faults. Both are a [`Web`], which
//! [`serve()`] serves on sockets of the caller.

mod articles;
mod dates;
mod sample;
mod serve;
#[cfg(test)]
mod tests;
mod traps;
pub mod trial;

pub use articles::{Article, Comment, Discovery};
pub use sample::{ARTICLES, CHANGED_ARTICLES, NEW_ARTICLES, SHOWCASE, SampleSite, SampleWeb};
pub use serve::{Body, Fault, Hit, Request, RequestLog, Response, Web, serve};
pub use traps::{TRAPS, Trap, TrapKind};
