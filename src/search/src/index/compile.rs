//! From a [`Plan`] to what tantivy runs. Never fails.

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery,
    Occur as Must, PhrasePrefixQuery, PhraseQuery, Query as TantivyQuery, RangeQuery, RegexQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::floor::{AtLeast, Scored};
use super::near::Near;
use super::plan::{Place, Plan, Time};
use super::schema::Fields;
use super::stop::{Dear, Stop};
use crate::analyze::ending_pattern;

pub(super) type Boxed = Box<dyn TantivyQuery>;

/// Compiles plans for one index.
#[derive(Clone, Copy)]
pub(super) struct Compiler<'a> {
    pub(super) fields: &'a Fields,
    pub(super) stop: &'a Stop,
}

impl Compiler<'_> {
    /// What tantivy runs for a plan.
    pub(super) fn query(self, plan: &Plan) -> Boxed {
        self.built(plan)
            .unwrap_or_else(|| Box::new(EmptyQuery) as Boxed)
    }

    fn built(self, plan: &Plan) -> Option<Boxed> {
        Some(match plan {
            Plan::All => Box::new(AllQuery),
            Plan::Nothing => return None,
            Plan::Term(place, text) => {
                let term = Term::from_field_text(self.fields.at(*place), text);
                Box::new(TermQuery::new(term, record(*place)))
            }
            Plan::Phrase(place, grams) => {
                let field = self.fields.at(*place);
                let term = |(at, gram): &(usize, String)| (*at, Term::from_field_text(field, gram));
                let terms = grams.iter().map(term).collect();
                Box::new(PhraseQuery::new_with_offset(terms))
            }
            Plan::Begins(place, text) => self.begins(self.fields.at(*place), text),
            Plan::Ends(place, text) => {
                let pattern = ending_pattern(text);
                let ends = RegexQuery::from_pattern(&pattern, self.fields.at(*place));
                self.dear(Box::new(ends.ok()?))
            }
            Plan::Between(place, from, until) => {
                use std::ops::Bound::{Excluded, Included};
                let field = self.fields.at(*place);
                let term = |text: &str| Term::from_field_text(field, text);
                let range = RangeQuery::new(Included(term(from)), Excluded(term(until)));
                self.dear(Box::new(range))
            }
            Plan::Near(place, [first, second], within) => {
                let field = self.fields.at(*place);
                Box::new(Near::new(field, [first, second], *within)?)
            }
            Plan::Group(group) => group_query(self.fields, *group),
            Plan::Within(time, since_ms, until_ms) => self.within(*time, *since_ms, *until_ms),
            Plan::Any(any) => Box::new(BooleanQuery::union(self.all(any))),
            Plan::Best(any) => Box::new(DisjunctionMaxQuery::new(self.all(any))),
            Plan::Each { must, without } => {
                let must = self.all(must).into_iter().map(|q| (Must::Must, q));
                let without = self.all(without).into_iter();
                let without = without.map(|q| (Must::MustNot, guarded(q)));
                Box::new(BooleanQuery::new(must.chain(without).collect()))
            }
            Plan::AtLeast(any, least) => {
                let any = any.iter().map(|(plan, worth)| (self.query(plan), *worth));
                Box::new(AtLeast::new(any.collect(), *least))
            }
            Plan::Scored { fitting, by } => Box::new(Scored {
                fitting: self.query(fitting),
                by: self.all(by),
            }),
            Plan::Constant(plan, score) => Box::new(ConstScoreQuery::new(self.query(plan), *score)),
            Plan::Boosted(plan, boost) => Box::new(BoostQuery::new(self.query(plan), *boost)),
        })
    }

    fn all(self, plans: &[Plan]) -> Vec<Boxed> {
        plans.iter().map(|plan| self.query(plan)).collect()
    }

    fn begins(self, field: Field, text: &str) -> Boxed {
        let term = Term::from_field_text(field, text);
        let mut begins = PhrasePrefixQuery::new_with_offset(vec![(0, term)]);
        begins.set_max_expansions(u32::MAX);
        self.dear(Box::new(begins))
    }

    fn dear(self, inner: Boxed) -> Boxed {
        let stop = self.stop.clone();
        Box::new(Dear { inner, stop })
    }

    /// The documents whose time in a fast field lies from the first moment on and before the second.
    fn within(self, time: Time, since_ms: Option<i64>, until_ms: Option<i64>) -> Boxed {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let field = match time {
            Time::Published => self.fields.published,
            Time::Changed => self.fields.changed,
        };
        let term = |ms| Term::from_field_i64(field, ms);
        let from = since_ms.map_or(Unbounded, |ms| Included(term(ms)));
        let until = until_ms.map_or(Unbounded, |ms| Excluded(term(ms)));
        Box::new(RangeQuery::new(from, until))
    }
}

impl Fields {
    /// The field of a place.
    pub(super) fn at(&self, place: Place) -> Field {
        match place {
            Place::TitleSingles => self.title.singles,
            Place::TitleGrams => self.title.grams,
            Place::BodySingles => self.body.singles,
            Place::BodyGrams => self.body.grams,
            Place::CommentsSingles => self.comments.singles,
            Place::CommentsGrams => self.comments.grams,
            Place::Author => self.author,
            Place::Source => self.source,
            Place::Url => self.url,
            Place::Meta => self.meta,
            Place::Site => self.site,
            Place::Places => self.places,
        }
    }
}

/// What is read of a term: a name has no frequency.
fn record(place: Place) -> IndexRecordOption {
    match place {
        Place::Site | Place::Places => IndexRecordOption::Basic,
        _ => IndexRecordOption::WithFreqs,
    }
}

/// The documents of one group of reprints.
pub(super) fn group_query(fields: &Fields, group: u64) -> Boxed {
    let term = Term::from_field_u64(fields.group, group);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// A query that a document is refused for. It is left alone where nothing is left: the phrases of tantivy 0.27 panic then in
/// a debug build.
fn guarded(query: Boxed) -> Boxed {
    Box::new(AtLeast::new(vec![(query, 1.0)], 1.0))
}
