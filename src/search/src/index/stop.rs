//! Cancels a search that nobody waits for any more, and refuses one that costs too much. A query carries a
//! [`CancellationToken`]; a cancelled search returns an error, never a part of a result that looks whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::{EnableScoring, Explanation, Query as TantivyQuery, Scorer, Weight};
use tantivy::schema::Term;
use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, Score, SegmentOrdinal, SegmentReader, TERMINATED, TantivyError,
};

use super::query::{Form, Group, Query, Target};
use crate::analyze::{GramPhrase, gram_phrase, normalize};

/// Most single characters that one query may look for: each is every pair of characters with it, thousands of lists in
/// each field. Who looks for eight of them at once means a word.
pub const MAX_SINGLE_CHARACTERS: usize = 8;

/// Documents looked at between two looks at the [`CancellationToken`]: some ten thousandths of a second.
const LOOK_EVERY: u32 = 4_096;

/// A switch that ends the searches it was given to. Clones are the same switch.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

/// Two queries ask the same, whoever can stop them.
impl PartialEq for CancellationToken {
    fn eq(&self, _: &CancellationToken) -> bool {
        true
    }
}

impl Eq for CancellationToken {}

impl CancellationToken {
    /// Ends the searches.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether they are to end.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A collector that obeys this.
    pub(crate) fn with<C: Collector>(&self, inner: C) -> CancellableCollector<C> {
        CancellableCollector {
            inner,
            stop: self.clone(),
        }
    }

    pub(crate) fn check(&self) -> tantivy::Result<()> {
        if self.is_stopped() {
            Err(TantivyError::InternalError("stopped".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Query {
    /// How many single characters are searched for literally (see [`MAX_SINGLE_CHARACTERS`]).
    pub fn single_characters(&self) -> usize {
        let clauses = self.groups.iter().flat_map(Group::leaves);
        let single = clauses.filter(|clause| {
            let text = normalize(&clause.text);
            let one = clause.form == Form::Prefix && text.trim().chars().count() == 1;
            clause.target != Target::Site
                && (one || matches!(gram_phrase(&text), GramPhrase::Single(_)))
        });
        single.count()
    }
}

/// A collector that ends with an error once its search is stopped.
pub(crate) struct CancellableCollector<C> {
    inner: C,
    stop: CancellationToken,
}

impl<C: Collector> Collector for CancellableCollector<C> {
    type Fruit = C::Fruit;
    type Child = C::Child;

    fn for_segment(
        &self,
        at: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<C::Child> {
        self.inner.for_segment(at, segment)
    }

    fn requires_scoring(&self) -> bool {
        self.inner.requires_scoring()
    }

    fn merge_fruits(
        &self,
        fruits: Vec<<C::Child as SegmentCollector>::Fruit>,
    ) -> tantivy::Result<C::Fruit> {
        self.inner.merge_fruits(fruits)
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        at: u32,
        segment: &SegmentReader,
    ) -> tantivy::Result<<C::Child as SegmentCollector>::Fruit> {
        self.stop.check()?;
        let mut child = self.inner.for_segment(at, segment)?;
        let mut fitting = weight.scorer(segment, 1.0)?;
        if self.requires_scoring() {
            self.scored(&mut child, fitting.as_mut(), segment)?
        } else {
            self.unscored(&mut child, fitting.as_mut(), segment)?
        }
        Ok(child.harvest())
    }
}

impl<C: Collector> CancellableCollector<C> {
    fn scored(
        &self,
        child: &mut C::Child,
        fitting: &mut dyn Scorer,
        segment: &SegmentReader,
    ) -> tantivy::Result<()> {
        let alive = segment.alive_bitset();
        let mut seen: u32 = 0;
        let mut doc = fitting.doc();
        while doc != TERMINATED {
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                child.collect(doc, fitting.score());
            }
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(LOOK_EVERY) {
                self.stop.check()?;
            }
            doc = fitting.advance();
        }
        Ok(())
    }

    fn unscored(
        &self,
        child: &mut C::Child,
        fitting: &mut dyn Scorer,
        segment: &SegmentReader,
    ) -> tantivy::Result<()> {
        let alive = segment.alive_bitset();
        let mut block = [0; COLLECT_BLOCK_BUFFER_LEN];
        loop {
            let filled = fitting.fill_buffer(&mut block);
            let docs = block.get(..filled).unwrap_or_default();
            match alive {
                None => child.collect_block(docs),
                Some(alive) => {
                    for doc in docs.iter().copied().filter(|doc| alive.is_alive(*doc)) {
                        child.collect(doc, 0.0);
                    }
                }
            }
            if filled < block.len() {
                return Ok(());
            }
            self.stop.check()?;
        }
    }
}

/// A query that is dear to begin with in each segment, and is not begun once its search is stopped.
#[derive(Debug, Clone)]
pub(crate) struct CancellableQuery {
    pub(crate) inner: Arc<dyn TantivyQuery>,
    pub(crate) stop: CancellationToken,
}

impl TantivyQuery for CancellableQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(CancellableWeight {
            inner: self.inner.weight(scoring)?,
            stop: self.stop.clone(),
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.inner.query_terms(visitor);
    }
}

struct CancellableWeight {
    inner: Box<dyn Weight>,
    stop: CancellationToken,
}

impl Weight for CancellableWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.stop.check()?;
        self.inner.scorer(segment, boost)
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.inner.explain(segment, doc)
    }
}
