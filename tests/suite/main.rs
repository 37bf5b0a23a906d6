//! Integration tests: one binary. A folder holds the tests of one feature, `support` what they share.

mod attachments;
mod cli;
mod crawl;
mod daemon;
mod demo;
mod docs;
mod documents;
mod durability;
mod extract;
mod fuzz;
mod hostile;
mod layout;
mod nodes;
mod search;
mod suites;
mod support;
