//! What an operator decides about: templates and domain terms.

pub(crate) mod templates;
pub(crate) mod templates_page;
pub(crate) mod terms;
pub(crate) mod terms_page;
