//! URLs of pages. [`CrawlUri`] is a URL in canonical form, parsed absolute or relative to a page, a [`FingerprintKey`]
//! finds it by a number, a [`QueueHash`] assigns it to a queue. No I/O.

mod canonicalize;
mod fingerprint;
mod queue_hash;
mod spelling;
#[cfg(test)]
mod tests;

pub use canonicalize::{CrawlUri, MAX_URI_BYTES, UriError, follow, registrable_domain};
pub use fingerprint::FingerprintKey;
pub use queue_hash::{QueueHash, elf, hf, hfip};
pub use spelling::normalize_escapes;
