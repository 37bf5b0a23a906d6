//! The dictionary that text is cut with: a [`Dictionary`] of lexicons never changes, and an [`Analyzer`] holds the
//! current one, which can be replaced while searches and indexing continue.
//!
//! Function words ([`is_stop_word`]) are found and ranked by their characters, but are neither demanded nor marked.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use jieba_rs::Jieba;

use super::cut::{self, Word};
use super::general::{GENERAL, Words, normal_variants};
use super::lexicon::Lexicon;
use super::synonyms::Synonyms;
use super::typed::TypedTerms;

/// Tag of a domain term whose lexicon names none.
const TERM_TAG: &str = "nz";

/// Bytes of text that are cut without loading jieba whole: the queries of a few searches. What cuts more (a server, the
/// discovery of terms) goes on to cut much more, and each cut is faster then.
const CUT_UNLOADED: usize = 4 << 10;

/// jieba with the general dictionary alone, for all that have no words beside it.
static GENERAL_LOADED: LazyLock<Arc<Jieba>> = LazyLock::new(|| Arc::new(load_general()));

/// Loads jieba with the general dictionary in normal form. That takes a tenth of a second and 30 MB, so that a search from the
/// command line does without it.
fn load_general() -> Jieba {
    let mut jieba = Jieba::new();
    for normal in normal_variants() {
        jieba.add_word(&normal, None, None);
    }
    jieba
}

/// The general dictionary and the terms of the lexicons.
pub struct Dictionary {
    words: Words,
    /// Bytes of text that were cut with `words`.
    cut_unloaded: AtomicUsize,
    /// jieba with all words, from when it is first needed.
    loaded: OnceLock<Arc<Jieba>>,
    terms: HashSet<String>,
    /// Terms that are added to jieba, in order, and the tags of these.
    added: Vec<String>,
    tags: Vec<String>,
    typed: OnceLock<TypedTerms>,
    synonyms: Synonyms,
}

impl Dictionary {
    /// The general dictionary with the terms of these lexicons, later ones over earlier ones: a line `-term` takes
    /// out a term of an earlier one.
    pub fn new(lexicons: &[Lexicon]) -> Self {
        Self::with_synonyms(lexicons, Synonyms::default())
    }

    /// The same with synonyms, whose words are kept whole as well.
    pub fn with_synonyms(lexicons: &[Lexicon], synonyms: Synonyms) -> Self {
        let mut terms: HashSet<String> = HashSet::new();
        let mut tagged: Vec<(String, String)> = Vec::new();
        for lexicon in lexicons {
            for term in lexicon.terms() {
                terms.insert(term.text.clone());
                let tag = term.tag.as_deref().unwrap_or(TERM_TAG);
                tagged.push((term.text.clone(), tag.to_owned()));
            }
            for removed in lexicon.removed() {
                terms.remove(removed);
            }
        }
        // Latin and digit runs are words without a dictionary; adding them would cut longer runs.
        tagged.retain(|(text, _)| terms.contains(text) && text.chars().any(cut::is_cjk));
        let whole = synonyms.words().into_iter();
        let whole = whole.filter(|word| !terms.contains(word) && word.chars().all(cut::is_cjk));
        tagged.extend(whole.map(|word| (word, TERM_TAG.to_owned())));
        let (added, tags): (Vec<String>, Vec<String>) = tagged.into_iter().unzip();
        Self {
            words: GENERAL.with(&added),
            cut_unloaded: AtomicUsize::new(0),
            loaded: OnceLock::new(),
            typed: OnceLock::new(),
            terms,
            added,
            tags,
            synonyms,
        }
    }

    /// Whether a word (in normal form) is a term of the domain.
    pub fn is_term(&self, word: &str) -> bool {
        self.terms.contains(word)
    }

    /// All domain terms, in no order.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(String::as_str)
    }

    /// Number of domain terms.
    pub fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// What else to look for.
    pub fn synonyms(&self) -> &Synonyms {
        &self.synonyms
    }

    /// The domain terms as they are typed.
    pub(crate) fn typed(&self) -> &TypedTerms {
        self.typed.get_or_init(|| TypedTerms::new(self.terms()))
    }

    /// Cuts a text in normal form into words.
    pub fn words(&self, text: &str) -> Vec<Word> {
        let unloaded = self.loaded.get().is_none()
            && self.cut_unloaded.fetch_add(text.len(), Ordering::Relaxed) + text.len()
                <= CUT_UNLOADED;
        if unloaded {
            cut::words(text, &self.words.jieba([text]))
        } else {
            cut::words(text, self.loaded())
        }
    }

    /// What the index holds of the words of a text in normal form, with spaces between: each word once, and the mark
    /// ([`across_words`]) of each synonym that stands there across the borders of words only.
    pub(crate) fn index_words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let words = self.words(text);
        let mut seen: foldhash::HashSet<&str> = foldhash::HashSet::default();
        seen.reserve(words.len());
        for synonym in self.synonyms.across_words(text, &words) {
            out.push_str(&across_words(synonym));
            out.push(' ');
        }
        for word in words {
            let word = word.slice_of(text);
            if word.len() <= cut::MAX_GRAM_BYTES && seen.insert(word) && is_index_word(word) {
                cut::push_gram_term(word, &mut out);
                out.push(' ');
            }
        }
        out
    }

    /// Words that texts are cut by beside those of the general dictionary.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(String::as_str)
    }

    /// Cuts a text in normal form into words with their part of speech (ICTCLAS), punctuation included.
    pub fn tagged<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Tagged<'t>> {
        let tags = self.loaded().tag(text, false).into_iter();
        tags.map(|tag| Tagged {
            text: tag.word,
            start: tag.byte_start,
            tag: tag.tag,
        })
    }

    fn loaded(&self) -> &Jieba {
        self.loaded.get_or_init(|| {
            if self.added.is_empty() {
                return Arc::clone(&GENERAL_LOADED);
            }
            // Loaded anew, since a copy of a shared one would keep both in memory.
            let mut jieba = load_general();
            for (text, tag) in self.added.iter().zip(&self.tags) {
                jieba.add_word(text, None, Some(tag));
            }
            Arc::new(jieba)
        })
    }

    #[cfg(test)]
    pub(super) fn is_loaded(&self) -> bool {
        self.loaded.get().is_some()
    }

    /// How often a word occurs among a million words of general text; none for what no dictionary has.
    pub fn per_million(&self, word: &str) -> Option<f64> {
        let frequency = GENERAL.frequency(word)?;
        Some(frequency as f64 * 1e6 / GENERAL.total() as f64)
    }
}

/// Whether the general dictionary has a word (in normal form), whatever the lexicons say.
pub(super) fn is_general_word(word: &str) -> bool {
    GENERAL.has(word)
}

/// A word with its part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tagged<'t> {
    /// The word, or a punctuation mark.
    pub text: &'t str,
    /// Its first byte.
    pub start: usize,
    /// Part of speech (ICTCLAS); `x` for what is no word, `eng` for Latin letters, `m` for digits.
    pub tag: &'t str,
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("terms", &self.terms.len())
            .finish_non_exhaustive()
    }
}

/// The current dictionary, shared by everything that searches. Clones share it.
#[derive(Debug, Clone)]
pub struct Analyzer {
    current: Arc<Mutex<Current>>,
}

/// Adding the terms of large lexicons takes hundredths of a second: a crawl that nobody searches next to needs none.
#[derive(Debug)]
enum Current {
    Made(Arc<Dictionary>),
    Of(Vec<Lexicon>, Synonyms),
}

impl Analyzer {
    /// Starts with the terms of these lexicons. The dictionary is made when it is first asked for.
    pub fn new(lexicons: &[Lexicon]) -> Self {
        Self::with_synonyms(lexicons, Synonyms::default())
    }

    /// The same with synonyms.
    pub fn with_synonyms(lexicons: &[Lexicon], synonyms: Synonyms) -> Self {
        Self {
            current: Arc::new(Mutex::new(Current::Of(lexicons.to_vec(), synonyms))),
        }
    }

    /// The dictionary of this moment.
    pub fn dictionary(&self) -> Arc<Dictionary> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let dictionary = match &*current {
            Current::Made(dictionary) => return Arc::clone(dictionary),
            Current::Of(lexicons, synonyms) => {
                Arc::new(Dictionary::with_synonyms(lexicons, synonyms.clone()))
            }
        };
        *current = Current::Made(Arc::clone(&dictionary));
        dictionary
    }

    /// Puts another dictionary in place; what is being cut now is finished with the old one.
    pub fn replace(&self, dictionary: Dictionary) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Current::Made(Arc::new(dictionary));
    }
}

/// The mark of a text that holds a synonym (in normal form) only across the borders of words: 重油 in 严重油污.
pub(crate) fn across_words(synonym: &str) -> String {
    format!("!{synonym}")
}

/// How often a word occurs among a million words of general text to say nothing about a document that has it.
const COMMON_PER_MILLION: f64 = 700.0;

/// Function words, and those that most texts have.
static WORDS_OF_ALL: LazyLock<foldhash::HashSet<String>> = LazyLock::new(|| {
    let mut words = GENERAL.commoner_than(COMMON_PER_MILLION);
    words.extend(STOP_WORDS.iter().map(|word| (*word).to_owned()));
    words
});

/// Whether the index holds a word (in normal form) as such: one of a script without spaces, since runs of letters and digits
/// are grams, and neither a function word nor one that most texts have. All others rank by their pairs and characters.
fn is_index_word(word: &str) -> bool {
    word.chars().any(cut::is_cjk) && !WORDS_OF_ALL.contains(word)
}

static STOP_WORDS: LazyLock<foldhash::HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../../../index/stop-words.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// Whether a word (in normal form) says how a sentence is built and not what it is about.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}
