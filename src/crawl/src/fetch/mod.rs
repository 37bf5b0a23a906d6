//! Fetches pages over the network and reads what a site's robots.txt allows. [`Fetcher`] takes a [`Request`] for one
//! URL, passes on its body while it arrives and returns a [`Fetched`]. Never parses HTML, never follows a redirect,
//! never decides what is fetched next or when.

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
