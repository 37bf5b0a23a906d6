//! What the server asks of an index: parameters of a request, the source, hits and texts with marks.

pub(crate) mod index_source;
pub(crate) mod overview;
pub(crate) mod param_error;
pub(crate) mod params;
pub(crate) mod source;
pub(crate) mod trend_params;
pub(crate) mod trends;
pub(crate) mod values;
