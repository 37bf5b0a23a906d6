//! Addresses of pages. In: the text of a URL, absolute or relative to a page. Out: a [`CrawlUri`] in canonical
//! form, its fingerprint and its queue hash. Never does I/O.

mod canonicalize;
mod fingerprint;
#[cfg(test)]
mod tests;

pub use canonicalize::{CrawlUri, UriError};
pub use fingerprint::{QueueHash, elf, hfip};
