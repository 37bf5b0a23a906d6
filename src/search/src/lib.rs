//! From documents to ranked hits: Chinese text analysis and lexicons, the terms of a field, the index. In: documents of
//! `taojin-extract`. Out: hits. tantivy lives here only; nothing here reads HTML or the network.

pub mod analyze;
pub mod index;
pub mod query;
pub mod terms;
