//! From a [`Query`] to what tantivy runs: groups, fields, phrases and filters. Quoted text is a phrase of grams.
//! Never fails: text without a searchable character matches nothing.

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur as Must,
    PhrasePrefixQuery, PhraseQuery, Query as TantivyQuery, RangeQuery, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::Config;
use super::entry::host_of;
use super::query::{Clause, Filter, Group, Occur, Query, Target};
use super::schema::{Fields, TextPair};
use super::stop::{Dear, Stop};
use crate::analyze::{Dictionary, GramPhrase, ending_pattern, gram_phrase, gram_term, normalize};

pub(super) type Boxed = Box<dyn TantivyQuery>;

/// Most grams of one text: what follows says little and costs time.
pub(super) const MAX_TERMS: usize = 256;

/// How much of a plain text a document must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// One of its words, if it is a list of words and no question.
    Words,
    /// One pair of characters: for texts whose words hardly any document has.
    Pairs,
}

/// What the builder needs to know.
pub(super) struct Builder<'a> {
    pub(super) fields: &'a Fields,
    pub(super) dictionary: &'a Dictionary,
    pub(super) config: &'a Config,
    pub(super) demand: Demand,
    /// Without synonyms.
    pub(super) as_typed: bool,
    pub(super) stop: &'a Stop,
}

impl Builder<'_> {
    /// The whole question.
    pub(super) fn build(&self, query: &Query) -> Boxed {
        let mut parts: Vec<(Must, Boxed)> = Vec::new();
        let mut asked = false;
        if !query.words.trim().is_empty() {
            asked = true;
            if let Some(words) = self.plain(&query.words, Target::Anywhere) {
                parts.push((Must::Must, words));
            }
        }
        for group in &query.groups {
            asked |= group.occur == Occur::Must;
            if let Some(any) = self.group(group) {
                let occur = match group.occur {
                    Occur::Must => Must::Must,
                    Occur::Without => Must::MustNot,
                };
                parts.push((occur, any));
            }
        }
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

    fn group(&self, group: &Group) -> Option<Boxed> {
        let any = group
            .any
            .iter()
            .filter_map(|clause| self.clause(clause, group.occur))
            .collect();
        one_of(any)
    }

    fn clause(&self, clause: &Clause, occur: Occur) -> Option<Boxed> {
        match clause.target {
            Target::Site => self.site(&clause.text),
            Target::Author => self.literal(&clause.text, self.fields.author),
            Target::Source => self.literal(&clause.text, self.fields.source),
            Target::Url => self.literal(&clause.text, self.fields.url),
            Target::Anywhere | Target::Title | Target::Comments
                if clause.literal || occur == Occur::Without =>
            {
                let any = self
                    .texts(clause.target)
                    .filter_map(|(pair, boost)| {
                        let found = self.literal(&clause.text, pair.grams)?;
                        Some(boosted(found, boost))
                    })
                    .collect();
                one_of(any)
            }
            Target::Anywhere | Target::Title | Target::Comments => {
                self.plain(&clause.text, clause.target)
            }
        }
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
        let site = site.trim();
        let place = if site.contains("://") {
            host_of(site)
        } else {
            normalize(site).into_owned()
        };
        let term = Term::from_field_text(self.fields.places, &place);
        let found = TermQuery::new(term, IndexRecordOption::Basic);
        (!place.is_empty()).then(|| unscored(Box::new(found)))
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

pub(super) fn one_of(mut any: Vec<Boxed>) -> Option<Boxed> {
    match any.len() {
        0 => None,
        1 => any.pop(),
        _ => Some(Box::new(BooleanQuery::union(any))),
    }
}
