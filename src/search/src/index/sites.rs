//! Counts by site. In: matching documents. Out: how many each site has. Never loads a document.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::StrColumn;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::Column;

/// Counts matching documents by the site field.
#[derive(Clone, Copy)]
pub(crate) struct SiteCounts;

/// One segment's counts, by ordinal of its dictionary.
pub(crate) struct SegmentCounts {
    column: Option<StrColumn>,
    counts: Vec<u64>,
}

impl Collector for SiteCounts {
    type Fruit = Vec<(String, u64)>;
    type Child = SegmentCounts;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentCounts> {
        let column = segment.fast_fields().str(Column::Site.name())?;
        let size = column.as_ref().map_or(0, |column| column.num_terms());
        Ok(SegmentCounts {
            column,
            counts: vec![0; size],
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Vec<Vec<(String, u64)>>) -> tantivy::Result<Self::Fruit> {
        let mut sum = std::collections::HashMap::new();
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
        let mut named = Vec::new();
        for (ordinal, count) in self.counts.into_iter().enumerate() {
            let mut name = String::new();
            if count > 0
                && column
                    .ord_to_str(ordinal as u64, &mut name)
                    .unwrap_or(false)
            {
                named.push((name, count));
            }
        }
        named
    }
}
