//! How likely a line is text. In: its features. Out: log-odds: the features weighted and added up, so that
//! every judgement can be told feature by feature.

use super::features::View;
use super::second::Second;
use super::weights::{FIRST, SECOND};

/// Weights are kept in thousandths.
const UNIT: f32 = 0.001;

/// Log-odds of every line, each judged alone.
pub(super) fn first(view: &View<'_>) -> Vec<f32> {
    (0..view.outline.lines.len())
        .map(|i| weigh(&view.row(i), FIRST))
        .collect()
}

/// Log-odds of `lines` lines, now that the others' are known.
pub(super) fn second(second: &Second<'_>, lines: usize) -> Vec<f32> {
    (0..lines)
        .map(|i| weigh(&second.cells(i).row, SECOND))
        .collect()
}

fn weigh(row: &[f32], weights: &[(&str, i16)]) -> f32 {
    row.iter()
        .zip(weights)
        .map(|(value, (_, weight))| value * f32::from(*weight))
        .sum::<f32>()
        * UNIT
}

/// What each feature adds to the odds of line `i`: those of the line alone, then those of its page.
pub(super) fn reasons(view: &View<'_>, second: &Second<'_>, i: usize) -> Vec<(&'static str, f32)> {
    let (alone, together) = (view.row(i), second.cells(i).row);
    let pairs =
        |row: &[f32], weights: &'static [(&'static str, i16)]| -> Vec<(&'static str, f32)> {
            row.iter()
                .zip(weights)
                .map(|(v, (name, w))| (*name, v * f32::from(*w) * UNIT))
                .collect()
        };
    let mut all = pairs(&alone, FIRST);
    all.extend(pairs(&together, SECOND));
    all
}
