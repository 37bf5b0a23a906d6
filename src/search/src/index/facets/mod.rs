//! What can be said of a result as a whole: [`counts`] by site, day and group, charts of [`days`], [`values`] of their
//! fields, [`related`] terms and documents, and the [`trends`] that analysts compare.

pub(crate) mod counts;
pub(crate) mod days;
pub(crate) mod related;
pub(crate) mod trends;
pub(crate) mod values;
