//! How much text and how many signs of time lie in a range of nodes. In: a [`Page`] and its signs. Out: [`Sums`] that
//! answer for any range in constant time. What the page says again and again counts nothing.

use std::ops::Range;

use super::time_cues::{TimeSign, trimmed};
use crate::page::{NodeId, Page, Tag};
use crate::similarity::mix;

/// Longest text of a label, in bytes.
const LABEL_BYTES: usize = 24;
/// Times from which a short text is a label.
const LABEL_TIMES: usize = 3;

/// Sums over the nodes before each node.
pub(super) struct Sums {
    /// Text and signs of time.
    before: Vec<(u32, u32)>,
}

impl Sums {
    pub(super) fn of(page: &Page, signs: &[TimeSign]) -> Self {
        let mut before = Vec::with_capacity(page.nodes().len() + 1);
        let (mut chars, mut seen) = (0u32, 0u32);
        let mut skip_to = 0;
        let mut weights = weights(page).into_iter();
        let mut signs = signs.iter();
        let mut sign = signs.next();
        for (at, node) in page.nodes().iter().enumerate() {
            before.push((chars, seen));
            let at = at as NodeId;
            let weight = (node.tag == Tag::TEXT).then(|| weights.next()).flatten();
            if let Some(this) = sign.filter(|s| s.node == at) {
                seen += 1;
                chars += this.rest;
                skip_to = skip_to.max(node.end);
                sign = signs.next();
            } else if at < skip_to {
                continue;
            } else if let Some(weight) = weight {
                chars = chars.saturating_add(weight);
            } else if node.tag.is_invisible() || is_control(node.tag) {
                skip_to = node.end;
            }
        }
        before.push((chars, seen));
        Self { before }
    }

    pub(super) fn text(&self, range: &Range<NodeId>) -> u32 {
        self.before[range.end as usize].0 - self.before[range.start as usize].0
    }

    pub(super) fn times(&self, range: &Range<NodeId>) -> u32 {
        self.before[range.end as usize].1 - self.before[range.start as usize].1
    }
}

/// What each text of a page counts; nothing for a short one that the page says again and again: a label of buttons.
fn weights(page: &Page) -> Vec<u32> {
    let texts = page.nodes().iter().enumerate();
    let texts = texts.filter(|(_, node)| node.tag == Tag::TEXT);
    // The bytes of each with its hash, 0 for one that is too long for a label.
    let mut told: Vec<(u32, u64)> = Vec::with_capacity(page.nodes().len());
    told.extend(texts.map(|(at, _)| {
        let text = trimmed(page.text(at as NodeId));
        let hash = if text.is_empty() || text.len() > LABEL_BYTES {
            0
        } else {
            hash(text.as_bytes())
        };
        (text.len() as u32, hash)
    }));
    let rough = RoughCounts::of(told.iter().map(|t| t.1));
    let hashes = told.iter().map(|t| t.1);
    let mut often: Vec<u64> = hashes.filter(|hash| rough.may_be_often(*hash)).collect();
    often.sort_unstable();
    let runs = often.chunk_by(|a, b| a == b);
    let often: Vec<u64> = runs
        .filter(|run| run.len() >= LABEL_TIMES)
        .filter_map(|run| run.first().copied())
        .collect();
    let is_label = |hash: u64| rough.may_be_often(hash) && often.binary_search(&hash).is_ok();
    // Bytes over two lie between the characters of Chinese and of Latin text; exactness is not needed.
    let weight = |(len, hash): (u32, u64)| if is_label(hash) { 0 } else { len.div_ceil(2) };
    told.into_iter().map(weight).collect()
}

/// How often hashes stand in a list, with those that share their last bits counted as one: most stand there once, and
/// need not be sorted to tell that.
struct RoughCounts(Vec<u8>);

impl RoughCounts {
    /// Of all hashes but 0.
    fn of(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut counts = vec![0u8; (4 * hashes.len()).next_power_of_two()];
        let last_bits = counts.len() - 1;
        for hash in hashes.filter(|hash| *hash != 0) {
            let count = &mut counts[hash as usize & last_bits];
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    fn may_be_often(&self, hash: u64) -> bool {
        let last_bits = self.0.len() - 1;
        hash != 0 && usize::from(self.0[hash as usize & last_bits]) >= LABEL_TIMES
    }
}

/// Hash of a label. Its first and last eight bytes and those in the middle hold all of it.
fn hash(text: &[u8]) -> u64 {
    let mut short = [0; 8];
    let first = text.first_chunk().unwrap_or_else(|| {
        for (to, from) in short.iter_mut().zip(text) {
            *to = *from;
        }
        &short
    });
    let last = text.last_chunk().unwrap_or(first);
    let middle = text
        .get(8..16)
        .and_then(|m| m.first_chunk())
        .unwrap_or(last);
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    mix(
        mix(number(first), number(middle)),
        mix(number(last), text.len() as u64),
    )
}

/// Form controls hold no comment.
pub(super) fn is_control(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::TEXTAREA | Tag::SELECT | Tag::BUTTON | Tag::OPTION | Tag::SVG | Tag::MATH | Tag::INPUT
    )
}
