//! What the server asks of an index: parameters of a request, the source, hits and texts with marks.

pub(crate) mod examples;
pub(crate) mod field_offers;
pub(crate) mod overview;
pub(crate) mod params;
pub(crate) mod source;
pub(crate) mod trends;
