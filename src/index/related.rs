//! Terms that go with a result. In: the best documents of a search. Out: the terms and words that many of them
//! have and few others, domain terms first. Reads the beginning of each document; never the whole result.

use std::collections::{HashMap, HashSet};

use tantivy::{Searcher, Term};

use super::entry::head;
use super::query::Query;
use super::reader::{Reader, StoredDocument};
use crate::analyze::{Dictionary, is_cjk, is_stop_word, normalize, whole_grams};

/// Best documents looked at: more would take the time of the search itself.
pub(super) const RELATED_DOCUMENTS: usize = 20;
/// Bytes of a document looked at: news say what they are about in their first paragraphs.
const HEAD_BYTES: usize = 1_500;
/// Least documents of the looked-at that have a term: one or two are chance.
const LEAST_DOCUMENTS: u32 = 3;
/// Terms weighed against the whole index; each costs look-ups in every segment.
const WEIGHED: usize = 60;
/// Terms given.
const RELATED_TERMS: usize = 8;
/// Longest term, in characters.
const MAX_CHARS: usize = 12;
/// What a term of the lexicons counts against another word.
const TERM_WEIGHT: f64 = 3.0;

impl Reader {
    /// Terms that the best documents of a search have in common, without those that were asked for.
    pub(super) fn related(
        &self,
        searcher: &Searcher,
        query: &Query,
        documents: &[StoredDocument],
    ) -> Vec<String> {
        let dictionary = self.analyzer().dictionary();
        let asked = asked(query);
        let mut counts: HashMap<String, u32> = HashMap::new();
        for stored in documents.iter().take(RELATED_DOCUMENTS) {
            let title = stored.document.title.as_deref().unwrap_or_default();
            let text = head(&stored.document.text, HEAD_BYTES);
            for word in words_of(&format!("{title}\n{text}"), &dictionary) {
                *counts.entry(word).or_insert(0) += 1;
            }
        }
        let mut common: Vec<(String, u32)> = counts
            .into_iter()
            .filter(|(word, count)| {
                *count >= LEAST_DOCUMENTS
                    && !asked.contains(word.as_str())
                    && !word.contains(&asked)
            })
            .collect();
        let prior = |(word, count): &(String, u32)| {
            f64::from(*count)
                * if dictionary.is_term(word) {
                    TERM_WEIGHT
                } else {
                    1.0
                }
        };
        common.sort_by(|a, b| prior(b).total_cmp(&prior(a)).then_with(|| a.0.cmp(&b.0)));
        common.truncate(WEIGHED);
        let mut weighed: Vec<(f64, String)> = common
            .into_iter()
            .map(|entry| (prior(&entry) * self.rarity(searcher, &entry.0), entry.0))
            .collect();
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut chosen: Vec<String> = Vec::new();
        for (_, word) in weighed {
            // 页岩 says nothing beside 页岩气.
            if chosen.len() < RELATED_TERMS
                && chosen
                    .iter()
                    .all(|c| !c.contains(&word) && !word.contains(c.as_str()))
            {
                chosen.push(word);
            }
        }
        chosen
    }

    /// ln(documents / documents with the word); of a longer word its rarest pair stands for it.
    fn rarity(&self, searcher: &Searcher, word: &str) -> f64 {
        let frequency = whole_grams(word)
            .into_iter()
            .map(|gram| {
                let term = Term::from_field_text(self.fields.body.grams, gram);
                searcher.doc_freq(&term).unwrap_or(0)
            })
            .min()
            .unwrap_or(0);
        ((searcher.num_docs() as f64 + 1.0) / (frequency as f64 + 1.0))
            .ln()
            .max(0.0)
    }
}

/// What was asked for, in normal form.
fn asked(query: &Query) -> String {
    let clauses = query.wanted().map(|clause| clause.text.as_str());
    let all: Vec<&str> = std::iter::once(query.words.as_str())
        .chain(clauses)
        .collect();
    normalize(&all.join(" ")).trim().to_owned()
}

/// Different words of a text that can be terms.
fn words_of(text: &str, dictionary: &Dictionary) -> HashSet<String> {
    let normal = normalize(text);
    let words = dictionary.words(&normal);
    let telling = |word: &&str| {
        let chars = word.chars().count();
        let digits = word.chars().any(char::is_numeric) && !word.chars().any(is_cjk);
        (2..=MAX_CHARS).contains(&chars) && !digits && !is_stop_word(word)
    };
    words
        .iter()
        .map(|word| word.of(&normal))
        .filter(telling)
        .map(str::to_owned)
        .collect()
}
