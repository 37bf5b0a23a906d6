//! 500 generated book records of one to six authors, clustered by k-medoids and held against the clusters of the edit
//! distance, as Buttler (2004) did it with k-means.

use std::collections::HashMap;

use taojin_extract::similarity::Skeleton;
use taojin_extract::template::cluster::Distances;

use crate::bench::measured;
use crate::rng::{Rng, perhaps};
use crate::similarity::{Measure, Mode, parse};

/// A book of so many authors.
fn book(authors: usize, rng: &mut Rng) -> Skeleton {
    let mut text = String::from("book(title");
    for _ in 0..authors {
        text.push_str(",author(first,last");
        text.push_str(&perhaps(rng, 30, ",middle"));
        text.push(')');
    }
    text.push_str(",publisher(name,city),year,price");
    text.push_str(&perhaps(rng, 50, ",isbn"));
    text.push_str(&perhaps(rng, 20, ",edition"));
    text.push(')');
    parse(&text)
}

/// Prints the table of all measures.
pub(crate) fn books() {
    let mut rng = Rng(2_004);
    let books: Vec<Skeleton> = (0..500).map(|n| book(1 + n % 6, &mut rng)).collect();
    let authors: Vec<usize> = (0..500).map(|n| n % 6).collect();
    println!(
        "\n(c) 500 books, k-medoids: share placed otherwise than by edit distance (6/4/2 clusters), than by authors (6)"
    );
    let (reference, _) = measured(Measure::EditDistance(Mode::Literal), &books);
    let wanted = [6, 4, 2].map(|k| k_medoids(&reference, k));
    for measure in Measure::ALL {
        let (distances, us) = measured(measure, &books);
        let found = [6, 4, 2].map(|k| k_medoids(&distances, k));
        let errors: Vec<String> = found
            .iter()
            .zip(&wanted)
            .map(|(f, w)| format!("{:>5.1}", 100.0 * error(f, w)))
            .collect();
        println!(
            "{:24} {us:>8.1} µs {} % {:>8.1} %",
            measure.name(),
            errors.join(" "),
            100.0 * error(&found[0], &authors)
        );
    }
}

/// k-medoids from two beginnings, the better of both: things far from each other, and those that lower the cost most.
fn k_medoids(distances: &Distances, k: usize) -> Vec<usize> {
    let far = settled(distances, spread(distances, k));
    let near = settled(distances, built(distances, k));
    if near.0 < far.0 { near.1 } else { far.1 }
}

/// Distance of a thing to the nearest of the medoids.
fn nearest(distances: &Distances, medoids: &[usize], i: usize) -> f32 {
    let all = medoids.iter().map(|m| distances.get(i, *m));
    all.fold(f32::MAX, f32::min)
}

/// Each next medoid is the thing furthest from those before.
fn spread(distances: &Distances, k: usize) -> Vec<usize> {
    let mut medoids = vec![0usize];
    while medoids.len() < k {
        let near = |i: usize| nearest(distances, &medoids, i);
        let far =
            (0..distances.count()).max_by(|a, b| near(*a).total_cmp(&near(*b)).then(b.cmp(a)));
        medoids.extend(far);
    }
    medoids
}

/// Each next medoid is the one that lowers the sum of distances most (the beginning of PAM).
fn built(distances: &Distances, k: usize) -> Vec<usize> {
    let count = distances.count();
    let mut medoids: Vec<usize> = Vec::new();
    let mut near = vec![f32::MAX; count];
    while medoids.len() < k {
        let cost = |m: usize| -> f32 { (0..count).map(|i| near[i].min(distances.get(i, m))).sum() };
        let Some(best) = (0..count).min_by(|a, b| cost(*a).total_cmp(&cost(*b))) else {
            break;
        };
        for (i, near) in near.iter_mut().enumerate() {
            *near = near.min(distances.get(i, best));
        }
        medoids.push(best);
    }
    medoids
}

/// Alternates until nothing changes; the cost and the cluster of each thing.
fn settled(distances: &Distances, mut medoids: Vec<usize>) -> (f32, Vec<usize>) {
    let count = distances.count();
    let assign = |medoids: &[usize]| -> Vec<usize> {
        let nearest = |i: usize| {
            (0..medoids.len()).min_by(|a, b| {
                let to = |c: usize| distances.get(i, medoids[c]);
                to(*a).total_cmp(&to(*b))
            })
        };
        (0..count).map(|i| nearest(i).unwrap_or(0)).collect()
    };
    let mut clusters = assign(&medoids);
    for _ in 0..30 {
        for (c, medoid) in medoids.iter_mut().enumerate() {
            let own: Vec<usize> = (0..count).filter(|i| clusters[*i] == c).collect();
            let cost = |i: usize| own.iter().map(|j| distances.get(i, *j)).sum::<f32>();
            let costs = own.iter().map(|i| (cost(*i), *i));
            if let Some((_, best)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) {
                *medoid = best;
            }
        }
        let next = assign(&medoids);
        if next == clusters {
            break;
        }
        clusters = next;
    }
    let cost = (0..count).map(|i| nearest(distances, &medoids, i)).sum();
    (cost, clusters)
}

/// Share of things that are not in the cluster that most of their reference cluster is in, each cluster used once.
fn error(clusters: &[usize], reference: &[usize]) -> f64 {
    let mut both: HashMap<(usize, usize), usize> = HashMap::new();
    for pair in clusters.iter().zip(reference) {
        *both.entry((*pair.0, *pair.1)).or_default() += 1;
    }
    let mut pairs: Vec<((usize, usize), usize)> = both.into_iter().collect();
    pairs.sort_by_key(|(pair, n)| (std::cmp::Reverse(*n), *pair));
    let (mut used, mut taken, mut right) = (Vec::new(), Vec::new(), 0);
    for ((cluster, class), n) in pairs {
        if !used.contains(&cluster) && !taken.contains(&class) {
            used.push(cluster);
            taken.push(class);
            right += n;
        }
    }
    1.0 - right as f64 / clusters.len() as f64
}
