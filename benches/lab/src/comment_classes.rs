//! Comment finders by class of site, and their time by size of page: the third experiment of Zhu et al. (2013). In: labelled pages. Out:
//! two tables.
//!
//! Next to the paper's measure stands its rival that weighs tags, here the weighted tag similarity, in the same search for siblings, and
//! the extraction. A class without gold comments is judged by how often blocks are found where there are hardly any. Time is that of the
//! search alone, not of parsing.

use std::collections::BTreeMap;

use taojin_eval::{Extraction, Gold, PageFilter, Set};
use taojin_extract::comments;
use taojin_extract::page::{Attr, NodeId, Page};

use crate::comment_measures::{LEAST, LEVEL, OURS, Sums, THRESHOLDS, text_of};
use crate::cpu_time;
use crate::siblings::Siblings;
use crate::similarity::{Measure, Mode};

/// The paper's measure and its rival.
const MEASURES: [(&str, Measure); 2] = [
    ("POL", Measure::Pol(Mode::Fixed)),
    ("tag weights", Measure::WeightedTag(Mode::Fixed)),
];
/// The paper's threshold, in hundredths.
const PAPER: u32 = 80;
/// Upper bounds of the sizes of pages, in nodes.
const SIZES: [usize; 5] = [500, 1_000, 2_000, 4_000, usize::MAX];
/// Parts of the addresses of blogs.
const BLOGS: [&str; 7] = [
    "blog",
    "wordpress.",
    "medium.com",
    "substack.",
    "typepad.",
    "tumblr.",
    "livejournal.",
];
/// Sets of threads and of news.
const FORUMS: [&str; 3] = ["magichtml_forum", "zh_comments", "forum_harvest"];
const NEWS: [&str; 5] = [
    "zh_gne",
    "zh_163_gbk",
    "bbc_news",
    "crw_news_2023",
    "id_crf_news",
];
/// Beginnings of the names of templates of shops.
const SHOPS: [&str; 3] = ["auto", "book", "camera"];

/// The class of a page's site, as the paper has them; `None` if the labels do not tell.
pub(crate) fn class_of(set: &str, gold: &Gold) -> Option<&'static str> {
    let url = gold.url.as_deref().unwrap_or_default();
    let template = gold.cluster.as_deref().unwrap_or_default();
    let is_of = |sets: &[&str]| sets.contains(&set);
    match gold.page_type.as_deref() {
        Some("forum") => return Some("forum"),
        Some("product") => return Some("shop"),
        _ if is_of(&FORUMS) => return Some("forum"),
        _ => {}
    }
    let is_shop = set == "swde" && SHOPS.iter().any(|shop| template.starts_with(shop));
    if is_shop {
        Some("shop")
    } else if is_of(&NEWS) {
        Some("news")
    } else {
        BLOGS
            .iter()
            .any(|part| url.contains(part))
            .then_some("blog")
    }
}

/// Pages of a size and the processor time that each finder took on them, in nanoseconds.
#[derive(Default)]
struct SizeTimes {
    pages: u64,
    nodes: u64,
    ns: BTreeMap<&'static str, u64>,
}

/// What is summed over the pages of all sets.
#[derive(Default)]
struct Totals {
    classes: BTreeMap<(&'static str, &'static str, u32), Sums>,
    sizes: BTreeMap<usize, SizeTimes>,
}

/// Prints both tables.
pub(crate) fn run(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
) -> anyhow::Result<()> {
    let mut totals = Totals::default();
    for set in sets {
        for gold in set.gold()? {
            let gold = gold?;
            let Some(class) = class_of(&set.name, &gold).filter(|_| choice.includes(&gold)) else {
                continue;
            };
            if let Some(page) = extraction.saved_page(set, &gold) {
                totals.add_page(&page, class, &gold, extraction);
            }
        }
    }
    totals.print_classes();
    totals.print_sizes();
    Ok(())
}

impl Totals {
    fn add_page(&mut self, page: &Page, class: &'static str, gold: &Gold, extraction: &Extraction) {
        let document =
            taojin_extract::extract_with(page, &extraction.context(), &extraction.extract);
        let texts: Vec<String> = document.comments.into_iter().map(|c| c.text).collect();
        let sums = self.classes.entry((class, OURS, PAPER)).or_default();
        sums.add(gold, &texts);
        let nodes = page.nodes().len();
        let size = SIZES
            .into_iter()
            .find(|size| nodes <= *size)
            .unwrap_or(usize::MAX);
        let times = self.sizes.entry(size).or_default();
        times.pages += 1;
        times.nodes += nodes as u64;
        let marked = named_comments(page);
        let (_, ns) = timed(|| comments::find(page, &marked));
        *times.ns.entry(OURS).or_default() += ns;
        for (name, measure) in MEASURES {
            let ((siblings, _), ns) = timed(|| {
                let siblings = Siblings::of(page, measure, LEVEL, LEAST);
                let found = siblings.above(f64::from(PAPER) / 100.0).len();
                (siblings, found)
            });
            *times.ns.entry(name).or_default() += ns;
            for alike in THRESHOLDS {
                let blocks = siblings.above(f64::from(alike) / 100.0);
                let texts: Vec<String> = blocks.iter().map(|b| text_of(page, *b)).collect();
                let sums = self.classes.entry((class, name, alike)).or_default();
                sums.add(gold, &texts);
            }
        }
    }

    /// Each finder at the paper's threshold, and the best F1 at any.
    fn print_classes(&self) {
        println!(
            "| class | finder | pages | with blocks | precision | recall | F1 | best F1 (at) |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for ((class, finder, _), sums) in self.classes.iter().filter(|(key, _)| key.2 == PAPER) {
            let row = sums.row(class, finder, PAPER);
            let others = self.classes.iter();
            let others =
                others.filter(|((c, f, _), _)| c == class && f == finder && *finder != OURS);
            let f1s = others.filter_map(|((_, _, alike), sums)| {
                Some((sums.row(class, finder, *alike).comments?[2], *alike))
            });
            let best = f1s.max_by(|a, b| a.0.total_cmp(&b.0));
            let best = best.map(|(f1, alike)| format!("{f1:.3} (.{alike})"));
            let [p, r, f1] = match row.comments {
                Some(rates) => rates.map(|rate| format!("{rate:.3}")),
                None => ["–"; 3].map(str::to_owned),
            };
            let (pages, share) = (row.pages, row.with_blocks);
            let best = best.unwrap_or_else(|| "–".to_owned());
            println!("| {class} | {finder} | {pages} | {share:.2} | {p} | {r} | {f1} | {best} |");
        }
    }

    fn print_sizes(&self) {
        println!("\n| nodes | pages | mean nodes | {OURS} ms | POL ms | tag weights ms |");
        println!("|---|---|---|---|---|---|");
        for (size, times) in &self.sizes {
            let mean = |name: &str| {
                let ns = times.ns.get(name).copied().unwrap_or_default();
                ns as f64 / 1e6 / times.pages as f64
            };
            let bound = match *size {
                usize::MAX => "more".to_owned(),
                size => format!("up to {size}"),
            };
            let [ours, pol, weights] = [OURS, MEASURES[0].0, MEASURES[1].0].map(mean);
            let (pages, nodes) = (times.pages, times.nodes / times.pages);
            println!("| {bound} | {pages} | {nodes} | {ours:.2} | {pol:.2} | {weights:.2} |");
        }
    }
}

/// The elements whose class or id speaks of comments.
fn named_comments(page: &Page) -> Vec<NodeId> {
    let ids = 0..page.nodes().len() as NodeId;
    let is_named = |id: &NodeId| {
        let names = [Attr::Class, Attr::Id].into_iter();
        let mut names = names.filter_map(|attr| page.attr(*id, attr));
        names.any(|name| name.contains("comment") || name.contains("reply"))
    };
    ids.filter(is_named).collect()
}

/// What a search finds, and the nanoseconds of processor time that it takes.
fn timed<T>(search: impl FnOnce() -> T) -> (T, u64) {
    let from = cpu_time::thread_ns();
    let found = std::hint::black_box(search());
    (found, cpu_time::thread_ns().saturating_sub(from))
}
