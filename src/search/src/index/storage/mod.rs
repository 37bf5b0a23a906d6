//! The index in a directory, kept by tantivy: one state of it ([`embedded`]), what it runs ([`compile`], [`queries`]), the
//! threads of a search ([`threads`]), its [`writer`], what waits for it ([`backlog`]) and what it merges ([`merging`]), and its
//! files ([`folder`], [`rebuild`]).

mod backlog;
pub(crate) mod compile;
pub(crate) mod embedded;
pub(crate) mod folder;
pub(crate) mod left_out;
pub(crate) mod merging;
pub(crate) mod queries;
pub(crate) mod rebuild;
pub(crate) mod threads;
pub(crate) mod writer;
