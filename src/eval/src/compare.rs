//! Compares a run with an earlier one. A [`Difference`] has the rates of each set over the pages that both judged, and each
//! field of a page that changed.

use std::collections::HashMap;

use serde::Serialize;

use super::scores::{PageScore, RateRow, Tally};
use super::{Run, scores};

/// Text F1 that differs by less looks the same in a table of three digits.
const LEAST_F1: f64 = 0.0005;

/// One field of a page that came out otherwise than before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// Name of the page.
    pub id: String,
    /// `text`, `title`, `date`, `comments` or `kind`.
    pub field: &'static str,
    /// F1 of the field before; 1 is right, 0 is wrong.
    pub before: f64,
    /// F1 of it now.
    pub now: f64,
}

impl FieldChange {
    /// Now less before.
    pub fn gain(&self) -> f64 {
        scores::round(self.now - self.before)
    }
}

/// One set in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the set.
    #[serde(skip)]
    pub set: String,
    /// Pages that only this run judged.
    pub only_now: usize,
    /// Pages that only the earlier run judged.
    pub only_before: usize,
    /// Rates of the earlier run over the pages of both.
    pub before: RateRow,
    /// Rates of this run over the same pages.
    pub now: RateRow,
    /// Fields that got worse, worst first.
    pub worse: Vec<FieldChange>,
    /// Fields that got better, best first.
    pub better: Vec<FieldChange>,
}

/// Holds `now` against `before`, set by set; sets that `now` has not judged are skipped.
pub fn compare(now: &Run, before: &Run) -> Vec<Difference> {
    let mut earlier: HashMap<(&str, &str), &PageScore> = before
        .pages
        .iter()
        .map(|page| ((page.set.as_str(), page.id.as_str()), page))
        .collect();
    let sets = now.pages.chunk_by(|a, b| a.set == b.set);
    let mut differences: Vec<Difference> =
        sets.map(|pages| compare_set(pages, &mut earlier)).collect();
    for (set, _) in earlier.keys() {
        if let Some(difference) = differences.iter_mut().find(|d| d.set == **set) {
            difference.only_before += 1;
        }
    }
    differences
}

/// Takes the pages that it has compared out of `earlier`.
fn compare_set<'a>(
    pages: &'a [PageScore],
    earlier: &mut HashMap<(&'a str, &'a str), &'a PageScore>,
) -> Difference {
    let (mut now, mut before) = (Tally::default(), Tally::default());
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    let mut only_now = 0;
    for page in pages {
        let Some(old) = earlier.remove(&(page.set.as_str(), page.id.as_str())) else {
            only_now += 1;
            continue;
        };
        now.add(page);
        before.add(old);
        for change in find_changes(old, page) {
            if change.now < change.before {
                worse.push(change);
            } else {
                better.push(change);
            }
        }
    }
    let by_size = |a: &FieldChange, b: &FieldChange| {
        let size = b.gain().abs().total_cmp(&a.gain().abs());
        size.then_with(|| a.id.cmp(&b.id))
    };
    worse.sort_by(by_size);
    better.sort_by(by_size);
    Difference {
        set: pages.first().map(|p| p.set.clone()).unwrap_or_default(),
        only_now,
        only_before: 0,
        before: before.row(),
        now: now.row(),
        worse,
        better,
    }
}

/// The fields that both runs judged and that differ.
fn find_changes(old: &PageScore, page: &PageScore) -> Vec<FieldChange> {
    let hit = |right: bool| if right { 1.0 } else { 0.0 };
    let comments = |page: &PageScore| Tally::from_pages([page]).row().comments_f1;
    let fields = [
        ("text", old.text.map(|t| t.f1()), page.text.map(|t| t.f1())),
        ("title", old.title.map(hit), page.title.map(hit)),
        ("date", old.date.map(hit), page.date.map(hit)),
        ("comments", comments(old), comments(page)),
        ("kind", old.kind.map(hit), page.kind.map(hit)),
    ];
    fields
        .into_iter()
        .filter_map(|(field, before, now)| {
            let (before, now) = (before?, now?);
            ((now - before).abs() >= LEAST_F1).then(|| FieldChange {
                id: page.id.clone(),
                field,
                before: scores::round(before),
                now: scores::round(now),
            })
        })
        .collect()
}
