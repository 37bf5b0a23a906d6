//! Synonyms in a query. In: its words. Out: what else each of them may be, as part of the query that is built, and for
//! the person. A document that has a synonym counts less than one that has the word as typed.

use super::clauses::Builder;
use super::plain::Unit;
use super::plan::Plan;
use super::query::{Form, Query, Target};
use super::reader::Reader;
use crate::analyze::{Dictionary, Expanded, Word, normalize};

/// What a synonym counts against the word as typed.
const SYNONYM_WEIGHT: f32 = 0.8;
/// What a document gains for each word that it has as typed: more than any synonym scores.
const TYPED_BONUS: f32 = 30.0;
/// Words of one query that are looked for with their synonyms: one with more is a text.
const MOST_EXPANDED: usize = 8;

impl Reader {
    /// The words of a query for which others are looked for as well.
    pub fn expanded(&self, query: &Query) -> Vec<Expanded> {
        expanded(query, &self.analyzer().dictionary())
    }
}

/// The words of a query that have synonyms, with these.
pub(crate) fn expanded(query: &Query, dictionary: &Dictionary) -> Vec<Expanded> {
    if query.as_typed {
        return Vec::new();
    }
    let clauses = query.wanted();
    let clauses = clauses.filter(|clause| clause.form == Form::Words);
    let texts = clauses.map(|clause| clause.text.as_str());
    let mut all: Vec<Expanded> = Vec::new();
    for text in texts.chain([query.words.as_str()]) {
        let normal = normalize(text);
        for (typed, also) in spans(dictionary, &normal, &dictionary.words(&normal)) {
            if all.iter().all(|known| known.typed != typed) {
                all.push(Expanded {
                    typed: typed.to_owned(),
                    also: also.to_vec(),
                });
            }
        }
    }
    all
}

/// The parts of a text in normal form that have synonyms.
fn spans<'t>(
    dictionary: &'t Dictionary,
    normal: &'t str,
    words: &[Word],
) -> Vec<(&'t str, &'t [String])> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() && found.len() < MOST_EXPANDED {
        let rest = &words[at..];
        match dictionary.synonyms().at(normal, rest) {
            Some((count, others)) => {
                let part = normal.get(rest[0].start..rest[count - 1].end);
                found.extend(part.map(|part| (part, others)));
                at += count;
            }
            None => at += 1,
        }
    }
    found
}

impl Builder<'_> {
    /// What ranks documents by the synonyms of the words of a text: of several the best one counts.
    pub(crate) fn synonym_ranking(
        &self,
        normal: &str,
        words: &[Word],
        target: Target,
    ) -> Vec<Plan> {
        if self.as_typed {
            return Vec::new();
        }
        let mut ranking: Vec<Plan> = Vec::new();
        for (typed, others) in spans(&self.dictionary, normal, words) {
            let ranked = others.iter().filter_map(|other| {
                let other = normalize(other);
                let ranking = self.ranking(&other, &self.dictionary.words(&other), target);
                Plan::one_of(ranking).map(|ranking| ranking.boosted(SYNONYM_WEIGHT))
            });
            ranking.push(Plan::Best(ranked.collect()));
            let typed = self.unit(typed, target);
            ranking.extend(typed.map(|typed| typed.constant(TYPED_BONUS)));
        }
        ranking
    }

    /// What is demanded for a word that a text begins with: itself or one of its synonyms, and how many words of the text
    /// it is; none where it has no synonyms. It is as rare as the most frequent of them.
    pub(crate) fn synonym_unit(
        &self,
        normal: &str,
        words: &[Word],
        target: Target,
    ) -> Option<(usize, Unit)> {
        if self.as_typed {
            return None;
        }
        let (count, others) = self.dictionary.synonyms().at(normal, words)?;
        let typed = normal.get(words.first()?.start..words.get(count - 1)?.end)?;
        let texts = others.iter().map(|other| normalize(other).into_owned());
        let texts: Vec<String> = texts.chain([typed.to_owned()]).collect();
        let rarities = texts.iter().map(|text| self.rarity(text, target));
        let weight = rarities.fold(f32::INFINITY, f32::min);
        let any = texts.iter().filter_map(|text| self.unit(text, target));
        let plan = Plan::one_of(any.collect())?.unscored();
        Some((count, Unit { plan, weight }))
    }
}
