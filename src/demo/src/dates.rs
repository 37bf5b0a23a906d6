//! Moves the dates of the sample web, so that its news is never old.
//!
//! The files are written for one day ([`WRITTEN_FOR`]). [`DateShift`] replaces each date of the month before it, in whatever form the
//! pages and addresses have it, by the one as many days later as have passed since. Dates of other months and a year alone,
//! as in a copyright notice, stay.

use aho_corasick::{AhoCorasick, MatchKind};
use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};

const DAY_MS: i64 = 86_400_000;
/// The moment that the files are written for: 2026-11-20 10:00 in Beijing. Nothing in them is younger.
const WRITTEN_FOR: DateTime<Utc> = DateTime::from_timestamp_nanos(1_795_140_000_000_000_000);
/// Days before that moment from which dates are moved.
const MOVED_DAYS: i64 = 45;

/// How a day is written. Of forms that look the same on a day, the first counts.
const DAY_FORMS: [&str; 14] = [
    "%Y-%m-%d",
    "%Y-%-m-%-d",
    "%Y/%m/%d",
    "%Y年%-m月%-d日",
    "%Y年%m月%d日",
    "%Y 年 %-m 月 %-d 日",
    "%-m月%-d日",
    "%a, %-d %b %Y",
    // In lists.
    ">%m/%d ",
    "(%m-%d)",
    "[%m-%d]",
    // In addresses.
    "/%Y/%m%d/",
    "/%Y-%m/%d/",
    "/%Y%m/t%Y%m%d_",
];
/// How a month is written; it moves as its 15th does.
const MONTH_FORMS: [&str; 4] = ["/%Y/%m/", "/%Y%m/", "%Y年%-m月", "%-m月"];
/// How the year of the files is written.
const YEAR_FORM: &str = "%Y年";

/// The move from the day of the files to another one.
#[derive(Debug)]
pub(crate) struct DateShift {
    days: i64,
    written: AhoCorasick,
    moved: Vec<String>,
}

impl DateShift {
    /// Moves to the last day on which nothing is younger than `now_ms`.
    pub(crate) fn new(now_ms: i64) -> Self {
        let days = (now_ms - WRITTEN_FOR.timestamp_millis()).div_euclid(DAY_MS);
        let last = WRITTEN_FOR.date_naive();
        let (mut written, mut moved) = (Vec::new(), Vec::new());
        for age in 0..=MOVED_DAYS {
            let day = last - TimeDelta::days(age);
            let mut forms = DAY_FORMS.to_vec();
            if day.day() == 15 {
                forms.extend(MONTH_FORMS);
            }
            if age == 0 {
                forms.push(YEAR_FORM);
            }
            for form in forms {
                let write = |day: NaiveDate| day.format(form).to_string();
                written.push(write(day));
                moved.push(write(day + TimeDelta::days(days)));
            }
        }
        let mut builder = AhoCorasick::builder();
        let written = builder
            .match_kind(MatchKind::LeftmostLongest)
            .build(written);
        Self {
            days,
            written: written.expect("a few hundred short patterns"),
            moved,
        }
    }

    /// Moves the dates in a text.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.written.replace_all(text, &self.moved)
    }

    /// Returns the moment that the files are written for, moved.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        WRITTEN_FOR + TimeDelta::days(self.days)
    }
}
