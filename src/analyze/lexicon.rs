//! Lexicons of a domain. In: text with one term a line, `#` starting a comment, an optional part-of-speech tag
//! after a tab or space. Out: [`Lexicon`]. Never reads a file: who configures lexicons also opens them.

use super::normalize::normalize;

/// Lexicons that are part of the program: name and text.
pub const BUILTIN_LEXICONS: &[(&str, &str)] =
    &[("oil-gas", include_str!("../../index/lexicons/oil-gas.txt"))];

/// Longest term in characters: longer lines are sentences.
const MAX_TERM_CHARS: usize = 32;
/// Most terms of one lexicon: the dictionary is held in memory.
const MAX_TERMS: usize = 200_000;

/// Why a text is not a lexicon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LexiconError {
    /// The term of this line is too long.
    #[error("lexicon {name}, line {line}: a term of more than {MAX_TERM_CHARS} characters")]
    TooLong {
        /// Lexicon.
        name: String,
        /// Line, from 1.
        line: usize,
    },
    /// The lexicon has too many terms.
    #[error("lexicon {name}: more than {MAX_TERMS} terms")]
    TooMany {
        /// Lexicon.
        name: String,
    },
    /// No lexicon of that name is part of the program.
    #[error("no built-in lexicon named {0} (there is oil-gas; a file is named by its path)")]
    Unknown(String),
}

/// A term of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// In normal form.
    pub text: String,
    /// Part of speech (ICTCLAS), if the lexicon names it.
    pub tag: Option<String>,
}

/// The terms of one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexicon {
    name: String,
    terms: Vec<Term>,
}

impl Lexicon {
    /// Reads the text of a lexicon. Terms are normalised; of equal ones the first stays.
    pub fn parse(name: &str, text: &str) -> Result<Self, LexiconError> {
        let mut terms = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (number, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (term, tag) = split_tag(line);
            let term = normalize(term).trim().to_owned();
            if term.is_empty() {
                continue;
            }
            if term.chars().count() > MAX_TERM_CHARS {
                return Err(LexiconError::TooLong {
                    name: name.to_owned(),
                    line: number + 1,
                });
            }
            if seen.insert(term.clone()) {
                terms.push(Term { text: term, tag });
            }
            if terms.len() > MAX_TERMS {
                return Err(LexiconError::TooMany {
                    name: name.to_owned(),
                });
            }
        }
        Ok(Self {
            name: name.to_owned(),
            terms,
        })
    }

    /// A lexicon that is part of the program.
    pub fn builtin(name: &str) -> Result<Self, LexiconError> {
        BUILTIN_LEXICONS
            .iter()
            .find(|(known, _)| *known == name)
            .map_or_else(
                || Err(LexiconError::Unknown(name.to_owned())),
                |(name, text)| Self::parse(name, text),
            )
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its terms, in the order of the text.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter()
    }
}

/// A tag is a short lower-case ASCII word after the last white space behind a term that is not ASCII, or after a
/// tab; else the space belongs to the term (`christmas tree`).
fn split_tag(line: &str) -> (&str, Option<String>) {
    let Some((term, tag)) = line.rsplit_once(|c: char| c.is_whitespace()) else {
        return (line, None);
    };
    let is_tag = (1..=4).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_lowercase());
    if is_tag && (!term.is_ascii() || line.contains('\t')) {
        (term.trim_end(), Some(tag.to_owned()))
    } else {
        (line, None)
    }
}
