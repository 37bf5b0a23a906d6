//! URLs of pages. [`CrawlUri`] is a URL in canonical form, parsed absolute or relative to a page, with its fingerprint and
//! its queue hash. No I/O.

mod canonicalize;
mod fingerprint;
mod spelling;
#[cfg(test)]
mod tests;

pub use canonicalize::{CrawlUri, MAX_URI_BYTES, UriError, follow, registrable_domain};
pub use fingerprint::{QueueHash, elf, hf, hfip};
pub use spelling::normalize_escapes;
