//! What a line or a page is likely to be: features, the line model and the context model, the type of page. In: lines. Out: log-odds.

pub(crate) mod context;
mod context_features;
pub(crate) mod context_model;
pub(crate) mod features;
pub mod learn;
pub(crate) mod learned;
pub(crate) mod line_model;
pub(crate) mod list_page;
pub(crate) mod page_cues;
pub(crate) mod page_type;
pub(crate) mod trees;
