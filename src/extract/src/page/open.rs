//! The open elements and the list of active formatting elements of the HTML standard: their types, and the predicates that
//! the rules of the tree construction check.

use super::text_counts::Readable;
use super::{NodeId, PathId, Span, Tag};

/// Which rules hold for what comes next; decided by the innermost element that changes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertionContext {
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

impl InsertionContext {
    /// Inside a table but not inside a cell or caption: other content does not belong here.
    pub(super) fn is_table(self) -> bool {
        matches!(
            self,
            InsertionContext::Table | InsertionContext::TableBody | InsertionContext::Row
        )
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
pub(super) struct OpenElement {
    pub(super) tag: Tag,
    pub(super) context: InsertionContext,
    /// Of SVG or MathML.
    pub(super) foreign: bool,
    /// Of SVG or MathML, but what it holds is HTML.
    pub(super) holds_html: bool,
    pub(super) node: NodeId,
    pub(super) path: PathId,
    /// Distinguishes unknown names; 0 for a known tag.
    pub(super) name_hash: u32,
    /// Part of a table that content was moved out of: its node takes no more children.
    pub(super) stale: bool,
    /// Whether its texts are read.
    pub(super) readable: Readable,
}

impl OpenElement {
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

#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// Boundary: a cell, caption, object or template.
    Marker,
    Element {
        open: OpenElement,
        span: Span,
    },
}

/// The list of active formatting elements.
#[derive(Debug, Default)]
pub(super) struct Formatting {
    pub(super) entries: Vec<Entry>,
}

impl Formatting {
    pub(super) fn push_marker(&mut self) {
        self.entries.push(Entry::Marker);
    }

    pub(super) fn clear_to_marker(&mut self) {
        while let Some(entry) = self.entries.pop() {
            if matches!(entry, Entry::Marker) {
                break;
            }
        }
    }

    pub(super) fn position(&self, node: NodeId) -> Option<usize> {
        self.entries
            .iter()
            .rposition(|e| matches!(e, Entry::Element { open, .. } if open.node == node))
    }

    pub(super) fn remove(&mut self, node: NodeId) {
        if let Some(at) = self.position(node) {
            self.entries.remove(at);
        }
    }

    /// The last entry of this tag after the last marker.
    pub(super) fn last_of(&self, tag: Tag) -> Option<OpenElement> {
        for entry in self.entries.iter().rev() {
            match entry {
                Entry::Marker => return None,
                Entry::Element { open, .. } if open.tag == tag => return Some(*open),
                Entry::Element { .. } => {}
            }
        }
        None
    }
}

/// How node numbers change when `before` nodes are put in front of the block and one behind it.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    pub(super) block: NodeId,
    pub(super) before: NodeId,
}

impl Shift {
    pub(super) fn apply(self, node: NodeId) -> NodeId {
        match node.cmp(&self.block) {
            std::cmp::Ordering::Less => node,
            std::cmp::Ordering::Equal => node + self.before,
            std::cmp::Ordering::Greater => node + self.before + 1,
        }
    }
}
