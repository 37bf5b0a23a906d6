//! Curves over thresholds. In: the rows of [`crate::comment_measures`]. Out: an SVG as text: a panel for each set, a curve
//! for each measure, what the extraction reaches as a dashed line. No script, no style from elsewhere.

use std::fmt::Write as _;

use crate::comment_measures::MeasureRow;

/// Size of the area of a panel, and what is around it, in pixels.
const WIDE: f64 = 230.0;
const HIGH: f64 = 180.0;
const LEFT: f64 = 34.0;
const TOP: f64 = 26.0;
const BELOW: f64 = 34.0;
/// Panels in one row.
const COLUMNS: usize = 3;
/// First and last threshold.
const FROM: f64 = 0.5;
const TO: f64 = 0.95;
/// Mean F1 of all comments against the text from which a set is one of threads.
const THREADS: f64 = 0.25;
/// Colours that colour-blind readers tell apart (Okabe and Ito), and dashes, which print in grey.
const STROKES: [(&str, &str); 6] = [
    ("#d55e00", ""),
    ("#e69f00", "5 2"),
    ("#0072b2", ""),
    ("#009e73", "5 2"),
    ("#cc79a7", ""),
    ("#555555", "2 2"),
];

/// What a set is judged by: its comments, else its text when its pages are threads, else pages with blocks.
fn value(row: &MeasureRow, threads: bool) -> (f64, &'static str) {
    match (row.comments, row.text) {
        (Some([_, _, f1]), _) => (f1, "F1 of comments"),
        (None, Some(text)) if threads => (text, "F1 of text"),
        _ => (row.with_blocks, "pages with blocks"),
    }
}

/// The panels, side by side.
pub(crate) fn measure_plot(rows: &[MeasureRow]) -> String {
    let mut sets: Vec<&str> = rows.iter().map(|r| r.set.as_str()).collect();
    sets.dedup();
    let mut measures: Vec<&str> = rows
        .iter()
        .filter(|r| r.alike.is_some())
        .map(|r| r.measure)
        .collect();
    measures.sort_unstable();
    measures.dedup();
    let (columns, lines) = (
        sets.len().clamp(1, COLUMNS),
        sets.len().div_ceil(COLUMNS).max(1),
    );
    let (width, height) = (
        columns as f64 * (LEFT + WIDE + 14.0),
        lines as f64 * (TOP + HIGH + BELOW) + 46.0,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (at, set) in sets.iter().enumerate() {
        let (column, line) = ((at % COLUMNS) as f64, (at / COLUMNS) as f64);
        let origin = (
            column * (LEFT + WIDE + 14.0) + LEFT,
            line * (TOP + HIGH + BELOW) + TOP,
        );
        let own: Vec<&MeasureRow> = rows.iter().filter(|r| r.set == *set).collect();
        panel(&mut out, origin, set, &own, &measures);
    }
    for (at, measure) in measures.iter().enumerate() {
        let (x, y) = (LEFT + at as f64 * 120.0, height - 12.0);
        stroke(&mut out, at, &format!("M{x:.0} {:.0}h26", y - 4.0));
        text(&mut out, x + 31.0, y, "start", measure);
    }
    let (x, y) = (LEFT, height - 30.0);
    ours(&mut out, x, y - 4.0, x + 26.0);
    text(
        &mut out,
        x + 31.0,
        y,
        "start",
        "extraction, without threshold",
    );
    out.push_str("</svg>\n");
    out
}

/// The line of the extraction.
fn ours(out: &mut String, from: f64, y: f64, to: f64) {
    let _ = writeln!(
        out,
        "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"#000\" stroke-dasharray=\"7 4\"/>"
    );
}

fn panel(out: &mut String, origin: (f64, f64), set: &str, rows: &[&MeasureRow], measures: &[&str]) {
    let x = |alike: f64| origin.0 + (alike - FROM) / (TO - FROM) * WIDE;
    let y = |value: f64| origin.1 + (1.0 - value) * HIGH;
    // On threads the comments that the extraction finds are the text.
    let found = rows.iter().filter(|r| r.alike.is_none());
    let threads = found.filter_map(|r| r.text).any(|text| text > THREADS);
    let what = rows.first().map_or("", |r| value(r, threads).1);
    text(
        out,
        origin.0,
        origin.1 - 9.0,
        "start",
        &format!("{set}: {what}"),
    );
    for tenths in [0, 2, 4, 6, 8, 10] {
        let share = f64::from(tenths) / 10.0;
        let _ = writeln!(
            out,
            "<path d=\"M{:.1} {:.1}H{:.1}\" stroke=\"#ddd\"/>",
            x(FROM),
            y(share),
            x(TO)
        );
        text(
            out,
            origin.0 - 5.0,
            y(share) + 4.0,
            "end",
            &format!("{share:.1}"),
        );
    }
    for alike in [0.5, 0.6, 0.7, 0.8, 0.9] {
        text(
            out,
            x(alike),
            origin.1 + HIGH + 15.0,
            "middle",
            &format!("{alike:.1}"),
        );
    }
    for row in rows.iter().filter(|r| r.alike.is_none()) {
        ours(out, x(FROM), y(value(row, threads).0), x(TO));
    }
    for (at, measure) in measures.iter().enumerate() {
        let mut path = String::new();
        for row in rows.iter().filter(|r| r.measure == *measure) {
            let Some(alike) = row.alike else { continue };
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(
                path,
                "{step}{:.1} {:.1}",
                x(alike),
                y(value(row, threads).0)
            );
        }
        stroke(out, at, &path);
    }
}

fn stroke(out: &mut String, at: usize, path: &str) {
    let (colour, dashes) = STROKES[at % STROKES.len()];
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\"/>"
    );
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let text = htmlize::escape_text(text);
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}
