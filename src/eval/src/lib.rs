//! Measures the quality of the extraction on directories of labelled pages. A [`Run`] has the score of each page, its
//! tables, and the difference to an earlier run. No network; one page in memory at a time.
//!
//! The daemon uses nothing of this crate. The extractors of papers are in `papers`, their other measures in `benches/lab`.

mod clock;
mod compare;
mod corpus;
mod fields;
mod halves;
mod learn;
mod papers;
mod scores;
mod splits;
mod structure;
mod table;
mod terms;
#[cfg(test)]
mod tests;
mod tokens;
mod unseen_table;

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use clock::ClockUnit;
pub use compare::{Difference, FieldChange, compare};
pub use corpus::{EvalError, Gold, GoldComment, Set, SetInfo};
pub use fields::{FieldRow, evaluate_fields, format_fields};
pub use halves::{Halves, LEAST_PAGES, compare_halves, format_halves};
pub use learn::{Unseen, learn};
pub use papers::{
    BadLinkLimit, LinkLimit, PaperReport, PaperRow, SecondPass, compare_papers, format_papers,
};
pub use scores::{CommentScore, PageScore, RateRow, Tally};
pub use splits::{Splits, compare_splits, format_splits};
pub use structure::{
    BlockRate, BlockType, GoldBlock, StructureRow, evaluate_structure, format_structure,
};
pub use table::{Report, SetReport, format_run, report};
pub use terms::{TermTable, rank_terms};
pub use tokens::{BODY_SHINGLE, Bag, Overlap, TokenNumbers, normalize_title, parse_day};
pub use unseen_table::{UnseenRow, compare_unseen, format_unseen};

use corpus::GoldLines;
use taojin_extract::page::{self, Hints, Page};
use taojin_extract::{self as extract, Document};
use taojin_uri::CrawlUri;

/// Version of the file of a saved run.
const RUN_VERSION: u32 = 1;

/// Which pages are judged, and what is kept of them.
#[derive(Debug, Clone, Default)]
pub struct PageFilter {
    /// Only these sets; all if empty.
    pub sets: Vec<String>,
    /// Only pages of this language.
    pub lang: Option<String>,
    /// Wrong titles and dates of each set that are kept to be shown.
    pub worst: usize,
}

/// How pages are extracted.
#[derive(Debug, Clone, Default)]
pub struct Extraction {
    /// The present, Unix milliseconds: relative times are resolved against it.
    pub now_ms: i64,
    /// Limits of a page.
    pub page: page::Config,
    /// Settings of the extraction.
    pub extract: extract::Config,
    /// For cross-validation: weights that have not seen the site of a page.
    pub unseen: Option<Unseen>,
}

/// A field that is not as the gold has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrongField {
    /// The page.
    pub id: String,
    /// `title` or `published`.
    pub field: &'static str,
    /// What was extracted.
    pub got: Option<String>,
    /// What the gold has.
    pub gold: String,
}

/// What came of all pages, in the order of sets and gold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Score of each page.
    pub pages: Vec<PageScore>,
    /// Wrong fields by set, as many as were requested.
    pub wrong: Vec<(String, WrongField)>,
    /// What the times count; `None` if nothing was extracted.
    pub unit: Option<ClockUnit>,
}

/// One page as soon as it is extracted.
#[derive(Debug, Clone, Copy)]
pub struct Extracted<'a> {
    /// Set of the page.
    pub set: &'a Set,
    /// What it should give.
    pub gold: &'a Gold,
    /// What it gives, or why it cannot be read.
    pub document: Result<&'a Document, &'a io::Error>,
}

/// The chosen sets of `dir`, and how many pages they have. Reads all gold, so that a broken line is reported at once.
pub fn choose(dir: &Path, choice: &PageFilter) -> Result<(Vec<Set>, usize), EvalError> {
    let mut sets = corpus::list_sets(dir)?;
    if let Some(name) = choice
        .sets
        .iter()
        .find(|name| sets.iter().all(|set| set.name != **name))
    {
        let known: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        return Err(EvalError::NoSuchSet {
            name: name.clone(),
            known: known.join(", "),
        });
    }
    sets.retain(|set| choice.sets.is_empty() || choice.sets.contains(&set.name));
    let mut pages = 0;
    for set in &sets {
        for gold in set.gold()? {
            pages += usize::from(choice.includes(&gold?));
        }
    }
    match &choice.lang {
        Some(lang) if pages == 0 => Err(EvalError::NoPageOfLanguage { lang: lang.clone() }),
        _ => Ok((sets, pages)),
    }
}

impl PageFilter {
    /// Whether a page is among the chosen ones; its set is not checked.
    pub fn includes(&self, gold: &Gold) -> bool {
        self.lang.is_none() || self.lang == gold.lang
    }
}

/// Extracts and judges the pages of `sets`, one after the other; `seen` gets each before it is forgotten.
pub fn run(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    mut seen: impl FnMut(Extracted<'_>) -> Result<(), EvalError>,
) -> Result<Run, EvalError> {
    let mut run = Run::default();
    for set in sets {
        let hubs = is_hub_set(set)?;
        let mut wrong = WrongFields::up_to(choice.worst);
        for gold in set.gold()? {
            let gold = gold?;
            if !choice.includes(&gold) {
                continue;
            }
            let read = set.html(&gold.id, extraction.page.max_decoded_bytes + 1);
            let extracted = read.map(|html| {
                let (document, ns, unit) = extraction.document(&html, &set.name, &gold);
                run.unit = Some(unit);
                (document, html.len() as u64, ns)
            });
            let document = extracted.as_ref().map(|(document, ..)| document);
            seen(Extracted {
                set,
                gold: &gold,
                document,
            })?;
            let mut score = PageScore::new(&set.name, &gold, document.ok(), hubs);
            if let Ok((document, bytes, ns)) = &extracted {
                (score.bytes, score.ns) = (*bytes, *ns);
                wrong.note(&gold, document, &score);
            }
            run.pages.push(score);
        }
        run.wrong
            .extend(wrong.kept.into_iter().map(|w| (set.name.clone(), w)));
    }
    Ok(run)
}

/// A set with labels that has no title, text or date at all holds lists.
fn is_hub_set(set: &Set) -> Result<bool, EvalError> {
    for gold in set.gold()? {
        if gold?.is_labelled() {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Extraction {
    /// What is known of every page besides its bytes.
    pub fn context(&self) -> extract::Context<'_> {
        extract::Context {
            now_ms: Some(self.now_ms),
            ..extract::Context::default()
        }
    }

    /// A page of a set; `None` when its file cannot be read.
    pub fn saved_page(&self, set: &Set, gold: &Gold) -> Option<Page> {
        let html = set.html(&gold.id, self.page.max_decoded_bytes + 1).ok()?;
        Some(Page::parse(&html, self.hints(gold.url.as_deref())))
    }

    fn hints(&self, url: Option<&str>) -> Hints {
        Hints {
            url: url.and_then(|url| CrawlUri::parse(url).ok()),
            charset: None,
            limits: self.page.clone(),
        }
    }

    /// The document of a page, the nanoseconds that it took, and what they count.
    fn document(&self, html: &[u8], set: &str, gold: &Gold) -> (Document, u64, ClockUnit) {
        let hints = self.hints(gold.url.as_deref());
        let context = extract::Context {
            weights: self.unseen.as_ref().and_then(|u| u.weights_for(set, gold)),
            ..self.context()
        };
        let span = clock::start();
        let page = Page::parse(html, hints);
        let document = extract::extract_with(&page, &context, &self.extract);
        let (ns, unit) = span.stop();
        (document, ns, unit)
    }
}

/// The first wrong fields of a set.
struct WrongFields {
    limit: usize,
    kept: Vec<WrongField>,
}

impl WrongFields {
    fn up_to(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
        }
    }

    fn note(&mut self, gold: &Gold, document: &Document, score: &PageScore) {
        let fields = [
            ("title", score.title, &document.title, &gold.title),
            (
                "published",
                score.date,
                &document.published,
                &gold.published,
            ),
        ];
        for (field, right, got, gold_value) in fields {
            let kept = self.kept.iter().filter(|w| w.field == field).count();
            if right == Some(false) && kept < self.limit {
                self.kept.push(WrongField {
                    id: gold.id.clone(),
                    field,
                    got: got.clone(),
                    gold: gold_value.clone().unwrap_or_default(),
                });
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct RunHeader {
    taojin_eval: u32,
}

impl Run {
    /// Writes the scores, one JSON object a line, so that a later run can be held against them.
    pub fn save(&self, file: &Path) -> Result<(), EvalError> {
        let write = || -> io::Result<()> {
            let mut out = io::BufWriter::new(std::fs::File::create(file)?);
            serde_json::to_writer(
                &mut out,
                &RunHeader {
                    taojin_eval: RUN_VERSION,
                },
            )?;
            out.write_all(b"\n")?;
            for page in &self.pages {
                serde_json::to_writer(&mut out, page)?;
                out.write_all(b"\n")?;
            }
            out.flush()
        };
        write().map_err(|source| EvalError::Write {
            file: file.to_owned(),
            source,
        })
    }

    /// Reads what [`Run::save`] wrote.
    pub fn load(file: &Path) -> Result<Self, EvalError> {
        let not_ours = || EvalError::BadLine {
            file: file.to_owned(),
            line: 1,
            why: "not a run that --save wrote".to_owned(),
        };
        let mut lines = GoldLines::open(file)?;
        let first = lines.next().ok_or_else(not_ours)??;
        match first.parse::<RunHeader>() {
            Ok(head) if head.taojin_eval == RUN_VERSION => {}
            Ok(head) => {
                let why = format!("saved by another version ({})", head.taojin_eval);
                return Err(first.fault(&why));
            }
            Err(_) => return Err(not_ours()),
        }
        let pages = lines
            .map(|line| line?.parse())
            .collect::<Result<_, EvalError>>()?;
        Ok(Self {
            pages,
            ..Self::default()
        })
    }
}
