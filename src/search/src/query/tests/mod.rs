//! query::tests

pub(crate) mod query;
pub(crate) mod snippet;
