//! Counts by date as drawings in SVG units: bars and lines whose points lead to the search within their time, with a scale, dates, and
//! what is not over yet. Never asks the index.

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
    /// Its time is not over yet.
    pub(crate) is_open: bool,
}

/// The chart.
pub(crate) struct Chart {
    pub(crate) width: usize,
    pub(crate) height: u64,
    pub(crate) bar_width: usize,
    pub(crate) bars: Vec<Bar>,
    /// What it shows, in words.
    pub(crate) name: String,
    /// Value of the highest bar, for its line.
    pub(crate) most: String,
    /// Where the lines of the half of it and of itself are.
    pub(crate) half: u64,
    /// Documents that it does not show, in words.
    pub(crate) outside: String,
    pub(crate) first: String,
    pub(crate) last: String,
    /// The same as links in a list, without empty dates, latest first: for the keyboard and for readers aloud.
    pub(crate) list: Vec<Choice>,
}

impl Chart {
    /// The chart of these counts; `None` if there is nothing to compare. `narrowed` gives the address of the search
    /// narrowed to a time as `since` and `until` take it.
    pub(crate) fn new(
        words: &Labels,
        dates: &Dates,
        today: NaiveDate,
        narrowed: impl Fn(&str, &str) -> String,
    ) -> Option<Chart> {
        let most = dates.counts.iter().max_by_key(|count| count.documents)?;
        let (first, last) = (dates.counts.first()?, dates.counts.last()?);
        if dates.counts.len() < 2 || most.documents == 0 {
            return None;
        }
        let bar_name = &words.counts.bar;
        let name = |start: NaiveDate| date(dates.unit, start);
        let link = |start: NaiveDate| {
            let (since, until) = limits(dates.unit, start);
            narrowed(&since, &until)
        };
        let room = BARS_MIN.saturating_sub(dates.counts.len()) / 2;
        let bar = |(at, count): (usize, &taojin_search::index::DateCount)| {
            let height = match count.documents {
                0 => 0,
                documents => (documents * HEIGHT / most.documents).max(BAR_MIN),
            };
            let is_open = dates.unit.last_day(count.start) >= today;
            let named = bar_name.with(
                count.documents,
                &[("date", &period(dates.unit, count.start))],
            );
            Bar {
                x: (room + at) * STEP,
                y: HEIGHT - height,
                height,
                href: link(count.start),
                name: marked(words, named, is_open),
                is_open,
            }
        };
        let listed = dates.counts.iter().rev().filter(|c| c.documents > 0);
        let choice = |count: &taojin_search::index::DateCount| {
            let name = period(dates.unit, count.start);
            Choice::link(name, link(count.start)).counted(count.documents)
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
            most: grouped(most.documents),
            half: HEIGHT / 2,
            outside: match dates.outside {
                0 => String::new(),
                outside => words.counts.outside.fill(outside),
            },
            first: from,
            last: until,
            list: listed.map(choice).collect(),
        })
    }
}

/// Size of the drawing; the page stretches it.
const WIDTH: usize = 720;
const LINES_HEIGHT: usize = 240;

/// Most steps between the marks of the scale, and between those of the dates.
const SCALE_STEPS: f64 = 4.0;
const DATE_STEPS: [usize; 2] = [6, 4];

/// Lines over the same dates.
pub(crate) struct Lines {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) lines: Vec<Line>,
    pub(crate) columns: Vec<Column>,
    /// What is written beside the drawing, from the top to the foot.
    pub(crate) scale: Vec<Mark>,
    /// What is written below it.
    pub(crate) dates: Vec<Mark>,
    /// Whether the last points are of a time that is not over yet.
    pub(crate) is_open: bool,
}

/// One line: corners as `points` of a polyline has them.
pub(crate) struct Line {
    pub(crate) done: String,
    /// What is not over yet, from the last point that is.
    pub(crate) open: String,
    /// The highest value, at its point; none where all are 0.
    pub(crate) peak: Option<Mark>,
}

/// A text at a place, in hundredths of the drawing from its left and from its top.
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) text: String,
    /// Where the text stands to its place: `start`, `middle` or `end`.
    pub(crate) anchor: &'static str,
    /// Left out where there is little room.
    pub(crate) is_minor: bool,
}

/// What stands over one point.
pub(crate) struct Column {
    pub(crate) x: f64,
    pub(crate) width: f64,
    pub(crate) name: String,
    pub(crate) href: String,
}

/// What lines are drawn from.
pub(crate) struct Series<'a> {
    pub(crate) unit: DateUnit,
    pub(crate) starts: &'a [NaiveDate],
    /// The first of the starts that is not over yet.
    pub(crate) unfinished: Option<NaiveDate>,
    /// Name and values of each line.
    pub(crate) lines: &'a [(&'a str, Vec<f64>)],
    /// Least distance of two marks of the scale.
    pub(crate) least_step: f64,
}

impl Lines {
    /// The drawing; none with fewer than two points. `written` gives a value as read, `narrowed` the address of the same within a
    /// time.
    pub(crate) fn new(
        words: &Labels,
        series: &Series<'_>,
        written: impl Fn(f64) -> String,
        narrowed: impl Fn(&str, &str) -> String,
    ) -> Option<Lines> {
        let (unit, starts) = (series.unit, series.starts);
        if starts.len() < 2 {
            return None;
        }
        let values = series.lines.iter().flat_map(|(_, values)| values);
        let most = values.copied().fold(0.0, f64::max);
        let step = scale_step(most, series.least_step);
        let steps = (most / step).ceil().max(1.0);
        let top = steps * step;
        let gap = WIDTH as f64 / (starts.len() - 1) as f64;
        let is_open = |start: &NaiveDate| series.unfinished.is_some_and(|first| *start >= first);
        let done = starts.iter().filter(|start| !is_open(start)).count();
        let corners = |values: &[f64], from: usize| {
            let corner = |(at, value): (usize, &f64)| {
                let y = LINES_HEIGHT as f64 * (1.0 - value / top);
                format!("{:.1},{y:.1}", gap * (from + at) as f64)
            };
            let corners: Vec<String> = values.iter().enumerate().map(corner).collect();
            corners.join(" ")
        };
        let place = |at: usize| 100.0 * at as f64 / (starts.len() - 1) as f64;
        let line = |(_, values): &(&str, Vec<f64>)| {
            let from = done.saturating_sub(1).min(values.len());
            let highest = values.iter().enumerate();
            let highest = highest.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
            Line {
                done: corners(&values[..done.min(values.len())], 0),
                open: if done < values.len() {
                    corners(&values[from..], from)
                } else {
                    String::new()
                },
                peak: highest
                    .filter(|(_, value)| **value > 0.0)
                    .map(|(at, value)| Mark {
                        x: place(at),
                        y: 100.0 * (1.0 - value / top),
                        text: written(*value),
                        anchor: anchor(place(at)),
                        is_minor: false,
                    }),
            }
        };
        let column = |(at, start): (usize, &NaiveDate)| {
            let of = |(name, values): &(&str, Vec<f64>)| {
                let value = values.get(at).copied().unwrap_or_default();
                format!("{name} {}", written(value))
            };
            let said: Vec<String> = series.lines.iter().map(of).collect();
            let name = format!("{}: {}", period(unit, *start), said.join(" · "));
            let (since, until) = limits(unit, *start);
            Column {
                x: (gap * (at as f64 - 0.5)).max(0.0),
                width: if at == 0 || at + 1 == starts.len() {
                    gap / 2.0
                } else {
                    gap
                },
                name: marked(words, name, is_open(start)),
                href: narrowed(&since, &until),
            }
        };
        let of_scale = |at: u32| {
            let value = top - f64::from(at) * step;
            Mark {
                x: 0.0,
                y: 100.0 * f64::from(at) / steps,
                text: written(value),
                anchor: "end",
                is_minor: false,
            }
        };
        Some(Lines {
            width: WIDTH,
            height: LINES_HEIGHT,
            lines: series.lines.iter().map(line).collect(),
            columns: starts.iter().enumerate().map(column).collect(),
            scale: (0..=steps as u32).map(of_scale).collect(),
            dates: date_marks(unit, starts, place),
            is_open: done < starts.len(),
        })
    }
}

/// Where a text stands that must stay within the drawing.
fn anchor(x: f64) -> &'static str {
    match x {
        x if x < 5.0 => "start",
        x if x > 95.0 => "end",
        _ => "middle",
    }
}

/// Dates at even distances, the first and the last among them.
fn date_marks(unit: DateUnit, starts: &[NaiveDate], place: impl Fn(usize) -> f64) -> Vec<Mark> {
    let last = starts.len() - 1;
    let steps = DATE_STEPS.into_iter().find(|steps| *steps <= last);
    let steps = steps.unwrap_or(last);
    let mark = |at: usize| {
        let place_at = at * last / steps;
        Mark {
            x: place(place_at),
            y: 0.0,
            text: date(unit, starts[place_at]),
            anchor: anchor(place(place_at)),
            is_minor: steps >= DATE_STEPS[1] && !at.is_multiple_of(steps / 2),
        }
    };
    (0..=steps).map(mark).collect()
}

/// The least of 1, 2, 5, 10, 20 … that gives few marks, in the size of the values.
fn scale_step(most: f64, least: f64) -> f64 {
    let wanted = (most / SCALE_STEPS).max(least);
    let size = 10f64.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * size);
    // Powers of ten are not exact.
    let reaches = |step: &f64| *step * (1.0 + 1e-9) >= wanted;
    steps.into_iter().find(reaches).unwrap_or(wanted)
}

/// A name with the remark that its time is not over yet.
fn marked(words: &Labels, name: String, is_open: bool) -> String {
    if is_open {
        format!("{name}{}", words.sentences.unfinished)
    } else {
        name
    }
}

/// The first day of a point.
pub(crate) fn date(unit: DateUnit, start: NaiveDate) -> String {
    let form = match unit {
        DateUnit::Day | DateUnit::Week => "%Y-%m-%d",
        DateUnit::Month => "%Y-%m",
        DateUnit::Year => "%Y",
    };
    start.format(form).to_string()
}

/// The time of a point as read.
pub(crate) fn period(unit: DateUnit, start: NaiveDate) -> String {
    let first = date(unit, start);
    match unit {
        DateUnit::Week => format!("{first} – {}", unit.last_day(start).format("%m-%d")),
        _ => first,
    }
}

/// The time of a point as `since` and `until` take it.
pub(crate) fn limits(unit: DateUnit, start: NaiveDate) -> (String, String) {
    let first = date(unit, start);
    match unit {
        DateUnit::Week => (first, unit.last_day(start).to_string()),
        _ => (first.clone(), first),
    }
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
    fn lines_have_round_scale_and_open_end() {
        let day = |n| NaiveDate::from_ymd_opt(2026, 5, n).expect("a day");
        let days: Vec<NaiveDate> = (1..=10).map(day).collect();
        let with = |values: &[f64], least_step| {
            let mut all = vec![0.0; days.len()];
            all[..values.len()].copy_from_slice(values);
            let lines = [("甲", all), ("乙", vec![0.0; days.len()])];
            let series = Series {
                unit: DateUnit::Day,
                starts: &days,
                unfinished: Some(day(10)),
                lines: &lines,
                least_step,
            };
            let narrowed = |since: &str, until: &str| format!("{since}/{until}");
            Lines::new(&crate::pages::words::EN, &series, count, narrowed).expect("lines")
        };
        let drawn = with(&[0.0, 7.0, 2.0], 1.0);
        let scale = |drawn: &Lines| {
            drawn
                .scale
                .iter()
                .map(|m| m.text.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(scale(&drawn), ["8", "6", "4", "2", "0"]);
        assert!(
            drawn.lines[0]
                .done
                .starts_with("0.0,240.0 80.0,30.0 160.0,180.0")
        );
        assert!(drawn.lines[0].done.ends_with(" 640.0,240.0"));
        assert_eq!(drawn.lines[0].open, "640.0,240.0 720.0,240.0");
        let peak = drawn.lines[0].peak.as_ref().map(|m| (m.text.as_str(), m.y));
        assert_eq!(peak, Some(("7", 12.5)));
        assert!(drawn.lines[1].peak.is_none(), "a line of zeros");
        assert_eq!(drawn.columns[1].name, "2026-05-02: 甲 7 · 乙 0");
        assert_eq!(drawn.columns[1].href, "2026-05-02/2026-05-02");
        assert_eq!(
            drawn.columns[9].name,
            "2026-05-10: 甲 0 · 乙 0 (not over yet)"
        );
        assert_eq!(drawn.dates.len(), 7);
        assert_eq!(drawn.dates.iter().filter(|m| !m.is_minor).count(), 3);
        for (most, least, scale_of) in [
            (0.0, 1.0, vec!["1", "0"]),
            (1.0, 1.0, vec!["1", "0"]),
            (130.0, 1.0, vec!["150", "100", "50", "0"]),
            (4_000.0, 1.0, vec!["4,000", "3,000", "2,000", "1,000", "0"]),
        ] {
            assert_eq!(scale(&with(&[most], least)), scale_of, "{most}");
        }
    }

    #[test]
    fn points_of_weeks_are_ranges() {
        let monday = NaiveDate::from_ymd_opt(2026, 11, 30).expect("a day");
        assert_eq!(period(DateUnit::Week, monday), "2026-11-30 – 12-06");
        let range = ("2026-11-30".to_owned(), "2026-12-06".to_owned());
        assert_eq!(limits(DateUnit::Week, monday), range);
    }
}
