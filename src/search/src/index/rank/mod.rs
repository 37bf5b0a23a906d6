//! What a query asks of an engine: its [`clauses`] become a [`plan`], whose [`plain`] words decide what fits and what ranks;
//! [`labels`] are asked for with their values.

pub(crate) mod clauses;
pub(crate) mod labels;
pub(crate) mod plain;
pub(crate) mod plan;
