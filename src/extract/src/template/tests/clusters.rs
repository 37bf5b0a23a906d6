//! Clustering: exactness of the counted distances, the linkage against the definition, the scores against numbers of the
//! papers.

use proptest::prelude::*;

use crate::template::KeySet;
use crate::template::cluster::{
    Distances, agreement, average_linkage, cluster_sets, cut, rows, set_distances,
};

fn any_sets() -> impl Strategy<Value = Vec<KeySet>> {
    let set = prop::collection::vec(0u64..30, 0..25).prop_map(KeySet::of);
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
    fn counted_distances_are_those_of_the_pairs(sets in any_sets()) {
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
    fn chains_find_the_merges_of_the_definition(sets in any_sets()) {
        let distances = Distances::of(sets.len(), |i, j| {
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

    #[test]
    fn equal_sets_count_as_often_as_they_occur(sets in any_sets(), limit in 0.1f32..0.9) {
        let all = Distances::of(sets.len(), |i, j| 1.0 - sets[i].similarity(&sets[j]));
        let plain = cut(sets.len(), &average_linkage(all, &vec![1; sets.len()]), limit);
        let merged = cluster_sets(&sets, limit);
        // Ties may be broken otherwise; without them the clusters are the same.
        let (rand, _) = agreement(&plain, &merged);
        prop_assert!(rand > 0.0 || plain.iter().max() == merged.iter().max());
    }
}

#[test]
fn nothing_and_one_thing() {
    assert_eq!(cluster_sets(&[], 0.5), Vec::<usize>::new());
    assert_eq!(cluster_sets(&[KeySet::of(vec![1])], 0.5), [0]);
    let two = [KeySet::of(vec![1]), KeySet::of(vec![2])];
    assert_eq!(cluster_sets(&two, 0.5), [0, 1]);
    assert_eq!(cluster_sets(&two, 1.0), [0, 0]);
}

#[test]
fn clusters_of_wang_table_five() {
    // Sizes 51/49/50 with one page in the wrong cluster, and 58/38/54 with twelve.
    let table = |confusion: [[usize; 3]; 3]| {
        let (mut clusters, mut classes) = (Vec::new(), Vec::new());
        for (class, row) in confusion.iter().enumerate() {
            for (cluster, count) in row.iter().enumerate() {
                clusters.extend(std::iter::repeat_n(cluster, *count));
                classes.extend(std::iter::repeat_n(class, *count));
            }
        }
        agreement(&clusters, &classes).1
    };
    let improved = table([[50, 0, 0], [1, 49, 0], [0, 0, 50]]);
    assert!((improved - 0.9933).abs() < 5e-5, "{improved}");
    let traditional = table([[50, 0, 0], [8, 38, 4], [0, 0, 50]]);
    assert!((traditional - 0.9170).abs() < 5e-5, "{traditional}");
}

#[test]
fn agreement_of_known_clusterings() {
    let (rand, f) = agreement(&[0, 0, 1, 1], &[5, 5, 9, 9]);
    assert_eq!((rand, f), (1.0, 1.0));
    // The example of Hubert and Arabie's index at chance level: all in one cluster.
    let (rand, _) = agreement(&[0, 0, 0, 0], &[0, 0, 1, 1]);
    assert!(rand.abs() < 1e-9);
}
