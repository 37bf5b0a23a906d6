//! What an element is called: its class and id words without numbers, or its tag path when it has none. In: an
//! element. Out: one key for each name; elements of one kind share a key. Never compares texts.

use super::words::Parts;
use crate::page::{Attr, NodeId, Page, Tag};

/// Most words of one element that become keys.
const MAX_WORDS: usize = 8;
/// Longest word, in bytes, without its digits; the rest is cut off.
const MAX_WORD: usize = 48;

/// Children by which an element without a name is known.
const CHILDREN: usize = 2;

/// A number that elements of one kind share.
pub(super) type Key = u64;

/// Hash of a tag and a word whose digits are left out: `li#comment-12` and `li#comment-13` are of one kind.
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
pub(super) fn keys(page: &Page, id: NodeId, mut each: impl FnMut(Key)) {
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

/// An element of the site's own without a class is known by what it begins with, however deep it stands: an answer
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

/// The names of the elements of a page, each made when it is first asked for: the records of one group are read as often
/// as they are proposed.
pub(super) struct Names<'a> {
    page: &'a Page,
    /// 0 for one that was not asked for.
    known: Vec<Key>,
}

impl<'a> Names<'a> {
    pub(super) fn of(page: &'a Page) -> Self {
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
pub(super) fn is_called(page: &Page, id: NodeId, parts: Parts) -> bool {
    page.attributes_of(id).any(|(name, value)| {
        matches!(name, Attr::Class | Attr::Id | Attr::Itemprop) && parts.stand_in(value)
    })
}
