//! Getting pages over the network. In: a [`Request`] for one address. Out: its body in chunks while they arrive,
//! and a [`Fetched`] that says how it ended. Also what a site's robots.txt allows. Never parses HTML, never
//! follows a redirect, never decides what is fetched next or when.

mod client;
mod cookies;
mod decode;
mod explain;
mod guard;
mod head;
mod limits;
mod message;
mod network;
mod replay;
mod request;
mod resolve;
mod robots;
mod robots_cache;
mod robots_reader;
mod robots_saved;
#[cfg(test)]
mod tests;
mod warc;
mod warc_reader;

pub use client::{FetchError, Fetcher};
pub use guard::{Guard, Refusal};
pub use head::{ContentClass, Head};
pub use limits::{Config, HostAddress, WarcConfig};
pub use network::Network;
pub use replay::replay;
pub use request::{Fetched, Request, Sink, Want};
pub use robots::Robots;
pub use robots_cache::{Access, Archived, RobotsCache, Verdict};
pub use robots_reader::{MAX_ROBOTS_BYTES, Rule};
pub use warc::{Archive, Exchange};
pub use warc_reader::{Record, WarcError, WarcReader};
