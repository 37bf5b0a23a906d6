//! The line model: log-odds of each line alone by logistic regression. [`super::context_model`] adds the surroundings.

use super::features::{COUNT, FeatureRow, FeatureVector, View};
use super::learned::Weights;
use crate::body::proposal::ProposedLine;

/// Weights are kept in thousandths.
const WEIGHT_UNIT: f32 = 0.001;

/// Log-odds of a line that the path ratios rule out: no line nor anything around it makes it text.
pub(crate) const RULED_OUT: f32 = -6.0;

/// Lines judged alone.
#[derive(Debug, Default)]
pub(crate) struct LineModel {
    /// Log-odds of each line.
    pub odds: Vec<f32>,
    /// The features that the trees ask for, line after line.
    kept: Vec<f32>,
    /// How many they are.
    width: usize,
}

impl LineModel {
    /// Judges every line alone that the ratios do not rule out.
    pub(crate) fn new(view: &View<'_>, weights: &Weights, proposed: &[ProposedLine]) -> Self {
        let lines = view.outline.lines.len();
        let width = weights.kept.len();
        let mut model = Self {
            odds: Vec::with_capacity(lines),
            kept: Vec::with_capacity(lines * width),
            width,
        };
        let factors = weight_factors(&weights.first);
        let mut vector = FeatureVector::<false>::default();
        for (i, proposed) in proposed.iter().enumerate() {
            if proposed.is_ruled_out() {
                model.odds.push(RULED_OUT);
                model.kept.resize(model.kept.len() + width, 0.0);
                continue;
            }
            vector.rewind();
            view.fill(i, &mut vector);
            let row = &vector.row;
            model.odds.push(weigh(row, &factors));
            let kept = weights.kept.iter().map(|at| row[usize::from(*at)]);
            model.kept.extend(kept);
        }
        model
    }

    /// The features of line `i` that the trees ask for.
    pub(super) fn kept(&self, i: usize) -> &[f32] {
        self.kept
            .get(i * self.width..(i + 1) * self.width)
            .unwrap_or_default()
    }
}

/// What each feature of a row counts.
fn weight_factors(weights: &[(&str, i16)]) -> FeatureRow {
    let mut factors = [0.0; COUNT];
    for (factor, (_, weight)) in factors.iter_mut().zip(weights) {
        *factor = f32::from(*weight);
    }
    factors
}

/// The sum of the weighted features, in several sums side by side, as processors add best.
fn weigh(row: &FeatureRow, factors: &FeatureRow) -> f32 {
    const SUMS: usize = 8;
    let mut sums = [0.0f32; SUMS];
    let pairs = row.chunks_exact(SUMS).zip(factors.chunks_exact(SUMS));
    for (values, factors) in pairs {
        for ((sum, value), factor) in sums.iter_mut().zip(values).zip(factors) {
            *sum += value * factor;
        }
    }
    sums.iter().sum::<f32>() * WEIGHT_UNIT
}
