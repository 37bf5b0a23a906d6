//! Compares templates with the models alone: for each site, the scores of the second half of its pages without and with
//! templates learned from the first half. The learner never sees the gold.

use std::collections::BTreeMap;

use serde::Serialize;

use super::corpus::{EvalError, Gold, Set};
use super::scores::{PageScore, RateRow, Tally, round};
use super::{Extraction, PageFilter};
use taojin_extract::page::Page;
use taojin_extract::template::{self, Guide, Keys, Library, Observation};
use taojin_extract::{self as extract, Document};
use taojin_uri::CrawlUri;

/// Sites with fewer pages are skipped: half of them shows nothing.
pub const LEAST_PAGES: usize = 6;

/// One site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Halves {
    /// Set of its pages.
    pub set: String,
    /// Host, or the label of the gold.
    pub site: String,
    /// Pages learned from.
    pub learned_from: usize,
    /// Templates learned.
    pub templates: usize,
    /// Pages of the other half that have a template.
    pub assigned: usize,
    /// The models alone.
    pub ratio: RateRow,
    /// With templates.
    pub guided: RateRow,
    /// Pages whose text is worse with a template: name, F1 before and after.
    pub worse: Vec<(String, f64, f64)>,
    /// Pages whose text a template has emptied.
    pub lost: usize,
}

/// Judges every site of the chosen sets that has enough pages.
pub fn compare_halves(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    config: &template::Config,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Halves>, EvalError> {
    let mut all = Vec::new();
    group_by_site(sets, choice, |set, site, pages| {
        progress(site);
        let pages = PreparedPage::all(set, pages, extraction);
        all.push(compare_site(
            set,
            site,
            &pages,
            |n| n % 2 == 0,
            extraction,
            config,
        ));
    })?;
    Ok(all)
}

/// Calls with each site of the chosen sets that has enough pages.
pub(super) fn group_by_site(
    sets: &[Set],
    choice: &PageFilter,
    mut work: impl FnMut(&Set, &str, &[Gold]),
) -> Result<(), EvalError> {
    for set in sets {
        let mut sites: BTreeMap<String, Vec<Gold>> = BTreeMap::new();
        for gold in set.gold()? {
            let gold = gold?;
            if choice.includes(&gold) {
                sites.entry(site_of(&gold, set)).or_default().push(gold);
            }
        }
        for (site, pages) in sites {
            if pages.len() >= LEAST_PAGES {
                work(set, &site, &pages);
            }
        }
    }
    Ok(())
}

fn site_of(gold: &Gold, set: &Set) -> String {
    let host = gold
        .url
        .as_deref()
        .and_then(|url| CrawlUri::parse(url).ok());
    host.map(|uri| uri.host().to_owned())
        .or_else(|| gold.cluster.clone())
        .unwrap_or_else(|| set.name.clone())
}

/// A page of a site, read once for all splits.
pub(super) struct PreparedPage<'a> {
    pub(super) gold: &'a Gold,
    pub(super) page: Page,
    pub(super) keys: Keys,
    pub(super) seen: Observation,
    /// By the models alone.
    alone: Document,
}

impl<'a> PreparedPage<'a> {
    /// The pages of a site that can be read.
    pub(super) fn all(set: &Set, pages: &'a [Gold], extraction: &Extraction) -> Vec<Self> {
        let context = extraction.context();
        let prepared = |gold: &'a Gold| {
            let page = extraction.saved_page(set, gold)?;
            let keys = Keys::new(&page);
            let (alone, lines) = extract::observe(&page, &keys, &context, &extraction.extract);
            Some(Self {
                gold,
                seen: Observation::new(&page, &keys, lines),
                page,
                keys,
                alone,
            })
        };
        pages.iter().filter_map(prepared).collect()
    }
}

/// Learns from some pages of a site and judges the others.
pub(super) fn compare_site(
    set: &Set,
    site: &str,
    pages: &[PreparedPage<'_>],
    is_learned: impl Fn(usize) -> bool,
    extraction: &Extraction,
    config: &template::Config,
) -> Halves {
    let (first, second): (Vec<_>, Vec<_>) =
        pages.iter().enumerate().partition(|(n, _)| is_learned(*n));
    let seen: Vec<Observation> = first.iter().map(|(_, page)| page.seen.clone()).collect();
    let learned = template::learn(&seen, config);
    let mut halves = Halves {
        set: set.name.clone(),
        site: site.to_owned(),
        learned_from: seen.len(),
        templates: learned.templates.len(),
        assigned: 0,
        ratio: Tally::default().row(),
        guided: Tally::default().row(),
        worse: Vec::new(),
        lost: 0,
    };
    let numbered = learned.templates.into_iter().map(std::sync::Arc::new);
    let library = Library::new((1..).zip(numbered).collect(), config.max_distance);
    let (mut ratio, mut guided) = (Tally::default(), Tally::default());
    for (
        _,
        PreparedPage {
            gold,
            page,
            keys,
            alone,
            ..
        },
    ) in second
    {
        let found = library.assign(keys.set());
        halves.assigned += usize::from(found.is_some());
        let guide = found.as_ref().map(|a| Guide::new(&a.template, keys, page));
        let with = extract::extract_guided(
            page,
            &extraction.context(),
            &extraction.extract,
            guide.as_ref(),
        );
        halves.lost += usize::from(is_lost(alone, &with));
        let score = |document| PageScore::new(&set.name, gold, Some(document), false);
        let (before, after) = (score(alone), score(&with));
        let f1 = |score: &PageScore| score.text.map(|t| t.f1());
        if let (Some(before), Some(after)) = (f1(&before), f1(&after))
            && round(after) < round(before)
        {
            halves
                .worse
                .push((gold.id.clone(), round(before), round(after)));
        }
        ratio.add(&before);
        guided.add(&after);
    }
    halves.ratio = ratio.row();
    halves.guided = guided.row();
    halves
}

fn is_lost(alone: &Document, with: &Document) -> bool {
    !alone.text.is_empty() && with.text.is_empty()
}

/// The sites as a table, then the pages that are worse.
pub fn format_halves(all: &[Halves]) -> Vec<String> {
    let width = all.iter().map(|h| h.set.len() + h.site.len() + 1).max();
    let width = width.unwrap_or(0).max(20);
    let mut lines = vec![format!(
        "{:width$} {:>5} {:>5} {:>4} {:>5}  {:>15} {:>15} {:>15}",
        "site", "learn", "test", "tpl", "with", "body", "title", "date"
    )];
    let pair = |before: Option<f64>, after: Option<f64>| match (before, after) {
        (Some(before), Some(after)) => format!("{before:.4} → {after:.4}"),
        _ => "-".to_owned(),
    };
    for h in all {
        lines.push(format!(
            "{:width$} {:>5} {:>5} {:>4} {:>5}  {:>15} {:>15} {:>15}",
            format!("{}/{}", h.set, h.site),
            h.learned_from,
            h.ratio.pages,
            h.templates,
            h.assigned,
            pair(h.ratio.page, h.guided.page),
            pair(h.ratio.title, h.guided.title),
            pair(h.ratio.date, h.guided.date),
        ));
    }
    for h in all {
        for (id, before, after) in &h.worse {
            lines.push(format!("  worse {}/{id}: {before:.4} → {after:.4}", h.set));
        }
        if h.lost > 0 {
            lines.push(format!("  lost {}: {} pages", h.site, h.lost));
        }
    }
    lines
}
