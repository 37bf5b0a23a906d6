//! Spectra of tag sequences (Flesca et al., "Detecting structural similarities between XML documents", WebDB 2002).
//! In: two skeletons. Out: `1 - dist / (‖F₁‖ + ‖F₂‖)`.
//!
//! Every start tag is a positive number, its end tag the negative one; element i of the signal is
//! `γ(tᵢ)·B^(D-lᵢ) + Σ γ(tⱼ)·B^(D-lⱼ)` over its ancestors j, D being the greater depth of the pair. Since `B^D` overflows,
//! the signal is divided by it, which leaves the similarity as it is. Both signals are padded to one power of two, so that
//! the spectra have their points in common; `dist = sqrt(Σ_{k=1..M/2} (|F₁(k)| - |F₂(k)|)²)`.

use std::collections::HashMap;

use taojin_extract::similarity::Skeleton;

use super::tree::top;

/// Nodes of one tree; of a larger one only the upper levels count.
const MAX_NODES: usize = 16_384;
/// Levels beyond which a step is lost in the rounding of the sum.
const MAX_LEVELS: u16 = 48;

/// Similarity of two trees that are not empty.
pub(super) fn similarity(a: &Skeleton, b: &Skeleton) -> f64 {
    let (a, b) = (top(a, MAX_NODES), top(b, MAX_NODES));
    // Numbers in order of labels, so that neither tree comes first.
    let mut labels: Vec<u64> = a.labels().iter().chain(b.labels()).copied().collect();
    labels.sort_unstable();
    labels.dedup();
    let numbers: HashMap<u64, f64> = labels
        .iter()
        .enumerate()
        .map(|(n, label)| (*label, n as f64 + 1.0))
        .collect();
    let base = labels.len() as f64 + 2.0;
    let points = (2 * a.len().max(b.len())).next_power_of_two().max(2);
    let spectrum = |tree: &Skeleton| magnitudes(signal(tree, &numbers, base), points);
    let (x, y) = (spectrum(&a), spectrum(&b));
    let norm = |s: &[f64]| s.iter().map(|v| v * v).sum::<f64>().sqrt();
    let difference: Vec<f64> = x.iter().zip(&y).map(|(p, q)| p - q).collect();
    let most = norm(&x) + norm(&y);
    if most == 0.0 {
        return 1.0;
    }
    1.0 - norm(&difference) / most
}

fn signal(tree: &Skeleton, numbers: &HashMap<u64, f64>, base: f64) -> Vec<f64> {
    let scale = |at: usize| base.powi(-i32::from(tree.depths()[at].min(MAX_LEVELS)));
    let value =
        |at: usize| numbers.get(&tree.labels()[at]).copied().unwrap_or_default() * scale(at);
    let mut signal = Vec::with_capacity(2 * tree.len());
    let mut open: Vec<(usize, f64)> = Vec::new();
    for at in 0..tree.len() {
        while let Some((node, sum)) = open.last().copied()
            && tree.ends()[node] as usize <= at
        {
            open.pop();
            signal.push(sum - 2.0 * value(node));
        }
        let sum = open.last().map_or(0.0, |(_, sum)| *sum) + value(at);
        signal.push(sum);
        open.push((at, sum));
    }
    while let Some((node, sum)) = open.pop() {
        signal.push(sum - 2.0 * value(node));
    }
    signal
}

/// `|F(k)|` for k = 1 … points/2 of the padded signal.
fn magnitudes(signal: Vec<f64>, points: usize) -> Vec<f64> {
    let mut re = signal;
    re.resize(points, 0.0);
    let mut im = vec![0.0; points];
    transform(&mut re, &mut im);
    (1..=points / 2).map(|k| re[k].hypot(im[k])).collect()
}

/// Fast Fourier transform in place (Cooley and Tukey); the length is a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let angle = -std::f64::consts::PI / half as f64;
        for k in 0..half {
            let (sin, cos) = (angle * k as f64).sin_cos();
            for i in (k..n).step_by(2 * half) {
                let j = i + half;
                let (x, y) = (re[j] * cos - im[j] * sin, re[j] * sin + im[j] * cos);
                (re[j], im[j]) = (re[i] - x, im[i] - y);
                (re[i], im[i]) = (re[i] + x, im[i] + y);
            }
        }
        half *= 2;
    }
}
