//! Evaluates named fields by templates on pages whose gold has `fields`: for each site, F1 of each field on pages that the
//! template was not learned from. A template never sees the gold; a name is set once, on one page, like a person who clicks
//! a value there.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::corpus::{EvalError, Gold, GoldField, Set};
use super::halves::PreparedPage;
use super::scores::round;
use super::tokens::harmonic_mean;
use super::{Extracted, Extraction, PageFilter};
use taojin_extract as extract;
use taojin_extract::template::{self, Guide, Observation, Template, collect_slot_texts};

/// Pages learned from: of large sites so many, of others all but a few, at least as many.
const LEARNED: usize = 20;
const FEWEST: usize = 5;
/// What the choice among several places with the same value counts: how much of the value a slot has, whether a label
/// is before it, and how much its contents differ from page to page. Added to them, the share of the pages that have it.
const RIGHT: f64 = 2.0;
const LABELLED: f64 = 0.2;
const VARIED: f64 = 0.3;

/// One site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldRow {
    /// Set of its pages.
    pub set: String,
    /// The `cluster` of its gold.
    pub site: String,
    /// Pages learned from.
    pub learned_from: usize,
    /// Pages judged.
    pub judged: usize,
    /// Mean F1 of its fields.
    pub mean: f64,
    /// F1 of each field over the pages.
    pub fields: BTreeMap<String, f64>,
}

/// Judges every site of the chosen sets whose gold names fields. `each` takes every judged page with what it gives.
pub fn evaluate_fields(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    config: &template::Config,
    mut each: impl FnMut(Extracted<'_>, &BTreeMap<String, Vec<String>>) -> std::io::Result<()>,
) -> Result<Vec<FieldRow>, EvalError> {
    let mut rows = Vec::new();
    for set in sets {
        let mut sites: BTreeMap<String, Vec<Gold>> = BTreeMap::new();
        for gold in set.gold()? {
            let gold = gold?;
            if choice.includes(&gold) && !gold.fields.is_empty() {
                let site = gold.cluster.clone().unwrap_or_else(|| set.name.clone());
                sites.entry(site).or_default().push(gold);
            }
        }
        for (site, mut pages) in sites {
            pages.sort_by(|a, b| a.id.cmp(&b.id));
            let count = if pages.len() >= LEARNED + FEWEST {
                LEARNED
            } else {
                pages.len().saturating_sub(FEWEST).max(FEWEST)
            };
            let prepared = PreparedPage::all(set, &pages, extraction);
            if prepared.len() <= count {
                continue;
            }
            let (learned, judged) = prepared.split_at(count);
            let template = learn_named(learned, config);
            let mut scores: BTreeMap<String, Score> = BTreeMap::new();
            for page in judged {
                let found = template
                    .as_ref()
                    .map(|template| gold_values(template, page))
                    .unwrap_or_default();
                for (name, gold) in &page.gold.fields {
                    let own = found.get(name).map_or(&[][..], Vec::as_slice);
                    scores.entry(name.clone()).or_default().add(own, gold);
                }
                let guide = template
                    .as_ref()
                    .map(|template| Guide::new(template, &page.keys, &page.page));
                let document = extract::extract_guided(
                    &page.page,
                    &extraction.context(),
                    &extraction.extract,
                    guide.as_ref(),
                );
                let extracted = Extracted {
                    set,
                    gold: page.gold,
                    document: Ok(&document),
                };
                each(extracted, &found).map_err(|source| EvalError::Write {
                    file: set.html_path(&page.gold.id),
                    source,
                })?;
            }
            let fields: BTreeMap<String, f64> = scores
                .into_iter()
                .map(|(name, score)| (name, score.f1()))
                .collect();
            rows.push(FieldRow {
                set: set.name.clone(),
                site,
                learned_from: learned.len(),
                judged: judged.len(),
                mean: round(fields.values().sum::<f64>() / fields.len().max(1) as f64),
                fields: fields
                    .into_iter()
                    .map(|(name, f1)| (name, round(f1)))
                    .collect(),
            });
        }
    }
    Ok(rows)
}

/// The template of some pages, the slots named by the gold of the first.
fn learn_named(pages: &[PreparedPage<'_>], config: &template::Config) -> Option<Template> {
    let seen: Vec<Observation> = pages.iter().map(|page| page.seen.clone()).collect();
    let first = pages.first()?;
    let learned = template::learn(&seen, config);
    let number = learned.template_of.first().copied().flatten()?;
    let mut template = learned.templates.into_iter().nth(number)?;
    for slot in &mut template.slots {
        slot.name = None;
    }
    let tokens = &first.keys.sequence;
    let equals = |gold: &GoldField, text: &str| {
        let items: HashSet<String> = gold.texts().iter().map(|text| strip_space(text)).collect();
        let parts = || split(text).into_iter().any(|part| items.contains(&part));
        items.contains(&strip_space(text)) || (items.len() > 1 && parts())
    };
    // What is clicked is a value, though it may be the same on all pages.
    for gold in first.gold.fields.values() {
        for (at, node) in tokens.nodes.iter().enumerate() {
            if tokens.tokens[at].is_text() && equals(gold, first.page.text(*node)) {
                template.slot_at(&first.keys, at);
            }
        }
    }
    let contents: Vec<HashMap<u64, Vec<String>>> = pages
        .iter()
        .map(|page| slot_contents(&template, page))
        .collect();
    let mut chosen: Vec<(u64, &String)> = Vec::new();
    for (name, gold) in &first.gold.fields {
        let mut best: Option<(f64, u64)> = None;
        let mut keys: Vec<u64> = Vec::new();
        let alignment = template.nodes.align(&tokens.tokens, &tokens.layout);
        for (_, key, text) in collect_slot_texts(&alignment, tokens, &first.page) {
            if equals(gold, text) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            let of_slot = contents.iter().filter_map(|page| page.get(&key));
            let all = pages.len() as f64;
            let covered = of_slot.clone().count() as f64 / all;
            let different = of_slot.collect::<HashSet<_>>().len() as f64 / all;
            let slot = template.slots.iter().find(|slot| slot.key == key);
            let after = slot.and_then(|slot| template.nodes.nodes.get(slot.after));
            let own = contents[0].get(&key).map_or(&[][..], Vec::as_slice);
            let score = RIGHT * count_right(own, gold)
                + covered
                + VARIED * different
                + if after.is_some_and(template::TemplateNode::is_text) {
                    LABELLED
                } else {
                    0.0
                };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, key));
            }
        }
        chosen.extend(best.map(|(_, key)| (key, name)));
    }
    for (key, name) in chosen {
        template.name_slot(key, Some(name));
    }
    Some(template)
}

/// What is in each slot of a page.
fn slot_contents(template: &Template, page: &PreparedPage<'_>) -> HashMap<u64, Vec<String>> {
    let sequence = &page.keys.sequence;
    let alignment = template.nodes.align(&sequence.tokens, &sequence.layout);
    let mut contents: HashMap<u64, Vec<String>> = HashMap::new();
    for (_, key, text) in collect_slot_texts(&alignment, sequence, &page.page) {
        contents.entry(key).or_default().push(text.to_owned());
    }
    contents
}

/// Values of the named slots of a page.
fn gold_values(template: &Template, page: &PreparedPage<'_>) -> BTreeMap<String, Vec<String>> {
    let guide = Guide::new(template, &page.keys, &page.page);
    let values = guide.values(&page.page).into_iter();
    values.map(|value| (value.name, value.texts)).collect()
}

/// Right values, values found and values of the gold, over pages.
#[derive(Debug, Default)]
struct Score {
    right: f64,
    found: u32,
    gold: u32,
}

impl Score {
    fn add(&mut self, found: &[String], gold: &GoldField) {
        self.gold += 1;
        self.found += u32::from(!found.is_empty());
        self.right += count_right(found, gold);
    }

    /// Harmonic mean of precision and recall over pages, as SWDE counts (Hao et al., SIGIR 2011).
    fn f1(&self) -> f64 {
        let precision = self.right / f64::from(self.found.max(1));
        let recall = self.right / f64::from(self.gold.max(1));
        harmonic_mean(precision, recall)
    }
}

/// How right what was found is: 1 for the value, or one of several spellings; of a list, F1 over its items.
fn count_right(found: &[String], gold: &GoldField) -> f64 {
    let items: Vec<String> = gold.texts().iter().map(|text| strip_space(text)).collect();
    let own: Vec<String> = match found {
        [only] if items.len() > 1 && !items.contains(&strip_space(only)) => split(only),
        all => all.iter().map(|text| strip_space(text)).collect(),
    };
    let own: Vec<String> = own.into_iter().filter(|text| !text.is_empty()).collect();
    if own.is_empty() {
        return 0.0;
    }
    let is_one = matches!(&own[..], [only] if items.contains(only));
    if is_one || own.concat() == items.concat() {
        return 1.0;
    }
    let (own, items): (HashSet<_>, HashSet<_>) =
        (own.into_iter().collect(), items.into_iter().collect());
    2.0 * own.intersection(&items).count() as f64 / (own.len() + items.len()) as f64
}

/// A text without white space, case and signs around it.
fn strip_space(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect();
    text.trim_matches([':', '：', ';', '；', ',', '，'])
        .to_owned()
}

fn split(text: &str) -> Vec<String> {
    text.split([',', ';', '/', '、', '，', '；', '|'])
        .map(strip_space)
        .collect()
}

/// The sites as a table.
pub fn format_fields(rows: &[FieldRow]) -> Vec<String> {
    let width = rows
        .iter()
        .map(|row| row.set.len() + row.site.len() + 1)
        .max();
    let width = width.unwrap_or(0).max(20);
    let mut lines = vec![format!(
        "{:width$} {:>5} {:>6} {:>6}  fields",
        "site", "learn", "judged", "mean"
    )];
    for row in rows {
        let fields: Vec<String> = row
            .fields
            .iter()
            .map(|(name, f1)| format!("{name} {f1:.2}"))
            .collect();
        lines.push(format!(
            "{:width$} {:>5} {:>6} {:>6.3}  {}",
            format!("{}/{}", row.set, row.site),
            row.learned_from,
            row.judged,
            row.mean,
            fields.join("  ")
        ));
    }
    let mut sets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        sets.entry(&row.set).or_default().push(row.mean);
    }
    lines.extend(sets.into_iter().map(|(set, means)| {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        format!("{set}: mean over {} sites {mean:.3}", means.len())
    }));
    lines
}
