//! Failure paths first, then tables, then the property that canonical text is a fixed point.

mod canonicalize;
mod fingerprint;
mod plain;
mod queue_hash;
