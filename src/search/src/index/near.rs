//! Two texts near each other. In: the grams of both and the most characters between them. Out: the documents in which they
//! stand so, in either order. Reads positions only of documents that have all grams of both.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

use super::floor::{Finding, Finds, explain};
use super::rank::plan::Chain;
use super::schema::Column;

/// Two texts with so many characters between them at most.
#[derive(Debug, Clone)]
pub(crate) struct Near {
    column: Column,
    chains: [Chain; 2],
    within: u32,
}

impl Near {
    pub(crate) fn new(column: Column, chains: [Chain; 2], within: u32) -> Self {
        Self {
            column,
            chains,
            within,
        }
    }
}

impl Query for Near {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(NearWeight(self.clone())))
    }
}

struct NearWeight(Near);

impl Weight for NearWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let index = segment.inverted_index(self.0.column.field())?;
        let mut sides = Vec::with_capacity(2);
        for chain in &self.0.chains {
            let mut found = Vec::with_capacity(chain.grams.len());
            for (place, gram) in &chain.grams {
                let option = IndexRecordOption::WithFreqsAndPositions;
                let Some(postings) = index.read_postings(&self.0.column.term(gram), option)? else {
                    return Ok(Box::new(EmptyScorer));
                };
                found.push((*place, postings));
            }
            sides.push((found, chain.chars));
        }
        let finder = NearFinder {
            sides,
            within: self.0.within,
        };
        Ok(Box::new(ConstScorer::new(Finding::new(finder), boost)))
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explain(self, segment, doc, "near each other")
    }
}

struct NearFinder {
    sides: Vec<(Vec<(u32, SegmentPostings)>, u32)>,
    within: u32,
}

impl Finds for NearFinder {
    fn find(&mut self, from: DocId) -> DocId {
        let mut doc = from;
        'next: loop {
            for (grams, _) in &mut self.sides {
                for (_, postings) in grams {
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() != doc {
                        doc = postings.doc();
                        if doc == TERMINATED {
                            return doc;
                        }
                        continue 'next;
                    }
                }
            }
            if self.is_near() {
                return doc;
            }
            doc += 1;
        }
    }

    fn size_hint(&self) -> u32 {
        let all = self.sides.iter().flat_map(|(grams, _)| grams);
        let hints = all.map(|(_, postings)| postings.size_hint());
        hints.min().unwrap_or_default()
    }
}

impl NearFinder {
    /// Whether the texts are near each other in the document where all postings stand.
    fn is_near(&mut self) -> bool {
        let mut places = Vec::with_capacity(2);
        for (grams, chars) in &mut self.sides {
            places.push((starts(grams), *chars));
        }
        let [(first, first_chars), (second, second_chars)] = places.as_slice() else {
            return false;
        };
        let follows = |a: u32, chars: u32, b: u32| {
            let end = a.saturating_add(chars);
            b >= end && b - end <= self.within
        };
        let mut behind = 0;
        for a in first {
            // What ends too far before this one does so for those behind it.
            let reach = first_chars.max(second_chars).saturating_add(self.within);
            while second
                .get(behind)
                .is_some_and(|b| b.saturating_add(reach) < *a)
            {
                behind += 1;
            }
            let close = second.iter().skip(behind);
            for b in close.take_while(|b| **b <= a.saturating_add(reach)) {
                if follows(*a, *first_chars, *b) || follows(*b, *second_chars, *a) {
                    return true;
                }
            }
        }
        false
    }
}

/// Where a chain of grams begins in the document at which its postings stand.
fn starts(grams: &mut [(u32, SegmentPostings)]) -> Vec<u32> {
    let mut starts: Option<Vec<u32>> = None;
    let mut positions = Vec::new();
    for (place, postings) in grams {
        postings.positions(&mut positions);
        let here = positions.iter().filter_map(|at| at.checked_sub(*place));
        starts = Some(match starts {
            None => here.collect(),
            Some(before) => {
                let here: Vec<u32> = here.collect();
                let also = |start: &u32| here.binary_search(start).is_ok();
                before.into_iter().filter(also).collect()
            }
        });
    }
    starts.unwrap_or_default()
}
