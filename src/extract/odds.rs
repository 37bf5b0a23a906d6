//! How likely a line is text. In: an [`Outline`]. Out: log-odds, one a line. Explainable: a weighted sum of
//! what was counted.

use super::lines::Line;
use super::marks::Marks;
use super::measure::ends_sentence;
use super::outline::{Outline, is_prose};
use super::path_ratio::{Leaf, path_sums};
use super::phrases::{Phrase, phrase_of};
use super::render::line_text;
use crate::page::Page;

/// Log-odds of every line; `title` is the line of the headline, if it was found.
pub(super) fn log_odds(page: &Page, outline: &Outline, title: Option<usize>) -> Vec<f32> {
    let leaves: Vec<Leaf> = outline
        .lines
        .iter()
        .map(|l| Leaf {
            path: l.path,
            chars: l.all.tokens,
            marks: l.all.marks,
        })
        .collect();
    let sums = path_sums(&leaves);
    let total: u32 = outline.total().tokens.max(1);
    let mut text = String::new();
    let mut odds = Vec::with_capacity(outline.lines.len());
    for (i, line) in outline.lines.iter().enumerate() {
        text.clear();
        line_text(page, line, &mut text);
        let mut score = own(line, ends_sentence(&text));
        let sum = &sums[line.path as usize];
        score += (sum.tpr() as f32).ln_1p() * 0.4
            + (sum.ppr() as f32).min(4.0) * 0.3
            + (sum.chars as f32 / total as f32) * 1.5
            - 1.5;
        score += of_marks(line.marks);
        if let Some(phrase) = phrase_of(&text) {
            score -= if phrase == Phrase::Footer { 6.0 } else { 4.0 };
        }
        if title.is_some_and(|t| i < t) {
            score -= 1.5;
        }
        if title == Some(i) {
            score -= 4.0;
        }
        odds.push(score);
    }
    spread(outline, &odds)
}

fn own(line: &Line, ends: bool) -> f32 {
    let plain = line.all.tokens.saturating_sub(line.linked.tokens) as f32;
    let share = line.linked.tokens as f32 / line.all.tokens.max(1) as f32;
    let mut score = -2.0 + 0.7 * plain.ln_1p() - 4.0 * share;
    score += (line.all.marks as f32).min(4.0) * 0.3;
    score += if ends && line.all.tokens > 4 {
        0.8
    } else {
        0.0
    };
    score - (line.all.bars as f32).min(4.0) * 0.4
}

fn of_marks(marks: Marks) -> f32 {
    let mut score = 0.0;
    for (mark, weight) in [
        (Marks::NAV, -4.0),
        (Marks::HEADER, -1.0),
        (Marks::FOOTER, -4.0),
        (Marks::ASIDE, -3.0),
        (Marks::COMMENT, -4.0),
        (Marks::RELATED, -3.5),
        (Marks::SHARE, -2.5),
        (Marks::PROMO, -2.5),
        (Marks::ABOUT, -2.5),
        (Marks::AUTHOR, -2.0),
        (Marks::LEGAL, -2.0),
        (Marks::FORM, -1.5),
        (Marks::POPUP, -3.0),
        (Marks::BODY, 1.0),
        (Marks::DECLARED, 2.5),
        (Marks::ARTICLE, 0.5),
    ] {
        if marks.any(mark) {
            score += weight;
        }
    }
    score
}

/// A short line takes part of its neighbours' odds: a caption between paragraphs is text.
fn spread(outline: &Outline, odds: &[f32]) -> Vec<f32> {
    let n = odds.len();
    (0..n)
        .map(|i| {
            if is_prose(&outline.lines[i]) {
                return odds[i];
            }
            let before = i.checked_sub(1).map_or(-3.0, |j| odds[j]);
            let after = odds.get(i + 1).copied().unwrap_or(-3.0);
            odds[i] + 0.35 * (before.clamp(-4.0, 4.0) + after.clamp(-4.0, 4.0))
        })
        .collect()
}
