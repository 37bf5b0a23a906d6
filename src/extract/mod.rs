//! From a page to a document. In: a [`crate::page::Page`]. Out: a [`Document`]: title, time, author, body, links.
//! Never does I/O, never fails: a bad page is a document of kind `error` or `other`.

mod document;

pub use document::{Comment, Document, Kind, Link, LinkKind};
