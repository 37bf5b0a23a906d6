//! The HTML standard's list of active formatting elements: those that were left open (`<b>`, `<font>`, `<a>` …) and go
//! on in the next block.

use super::open::Open;
use super::{NodeId, Span, Tag};

/// A page needs few; past this the oldest is forgotten, so that hostile pages stay linear.
pub(super) const MAX_ENTRIES: usize = 32;
/// The standard's limit for equal entries.
pub(super) const MAX_EQUAL: usize = 3;

#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// Boundary: a cell, caption, object or template.
    Marker,
    Element {
        open: Open,
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
    pub(super) fn last_of(&self, tag: Tag) -> Option<Open> {
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
