//! Tests of the extraction, by part.

mod author;
mod dates;
mod hidden;
mod hostile;
mod links;
mod lists;
mod marks;
mod measure;
mod repeatable;
mod signs;
mod structure;
mod tables;
mod titles;
