//! Labels of elements for comparing pages of one site: the tag with those class and id words that are likely to be the same
//! on every page of the template, without numbers.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use xxhash_rust::xxh3::xxh3_64;

use crate::page::{Attr, NodeId, Page, Tag};

/// Words of class and id that are kept; pages that state more say their style with them.
const WORDS: usize = 4;
/// Longest word; longer ones are made by machines.
const WORD_BYTES: usize = 40;

/// Two hashes as one; the order matters.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut x = (a.rotate_left(23) ^ b)
        .wrapping_add(0x2545_F491_4F6C_DD1D)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Elements that two multisets in rising order share. Without a branch on their order, which nobody can foretell.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        count += usize::from(x == y);
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    count
}

/// A word of class or id, if it is likely to be the same on all pages of a template: digits count pages, and a word
/// with many of them is a hash.
pub fn stable_word(word: &str) -> Option<&str> {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(|b| !b.is_ascii_digit()).count();
    is_stable(digits, letters).then_some(word)
}

/// Hashes of the stable words of an attribute, without their digits (FNV-1a), in one pass: this is most of what keys of a
/// page cost.
fn word_hashes(sign: u8, value: &str) -> impl Iterator<Item = u64> {
    let start = 0xcbf2_9ce4_8422_2325u64 ^ u64::from(sign);
    let mut bytes = value.bytes();
    std::iter::from_fn(move || {
        let (mut hash, mut digits, mut letters) = (start, 0, 0);
        loop {
            match bytes.next() {
                Some(byte) if byte.is_ascii_digit() => digits += 1,
                Some(byte) if !byte.is_ascii_whitespace() => {
                    letters += 1;
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
                None if digits + letters == 0 => return None,
                _ if is_stable(digits, letters) => return Some(hash),
                None => return None,
                Some(_) => (hash, digits, letters) = (start, 0, 0),
            }
        }
    })
}

fn is_stable(digits: usize, letters: usize) -> bool {
    digits + letters <= WORD_BYTES && letters >= 2 && digits * 2 <= letters
}

/// Hash of an element's tag and of its stable class and id words in any order. `html` and `body` are known by their
/// tags: their classes say what the page is about.
pub fn name_hash(page: &Page, id: NodeId) -> u64 {
    let tag = page.node(id).tag;
    let mut hash = u64::from(tag.0);
    if matches!(tag, Tag::HTML | Tag::BODY) {
        return mix(hash, 0);
    }
    let mut kept = 0;
    for (attr, value) in page.attributes_of(id) {
        let sign = match attr {
            Attr::Id => b'#',
            Attr::Class => b'.',
            _ => continue,
        };
        for word in word_hashes(sign, value).take(WORDS - kept) {
            // Added, so that the order of the words does not matter.
            hash = hash.wrapping_add(mix(word, 1));
            kept += 1;
        }
    }
    mix(hash, 0)
}

/// The hashes of a page's elements by [`name_hash`]. Most elements have the class of others, whose words
/// need not be read again.
#[derive(Default)]
pub(crate) struct NameHashes(HashMap<u64, u64, RandomState>);

impl NameHashes {
    /// The hash of an element.
    pub(crate) fn get(&mut self, page: &Page, id: NodeId) -> u64 {
        let mut words = 0;
        for (attr, value) in page.attributes_of(id) {
            if matches!(attr, Attr::Id | Attr::Class) {
                words = mix(words, xxh3_64(value.as_bytes())) ^ u64::from(attr == Attr::Id);
            }
        }
        let tag = u64::from(page.node(id).tag.0);
        if words == 0 {
            return mix(tag, 0);
        }
        let key = mix(words, tag);
        *self.0.entry(key).or_insert_with(|| name_hash(page, id))
    }
}

/// The same words for a person: `div#main.article`.
pub fn name_of(page: &Page, id: NodeId) -> String {
    let tag = page.node(id).tag;
    let mut name = tag.name().to_owned();
    if matches!(tag, Tag::HTML | Tag::BODY) {
        return name;
    }
    let mut kept = 0;
    for (attr, value) in page.attributes_of(id) {
        let sign = match attr {
            Attr::Id => '#',
            Attr::Class => '.',
            _ => continue,
        };
        for word in value.split_ascii_whitespace().filter_map(stable_word) {
            if kept == WORDS {
                break;
            }
            name.push(sign);
            name.extend(word.chars().filter(|c| !c.is_ascii_digit()));
            kept += 1;
        }
    }
    name
}

/// Takes the next token of the other sequence into a row of bits, all set at first, one for each token of `a`: a zero
/// is a token of the common subsequence. `matches` has a bit where `a` has this token.
#[inline]
pub fn lcs_step(row: &mut [u64], matches: &[u64]) {
    let mut carry = false;
    for (word, matches) in row.iter_mut().zip(matches) {
        let hit = *word & matches;
        let (sum, over) = word.overflowing_add(hit);
        let (sum, over_too) = sum.overflowing_add(u64::from(carry));
        carry = over || over_too;
        *word = sum | (*word & !matches);
    }
}
