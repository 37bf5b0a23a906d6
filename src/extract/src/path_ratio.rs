//! Text-to-tag-path ratios: a score for each tag path from its [`PathCounts`], scores smoothed along the page, and the
//! threshold.
//!
//! Wu et al., "Web News Extraction via Path Ratios", CIKM 2013. For a path p with texts v1..vn:
//! `TPR = Σ tokens / n`, `PPR = Σ marks / n`, `ETPR = TPR · PPR · σ(tokens) · σ(marks)` with the population standard
//! deviation σ; the paper counts characters. Mended, `ETPR = TPR · (PPR + 0.1) · (1 + σ(tokens)) · (1 + σ(marks))`, so that a
//! story of one paragraph does not score 0.
//!
//! Smoothed, with `k_j = exp(-j² / 2r²)` for j = -r..r divided by their sum and `w(i, i+j) = 1` for equal paths, else
//! `1 / Lev(tags_i, tags_{i+j})^β`: `S_i = Σ_j w · k_j · H_{i+j}` for r ≤ i < N - r, else `S_i = H_i`. The weights are
//! not renormalised, as in the authors' code. Threshold: `λ · σ(S)`.

use strsim::generic_levenshtein;

use crate::page::{Page, PathCounts, PathId, Tag};

/// Half width r of the window, in texts (the authors' code).
pub const RADIUS: usize = 1;
/// Exponent β of the path distance (the authors' code).
const BETA: i32 = 3;
/// Factor λ of the standard deviation (the authors' code).
pub const LAMBDA: f64 = 0.8;

impl PathCounts {
    /// TPR: tokens a text.
    pub fn tpr(&self) -> f64 {
        f64::from(self.tokens) / f64::from(self.texts.max(1))
    }

    /// PPR: sentence marks a text.
    pub fn ppr(&self) -> f64 {
        f64::from(self.marks) / f64::from(self.texts.max(1))
    }

    /// Population standard deviation of the tokens of a text.
    pub fn deviation_tokens(&self) -> f64 {
        self.deviation(self.tokens_squared, self.tpr())
    }

    /// Population standard deviation of the sentence marks of a text.
    pub fn deviation_marks(&self) -> f64 {
        self.deviation(self.marks_squared, self.ppr())
    }

    fn deviation(&self, squares: u64, mean: f64) -> f64 {
        // A rounding error may push the variance of equal values below zero.
        let variance = squares as f64 / f64::from(self.texts.max(1)) - mean * mean;
        variance.max(0.0).sqrt()
    }

    /// ETPR as printed: 0 for a path with one text, and for one without sentence marks.
    pub fn etpr_as_printed(&self) -> f64 {
        self.tpr() * self.ppr() * self.deviation_tokens() * self.deviation_marks()
    }

    /// ETPR, mended.
    pub fn etpr(&self) -> f64 {
        let (tokens, marks) = (self.deviation_tokens(), self.deviation_marks());
        self.tpr() * (self.ppr() + 0.1) * (1.0 + tokens) * (1.0 + marks)
    }
}

/// Gaussian kernel of half width [`RADIUS`], sum 1.
pub fn kernel() -> [f64; 2 * RADIUS + 1] {
    let r = RADIUS as f64;
    let mut kernel = [0.0; 2 * RADIUS + 1];
    for (j, k) in kernel.iter_mut().enumerate() {
        let d = j as f64 - r;
        *k = (-d * d / (2.0 * r * r)).exp();
    }
    let sum: f64 = kernel.iter().sum();
    kernel.map(|k| k / sum)
}

/// Smoothed scores. `distance(i, j)` is the edit distance of the tag paths of texts i and j, 0 when equal.
pub fn smooth(scores: &[f64], mut distance: impl FnMut(usize, usize) -> u32) -> Vec<f64> {
    let mut smoothed = scores.to_vec();
    let kernel = kernel();
    let inner = RADIUS..scores.len().saturating_sub(RADIUS);
    for i in inner {
        let around = kernel.iter().zip(i - RADIUS..);
        let weighed = around.map(|(k, at)| {
            // Most of the texts of a page are links, which score nothing.
            if scores[at] == 0.0 {
                return 0.0;
            }
            let weight = match if at == i { 0 } else { distance(i, at) } {
                0 | 1 => 1.0,
                d => f64::from(d).powi(-BETA),
            };
            weight * k * scores[at]
        });
        smoothed[i] = weighed.sum();
    }
    smoothed
}

/// `λ · σ(scores)` with the population standard deviation; 0 for none.
pub fn threshold(scores: &[f64]) -> f64 {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
    LAMBDA * variance.sqrt()
}

/// Edit distance of two tag paths of a page.
pub fn path_distance(page: &Page, a: PathId, b: PathId) -> u32 {
    let paths = page.paths();
    // What both begin with costs nothing.
    let (mut left, mut right) = (a, b);
    while left != right {
        let (l, r) = (paths[left as usize], paths[right as usize]);
        if l.len == 1 && r.len == 1 {
            break;
        }
        left = if l.len >= r.len { l.parent } else { left };
        right = if r.len >= l.len { r.parent } else { right };
    }
    let shared = if left == right {
        paths[left as usize].len
    } else {
        0
    };
    let (l, r) = (
        paths[a as usize].len - shared,
        paths[b as usize].len - shared,
    );
    // Mostly one path continues where the other ends, or they part at the last tag.
    if l == 0 || r == 0 || (l == 1 && r == 1) {
        return u32::from(l.max(r));
    }
    let tail = |path, len| -> Vec<Tag> {
        let tags = page.path_tags(path);
        tags.take(usize::from(len)).collect()
    };
    generic_levenshtein(&tail(a, l), &tail(b, r)) as u32
}

#[cfg(test)]
mod tests {
    //! The path ratios of a page worked by hand, as printed.

    use super::*;

    /// The worked page: two menu links, a headline, four paragraphs with one link between, two footer lines.
    const PATHS: [&[&str]; 5] = [
        &["html", "body", "div", "ul", "li", "a"],
        &["html", "body", "div", "h1"],
        &["html", "body", "div", "p"],
        &["html", "body", "div", "p", "a"],
        &["html", "body", "div", "div", "p"],
    ];
    /// Path, characters and sentence marks of its texts.
    const TEXTS: [(usize, u32, u32); 10] = [
        (0, 2, 0),
        (0, 2, 0),
        (1, 12, 0),
        (2, 80, 6),
        (2, 120, 10),
        (3, 4, 0),
        (2, 40, 3),
        (2, 100, 8),
        (4, 30, 4),
        (4, 26, 3),
    ];

    fn counts() -> [PathCounts; 5] {
        let mut counts = [PathCounts::default(); 5];
        for (path, chars, marks) in TEXTS {
            counts[path].add(chars, marks);
        }
        counts
    }

    fn smoothed(ratio: impl Fn(&PathCounts) -> f64) -> Vec<f64> {
        let counts = counts();
        let scores: Vec<f64> = TEXTS.iter().map(|t| ratio(&counts[t.0])).collect();
        smooth(&scores, |i, j| {
            let [a, b] = [i, j].map(|at| PATHS[TEXTS[at].0].to_vec());
            generic_levenshtein(&a, &b) as u32
        })
    }

    fn close(got: &[f64], want: &[f64], within: f64) {
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().zip(want) {
            assert!((g - w).abs() <= within, "{got:?} is not {want:?}");
        }
    }

    #[test]
    fn path_counts_worked_page() {
        let counts = counts();
        let row = |p: usize| {
            let c = &counts[p];
            let (tokens, marks) = (c.deviation_tokens(), c.deviation_marks());
            [c.tpr(), c.ppr(), tokens, marks, c.etpr_as_printed()]
        };
        close(&row(0), &[2.0, 0.0, 0.0, 0.0, 0.0], 1e-9);
        close(&row(2), &[85.0, 6.75, 29.580, 2.586, 43_889.297], 1e-3);
        close(&row(4), &[28.0, 3.5, 2.0, 0.5, 98.0], 1e-9);
    }

    #[test]
    fn smoothing_worked_page() {
        let tpr = smoothed(PathCounts::tpr);
        let want = [
            2.0, 1.57, 28.74, 64.99, 62.80, 48.40, 62.80, 69.38, 43.62, 28.0,
        ];
        close(&tpr, &want, 0.006);
        assert!((threshold(&tpr) - 19.25).abs() < 0.006);
        let etpr = smoothed(PathCounts::etpr_as_printed);
        let want = [
            0.0, 0.0, 12028.68, 31860.62, 31860.62, 24057.36, 31860.62, 31887.48, 12099.82, 98.0,
        ];
        close(&etpr, &want, 0.006);
        assert!((threshold(&etpr) - 10860.72).abs() < 0.006);
    }

    #[test]
    fn etpr_single_text() {
        let mut story = PathCounts::default();
        story.add(60, 3);
        assert_eq!(story.etpr_as_printed(), 0.0);
        assert!(story.etpr() > 100.0);
    }

    #[test]
    fn kernel_as_published() {
        close(&kernel(), &[0.2741, 0.4519, 0.2741], 5e-5);
        assert_eq!(smooth(&[3.0, 4.0], |_, _| 0), [3.0, 4.0]);
        assert_eq!(threshold(&[]), 0.0);
    }

    #[test]
    fn edit_distance_counts() {
        assert_eq!(generic_levenshtein(b"", b""), 0);
        assert_eq!(generic_levenshtein(b"abc", b"abc"), 0);
        assert_eq!(generic_levenshtein(b"", b"abc"), 3);
        assert_eq!(generic_levenshtein(b"kitten", b"sitting"), 3);
    }

    #[test]
    fn path_distance_by_tags() {
        let html = b"<body><div><p>a<b>b</b></p><ul><li>c<a>d</a></li></ul></div><p>e</p>";
        let page = Page::parse(html, crate::page::Hints::default());
        let tags = |path| page.path_tags(path).collect::<Vec<_>>();
        let count = page.paths().len() as PathId;
        for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            let mut pair = [tags(a), tags(b)];
            pair.iter_mut().for_each(|tags| tags.reverse());
            assert_eq!(
                path_distance(&page, a, b),
                generic_levenshtein(&pair[0], &pair[1]) as u32
            );
        }
    }
}
