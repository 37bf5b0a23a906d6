//! A chart of the result by date. In: counts by day, month or year. Out: bars in the units of a drawing, each a link
//! that narrows the search to it. Never a script: the page draws it as it stands.

use chrono::NaiveDate;

use super::lines::date;
use super::view::Choice;
use super::words::{Labels, fill, grouped};
use taojin_search::index::Dates;

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
    /// The chart of these counts; none if there is nothing to compare. `narrowed` gives the address of the search
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
        let choice = |count: &taojin_search::index::DateCount| Choice {
            label: name(count.start),
            href: narrowed(&name(count.start)),
            chosen: false,
            count: Some(grouped(count.documents)),
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
