//! Integration tests: one binary.

mod cli;
mod config;
mod daemon;
mod demo;
mod eval;
mod kill;
mod layout;
mod same_documents;
mod sample_pages;
mod site_add;
mod warc;
mod world;
