//! The fields of a document beside its text: title, author, source, pictures, links, further pages, and what the head declares.

pub(crate) mod attachments;
pub(crate) mod author;
pub(crate) mod head;
pub(crate) mod headline;
pub(crate) mod images;
pub(crate) mod json_ld;
pub(crate) mod label_words;
pub(crate) mod labels;
pub(crate) mod likeness;
pub(crate) mod link_address;
pub(crate) mod links;
pub(crate) mod meta;
pub(crate) mod pages;
pub(crate) mod site_title;
pub(crate) mod title;
pub(crate) mod title_candidate;
pub(crate) mod title_forms;
pub(crate) mod title_override;
pub(crate) mod title_parts;
pub(crate) mod typed;
