//! Clusters and templates over the threshold of clustering, as table 6.5 of 丘骏鹏 (2013) has them: clustered as the thesis does, by
//! medoids (§4.3) over the weighted common subsequence of tags (§4.2.4) of pages whose repeats are merged (§3.3), as Taojin does by
//! average linkage over sets of paths, and with the linkage of one over the distances of the other. In: labelled pages of several
//! sites. Out: for each threshold the number of clusters, how well they agree with the sites, and the lengths of the essential and
//! optional nodes of their templates.

use std::path::{Path, PathBuf};

use taojin_eval::{PageFilter, evaluate_fields};
use taojin_extract::page::Page;
use taojin_extract::similarity::Skeleton;
use taojin_extract::template::cluster::{Distances, average_linkage, cut};
use taojin_extract::template::{
    Alternative, Config, Gap, KeySet, Keys, Observation, Template, Token, TokenKind, learn,
};

use crate::agreement::agreement;
use crate::data;
use crate::medoids::{cut_medoids, medoid_linkage};
use crate::repeats::merge;
use crate::similarity::{Labels, Measure, skeleton};

/// Arguments of `templates`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory with SET/gold.jsonl and SET/html/ID.html
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// The thresholds of table 6.5.
const THRESHOLDS: [f32; 4] = [0.3, 0.4, 0.5, 0.6];
/// The set whose named fields are judged.
const FIELDS: &str = "swde";

/// Prints the table.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (pages, classes): (Vec<Page>, Vec<usize>) = data::real_pages(&args.dir).into_iter().unzip();
    let observe = |page: &Page| Observation::new(page, &Keys::new(page), Vec::new());
    let seen: Vec<Observation> = pages.iter().map(observe).collect();
    let sequences: Vec<Skeleton> = pages.iter().map(merged_tags).collect();
    let lcs = Measure::WeightedLcs.distances(&sequences);
    let sets: Vec<KeySet> = seen.iter().map(Observation::key_set).collect();
    let paths = Distances::from_fn(sets.len(), |i, j| 1.0 - sets[i].similarity(&sets[j]));
    println!("{} pages", pages.len());
    println!(
        "{:20} {:>4} {:>8} {:>6} {:>6} {:>9} {:>7} {:>6} {:>7} {:>7}",
        "method", "cut", "clusters", "F", "ARI", "templates", "essent.", "opt.", "length", "fields"
    );
    let count = pages.len();
    for (name, distances) in [("thesis", &lcs), ("medoids of path sets", &paths)] {
        let merges = medoid_linkage(distances);
        for threshold in THRESHOLDS {
            let clusters = cut_medoids(count, &merges, threshold);
            print_row(name, threshold, &clusters, &classes, &seen, None);
        }
    }
    for (name, distances) in [("average of thesis", &lcs), ("taojin", &paths)] {
        let merges = average_linkage(distances.clone(), &vec![1; count]);
        for threshold in THRESHOLDS {
            let clusters = cut(count, &merges, threshold);
            let fields = if name == "taojin" {
                fields(&args.dir, threshold)?
            } else {
                None
            };
            print_row(name, threshold, &clusters, &classes, &seen, fields);
        }
    }
    Ok(())
}

/// The tags of a page as the thesis compares them: records that are like the one before them are left out.
fn merged_tags(page: &Page) -> Skeleton {
    let tree = skeleton(page, Labels::Tags);
    let token = |(label, depth): (&u64, &u16)| Token {
        name: *label,
        depth: *depth,
        kind: TokenKind::Block,
        label: 0,
    };
    let tokens: Vec<Token> = tree.labels().iter().zip(tree.depths()).map(token).collect();
    let kept = tokens.iter().zip(merge(&tokens));
    let kept = kept.filter(|(_, twin)| twin.is_none());
    Skeleton::from_depths(kept.map(|(token, _)| (token.name, token.depth)))
}

/// Mean F1 of the named fields with this threshold, if the set is there.
fn fields(dir: &Path, threshold: f32) -> anyhow::Result<Option<f64>> {
    let choice = PageFilter {
        sets: vec![FIELDS.to_owned()],
        ..PageFilter::default()
    };
    let Ok((sets, _)) = taojin_eval::choose(dir, &choice) else {
        return Ok(None);
    };
    let config = config(threshold);
    let rows = evaluate_fields(&sets, &choice, &crate::extraction(), &config, |_, _| Ok(()))?;
    let means: Vec<f64> = rows.iter().map(|row| row.mean).collect();
    Ok((!means.is_empty()).then(|| mean(&means)))
}

fn config(max_distance: f32) -> Config {
    Config {
        max_distance,
        ..Config::default()
    }
}

/// Lengths of a template, in elements.
#[derive(Default)]
struct Lengths {
    /// Of each run of essential nodes without a gap.
    essential: Vec<f64>,
    /// Of each gap: the sum of its alternatives by their shares of the pages.
    optional: Vec<f64>,
}

impl Lengths {
    fn new(template: &Template) -> Self {
        let nodes = &template.nodes;
        let mut gaps = nodes.gaps().iter().peekable();
        let mut lengths = Self::default();
        let mut run = 0.0;
        for (at, node) in nodes.nodes.iter().enumerate() {
            if gaps.next_if(|gap| gap.before <= at).is_some() && run > 0.0 {
                lengths.essential.push(run);
                run = 0.0;
            }
            if nodes.is_essential(node) && !node.is_text() {
                run += 1.0;
            }
        }
        lengths.essential.extend((run > 0.0).then_some(run));
        let gaps = nodes.gaps().iter();
        lengths
            .optional
            .extend(gaps.map(|gap| expected(template, gap, nodes.pages)));
        lengths
    }
}

/// Elements that a page of `pages` has in a gap, on average.
fn expected(template: &Template, gap: &Gap, pages: u32) -> f64 {
    let of = |alternative: &Alternative| {
        let nodes = alternative.nodes.iter();
        let elements = nodes.filter(|at| !template.nodes.nodes[**at].is_text());
        let within = alternative.gaps.iter();
        let within = within.map(|gap| expected(template, gap, alternative.pages));
        f64::from(alternative.share_of(pages)) * (elements.count() as f64 + within.sum::<f64>())
    };
    gap.alternatives.iter().map(of).sum()
}

fn print_row(
    method: &str,
    threshold: f32,
    clusters: &[usize],
    classes: &[usize],
    seen: &[Observation],
    fields: Option<f64>,
) {
    let (rand, f) = agreement(clusters, classes);
    let count = clusters.iter().max().map_or(0, |last| last + 1);
    let mut templates = 0;
    let mut lengths = Lengths::default();
    let mut whole = Vec::new();
    for cluster in 0..count {
        let own = clusters.iter().zip(seen).filter(|(of, _)| **of == cluster);
        let own: Vec<Observation> = own.map(|(_, seen)| seen.clone()).collect();
        // All pages of the cluster are of one template, whatever their distances.
        for template in learn(&own, &config(f32::MAX)).templates {
            let own = Lengths::new(&template);
            whole.push(own.essential.iter().chain(&own.optional).sum());
            lengths.essential.extend(own.essential);
            lengths.optional.extend(own.optional);
            templates += 1;
        }
    }
    let fields = fields.map_or_else(|| "-".to_owned(), |fields| format!("{fields:.3}"));
    println!(
        "{method:20} {threshold:>4.1} {count:>8} {f:>6.4} {rand:>6.4} {templates:>9} {:>7.2} {:>6.2} {:>7.1} {fields:>7}",
        mean(&lengths.essential),
        mean(&lengths.optional),
        mean(&whole),
    );
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
