//! Text as the search sees it: the normal form of a text of a document or of a query, and the words and grams it is cut
//! into. Never does I/O (lexicons arrive as text), never knows a page.

mod cut;
mod days;
mod dictionary;
mod fold;
#[cfg(test)]
mod fold_tests;
mod general;
#[cfg(test)]
mod general_tests;
mod lexicon;
mod names;
mod normalize;
mod singles;
mod syllables;
mod synonyms;
#[cfg(test)]
mod tests;
mod tokenizer;
mod typed;

pub use cut::{GramPhrase, Word, ending_pattern, gram_phrase, gram_term, is_cjk, whole_grams};
pub(crate) use cut::{Haystack, gram_of_term, gram_terms, is_emoji, is_single};
pub use days::{Day, find_days};
pub(crate) use dictionary::across_words;
pub use dictionary::{Analyzer, Dictionary, Tagged, is_stop_word};
pub use lexicon::{Lexicon, LexiconError, Term, edited, term_problem};
pub(crate) use names::is_person_name;
pub(crate) use normalize::ideographs_at_start;
pub use normalize::{Normalized, normalize, normalize_document};
pub use singles::Singles;
pub(crate) use syllables::syllables;
pub use synonyms::{Expanded, Synonyms, SynonymsError};
pub use tokenizer::{GRAMS, SINGLES, WORDS, tokenizers};
pub(crate) use typed::{alike, begins, frequent_beginning, sound_alike};

use serde::{Deserialize, Serialize};

/// The lexicon and the synonyms every installation starts with: the domain this program was made for.
const DEFAULT_LEXICON: &str = "oil-gas";

/// What text is cut with.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Lexicons whose terms are kept whole: the name of a built-in one (`oil-gas`) or a file with one term a line.
    pub lexicons: Vec<String>,
    /// Words that mean the same: the name of built-in ones (`oil-gas`) or a file with one group a line.
    pub synonyms: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lexicons: vec![DEFAULT_LEXICON.to_owned()],
            synonyms: vec![DEFAULT_LEXICON.to_owned()],
        }
    }
}
