//! The floor of a match and the sum of a score. In: queries with weights. Out: the documents in which the weights of those
//! that fit reach a least sum ([`AtLeast`]), and documents scored by queries that do not decide what fits ([`Scored`]).
//! Never looks at a text.

use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Term;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use super::compile::Boxed;

/// What a sum of weights may lack for being rounded.
pub(super) const ROUNDING: f32 = 1e-4;

/// Documents in which the weights of the queries that fit add up to `least`. Scores nothing.
#[derive(Debug)]
pub(super) struct AtLeast {
    any: Vec<(Boxed, f32)>,
    least: f32,
}

impl AtLeast {
    pub(super) fn new(mut any: Vec<(Boxed, f32)>, least: f32) -> Self {
        any.sort_by(|a, b| b.1.total_cmp(&a.1));
        Self {
            any,
            least: least - ROUNDING,
        }
    }
}

impl Clone for AtLeast {
    fn clone(&self) -> Self {
        let any = self.any.iter();
        Self {
            any: any
                .map(|(query, weight)| (query.box_clone(), *weight))
                .collect(),
            least: self.least,
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
        let mut scorer = AtLeastScorer {
            any,
            leading,
            least: self.least,
            doc: 0,
        };
        scorer.find(0);
        Ok(Box::new(scorer))
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(segment, 1.0)?;
        match scorer.doc() <= doc && scorer.seek(doc) == doc {
            true => Ok(Explanation::new("enough of the words", 0.0)),
            false => Err(not_there(doc)),
        }
    }
}

struct AtLeastScorer {
    /// The heaviest first, which are the rarest.
    any: Vec<(Box<dyn Scorer>, f32)>,
    /// So many of them lead from document to document.
    leading: usize,
    least: f32,
    doc: DocId,
}

impl AtLeastScorer {
    /// The first document that fits, from this one on. All that leads stands there or behind it.
    fn find(&mut self, from: DocId) {
        let mut from = from;
        loop {
            let (leading, led) = self.any.split_at_mut(self.leading);
            let mut doc = TERMINATED;
            for (scorer, _) in leading.iter_mut() {
                reach(scorer.as_mut(), from);
                doc = doc.min(scorer.doc());
            }
            self.doc = doc;
            if doc == TERMINATED {
                return;
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
                return;
            }
            from = doc + 1;
        }
    }
}

/// Moves to a document or the first behind it; stays where it is past it or at the end.
fn reach(scorer: &mut dyn Scorer, doc: DocId) {
    if scorer.doc() < doc {
        scorer.seek(doc);
    }
}

impl DocSet for AtLeastScorer {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.find(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        match target {
            TERMINATED => self.doc = TERMINATED,
            _ if self.doc < target => self.find(target),
            _ => {}
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let leading = self.any.iter().take(self.leading);
        let hints = leading.map(|(scorer, _)| scorer.size_hint());
        hints.fold(0, u32::saturating_add)
    }
}

impl Scorer for AtLeastScorer {
    fn score(&mut self) -> Score {
        0.0
    }
}

/// The documents of one query, scored by others.
#[derive(Debug)]
pub(super) struct Scored {
    pub(super) fitting: Boxed,
    pub(super) by: Vec<Boxed>,
}

impl Clone for Scored {
    fn clone(&self) -> Self {
        Self {
            fitting: self.fitting.box_clone(),
            by: self.by.iter().map(|query| query.box_clone()).collect(),
        }
    }
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
        let mut scorer = self.scorer(segment, 1.0)?;
        match scorer.doc() <= doc && scorer.seek(doc) == doc {
            true => Ok(Explanation::new("sum of the words", scorer.score())),
            false => Err(not_there(doc)),
        }
    }
}

fn not_there(doc: DocId) -> TantivyError {
    TantivyError::InvalidArgument(format!("document {doc} does not fit"))
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
