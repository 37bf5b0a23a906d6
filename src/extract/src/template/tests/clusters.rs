//! Clustering: exactness of the counted distances, the linkage against the definition.

use proptest::prelude::*;

use crate::template::KeySet;
use crate::template::cluster::{Distances, average_linkage, cluster_sets, rows, set_distances};

fn any_sets() -> impl Strategy<Value = Vec<KeySet>> {
    let set = prop::collection::vec(0u64..30, 0..25).prop_map(KeySet::new);
    prop::collection::vec(set, 1..14)
}

/// Average linkage as it is defined: of all pairs of clusters the nearest, by the mean distance of their things.
fn by_definition(distances: &Distances) -> Vec<f32> {
    let mut clusters: Vec<Vec<usize>> = (0..distances.count()).map(|i| vec![i]).collect();
    let mut heights = Vec::new();
    while clusters.len() > 1 {
        let mut best = (f32::MAX, 0, 0);
        for a in 0..clusters.len() {
            for b in 0..a {
                let mut sum = 0.0;
                for i in &clusters[a] {
                    sum += clusters[b]
                        .iter()
                        .map(|j| distances.get(*i, *j))
                        .sum::<f32>();
                }
                let mean = sum / (clusters[a].len() * clusters[b].len()) as f32;
                if mean < best.0 {
                    best = (mean, a, b);
                }
            }
        }
        let gone = clusters.remove(best.1);
        clusters[best.2].extend(gone);
        heights.push(best.0);
    }
    heights
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn distances_as_of_pairs(sets in any_sets()) {
        let (row_of, first, sizes) = rows(&sets);
        let counted = set_distances(&sets, &first);
        prop_assert_eq!(sizes.iter().sum::<u32>() as usize, sets.len());
        for i in 0..sets.len() {
            for j in 0..i {
                let exact = 1.0 - sets[i].similarity(&sets[j]);
                let here = counted.get(row_of[i], row_of[j]);
                prop_assert!((here - exact).abs() < 1e-6, "{here} and {exact}");
            }
        }
    }

    #[test]
    fn linkage_as_defined(sets in any_sets()) {
        let distances = Distances::from_fn(sets.len(), |i, j| {
            // No two pairs are equally far: then the order of merges is one.
            1.0 - sets[i].similarity(&sets[j]) + 1e-4 * (i * 17 + j) as f32
        });
        let wanted = by_definition(&distances);
        let found = average_linkage(distances, &vec![1; sets.len()]);
        prop_assert_eq!(found.len(), wanted.len());
        let mut wanted = wanted;
        wanted.sort_by(f32::total_cmp);
        for (merge, height) in found.iter().zip(wanted) {
            prop_assert!((merge.height - height).abs() < 1e-3, "{} and {height}", merge.height);
        }
    }
}

#[test]
fn clusters_weigh_equal_sets() {
    let [a, b, c] = [vec![1, 2, 3, 4], vec![3, 4, 5, 6], vec![1, 2, 7, 8, 9]].map(KeySet::new);
    // a and b are joined at 1/2. Then c is 5/9 from each a and 1 from b: 2/3 in the mean of three a, 7/9 of one.
    assert_eq!(
        cluster_sets(&[a.clone(), b.clone(), c.clone()], 0.7),
        [0, 0, 1]
    );
    assert_eq!(cluster_sets(&[a.clone(), b, a.clone(), c, a], 0.7), [0; 5]);
}

#[test]
fn clusters_of_none_or_one() {
    assert_eq!(cluster_sets(&[], 0.5), Vec::<usize>::new());
    assert_eq!(cluster_sets(&[KeySet::new(vec![1])], 0.5), [0]);
    let two = [KeySet::new(vec![1]), KeySet::new(vec![2])];
    assert_eq!(cluster_sets(&two, 0.5), [0, 1]);
    assert_eq!(cluster_sets(&two, 1.0), [0, 0]);
}
