//! How much text and how many signs of time lie in a range of nodes. In: a [`Page`] and its signs. Out: [`Sums`] that
//! answer for any range in constant time. What the page says again and again counts nothing.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::signs::TimeSign;
use crate::page::{NodeId, Page, Tag};

/// Longest text of a label, in bytes.
const LABEL_BYTES: usize = 24;
/// Times from which a short text is a label.
const LABEL_TIMES: u32 = 3;

/// Sums over the nodes before each node.
pub(super) struct Sums {
    text: Vec<u32>,
    times: Vec<u32>,
}

impl Sums {
    pub(super) fn of(page: &Page, signs: &[TimeSign]) -> Self {
        let nodes = page.nodes().len();
        let (mut text, mut times) = (Vec::with_capacity(nodes + 1), Vec::with_capacity(nodes + 1));
        let (mut chars, mut seen) = (0u32, 0u32);
        let mut skip_to = 0;
        let repeated = repeated(page);
        let mut next = signs.iter().peekable();
        for (at, node) in page.nodes().iter().enumerate() {
            text.push(chars);
            times.push(seen);
            let at = at as NodeId;
            if let Some(sign) = next.next_if(|s| s.node == at) {
                seen += 1;
                chars += sign.rest;
                skip_to = skip_to.max(node.end);
            } else if at < skip_to {
                continue;
            } else if node.tag == Tag::TEXT {
                // Bytes over two lie between the characters of Chinese and of Latin text; exactness is not needed.
                let text = page.text(at).trim();
                let counts = text.len() > LABEL_BYTES || !repeated.contains(&hash(text));
                chars = chars.saturating_add(if counts {
                    (text.len() as u32).div_ceil(2)
                } else {
                    0
                });
            } else if node.tag.is_invisible() || is_control(node.tag) {
                skip_to = node.end;
            }
        }
        text.push(chars);
        times.push(seen);
        Self { text, times }
    }

    pub(super) fn text(&self, range: &Range<NodeId>) -> u32 {
        self.text[range.end as usize] - self.text[range.start as usize]
    }

    pub(super) fn times(&self, range: &Range<NodeId>) -> u32 {
        self.times[range.end as usize] - self.times[range.start as usize]
    }
}

fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Short texts that the page says again and again: labels of buttons.
fn repeated(page: &Page) -> HashSet<u64> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT {
            let text = page.text(at as NodeId).trim();
            if text.len() <= LABEL_BYTES {
                *counts.entry(hash(text)).or_default() += 1;
            }
        }
    }
    counts.retain(|_, count| *count >= LABEL_TIMES);
    counts.into_keys().collect()
}

/// Form controls hold no comment.
pub(super) fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::TEXTAREA | Tag::SELECT | Tag::BUTTON | Tag::OPTION | Tag::SVG | Tag::MATH | Tag::INPUT
    )
}
