//! Counts matching documents by date of publication: by day, week, month or year, whichever makes a readable chart or
//! was requested. Never loads a document.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, Weekday};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) const DAY_MS: i64 = 86_400_000;
/// Up to this many days are counted one by one: a bar each on a phone.
const MAX_DAYS: i64 = 62;
/// Up to this many months, else years.
const MAX_MONTHS: i32 = 60;
/// Most years shown, the latest: what is older is a wrong date on some page.
const MAX_YEARS: i32 = 60;

/// What one bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    /// A day.
    #[default]
    Day,
    /// A week from Monday on; only where it was asked for.
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
}

impl Dates {
    /// Counts by day, put together so that not too many are left.
    pub(crate) fn from_days(days: &BTreeMap<NaiveDate, u64>) -> Self {
        match (days.first_key_value(), days.last_key_value()) {
            (Some((&from, _)), Some((&until, _))) => {
                Self::over(days, DateUnit::fitting(from, until), from, until)
            }
            _ => Self::default(),
        }
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
        for (&day, &documents) in days {
            let bar = unit.start(day).and_then(|start| bars.get_mut(&start));
            if let Some(bar) = bar {
                *bar += documents;
            }
        }
        let counts = bars
            .into_iter()
            .map(|(start, documents)| DateCount { start, documents })
            .collect();
        Self { unit, counts }
    }
}

impl DateUnit {
    /// The unit that makes a chart of these days readable.
    pub fn fitting(from: NaiveDate, until: NaiveDate) -> Self {
        let months = (until.year() - from.year()) * 12 + until.month0().cast_signed()
            - from.month0().cast_signed();
        match () {
            () if (until - from).num_days() < MAX_DAYS => Self::Day,
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
