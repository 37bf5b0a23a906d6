//! The floor of a match and the sum of a score. In: queries with weights. Out: the documents in which the weights of those
//! that fit reach a least sum ([`AtLeast`]), and documents scored by queries that do not decide what fits ([`Scored`]).
//! Never looks at a text.

use std::sync::Arc;

use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Term;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use super::compile::Boxed;

/// What a sum of weights may lack for being rounded.
pub(crate) const ROUNDING: f32 = 1e-4;

/// Documents in which the weights of the queries that fit add up to `least`. Scores nothing.
#[derive(Debug, Clone)]
pub(crate) struct AtLeast {
    any: Arc<[(Boxed, f32)]>,
    least: f32,
}

impl AtLeast {
    pub(crate) fn new(mut any: Vec<(Boxed, f32)>, least: f32) -> Self {
        any.sort_by(|a, b| b.1.total_cmp(&a.1));
        Self {
            any: any.into(),
            least: least - ROUNDING,
        }
    }
}

impl Query for AtLeast {
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
                reach(scorer.as_mut(), from);
                doc = doc.min(scorer.doc());
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
                reach(scorer.as_mut(), doc);
                if scorer.doc() == doc {
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

/// Moves to a document or the first behind it; stays where it is past it or at the end.
fn reach(scorer: &mut dyn Scorer, doc: DocId) {
    if scorer.doc() < doc {
        scorer.seek(doc);
    }
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
        reach(self.fitting.as_mut(), target);
        self.fitting.doc()
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
            reach(scorer.as_mut(), doc);
            if scorer.doc() == doc {
                sum += scorer.score();
            }
        }
        sum
    }
}
