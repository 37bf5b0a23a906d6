//! What a person decides about templates and terms, and the search for terms.

pub(crate) mod lexicon_watch;
pub(crate) mod templates;
pub(crate) mod term_search;
pub(crate) mod terms;
