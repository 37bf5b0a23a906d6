//! The measures of structure held against each other: agreement of their clusters with known templates, and processor
//! time for a pair.
//!
//! - (a) 150 generated pages of three templates whose parts are left out or repeated by chance;
//! - (b) with `TAOJIN_CORPUS=DIR`, pages of real sites;
//! - (c) 500 generated book records;
//! - the cost of clustering, of the suffix tree and of merging when the input doubles.
//!
//! `cargo bench --bench similarity`; `TAOJIN_PART=abcd` chooses parts, `TAOJIN_MEASURE=NAME` one measure. Tags alone are
//! what the papers compare; the default compares the names of blocks.

#![expect(clippy::print_stdout, reason = "a report for a person")]

mod books;
mod costs;
#[path = "../cpu_time/mod.rs"]
mod cpu_time;
mod data;
mod rng;

use std::path::Path;

use taojin::similarity::{
    COLLECTION_DISTANCE, DEFAULT, Labels, Measure, Skeleton, collection_distances,
};
use taojin::template::Config;
use taojin::template::cluster::{Distances, agreement, average_linkage, cut};

use data::Data;

/// Thresholds tried for each measure; the default has one that is fixed.
const THRESHOLDS: usize = 50;

/// Distances of all pairs and the processor time of one.
pub(crate) fn measured(measure: Measure, trees: &[Skeleton]) -> (Distances, f64) {
    let from = cpu_time::thread_ns();
    let distances = Distances::of(trees.len(), |i, j| {
        (1.0 - measure.similarity(&trees[i], &trees[j])) as f32
    });
    let pairs = (trees.len() * trees.len().saturating_sub(1) / 2).max(1) as f64;
    (
        distances,
        (cpu_time::thread_ns() - from) as f64 / 1e3 / pairs,
    )
}

fn bake_off(name: &str, data: &Data, only: Option<&str>) {
    println!("\n{name}: {} pages", data.classes.len());
    println!(
        "{:24} {:7} {:>10} {:>9} {:>7} {:>7}",
        "measure", "labels", "µs a pair", "threshold", "ARI", "F"
    );
    let sizes = vec![1; data.classes.len()];
    let count = data.classes.len();
    let from = cpu_time::thread_ns();
    let distances = Distances::from_half(count, collection_distances(&data.words));
    let pairs = (count * count.saturating_sub(1) / 2).max(1) as f64;
    let us = (cpu_time::thread_ns() - from) as f64 / 1e3 / pairs;
    let merges = average_linkage(distances, &sizes);
    let (rand, f) = agreement(&cut(count, &merges, COLLECTION_DISTANCE), &data.classes);
    println!(
        "{:24} {:7} {us:>10.1} {COLLECTION_DISTANCE:>9.2} {rand:>7.4} {f:>7.4}",
        "default (vocabulary)", "words"
    );
    for (word, labels, trees) in [
        ("blocks", Labels::Blocks, &data.blocks),
        ("tags", Labels::Tags, &data.tags),
    ] {
        for measure in Measure::ALL {
            if only.is_some_and(|o| o != measure.name()) {
                continue;
            }
            let (distances, us) = measured(measure, trees);
            let merges = average_linkage(distances, &sizes);
            let at =
                |threshold: f32| agreement(&cut(trees.len(), &merges, threshold), &data.classes);
            let best = (1..THRESHOLDS)
                .map(|n| n as f32 / THRESHOLDS as f32)
                .map(|t| (t, at(t)))
                .fold((0.0, (0.0, 0.0)), |best, next| {
                    if next.1.1 > best.1.1 { next } else { best }
                });
            println!(
                "{:24} {word:7} {us:>10.1} {:>9.2} {:>7.4} {:>7.4}",
                measure.name(),
                best.0,
                best.1.0,
                best.1.1
            );
            if measure == DEFAULT && labels == Labels::Blocks {
                let fixed = Config::default().max_distance;
                let (rand, f) = at(fixed);
                println!(
                    "{:24} {word:7} {us:>10.1} {fixed:>9.2} {rand:>7.4} {f:>7.4}",
                    "path-set, as learned"
                );
            }
        }
    }
}

fn main() {
    let only = std::env::var("TAOJIN_MEASURE").ok();
    let parts = std::env::var("TAOJIN_PART").unwrap_or_else(|_| "abcd".to_owned());
    if parts.contains('a') {
        bake_off("(a) generated", &data::made(), only.as_deref());
    }
    if let Some(dir) = std::env::var_os("TAOJIN_CORPUS").filter(|_| parts.contains('b')) {
        bake_off(
            "(b) real mix",
            &data::real(Path::new(&dir)),
            only.as_deref(),
        );
    }
    if parts.contains('c') {
        books::books();
    }
    if parts.contains('d') {
        costs::costs();
    }
}
