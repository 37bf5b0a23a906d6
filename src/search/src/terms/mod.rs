//! Extracts the domain terms of texts of one field, best first, each with its [`Candidate::termhood`] and sentences
//! that show its use. Never does I/O, never decides what is accepted.
//!
//! ```text
//!  texts ─▶ sentences, each once, no boilerplate ─▶ tagged words ─▶ runs that fit a part-of-speech pattern
//!        ─▶ counts ─▶ C-value (nesting), NC-value ─▶ cohesion, entropy left and right, contrast ─▶ termhood
//! ```
//!
//! It stands apart from `analyze`, which every search runs through: this is a batch over a whole collection, and
//! whoever reads one need not know the other.

mod candidate;
mod context;
mod corpus;
mod count;
mod evidence;
mod hash;
mod names;
mod nesting;
mod patterns;
mod profile;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use candidate::{Candidate, termhood};
pub use context::{context_weight, nc_value};
pub use corpus::{Corpus, TextKey};
pub use evidence::Evidence;
pub use nesting::{Nested, Nesting, c_values};
pub use patterns::{LineProblem, Pattern, Patterns, PatternsError, RatedPattern};
pub use profile::{LexiconProfile, PatternShare};

use crate::analyze::Dictionary;

/// What stands in fewer places than this says little; with two there is hardly a context to measure.
const DEFAULT_MIN_COUNT: u32 = 3;
/// A reviewer reads some hundred terms, not more.
const DEFAULT_MAX_TERMS: usize = 1_000;
/// Some 3,000 articles: half a minute of one core and less than 200 MB, which a small machine can spare after a crawl.
const DEFAULT_MAX_CHARS: usize = 4_000_000;
/// Of the candidates from here on in three documents or more that are no dictionary words, five in six are keywords (CSL).
const DEFAULT_ACCEPT_ABOVE: f64 = 0.7;

/// Texts between two questions to the caller.
const ASK_EVERY: u64 = 16;

/// Documents that a term must stand in to be accepted without review.
const SURE_DOCUMENTS: u32 = 3;

/// How domain terms are found, and what becomes of them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// File of the terms that were accepted, one a line; you may edit it, it is read again within seconds. Relative
    /// to this file; empty: `terms.txt` in the data directory.
    pub lexicon: String,
    /// File of the parts of speech and lengths that terms have, as `taojin terms patterns LEXICON` writes it. Relative
    /// to this file; empty: the built-in ones.
    pub patterns: String,
    /// Whether the daemon looks for new terms after each crawl. It works at most half of the time on one core.
    pub after_crawl: bool,
    /// New terms of at least this termhood (0 to 1) enter the lexicon by themselves, if they stand in three documents
    /// and the general dictionary does not have them. 1 accepts none.
    pub accept_above: f64,
    /// Times that a term must occur, reprints and repeated lines counted once.
    pub min_count: u32,
    /// Terms kept for review: the best ones.
    pub max_terms: usize,
    /// Characters of text that are looked at, newest documents first: this bounds time and memory.
    pub max_chars: usize,
    /// How occurrences inside longer terms are taken off: `frantzi` counts each only once, `raw` as it was first
    /// written down for Chinese.
    pub nesting: Nesting,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lexicon: String::new(),
            patterns: String::new(),
            after_crawl: true,
            accept_above: DEFAULT_ACCEPT_ABOVE,
            min_count: DEFAULT_MIN_COUNT,
            max_terms: DEFAULT_MAX_TERMS,
            max_chars: DEFAULT_MAX_CHARS,
            nesting: Nesting::default(),
        }
    }
}

impl Config {
    /// What is wrong with the values, one line with the key's name; none when all is well.
    pub fn problem(&self) -> Option<String> {
        if !(0.0..=1.0).contains(&self.accept_above) {
            return Some(format!(
                "accept_above = {}: termhood is a number from 0 to 1",
                self.accept_above
            ));
        }
        let zero = [
            ("min_count", self.min_count == 0),
            ("max_terms", self.max_terms == 0),
            ("max_chars", self.max_chars == 0),
        ];
        zero.iter()
            .find(|(_, zero)| *zero)
            .map(|(key, _)| format!("{key} = 0: nothing could be found; use 1 or more"))
    }
}

/// A text to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What the reviewer is shown as its place: an address or an id.
    pub document: String,
    /// Headline, a sentence of its own.
    pub title: String,
    /// Main text.
    pub text: String,
}

/// A term that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// As it is mostly written.
    pub term: String,
    /// What was measured of it.
    pub candidate: Candidate,
    /// Sentences that show its use.
    pub evidence: Vec<Evidence>,
}

impl Found {
    /// Whether it may enter the lexicon without review: a word of the general dictionary is cut whole anyway, and what
    /// a single source repeats may be its own coinage, and what may be a person or a label needs a reader.
    pub fn is_sure(&self, config: &Config) -> bool {
        let Candidate {
            termhood,
            documents,
            in_dictionary,
            ref normal,
            ..
        } = self.candidate;
        let is_doubtful = names::may_be_person(normal) || corpus::may_be_label(normal);
        termhood >= config.accept_above
            && documents >= SURE_DOCUMENTS
            && !in_dictionary
            && !is_doubtful
    }
}

/// Finds the terms of `texts`, best first, [`Config::max_terms`] at most, in the first [`Config::max_chars`] characters;
/// [`Config::patterns`] is only a name, `patterns` are what it names. `go_on` is asked often; when it says no, the search ends
/// with none: the caller can slow it down or stop it there.
pub fn discover(
    texts: &[Text],
    dictionary: &Dictionary,
    patterns: &Patterns,
    config: &Config,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Found>> {
    let mut corpus = Corpus::new(patterns.clone());
    let mut left = config.max_chars;
    for (id, text) in (0u64..).zip(texts) {
        if id.is_multiple_of(ASK_EVERY) && !go_on() {
            return None;
        }
        let chars = corpus.read(TextKey { id, version: 0 }, text, dictionary);
        left = left.saturating_sub(chars);
        if left == 0 {
            break;
        }
    }
    let mut load = |key: TextKey| texts.get(usize::try_from(key.id).ok()?).cloned();
    corpus.discover(dictionary, config, &mut load, go_on)
}

impl Corpus {
    /// Finds the terms of the texts that were read, as [`discover`] does. `load` gives a text as it was read, or `None`
    /// where it is gone: it is then shown without that sentence.
    pub fn discover(
        &self,
        dictionary: &Dictionary,
        config: &Config,
        load: &mut dyn FnMut(TextKey) -> Option<Text>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<Found>> {
        let candidates = candidate::measure(self, dictionary, config, go_on)?;
        evidence::gather(load, self, candidates, go_on)
    }
}
