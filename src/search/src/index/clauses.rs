//! From a [`Query`] to what tantivy runs: groups, fields, phrases and filters. Quoted text is a phrase of grams.
//! Never fails: text without a searchable character matches nothing.

use std::sync::Arc;

use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur as Must,
    PhrasePrefixQuery, PhraseQuery, Query as TantivyQuery, RangeQuery, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::Config;
use super::entry::host_of;
use super::floor::AtLeast;
use super::labels;
use super::near::Near;
use super::query::{Clause, Filter, Form, Group, Match, Occur, Query, Target};
use super::schema::{Fields, TextPair};
use super::stop::{Dear, Stop};
use crate::analyze::{Dictionary, GramPhrase, ending_pattern, gram_phrase, gram_term, normalize};

pub(super) type Boxed = Box<dyn TantivyQuery>;

/// Most grams of one text: what follows says little and costs time.
pub(super) const MAX_TERMS: usize = 256;

/// How much of the plain words a document must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// What the query says.
    Asked(Match),
    /// A part of it: for what is shown as a weaker match.
    Weaker,
}

/// What the builder needs to know.
pub(super) struct Builder<'a> {
    pub(super) fields: &'a Fields,
    /// Knows how rare a word is.
    pub(super) searcher: &'a Searcher,
    pub(super) dictionary: Arc<Dictionary>,
    pub(super) config: &'a Config,
    pub(super) demand: Demand,
    /// Without synonyms.
    pub(super) as_typed: bool,
    pub(super) stop: &'a Stop,
}

impl Builder<'_> {
    /// The documents of a question without those of another.
    pub(super) fn but_not(&self, query: &Query, other: Boxed) -> Boxed {
        let parts = vec![
            (Must::Must, self.build(query)),
            (Must::MustNot, guarded(other)),
        ];
        Box::new(BooleanQuery::new(parts))
    }

    /// The whole question.
    pub(super) fn build(&self, query: &Query) -> Boxed {
        let mut parts: Vec<(Must, Boxed)> = Vec::new();
        let mut asked = false;
        if !query.words.trim().is_empty() {
            asked = true;
            if let Some(words) = self.plain(&query.words, Target::Anywhere, self.demand, true) {
                parts.push((Must::Must, words));
            }
        }
        asked |= query.groups.iter().any(|g| g.occur == Occur::Must);
        parts.extend(self.groups(&query.groups));
        let positive = parts.iter().any(|(occur, _)| *occur == Must::Must);
        if asked && !positive {
            return Box::new(EmptyQuery);
        }
        if !positive {
            parts.push((Must::Must, Box::new(AllQuery)));
        }
        parts.extend(
            self.filters(&query.filter)
                .into_iter()
                .map(|filter| (Must::Must, filter)),
        );
        match parts.len() {
            1 => parts.remove(0).1,
            _ => Box::new(BooleanQuery::new(parts)),
        }
    }

    fn groups(&self, groups: &[Group]) -> Vec<(Must, Boxed)> {
        let part = |group: &Group| {
            let any = group.any.iter();
            let any = any.filter_map(|clause| self.clause(clause, group.occur));
            let any = one_of(any.collect());
            match group.occur {
                // What finds nothing is nothing that could be refused.
                Occur::Without => any.map(|any| (Must::MustNot, guarded(any))),
                Occur::Must => Some((Must::Must, any.unwrap_or_else(|| Box::new(EmptyQuery)))),
            }
        };
        groups.iter().filter_map(part).collect()
    }

    fn clause(&self, clause: &Clause, occur: Occur) -> Option<Boxed> {
        let (target, text) = (clause.target, clause.text.as_str());
        let words = clause.form == Form::Words && occur == Occur::Must;
        match (&clause.form, target) {
            (Form::All(groups), _) => return Some(self.all(groups)),
            (_, Target::Site) => return self.site(text),
            (_, Target::Meta) => {
                return match self.fields.meta {
                    Some(field) => labels::asked(field, text),
                    // An index of an older format does not know; the new one is being made.
                    None => Some(Box::new(EmptyQuery)),
                };
            }
            (_, Target::Anywhere | Target::Title | Target::Comments) if words => {
                let demand = Demand::Asked(Match::Auto);
                return self.plain(text, target, demand, false);
            }
            _ => {}
        }
        let any = self
            .places(target)
            .into_iter()
            .filter_map(|(field, boost)| {
                let found = match &clause.form {
                    Form::Prefix => self.prefix(text, field),
                    Form::Near { other, within } => {
                        let texts = [&*normalize(text), &*normalize(other)];
                        Near::new(field, texts, *within).map(|near| Box::new(near) as Boxed)
                    }
                    _ => self.literal(text, field),
                };
                found.map(|found| boosted(found, boost))
            });
        one_of(any.collect())
    }

    /// All of these groups.
    fn all(&self, groups: &[Group]) -> Boxed {
        let mut parts = self.groups(groups);
        if parts.iter().all(|(occur, _)| *occur == Must::MustNot) {
            parts.push((Must::Must, unscored(Box::new(AllQuery))));
        }
        Box::new(BooleanQuery::new(parts))
    }

    /// The fields of grams that a target covers, with their weights.
    fn places(&self, target: Target) -> Vec<(Field, f32)> {
        match target {
            Target::Author => vec![(self.fields.author, 1.0)],
            Target::Source => vec![(self.fields.source, 1.0)],
            Target::Url => vec![(self.fields.url, 1.0)],
            _ => self
                .texts(target)
                .map(|(pair, boost)| (pair.grams, boost))
                .collect(),
        }
    }

    /// Runs of letters and digits that begin so.
    fn prefix(&self, text: &str, field: Field) -> Option<Boxed> {
        let normal = normalize(text);
        let term = Term::from_field_text(field, normal.trim());
        let mut begins = PhrasePrefixQuery::new_with_offset(vec![(0, term)]);
        begins.set_max_expansions(u32::MAX);
        let stop = self.stop.clone();
        let inner = Box::new(begins);
        (!normal.trim().is_empty()).then(|| Box::new(Dear { inner, stop }) as Boxed)
    }

    /// The texts a target covers, with their weights.
    pub(super) fn texts(&self, target: Target) -> impl Iterator<Item = (TextPair, f32)> {
        let all = [
            (self.fields.title, self.config.title_boost),
            (self.fields.body, 1.0),
            (self.fields.comments, 1.0),
        ];
        let covered = match target {
            Target::Comments => 2..3,
            Target::Anywhere => 0..2,
            _ => 0..1,
        };
        covered.map(move |at| all[at])
    }

    /// The very characters of a text in one field.
    pub(super) fn literal(&self, text: &str, field: Field) -> Option<Boxed> {
        let normal = normalize(text);
        let chain = match gram_phrase(&normal) {
            GramPhrase::Nothing => return None,
            GramPhrase::Single(single) => return Some(self.one_character(field, single)),
            GramPhrase::Chain(chain) => chain,
        };
        if let [(_, gram)] = chain.as_slice() {
            return Some(term_query(field, gram));
        }
        let terms = chain
            .iter()
            .take(MAX_TERMS)
            .map(|(place, gram)| (*place, Term::from_field_text(field, &gram_term(gram))))
            .collect();
        Some(Box::new(PhraseQuery::new_with_offset(terms)))
    }

    /// Every gram that begins or ends with a character.
    pub(super) fn one_character(&self, field: Field, text: &str) -> Boxed {
        let dear = |inner: Boxed| -> Boxed {
            let stop = self.stop.clone();
            Box::new(Dear { inner, stop })
        };
        let term = Term::from_field_text(field, text);
        let mut begins = PhrasePrefixQuery::new_with_offset(vec![(0, term)]);
        begins.set_max_expansions(u32::MAX);
        let begins = dear(Box::new(begins));
        match RegexQuery::from_pattern(&ending_pattern(text), field) {
            Ok(ends) => Box::new(BooleanQuery::union(vec![begins, dear(Box::new(ends))])),
            Err(_) => begins,
        }
    }

    fn site(&self, site: &str) -> Option<Boxed> {
        let term = Term::from_field_text(self.fields.places, &place_of(site)?);
        let found = TermQuery::new(term, IndexRecordOption::Basic);
        Some(unscored(Box::new(found)))
    }

    fn filters(&self, filter: &Filter) -> Vec<Boxed> {
        let mut all = Vec::new();
        let sites: Vec<Boxed> = filter.sites.iter().filter_map(|s| self.site(s)).collect();
        all.extend(one_of(sites));
        all.extend(
            filter
                .group
                .map(|group| unscored(group_query(self.fields, group))),
        );
        all.extend(within(
            self.fields.published,
            (filter.since_ms, filter.until_ms),
        ));
        let changed = (filter.changed_since_ms, filter.changed_until_ms);
        match self.fields.kept {
            None => all.extend(within(self.fields.changed, changed)),
            // An index of an older format does not know; the new one is being made.
            Some(_) if changed != (None, None) => all.push(Box::new(EmptyQuery)),
            Some(_) => {}
        }
        all
    }
}

/// A site as the index writes it: its name in normal form, or the host of an address.
pub(super) fn place_of(site: &str) -> Option<String> {
    let site = site.trim();
    let place = match site.contains("://") {
        true => host_of(site),
        false => normalize(site).into_owned(),
    };
    (!place.is_empty()).then_some(place)
}

/// The documents whose time in a fast field lies from the first moment on and before the second; none: no limit.
fn within(field: Field, (since_ms, until_ms): (Option<i64>, Option<i64>)) -> Option<Boxed> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    if since_ms.is_none() && until_ms.is_none() {
        return None;
    }
    let term = |ms| Term::from_field_i64(field, ms);
    let from = since_ms.map_or(Unbounded, |ms| Included(term(ms)));
    let until = until_ms.map_or(Unbounded, |ms| Excluded(term(ms)));
    Some(unscored(Box::new(RangeQuery::new(from, until))))
}

/// The documents of one group of reprints.
pub(super) fn group_query(fields: &Fields, group: u64) -> Boxed {
    let term = Term::from_field_u64(fields.group, group);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// A gram, or a single character of the field of these.
pub(super) fn term_query(field: Field, text: &str) -> Boxed {
    let term = Term::from_field_text(field, &gram_term(text));
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

pub(super) fn boosted(query: Boxed, boost: f32) -> Boxed {
    if (boost - 1.0).abs() < f32::EPSILON {
        return query;
    }
    Box::new(BoostQuery::new(query, boost))
}

pub(super) fn unscored(query: Boxed) -> Boxed {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

/// A query that a document is refused for. It is left alone where nothing is left: the phrases of tantivy 0.27 panic then in
/// a debug build.
fn guarded(query: Boxed) -> Boxed {
    Box::new(AtLeast::new(vec![(query, 1.0)], 1.0))
}

pub(super) fn one_of(mut any: Vec<Boxed>) -> Option<Boxed> {
    match any.len() {
        0 => None,
        1 => any.pop(),
        _ => Some(Box::new(BooleanQuery::union(any))),
    }
}
