//! The extractors of the papers as they are written, side by side with ours, on labelled pages. A [`PaperReport`] has the mean
//! page F1 of each [`Extractor`] on each set, and on the picture news that were judged by hand.
//!
//! They see what a parser of 2013 sees: every text below the body, hidden or not, counted in characters and sentence marks.

mod fusion;
mod path_texts;
mod picture_news;
mod second_pass;

use serde::Serialize;

use super::scores::{has_content, round, score_text};
use super::{EvalError, Extraction, PageFilter, Set};
use path_texts::{PathTexts, cut};
use picture_news::PictureNews;
pub use second_pass::{BadLinkLimit, LinkLimit, SecondPass};
use taojin_extract::page::Page;
use taojin_extract::{Config, Method, extract_with};

/// Name of the row of the picture news.
const PICTURE_NEWS: &str = "picture_news";
/// Name of the row of all sets.
const ALL: &str = "(all)";
/// The first column is at least this wide.
const NAME: usize = 18;

/// A way to find the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extractor {
    /// Wu et al., CIKM 2013: the extended ratio as printed, smoothed, above the threshold.
    Cepr,
    /// Wu et al., Journal of Software 27(3), 2016: fused features of tag paths in its place.
    Cepf,
    /// Wang Du et al. 2018, algorithm 2: the first, and a second pass where its result is no text.
    SecondPass,
    /// Ours, the path ratios alone.
    Ratio,
    /// Ours.
    Model,
}

/// The columns with their headings.
const EXTRACTORS: [(Extractor, &str); 5] = [
    (Extractor::Cepr, "CEPR"),
    (Extractor::Cepf, "CEPF"),
    (Extractor::SecondPass, "algorithm 2"),
    (Extractor::Ratio, "ratio"),
    (Extractor::Model, "model"),
];

/// Mean page F1 of the extractors on the pages of a set that have a text.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PaperRow {
    /// The set, `picture_news`, or `(all)`.
    pub set: String,
    /// Pages.
    pub texts: u32,
    /// CEPR.
    pub cepr: f64,
    /// CEPF.
    pub cepf: f64,
    /// Algorithm 2.
    pub algorithm_2: f64,
    /// The path ratios.
    pub ratio: f64,
    /// The models.
    pub model: f64,
}

/// All sets, the picture news among them, all pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PaperReport {
    /// What algorithm 2 asked of a result.
    #[serde(flatten)]
    pub second_pass: SecondPass,
    /// A row a set, then those of the picture news, if there are any, and of all pages.
    pub rows: Vec<PaperRow>,
}

/// F1 of each page, added up.
#[derive(Debug, Default)]
struct Sum {
    texts: u32,
    f1: [f64; EXTRACTORS.len()],
}

impl Sum {
    fn add(&mut self, gold: &str, texts: &[String; EXTRACTORS.len()]) {
        self.texts += 1;
        for (sum, text) in self.f1.iter_mut().zip(texts) {
            *sum += score_text(gold, text).f1();
        }
    }

    fn row(&self, set: &str) -> PaperRow {
        let [cepr, cepf, algorithm_2, ratio, model] =
            self.f1.map(|sum| round(sum / f64::from(self.texts.max(1))));
        PaperRow {
            set: set.to_owned(),
            texts: self.texts,
            cepr,
            cepf,
            algorithm_2,
            ratio,
            model,
        }
    }
}

/// Judges the texts of all extractors; `seen` is called after each page. A page that cannot be read counts as empty.
pub fn compare_papers(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    second_pass: SecondPass,
    mut seen: impl FnMut(),
) -> Result<PaperReport, EvalError> {
    let (mut all, mut pictures, mut rows) = (Sum::default(), Sum::default(), Vec::new());
    let picture_news = PictureNews::read();
    for set in sets {
        let mut sum = Sum::default();
        for gold in set.gold()? {
            let gold = gold?;
            if !choice.includes(&gold) {
                continue;
            }
            seen();
            let Some(text) = has_content(&gold.text) else {
                continue;
            };
            let page = extraction.saved_page(set, &gold);
            let texts = page.as_ref().map(|page| {
                EXTRACTORS.map(|(method, _)| extract_text(method, page, extraction, second_pass))
            });
            let texts = texts.unwrap_or_default();
            sum.add(text, &texts);
            all.add(text, &texts);
            if let Some(judged) = picture_news.find(&set.name, &gold.id) {
                pictures.add(&judged.correct(text, page.as_ref()), &texts);
            }
        }
        if sum.texts > 0 {
            rows.push(sum.row(&set.name));
        }
    }
    if pictures.texts > 0 {
        rows.push(pictures.row(PICTURE_NEWS));
    }
    rows.push(all.row(ALL));
    Ok(PaperReport { second_pass, rows })
}

/// The text of a page by one of them.
fn extract_text(
    method: Extractor,
    page: &Page,
    extraction: &Extraction,
    second_pass: SecondPass,
) -> String {
    let ours = |method: Method| {
        let config = Config {
            method,
            ..extraction.extract.clone()
        };
        extract_with(page, &extraction.context(), &config).text
    };
    let texts = || PathTexts::read(page);
    match method {
        Extractor::Cepr => {
            let texts = texts();
            texts.join(&cut(
                &texts.scores(|path| texts.counts(path).etpr_as_printed())
            ))
        }
        Extractor::Cepf => {
            let texts = texts();
            texts.join(&cut(&fusion::scores(&texts)))
        }
        Extractor::SecondPass => {
            let texts = texts();
            texts.join(&second_pass.extract(&texts))
        }
        Extractor::Ratio => ours(Method::Ratio),
        Extractor::Model => ours(Method::Model),
    }
}

/// The report in lines.
pub fn format_papers(report: &PaperReport) -> Vec<String> {
    let names = report.rows.iter().map(|row| row.set.chars().count() + 2);
    let width = names.max().unwrap_or(0).max(NAME);
    let headings = EXTRACTORS.map(|(_, name)| format!(" {name:>11}"));
    let SecondPass { alpha, beta } = report.second_pass;
    let mut lines = vec![
        format!("page F1; algorithm 2: more than {alpha} sentence marks, links below {beta}"),
        format!("{:width$} {:>5}{}", "set", "texts", headings.concat()),
    ];
    lines.extend(report.rows.iter().map(|row| {
        let cells = [row.cepr, row.cepf, row.algorithm_2, row.ratio, row.model];
        let cells = cells.map(|f1| format!(" {f1:>11.4}")).concat();
        format!("{:width$} {:>5}{cells}", row.set, row.texts)
    }));
    lines
}
