//! The measures of structure held against each other: agreement of their clusters with known templates, and processor
//! time for a pair.
//!
//! - (a) 150 generated pages of three templates whose parts are left out or repeated by chance;
//! - (b) with `TAOJIN_CORPUS=DIR`, pages of real sites: the sets of [`REAL`], classes as their gold names them;
//! - (c) 500 generated book records of one to six authors, k-medoids against the clusters of the edit distance, as Buttler
//!   (2004) did it;
//! - the cost of clustering, of the suffix tree and of merging when the input doubles.
//!
//! `cargo bench --bench similarity`. Tags alone are what the papers compare; the default compares the names of blocks.

#![expect(clippy::print_stdout, reason = "a report for a person")]

#[path = "cpu_time/mod.rs"]
mod cpu_time;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use taojin::page::{Hints, Page};
use taojin::similarity::{
    Bag, COLLECTION_DISTANCE, DEFAULT, Labels, Measure, Skeleton, collection_distances,
    names_and_paths,
};
use taojin::template::cluster::{Distances, agreement, average_linkage, cluster_sets, cut};
use taojin::template::repeats::{Token, merge};
use taojin::template::suffix_tree::SuffixTree;
use taojin::template::{Config, KeySet};

/// Sets of the real mix, and the fewest pages of a class that counts.
const REAL: [(&str, usize); 4] = [
    ("bbc_news", 1),
    ("zh_163_gbk", 1),
    ("zh_gne", 3),
    ("fundus_history", 1),
];
/// Thresholds tried for each measure; the default has one that is fixed.
const THRESHOLDS: usize = 50;

/// Random numbers that are the same on every machine (splitmix64).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

fn many(rng: &mut Rng, most: usize, part: &str) -> String {
    part.repeat(1 + rng.below(most))
}

fn perhaps(rng: &mut Rng, percent: usize, part: &str) -> String {
    if rng.chance(percent) {
        part.to_owned()
    } else {
        String::new()
    }
}

/// A page of template `class`: the templates share their frame and differ inside, as those of one site do.
fn generated(class: usize, rng: &mut Rng) -> String {
    let nav = many(rng, 8, "<li><a>n</a></li>");
    let side = many(rng, 6, "<div class=card><a><img></a><p>t</p></div>");
    let ad = perhaps(rng, 40, "<div class=ad><iframe></iframe></div>");
    let main = match class {
        0 => format!(
            "<div class=article><h1>t</h1><div class=info><span>d</span>{}</div>{}{}{}</div>",
            perhaps(rng, 50, "<span>a</span>"),
            many(rng, 20, "<p>x</p>"),
            perhaps(rng, 30, "<table><tr><td>1</td><td>2</td></tr></table>"),
            perhaps(rng, 60, "<div class=tags><a>k</a><a>k</a></div>")
        ),
        1 => format!(
            "<div class=gallery><h2>t</h2><ul>{}</ul>{}</div>",
            many(rng, 25, "<li><a><img></a><span>c</span></li>"),
            perhaps(rng, 50, "<p>x</p>")
        ),
        _ => format!(
            "<div class=thread><h1>t</h1>{}{}</div>",
            many(
                rng,
                15,
                "<div class=post><div class=who><a>u</a><em>d</em></div><div class=what><p>x</p></div></div>"
            ),
            perhaps(rng, 50, "<form><textarea></textarea><input></form>")
        ),
    };
    let more = perhaps(
        rng,
        50,
        "<div class=more><ul><li>m</li><li>m</li></ul></div>",
    );
    format!(
        "<html><body><div class=head><ul>{nav}</ul>{ad}</div><div class=main>{main}{more}</div><div class=side>{side}</div>\
         <div class=foot><p>f</p></div></body></html>"
    )
}

/// Pages with the number of their class.
struct Data {
    bags: Vec<Bag>,
    tags: Vec<Skeleton>,
    blocks: Vec<Skeleton>,
    classes: Vec<usize>,
}

fn skeletons(pages: &[(Page, usize)]) -> Data {
    let of = |labels| {
        pages
            .iter()
            .map(|(p, _)| Skeleton::of_page(p, labels))
            .collect()
    };
    Data {
        bags: pages.iter().map(|(p, _)| names_and_paths(p)).collect(),
        tags: of(Labels::Tags),
        blocks: of(Labels::Blocks),
        classes: pages.iter().map(|(_, class)| *class).collect(),
    }
}

fn made() -> Data {
    let mut rng = Rng(2_015);
    let pages: Vec<(Page, usize)> = (0..150)
        .map(|n| {
            let html = generated(n / 50, &mut rng);
            (Page::parse(html.as_bytes(), Hints::default()), n / 50)
        })
        .collect();
    skeletons(&pages)
}

fn real(dir: &Path) -> Data {
    let mut pages = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (set, least) in REAL {
        let Ok(gold) = std::fs::read_to_string(dir.join(set).join("gold.jsonl")) else {
            println!("{set}: not there");
            continue;
        };
        let mut of_class: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in gold.lines() {
            let gold: serde_json::Value = serde_json::from_str(line).expect("a line of gold");
            let text = |name: &str| gold[name].as_str().unwrap_or_default().to_owned();
            of_class
                .entry(text("cluster"))
                .or_default()
                .push(text("id"));
        }
        for (class, ids) in of_class
            .into_iter()
            .filter(|(c, ids)| !c.is_empty() && ids.len() >= least)
        {
            let next = numbers.len();
            let number = *numbers.entry(format!("{set}/{class}")).or_insert(next);
            for id in ids {
                let file = dir.join(set).join("html").join(format!("{id}.html"));
                if let Ok(bytes) = std::fs::read(file) {
                    pages.push((Page::parse(&bytes, Hints::default()), number));
                }
            }
        }
    }
    skeletons(&pages)
}

/// Distances of all pairs and the processor time of one.
fn measured(measure: Measure, trees: &[Skeleton]) -> (Distances, f64) {
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
    let distances = Distances::from_half(count, collection_distances(&data.bags));
    let pairs = (count * count.saturating_sub(1) / 2).max(1) as f64;
    let us = (cpu_time::thread_ns() - from) as f64 / 1e3 / pairs;
    let merges = average_linkage(distances, &sizes);
    let (rand, f) = agreement(&cut(count, &merges, COLLECTION_DISTANCE), &data.classes);
    println!(
        "{:24} {:7} {us:>10.1} {COLLECTION_DISTANCE:>9.2} {rand:>7.4} {f:>7.4}",
        "default (weighted)", "both"
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
    Skeleton::parse(&text)
}

/// k-medoids: the things furthest from each other first, then alternating until nothing changes.
fn k_medoids(distances: &Distances, k: usize) -> Vec<usize> {
    let count = distances.count();
    let mut medoids = vec![0usize];
    while medoids.len() < k {
        let far = (0..count).max_by(|a, b| {
            let near = |i: usize| {
                medoids
                    .iter()
                    .map(|m| distances.get(i, *m))
                    .fold(f32::MAX, f32::min)
            };
            near(*a).total_cmp(&near(*b)).then(b.cmp(a))
        });
        medoids.extend(far);
    }
    let assign = |medoids: &[usize]| -> Vec<usize> {
        (0..count)
            .map(|i| {
                let near = (0..k).min_by(|a, b| {
                    distances
                        .get(i, medoids[*a])
                        .total_cmp(&distances.get(i, medoids[*b]))
                });
                near.unwrap_or(0)
            })
            .collect()
    };
    let mut clusters = assign(&medoids);
    for _ in 0..30 {
        for (c, medoid) in medoids.iter_mut().enumerate() {
            let own: Vec<usize> = (0..count).filter(|i| clusters[*i] == c).collect();
            let cost = |i: usize| own.iter().map(|j| distances.get(i, *j)).sum::<f32>();
            if let Some(best) = own
                .iter()
                .copied()
                .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
            {
                *medoid = best;
            }
        }
        let next = assign(&medoids);
        if next == clusters {
            break;
        }
        clusters = next;
    }
    clusters
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

fn books() {
    let mut rng = Rng(2_004);
    let books: Vec<Skeleton> = (0..500).map(|n| book(1 + n % 6, &mut rng)).collect();
    let authors: Vec<usize> = (0..500).map(|n| n % 6).collect();
    println!(
        "\n(c) 500 books, k-medoids: share placed otherwise than by edit distance (6/4/2 clusters), than by authors (6)"
    );
    let (reference, _) = measured(Measure::EditDistance, &books);
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

fn costs() {
    println!("\ncost, ms of processor time");
    let timed = |work: &mut dyn FnMut()| {
        let from = cpu_time::thread_ns();
        work();
        (cpu_time::thread_ns() - from) as f64 / 1e6
    };
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
        let ms = timed(&mut || {
            clusters = cluster_sets(&sets, 0.5).iter().max().map_or(0, |m| m + 1);
        });
        println!("{n:>7} pages of 20 layouts clustered: {ms:>9.0} ({clusters} clusters)");
    }
}

fn main() {
    let only = std::env::var("TAOJIN_MEASURE").ok();
    bake_off("(a) generated", &made(), only.as_deref());
    if let Some(dir) = std::env::var_os("TAOJIN_CORPUS") {
        bake_off("(b) real mix", &real(Path::new(&dir)), only.as_deref());
    }
    if only.is_none() {
        books();
    }
    costs();
}
