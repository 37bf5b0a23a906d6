//! Logistic regression: rows of features with labels in, one weight for each feature, or for each feature and class, out.
//! The same input always returns the same weights.
//!
//! Minimised by Adam (Kingma and Ba, ICLR 2015) over the whole input, features scaled to deviation 1, with a penalty
//! on the squares of the weights but for that of the first feature, the bias.

use super::boost::Examples;

const EPOCHS: i32 = 150;
/// First step; the last is a tenth of it.
const RATE: f32 = 0.1;
/// Penalty of the weights of lines, and of pages, of which there are far fewer.
const LINE_PENALTY: f32 = 1e-4;
const PAGE_PENALTY: f32 = 1e-1;
/// Deviations below this are those of a constant.
const CONSTANT: f32 = 1e-4;

/// A step of Adam for each weight.
struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Adam {
    fn new(weights: usize) -> Self {
        Self {
            mean: vec![0.0; weights],
            square: vec![0.0; weights],
        }
    }

    fn step(&mut self, weights: &mut [f32], slopes: &[f32], epoch: i32) {
        let rate = RATE * (1.0 - 0.9 * epoch as f32 / EPOCHS as f32);
        for (k, weight) in weights.iter_mut().enumerate() {
            self.mean[k] = 0.9 * self.mean[k] + 0.1 * slopes[k];
            self.square[k] = 0.999 * self.square[k] + 0.001 * slopes[k] * slopes[k];
            let mean = self.mean[k] / (1.0 - 0.9f32.powi(epoch));
            let square = self.square[k] / (1.0 - 0.999f32.powi(epoch));
            *weight -= rate * mean / (square.sqrt() + 1e-8);
        }
    }
}

/// One over the deviation of each feature; 1 for a bias, 0 for what is always 0.
fn feature_scales(rows: &[&[f32]], width: usize) -> Vec<f32> {
    let n = rows.len().max(1) as f32;
    (0..width)
        .map(|k| {
            let mean = rows.iter().map(|r| r[k]).sum::<f32>() / n;
            let square = rows.iter().map(|r| r[k] * r[k]).sum::<f32>() / n;
            let deviation = (square - mean * mean).max(0.0).sqrt();
            match deviation {
                d if d > CONSTANT => 1.0 / d.max(0.02),
                _ if mean.abs() > 0.5 => 1.0,
                _ => 0.0,
            }
        })
        .collect()
}

/// The sum of products, in several sums side by side, as processors add best.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const SUMS: usize = 8;
    let n = a.len().min(b.len());
    let (a, b) = (a[..n].chunks_exact(SUMS), b[..n].chunks_exact(SUMS));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest: f32 = rest.map(|(x, y)| x * y).sum();
    let mut sums = [0.0f32; SUMS];
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Weights whose sum over a row of `width` features are the log-odds of its label; all zero without examples.
pub(super) fn fit(examples: &Examples<'_>, width: usize) -> Vec<f32> {
    let scales = feature_scales(&examples.rows, width);
    let total: f32 = examples.weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let mut weights = vec![0.0f32; scales.len()];
    let mut adam = Adam::new(scales.len());
    for epoch in 1..=EPOCHS {
        let scaled: Vec<f32> = weights.iter().zip(&scales).map(|(w, s)| w * s).collect();
        let mut slopes = vec![0.0f32; scales.len()];
        for ((row, label), weight) in examples
            .rows
            .iter()
            .zip(&examples.labels)
            .zip(&examples.weights)
        {
            let p = 1.0 / (1.0 + (-dot(row, &scaled)).exp());
            let error = (p - label) * weight;
            slopes
                .iter_mut()
                .zip(*row)
                .for_each(|(s, x)| *s += error * x);
        }
        for (k, slope) in slopes.iter_mut().enumerate() {
            let penalty = if k == 0 { 0.0 } else { LINE_PENALTY };
            *slope = *slope * scales[k] / total + penalty * weights[k];
        }
        adam.step(&mut weights, &slopes, epoch);
    }
    weights.iter().zip(&scales).map(|(w, s)| w * s).collect()
}

/// One page for [`fit_classes`].
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassExamples<'a> {
    /// Its features.
    pub row: &'a [f32],
    /// Its class.
    pub class: usize,
    /// How much it counts.
    pub weight: f32,
}

/// For each of `count` classes the weights whose sum over a row are its log-odds.
pub(super) fn fit_classes(
    pages: &[ClassExamples<'_>],
    count: usize,
    width: usize,
) -> Vec<Vec<f32>> {
    let rows: Vec<&[f32]> = pages.iter().map(|p| p.row).collect();
    let scales = feature_scales(&rows, width);
    let total: f32 = pages.iter().map(|p| p.weight).sum();
    let mut weights = vec![0.0f32; count * width];
    let mut adam = Adam::new(count * width);
    for epoch in 1..=EPOCHS {
        let mut slopes = vec![0.0f32; count * width];
        for page in pages {
            let scaled: Vec<f32> = page.row.iter().zip(&scales).map(|(x, s)| x * s).collect();
            let shares = class_shares(weights.chunks(width), &scaled);
            for (class, share) in shares.iter().enumerate() {
                let error =
                    (share - f32::from(u8::from(class == page.class))) * page.weight / total;
                let of_class = slopes.iter_mut().skip(class * width);
                of_class.zip(&scaled).for_each(|(s, x)| *s += error * x);
            }
        }
        for (k, slope) in slopes.iter_mut().enumerate() {
            *slope += if k % width == 0 {
                0.0
            } else {
                PAGE_PENALTY * weights[k]
            };
        }
        adam.step(&mut weights, &slopes, epoch);
    }
    let unscaled = |w: &[f32]| w.iter().zip(&scales).map(|(w, s)| w * s).collect();
    weights.chunks(width).map(unscaled).collect()
}

/// Probability of each class whose weights are given.
pub(super) fn class_shares<'a>(weights: impl Iterator<Item = &'a [f32]>, row: &[f32]) -> Vec<f32> {
    let odds: Vec<f32> = weights.map(|w| dot(w, row)).collect();
    let most = odds.iter().copied().fold(f32::MIN, f32::max);
    let powers: Vec<f32> = odds.iter().map(|o| (o - most).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}
