//! Documents from pages.

mod article_pages;
mod charsets;
mod comments;
mod eval;
mod followed_comments;
mod inputs;
mod pages;
mod same_documents;
pub(crate) mod sample_pages;
