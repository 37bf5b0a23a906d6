//! Compares unseen figures with fitted ones from two runs over the same pages: for each set the rates of both, and lines
//! for a person with the rate of weights that saw the pages in brackets.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Run;
use super::scores::{PageScore, RateRow, Tally};

/// Width of a cell: `0.981 (0.992)`.
const CELL: usize = 15;

/// One set, judged twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UnseenRow {
    /// With weights that were learned without the set.
    pub unseen: RateRow,
    /// With the weights in use.
    pub fitted: RateRow,
}

/// The rates of each set.
pub fn compare_unseen(unseen: &Run, fitted: &Run) -> BTreeMap<String, UnseenRow> {
    let of = |run: &Run, set: &str| {
        let pages = run.pages.iter().filter(|page| page.set == set);
        Tally::from_pages(pages.collect::<Vec<&PageScore>>()).row()
    };
    let sets = unseen.pages.iter().map(|page| page.set.as_str());
    let row = |set: &str| UnseenRow {
        unseen: of(unseen, set),
        fitted: of(fitted, set),
    };
    sets.map(|set| (set.to_owned(), row(set))).collect()
}

/// The rates that are shown, with their headings.
fn format_rate(row: &RateRow) -> [(&'static str, Option<f64>); 5] {
    [
        ("page", row.page),
        ("title", row.title),
        ("date", row.date),
        ("comments_f1", row.comments_f1),
        ("kind", row.kind),
    ]
}

/// The report in lines.
pub fn format_unseen(report: &BTreeMap<String, UnseenRow>) -> Vec<String> {
    let width = report.keys().map(String::len).max().unwrap_or(0).max(18);
    let headings = format_rate(&RateRow::default()).map(|(name, _)| format!("{name:>CELL$}"));
    let mut lines = vec![
        "unseen: weights learned without the set (in brackets: the weights in use)".to_owned(),
        format!("{:width$} {:>5}{}", "set", "pages", headings.concat()),
    ];
    for (set, UnseenRow { unseen, fitted }) in report {
        let cells = format_rate(unseen).into_iter().zip(format_rate(fitted));
        let cells = cells.map(|((_, unseen), (_, fitted))| {
            let cell = unseen.zip(fitted).map(|(u, f)| format!("{u:.3} ({f:.3})"));
            format!("{:>CELL$}", cell.unwrap_or_else(|| "-".to_owned()))
        });
        let cells: String = cells.collect();
        lines.push(format!("{set:width$} {:>5}{cells}", unseen.pages));
    }
    lines
}
