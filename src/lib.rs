//! Taojin (淘金) pans the web of one field for gold: it crawls that field's sites on a schedule, extracts
//! what the pages say, cuts the Chinese text with the field's own terms and answers searches a second later.
//!
//! ```text
//!  config ─▶ schedule ──due──▶ frontier ──next──▶ fetch ══chunks══▶ page ──Page──▶ extract ──Document──▶ analyze ─▶ index ─▶ serve
//!               ▲                 ▲                 │                │ outlinks                                         │ CLI, HTTP, web
//!               └── outcome ──────┴─────────────────┴────────────────┘                                                  ▼ search
//! ```
//!
//! The modules below are in reading order: a stage knows only the stages above it (a test reads the imports
//! and fails on any other edge), `daemon` is the only place that spawns, and `cli` wires what a person asks for.

pub mod analyze;
pub mod cli;
pub mod comments;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod eval;
pub mod export;
pub mod extract;
pub mod fetch;
pub mod frontier;
pub mod index;
pub mod literals;
pub mod page;
pub mod schedule;
pub mod serve;
pub mod similarity;
pub mod store;
pub mod template;
pub mod terms;
pub mod uri;
