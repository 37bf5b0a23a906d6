//! Templates of a site, learned from [`Observation`]s of its pages. A [`Template`] knows which nodes are essential or
//! optional, the slots between them, and which region holds which field; [`Keys`] of a page find the nearest template, and
//! a [`Guide`] applies it. No I/O; pages are not kept.
//!
//! ```text
//!  pages ─▶ observe ─▶ cluster (shared block paths) ─▶ align one after the other ─▶ essential, optional nodes ─▶ slots, names
//!                          │
//!                          └─▶ votes and entropy of each region ─▶ fields, boilerplate
//! ```

mod align;
mod assign;
pub mod cluster;
mod config;
mod fit;
mod learn;
mod nodes;
mod observation;
mod optional;
mod regions;
mod saved;
mod sequence;
#[cfg(test)]
mod tests;

pub use assign::{Assigned, Guide, Library};
pub use config::{Config, LEARN_AT, LEARN_SMALL_AT, MAX_DISTANCE, MAX_PENDING, MIN_PAGES, SAMPLES};
pub use fit::{MAX_MISSING, RankedTemplate, TextRole, choose_template, rank_templates, read_roles};
pub use learn::{Learned, Template, learn};
pub use nodes::{Alignment, Nodes, TemplateNode, merge_twins};
pub use observation::{Field, KeySet, Keys, Observation, ObservedLine, text_hash};
pub use optional::{Alternative, Gap, OutlineNode, SequenceShare};
pub use regions::{Region, Slot, SlotValue, collect_slot_texts, slot_key};
pub use saved::{colour, frame, framed_html, write_html};
pub use sequence::{Layout, MAX_TOKENS, Sequence, Token, TokenKind};
