//! Integration tests: one binary.

mod cli;
mod config;
mod daemon;
mod deletion;
mod demo;
mod duplicates;
mod eval;
mod export;
mod kill;
mod layout;
mod pages;
mod same_documents;
mod sample_pages;
mod site_add;
mod small_web;
mod warc;
mod world;
