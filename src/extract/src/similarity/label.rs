//! Names of elements for comparing pages of one site. In: an element. Out: its tag with those of its class and id words
//! that are likely to be the same on every page of the template. Never keeps what numbers a page.

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
    (word.len() <= WORD_BYTES && letters >= 2 && digits * 2 <= letters).then_some(word)
}

fn hash_word(sign: u8, word: &str) -> u64 {
    // FNV-1a without the digits: class words are short, and no copy is made.
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ u64::from(sign);
    for byte in word.bytes().filter(|b| !b.is_ascii_digit()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
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
        for word in value.split_ascii_whitespace().filter_map(stable_word) {
            if kept == WORDS {
                break;
            }
            // Added, so that the order of the words does not matter.
            hash = hash.wrapping_add(mix(hash_word(sign, word), 1));
            kept += 1;
        }
    }
    mix(hash, 0)
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
