//! Labelled pages prepared for learning: features, labels and weights of their lines.
//!
//! A page of a site with many pages counts less, and so does one of a set with many. Text that the page does not contain
//! teaches nothing of its lines. Of the many lines that are not text a sample represents all.

use std::collections::HashMap;

use taojin_extract::learn::{CELLS, Prepared, TYPES};
use taojin_extract::page::{Hints, Page};
use taojin_uri::CrawlUri;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::super::corpus::{EvalError, Gold, GoldComment, Set};
use super::boost::Examples;
use super::labels::{self, Numbering};
use super::sites::find_site;

/// Parts that sites are divided into for cross-fitting.
pub(super) const FOLDS: usize = 5;
/// Longest page read, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Tokens added to those of a line and of a text, so that short ones count too; a long text counts as much as one of
/// so many tokens.
const LINE_TOKENS: f32 = 4.0;
const TEXT_TOKENS: f32 = 150.0;
const MOST_TOKENS: f32 = 3_000.0;
/// Pages from which a site's pages count as this many: it has one template.
const PAGES_OF_SITE: f32 = 12.0;
/// Pages from which a set's pages count as this many: its gold has one handwriting.
const PAGES_OF_SET: f32 = 200.0;
/// Share of the gold's tokens that the lines of a page must hold.
const COVERED: f32 = 0.5;
/// Lines that are not text and are learned from, of one page; where there are more, every second, third … counts for all.
const OTHER_LINES: usize = 120;

pub(super) type FeatureRow = [f32; CELLS];

/// A labelled page.
pub(super) struct Labelled {
    pub page: Page,
    pub prepared: Prepared,
    /// Features of the lines alone.
    pub rows: Vec<FeatureRow>,
    /// Lines that are learned from, how far each is text, and how much it counts; empty without gold text.
    pub sample: Vec<usize>,
    labels: Vec<f32>,
    weights: Vec<f32>,
    /// Features of the page without its URL.
    pub nameless: FeatureRow,
    /// Number of its type.
    pub kind: Option<usize>,
    pub weight: f32,
    pub fold: usize,
    pub site: String,
    pub set: String,
    pub id: String,
    /// Of its bytes and labels.
    pub hash: u64,
    /// The set may be learned from.
    pub learned: bool,
}

/// All pages of `sets`; with `licensed` those of sets without a licence are only judged.
pub(super) fn load_labelled(sets: &[Set], licensed: bool) -> Result<Vec<Labelled>, EvalError> {
    let mut pages = Vec::new();
    for set in sets {
        let learned = !licensed || set.about().is_licensed();
        for gold in set.gold()? {
            let gold = gold?;
            if let Ok(html) = set.html(&gold.id, MAX_BYTES) {
                let page = Labelled::prepare(&set.name, &gold, &html);
                pages.push(Labelled { learned, ..page });
            }
        }
    }
    weigh(&mut pages, |page| page.site.clone(), PAGES_OF_SITE);
    weigh(&mut pages, |page| page.set.clone(), PAGES_OF_SET);
    Ok(pages)
}

/// Pages of one group count together as `most` at most.
fn weigh(pages: &mut [Labelled], group: impl Fn(&Labelled) -> String, most: f32) {
    let mut sums: HashMap<String, f32> = HashMap::new();
    for page in pages.iter() {
        *sums.entry(group(page)).or_default() += page.weight;
    }
    for page in pages {
        let sum = sums[&group(page)];
        page.weight *= sum.min(most) / sum;
    }
}

impl Labelled {
    fn prepare(set: &str, gold: &Gold, html: &[u8]) -> Self {
        let parsed = |url| {
            let limits = Hints::default();
            Page::parse(html, Hints { url, ..limits })
        };
        let page = parsed(gold.url.as_deref().and_then(|u| CrawlUri::parse(u).ok()));
        let prepared = Prepared::new(&page);
        let nameless = match page.url {
            Some(_) => *Prepared::new(&parsed(None)).page(),
            None => *prepared.page(),
        };
        let site = find_site(set, gold, &page);
        let kind = kind(set, gold);
        let mut labelled = Self {
            rows: prepared.first(&page),
            sample: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            nameless,
            kind,
            weight: 1.0,
            fold: (xxh3_64(site.as_bytes()) % FOLDS as u64) as usize,
            site,
            set: set.to_owned(),
            id: gold.id.clone(),
            hash: hash(gold, html),
            learned: true,
            prepared,
            page,
        };
        labelled.label(&text(gold, kind));
        labelled
    }

    /// Labels the lines by the gold text, and chooses those to learn from.
    fn label(&mut self, text: &str) {
        let texts = self.prepared.texts(&self.page);
        let mut numbering = Numbering::default();
        let lines: Vec<Vec<u32>> = texts.iter().map(|t| numbering.number_tokens(t)).collect();
        let gold = text.lines().map(|t| numbering.number_tokens(t));
        let gold: Vec<Vec<u32>> = gold.filter(|l| !l.is_empty()).collect();
        let labels = labels::labels(&lines, &gold);
        let tokens = gold.iter().map(Vec::len).sum::<usize>() as f32;
        let held = lines.iter().zip(&labels).map(|(l, y)| l.len() as f32 * y);
        if tokens == 0.0 || held.sum::<f32>() < COVERED * tokens {
            return;
        }
        let whole = (tokens + TEXT_TOKENS).min(MOST_TOKENS);
        let is_other = |(i, label): &(usize, &f32)| **label == 0.0 && self.prepared.is_judged(*i);
        let others = labels.iter().enumerate().filter(is_other).count();
        let step = others.div_ceil(OTHER_LINES).max(1);
        let mut other = 0;
        // What is ruled out is never judged, so there is nothing to learn from it.
        let judged = lines.iter().enumerate();
        for (i, line) in judged.filter(|(i, _)| self.prepared.is_judged(*i)) {
            let mut weight = (line.len() as f32 + LINE_TOKENS) / whole;
            if labels[i] == 0.0 {
                other += 1;
                if other % step != 0 {
                    continue;
                }
                weight *= step as f32;
            }
            self.sample.push(i);
            self.labels.push(labels[i]);
            self.weights.push(weight);
        }
    }

    /// True if lines of it are learned from.
    pub(super) fn has_text(&self) -> bool {
        !self.sample.is_empty()
    }

    /// Adds labels and weights of its sample.
    pub(super) fn tell(&self, examples: &mut Examples<'_>) {
        examples.labels.extend(&self.labels);
        let weights = self.weights.iter().map(|w| w * self.weight);
        examples.weights.extend(weights);
    }
}

/// The text to learn from; the posts of a thread are its text, however the gold parts them.
fn text(gold: &Gold, kind: Option<usize>) -> String {
    let mut text = gold.text.clone().unwrap_or_default();
    let thread = kind.is_some_and(|k| TYPES[k] == "talk");
    let posts = gold.comments.iter().flatten().filter(|_| thread);
    for post in posts.map(GoldComment::text) {
        if !text.contains(post) {
            text.push('\n');
            text.push_str(post);
        }
    }
    text
}

fn hash(gold: &Gold, html: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(html);
    let fields = [&gold.url, &gold.text, &gold.page_type, &gold.cluster];
    for field in fields.into_iter().flatten().chain([&gold.id]) {
        hash.update(b"\0");
        hash.update(field.as_bytes());
    }
    hash.digest()
}

/// Number of the type that the gold names; a page with a headline and a text, but no type, is an article unless it is
/// of a set of threads.
fn kind(set: &str, gold: &Gold) -> Option<usize> {
    let name = match gold.page_type.as_deref() {
        Some("forum" | "talk" | "thread") => "talk",
        Some("documentation") => "reference",
        Some("product" | "collection") => "shop",
        Some("listing" | "hub" | "list") => "list",
        Some(other) => other,
        None if set.contains("forum") || set.contains("comments") => "talk",
        None if gold.text.as_ref().is_some_and(|t| !t.is_empty()) => "article",
        None => return None,
    };
    TYPES.iter().position(|t| *t == name)
}
