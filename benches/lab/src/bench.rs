//! The measures of structure held against each other: agreement of their clusters with known templates, and processor
//! time for a pair.
//!
//! - (a) 150 generated pages of three templates whose parts are left out or repeated by chance;
//! - (b) with `--corpus DIR`, pages of real sites;
//! - (c) 500 generated book records;
//! - (d) the cost of clustering when the number of pages doubles;
//! - (e) what learning and applying templates costs, on the same real pages.
//!
//! Tags alone are what the papers compare; the default compares the names of blocks.

use std::path::PathBuf;

use taojin_extract::similarity::Skeleton;
use taojin_extract::template::Config;
use taojin_extract::template::cluster::{Distances, average_linkage, cut};

use crate::agreement::agreement;
use crate::cpu_time;
use crate::data::{self, Data};
use crate::similarity::{COLLECTION_DISTANCE, DEFAULT, Labels, Measure, collection_distances};
use crate::{applying, books, costs};

/// Thresholds tried for each measure; the default has one that is fixed.
const THRESHOLDS: usize = 50;
/// Distances of all pairs and the processor time of one.
pub(crate) fn measured(measure: Measure, trees: &[Skeleton]) -> (Distances, f64) {
    let from = cpu_time::thread_ns();
    let distances = measure.distances(trees);
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
    vocabulary(data);
    for labels in [Labels::Blocks, Labels::Tags] {
        for measure in Measure::ALL {
            if only.is_none_or(|o| o == measure.name()) {
                clustered(measure, labels, data);
            }
        }
    }
}

fn vocabulary(data: &Data) {
    let count = data.classes.len();
    let from = cpu_time::thread_ns();
    let distances = collection_distances(&data.words);
    let pairs = (count * count.saturating_sub(1) / 2).max(1) as f64;
    let us = (cpu_time::thread_ns() - from) as f64 / 1e3 / pairs;
    let merges = average_linkage(distances, &vec![1; count]);
    let (rand, f) = agreement(&cut(count, &merges, COLLECTION_DISTANCE), &data.classes);
    row(
        "vocabulary (default)",
        "words",
        us,
        COLLECTION_DISTANCE,
        (rand, f),
    );
}

/// Clusters at the best threshold, and for the measure of templates at the one that they have.
fn clustered(measure: Measure, labels: Labels, data: &Data) {
    let trees = data.trees(labels);
    let word = if labels == Labels::Tags {
        "tags"
    } else {
        "blocks"
    };
    let (distances, us) = measured(measure, trees);
    let merges = average_linkage(distances, &vec![1; trees.len()]);
    let at = |threshold: f32| agreement(&cut(trees.len(), &merges, threshold), &data.classes);
    let best = (1..THRESHOLDS)
        .map(|n| n as f32 / THRESHOLDS as f32)
        .map(|t| (t, at(t)))
        .fold((0.0, (0.0, 0.0)), |best, next| {
            if next.1.1 > best.1.1 { next } else { best }
        });
    row(measure.name(), word, us, best.0, best.1);
    if measure == DEFAULT && labels == Labels::Blocks {
        let fixed = Config::default().max_distance;
        row("path-set, as learned", word, us, fixed, at(fixed));
    }
}

fn row(name: &str, labels: &str, us: f64, threshold: f32, agreed: (f64, f64)) {
    println!(
        "{:24} {labels:7} {us:>10.1} {threshold:>9.2} {:>7.4} {:>7.4}",
        name, agreed.0, agreed.1
    );
}

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Real labelled pages for (b) and (e)
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Only this measure
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// Which parts to measure
    #[arg(long, value_name = "LETTERS", default_value = "abcde")]
    parts: String,
}

/// Prints the tables of the parts.
pub(crate) fn run(args: &Args) {
    let (parts, corpus, only) = (&args.parts, &args.corpus, &args.measure);
    if parts.contains('a') {
        bake_off("(a) generated", &data::made(), only.as_deref());
    }
    if let Some(dir) = corpus.as_ref().filter(|_| parts.contains('b')) {
        bake_off("(b) real mix", &data::real(dir), only.as_deref());
    }
    if parts.contains('c') {
        books::books();
    }
    if parts.contains('d') {
        costs::costs();
    }
    if let Some(dir) = corpus.as_ref().filter(|_| parts.contains('e')) {
        applying::applying(dir);
    }
}
