//! Measures of structure as finders of comments, as Zhu et al. (2013) compare them. In: labelled pages. Out: for each set,
//! measure and threshold how well the siblings that the measure calls alike are the comments of the page, and a drawing.
//! The same is told of the comments that the extraction finds. Never holds more than one page.
//!
//! A block is right when it holds nine tenths of the tokens of a comment of the gold that no other block stands for:
//! a block is the whole record with its name, time and buttons, so that the whole text is not compared.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use taojin_eval::{
    BODY_SHINGLE, Bag, EvalError, Extraction, Gold, Overlap, PageFilter, Set, TokenNumbers,
};
use taojin_extract::page::{NodeId, Page};

use crate::comment_classes;
use crate::measure_plot::measure_plot;
use crate::siblings::Siblings;
use crate::similarity::{Measure, Mode};

/// What the paper compares, with the form of its own measure that it prints and the mended one.
pub(crate) const MEASURES: [(&str, Measure); 6] = [
    ("POL", Measure::Pol(Mode::Fixed)),
    ("POL as printed", Measure::Pol(Mode::Literal)),
    ("ED", Measure::EditDistance(Mode::Literal)),
    ("STM", Measure::TreeMatching),
    ("LCS", Measure::Substring),
    ("MCT", Measure::CombinedTree),
];
/// Name of the comments of the extraction in the table.
pub(crate) const OURS: &str = "extraction";
/// The paper's level and fewest comments.
pub(crate) const LEVEL: usize = 6;
pub(crate) const LEAST: usize = 5;
/// Thresholds in hundredths.
pub(crate) const THRESHOLDS: [u32; 10] = [50, 55, 60, 65, 70, 75, 80, 85, 90, 95];
/// Share of a comment's tokens that its block must hold.
const HELD: f64 = 0.9;

/// Arguments of `comments`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory with SET/gold.jsonl and SET/html/ID.html
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Draw the curves as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Only this set (may be given several times)
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Print rows by class of site, and processor time by size of page, with a rival that weighs tags
    #[arg(long, conflicts_with = "plot")]
    classes: bool,
}

/// Prints the table and draws the curves.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let choice = PageFilter {
        sets: args.set.clone(),
        ..PageFilter::default()
    };
    let (sets, _) = taojin_eval::choose(&args.dir, &choice)?;
    if args.classes {
        return comment_classes::run(&sets, &choice, &crate::extraction());
    }
    let rows = comment_measures(&sets, &choice, &crate::extraction())?;
    if let Some(file) = &args.plot {
        std::fs::write(file, measure_plot(&rows))?;
    }
    for line in measure_lines(&rows) {
        println!("{line}");
    }
    Ok(())
}

/// A measure at a threshold on the pages of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MeasureRow {
    /// The set.
    pub(crate) set: String,
    /// The measure, or `extraction`.
    pub(crate) measure: &'static str,
    /// Similarity above which siblings are alike; none for the extraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alike: Option<f64>,
    /// Pages of the set.
    pub(crate) pages: u32,
    /// Share of them with blocks.
    pub(crate) with_blocks: f64,
    /// Precision, recall and F1 over all comments of the gold, if the set has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comments: Option<[f64; 3]>,
    /// Mean F1 of the text of the blocks against the main text, where the gold has one: for threads, whose text is posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<f64>,
}

/// Blocks of one measure and threshold over a set.
#[derive(Default)]
pub(crate) struct Sums {
    pages: u32,
    with_blocks: u32,
    comments: Overlap,
    texts: u32,
    text: f64,
}

/// Measures all pages of the sets.
pub(crate) fn comment_measures(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
) -> Result<Vec<MeasureRow>, EvalError> {
    let mut rows = Vec::new();
    for set in sets {
        let mut sums: HashMap<(&'static str, u32), Sums> = HashMap::new();
        for gold in set.gold()? {
            let gold = gold?;
            if !choice.includes(&gold) {
                continue;
            }
            if let Some(page) = extraction.saved_page(set, &gold) {
                measure_page(&page, &gold, extraction, &mut sums);
            }
        }
        let found = order().filter_map(|key| Some((key, sums.get(&key)?)));
        rows.extend(found.map(|((measure, alike), sums)| sums.row(&set.name, measure, alike)));
    }
    Ok(rows)
}

/// Measures with thresholds in the order of the table; the extraction, which has none, first.
fn order() -> impl Iterator<Item = (&'static str, u32)> {
    let each = |(name, _): (&'static str, Measure)| THRESHOLDS.map(|alike| (name, alike));
    std::iter::once((OURS, 0)).chain(MEASURES.into_iter().flat_map(each))
}

fn measure_page(
    page: &Page,
    gold: &Gold,
    extraction: &Extraction,
    sums: &mut HashMap<(&'static str, u32), Sums>,
) {
    let document = taojin_extract::extract_with(page, &extraction.context(), &extraction.extract);
    let texts: Vec<String> = document.comments.into_iter().map(|c| c.text).collect();
    sums.entry((OURS, 0)).or_default().add(gold, &texts);
    for (name, measure) in MEASURES {
        let siblings = Siblings::of(page, measure, LEVEL, LEAST);
        let mut known: Option<(Vec<NodeId>, Vec<String>)> = None;
        for alike in THRESHOLDS {
            let blocks = siblings.above(f64::from(alike) / 100.0);
            let texts = match known.take() {
                Some((before, texts)) if before == blocks => texts,
                _ => blocks.iter().map(|b| text_of(page, *b)).collect(),
            };
            sums.entry((name, alike)).or_default().add(gold, &texts);
            known = Some((blocks, texts));
        }
    }
}

pub(crate) fn text_of(page: &Page, block: NodeId) -> String {
    let texts = page.shown_texts(page.subtree(block)).map(|t| page.text(t));
    texts.collect::<Vec<_>>().join(" ")
}

impl Sums {
    /// Adds the blocks of a page.
    pub(crate) fn add(&mut self, gold: &Gold, blocks: &[String]) {
        self.pages += 1;
        self.with_blocks += u32::from(!blocks.is_empty());
        if let Some(comments) = gold.comments.as_ref().filter(|c| !c.is_empty()) {
            let texts: Vec<&str> = comments.iter().map(|c| c.text()).collect();
            let right = held(&texts, blocks) as f64;
            self.comments.right += right;
            self.comments.extra += blocks.len() as f64 - right;
            self.comments.missed += comments.len() as f64 - right;
        }
        if let Some(text) = gold.text.as_deref().filter(|text| !text.is_empty()) {
            let all = blocks.join("\n");
            let mut numbers = TokenNumbers::default();
            let wanted = Bag::new(text, BODY_SHINGLE, &mut numbers);
            self.texts += 1;
            self.text += wanted
                .overlap(&Bag::new(&all, BODY_SHINGLE, &mut numbers))
                .f1();
        }
    }

    /// The row of a set or class.
    pub(crate) fn row(&self, set: &str, measure: &'static str, alike: u32) -> MeasureRow {
        let gold = self.comments.right + self.comments.missed;
        let (p, r, f1) = self.comments.rates();
        MeasureRow {
            set: set.to_owned(),
            measure,
            alike: (alike > 0).then(|| f64::from(alike) / 100.0),
            pages: self.pages,
            with_blocks: f64::from(self.with_blocks) / f64::from(self.pages.max(1)),
            comments: (gold > 0.0).then_some([p, r, f1]),
            text: (self.texts > 0).then(|| self.text / f64::from(self.texts)),
        }
    }
}

/// How many comments have a block of their own that holds them; of several the one that holds least besides.
fn held(comments: &[&str], blocks: &[String]) -> usize {
    let mut numbers = TokenNumbers::default();
    let of: Vec<Bag> = blocks
        .iter()
        .map(|b| Bag::new(b, 1, &mut numbers))
        .collect();
    let mut free = vec![true; of.len()];
    let mut count = 0;
    for comment in comments {
        let wanted = Bag::new(comment, 1, &mut numbers);
        let best = (0..of.len())
            .filter(|at| free[*at])
            .map(|at| (at, wanted.overlap(&of[at])))
            .filter(|(_, o)| o.right > 0.0 && o.right >= HELD * (o.right + o.missed))
            .max_by(|(a, x), (b, y)| x.f1().total_cmp(&y.f1()).then(b.cmp(a)));
        if let Some((at, _)) = best {
            free[at] = false;
            count += 1;
        }
    }
    count
}

/// The rows as a table.
pub(crate) fn measure_lines(rows: &[MeasureRow]) -> Vec<String> {
    let mut lines = vec![format!(
        "{:18} {:15} {:>5} {:>6} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "set", "measure", "alike", "pages", "blocks", "p", "r", "f1", "text"
    )];
    let rate = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
    for row in rows {
        lines.push(format!(
            "{:18} {:15} {:>5} {:>6} {:>7.3} {:>7} {:>7} {:>7} {:>7}",
            row.set,
            row.measure,
            row.alike.map_or("-".to_owned(), |a| format!("{a:.2}")),
            row.pages,
            row.with_blocks,
            rate(row.comments.map(|c| c[0])),
            rate(row.comments.map(|c| c[1])),
            rate(row.comments.map(|c| c[2])),
            rate(row.text),
        ));
    }
    lines
}
