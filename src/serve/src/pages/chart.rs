//! Counts by date as drawings in SVG units: bars that lead to the search within their period, and lines of several counts over the
//! same dates. Never asks the index.

use chrono::NaiveDate;
use taojin_search::index::{DateUnit, Dates};

use crate::pages::view::Choice;
use crate::pages::words::{Labels, fill, grouped};

/// Height of the drawing, in its own units.
const HEIGHT: u64 = 64;
/// Width of a bar with its gap.
const STEP: usize = 8;
/// Gap between two bars.
const GAP: usize = 1;
/// Fewer bars are drawn as if there were so many: one bar is not a wall.
const BARS_MIN: usize = 12;
/// A bar with a document is at least this high, so that it is seen.
const BAR_MIN: u64 = 2;

/// One bar.
pub(crate) struct Bar {
    pub(crate) x: usize,
    pub(crate) y: u64,
    pub(crate) height: u64,
    pub(crate) href: String,
    pub(crate) name: String,
}

/// The chart.
pub(crate) struct Chart {
    pub(crate) width: usize,
    pub(crate) height: u64,
    pub(crate) bar_width: usize,
    pub(crate) bars: Vec<Bar>,
    /// What it shows, in words.
    pub(crate) name: String,
    pub(crate) first: String,
    pub(crate) last: String,
    /// The same as links in a list, without empty dates, latest first: for the keyboard and for readers aloud.
    pub(crate) list: Vec<Choice>,
}

impl Chart {
    /// The chart of these counts; `None` if there is nothing to compare. `narrowed` gives the address of the search
    /// narrowed to a date as `since` and `until` take it.
    pub(crate) fn new(
        words: &Labels,
        dates: &Dates,
        narrowed: impl Fn(&str) -> String,
    ) -> Option<Chart> {
        let most = dates.counts.iter().max_by_key(|count| count.documents)?;
        let (first, last) = (dates.counts.first()?, dates.counts.last()?);
        if dates.counts.len() < 2 || most.documents == 0 {
            return None;
        }
        let bar_name = &words.counts.bar;
        let name = |start: NaiveDate| date(dates.unit, start);
        let room = BARS_MIN.saturating_sub(dates.counts.len()) / 2;
        let bar = |(at, count): (usize, &taojin_search::index::DateCount)| {
            let height = match count.documents {
                0 => 0,
                documents => (documents * HEIGHT / most.documents).max(BAR_MIN),
            };
            let start = name(count.start);
            Bar {
                x: (room + at) * STEP,
                y: HEIGHT - height,
                height,
                href: narrowed(&start),
                name: bar_name.with(count.documents, &[("date", &start)]),
            }
        };
        let listed = dates.counts.iter().rev().filter(|c| c.documents > 0);
        let choice = |count: &taojin_search::index::DateCount| {
            let name = name(count.start);
            let href = narrowed(&name);
            Choice::link(name, href).counted(count.documents)
        };
        let (from, until, top) = (name(first.start), name(last.start), name(most.start));
        Some(Chart {
            width: dates.counts.len().max(BARS_MIN) * STEP - GAP,
            height: HEIGHT,
            bar_width: STEP - GAP,
            bars: dates.counts.iter().enumerate().map(bar).collect(),
            name: fill(
                words.sentences.chart,
                &[("first", &from), ("last", &until), ("most", &top)],
            ),
            first: from,
            last: until,
            list: listed.map(choice).collect(),
        })
    }
}

/// Size of the drawing; the page stretches it.
const WIDTH: usize = 720;
const LINES_HEIGHT: usize = 240;

/// Lines over the same dates.
pub(crate) struct Lines {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Corners of each line, as `points` of a polyline has them.
    pub(crate) lines: Vec<String>,
    pub(crate) columns: Vec<Column>,
    /// What the top, the middle and the foot of the drawing stand for.
    pub(crate) scale: [String; 3],
    /// First and last date.
    pub(crate) first: String,
    pub(crate) last: String,
}

/// What stands over one point.
pub(crate) struct Column {
    pub(crate) x: f64,
    pub(crate) width: f64,
    pub(crate) name: String,
}

impl Lines {
    /// The drawing of these values, one row for each line; none with fewer than two points. `written` gives a value as read.
    pub(crate) fn new(
        unit: DateUnit,
        starts: &[NaiveDate],
        names: &[&str],
        values: &[Vec<f64>],
        written: impl Fn(f64) -> String,
    ) -> Option<Lines> {
        let (first, last) = (starts.first()?, starts.last()?);
        if starts.len() < 2 {
            return None;
        }
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let top = if most > 0.0 { most } else { 1.0 };
        let step = WIDTH as f64 / (starts.len() - 1) as f64;
        let corner = |(at, value): (usize, &f64)| {
            let y = LINES_HEIGHT as f64 * (1.0 - value / top);
            format!("{:.1},{y:.1}", step * at as f64)
        };
        let line = |values: &Vec<f64>| -> String {
            let corners: Vec<String> = values.iter().enumerate().map(corner).collect();
            corners.join(" ")
        };
        let column = |(at, start): (usize, &NaiveDate)| {
            let of = |(name, values): (&&str, &Vec<f64>)| {
                let value = values.get(at).copied().unwrap_or_default();
                format!("{name} {}", written(value))
            };
            let said: Vec<String> = names.iter().zip(values).map(of).collect();
            Column {
                x: (step * (at as f64 - 0.5)).max(0.0),
                width: step,
                name: format!("{}: {}", date(unit, *start), said.join(" · ")),
            }
        };
        Some(Lines {
            width: WIDTH,
            height: LINES_HEIGHT,
            lines: values.iter().map(line).collect(),
            columns: starts.iter().enumerate().map(column).collect(),
            scale: [written(top), written(top / 2.0), written(0.0)],
            first: date(unit, *first),
            last: date(unit, *last),
        })
    }
}

/// The date of a point as searches take it.
pub(crate) fn date(unit: DateUnit, start: NaiveDate) -> String {
    let form = match unit {
        DateUnit::Day | DateUnit::Week => "%Y-%m-%d",
        DateUnit::Month => "%Y-%m",
        DateUnit::Year => "%Y",
    };
    start.format(form).to_string()
}

/// A count, or between two of them the half.
pub(crate) fn count(value: f64) -> String {
    if value.fract() > 0.0 {
        format!("{value:.1}")
    } else {
        grouped(value as u64)
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        p if p < 10.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_span_the_drawing_and_columns_name_their_values() {
        let day = |n| NaiveDate::from_ymd_opt(2026, 5, n).expect("a day");
        let days = [day(1), day(2), day(3)];
        let values = [vec![0.0, 4.0, 2.0], vec![1.0, 0.0, 0.0]];
        let drawn = Lines::new(DateUnit::Day, &days, &["甲", "乙"], &values, count).expect("lines");
        assert_eq!(drawn.lines[0], "0.0,240.0 360.0,0.0 720.0,120.0");
        assert_eq!(drawn.columns[1].name, "2026-05-02: 甲 4 · 乙 0");
        assert_eq!(drawn.scale, ["4", "2", "0"]);
        assert!(Lines::new(DateUnit::Day, &days[..1], &["甲"], &values, count).is_none());
        let nothing = [vec![0.0, 0.0, 0.0]];
        let flat = Lines::new(DateUnit::Day, &days, &["甲"], &nothing, percent).expect("lines");
        assert_eq!(flat.lines[0], "0.0,240.0 360.0,240.0 720.0,240.0");
    }
}
