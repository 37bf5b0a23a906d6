//! Fetches pages over the network, politely. [`Gate::fetch`] takes a [`Request`] for one URL, makes it if the rules of its site and
//! host allow it and its turn has come, passes on the body while it arrives and returns a [`Fetched`]. Never parses HTML, never
//! decides what is fetched next.

mod client;
mod decode;
mod explain;
mod gate;
mod guard;
mod limits;
mod pace;
mod proxy;
mod request;
mod robots;
mod robots_cache;
#[cfg(test)]
mod tests;
mod warc;
mod warc_reader;
mod warc_sink;

pub use client::FetchError;
pub use gate::{Clock, Gate, Purpose, Refused, Trouble, Turn};
pub use guard::{Guard, Network, Refusal};
pub use limits::{Config, HostAddress, WarcConfig};
pub use proxy::{ProxyAddress, ProxyProblem};
pub use request::{ContentClass, Fetched, Head, Request, Sink, Want};
pub use robots::{MAX_ROBOTS_BYTES, Robots, Rule};
pub use warc_reader::{Record, WarcError, WarcReader, replay};
pub use warc_sink::WarcSink;
