//! Plain text of a query. Out: what ranks documents, and what each must have. Ranks by BM25 over pairs of
//! characters, those that are words more than those that reach over two, over phrases for longer words, and over
//! single characters that are words. Never demands function words.

use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur as Must};

use super::clauses::{Boxed, Builder, Demand, MAX_TERMS, boosted, one_of, term_query, unscored};
use super::query::Target;
use crate::analyze::{
    GramPhrase, Word, gram_phrase, is_single, is_stop_word, normalize, whole_grams,
};

// The weights were tuned together on CMRC questions and CSL keywords; around these values both are flat.
/// A pair of characters that is a word of the query, or a Latin or digit run.
const WORD_WEIGHT: f32 = 1.3;
/// A pair that reaches over two words.
const PAIR_WEIGHT: f32 = 0.6;
/// A longer word, found as a phrase; its pairs count on their own.
const LONG_WORD_WEIGHT: f32 = 0.3;
/// A single character that is a word.
const SINGLE_WEIGHT: f32 = 1.0;

/// Longest piece of plain text that is also looked for as a whole: longer ones are sentences.
const MAX_WHOLE_CHARS: usize = 16;
/// Most words of which a share is demanded: more would be slow and say little.
const MAX_UNITS: usize = 32;
/// Most words of a query that is taken as a list of words; longer ones are questions, which may share no word
/// with their answer.
const MAX_LISTED_WORDS: usize = 5;

impl Builder<'_> {
    /// Documents with enough of the words of a text, ranked by all of it.
    pub(super) fn plain(&self, text: &str, target: Target) -> Option<Boxed> {
        let normal = normalize(text);
        let words = self.dictionary.words(&normal);
        let units = self.units(&normal, &words, target)?;
        let mut parts = self.ranking(&normal, &words, target);
        parts.extend(self.synonym_ranking(&normal, &words, target));
        let listed = units.len() <= MAX_LISTED_WORDS;
        if listed && units.len() > 1 {
            let all = units.iter().map(|unit| unit.box_clone()).collect();
            let all = ConstScoreQuery::new(
                Box::new(BooleanQuery::intersection(all)),
                self.config.all_words_bonus,
            );
            parts.push((Must::Should, Box::new(all)));
        }
        let demanded = match self.demand {
            Demand::Words if listed => None,
            Demand::Words | Demand::Pairs => {
                let pairs = self.any_pair(&normal, target).into_iter();
                one_of(
                    pairs
                        .chain(self.synonym_units(&normal, &words, target))
                        .collect(),
                )
            }
        };
        let demanded = demanded.or_else(|| one_of(units))?;
        parts.push((Must::Must, demanded));
        Some(Box::new(BooleanQuery::new(parts)))
    }

    pub(super) fn ranking(
        &self,
        normal: &str,
        words: &[Word],
        target: Target,
    ) -> Vec<(Must, Boxed)> {
        let mut terms: Vec<(&str, f32)> = Vec::new();
        let mut phrases: Vec<(&str, f32)> = Vec::new();
        for word in words {
            let text = word.of(normal);
            let boost = match self.dictionary.is_term(text) {
                true => self.config.term_boost,
                false => 1.0,
            };
            if is_single(text) {
                raise(&mut terms, text, SINGLE_WEIGHT);
            } else if is_one_gram(text) {
                raise(&mut terms, text, WORD_WEIGHT * boost);
            } else {
                raise(&mut phrases, text, LONG_WORD_WEIGHT * boost);
            }
        }
        for gram in whole_grams(normal) {
            raise(&mut terms, gram, PAIR_WEIGHT);
        }
        for piece in normal.split(' ') {
            let short = (3..=MAX_WHOLE_CHARS).contains(&piece.chars().count());
            if short && !is_one_gram(piece) {
                raise(&mut phrases, piece, self.config.phrase_boost);
            }
        }
        phrases.retain(|(_, weight)| *weight > 0.0);
        let mut any: Vec<(Must, Boxed)> = Vec::new();
        for (pair, boost) in self.texts(target) {
            for (text, weight) in &terms {
                let field = if is_single(text) {
                    pair.singles
                } else {
                    pair.grams
                };
                any.push((
                    Must::Should,
                    boosted(term_query(field, text), weight * boost),
                ));
            }
            for (text, weight) in &phrases {
                let phrase = self.literal(text, pair.grams);
                any.extend(phrase.map(|phrase| (Must::Should, boosted(phrase, weight * boost))));
            }
        }
        any
    }

    /// One unscored query for each content word; none if the text has nothing to search for.
    fn units(&self, normal: &str, words: &[Word], target: Target) -> Option<Vec<Boxed>> {
        let mut units: Vec<Boxed> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let alone = matches!(gram_phrase(normal), GramPhrase::Single(_));
        let mut expanded_to = 0;
        for (index, word) in words.iter().enumerate() {
            if index < expanded_to {
                continue;
            }
            if let Some((count, unit)) = self.synonym_unit(normal, &words[index..], target) {
                expanded_to = index + count;
                units.push(unit);
                continue;
            }
            if alone || is_stop_word(word.of(normal)) || units.len() == MAX_UNITS {
                continue;
            }
            let text = unit_text(normal, words, index);
            if !seen.contains(&text) {
                seen.push(text);
                units.extend(self.unit(text, target));
            }
        }
        if units.is_empty() {
            // Function words or one character only: they are what was asked for.
            let only = normal
                .split(' ')
                .find_map(|piece| self.anywhere(piece, target));
            return only.map(|only| vec![only]);
        }
        Some(units)
    }

    /// A word, or a single character where it is a word: elsewhere almost every document has it.
    pub(super) fn unit(&self, text: &str, target: Target) -> Option<Boxed> {
        if !is_single(text) {
            return self.anywhere(text, target);
        }
        let any = self
            .texts(target)
            .map(|(pair, _)| term_query(pair.singles, text));
        one_of(any.collect()).map(unscored)
    }

    fn anywhere(&self, text: &str, target: Target) -> Option<Boxed> {
        let any = self
            .texts(target)
            .filter_map(|(pair, _)| match gram_phrase(text) {
                GramPhrase::Single(single) => Some(self.one_character(pair.grams, single)),
                _ => self.literal(text, pair.grams),
            })
            .collect();
        one_of(any).map(unscored)
    }

    fn any_pair(&self, normal: &str, target: Target) -> Option<Boxed> {
        let mut any = Vec::new();
        for (pair, _) in self.texts(target) {
            let grams = whole_grams(normal).into_iter().take(MAX_TERMS);
            any.extend(grams.map(|gram| term_query(pair.grams, gram)));
        }
        one_of(any).map(unscored)
    }
}

/// What is demanded for a word: the word itself, but for a single character the pair it makes with another one
/// beside it, because names outside the dictionary are cut into single characters.
fn unit_text<'t>(normal: &'t str, words: &[Word], index: usize) -> &'t str {
    let Some(word) = words.get(index) else {
        return "";
    };
    let text = word.of(normal);
    let lone = |other: &&Word| is_single(other.of(normal)) && !is_stop_word(other.of(normal));
    if !is_single(text) {
        return text;
    }
    let next = words
        .get(index + 1)
        .filter(|next| next.start == word.end)
        .filter(lone);
    let before = index
        .checked_sub(1)
        .and_then(|i| words.get(i))
        .filter(|before| before.end == word.start)
        .filter(lone);
    match (before, next) {
        (_, Some(next)) => normal.get(word.start..next.end).unwrap_or(text),
        (Some(before), None) => normal.get(before.start..word.end).unwrap_or(text),
        (None, None) => text,
    }
}

/// Whether a text is one term of the gram field.
fn is_one_gram(text: &str) -> bool {
    whole_grams(text).len() == 1
}

/// Notes a text with its weight; of two weights the greater one.
fn raise<'t>(weights: &mut Vec<(&'t str, f32)>, text: &'t str, weight: f32) {
    if let Some((_, known)) = weights.iter_mut().find(|(known, _)| *known == text) {
        *known = known.max(weight);
    } else if !text.is_empty() && weights.len() < MAX_TERMS {
        weights.push((text, weight));
    }
}
