//! Main text by path ratios as printed (Wu et al., "Web News Extraction via Path Ratios", CIKM 2013): a histogram of scores,
//! smoothed along the page, and a threshold. In: the texts of a page as [`Leaf`]s. Out: a score for each, the cut. Never
//! looks at the words. Extraction uses the ratios as features instead (`taojin_extract::path_ratio`).
//!
//! `ETPR = TPR · PPR · σ(chars) · σ(marks)`, so that a path that occurs once scores 0.
//! `k_j = exp(-j² / 2r²)` for j = -r..r, divided by their sum; `w(i, i+j) = 1` for equal paths, else
//! `1 / Lev(tags_i, tags_{i+j})^β`; `S_i = Σ_j w · k_j · H_{i+j}` for r ≤ i < N - r, else `S_i = H_i`.
//! The weights are not renormalised, as in the authors' code. Threshold: `λ · σ(S)`.

use taojin_extract::path_ratio::{Leaf, PathSum, path_sums};

/// Half width r of the window, in texts (the authors' code).
pub const RADIUS: usize = 1;
/// Exponent β of the path distance (the authors' code).
pub const BETA: i32 = 3;
/// Factor λ of the standard deviation (the authors' code).
pub const LAMBDA: f64 = 0.8;

/// Which ratio is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ratio {
    /// Text to tag path.
    Tpr,
    /// Sentence marks to tag path.
    Ppr,
    /// The extended ratio, which multiplies both with their deviations.
    Etpr,
}

impl Ratio {
    /// The ratio of a path.
    pub fn of(self, path: &PathSum) -> f64 {
        match self {
            Ratio::Tpr => path.tpr(),
            Ratio::Ppr => path.ppr(),
            Ratio::Etpr => {
                path.tpr() * path.ppr() * path.deviation_chars() * path.deviation_marks()
            }
        }
    }
}

/// The ratio of each leaf's path, in the order of the leaves: the histogram that is smoothed and cut.
pub fn histogram(leaves: &[Leaf], ratio: Ratio) -> Vec<f64> {
    let sums = path_sums(leaves);
    let of = |leaf: &Leaf| ratio.of(&sums[leaf.path as usize]);
    leaves.iter().map(of).collect()
}

/// Gaussian kernel of half width `radius`, sum 1.
pub fn kernel(radius: usize) -> Vec<f64> {
    let r = radius.max(1) as f64;
    let raw: Vec<f64> = (0..=2 * radius)
        .map(|j| {
            let d = j as f64 - radius as f64;
            (-d * d / (2.0 * r * r)).exp()
        })
        .collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|k| k / sum).collect()
}

/// Smoothed scores. `distance(i, j)` is the edit distance of the tag paths of texts i and j, 0 when equal.
pub fn smooth(scores: &[f64], radius: usize, distance: impl Fn(usize, usize) -> u32) -> Vec<f64> {
    let n = scores.len();
    if n <= 2 * radius {
        return scores.to_vec();
    }
    let kernel = kernel(radius);
    let mut out = scores.to_vec();
    for (i, smoothed) in out.iter_mut().enumerate().take(n - radius).skip(radius) {
        *smoothed = kernel
            .iter()
            .enumerate()
            .map(|(j, k)| {
                let at = i + j - radius;
                let weight = match distance(i, at) {
                    0 => 1.0,
                    d => f64::from(d).powi(BETA).recip(),
                };
                weight * k * scores[at]
            })
            .sum();
    }
    out
}

/// `λ · σ(scores)` with the population standard deviation; 0 keeps all when every score is equal.
pub fn threshold(scores: &[f64], lambda: f64) -> f64 {
    if scores.is_empty() {
        return 0.0;
    }
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
    lambda * variance.sqrt()
}

/// Levenshtein distance of two token lists. What both begin with is skipped, so two tag paths of one page
/// cost only their differing tails.
pub fn edit_distance<T: PartialEq>(a: &[T], b: &[T]) -> u32 {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let mut row: Vec<u32> = (0..=b.len() as u32).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + u32::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
