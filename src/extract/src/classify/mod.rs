//! Classifies lines and pages: features, the line model, the context model, the page type.

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
