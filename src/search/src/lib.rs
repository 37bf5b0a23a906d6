//! From documents to ranked hits: Chinese text analysis and lexicons, the terms of a field, the index of documents of
//! `taojin-extract`. tantivy is used here only; nothing here reads HTML or the network.

pub mod analyze;
pub mod index;
pub mod query;
pub mod terms;
