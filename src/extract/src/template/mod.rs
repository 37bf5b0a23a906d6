//! Templates of a site, learned from its pages. In: [`Observation`]s, the sequences of pages with the votes of the extraction,
//! or the [`Keys`] of a page. Out: [`Template`]s: which nodes are essential and which optional, which slots lie between them,
//! which region holds which field; for a page the nearest template, laid on it by a [`Guide`]. Never does I/O, never keeps a
//! page.
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
mod field;
mod keys;
mod learn;
mod nodes;
mod observation;
mod regions;
mod saved;
mod sequence;
mod slots;
#[cfg(test)]
mod tests;

pub use assign::{Assigned, Guide, Library};
pub use config::{Config, LEARN_AT, LEARN_SMALL_AT, MAX_DISTANCE, MAX_PENDING, MIN_PAGES, SAMPLES};
pub use field::Field;
pub use keys::{KeySet, Keys, text_hash};
pub use learn::{Learned, Template, learn};
pub use nodes::{Alignment, Node, Nodes};
pub use observation::{Observation, ObservedLine};
pub use regions::Region;
pub use saved::{colour, frame, framed_html, saved_html};
pub use sequence::{Layout, Sequence, Token, TokenKind};
pub use slots::{Slot, Value, slot_key, slot_texts};
