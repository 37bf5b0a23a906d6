//! Recognises reprints while documents are written ([`reprints`]): a sketch finds texts that may be the same, [`alike`]
//! compares them, with their [`titles`] and their [`subject`].

mod alike;
pub(crate) mod reprints;
mod subject;
mod titles;
