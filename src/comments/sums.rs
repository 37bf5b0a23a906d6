//! How much text and how many signs of time lie in a range of nodes. In: a [`Page`] and its signs. Out: [`Sums`] that
//! answer for any range in constant time. What the page says again and again counts nothing.

use std::ops::Range;

use super::signs::TimeSign;
use crate::page::{NodeId, Page, Tag};

/// Longest text of a label, in bytes.
const LABEL_BYTES: usize = 24;
/// Times from which a short text is a label.
const LABEL_TIMES: usize = 3;

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
        let labels = Labels::of(page);
        let mut hashes = labels.hashes.iter();
        let mut next = signs.iter().peekable();
        for (at, node) in page.nodes().iter().enumerate() {
            text.push(chars);
            times.push(seen);
            let at = at as NodeId;
            let label = (node.tag == Tag::TEXT).then(|| hashes.next()).flatten();
            if let Some(sign) = next.next_if(|s| s.node == at) {
                seen += 1;
                chars += sign.rest;
                skip_to = skip_to.max(node.end);
            } else if at < skip_to {
                continue;
            } else if node.tag == Tag::TEXT {
                // Bytes over two lie between the characters of Chinese and of Latin text; exactness is not needed.
                let text = page.text(at).trim();
                let counts = !label.is_some_and(|label| labels.are_said_again(*label));
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

/// Short texts that the page says again and again: labels of buttons.
struct Labels {
    /// For each text node the hash of its text, 0 for one that is too long for a label.
    hashes: Vec<u64>,
    /// Those that are said often, sorted.
    often: Vec<u64>,
}

impl Labels {
    fn of(page: &Page) -> Self {
        let texts = page.nodes().iter().enumerate();
        let texts = texts.filter(|(_, node)| node.tag == Tag::TEXT);
        let hash = |(at, _)| {
            let text = page.text(at as NodeId).trim();
            if text.len() > LABEL_BYTES {
                return 0;
            }
            xxhash_rust::xxh3::xxh3_64(text.as_bytes())
        };
        let hashes: Vec<u64> = texts.map(hash).collect();
        let mut often: Vec<u64> = hashes.iter().copied().filter(|hash| *hash != 0).collect();
        often.sort_unstable();
        let runs = often.chunk_by(|a, b| a == b);
        let often = runs
            .filter(|run| run.len() >= LABEL_TIMES)
            .filter_map(|run| run.first().copied())
            .collect();
        Self { hashes, often }
    }

    fn are_said_again(&self, hash: u64) -> bool {
        hash != 0 && self.often.binary_search(&hash).is_ok()
    }
}

/// Form controls hold no comment.
pub(super) fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::TEXTAREA | Tag::SELECT | Tag::BUTTON | Tag::OPTION | Tag::SVG | Tag::MATH | Tag::INPUT
    )
}
