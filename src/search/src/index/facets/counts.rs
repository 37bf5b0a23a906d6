//! Counts matching documents by site, by day of publication and by group of reprints. Never loads a document.

use std::collections::{BTreeMap, HashMap};

use chrono::NaiveDate;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::StrColumn;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::days::{DAY_MS, day_of};
use crate::index::schema::Column;

/// Counts matching documents by the names in a column.
#[derive(Clone, Copy)]
pub(crate) struct NameCounts {
    pub(crate) column: Column,
    /// Names of a segment that are counted, the most frequent.
    pub(crate) most: usize,
}

/// One segment's counts, by ordinal of its dictionary. A segment has fewer than 2³² documents.
pub(crate) struct SegmentCounts {
    column: Option<StrColumn>,
    counts: Vec<u32>,
    most: usize,
}

impl Collector for NameCounts {
    type Fruit = Vec<(String, u64)>;
    type Child = SegmentCounts;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentCounts> {
        let column = segment.fast_fields().str(self.column.name())?;
        let size = column.as_ref().map_or(0, |column| column.num_terms());
        Ok(SegmentCounts {
            column,
            counts: vec![0; size],
            most: self.most,
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<(String, u64)>>) -> tantivy::Result<Self::Fruit> {
        let mut sum = HashMap::new();
        for (site, count) in fruits.into_iter().flatten() {
            *sum.entry(site).or_insert(0) += count;
        }
        let mut sorted: Vec<(String, u64)> = sum.into_iter().collect();
        sorted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(sorted)
    }
}

impl SegmentCollector for SegmentCounts {
    type Fruit = Vec<(String, u64)>;

    fn collect(&mut self, doc: DocId, _: Score) {
        if let Some(column) = &self.column {
            for ordinal in column.term_ords(doc) {
                if let Some(count) = self.counts.get_mut(ordinal as usize) {
                    *count += 1;
                }
            }
        }
    }

    fn harvest(self) -> Self::Fruit {
        let Some(column) = self.column else {
            return Vec::new();
        };
        let counted = self.counts.into_iter().enumerate();
        let mut counted: Vec<(usize, u32)> = counted.filter(|(_, count)| *count > 0).collect();
        if counted.len() > self.most {
            let by_count = |(_, count): &(usize, u32)| std::cmp::Reverse(*count);
            counted.select_nth_unstable_by_key(self.most, by_count);
            counted.truncate(self.most);
        }
        // In order, so that each block of the dictionary is read once and not for each of its names.
        counted.sort_unstable();
        let (ordinals, counts): (Vec<u64>, Vec<u32>) = counted
            .into_iter()
            .map(|(at, count)| (at as u64, count))
            .unzip();
        let mut counts = counts.into_iter();
        let mut named = Vec::with_capacity(ordinals.len());
        // Names that cannot be read are not counted.
        let _ = column
            .dictionary()
            .sorted_ords_to_term_cb(&ordinals, |name| {
                if let (Ok(name), Some(count)) = (std::str::from_utf8(name), counts.next()) {
                    named.push((name.to_owned(), u64::from(count)));
                }
            });
        named
    }
}

/// Counts matching documents by day.
#[derive(Clone, Copy)]
pub(crate) struct DayCounts {
    /// Where a day begins.
    pub(crate) utc_offset_minutes: i32,
}

/// One segment's counts.
pub(crate) struct SegmentDays {
    column: Option<tantivy::columnar::Column<i64>>,
    shift_ms: i64,
    /// By day since 1970.
    days: BTreeMap<i64, u64>,
}

impl Collector for DayCounts {
    type Fruit = BTreeMap<NaiveDate, u64>;
    type Child = SegmentDays;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentDays> {
        Ok(SegmentDays {
            column: segment.fast_fields().i64(Column::Published.name()).ok(),
            shift_ms: i64::from(self.utc_offset_minutes) * 60_000,
            days: BTreeMap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<BTreeMap<NaiveDate, u64>>) -> tantivy::Result<Self::Fruit> {
        let mut sum = BTreeMap::new();
        for (day, count) in fruits.into_iter().flatten() {
            *sum.entry(day).or_insert(0) += count;
        }
        Ok(sum)
    }
}

impl SegmentCollector for SegmentDays {
    type Fruit = BTreeMap<NaiveDate, u64>;

    fn collect(&mut self, doc: DocId, _: Score) {
        let published = self.column.as_ref().and_then(|column| column.first(doc));
        if let Some(ms) = published {
            let day = ms.saturating_add(self.shift_ms).div_euclid(DAY_MS);
            *self.days.entry(day).or_insert(0) += 1;
        }
    }

    fn harvest(self) -> Self::Fruit {
        let dated = |(day, count): (i64, u64)| Some((day_of(day.saturating_mul(DAY_MS))?, count));
        self.days.into_iter().filter_map(dated).collect()
    }
}

/// Counts matching documents by group of reprints.
pub(crate) struct GroupCounts;

/// One segment's counts.
pub(crate) struct SegmentGroups {
    column: Option<tantivy::columnar::Column<u64>>,
    counts: HashMap<u64, u64>,
}

impl Collector for GroupCounts {
    type Fruit = HashMap<u64, u64>;
    type Child = SegmentGroups;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentGroups> {
        Ok(SegmentGroups {
            column: segment
                .fast_fields()
                .column_opt::<u64>(Column::Group.name())?,
            counts: HashMap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<HashMap<u64, u64>>) -> tantivy::Result<Self::Fruit> {
        let mut sum = HashMap::new();
        for (group, count) in fruits.into_iter().flatten() {
            *sum.entry(group).or_insert(0) += count;
        }
        Ok(sum)
    }
}

impl SegmentCollector for SegmentGroups {
    type Fruit = HashMap<u64, u64>;

    fn collect(&mut self, doc: DocId, _: Score) {
        let group = self.column.as_ref().and_then(|column| column.first(doc));
        if let Some(group) = group {
            *self.counts.entry(group).or_insert(0) += 1;
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.counts
    }
}
