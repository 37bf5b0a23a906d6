//! What the suffix tree, the merging of repeats and the clustering cost when the input doubles.

use taojin::template::KeySet;
use taojin::template::cluster::cluster_sets;
use taojin::template::repeats::{Token, merge};
use taojin::template::suffix_tree::SuffixTree;

use crate::cpu_time;
use crate::rng::Rng;

/// Prints milliseconds of processor time.
pub(crate) fn costs() {
    println!("\ncost, ms of processor time");
    let once = |work: &mut dyn FnMut()| {
        let from = cpu_time::thread_ns();
        work();
        (cpu_time::thread_ns() - from) as f64 / 1e6
    };
    // The best of five: on a machine that others use, the caches are not always ours.
    let timed = |work: &mut dyn FnMut()| (0..5).map(|_| once(work)).fold(f64::MAX, f64::min);
    for n in [20_000usize, 40_000, 80_000] {
        let mut rng = Rng(n as u64);
        let tokens: Vec<Token> = (0..n)
            .map(|at| Token {
                label: rng.below(12) as u64,
                depth: if at == 0 { 0 } else { 1 + rng.below(6) as u16 },
                plus: false,
            })
            .collect();
        let symbols: Vec<u64> = tokens
            .iter()
            .map(|t| t.label * 8 + u64::from(t.depth))
            .collect();
        let tree = timed(&mut || assert!(SuffixTree::of(&symbols).node_count() > n));
        let merging = timed(&mut || assert!(!merge(&tokens).tokens.is_empty()));
        println!("{n:>7} tokens: suffix tree {tree:>8.1}, merging {merging:>7.1}");
    }
    for n in [2_500usize, 5_000, 10_000] {
        let mut rng = Rng(7);
        let sets: Vec<KeySet> = (0..n)
            .map(|i| {
                let layout = (i % 20) as u64 * 1_000;
                let fixed = (0..150).map(|k| layout + k);
                let keys: Vec<u64> = fixed
                    .chain((150..400).filter(|_| rng.chance(40)).map(|k| layout + k))
                    .chain((0..20).map(|k| (1 << 40) + (i * 20 + k) as u64))
                    .collect();
                KeySet::of(keys)
            })
            .collect();
        let mut clusters = 0;
        let ms = once(&mut || {
            clusters = cluster_sets(&sets, 0.5).iter().max().map_or(0, |m| m + 1);
        });
        println!("{n:>7} pages of 20 layouts clustered: {ms:>9.0} ({clusters} clusters)");
    }
}
