//! Formatting elements that are left open (`<b>`, `<font>`, `<a>` …) and reopen in the next block, and the adoption agency
//! of the HTML standard for formatting that ends inside a block it began outside of (`<b><p>x</b>y`): the block is moved
//! next to the formatting element, and a second formatting element inside the block takes its children. Nodes are inserted
//! before others only here; the work is bounded.

use super::open::{Entry, OpenElement, Shift};
use super::tree::{Tree, readable_inside};
use super::{NodeId, Span, Tag, leads};

/// A page needs few; past this the oldest is forgotten, so that hostile pages stay linear.
const MAX_ENTRIES: usize = 32;
/// The standard's limit for equal entries.
const MAX_EQUAL: usize = 3;

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
        if self.current().as_ref().is_some_and(OpenElement::is_drawing) {
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

/// The standard's limit of rounds for one end tag.
const MAX_ROUNDS: usize = 8;
/// The standard's limit of formatting elements between the two that are kept.
const MAX_BETWEEN: usize = 3;

impl Tree {
    /// End tag of a formatting element.
    pub(super) fn end_formatting(&mut self, tag: Tag) {
        if let Some(current) = self.current().filter(|open| open.tag == tag) {
            // Mostly what began last ends first.
            let last = self.formatting.entries.last();
            if matches!(last, Some(Entry::Element { open, .. }) if open.node == current.node) {
                self.formatting.entries.pop();
                self.pop();
                return;
            }
            if self.formatting.position(current.node).is_none() {
                self.pop();
                return;
            }
        }
        for round in 0..MAX_ROUNDS {
            let Some(open) = self.formatting.last_of(tag) else {
                if round == 0 {
                    self.end_ordinary(tag, 0);
                }
                return;
            };
            let Some(at) = self.stack_position(open.node) else {
                self.formatting.remove(open.node);
                return;
            };
            let inside = at + 1..self.stack.len();
            if inside.clone().any(|i| self.stack[i].is_scope()) {
                return;
            }
            let Some(block) = { inside }.find(|&i| self.stack[i].is_special()) else {
                self.pop_to(at);
                self.formatting.remove(open.node);
                return;
            };
            let moved = self.nodes.len() - self.stack[block].node as usize;
            if moved > self.movable
                || at == 0
                || self.stack[at..].iter().any(|o| o.stale)
                || self.is_full()
            {
                self.formatting.remove(open.node);
                self.remove_open(at);
                return;
            }
            self.movable -= moved;
            self.adopt(at, block);
        }
    }

    /// One round: `at` is the stack index of the formatting element, `block` that of the block inside it.
    fn adopt(&mut self, at: usize, block: usize) {
        let kept = self.keep_between(at, block);
        let formatting = self.stack[at];
        let opened = self.stack[block];
        let shift = Shift {
            block: opened.node,
            before: kept.len() as NodeId,
        };
        self.move_nodes(at, &kept, shift);
        self.recount_moved(shift);
        for entry in &mut self.formatting.entries {
            if let Entry::Element { open, .. } = entry {
                open.node = shift.apply(open.node);
            }
        }
        self.form = self.form.map(|node| shift.apply(node));
        let first_new = shift.block;
        let clone = |open: OpenElement, node: NodeId| OpenElement { node, ..open };
        let mut stack: Vec<OpenElement> = self.stack[..at].to_vec();
        for (i, open) in kept.iter().enumerate() {
            stack.push(clone(*open, first_new + i as NodeId));
        }
        stack.push(clone(opened, shift.apply(opened.node)));
        let inner = OpenElement {
            context: opened.context,
            ..clone(formatting, shift.apply(opened.node) + 1)
        };
        stack.push(inner);
        for open in &self.stack[block + 1..] {
            stack.push(clone(*open, shift.apply(open.node)));
        }
        for open in &self.stack {
            self.open[open.tag.0 as usize] -= 1;
        }
        for open in &mut stack {
            self.open[open.tag.0 as usize] += 1;
            open.path = self.nodes[open.node as usize].path;
        }
        // Whether their texts are read follows what is around them now.
        for i in at..stack.len() {
            let OpenElement { node, tag, .. } = stack[i];
            let parent = self.nodes[node as usize].parent;
            let outer = stack[..i].iter().rfind(|open| open.node == parent).copied();
            if outer.is_some() {
                stack[i].readable = readable_inside(tag, self.hiding.is_hiding(node), outer);
            }
        }
        self.stack = stack;
        self.relist(formatting.node, &kept, shift, inner);
    }

    /// The formatting elements between the two that are opened again around the block; the others close.
    fn keep_between(&mut self, at: usize, block: usize) -> Vec<OpenElement> {
        let mut kept = Vec::new();
        for (count, i) in (at + 1..block).rev().enumerate() {
            let open = self.stack[i];
            if self.formatting.position(open.node).is_none() {
                continue;
            }
            if count >= MAX_BETWEEN {
                self.formatting.remove(open.node);
            } else {
                kept.push(open);
            }
        }
        kept.reverse();
        kept
    }

    fn move_nodes(&mut self, at: usize, kept: &[OpenElement], shift: Shift) {
        let block = shift.block as usize;
        let mut tail = self.nodes.split_off(block);
        // Not the element before it on the stack, if it was moved out of a table.
        let mut parent = self.nodes[self.stack[at].node as usize].parent;
        for open in kept {
            let copy = self.nodes[open.node as usize];
            parent = self.append_copy(copy, parent);
        }
        let inner = self.nodes[self.stack[at].node as usize];
        let mut moved = tail.drain(..);
        if let Some(node) = moved.next() {
            parent = self.append_copy(node, parent);
            parent = self.append_copy(inner, parent);
        }
        for node in moved {
            let under = if node.parent == shift.block {
                parent
            } else {
                shift.apply(node.parent)
            };
            self.append_copy(node, under);
        }
    }

    fn append_copy(&mut self, mut node: super::Node, parent: NodeId) -> NodeId {
        let id = self.nodes.len() as NodeId;
        let above = self.nodes[parent as usize];
        node.parent = parent;
        node.depth = above.depth + 1;
        node.end = id + 1;
        node.path = if node.tag == Tag::TEXT {
            above.path
        } else {
            let is_link = leads(node.tag, node.span.of(&self.attributes));
            self.paths.intern(Some(above.path), node.tag, is_link)
        };
        self.nodes.push(node);
        id
    }

    /// The new elements take their places in the list of active formatting elements.
    fn relist(&mut self, old: NodeId, kept: &[OpenElement], shift: Shift, inner: OpenElement) {
        for (i, open) in kept.iter().enumerate() {
            if let Some(at) = self.formatting.position(open.node)
                && let Entry::Element { open, .. } = &mut self.formatting.entries[at]
            {
                open.node = shift.block + i as NodeId;
            }
        }
        let span = self.nodes[inner.node as usize].span;
        let entry = Entry::Element { open: inner, span };
        let Some(at) = self.formatting.position(old) else {
            return;
        };
        let nearest = shift.block + shift.before;
        let behind = nearest
            .checked_sub(1)
            .filter(|_| !kept.is_empty())
            .and_then(|node| self.formatting.position(node));
        match behind {
            Some(behind) => {
                self.formatting.entries.insert(behind + 1, entry);
                let old_at = if at > behind { at + 1 } else { at };
                self.formatting.entries.remove(old_at);
            }
            None => self.formatting.entries[at] = entry,
        }
    }
}
