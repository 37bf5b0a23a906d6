//! When formatting elements join the list of active ones, and when they are opened again. In: the tree while it grows.
//! Out: the same with formatting that goes on over the ends of blocks, as the HTML standard reconstructs it.

use super::formatting::{Entry, MAX_ENTRIES, MAX_EQUAL};
use super::open::Open;
use super::tree::Tree;
use super::{NodeId, Span, Tag};

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
