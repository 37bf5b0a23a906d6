//! The measures of papers, side by side with what Taojin does. Not part of the product.
//!
//! ```text
//! cargo run --release -p taojin-lab -- compare DIR            # measures of structure on saved pages
//! cargo run --release -p taojin-lab -- comments CORPUS        # comments found by the similarity of siblings
//! cargo run --release -p taojin-lab -- prune CORPUS           # text found by pre-pruning and entropy
//! cargo run --release -p taojin-lab -- repeats DIR…           # repeated elements by a suffix tree
//! cargo run --release -p taojin-lab -- templates CORPUS       # clusters and templates over the threshold
//! cargo run --release -p taojin-lab -- bench --corpus CORPUS  # the tables of docs/similarity.md
//! ```

#![expect(clippy::print_stdout, reason = "reports for a person")]

mod agreement;
mod applying;
mod bench;
mod books;
mod chart;
mod comment_classes;
mod comment_measures;
mod compare;
mod costs;
#[path = "../../cpu_time/mod.rs"]
mod cpu_time;
mod data;
mod measure_plot;
mod medoids;
mod prune;
mod repeats;
mod rng;
mod siblings;
mod similarity;
mod templates;
#[cfg(test)]
mod tests;

use std::time::SystemTime;

use clap::Parser as _;
use taojin_eval::Extraction;

#[derive(Debug, clap::Parser)]
#[command(name = "taojin-lab", about)]
enum Command {
    /// Compare the measures of structure on saved pages
    Compare(compare::Args),
    /// Find comments by the similarity of siblings alone
    ///
    /// Each measure at each threshold, next to what the extraction finds, as Zhu et al. (2013) compare them.
    Comments(comment_measures::Args),
    /// Find texts by pre-pruning and entropy, with one path for each cluster of a set
    Prune(prune::Args),
    /// Find repeated elements by a suffix tree, as printed and mended, and count them by length
    Repeats(repeats::Args),
    /// Cluster pages and learn templates at several thresholds, by medoids and as the crawler does
    Templates(templates::Args),
    /// Measure agreement and processor time of all measures, and the cost of templates
    Bench(bench::Args),
}

/// The usual settings, with dates judged from today.
fn extraction() -> Extraction {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Extraction {
        now_ms: since.map_or(0, |since| since.as_millis() as i64),
        ..Extraction::default()
    }
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Compare(args) => compare::run(&args),
        Command::Comments(args) => comment_measures::run(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Repeats(args) => repeats::run(&args),
        Command::Templates(args) => templates::run(&args),
        Command::Bench(args) => {
            bench::run(&args);
            Ok(())
        }
    }
}
