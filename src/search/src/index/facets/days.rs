//! Counts matching documents by date of publication: by day, week, month or year, whichever makes a readable chart of
//! where most of them lie, or was requested. Never loads a document.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, Weekday};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) const DAY_MS: i64 = 86_400_000;
/// Up to this many days are counted one by one: a bar each on a phone.
const MAX_DAYS: i64 = 62;
/// Up to this many days they are counted by week.
const MAX_WEEK_DAYS: i64 = 120;
/// Up to this many months, else years.
const MAX_MONTHS: i32 = 60;
/// Documents of which one at each end may be a stray: a page with a wrong date. Where there are more, one in so many.
const STRAY_OF: u64 = 10;
const STRAYS_OF: u64 = 50;
/// Most years shown, the latest: what is older is a wrong date on some page.
const MAX_YEARS: i32 = 60;

/// What one bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    /// A day.
    #[default]
    Day,
    /// A week from Monday on.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// Documents of one day, week, month or year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct DateCount {
    /// First day of it, ISO 8601.
    #[schema(value_type = String, format = Date)]
    pub start: NaiveDate,
    /// Documents published in it.
    pub documents: u64,
}

/// Documents by date of publication, earliest first and without gaps; undated ones are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct Dates {
    /// What each count stands for.
    pub unit: DateUnit,
    /// The counts.
    pub counts: Vec<DateCount>,
    /// Documents with a date before or after those of the counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub outside: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The days of a chart, and what one bar or point of it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// First day.
    pub from: NaiveDate,
    /// Last day.
    pub until: NaiveDate,
    /// The unit that makes a chart of these days readable.
    pub unit: DateUnit,
}

impl Extent {
    /// Where documents lie; `None` if none has a date. Strays do not decide: a few documents far from all others, before or after
    /// them, are not in it if it is less than half as long without them and its unit is finer.
    pub fn of_days(days: &BTreeMap<NaiveDate, u64>) -> Option<Self> {
        let (first, last) = (*days.first_key_value()?.0, *days.last_key_value()?.0);
        let whole = Self::new(first, last);
        let total: u64 = days.values().sum();
        let strays = match total {
            0..STRAY_OF => 0,
            total => (total / STRAYS_OF).max(1),
        };
        let within = |passed: &mut u64, (day, documents): (&NaiveDate, &u64)| {
            *passed += documents;
            Some((*day, *passed > strays))
        };
        let inner = |(day, is_within): (NaiveDate, bool)| is_within.then_some(day);
        let from = days.iter().scan(0, within).find_map(inner)?;
        let until = days.iter().rev().scan(0, within).find_map(inner)?;
        if from > until {
            return Some(whole);
        }
        let bulk = Self::new(from, until);
        let is_finer = bulk.unit < whole.unit && (until - from) * 2 < last - first;
        Some(if is_finer { bulk } else { whole })
    }

    fn new(from: NaiveDate, until: NaiveDate) -> Self {
        let unit = DateUnit::fitting(from, until);
        Self { from, until, unit }
    }
}

impl Dates {
    /// Counts by day, put together so that not too many are left.
    pub(crate) fn from_days(days: &BTreeMap<NaiveDate, u64>) -> Self {
        let Some(Extent { from, until, unit }) = Extent::of_days(days) else {
            return Self::default();
        };
        Self::over(days, unit, from, until)
    }

    /// Counts of every unit from that of the first day to that of the last; of years the latest sixty.
    pub fn over(
        days: &BTreeMap<NaiveDate, u64>,
        unit: DateUnit,
        from: NaiveDate,
        until: NaiveDate,
    ) -> Self {
        let starts = unit.starts(from, until);
        let mut bars: BTreeMap<NaiveDate, u64> = starts.map(|start| (start, 0)).collect();
        let mut outside = 0;
        for (&day, &documents) in days {
            let bar = unit.start(day).and_then(|start| bars.get_mut(&start));
            *bar.unwrap_or(&mut outside) += documents;
        }
        let counts = bars
            .into_iter()
            .map(|(start, documents)| DateCount { start, documents })
            .collect();
        Self {
            unit,
            counts,
            outside,
        }
    }
}

impl DateUnit {
    /// The unit that makes a chart of these days readable.
    fn fitting(from: NaiveDate, until: NaiveDate) -> Self {
        let months = (until.year() - from.year()) * 12 + until.month0().cast_signed()
            - from.month0().cast_signed();
        match () {
            () if (until - from).num_days() < MAX_DAYS => Self::Day,
            () if (until - from).num_days() < MAX_WEEK_DAYS => Self::Week,
            () if months < MAX_MONTHS => Self::Month,
            () => Self::Year,
        }
    }

    /// First days of the units from that of `from` to that of `until`; of years the latest sixty.
    pub fn starts(self, from: NaiveDate, until: NaiveDate) -> impl Iterator<Item = NaiveDate> {
        let earliest = match self {
            Self::Year => NaiveDate::from_ymd_opt(until.year() - MAX_YEARS + 1, 1, 1),
            _ => None,
        };
        let first = self.start(earliest.map_or(from, |earliest| earliest.max(from)));
        std::iter::successors(first, move |start| self.after(*start))
            .take_while(move |start| *start <= until)
    }

    fn start(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => Some(day),
            Self::Week => Some(day.week(Weekday::Mon).first_day()),
            Self::Month => day.with_day(1),
            Self::Year => NaiveDate::from_ymd_opt(day.year(), 1, 1),
        }
    }

    /// Last day of the unit that begins with this day.
    pub fn last_day(self, start: NaiveDate) -> NaiveDate {
        let last = self.after(start).and_then(|next| next.pred_opt());
        last.unwrap_or(NaiveDate::MAX)
    }

    fn after(self, start: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => start.checked_add_days(Days::new(1)),
            Self::Week => start.checked_add_days(Days::new(7)),
            Self::Month => start.checked_add_months(Months::new(1)),
            Self::Year => start.checked_add_months(Months::new(12)),
        }
    }
}

/// The day in which a moment lies, in the time zone that it is given in.
pub(crate) fn day_of(ms: i64) -> Option<NaiveDate> {
    Some(DateTime::from_timestamp_millis(ms)?.date_naive())
}
