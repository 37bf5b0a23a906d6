//! Reads a record: its texts as [`RecordPiece`]s with slot, line and link, without the ranges that belong to other comments.
//! Hidden parts and form controls are excluded.
//!
//! Elements of one kind share a [`Key`]: their class and id words without numbers, or their tag path when they have none.

use std::collections::BTreeMap;
use std::ops::Range;

use super::words::NameParts;
use crate::page::{Attr, NodeId, Page, Tag};

/// Most pieces read of one record: a post of a thread may be long, a record of everything is none.
const MAX_PIECES: usize = 4_000;

/// Pieces and elements of most records.
const FEW: usize = 16;

/// One text node of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordPiece {
    /// The text node.
    pub node: NodeId,
    /// Where it is in the record.
    pub slot: Key,
    /// Pieces of one line are between the same block bounds.
    pub line: u32,
    /// It is inside a link.
    pub linked: bool,
    /// White space trimmed and joined.
    pub text: String,
    /// White space stood before it; after it.
    pub gaps: (bool, bool),
    /// Index of the element it is a child of in [`Record::elements`].
    pub element: usize,
}

impl RecordPiece {
    /// Of what it says and where.
    pub(super) fn hash(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64_with_seed(self.text.as_bytes(), self.slot)
    }
}

/// One element of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    /// The element.
    pub node: NodeId,
    /// Where it is in the record; the record itself has slot 0.
    pub slot: Key,
    /// Index of the element around it; the first is its own.
    pub above: usize,
}

/// A record's own part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// All of it, holes included.
    pub range: Range<NodeId>,
    /// Its texts in order.
    pub pieces: Vec<RecordPiece>,
    /// Its elements in order; the first stands for the record.
    pub elements: Vec<Element>,
}

/// An open element while a record is read.
struct OpenElement {
    end: NodeId,
    slot: Key,
    element: usize,
    block: bool,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Perhaps part of the text.
    Text,
    /// The time, or another time.
    Time,
    /// The writer.
    Author,
    /// A button or its label.
    Tool,
    /// A number.
    Count,
    /// The same in many records.
    Label,
    /// On the line of name and time.
    Head,
    /// Part of a comment that this one answers.
    Quote,
}

impl Record {
    /// Reads `range`; `holes` maps the start of each range inside that is not its own to its end.
    pub(super) fn read(
        page: &Page,
        names: &mut ElementNames,
        range: Range<NodeId>,
        holes: &BTreeMap<NodeId, NodeId>,
    ) -> Self {
        let mut out = Record {
            range: range.clone(),
            pieces: Vec::with_capacity(FEW),
            elements: Vec::with_capacity(FEW),
        };
        out.element(range.start, 0, 0);
        let root = OpenElement {
            end: NodeId::MAX,
            slot: 0,
            element: 0,
            block: true,
        };
        let mut open = vec![root];
        let in_link = page
            .ancestors(range.start)
            .take(3)
            .any(|a| page.node(a).tag == Tag::A);
        let (mut line, mut link_end) = (0u32, if in_link { range.end } else { 0 });
        let single = page.node(range.start).end >= range.end;
        let mut holes = holes.range(range.start + 1..).peekable();
        let mut at = range.start;
        while at < range.end && out.pieces.len() < MAX_PIECES {
            while open.last().is_some_and(|o| o.end <= at) {
                line += u32::from(open.pop().is_some_and(|o| o.block));
            }
            let node = page.node(at);
            while holes.next_if(|(start, _)| **start < at).is_some() {}
            if let Some((_, end)) = holes.next_if(|(start, _)| **start == at) {
                line += 1;
                at = (*end).max(at + 1);
                continue;
            }
            if node.tag == Tag::TEXT {
                let above = open.last().expect("the first never ends");
                out.piece(page, at, above, line, at < link_end);
                at += 1;
                continue;
            }
            let form = node.tag == Tag::FORM && at > range.start;
            if form || is_control(node.tag) || page.is_skipped(at) {
                at = node.end;
                continue;
            }
            let block = node.tag.is_block() || node.tag == Tag::BR || is_cell(node.tag);
            line += u32::from(block);
            if node.tag == Tag::A {
                link_end = node.end;
            }
            if !(single && at == range.start) && node.end > at + 1 {
                let above = open.last().expect("the first never ends");
                let slot = slot(names.get(at), above.slot);
                let inner = OpenElement {
                    end: node.end,
                    slot,
                    element: out.element(at, slot, above.element),
                    block,
                };
                open.push(inner);
            }
            at += 1;
        }
        out
    }

    /// Adds an element; gives its index.
    fn element(&mut self, node: NodeId, slot: Key, above: usize) -> usize {
        self.elements.push(Element { node, slot, above });
        self.elements.len() - 1
    }

    fn piece(&mut self, page: &Page, node: NodeId, above: &OpenElement, line: u32, linked: bool) {
        let raw = page.text(node);
        let mut text = String::with_capacity(raw.len());
        for word in raw.split(|c: char| c.is_whitespace() || c == '\u{200B}' || c == '\u{FEFF}') {
            if !word.is_empty() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        if text.is_empty() {
            if let Some(last) = self.pieces.last_mut().filter(|p| p.line == line) {
                last.gaps.1 |= !raw.is_empty();
            }
            return;
        }
        let gaps = (
            raw.starts_with(char::is_whitespace),
            raw.ends_with(char::is_whitespace),
        );
        self.pieces.push(RecordPiece {
            node,
            slot: above.slot,
            line,
            linked,
            text,
            gaps,
            element: above.element,
        });
    }

    /// The elements around a piece, innermost first, the record itself last.
    pub(super) fn around(&self, piece: &RecordPiece) -> impl Iterator<Item = usize> + '_ {
        let mut next = Some(piece.element);
        std::iter::from_fn(move || {
            let at = next?;
            next = (at != 0).then(|| self.elements[at].above);
            Some(at)
        })
    }
}

fn is_cell(tag: Tag) -> bool {
    matches!(tag, Tag::TD | Tag::TH | Tag::TR | Tag::TABLE | Tag::TBODY)
}

/// Most words of one element that become keys.
const MAX_WORDS: usize = 8;
/// Longest word, in bytes, without its digits; the rest is cut off.
const MAX_WORD: usize = 48;

/// Children by which an element without a name is known.
const CHILDREN: usize = 2;

/// A number that elements of one kind share.
pub(super) type Key = u64;

/// Hash of a tag and a word whose digits are skipped: `li#comment-12` and `li#comment-13` are of one kind.
pub(super) fn key_of(tag: u16, word: &str) -> Key {
    let mut buffer = [0u8; MAX_WORD + 2];
    let mut len = 2;
    buffer[..2].copy_from_slice(&tag.to_le_bytes());
    for byte in word.bytes().filter(|b| !b.is_ascii_digit()).take(MAX_WORD) {
        buffer[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    xxhash_rust::xxh3::xxh3_64(&buffer[..len])
}

/// Calls `each` with every key of an element.
pub(super) fn list_keys(page: &Page, id: NodeId, mut each: impl FnMut(Key)) {
    let node = page.node(id);
    let mut named = false;
    for (name, value) in page.attributes_of(id) {
        match name {
            Attr::Class => {
                for word in value.split_ascii_whitespace().take(MAX_WORDS) {
                    named = true;
                    each(key_of(node.tag.0, word));
                }
            }
            // An id without a number names one element of the page.
            Attr::Id if value.bytes().any(|b| b.is_ascii_digit()) => {
                named = true;
                each(!key_of(node.tag.0, value));
            }
            _ => {}
        }
    }
    if !named {
        each(u64::from(node.path) << 20 | u64::from(node.tag.0));
        if node.tag == Tag::OTHER {
            each(key_of_children(page, id));
        }
    }
}

/// An element of the site's own without a class is known by what it begins with, however deep it is: an answer
/// inside the record of what it answers is of its kind.
fn key_of_children(page: &Page, id: NodeId) -> Key {
    let end = page.node(id).end;
    let mut key = u64::from(Tag::OTHER.0);
    let (mut at, mut seen) = (id + 1, 0);
    while at < end && seen < CHILDREN {
        if page.node(at).tag != Tag::TEXT {
            key = slot(name_of(page, at), key);
            seen += 1;
        }
        at = page.node(at).end;
    }
    key
}

/// The key that an element has in itself: its tag and the first of its classes.
fn name_of(page: &Page, id: NodeId) -> Key {
    let class = page.attr(id, Attr::Class).unwrap_or_default();
    let word = class.split_ascii_whitespace().next().unwrap_or_default();
    key_of(page.node(id).tag.0, word)
}

/// The key that an element of this name has inside a record, below one with the key `above`.
pub(super) fn slot(name: Key, above: Key) -> Key {
    above.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name
}

/// The names of the elements of a page, each made when it is first requested: the records of one group are read as often
/// as they are proposed.
pub(super) struct ElementNames<'a> {
    page: &'a Page,
    /// 0 for one that was not requested.
    known: Vec<Key>,
}

impl<'a> ElementNames<'a> {
    pub(super) fn new(page: &'a Page) -> Self {
        Self {
            page,
            known: vec![0; page.nodes().len()],
        }
    }

    pub(super) fn get(&mut self, id: NodeId) -> Key {
        let known = &mut self.known[id as usize];
        if *known == 0 {
            *known = name_of(self.page, id);
        }
        *known
    }
}

/// True when a class or id of the element, or what it is declared to be, has one of the parts.
pub(super) fn is_called(page: &Page, id: NodeId, parts: NameParts) -> bool {
    page.attributes_of(id).any(|(name, value)| {
        matches!(name, Attr::Class | Attr::Id | Attr::Itemprop) && parts.stand_in(value)
    })
}

/// Form controls hold no comment.
pub(super) fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::TEXTAREA | Tag::SELECT | Tag::BUTTON | Tag::OPTION | Tag::SVG | Tag::MATH | Tag::INPUT
    )
}
