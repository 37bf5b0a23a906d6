//! The fields of a document other than its text: title, author, source, pictures, links, further pages, head data.

pub(crate) mod author;
pub(crate) mod file_days;
pub(crate) mod head;
pub(crate) mod headline;
pub(crate) mod images;
pub(crate) mod json_ld;
pub(crate) mod label_words;
pub(crate) mod labels;
pub(crate) mod likeness;
pub(crate) mod links;
pub(crate) mod list_extent;
pub(crate) mod listed_date;
pub(crate) mod meta;
pub(crate) mod pager_calls;
pub(crate) mod pages;
pub(crate) mod record_groups;
pub(crate) mod script_links;
pub(crate) mod title;
pub(crate) mod title_candidate;
pub(crate) mod title_extent;
pub(crate) mod title_parts;
pub(crate) mod title_region;
