//! Documents on the topic of another. In: a document. Out: those that have most of its telling words, best first. Reads
//! the beginning of each; reprints of the document itself are left out.

use std::collections::HashMap;

use super::IndexError;
use super::query::{Match, Query};
use super::reader::Reader;
use super::related::{apart, beginning, is_telling, rarity, weighed, weight};
use super::schema::Column;
use super::search::FoundDocument;
use super::stored::StoredDocument;
use super::view::{Statistics, View};
use crate::analyze::{gram_term, normalize, whole_grams};

/// Words that stand for the document: as many as a query lists, so that one of them is enough to be ranked.
const WORDS: usize = 5;
/// Words that a document must share: one alone is chance.
const SHARED_WORDS: usize = 2;
/// What an occurrence in the title counts.
const TITLE_WEIGHT: u32 = 3;
/// Hits looked at for each one given.
const LOOKED_AT: usize = 4;

impl Reader {
    /// At most `limit` documents on the topic of this one, best first.
    pub fn similar(
        &self,
        stored: &StoredDocument,
        limit: usize,
    ) -> Result<Vec<FoundDocument>, IndexError> {
        let view = self.view()?;
        let own = beginning(stored);
        let (title, text) = own.split_once('\n').unwrap_or_default();
        let words = self.telling_words(view.as_ref(), &normalize(title), &normalize(text))?;
        if words.len() < SHARED_WORDS || limit == 0 {
            return Ok(Vec::new());
        }
        let group = self.group(stored.fingerprint)?;
        let found = self.search(&Query {
            words: words.join(" "),
            matching: Match::Any,
            grouped: true,
            limit: limit * LOOKED_AT,
            ..Query::default()
        })?;
        let mut similar = found.documents;
        similar.retain(|other| {
            let text = beginning(&other.stored);
            let text = normalize(&text);
            let shared = words.iter().filter(|word| text.contains(word.as_str()));
            other.stored.fingerprint != stored.fingerprint
                && (group.is_none() || other.group != group)
                && shared.count() >= SHARED_WORDS
        });
        similar.truncate(limit);
        Ok(similar)
    }

    /// The words that tell a document from others: often in it, seldom elsewhere, but not only here.
    fn telling_words(
        &self,
        view: &dyn View,
        title: &str,
        text: &str,
    ) -> Result<Vec<String>, IndexError> {
        let dictionary = self.analyzer().dictionary();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for (part, weight) in [(title, TITLE_WEIGHT), (text, 1)] {
            for word in dictionary.words(part) {
                let word = word.of(part);
                if is_telling(word) {
                    *counts.entry(word).or_default() += weight;
                }
            }
        }
        // The tenth mention says less than the second.
        let prior = |word: &str, count: u32| f64::from(count).sqrt() * weight(&dictionary, word);
        let priors = counts.iter();
        let priors = priors.map(|(word, count)| (prior(word, *count), *word));
        let weighed = weighed(view, priors, |statistics, word| {
            let here = u64::from(title.contains(word)) + u64::from(text.contains(word));
            // Asked for both, whatever the first says.
            let rarity = rarity(statistics, word);
            match is_elsewhere(statistics, word, here) {
                true => rarity,
                false => 0.0,
            }
        })?;
        let telling = weighed.into_iter().filter(|(weight, _)| *weight > 0.0);
        let telling = telling.map(|(_, word)| word.to_owned());
        Ok(apart(telling, String::as_str, WORDS))
    }
}

/// Whether another document can have the word, which stands in so many fields of this one.
fn is_elsewhere(statistics: &dyn Statistics, word: &str, here: u64) -> bool {
    let documents = |gram: &&str| {
        let term = gram_term(gram);
        let places = [Column::TitleGrams, Column::BodyGrams];
        let documents = places.map(|place| statistics.frequency(place, &term));
        documents.iter().sum::<u64>()
    };
    let grams = whole_grams(word);
    // Each of them is asked for, whatever those before say.
    let counts: Vec<u64> = grams.iter().map(documents).collect();
    counts.into_iter().all(|documents| documents > here)
}
