//! Learns the weights of the extraction from labelled pages. In: sets of pages with gold. Out: the source of
//! `src/extract/src/classify/weights.rs`. Holds the features of all pages at once, unlike the rest of this stage; the same pages
//! always give the same table.
//!
//! Three tables: types of pages (logistic regression over classes), lines alone (logistic regression), lines together
//! (boosted trees). What the trees see of the first two is cross-fitted: it comes from weights that never saw the
//! page's site, or the trees would trust it too much.

mod boost;
mod labels;
mod linear;
mod table;

use taojin_extract::learn::{CELLS, DEPTH, MOST_KEPT, Names, Prepared, TYPES, Weights};
use taojin_extract::page::{Hints, Page};
use taojin_uri::CrawlUri;

use super::corpus::{EvalError, Gold, Set};
use boost::{Examples, Forest};
use labels::Numbering;
use linear::Classed;

/// Parts that sites are divided into for cross-fitting.
const FOLDS: usize = 5;
/// Longest page read, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Tokens added to those of a line and of a text, so that short ones count too; a long text counts as much as one of
/// so many tokens.
const LINE_TOKENS: f32 = 4.0;
const TEXT_TOKENS: f32 = 150.0;
const MOST_TOKENS: f32 = 3_000.0;
/// Pages from which a site's pages count as this many: it has one template.
const PAGES_OF_SITE: f32 = 12.0;

type Row = [f32; CELLS];

/// A labelled page while it is learned from.
struct Labelled {
    page: Page,
    prepared: Prepared,
    /// Features of the lines alone.
    rows: Vec<Row>,
    labels: Vec<f32>,
    /// How much each line counts; empty without gold text.
    weights: Vec<f32>,
    /// Number of its type.
    kind: Option<usize>,
    weight: f32,
    fold: usize,
    site: String,
}

/// The source of the table of weights learned from the pages of `sets`; `None` if no page has a gold text.
pub fn learn(sets: &[Set]) -> Result<Option<String>, EvalError> {
    let pages = labelled(sets)?;
    let Some(names) = names(&pages) else {
        return Ok(None);
    };
    let all: Vec<&Labelled> = pages.iter().collect();
    let weights = weights(&all, &names);
    Ok(Some(table::source(&weights, &names)))
}

/// Weights for cross-validation: for each part of the sites those that were learned from all other parts.
#[derive(Debug, Clone)]
pub struct Folds(Vec<Weights>);

impl Folds {
    /// Learns `count` tables, at least two; `seen` is told after each. `None` if the pages of the other sites have no
    /// text for one of them.
    pub fn learn(
        sets: &[Set],
        count: usize,
        mut seen: impl FnMut(),
    ) -> Result<Option<Self>, EvalError> {
        let pages = labelled(sets)?;
        let count = count.max(2);
        let mut folds = Vec::with_capacity(count);
        for fold in 0..count {
            let others = pages.iter().filter(|p| part(&p.site, count) != fold);
            let others: Vec<&Labelled> = others.collect();
            let Some(names) = names(others.iter().copied()) else {
                return Ok(None);
            };
            folds.push(weights(&others, &names));
            seen();
        }
        Ok(Some(Self(folds)))
    }

    /// The weights that have seen no page of this one's site.
    pub(super) fn of(&self, set: &str, gold: &Gold) -> &Weights {
        &self.0[part(&site_of(set, gold), self.0.len())]
    }
}

/// Part of a site in cross-validation; other parts than those of the cross-fitting inside.
fn part(site: &str, count: usize) -> usize {
    (xxhash_rust::xxh3::xxh3_64_with_seed(site.as_bytes(), 1) % count as u64) as usize
}

fn labelled(sets: &[Set]) -> Result<Vec<Labelled>, EvalError> {
    let mut pages = Vec::new();
    for set in sets {
        for gold in set.gold()? {
            let gold = gold?;
            if let Ok(html) = set.html(&gold.id, MAX_BYTES) {
                pages.push(Labelled::of(&set.name, &gold, &html));
            }
        }
    }
    weigh_sites(&mut pages);
    Ok(pages)
}

fn names<'a>(pages: impl IntoIterator<Item = &'a Labelled>) -> Option<Names> {
    let mut texts = pages.into_iter().filter(|p| !p.weights.is_empty());
    texts.find_map(|p| p.prepared.names(&p.page))
}

impl Labelled {
    fn of(set: &str, gold: &Gold, html: &[u8]) -> Self {
        let url = gold.url.as_deref().and_then(|u| CrawlUri::parse(u).ok());
        let site = site_of(set, gold);
        let hints = Hints {
            url,
            ..Hints::default()
        };
        let page = Page::parse(html, hints);
        let prepared = Prepared::of(&page);
        let text = gold.text.as_deref().unwrap_or_default();
        let texts = prepared.texts(&page);
        let mut numbering = Numbering::default();
        let lines: Vec<Vec<u32>> = texts.iter().map(|t| numbering.of(t)).collect();
        let gold_lines: Vec<Vec<u32>> = text
            .lines()
            .map(|t| numbering.of(t))
            .filter(|l| !l.is_empty())
            .collect();
        let tokens: usize = gold_lines.iter().map(Vec::len).sum();
        let whole = (tokens as f32 + TEXT_TOKENS).min(MOST_TOKENS);
        let weight = |line: &Vec<u32>| (line.len() as f32 + LINE_TOKENS) / whole;
        Self {
            rows: prepared.first(&page),
            labels: labels::labels(&lines, &gold_lines),
            weights: if tokens > 0 {
                lines.iter().map(weight).collect()
            } else {
                Vec::new()
            },
            kind: kind(set, gold),
            weight: 1.0,
            fold: (xxhash_rust::xxh3::xxh3_64(site.as_bytes()) % FOLDS as u64) as usize,
            site,
            prepared,
            page,
        }
    }
}

/// The registered domain of a page, whose pages stay together. Sets without addresses name pages of one site alike:
/// `163_1`, `de_Taz_2024_10_22_e34f9b`.
fn site_of(set: &str, gold: &Gold) -> String {
    let url = gold.url.as_deref().and_then(|u| CrawlUri::parse(u).ok());
    match url.as_ref().map(CrawlUri::host) {
        Some(host) => psl::domain_str(host).unwrap_or(host).to_owned(),
        None => {
            let name = gold.id.trim_end_matches(|c: char| !c.is_alphabetic());
            format!("{set}/{name}")
        }
    }
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

/// Many pages of one site count together as a few.
fn weigh_sites(pages: &mut [Labelled]) {
    let mut counts = std::collections::HashMap::new();
    for page in pages.iter() {
        *counts.entry(page.site.clone()).or_insert(0u32) += 1;
    }
    for page in pages {
        let n = counts[&page.site] as f32;
        page.weight = n.min(PAGES_OF_SITE) / n;
        page.weights.iter_mut().for_each(|w| *w *= page.weight);
    }
}

fn weights(pages: &[&Labelled], names: &Names) -> Weights {
    let (firsts, types) = (names.first.len(), names.page.len());
    let first = |fold: Option<usize>| {
        let mut examples = Examples::default();
        for page in pages
            .iter()
            .filter(|p| Some(p.fold) != fold && !p.weights.is_empty())
        {
            examples
                .rows
                .extend(page.rows.iter().filter_map(|r| r.get(..firsts)));
            examples.labels.extend(&page.labels);
            examples.weights.extend(&page.weights);
        }
        linear::weights(&examples, firsts)
    };
    let kinds = |fold: Option<usize>| {
        let of_page = |p: &'_ Labelled| -> Option<(usize, f32)> {
            (Some(p.fold) != fold).then_some(())?;
            Some((p.kind?, p.weight))
        };
        let classed: Vec<Classed<'_>> = pages
            .iter()
            .filter_map(|p| {
                let (class, weight) = of_page(p)?;
                let row = p.prepared.page().get(..types)?;
                Some(Classed { row, class, weight })
            })
            .collect();
        linear::classes(&classed, TYPES.len(), types)
    };
    let mut joint: Vec<Vec<f32>> = Vec::new();
    for fold in 0..FOLDS {
        let (weights, kinds) = (first(Some(fold)), kinds(Some(fold)));
        for page in pages
            .iter()
            .filter(|p| p.fold == fold && !p.weights.is_empty())
        {
            joint.extend(joint_rows(page, names, &weights, &kinds));
        }
    }
    let in_folds = (0..FOLDS).flat_map(|f| {
        pages
            .iter()
            .filter(move |p| p.fold == f && !p.weights.is_empty())
    });
    let mut examples = Examples {
        rows: joint.iter().map(Vec::as_slice).collect(),
        ..Examples::default()
    };
    for page in in_folds {
        examples.labels.extend(&page.labels);
        examples.weights.extend(&page.weights);
    }
    let (forest, kept) = forest(&examples, names.second.len() + TYPES.len());
    table::weights(names, &first(None), &kinds(None), &forest, &kept)
}

/// What the trees may ask of the lines of a page: second features, types, first features.
fn joint_rows(
    page: &Labelled,
    names: &Names,
    weights: &[f32],
    kinds: &[Vec<f32>],
) -> Vec<Vec<f32>> {
    let odds: Vec<f32> = page
        .rows
        .iter()
        .map(|row| row.iter().zip(weights).map(|(x, w)| x * w).sum())
        .collect();
    let types = page
        .prepared
        .page()
        .get(..names.page.len())
        .unwrap_or_default();
    let types = linear::shares(kinds.iter().map(Vec::as_slice), types);
    let second = page.prepared.second(&page.page, &odds);
    let rows = second.iter().zip(&page.rows);
    rows.map(|(second, first)| {
        let second = second.iter().take(names.second.len());
        let first = first.iter().take(names.first.len());
        second.chain(&types).chain(first).copied().collect()
    })
    .collect()
}

/// Trees that ask for few enough first features to be kept for every line: grown twice, the second time with the most
/// wanted alone. Their questions count first features from `before` in the order of the list.
fn forest(examples: &Examples<'_>, before: usize) -> (Forest, Vec<usize>) {
    let width = examples.rows.first().map_or(0, |r| r.len());
    let free = boost::grow(examples, DEPTH, &vec![true; width]);
    let mut wanted: Vec<(u32, usize)> = (before..width).map(|f| (0, f)).collect();
    for (feature, _) in free.trees.iter().flat_map(|t| &t.asks) {
        if let Some(entry) = feature
            .checked_sub(before)
            .and_then(|at| wanted.get_mut(at))
        {
            entry.0 += 1;
        }
    }
    wanted.sort_by_key(|(count, feature)| (std::cmp::Reverse(*count), *feature));
    let mut allowed: Vec<bool> = (0..width).map(|f| f < before).collect();
    for (_, feature) in wanted.iter().take(MOST_KEPT) {
        allowed[*feature] = true;
    }
    let mut forest = boost::grow(examples, DEPTH, &allowed);
    let asked = forest.trees.iter().flat_map(|t| &t.asks).map(|(f, _)| *f);
    let mut kept: Vec<usize> = asked.filter(|f| *f >= before).collect();
    kept.sort_unstable();
    kept.dedup();
    for (feature, _) in forest.trees.iter_mut().flat_map(|t| &mut t.asks) {
        if let Ok(at) = kept.binary_search(feature) {
            *feature = before + at;
        }
    }
    (forest, kept.into_iter().map(|f| f - before).collect())
}
