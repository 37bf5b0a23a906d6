//! CEPF: fuses features of tag paths that say different things (Wu et al., Journal of Software 27(3), 2016, after the code of
//! its authors; the paper itself was not at hand).
//!
//! A path p with n texts, its depth the number of its tags, has six features: characters, characters a text, characters over
//! depth, and the same of sentence marks. Features that are alike along the page form a cluster, one of each is multiplied:
//! `fused(p) = σ(characters) · σ(marks) · Π representatives`.
//!
//! The code clusters by spectra and draws representatives at random. Here they are the medoids: of all pairs of features the
//! one to which the six are most alike, the first of equals, so that a page always has the same text.

use taojin_extract::page::{PathCounts, PathId};

use super::path_texts::PathTexts;

/// Number of features.
const FEATURES: usize = 6;

/// Smoothed fused score of each text.
pub(super) fn scores(texts: &PathTexts<'_>) -> Vec<f64> {
    let features = |path: PathId| {
        let depth = texts.page.paths()[path as usize].len;
        path_features(texts.counts(path), depth)
    };
    let rows: Vec<[f64; FEATURES]> = texts.texts.iter().map(|t| features(t.path)).collect();
    let (first, second) = representatives(&rows);
    texts.scores(|path| {
        let (counts, row) = (texts.counts(path), features(path));
        counts.deviation_tokens() * counts.deviation_marks() * row[first] * row[second]
    })
}

/// The features of a path.
fn path_features(counts: &PathCounts, depth: u16) -> [f64; FEATURES] {
    let (chars, marks) = (f64::from(counts.tokens), f64::from(counts.marks));
    let depth = f64::from(depth.max(1));
    [
        chars,
        counts.tpr(),
        chars / depth,
        marks,
        counts.ppr(),
        marks / depth,
    ]
}

/// The two features that stand for all: to the nearer of them the six are most alike.
fn representatives(rows: &[[f64; FEATURES]]) -> (usize, usize) {
    let alike = similarities(rows);
    let mut best = (f64::MIN, (0, 1));
    for first in 0..FEATURES {
        for second in first + 1..FEATURES {
            let nearer = |feature: &[f64; FEATURES]| feature[first].max(feature[second]);
            let sum: f64 = alike.iter().map(nearer).sum();
            // Sums that differ by rounding are equal.
            if sum > best.0 + 1e-9 {
                best = (sum, (first, second));
            }
        }
    }
    best.1
}

/// How alike two features are: the amount of their correlation over the texts, 0 of one that does not change.
fn similarities(rows: &[[f64; FEATURES]]) -> [[f64; FEATURES]; FEATURES] {
    let count = rows.len().max(1) as f64;
    let mean: [f64; FEATURES] =
        std::array::from_fn(|f| rows.iter().map(|row| row[f]).sum::<f64>() / count);
    let product = |a: usize, b: usize| -> f64 {
        let products = rows
            .iter()
            .map(|row| (row[a] - mean[a]) * (row[b] - mean[b]));
        products.sum()
    };
    let own: [f64; FEATURES] = std::array::from_fn(|f| product(f, f));
    std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            let scale = (own[a] * own[b]).sqrt();
            if a == b {
                1.0
            } else if scale > 0.0 {
                (product(a, b) / scale).abs()
            } else {
                0.0
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::path_texts::cut;
    use super::super::path_texts::tests::worked_page;
    use super::*;

    #[test]
    fn features_of_worked_path() {
        let mut counts = PathCounts::default();
        for (chars, marks) in [(80, 6), (120, 10), (40, 3), (100, 8)] {
            counts.add(chars, marks);
        }
        assert_eq!(
            path_features(&counts, 4),
            [340.0, 85.0, 85.0, 27.0, 6.75, 6.75]
        );
    }

    #[test]
    fn fusion_worked_page() {
        let page = worked_page();
        let texts = PathTexts::read(&page);
        let kept = cut(&scores(&texts));
        // The paragraphs and what is smoothed between them, neither menu nor footer.
        assert!(
            [3, 4, 5, 6, 7].iter().all(|at| kept.contains(at)),
            "{kept:?}"
        );
        assert!([0, 1, 9].iter().all(|at| !kept.contains(at)), "{kept:?}");
    }

    #[test]
    fn representatives_of_two_kinds() {
        // Features 0, 2 and 3 go with each other, and so do 1, 4 and 5.
        let rows: Vec<[f64; 6]> = [(1.0, 5.0), (2.0, 1.0), (9.0, 4.0), (3.0, 3.0)]
            .map(|(a, b)| [a, b, a / 4.0, 3.0 * a, 2.0 * b, b / 7.0])
            .to_vec();
        assert_eq!(representatives(&rows), (0, 1));
        assert_eq!(representatives(&[]), (0, 1));
    }

    proptest! {
        #[test]
        fn similarities_of_any_features(rows in prop::collection::vec(prop::array::uniform6(0.0..1e6f64), 0..20)) {
            let alike = similarities(&rows);
            for (a, row) in alike.iter().enumerate() {
                prop_assert_eq!(row[a], 1.0);
                for (b, value) in row.iter().enumerate() {
                    prop_assert!((0.0..=1.0 + 1e-9).contains(value));
                    prop_assert!((value - alike[b][a]).abs() < 1e-9);
                }
            }
            let (first, second) = representatives(&rows);
            prop_assert!(first < second && second < FEATURES);
        }
    }
}
