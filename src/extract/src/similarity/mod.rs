//! Similarity of two trees of elements, 0 to 1, on [`Skeleton`]s: flat arrays of the elements of a subtree. Text is not
//! compared; cost is bounded by limits.
//!
//! This module has what extraction and templates use; the other measures of the literature are in the crate `taojin-lab`,
//! which is built on the same skeletons and hashes.

mod label;
pub mod pol;
mod skeleton;
#[cfg(test)]
mod tests;

pub(crate) use label::NameHashes;
pub use label::{lcs_step, mix, name_hash, name_of, shared, stable_word};
pub use skeleton::Skeleton;
