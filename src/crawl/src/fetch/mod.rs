//! Getting pages over the network. In: a [`Request`] for one address. Out: its body in chunks while they arrive,
//! and a [`Fetched`] that says how it ended. Also what a site's robots.txt allows. Never parses HTML, never
//! follows a redirect, never decides what is fetched next or when.

mod client;
mod decode;
mod explain;
mod guard;
mod limits;
mod request;
mod robots;
mod robots_cache;
#[cfg(test)]
mod tests;
mod warc;
mod warc_reader;

pub use client::{FetchError, Fetcher};
pub use guard::{Guard, Network, Refusal};
pub use limits::{Config, HostAddress, WarcConfig};
pub use request::{ContentClass, Fetched, Head, Request, Sink, Want};
pub use robots::{MAX_ROBOTS_BYTES, Robots, Rule};
pub use robots_cache::{Access, Archived, RobotsCache, Verdict};
pub use warc::{Archive, Exchange};
pub use warc_reader::{Record, WarcError, WarcReader, replay};
