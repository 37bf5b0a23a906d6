//! Taojin (淘金) pans the web of one field for gold: it crawls that field's sites on a schedule, extracts
//! what the pages say, cuts the Chinese text with the field's own terms and answers searches a second later.
//!
//! ```text
//!  config ─▶ schedule ──due──▶ frontier ──next──▶ fetch ══chunks══▶ page ──Page──▶ extract ──Document──▶ analyze ─▶ index ─▶ serve
//!               ▲                 ▲                 │                │ outlinks                                         │ CLI, HTTP, web
//!               └── outcome ──────┴─────────────────┴────────────────┘                                                  ▼ search
//! ```
//!
//! This crate is the program: it wires the stages, which are crates of their own (`taojin-crawl`, `taojin-extract`,
//! `taojin-search`). `daemon` is the only place that spawns, and `cli` wires what a person asks for.

pub mod cli;
pub mod config;
pub mod daemon;
pub mod documents;
mod engine;
pub mod export;

pub use taojin_serve as serve;
