//! Queries that tantivy does not have: documents in which the weights of the queries that fit reach a minimum sum
//! ([`MinimumShouldMatchQuery`]), documents scored by queries that do not decide what fits ([`Scored`]), and those in
//! which two texts are near each other, in either order ([`Near`]). Reads positions only of documents that have all
//! grams of both.

use std::sync::Arc;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{IndexRecordOption, Term};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use super::compile::Boxed;
use crate::index::rank::plan::Chain;
use crate::index::schema::Column;

/// What a sum of weights may lack for being rounded.
pub(crate) const ROUNDING: f32 = 1e-4;

/// Documents in which the weights of the queries that fit add up to `least`. Scores nothing.
#[derive(Debug, Clone)]
pub(crate) struct MinimumShouldMatchQuery {
    any: Arc<[(Boxed, f32)]>,
    least: f32,
}

impl MinimumShouldMatchQuery {
    pub(crate) fn new(mut any: Vec<(Boxed, f32)>, least: f32) -> Self {
        any.sort_by(|a, b| b.1.total_cmp(&a.1));
        Self {
            any: any.into(),
            least: least - ROUNDING,
        }
    }
}

impl Query for MinimumShouldMatchQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let any = self.any.iter();
        let weights = any.map(|(query, weight)| Ok((query.weight(unscored(scoring))?, *weight)));
        Ok(Box::new(AtLeastWeight {
            any: weights.collect::<tantivy::Result<_>>()?,
            least: self.least,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.any
            .iter()
            .for_each(|(query, _)| query.query_terms(visitor));
    }
}

/// The same without scores.
fn unscored(scoring: EnableScoring<'_>) -> EnableScoring<'_> {
    match scoring {
        EnableScoring::Enabled { searcher, .. } => EnableScoring::disabled_from_searcher(searcher),
        disabled @ EnableScoring::Disabled { .. } => disabled,
    }
}

struct AtLeastWeight {
    any: Vec<(Box<dyn Weight>, f32)>,
    least: f32,
}

impl Weight for AtLeastWeight {
    fn scorer(&self, segment: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut any = Vec::with_capacity(self.any.len());
        for (weight, worth) in &self.any {
            let scorer = weight.scorer(segment, 1.0)?;
            if scorer.doc() != TERMINATED {
                any.push((scorer, *worth));
            }
        }
        // Whatever stands behind these cannot reach the least sum by itself.
        let mut rest: f32 = any.iter().map(|(_, worth)| worth).sum();
        let mut leading = 0;
        for (_, worth) in &any {
            if rest < self.least {
                break;
            }
            rest -= worth;
            leading += 1;
        }
        if leading == 0 {
            return Ok(Box::new(EmptyScorer));
        }
        let finder = AtLeastFinder {
            any,
            leading,
            least: self.least,
        };
        Ok(Box::new(ConstScorer::new(Finding::new(finder), 0.0)))
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explain(self, segment, doc, "enough of the words")
    }
}

/// Explains a document by its score alone.
pub(crate) fn explain(
    weight: &dyn Weight,
    segment: &SegmentReader,
    doc: DocId,
    why: &'static str,
) -> tantivy::Result<Explanation> {
    let mut scorer = weight.scorer(segment, 1.0)?;
    if scorer.doc() <= doc && scorer.seek(doc) == doc {
        return Ok(Explanation::new(why, scorer.score()));
    }
    let cause = format!("document {doc} does not fit");
    Err(TantivyError::InvalidArgument(cause))
}

/// Finds documents one behind the other.
pub(crate) trait Finds: Send {
    /// Returns the first document that fits from this one on, or [`TERMINATED`]; `from` only rises.
    fn find(&mut self, from: DocId) -> DocId;

    /// Returns about how many there are.
    fn size_hint(&self) -> u32;
}

/// What is found, as a set of documents.
pub(crate) struct Finding<F> {
    finder: F,
    doc: DocId,
}

impl<F: Finds> Finding<F> {
    pub(crate) fn new(mut finder: F) -> Self {
        let doc = finder.find(0);
        Self { finder, doc }
    }
}

impl<F: Finds + 'static> DocSet for Finding<F> {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.doc = self.finder.find(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        match target {
            TERMINATED => self.doc = TERMINATED,
            _ if self.doc < target => self.doc = self.finder.find(target),
            _ => {}
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.finder.size_hint()
    }
}

struct AtLeastFinder {
    /// The heaviest first, which are the rarest.
    any: Vec<(Box<dyn Scorer>, f32)>,
    /// So many of them lead from document to document.
    leading: usize,
    least: f32,
}

impl Finds for AtLeastFinder {
    /// All that leads stands there or behind it.
    fn find(&mut self, from: DocId) -> DocId {
        let mut from = from;
        loop {
            let (leading, led) = self.any.split_at_mut(self.leading);
            let mut doc = TERMINATED;
            for (scorer, _) in leading.iter_mut() {
                doc = doc.min(advance_to(scorer.as_mut(), from));
            }
            if doc == TERMINATED {
                return doc;
            }
            let here = leading.iter().filter(|(scorer, _)| scorer.doc() == doc);
            let mut sum: f32 = here.map(|(_, worth)| worth).sum();
            let mut rest: f32 = led.iter().map(|(_, worth)| worth).sum();
            for (scorer, worth) in led.iter_mut() {
                if sum >= self.least || sum + rest < self.least {
                    break;
                }
                rest -= *worth;
                if advance_to(scorer.as_mut(), doc) == doc {
                    sum += *worth;
                }
            }
            if sum >= self.least {
                return doc;
            }
            from = doc + 1;
        }
    }

    fn size_hint(&self) -> u32 {
        let leading = self.any.iter().take(self.leading);
        let hints = leading.map(|(scorer, _)| scorer.size_hint());
        hints.fold(0, u32::saturating_add)
    }
}

/// Moves to a document or the first behind it and returns where it stands; stays where it is past it or at the end.
///
/// A step is tried first: it takes a tenth of the time of a search in the list, and is all that is needed where the list is much the
/// same as the one that leads.
fn advance_to(scorer: &mut dyn Scorer, doc: DocId) -> DocId {
    let mut at = scorer.doc();
    if at < doc {
        at = scorer.advance();
    }
    if at < doc { scorer.seek(doc) } else { at }
}

/// The documents of one query, scored by others.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub(crate) fitting: Arc<dyn Query>,
    pub(crate) by: Arc<[Boxed]>,
}

impl Query for Scored {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let fitting = self.fitting.weight(unscored(scoring))?;
        // Who does not score needs only to know what fits.
        if !scoring.is_scoring_enabled() {
            return Ok(fitting);
        }
        let by = self.by.iter().map(|query| query.weight(scoring));
        let by = by.collect::<tantivy::Result<_>>()?;
        Ok(Box::new(ScoredWeight { fitting, by }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.fitting.query_terms(visitor);
        self.by.iter().for_each(|query| query.query_terms(visitor));
    }
}

struct ScoredWeight {
    fitting: Box<dyn Weight>,
    by: Vec<Box<dyn Weight>>,
}

impl Weight for ScoredWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let fitting = self.fitting.scorer(segment, 1.0)?;
        let mut by = Vec::with_capacity(self.by.len());
        if fitting.doc() != TERMINATED {
            for weight in &self.by {
                let scorer = weight.scorer(segment, boost)?;
                if scorer.doc() != TERMINATED {
                    by.push(scorer);
                }
            }
        }
        Ok(Box::new(ScoredScorer { fitting, by }))
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explain(self, segment, doc, "sum of the words")
    }
}

struct ScoredScorer {
    fitting: Box<dyn Scorer>,
    by: Vec<Box<dyn Scorer>>,
}

impl DocSet for ScoredScorer {
    fn advance(&mut self) -> DocId {
        self.fitting.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        advance_to(self.fitting.as_mut(), target)
    }

    fn doc(&self) -> DocId {
        self.fitting.doc()
    }

    fn size_hint(&self) -> u32 {
        self.fitting.size_hint()
    }

    fn cost(&self) -> u64 {
        self.fitting.cost()
    }
}

impl Scorer for ScoredScorer {
    fn score(&mut self) -> Score {
        let doc = self.fitting.doc();
        let mut sum = 0.0;
        for scorer in &mut self.by {
            if advance_to(scorer.as_mut(), doc) == doc {
                sum += scorer.score();
            }
        }
        sum
    }
}

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
