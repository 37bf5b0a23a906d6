//! Integration tests: one binary.

mod config;
mod kill;
mod layout;
mod world;
