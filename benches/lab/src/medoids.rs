//! Agglomerative clustering by medoids (丘骏鹏 2013, §4.3, algorithm 3): the distance of two clusters is that of their medoids,
//! the members with the least sum of distances to all others. It may fall from one merge to the next, so the clusters under
//! a threshold are those before the first merge above it.

use taojin_extract::template::cluster::{Distances, Merge, cut};

/// A cluster while others are merged.
struct Cluster {
    members: Vec<usize>,
    medoid: usize,
}

/// Merges the two nearest clusters until one is left. `O(n³)` time.
pub(crate) fn medoid_linkage(distances: &Distances) -> Vec<Merge> {
    let mut clusters: Vec<Cluster> = (0..distances.count())
        .map(|at| Cluster {
            members: vec![at],
            medoid: at,
        })
        .collect();
    let mut merges = Vec::new();
    while let Some((height, kept, gone)) = nearest(&clusters, distances) {
        let other = clusters.remove(gone);
        let cluster = &mut clusters[kept];
        merges.push(Merge {
            a: cluster.members[0],
            b: other.members[0],
            height,
        });
        cluster.members.extend(other.members);
        cluster.medoid = medoid(&cluster.members, distances);
    }
    merges
}

/// The two nearest clusters with their distance, the first two of equally near ones.
fn nearest(clusters: &[Cluster], distances: &Distances) -> Option<(f32, usize, usize)> {
    let pairs = (0..clusters.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let measured = pairs.map(|(i, j)| {
        let distance = distances.get(clusters[i].medoid, clusters[j].medoid);
        (distance, i, j)
    });
    measured.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn medoid(members: &[usize], distances: &Distances) -> usize {
    let cost = |at: usize| -> f32 { members.iter().map(|other| distances.get(at, *other)).sum() };
    let costs = members.iter().map(|at| (cost(*at), *at));
    let least = costs.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map_or(0, |(_, at)| at)
}

/// Cluster number of each of `count` things when no merge above `max_distance` is made.
pub(crate) fn cut_medoids(count: usize, merges: &[Merge], max_distance: f32) -> Vec<usize> {
    let above = merges.iter().position(|merge| merge.height > max_distance);
    let made = &merges[..above.unwrap_or(merges.len())];
    cut(count, made, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use taojin_extract::template::cluster::average_linkage;

    fn on_line(places: &[f32]) -> Distances {
        Distances::from_fn(places.len(), |i, j| (places[i] - places[j]).abs())
    }

    #[test]
    fn medoid_linkage_line() {
        // 0, 1 and 3 in one cluster have their medoid at 1: from there 4.5 is 3.5 away, where the mean distance is 3.2.
        let distances = on_line(&[0.0, 1.0, 3.0, 4.5]);
        let heights: Vec<f32> = medoid_linkage(&distances)
            .iter()
            .map(|m| m.height)
            .collect();
        assert_eq!(heights, [1.0, 1.5, 3.0]);
        let merges = medoid_linkage(&distances);
        assert_eq!(cut_medoids(4, &merges, 0.5), [0, 1, 2, 3]);
        assert_eq!(cut_medoids(4, &merges, 2.0), [0, 0, 1, 1]);
        assert_eq!(cut_medoids(4, &merges, 9.0), [0, 0, 0, 0]);
        assert!(medoid_linkage(&on_line(&[])).is_empty());
    }

    #[test]
    fn cut_medoids_falling_heights() {
        // Medoids may come nearer to each other: what is below the threshold behind a merge above it is not made.
        let merge = |a, b, height| Merge { a, b, height };
        let merges = [merge(0, 1, 0.2), merge(2, 3, 0.6), merge(0, 2, 0.4)];
        assert_eq!(cut_medoids(4, &merges, 0.5), [0, 0, 1, 2]);
    }

    #[test]
    fn medoid_linkage_apart_as_average() {
        let places: Vec<f32> = (0..24)
            .map(|n| (n % 3) as f32 * 10.0 + (n / 3) as f32 * 0.1)
            .collect();
        let distances = on_line(&places);
        let average = average_linkage(distances.clone(), &[1; 24]);
        let merges = medoid_linkage(&distances);
        assert_eq!(cut_medoids(24, &merges, 5.0), cut(24, &average, 5.0));
    }
}
