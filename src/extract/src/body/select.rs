//! Which lines are kept. In: the tokens of each line and the log-odds that it is text. Out: the cut of the greatest
//! expected F1. Never looks at the page.

use crate::classify::container::probability;

/// Expected F1 from which a page is clear; this and the next by cross-validation over sites.
const CLEAR: f32 = 0.8;
/// Odds that a line of a clear page must have before it counts as likely.
const DOUBT: f32 = 0.3;
/// Lines below these odds are never kept, however poor the page.
const FLOOR: f32 = -3.0;

/// The lines to keep, and the F1 to be expected of them. A clear page is cut a second time with lower odds: what is
/// doubtful beside a clear text is rarely part of it.
pub(super) fn select(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let (lines, expected) = cut(tokens, odds);
    if expected < CLEAR {
        return (lines, expected);
    }
    let lower: Vec<f32> = odds.iter().map(|o| o - DOUBT).collect();
    (cut(tokens, &lower).0, expected)
}

/// Of all cuts through the lines in order of odds, the one with the greatest expected F1,
/// `2 Σ kept t·p / (Σ kept t + Σ all t·p)`: a page of clear odds is cut near one half; on a page where every
/// line is doubtful the likeliest ones stay.
fn cut(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let mut order: Vec<usize> = (0..odds.len()).filter(|i| odds[*i] > FLOOR).collect();
    order.sort_by(|a, b| odds[*b].total_cmp(&odds[*a]).then(a.cmp(b)));
    let weight = |i: usize| tokens[i] as f32 * probability(odds[i]);
    let wanted: f32 = (0..odds.len()).map(weight).sum();
    let (mut hit, mut kept) = (0.0f32, 0.0f32);
    let mut best = (0.0f32, 0);
    for (n, i) in order.iter().enumerate() {
        hit += weight(*i);
        kept += tokens[*i] as f32;
        let expected = 2.0 * hit / (kept + wanted).max(1.0);
        if expected >= best.0 {
            best = (expected, n + 1);
        }
    }
    let mut lines = order;
    lines.truncate(best.1);
    lines.sort_unstable();
    (lines, best.0)
}

/// Mean of the odds of some lines; 0 of none.
pub(super) fn mean_odds(odds: &[f32], range: std::ops::Range<usize>) -> f32 {
    let odds = odds.get(range).unwrap_or_default();
    odds.iter().sum::<f32>() / odds.len().max(1) as f32
}
