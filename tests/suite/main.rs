//! Integration tests: one binary.

mod cli;
mod config;
mod kill;
mod layout;
mod world;
