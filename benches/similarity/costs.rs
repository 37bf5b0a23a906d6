//! What the suffix tree, the merging of repeats and the clustering cost when the input doubles.
//!
//! Trees and merging are measured in a process of their own for each size: memory that an earlier size left behind would
//! make the small ones look cheaper than they are.

use std::path::Path;
use std::process::Command;

use taojin_extract::page::{Hints, Page};
use taojin_extract::template::KeySet;
use taojin_extract::template::cluster::cluster_sets;
use taojin_lab::repeats::{Token, merge};
use taojin_lab::suffix_tree::{SuffixTree, equal_subtrees};

use crate::cpu_time;
use crate::rng::Rng;

/// Tells a process of this program which size to measure: what, of which sequence, how long.
const ONE: &str = "TAOJIN_COST";
/// What is measured.
const WORKS: [&str; 4] = ["tree", "tree and runs", "equal subtrees", "merging"];
/// What a text of the same length costs at least where each step goes to another place: numbers read in random order.
const FLOOR: &str = "random reads";
/// Sequences of elements. The last is made of the pages of a folder, as often as it takes.
const SEQUENCES: [&str; 6] = [
    "random",
    "few tags",
    "periodic",
    "equal",
    "fibonacci",
    "pages",
];
/// The shortest, and how often it doubles.
const SHORTEST: usize = 10_000;
const DOUBLINGS: u32 = 8;
/// Rounds over all sizes, each in a process of its own; of each size the best counts. In turn, so that what else the
/// machine does for a while falls on all of them.
const ROUNDS: usize = 7;

/// Prints milliseconds of processor time; pages are taken from a folder, if there is one.
pub(crate) fn costs(pages: Option<&Path>) {
    println!("\ncost, ms of processor time; in brackets: times the row before");
    doubling(FLOOR, "random");
    for work in WORKS {
        for sequence in SEQUENCES {
            if sequence != "pages" || pages.is_some() {
                doubling(work, sequence);
            }
        }
    }
    for n in [2_500usize, 5_000, 10_000] {
        clustering(n);
    }
}

/// One row for each size.
fn doubling(work: &str, sequence: &str) {
    println!("{work}, {sequence}");
    let mut best = [f64::MAX; DOUBLINGS as usize + 1];
    for _ in 0..ROUNDS {
        for (doubled, best) in best.iter_mut().enumerate() {
            match in_own_process(work, sequence, SHORTEST << doubled) {
                Some(ms) => *best = ms.min(*best),
                None => return println!("{:>9}: failed", SHORTEST << doubled),
            }
        }
    }
    for (doubled, ms) in best.iter().enumerate() {
        let last = doubled.checked_sub(1).map(|last| ms / best[last]);
        let times = last.map_or(String::new(), |times| format!(" ({times:.2})"));
        println!("{:>9} symbols {ms:>8.2}{times}", SHORTEST << doubled);
    }
}

fn in_own_process(work: &str, sequence: &str, n: usize) -> Option<f64> {
    let own = std::env::current_exe().ok()?;
    let done = Command::new(own)
        .env(ONE, format!("{work};{sequence};{n}"))
        .output()
        .ok()?;
    String::from_utf8(done.stdout).ok()?.trim().parse().ok()
}

/// Measures one size if this process was begun for that; whether it was.
pub(crate) fn is_one(pages: Option<&Path>) -> bool {
    let Ok(asked) = std::env::var(ONE) else {
        return false;
    };
    let words: Vec<&str> = asked.split(';').collect();
    let n: usize = words[2].parse().expect("a length from this program");
    let ns = if words[0] == FLOOR {
        random_reads(n)
    } else {
        // Two symbols an element: name, and step to the next depth.
        cost(words[0], &elements(words[1], n / 2, pages))
    };
    println!("{}", ns as f64 / 1e6);
    true
}

/// Nanoseconds of a piece of work.
fn cost(work: &str, elements: &[Token]) -> u64 {
    let symbols: Vec<u64> = elements
        .iter()
        .flat_map(|t| [t.label, u64::from(t.depth)])
        .collect();
    let from = cpu_time::thread_ns();
    let found = match work {
        "tree" => SuffixTree::of(&symbols).node_count(),
        "tree and runs" => SuffixTree::of(&symbols).repeated_runs().len(),
        "equal subtrees" => equal_subtrees(elements).len(),
        _ => merge(elements).tokens.len(),
    };
    assert!(found > 0);
    cpu_time::thread_ns() - from
}

/// Nanoseconds for going once through as many numbers in random order, each telling where the next one stands.
fn random_reads(n: usize) -> u64 {
    let mut rng = Rng(n as u64);
    // One circle through all places (Sattolo).
    let mut next: Vec<u32> = (0..n as u32).collect();
    for at in (1..n).rev() {
        next.swap(at, rng.below(at));
    }
    let from = cpu_time::thread_ns();
    let end = (0..n).fold(0u32, |at, _| next[at as usize]);
    assert_eq!(end, 0);
    cpu_time::thread_ns() - from
}

fn elements(sequence: &str, n: usize, pages: Option<&Path>) -> Vec<Token> {
    let mut rng = Rng(n as u64);
    let token = |label, depth| Token {
        label,
        depth,
        plus: false,
    };
    let mut all: Vec<Token> = match sequence {
        "random" => (0..n)
            .map(|_| token(rng.below(90) as u64, 1 + rng.below(6) as u16))
            .collect(),
        "few tags" => (0..n)
            .map(|_| token(rng.below(3) as u64, 1 + rng.below(3) as u16))
            .collect(),
        "periodic" => (0..n)
            .map(|at| token(at as u64 % 17, 1 + (at % 17) as u16 / 4))
            .collect(),
        "equal" => vec![token(7, 1); n],
        "fibonacci" => {
            let (mut before, mut word) = (vec![token(0, 1)], vec![token(0, 1), token(1, 2)]);
            while word.len() < n {
                (before, word) = (word.clone(), [word, before].concat());
            }
            word
        }
        _ => of_pages(n, pages.expect("asked for only where there is a folder")),
    };
    all.truncate(n);
    if let Some(root) = all.first_mut() {
        root.depth = 0;
    }
    all
}

/// The elements of the pages of a folder, one page after the other under one root; then again with other names.
fn of_pages(n: usize, dir: &Path) -> Vec<Token> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
    files.sort();
    let mut all: Vec<Token> = Vec::with_capacity(n);
    for (round, file) in (0u64..64).flat_map(|round| files.iter().map(move |f| (round, f))) {
        let page = Page::parse(&std::fs::read(file).unwrap_or_default(), Hints::default());
        all.extend(page.nodes().iter().map(|node| Token {
            label: u64::from(node.tag.0) + 1_000 * round,
            depth: node.depth + 1,
            plus: false,
        }));
        if all.len() >= n {
            break;
        }
    }
    all
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
            KeySet::of(keys)
        })
        .collect();
    let from = cpu_time::thread_ns();
    let clusters = cluster_sets(&sets, 0.5).iter().max().map_or(0, |m| m + 1);
    let ms = (cpu_time::thread_ns() - from) as f64 / 1e6;
    println!("{n:>7} pages of 20 layouts clustered: {ms:>9.0} ({clusters} clusters)");
}
