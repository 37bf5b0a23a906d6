//! Lexicons of a domain: text with one term a line, `#` starting a comment, an optional part-of-speech tag after a tab
//! or space; `-` before a term takes it out of the lexicons before this one. Parses a [`Lexicon`] and edits its text
//! term by term. Never reads a file: whoever configures lexicons also opens them.

use super::normalize::normalize;

/// Lexicons that are part of the program: name and text.
const BUILTIN_LEXICONS: &[(&str, &str)] = &[(
    "oil-gas",
    include_str!("../../../../index/lexicons/oil-gas.txt"),
)];

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
    terms: Vec<Term>,
    removed: Vec<String>,
}

impl Lexicon {
    /// Reads the text of a lexicon. Terms are normalised; of equal ones the first stays.
    pub fn parse(name: &str, text: &str) -> Result<Self, LexiconError> {
        let (mut terms, mut removals) = (Vec::new(), Vec::new());
        let mut seen = std::collections::HashSet::new();
        for (number, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
            let (term, tag, removed) = entry(line);
            if term.is_empty() {
                continue;
            }
            if removed {
                removals.push(term);
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
            terms,
            removed: removals,
        })
    }

    /// A lexicon that is part of the program.
    pub fn builtin(name: &str) -> Result<Self, LexiconError> {
        let known = BUILTIN_LEXICONS.iter().find(|(known, _)| *known == name);
        let (name, text) = known.ok_or_else(|| LexiconError::Unknown(name.to_owned()))?;
        Self::parse(name, text)
    }

    /// Its terms, in the order of the text.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter()
    }

    /// Terms that it takes out of the lexicons before it, in normal form.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.removed.iter().map(String::as_str)
    }
}

/// The text of a lexicon after a change: `add` are lines with a term as a person writes it, `remove` and `without` terms in
/// normal form. Lines of `remove` go; for a term of `without` a line `-term` is added, which takes it out of the
/// lexicons before. Comments and the order of the other lines stay.
pub fn edited(text: &str, add: &[&str], remove: &[&str], without: &[&str]) -> String {
    let added: Vec<String> = add.iter().map(|line| entry(line).0).collect();
    let mut present = std::collections::HashSet::new();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let (term, _, removed) = entry(line.trim_start_matches('\u{FEFF}'));
        let goes = if removed {
            added.contains(&term) || without.contains(&term.as_str())
        } else {
            remove.contains(&term.as_str())
        };
        if term.is_empty() || !goes {
            out.push_str(line);
            out.push('\n');
        }
        if !removed && !goes {
            present.insert(term);
        }
    }
    for (term, normal) in add.iter().zip(added) {
        if !normal.is_empty() && present.insert(normal) {
            out.push_str(term.trim());
            out.push('\n');
        }
    }
    for term in without {
        out.push('-');
        out.push_str(term);
        out.push('\n');
    }
    out
}

/// Term in normal form, tag, and whether the line takes the term out.
fn entry(line: &str) -> (String, Option<String>, bool) {
    let line = line.split('#').next().unwrap_or_default().trim();
    let (line, removed) = match line.strip_prefix('-') {
        Some(rest) => (rest.trim_start(), true),
        None => (line, false),
    };
    let (term, tag) = split_tag(line);
    (normalize(term).trim().to_owned(), tag, removed)
}

/// Whether a text can stand in a lexicon as a term: short, one line, with a letter or ideograph, nothing that the
/// format gives a meaning. What is wrong, if not.
pub fn term_problem(term: &str) -> Option<&'static str> {
    let normal = normalize(term);
    let normal = normal.trim();
    if normal.is_empty() || !normal.chars().any(char::is_alphanumeric) {
        return Some("a term needs a letter, a digit or an ideograph");
    }
    if normal.chars().count() > MAX_TERM_CHARS {
        return Some("a term has 32 characters at most");
    }
    if normal.starts_with('-') || term.contains(['#', '\n', '\r', '\t']) {
        return Some("a term is one line without # and tabs and does not begin with -");
    }
    None
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
