//! From a [`Plan`] to what tantivy runs. Never fails.

use std::sync::Arc;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery,
    Occur as Must, PhrasePrefixQuery, PhraseQuery, Query as TantivyQuery, RangeQuery, RegexQuery,
    TermQuery,
};
use tantivy::schema::IndexRecordOption;

use super::queries::Near;
use super::queries::{MinimumShouldMatchQuery, Scored};
use crate::analyze::ending_pattern;
use crate::index::rank::plan::Plan;
use crate::index::schema::{Column, Type};
use crate::index::stop::{CancellableQuery, CancellationToken};

pub(crate) type Boxed = Box<dyn TantivyQuery>;

/// Compiles plans for a search that this switch ends.
#[derive(Clone, Copy)]
pub(crate) struct Compiler<'a>(pub(crate) &'a CancellationToken);

impl Compiler<'_> {
    /// What tantivy runs for a plan.
    pub(crate) fn query(self, plan: &Plan) -> Boxed {
        self.built(plan)
            .unwrap_or_else(|| Box::new(EmptyQuery) as Boxed)
    }

    fn built(self, plan: &Plan) -> Option<Boxed> {
        Some(match plan {
            Plan::All => Box::new(AllQuery),
            Plan::Nothing => return None,
            Plan::Term(column, text) => {
                Box::new(TermQuery::new(column.term(text), record(*column)))
            }
            Plan::Phrase(column, grams) => {
                let term = |(at, gram): &(usize, String)| (*at, column.term(gram));
                let terms = grams.iter().map(term).collect();
                Box::new(PhraseQuery::new_with_offset(terms))
            }
            Plan::Begins(column, text) => self.begins(*column, text),
            Plan::Ends(column, text) => {
                let pattern = ending_pattern(text);
                let ends = RegexQuery::from_pattern(&pattern, column.field());
                self.dear(Arc::new(ends.ok()?))
            }
            Plan::Between(column, from, until) => {
                use std::ops::Bound::{Excluded, Included};
                let range =
                    RangeQuery::new(Included(column.term(from)), Excluded(column.term(until)));
                self.dear(Arc::new(range))
            }
            Plan::Near(column, chains, within) => {
                Box::new(Near::new(*column, chains.clone(), *within))
            }
            Plan::Group(group) => group_query(*group),
            Plan::Within(column, since_ms, until_ms) => within(*column, *since_ms, *until_ms),
            Plan::Any(any) => Box::new(BooleanQuery::union(self.all(any))),
            Plan::Best(any) => Box::new(DisjunctionMaxQuery::new(self.all(any))),
            Plan::Each { must, without } => {
                let must = self.all(must).into_iter().map(|q| (Must::Must, q));
                let without = self.all(without).into_iter();
                let without = without.map(|q| (Must::MustNot, guarded(q)));
                Box::new(BooleanQuery::new(must.chain(without).collect()))
            }
            Plan::MinimumShouldMatch(any, least) => {
                let any = any.iter().map(|(plan, worth)| (self.query(plan), *worth));
                Box::new(MinimumShouldMatchQuery::new(any.collect(), *least))
            }
            Plan::Scored { fitting, by } => Box::new(Scored {
                fitting: self.query(fitting).into(),
                by: self.all(by).into(),
            }),
            Plan::Constant(plan, score) => Box::new(ConstScoreQuery::new(self.query(plan), *score)),
            Plan::Boosted(plan, boost) => Box::new(BoostQuery::new(self.query(plan), *boost)),
        })
    }

    fn all(self, plans: &[Plan]) -> Vec<Boxed> {
        plans.iter().map(|plan| self.query(plan)).collect()
    }

    fn begins(self, column: Column, text: &str) -> Boxed {
        let mut begins = PhrasePrefixQuery::new_with_offset(vec![(0, column.term(text))]);
        begins.set_max_expansions(u32::MAX);
        self.dear(Arc::new(begins))
    }

    fn dear(self, inner: Arc<dyn TantivyQuery>) -> Boxed {
        let stop = self.0.clone();
        Box::new(CancellableQuery { inner, stop })
    }
}

/// The documents whose time lies from the first moment on and before the second.
fn within(column: Column, since_ms: Option<i64>, until_ms: Option<i64>) -> Boxed {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let term = |number: i64| match column.kind() {
        Type::Counter => column.number(number.unsigned_abs()),
        _ => Term::from_field_i64(column.field(), number),
    };
    let from = since_ms.map_or(Unbounded, |ms| Included(term(ms)));
    let until = until_ms.map_or(Unbounded, |ms| Excluded(term(ms)));
    Box::new(RangeQuery::new(from, until))
}

/// What is read of a term: a name has no frequency.
fn record(column: Column) -> IndexRecordOption {
    match column.kind() {
        Type::CountedName | Type::Name | Type::Words => IndexRecordOption::Basic,
        _ => IndexRecordOption::WithFreqs,
    }
}

/// The documents of one group of reprints.
pub(crate) fn group_query(group: u64) -> Boxed {
    let term = Column::Group.number(group);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// A query that a document is refused for. It is left alone where nothing is left: the phrases of tantivy 0.27 panic then in
/// a debug build.
fn guarded(query: Boxed) -> Boxed {
    Box::new(MinimumShouldMatchQuery::new(vec![(query, 1.0)], 1.0))
}
