//! The dictionary text is cut with. In: lexicons. Out: a [`Dictionary`] that never changes, and an [`Analyzer`]
//! that hands out the current one and can be given another while searches and indexing go on.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use jieba_rs::Jieba;
use xxhash_rust::xxh3::Xxh3;

use super::cut::{self, Word};
use super::lexicon::Lexicon;
use super::normalize::normalize;

/// Tag of a domain term whose lexicon names none.
const TERM_TAG: &str = "nz";

/// Dictionary words whose normal form is another word: they are added in that form.
const VARIANTS: &str = include_str!("../../index/variants.txt");

/// The general dictionary and the terms of the lexicons. Building one takes some tenths of a second.
pub struct Dictionary {
    jieba: Jieba,
    terms: HashSet<String>,
    version: u64,
}

impl Dictionary {
    /// The general dictionary with the terms of these lexicons, later ones over earlier ones.
    pub fn new(lexicons: &[Lexicon]) -> Self {
        let mut jieba = Jieba::new();
        for line in VARIANTS.lines() {
            let variant = line.split('#').next().unwrap_or_default().trim();
            let normal = normalize(variant);
            if normal != variant {
                jieba.add_word(&normal, None, None);
            }
        }
        let mut terms = HashSet::new();
        for term in lexicons.iter().flat_map(Lexicon::terms) {
            // Latin and digit runs are words without a dictionary; adding them would cut longer runs.
            if term.text.chars().any(cut::is_cjk) {
                jieba.add_word(
                    &term.text,
                    None,
                    Some(term.tag.as_deref().unwrap_or(TERM_TAG)),
                );
            }
            terms.insert(term.text.clone());
        }
        let version = version_of(&terms);
        Self {
            jieba,
            terms,
            version,
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

    /// Names the set of domain terms: equal sets have equal versions, in any run of the program.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Cuts a text in normal form into words.
    pub fn words(&self, text: &str) -> Vec<Word> {
        let mut out = Vec::new();
        cut::words(text, self, &mut out);
        out
    }

    pub(crate) fn jieba(&self) -> &Jieba {
        &self.jieba
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("terms", &self.terms.len())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// xxh3 over the sorted terms, each ended by a line break.
fn version_of(terms: &HashSet<String>) -> u64 {
    let mut sorted: Vec<&String> = terms.iter().collect();
    sorted.sort_unstable();
    let mut hash = Xxh3::new();
    for term in sorted {
        hash.update(term.as_bytes());
        hash.update(b"\n");
    }
    hash.digest()
}

/// The current dictionary, shared by everything that indexes and searches. Clones share it.
#[derive(Debug, Clone)]
pub struct Analyzer {
    current: Arc<RwLock<Arc<Dictionary>>>,
}

impl Analyzer {
    /// Starts with the terms of these lexicons.
    pub fn new(lexicons: &[Lexicon]) -> Self {
        Self {
            current: Arc::new(RwLock::new(Arc::new(Dictionary::new(lexicons)))),
        }
    }

    /// The dictionary of this moment.
    pub fn dictionary(&self) -> Arc<Dictionary> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Puts another dictionary in place; what is being cut now is finished with the old one.
    pub fn replace(&self, dictionary: Dictionary) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(dictionary);
    }
}
