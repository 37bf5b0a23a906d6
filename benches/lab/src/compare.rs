//! The measures of structure side by side on saved pages.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use anyhow::{Context as _, anyhow};
use taojin_extract::page::{Hints, Page};
use taojin_extract::similarity::Skeleton;
use taojin_extract::template::Config;
use taojin_extract::template::cluster::{Distances, average_linkage, cut};

use crate::agreement::agreement;
use crate::chart;
use crate::similarity::{
    COLLECTION_DISTANCE, DEFAULT, Labels, Measure, Vocabulary, collection_distances, skeleton,
};

/// Pages compared at most: the slow measures take seconds for each page beyond.
const MAX_PAGES: usize = 400;
/// Name of the way to compare pages of many sites.
const VOCABULARY: &str = "vocabulary";

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of saved pages (.html, .htm)
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Only this measure (may be given several times): `vocabulary` for pages of many sites, or a measure of trees
    #[arg(long, value_name = "NAME")]
    measure: Vec<String>,
    /// Compare tags alone, as the papers do, not tags with classes
    #[arg(long)]
    tags: bool,
    /// Known classes, one JSON object a line with `id` and `cluster`: adds the agreement
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Write the tree of the first measure
    #[arg(long, value_name = "FILE")]
    dendrogram: Option<PathBuf>,
    /// Write the map of all pairs of the first measure
    #[arg(long, value_name = "FILE")]
    heat_map: Option<PathBuf>,
    /// Pages compared at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Label {
    id: String,
    #[serde(default)]
    cluster: Option<String>,
}

#[derive(Serialize)]
struct Row {
    measure: &'static str,
    us_per_pair: f64,
    max_distance: f32,
    clusters: usize,
    mean_similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ari: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<f64>,
}

/// Compares and prints the table.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let ways = ways(&args.measure)?;
    let known = args.labels.as_ref().map(read_labels).transpose()?;
    let pages = read(args, known.as_ref())?;
    let classes = known.map(|known| numbers(&pages.names, &known));
    let within = Config::default().max_distance;
    for (n, way) in ways.into_iter().enumerate() {
        let started = Instant::now();
        let distances = way.distances(&pages);
        let pairs = (pages.trees.len() * pages.trees.len().saturating_sub(1) / 2).max(1) as f64;
        let us_per_pair = started.elapsed().as_secs_f64() * 1e6 / pairs;
        let merges = average_linkage(distances.clone(), &vec![1; pages.trees.len()]);
        let max_distance = way.threshold(within);
        let clusters = cut(pages.trees.len(), &merges, max_distance);
        let agreed = classes
            .as_ref()
            .map(|classes| agreement(&clusters, classes));
        print(
            &Row {
                measure: way.name(),
                us_per_pair,
                max_distance,
                clusters: clusters.iter().max().map_or(0, |m| m + 1),
                mean_similarity: 1.0 - mean(&distances),
                ari: agreed.map(|a| a.0),
                f: agreed.map(|a| a.1),
            },
            n == 0,
            args.json,
        )?;
        if n == 0 {
            if let Some(file) = &args.dendrogram {
                let drawing = chart::dendrogram(way.name(), &merges, &pages.names, max_distance);
                fs::write(file, drawing)?;
            }
            if let Some(file) = &args.heat_map {
                let drawing = chart::heat_map(way.name(), &distances, &clusters, &pages.names);
                fs::write(file, drawing)?;
            }
        }
    }
    Ok(())
}

/// The pages in the forms that are compared.
#[derive(Default)]
struct Pages {
    names: Vec<String>,
    trees: Vec<Skeleton>,
    words: Vec<Vocabulary>,
}

fn read(args: &Args, known: Option<&HashMap<String, String>>) -> anyhow::Result<Pages> {
    let labels = if args.tags {
        Labels::Tags
    } else {
        Labels::Blocks
    };
    let mut pages = Pages::default();
    let entries = fs::read_dir(&args.dir).with_context(|| args.dir.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "html" || e == "htm"));
    files.sort();
    for file in files {
        if pages.trees.len() >= args.limit.min(MAX_PAGES) {
            break;
        }
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if known.is_none_or(|known| known.contains_key(&name)) {
            let page = Page::parse(&fs::read(&file)?, Hints::default());
            pages.trees.push(skeleton(&page, labels));
            pages.words.push(Vocabulary::of(&page));
            pages.names.push(name);
        }
    }
    Ok(pages)
}

/// A way to compare pages.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Pages of many sites.
    Vocabulary,
    /// Trees.
    Trees(Measure),
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Vocabulary => VOCABULARY,
            Self::Trees(measure) => measure.name(),
        }
    }

    fn distances(self, pages: &Pages) -> Distances {
        match self {
            Self::Vocabulary => collection_distances(&pages.words),
            Self::Trees(measure) => measure.distances(&pages.trees),
        }
    }

    /// Distance up to which clusters are joined.
    fn threshold(self, within: f32) -> f32 {
        match self {
            Self::Vocabulary => COLLECTION_DISTANCE,
            Self::Trees(_) => within,
        }
    }
}

/// The ways named; all if none is, those that are used first.
fn ways(names: &[String]) -> anyhow::Result<Vec<Way>> {
    let others = Measure::ALL.into_iter().filter(|m| *m != DEFAULT);
    let all: Vec<Way> = [Way::Vocabulary, Way::Trees(DEFAULT)]
        .into_iter()
        .chain(others.map(Way::Trees))
        .collect();
    if names.is_empty() {
        return Ok(all);
    }
    let named = |name: &String| {
        all.iter()
            .copied()
            .find(|way| way.name() == name)
            .ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|way| way.name()).collect();
                anyhow!("no measure {name}; there are: {}", known.join(", "))
            })
    };
    names.iter().map(named).collect()
}

fn read_labels(file: &PathBuf) -> anyhow::Result<HashMap<String, String>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut known = HashMap::new();
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let label: Label =
            serde_json::from_str(line).with_context(|| format!("{}:{number}", file.display()))?;
        if let Some(cluster) = label.cluster {
            known.insert(label.id, cluster);
        }
    }
    Ok(known)
}

fn numbers(names: &[String], known: &HashMap<String, String>) -> Vec<usize> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    names
        .iter()
        .map(|name| {
            let next = numbers.len();
            let class = known.get(name).map_or("", String::as_str);
            *numbers.entry(class).or_insert(next)
        })
        .collect()
}

fn mean(distances: &Distances) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0usize);
    for i in 0..distances.count() {
        for j in 0..i {
            sum += f64::from(distances.get(i, j));
            pairs += 1;
        }
    }
    sum / pairs.max(1) as f64
}

fn print(row: &Row, first: bool, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(row)?);
        return Ok(());
    }
    if first {
        println!(
            "{:24} {:>10} {:>5} {:>9} {:>8} {:>7} {:>7}",
            "measure", "µs a pair", "cut", "clusters", "mean", "ARI", "F"
        );
    }
    let rate = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.4}"));
    println!(
        "{:24} {:>10.1} {:>5.2} {:>9} {:>8.3} {:>7} {:>7}",
        row.measure,
        row.us_per_pair,
        row.max_distance,
        row.clusters,
        row.mean_similarity,
        rate(row.ari),
        rate(row.f)
    );
    Ok(())
}
