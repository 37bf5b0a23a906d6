//! Counts by date of publication. In: matching documents. Out: how many each day, month or year has, whichever
//! makes a chart that can be read. Never loads a document.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, Months, NaiveDate};
use serde::Serialize;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::PUBLISHED_FIELD;

const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// Days from 0001-01-01 to 1970-01-01.
const EPOCH_DAYS: i32 = 719_163;
/// Up to this many days are counted one by one: a bar each on a phone.
const MAX_DAYS: i32 = 62;
/// Up to this many months, else years.
const MAX_MONTHS: i32 = 60;
/// Most years shown, the latest: what is older is a wrong date on some page.
const MAX_YEARS: i32 = 60;

/// What one bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DateUnit {
    /// A day.
    #[default]
    Day,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// Documents of one day, month or year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DateCount {
    /// First day of it.
    pub start: NaiveDate,
    /// Documents published in it.
    pub documents: u64,
}

/// Documents by date of publication, earliest first and without gaps; undated ones are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Dates {
    /// What each count stands for.
    pub unit: DateUnit,
    /// The counts.
    pub counts: Vec<DateCount>,
}

impl Dates {
    /// Counts by day of the common era, put together so that not too many are left.
    pub(super) fn of(days: &BTreeMap<i32, u64>) -> Self {
        let (Some((&first, _)), Some((&last, _))) = (days.first_key_value(), days.last_key_value())
        else {
            return Self::default();
        };
        let date = NaiveDate::from_num_days_from_ce_opt;
        let (Some(from), Some(until)) = (date(first), date(last)) else {
            return Self::default();
        };
        let months = (until.year() - from.year()) * 12 + until.month0().cast_signed()
            - from.month0().cast_signed();
        let unit = match () {
            () if last - first < MAX_DAYS => DateUnit::Day,
            () if months < MAX_MONTHS => DateUnit::Month,
            () => DateUnit::Year,
        };
        let earliest = NaiveDate::from_ymd_opt(until.year() - MAX_YEARS + 1, 1, 1);
        let mut bars: BTreeMap<NaiveDate, u64> = BTreeMap::new();
        let mut at = earliest.map_or(from, |earliest| earliest.max(from));
        while let Some(start) = unit.start(at).filter(|start| *start <= until) {
            bars.insert(start, 0);
            let Some(next) = unit.after(start) else { break };
            at = next;
        }
        for (&day, &documents) in days {
            let bar = date(day)
                .and_then(|day| unit.start(day))
                .and_then(|start| bars.get_mut(&start));
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
    fn start(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => Some(day),
            Self::Month => day.with_day(1),
            Self::Year => NaiveDate::from_ymd_opt(day.year(), 1, 1),
        }
    }

    fn after(self, start: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => start.checked_add_days(Days::new(1)),
            Self::Month => start.checked_add_months(Months::new(1)),
            Self::Year => start.checked_add_months(Months::new(12)),
        }
    }
}

/// Counts matching documents by day of the common era.
pub(super) struct DayCounts {
    /// Where a day begins.
    pub(super) utc_offset_minutes: i32,
}

/// One segment's counts.
pub(super) struct SegmentDays {
    column: Option<Column<i64>>,
    shift_ms: i64,
    days: BTreeMap<i32, u64>,
}

impl Collector for DayCounts {
    type Fruit = BTreeMap<i32, u64>;
    type Child = SegmentDays;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentDays> {
        Ok(SegmentDays {
            column: segment.fast_fields().i64(PUBLISHED_FIELD).ok(),
            shift_ms: i64::from(self.utc_offset_minutes) * MINUTE_MS,
            days: BTreeMap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<BTreeMap<i32, u64>>) -> tantivy::Result<Self::Fruit> {
        let mut sum = BTreeMap::new();
        for (day, count) in fruits.into_iter().flatten() {
            *sum.entry(day).or_insert(0) += count;
        }
        Ok(sum)
    }
}

impl SegmentCollector for SegmentDays {
    type Fruit = BTreeMap<i32, u64>;

    fn collect(&mut self, doc: DocId, _: Score) {
        let published = self.column.as_ref().and_then(|column| column.first(doc));
        if let Some(ms) = published {
            let day = ms.saturating_add(self.shift_ms).div_euclid(DAY_MS);
            if let Ok(day) = i32::try_from(day.saturating_add(i64::from(EPOCH_DAYS))) {
                *self.days.entry(day).or_insert(0) += 1;
            }
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.days
    }
}
