//! Addresses of pages. In: the text of a URL, absolute or relative to a page. Out: a [`CrawlUri`] in canonical
//! form, its fingerprint and its queue hash. Never does I/O, never looks at a page.

mod canonicalize;
mod fingerprint;
mod spelling;
#[cfg(test)]
mod tests;

pub use canonicalize::{CrawlUri, MAX_URI_BYTES, UriError, registrable_domain};
pub use fingerprint::{QueueHash, elf, hf, hfip};
pub use spelling::canonical_escapes;
