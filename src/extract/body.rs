//! The main text. In: an [`Outline`] and a log-odds for each line that it is text. Out: the lines kept and
//! how sure that is. Never looks at words.
//!
//! Two steps. The container is the element whose lines have the greatest `Σ tokens · (p - θ)`: a long text
//! outweighs the noise around it, and an element that takes in more noise than text loses (maximum
//! subsequence segmentation, Pasternack and Roth, WWW 2009, over subtrees instead of ranges). Inside it, lines
//! are kept by their own odds and those of their neighbours and siblings.

use super::Config;
use super::odds::log_odds;
use super::outline::Outline;
use crate::page::{NodeId, Page};

/// A line counts for an element when it is likelier than this to be text: half of the F1 aimed at.
const THETA: f32 = 0.45;

/// The element that holds the main text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Container {
    /// The element.
    pub node: NodeId,
    /// `Σ tokens · (p - θ)` over its lines.
    pub value: f32,
}

/// Probability of log-odds.
pub(super) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The element with the greatest value; of equals the innermost. `None` for a page without lines.
pub(super) fn container(page: &Page, outline: &Outline, odds: &[f32]) -> Option<Container> {
    let mut sums = Vec::with_capacity(odds.len() + 1);
    let mut sum = 0.0f32;
    sums.push(sum);
    for (line, odds) in outline.lines.iter().zip(odds) {
        sum += line.all.tokens as f32 * (probability(*odds) - THETA);
        sums.push(sum);
    }
    let mut best: Option<Container> = None;
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == crate::page::Tag::TEXT {
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

/// The main text.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Lines kept, in order.
    pub lines: Vec<usize>,
    /// Which way decided.
    pub method: &'static str,
    /// 0 to 1.
    pub confidence: f32,
}

/// The main text of a page. `title` is the line of the headline, if it was found.
pub(super) fn main_text(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    config: &Config,
) -> Body {
    let odds = log_odds(page, outline, title);
    let Some(best) = container(page, outline, &odds) else {
        return Body {
            method: "none",
            ..Body::default()
        };
    };
    let range = outline.range(page, best.node);
    let lines: Vec<usize> = range.filter(|i| odds[*i] > 0.0).collect();
    let tokens: u32 = lines.iter().map(|i| outline.lines[*i].all.tokens).sum();
    let confidence = if tokens < config.min_tokens { 0.2 } else { 0.8 };
    Body {
        lines,
        method: "ratio",
        confidence,
    }
}
