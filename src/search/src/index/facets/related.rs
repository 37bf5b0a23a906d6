//! Terms that go with a result: the terms and words that many of its best documents have next to the query, and few
//! others have; domain terms first. A word counts where it is in one sentence with what was searched for: what else a
//! document speaks of means nothing for that. Reads the beginning of each document; never the whole result.
//!
//! Documents on the topic of another ([`Reader::similar`]) have most of its telling words; reprints of the document itself
//! are left out.

use std::collections::HashMap;

use crate::analyze::{
    Dictionary, Normalized, gram_term, is_cjk, is_stop_word, normalize, normalize_document,
    whole_grams,
};
use crate::index::IndexError;
use crate::index::query::{Match, Query};
use crate::index::rank::clauses::expanded;
use crate::index::reader::Reader;
use crate::index::schema::Column;
use crate::index::search::FoundDocument;
use crate::index::stored::{StoredDocument, head};
use crate::index::view::{Statistics, View, reckoned};

/// Best documents looked at: more would take longer than the search itself.
pub(crate) const RELATED_DOCUMENTS: usize = 12;
/// Bytes of a document looked at: some paragraphs of news.
const HEAD_BYTES: usize = 2_000;
/// Bytes of its sentences that words are searched for in.
const SENTENCES_BYTES: usize = 900;
/// Least documents of the looked-at that have a term: one is chance.
const LEAST_DOCUMENTS: u32 = 2;
/// What ends a sentence.
const ENDS: [char; 6] = ['。', '!', '?', ';', '\n', '；'];
/// Terms weighed against the whole index; each costs look-ups in every segment.
const WEIGHED: usize = 40;
/// Terms given.
const RELATED_TERMS: usize = 8;
/// Longest term, in characters.
const MAX_CHARS: usize = 12;
/// What a term of the lexicons counts against another word.
const TERM_WEIGHT: f64 = 3.0;

impl Reader {
    /// Terms that the best documents of a search have in common, without those that were asked for.
    pub(crate) fn related(
        &self,
        view: &dyn View,
        query: &Query,
        documents: &[StoredDocument],
    ) -> Result<Vec<String>, IndexError> {
        let best = documents.len().min(RELATED_DOCUMENTS);
        let beside = self.terms_beside(view, query, &documents[..best])?;
        Ok(apart(beside.into_iter(), String::as_str, RELATED_TERMS))
    }

    /// Terms and words that documents have next to what was asked for, those that few others have first; at most
    /// [`WEIGHED`].
    pub(crate) fn terms_beside(
        &self,
        view: &dyn View,
        query: &Query,
        documents: &[StoredDocument],
    ) -> Result<Vec<String>, IndexError> {
        let dictionary = self.analyzer().dictionary();
        let asked = asked(query);
        let normalized = |original: String| {
            let normal = Normalized::new(&original);
            (original, normal)
        };
        let heads = documents.iter().map(beginning).map(normalized);
        let heads: Vec<(String, Normalized)> = heads.collect();
        // Of a list that was asked for without words, what its few documents are about.
        let least = if asked.is_empty() {
            LEAST_DOCUMENTS.min(u32::try_from(heads.len()).unwrap_or(u32::MAX))
        } else {
            LEAST_DOCUMENTS
        };
        let repeats =
            |word: &str| !asked.is_empty() && (asked.contains(word) || word.contains(&asked));
        let subjects = subjects(query, &asked, &dictionary);
        let mut seen = words_of(&heads, &subjects, &dictionary);
        seen.retain(|word, known| known.documents >= least && !repeats(word));
        let prior = |word: &str, seen: u32| f64::from(seen) * weight(&dictionary, word);
        let priors = seen.iter();
        let priors = priors.map(|(word, known)| (prior(word, known.documents), *word));
        let weighed = weighed(view, priors, rarity)?;
        let written = weighed.iter().filter_map(|(_, word)| seen.get(word));
        Ok(written.map(|known| known.written.to_owned()).collect())
    }
}

/// ln(documents / documents with the word); of a longer word its rarest pair stands for it.
pub(crate) fn rarity(statistics: &dyn Statistics, word: &str) -> f64 {
    let grams = whole_grams(word).into_iter();
    let frequency = grams.map(|gram| statistics.frequency(Column::BodyGrams, &gram_term(gram)));
    let frequency = frequency.min().unwrap_or(0);
    ((statistics.documents() as f64 + 1.0) / (frequency as f64 + 1.0))
        .ln()
        .max(0.0)
}

/// Title and first paragraphs: what a document is about stands there.
pub(crate) fn beginning(stored: &StoredDocument) -> String {
    let title = stored.document.title.as_deref().unwrap_or_default();
    let text = head(&stored.document.text, HEAD_BYTES);
    format!("{title}\n{text}")
}

/// What a word counts: more if it is a term of the lexicons.
pub(crate) fn weight(dictionary: &Dictionary, word: &str) -> f64 {
    if dictionary.is_term(word) {
        TERM_WEIGHT
    } else {
        1.0
    }
}

/// The best words by weight, each multiplied by how rare it is; the best first.
pub(crate) fn weighed<'t>(
    view: &dyn View,
    words: impl Iterator<Item = (f64, &'t str)>,
    rarity: impl Fn(&dyn Statistics, &str) -> f64,
) -> Result<Vec<(f64, &'t str)>, IndexError> {
    let mut best = best_first(words);
    best.truncate(WEIGHED);
    reckoned(view, |statistics| {
        let best = best.iter();
        best_first(best.map(|(weight, word)| (weight * rarity(statistics, word), *word)))
    })
}

/// Every word that can be a term, with the number of documents that have it.
fn words_of<'t>(
    heads: &'t [(String, Normalized)],
    subjects: &[String],
    dictionary: &Dictionary,
) -> HashMap<&'t str, Seen<'t>> {
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for (at, (original, normal)) in heads.iter().enumerate() {
        let text = normal.text();
        for (start, sentence) in sentences_with(text, subjects) {
            for word in dictionary.words(sentence) {
                let known = word.slice_of(sentence);
                if !is_telling(known) {
                    continue;
                }
                let range = normal.original(start + word.start, start + word.end);
                let known = seen.entry(known).or_insert_with(|| Seen {
                    documents: 0,
                    last: at,
                    written: as_written(known, original, range),
                });
                if known.documents == 0 || known.last != at {
                    known.documents += 1;
                    known.last = at;
                }
            }
        }
    }
    seen
}

/// The sentences that have one of the subjects, each with the byte that it begins at; without subjects the first ones.
fn sentences_with<'t>(text: &'t str, subjects: &[String]) -> Vec<(usize, &'t str)> {
    let (mut found, mut start, mut bytes) = (Vec::new(), 0, 0);
    for sentence in text.split_inclusive(ENDS) {
        let about = subjects.is_empty() || subjects.iter().any(|s| sentence.contains(s.as_str()));
        if about && bytes < SENTENCES_BYTES {
            bytes += sentence.len();
            found.push((start, sentence));
        }
        start += sentence.len();
    }
    found
}

/// The words that were asked for, in normal form, with their synonyms.
fn subjects(query: &Query, asked: &str, dictionary: &Dictionary) -> Vec<String> {
    let words = dictionary
        .words(asked)
        .into_iter()
        .map(|word| word.slice_of(asked));
    let words = words.filter(|word| is_telling(word) || !asked.contains(char::is_whitespace));
    let synonyms = expanded(query, dictionary).into_iter().flat_map(|e| e.also);
    let synonyms = synonyms.map(|other| normalize(&other).into_owned());
    words.map(str::to_owned).chain(synonyms).collect()
}

/// The first terms of which none holds another: 页岩 says nothing next to 页岩气.
pub(crate) fn apart<T>(
    ranked: impl Iterator<Item = T>,
    term: impl Fn(&T) -> &str,
    limit: usize,
) -> Vec<T> {
    let mut chosen: Vec<T> = Vec::new();
    for next in ranked {
        let new = |c: &T| !term(c).contains(term(&next)) && !term(&next).contains(term(c));
        if chosen.len() < limit && chosen.iter().all(new) {
            chosen.push(next);
        }
    }
    chosen
}

/// In the order of their weights; of equal ones in that of the alphabet.
fn best_first<'t>(weighed: impl Iterator<Item = (f64, &'t str)>) -> Vec<(f64, &'t str)> {
    let mut weighed: Vec<(f64, &str)> = weighed.collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    weighed
}

/// What was asked for, in normal form.
fn asked(query: &Query) -> String {
    let clauses = query.wanted().map(|clause| clause.text.as_str());
    let all: Vec<&str> = std::iter::once(query.words.as_str())
        .chain(clauses)
        .collect();
    normalize(&all.join(" ")).trim().to_owned()
}

/// What is known of a word.
struct Seen<'t> {
    documents: u32,
    /// The last document that has it.
    last: usize,
    written: &'t str,
}

/// Latin letters as the text has them; other words in normal form, one for all spellings.
fn as_written<'t>(word: &'t str, original: &'t str, range: std::ops::Range<usize>) -> &'t str {
    if word.contains(|c: char| c.is_ascii_alphabetic()) {
        original.get(range).unwrap_or(word)
    } else {
        word
    }
}

/// Whether a word can be a term.
pub(crate) fn is_telling(word: &str) -> bool {
    let chars = word.chars().count();
    let digits = word.chars().any(char::is_numeric) && !word.chars().any(is_cjk);
    (2..=MAX_CHARS).contains(&chars) && !digits && !is_stop_word(word)
}

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
        let words = self.telling_words(
            view.as_ref(),
            &normalize_document(title),
            &normalize_document(text),
        )?;
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
            let text = normalize_document(&text);
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
                let word = word.slice_of(part);
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
            if is_elsewhere(statistics, word, here) {
                rarity
            } else {
                0.0
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
