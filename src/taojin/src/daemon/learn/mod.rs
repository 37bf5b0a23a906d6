//! Learning of templates beside the crawl, and templates in use.

pub(crate) mod learner;
pub(crate) mod templates;
