//! Agreement of clusters with classes against numbers of the papers.

use crate::agreement::agreement;

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
