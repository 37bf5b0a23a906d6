//! How well clusters agree with known classes. In: for each thing the number of its cluster and of its class. Out: two scores.

use std::collections::HashMap;

/// How well clusters agree with known classes: adjusted Rand index (Hubert and Arabie 1985), and the F of clustering,
/// `Σ |D_j| max_i F1(i, j) / Σ |D_j|`. Both 1 for a perfect match.
pub(crate) fn agreement(clusters: &[usize], classes: &[usize]) -> (f64, f64) {
    let mut both: HashMap<(usize, usize), f64> = HashMap::new();
    let (mut of_cluster, mut of_class): (HashMap<usize, f64>, HashMap<usize, f64>) =
        (HashMap::new(), HashMap::new());
    for (cluster, class) in clusters.iter().zip(classes) {
        *both.entry((*cluster, *class)).or_default() += 1.0;
        *of_cluster.entry(*cluster).or_default() += 1.0;
        *of_class.entry(*class).or_default() += 1.0;
    }
    let count = clusters.len().min(classes.len()) as f64;
    if count < 2.0 {
        return (1.0, 1.0);
    }
    let pairs = |n: &f64| n * (n - 1.0) / 2.0;
    let index: f64 = both.values().map(pairs).sum();
    let (in_clusters, in_classes): (f64, f64) = (
        of_cluster.values().map(pairs).sum(),
        of_class.values().map(pairs).sum(),
    );
    let expected = in_clusters * in_classes / pairs(&count);
    let most = (in_clusters + in_classes) / 2.0;
    let rand = if most == expected {
        1.0
    } else {
        (index - expected) / (most - expected)
    };
    let mut sum = 0.0;
    for (class, size) in &of_class {
        let best = of_cluster
            .iter()
            .filter_map(|(cluster, n)| {
                let hit = both.get(&(*cluster, *class))?;
                let (p, r) = (hit / n, hit / size);
                Some(2.0 * p * r / (p + r))
            })
            .fold(0.0, f64::max);
        sum += size * best;
    }
    (rand, sum / count)
}
