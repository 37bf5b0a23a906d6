//! Formats a run as tables: a [`Report`] for machines, and lines of text for a person.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compare::{Difference, FieldChange};
use super::scores::{PageScore, RateRow, Tally, round};
use super::{ClockUnit, Run, WrongField};

/// Columns: heading, digits after the point.
const COLUMNS: [(&str, usize); 13] = [
    ("pages", 0),
    ("missing", 0),
    ("f1", 4),
    ("p", 4),
    ("r", 4),
    ("page", 4),
    ("title", 4),
    ("date", 4),
    ("comments_p", 4),
    ("comments_r", 4),
    ("comments_f1", 4),
    ("kind", 4),
    ("MB/s", 1),
];
/// Two columns that a difference leaves out: `missing` and speed say little of the pages of both.
const NOT_COMPARED: [&str; 2] = ["missing", "MB/s"];
/// A cell is at least this wide.
const CELL: usize = 7;
/// The first column is at least this wide.
const NAME: usize = 18;
/// Characters of a wrong title that are shown.
const SHOWN_CHARS: usize = 60;
/// Changes that are shown for a person; `--json` has all.
const SHOWN_CHANGES: usize = 200;

/// One set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Its rates.
    #[serde(flatten)]
    pub row: RateRow,
    /// Worst texts first, if requested: F1 and page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Vec<(f64, String)>>,
    /// Wrong titles and dates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongField>,
    /// Rates of each language.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub languages: BTreeMap<String, RateRow>,
    /// Against an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Sets by name: what `--json` prints.
pub type Report = BTreeMap<String, SetReport>;

/// The report of a run: with the `worst` texts of each set, rates by language if requested, and the differences to an
/// earlier run.
pub fn report(
    run: &Run,
    worst: usize,
    by_language: bool,
    mut differences: Vec<Difference>,
) -> Report {
    let mut report = Report::new();
    for pages in run.pages.chunk_by(|a, b| a.set == b.set) {
        let Some(set) = pages.first().map(|page| &page.set) else {
            continue;
        };
        let mut languages = BTreeMap::new();
        if by_language {
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for page in pages {
                tallies.entry(&page.lang).or_default().add(page);
            }
            languages = tallies
                .into_iter()
                .map(|(lang, tally)| (lang.to_owned(), tally.row()))
                .collect();
        }
        let wrong = run.wrong.iter().filter(|(of, _)| of == set);
        let at = differences.iter().position(|d| d.set == *set);
        let whole = SetReport {
            row: Tally::from_pages(pages).row(),
            worst: (worst > 0).then(|| find_worst_texts(pages, worst)),
            wrong: wrong.map(|(_, wrong)| wrong.clone()).collect(),
            languages,
            difference: at.map(|at| differences.swap_remove(at)),
        };
        report.insert(set.clone(), whole);
    }
    report
}

fn find_worst_texts(pages: &[PageScore], count: usize) -> Vec<(f64, String)> {
    let three = |f1: f64| format!("{f1:.3}").parse().unwrap_or(f1);
    let mut texts: Vec<(f64, String)> = pages
        .iter()
        .filter_map(|page| Some((three(page.text?.f1()), page.id.clone())))
        .collect();
    texts.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    texts.truncate(count);
    texts
}

/// The report in lines: a table of the sets, then what changed since the earlier run.
pub fn format_run(run: &Run, report: &Report) -> Vec<String> {
    let names = report.keys().map(|name| name.chars().count() + 2);
    let width = names.max().unwrap_or(0).max(NAME);
    let mut lines = vec![write_heading("set", width, |_| true)];
    for (set, whole) in report {
        lines.push(cells(set, width, &whole.row));
        for (lang, row) in &whole.languages {
            lines.push(cells(&format!("  {lang}"), width, row));
        }
        lines.extend(
            whole
                .worst
                .iter()
                .flatten()
                .map(|(f1, id)| format!("    {f1:.3} {id}")),
        );
        lines.extend(whole.wrong.iter().map(format_wrong));
    }
    if report.len() > 1 {
        lines.push(cells("(all)", width, &Tally::from_pages(&run.pages).row()));
    }
    if run.unit == Some(ClockUnit::Wall) {
        lines.push("MB/s: of wall time, this system tells no processor time".to_owned());
    }
    if report.values().any(|whole| whole.difference.is_some()) {
        format_differences(report, width, &mut lines);
    }
    lines
}

fn format_differences(report: &Report, width: usize, lines: &mut Vec<String>) {
    let compared = |name: &str| !NOT_COMPARED.contains(&name);
    lines.push(String::new());
    lines.push(write_heading("now - before", width, compared));
    let all = || {
        report
            .iter()
            .filter_map(|(set, whole)| whole.difference.as_ref().map(|d| (set, d)))
    };
    for (set, difference) in all() {
        lines.push(delta_cells(set, width, difference));
        if difference.only_now + difference.only_before > 0 {
            lines.push(format!(
                "    not compared: {} pages only now, {} only before",
                difference.only_now, difference.only_before
            ));
        }
    }
    for (title, worse) in [("worse", true), ("better", false)] {
        let changes: Vec<(&String, &FieldChange)> = all()
            .flat_map(|(set, d)| {
                let changes = if worse { &d.worse } else { &d.better };
                changes.iter().map(move |change| (set, change))
            })
            .collect();
        lines.push(String::new());
        lines.push(format!("{title}: {}", changes.len()));
        let shown = changes.iter().take(SHOWN_CHANGES);
        lines.extend(shown.map(|(set, change)| format_change(set, change)));
        if changes.len() > SHOWN_CHANGES {
            lines.push(format!("  … {} more", changes.len() - SHOWN_CHANGES));
        }
    }
}

fn format_change(set: &str, change: &FieldChange) -> String {
    let FieldChange {
        id,
        field,
        before,
        now,
    } = change;
    format!(
        "  {:+.3}  {field:8} {before:.3} → {now:.3}  {set}/{id}",
        change.gain()
    )
}

fn format_wrong(wrong: &WrongField) -> String {
    let got = match &wrong.got {
        Some(got) => format!("“{}”", shorten(got)),
        None => "nothing".to_owned(),
    };
    format!(
        "    {} {}: {got} instead of “{}”",
        wrong.field,
        wrong.id,
        shorten(&wrong.gold)
    )
}

fn shorten(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// Values of a row in the order of the columns.
fn values(row: &RateRow) -> [Option<f64>; COLUMNS.len()] {
    [
        Some(f64::from(row.pages)),
        Some(f64::from(row.missing)),
        row.f1,
        row.p,
        row.r,
        row.page,
        row.title,
        row.date,
        row.comments_p,
        row.comments_r,
        row.comments_f1,
        row.kind,
        row.mb_per_s,
    ]
}

fn cell_width(name: &str) -> usize {
    name.len().max(CELL) + 1
}

fn write_heading(first: &str, width: usize, shown: impl Fn(&str) -> bool) -> String {
    let mut line = format!("{first:width$}");
    for (name, _) in COLUMNS.iter().filter(|(name, _)| shown(name)) {
        let cell = cell_width(name);
        line.push_str(&format!("{name:>cell$}"));
    }
    line
}

fn cells(name: &str, width: usize, row: &RateRow) -> String {
    let mut line = format!("{name:width$}");
    for ((heading, digits), value) in COLUMNS.iter().zip(values(row)) {
        let value = value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
        let cell = cell_width(heading);
        line.push_str(&format!("{value:>cell$}"));
    }
    line
}

fn delta_cells(name: &str, width: usize, difference: &Difference) -> String {
    let mut line = format!("{name:width$}");
    let (now, before) = (values(&difference.now), values(&difference.before));
    for (((heading, digits), now), before) in COLUMNS.iter().zip(now).zip(before) {
        if NOT_COMPARED.contains(heading) {
            continue;
        }
        let value = match (now, before) {
            (Some(now), Some(_)) if *heading == "pages" => format!("{now:.0}"),
            (Some(now), Some(before)) if now == before => "=".to_owned(),
            (Some(now), Some(before)) => format!("{:+.digits$}", round(now - before)),
            _ => "-".to_owned(),
        };
        let cell = cell_width(heading);
        line.push_str(&format!("{value:>cell$}"));
    }
    line
}
