//! An open element and what it changes for what comes inside. In: its tag and place. Out: the answers that the
//! rules of the standard ask for. Never changes the tree.

use super::text_counts::Readable;
use super::{NodeId, PathId, Tag};

/// Which rules hold for what comes next; decided by the innermost element that changes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Body,
    Table,
    TableBody,
    Row,
    Cell,
    Caption,
    ColumnGroup,
    /// Directly in a template: the first tag decides what it is a template of.
    Template,
}

impl Context {
    /// Inside a table but not inside a cell or caption: other content does not belong here.
    pub(super) fn is_table(self) -> bool {
        matches!(self, Context::Table | Context::TableBody | Context::Row)
    }
}

/// How far the page has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Phase {
    #[default]
    Start,
    Head,
    AfterHead,
    Body,
    Frameset,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) tag: Tag,
    pub(super) context: Context,
    /// Of SVG or MathML.
    pub(super) foreign: bool,
    /// Of SVG or MathML, but what it holds is HTML.
    pub(super) holds_html: bool,
    pub(super) node: NodeId,
    pub(super) path: PathId,
    /// Tells unknown names apart; 0 for a known tag.
    pub(super) name_hash: u32,
    /// Part of a table that content was moved out of: its node takes no more children.
    pub(super) stale: bool,
    /// Whether its texts are read.
    pub(super) readable: Readable,
}

impl Open {
    /// Tags inside of it belong to SVG or MathML.
    pub(super) fn is_drawing(&self) -> bool {
        self.foreign && !self.holds_html
    }

    /// This element of HTML.
    pub(super) fn is_html(&self, tag: Tag) -> bool {
        self.tag == tag && !self.foreign
    }

    /// "Special" of the standard: elements of a drawing are not, whatever their name.
    pub(super) fn is_special(&self) -> bool {
        self.holds_html || (!self.foreign && self.tag.is_special())
    }

    /// Boundary of a scope.
    pub(super) fn is_scope(&self) -> bool {
        self.holds_html || (!self.foreign && self.tag.is_scope())
    }
}
