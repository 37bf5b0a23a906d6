//! What clustering costs when the number of pages doubles.

use taojin_extract::template::KeySet;
use taojin_extract::template::cluster::cluster_sets;

use crate::cpu_time;
use crate::rng::Rng;

/// Prints milliseconds of processor time.
pub(crate) fn costs() {
    println!("\ncost, ms of processor time");
    for n in [2_500usize, 5_000, 10_000] {
        clustering(n);
    }
}

/// Pages of twenty layouts.
fn clustering(n: usize) {
    let mut rng = Rng(7);
    let sets: Vec<KeySet> = (0..n)
        .map(|i| {
            let layout = (i % 20) as u64 * 1_000;
            let fixed = (0..150).map(|k| layout + k);
            let keys: Vec<u64> = fixed
                .chain((150..400).filter(|_| rng.chance(40)).map(|k| layout + k))
                .chain((0..20).map(|k| (1 << 40) + (i * 20 + k) as u64))
                .collect();
            KeySet::new(keys)
        })
        .collect();
    let from = cpu_time::thread_ns();
    let clusters = cluster_sets(&sets, 0.5).iter().max().map_or(0, |m| m + 1);
    let ms = (cpu_time::thread_ns() - from) as f64 / 1e6;
    println!("{n:>7} pages of 20 layouts clustered: {ms:>9.0} ({clusters} clusters)");
}
