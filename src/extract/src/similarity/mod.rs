//! How alike two trees of elements are. In: two [`Skeleton`]s, the flat arrays of the elements of two subtrees. Out: a
//! similarity from 0 to 1. Never reads text, never recurses, never costs more than its limits allow.
//!
//! Here stands what extraction and templates use; the other measures of the literature are in the crate `taojin-lab`,
//! which is built on the same skeletons and hashes.

mod label;
pub mod pol;
mod skeleton;
#[cfg(test)]
mod tests;

pub(crate) use label::NameHashes;
pub use label::{lcs_step, mix, name_hash, name_of, shared, stable_word};
pub use skeleton::Skeleton;
