//! Compares templates with the models alone on many random splits of each site: for each site and number of training pages,
//! how often texts, titles and dates got worse, and on which pages.

use std::collections::BTreeMap;

use serde::Serialize;

use super::corpus::{EvalError, Set};
use super::halves::{PreparedPage, compare_site, group_by_site};
use super::scores::round;
use super::{Extraction, PageFilter};
use taojin_extract::template;

/// Pages learned from, besides half of them: as many as the daemon learns from, on small sites and on others.
const FIXED: [usize; 2] = [template::LEARN_SMALL_AT, template::LEARN_AT];
/// Fewer pages to be judged on show nothing.
const LEAST_JUDGED: usize = 3;
/// Scores that differ less are the same.
const SAME: f64 = 1e-9;

/// The splits of one site with the same number of pages learned from.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Splits {
    /// Set of its pages.
    pub set: String,
    /// Host, or the label of the gold.
    pub site: String,
    /// Pages learned from.
    pub learned_from: usize,
    /// Pages judged in each split.
    pub judged: usize,
    /// Splits.
    pub splits: usize,
    /// Mean text F1 over the splits, by the models alone.
    pub ratio: f64,
    /// The same with templates.
    pub guided: f64,
    /// The greatest loss of one split, 0 or negative.
    pub least: f64,
    /// Splits whose mean text F1 is lower with templates.
    pub worse_text: usize,
    /// Splits with fewer right titles.
    pub worse_title: usize,
    /// Splits with fewer right dates.
    pub worse_date: usize,
    /// Pages whose text a template has emptied, over all splits.
    pub lost: usize,
    /// Pages whose text got worse: name, F1 before and the lowest after, in how many splits.
    pub worse: BTreeMap<String, (f64, f64, usize)>,
}

/// Splits each site of the chosen sets so many times for each number of pages to learn from.
pub fn compare_splits(
    sets: &[Set],
    choice: &PageFilter,
    extraction: &Extraction,
    config: &template::Config,
    count: usize,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Splits>, EvalError> {
    let mut all = Vec::new();
    group_by_site(sets, choice, |set, site, pages| {
        let pages = PreparedPage::all(set, pages, extraction);
        let half = pages.len() / 2;
        let enough = |n: &usize| *n != half && n + LEAST_JUDGED <= pages.len();
        for learned_from in std::iter::once(half).chain(FIXED.into_iter().filter(enough)) {
            progress(site);
            let mut row = Splits {
                set: set.name.clone(),
                site: site.to_owned(),
                learned_from,
                judged: pages.len() - learned_from,
                ..Splits::default()
            };
            for seed in 0..count as u64 {
                let chosen = draw_pages(pages.len(), learned_from, seed);
                let is_learned = |n: usize| chosen[n];
                row.add(&compare_site(
                    set, site, &pages, is_learned, extraction, config,
                ));
            }
            all.push(row);
        }
    })?;
    Ok(all)
}

/// Which of so many pages are learned from: the first of a shuffled order.
fn draw_pages(pages: usize, learned_from: usize, seed: u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..pages).collect();
    order.sort_by_key(|n| taojin_extract::similarity::mix(seed + 1, *n as u64));
    let mut chosen = vec![false; pages];
    order
        .iter()
        .take(learned_from)
        .for_each(|n| chosen[*n] = true);
    chosen
}

impl Splits {
    fn add(&mut self, halves: &super::Halves) {
        let before = self.splits as f64;
        let mean =
            |old: f64, new: Option<f64>| (old * before + new.unwrap_or(0.0)) / (before + 1.0);
        self.ratio = mean(self.ratio, halves.ratio.page);
        self.guided = mean(self.guided, halves.guided.page);
        self.splits += 1;
        let gain = |of: fn(&super::RateRow) -> Option<f64>| {
            of(&halves.guided).unwrap_or(0.0) - of(&halves.ratio).unwrap_or(0.0)
        };
        let text = gain(|row| row.page);
        self.least = self.least.min(text);
        self.worse_text += usize::from(text < -SAME);
        self.worse_title += usize::from(gain(|row| row.title) < -SAME);
        self.worse_date += usize::from(gain(|row| row.date) < -SAME);
        self.lost += halves.lost;
        for (id, before, after) in &halves.worse {
            let worse = self.worse.entry(id.clone()).or_insert((*before, *after, 0));
            worse.1 = worse.1.min(*after);
            worse.2 += 1;
        }
    }
}

/// A row for each site and number of pages, then the pages that got worse.
pub fn format_splits(all: &[Splits]) -> Vec<String> {
    let width = all.iter().map(|s| s.set.len() + s.site.len() + 1).max();
    let width = width.unwrap_or(0).max(20);
    let mut lines = vec![format!(
        "{:width$} {:>5} {:>6} {:>6}  {:>15} {:>7}  worse: {:>5} {:>5} {:>5} {:>5}",
        "site", "learn", "judged", "splits", "body", "least", "body", "title", "date", "lost"
    )];
    for s in all {
        lines.push(format!(
            "{:width$} {:>5} {:>6} {:>6}  {:.4} → {:.4} {:>7.4}         {:>5} {:>5} {:>5} {:>5}",
            format!("{}/{}", s.set, s.site),
            s.learned_from,
            s.judged,
            s.splits,
            s.ratio,
            s.guided,
            s.least,
            s.worse_text,
            s.worse_title,
            s.worse_date,
            s.lost
        ));
    }
    for s in all {
        for (id, (before, after, splits)) in &s.worse {
            lines.push(format!(
                "  worse {}/{id}: {:.4} → {:.4}, learned from {}, {splits} splits",
                s.set,
                round(*before),
                after,
                s.learned_from
            ));
        }
    }
    lines
}
