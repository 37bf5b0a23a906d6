//! Formatting elements that were left open (`<b>`, `<font>`, `<a>` …) and go on in the next block, as the HTML
//! standard's list of active formatting elements has it.

use super::open::Open;
use super::tree::Tree;
use super::{NodeId, Span, Tag};

/// A page needs few; past this the oldest is forgotten, so that hostile pages stay linear.
const MAX_ENTRIES: usize = 32;
/// The standard's limit for equal entries.
const MAX_EQUAL: usize = 3;

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

impl Tree {
    /// Bounds the formatting inside an element that was just inserted, if there was room for it among the open ones.
    pub(super) fn bound_formatting(&mut self, node: NodeId) {
        if self.current().is_some_and(|open| open.node == node) {
            self.formatting.push_marker();
        }
    }

    /// The formatting element that has just been inserted joins the list.
    pub(super) fn push_formatting(&mut self, node: NodeId) {
        let Some(open) = self.current().filter(|open| open.node == node) else {
            return;
        };
        let span = self.nodes[node as usize].span;
        let mut equal = 0;
        let mut earliest = None;
        for (at, entry) in self.formatting.entries.iter().enumerate().rev() {
            match entry {
                Entry::Marker => break,
                Entry::Element {
                    open: other,
                    span: s,
                } => {
                    if other.tag == open.tag && self.same_attributes(*s, span) {
                        equal += 1;
                        earliest = Some(at);
                    }
                }
            }
        }
        if equal >= MAX_EQUAL
            && let Some(at) = earliest
        {
            self.formatting.entries.remove(at);
        }
        if self.formatting.entries.len() >= MAX_ENTRIES {
            self.formatting.entries.remove(0);
        }
        self.formatting.entries.push(Entry::Element { open, span });
    }

    fn same_attributes(&self, a: Span, b: Span) -> bool {
        a.len == b.len
            && (0..a.len).all(|i| {
                let x = self.attributes[(a.start + i) as usize];
                let y = self.attributes[(b.start + i) as usize];
                x.name == y.name && self.bytes(x.value) == self.bytes(y.value)
            })
    }

    fn bytes(&self, span: Span) -> &[u8] {
        let from = span.start as usize;
        self.arena
            .get(from..from + span.len as usize)
            .unwrap_or_default()
    }

    pub(super) fn stack_position(&self, node: NodeId) -> Option<usize> {
        self.stack.iter().rposition(|open| open.node == node)
    }

    /// Opens again what formatting was left open by the end of a block.
    pub(super) fn reopen_formatting(&mut self) {
        if self.current().as_ref().is_some_and(Open::is_drawing) {
            return;
        }
        let entries = &self.formatting.entries;
        let mut from = entries.len();
        while let Some(Entry::Element { open, .. }) = from.checked_sub(1).map(|at| entries[at]) {
            if self.stack_position(open.node).is_some() {
                break;
            }
            from -= 1;
        }
        for at in from..self.formatting.entries.len() {
            if self.is_full() {
                return;
            }
            let Entry::Element { open, span } = self.formatting.entries[at] else {
                continue;
            };
            let node = self.insert(open.tag, open.name_hash, span);
            let Some(open) = self.current().filter(|open| open.node == node) else {
                return;
            };
            self.formatting.entries[at] = Entry::Element { open, span };
        }
    }

    /// A second `<a>` (or `<nobr>`) closes the first.
    pub(super) fn close_same_formatting(&mut self, tag: Tag) {
        if let Some(open) = self.formatting.last_of(tag) {
            self.end_formatting(tag);
            self.formatting.remove(open.node);
            if let Some(at) = self.stack_position(open.node) {
                self.remove_open(at);
            }
        }
    }
}
