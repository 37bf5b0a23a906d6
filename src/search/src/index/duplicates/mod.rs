//! Reprints. In: documents as they are written. Out: the group of each ([`reprints`]): a sketch finds texts that may be the
//! same, [`alike`] compares them, with their [`titles`] and their [`subject`].

mod alike;
pub(crate) mod reprints;
mod subject;
mod titles;
