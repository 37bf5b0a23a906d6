//! Limits of one page. Everything past a limit is dropped and the page says so.

use serde::{Deserialize, Serialize};

/// Pages of text are far below this; what is larger is data, an archive or an attack.
const MAX_DECODED_BYTES: usize = 4 << 20;
/// Real pages have one node for 53 to 115 bytes, so a page at the byte limit has at most some 80,000.
const MAX_NODES: usize = 250_000;
/// Browsers stop nesting here too; deeper elements become siblings.
const MAX_DEPTH: usize = 512;
/// Long enough for any URL and description; longer values are scripts or pictures in disguise.
const MAX_ATTRIBUTE_BYTES: usize = 4096;

/// Limits while a page is parsed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes of a page that are parsed, after decompression; the rest is dropped.
    pub max_decoded_bytes: usize,
    /// Elements and texts of a page that are kept.
    pub max_nodes: usize,
    /// Nesting depth; deeper elements become siblings of the deepest.
    pub max_depth: usize,
    /// Bytes of one attribute value that are kept.
    pub max_attribute_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_decoded_bytes: MAX_DECODED_BYTES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            max_attribute_bytes: MAX_ATTRIBUTE_BYTES,
        }
    }
}
