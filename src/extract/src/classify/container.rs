//! The element that holds most of the text. In: an [`Outline`] and log-odds for each line that it is text. Out: the
//! [`Container`]. Never looks at words.
//!
//! It is the element whose lines have the greatest `Σ tokens · (p - θ)`: a long text outweighs the noise around it, and an
//! element that takes in more noise than text loses (maximum subsequence segmentation, Pasternack and Roth, WWW 2009,
//! over subtrees instead of ranges).

use crate::lines::outline::Outline;
use crate::page::{NodeId, Page, Tag};

/// A line counts for an element when it is likelier than this to be text: half of the F1 aimed at.
const THETA: f32 = 0.45;

/// The element that holds the main text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Container {
    /// The element.
    pub node: NodeId,
    /// `Σ tokens · (p - θ)` over its lines.
    pub value: f32,
}

/// Probability of log-odds.
pub(crate) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The element with the greatest value; of equals the innermost. `None` for a page without lines.
pub(crate) fn container(page: &Page, outline: &Outline, odds: &[f32]) -> Option<Container> {
    let mut sums = Vec::with_capacity(odds.len() + 1);
    let mut sum = 0.0f32;
    sums.push(sum);
    for (line, odds) in outline.lines.iter().zip(odds) {
        sum += line.all.tokens as f32 * (probability(*odds) - THETA);
        sums.push(sum);
    }
    let mut best: Option<Container> = None;
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT {
            continue;
        }
        let range = outline.range(page, at as NodeId);
        if range.is_empty() {
            continue;
        }
        let value = sums[range.end] - sums[range.start];
        if best.is_none_or(|b| value >= b.value) {
            best = Some(Container {
                node: at as NodeId,
                value,
            });
        }
    }
    best
}
