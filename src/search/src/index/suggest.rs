//! Suggestions while typing. In: what stands in the query box so far. Out: terms of the lexicons that begin so,
//! typed in characters, syllables or first letters, and titles that contain it. Only what has documents.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use super::IndexError;
use super::query::{Clause, Group, Occur, Query, Sort, Target};
use super::reader::Reader;
use crate::analyze::{Normalized, begins, normalize, syllables};

/// Longest text that is completed, in characters: after that one knows what one wants.
const MAX_TYPED_CHARS: usize = 32;
/// Terms whose documents are counted, shortest first.
const COUNTED: usize = 24;
/// Titles looked at for each one given: the same title stands in many documents.
const TITLES_READ: usize = 3;

/// What is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Suggested {
    /// A term of a lexicon.
    Term,
    /// The title of a document.
    Title,
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Text for the query box.
    pub text: String,
    /// What it is.
    pub kind: Suggested,
    /// Documents that have the term; 1 for a title.
    pub documents: u64,
    /// Identifier of the document, for a title.
    pub id: Option<String>,
    /// The parts of the text that were typed, in bytes.
    pub marks: Vec<Range<usize>>,
}

impl Reader {
    /// At most `limit` suggestions for a text that is being typed: terms, those with most documents first, then
    /// the titles of the latest documents.
    pub fn suggest(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, IndexError> {
        let typed: String = typed.chars().take(MAX_TYPED_CHARS).collect();
        let typed = normalize(&typed).trim().to_owned();
        if typed.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let mut out = self.terms_like(&typed)?;
        // Titles are always given some room.
        out.truncate(limit - limit / 3);
        let rest = limit - out.len();
        out.extend(self.titles_with(&typed, rest)?);
        Ok(out)
    }

    fn terms_like(&self, typed: &str) -> Result<Vec<Suggestion>, IndexError> {
        let mut out = Vec::new();
        let dictionary = self.analyzer().dictionary();
        for (is_first, term) in dictionary.typed().beginning(typed, COUNTED) {
            let found = self.search(&Query {
                limit: 0,
                ..literal(term, Target::Anywhere)
            })?;
            if found.total > 0 {
                let suggestion = Suggestion {
                    text: term.to_owned(),
                    kind: Suggested::Term,
                    documents: found.total as u64,
                    id: None,
                    marks: typed_part(term, typed),
                };
                out.push((!is_first, suggestion));
            }
        }
        out.sort_by_key(|(inside, s)| (*inside, std::cmp::Reverse(s.documents)));
        Ok(out.into_iter().map(|(_, suggestion)| suggestion).collect())
    }

    fn titles_with(&self, typed: &str, limit: usize) -> Result<Vec<Suggestion>, IndexError> {
        let found = self.search(&Query {
            sort: Sort::Date,
            limit: limit * TITLES_READ,
            ..literal(typed, Target::Title)
        })?;
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for document in found.documents {
            let id = document.stored.id();
            let title = document.stored.document.title.unwrap_or_default();
            if out.len() < limit && seen.insert(normalize(&title).into_owned()) {
                out.push(Suggestion {
                    marks: occurrences(&title, typed),
                    text: title,
                    kind: Suggested::Title,
                    documents: 1,
                    id: Some(id),
                });
            }
        }
        Ok(out)
    }
}

/// The part of a term that was typed: the text itself, or the characters that its letters stand for.
fn typed_part(term: &str, typed: &str) -> Vec<Range<usize>> {
    let found = occurrences(term, typed);
    if !found.is_empty() {
        return found;
    }
    let mut ends = term.char_indices().map(|(at, c)| at + c.len_utf8());
    // Half a syllable counts as its character: the shortest part that the letters are the beginning of.
    let covered = ends.find(|&end| {
        let part = term.get(..end).unwrap_or_default();
        begins(part, &syllables(part), typed)
    });
    covered.map(|end| 0..end).into_iter().collect()
}

/// Where a text in normal form stands in another, whatever its spelling there.
fn occurrences(text: &str, typed: &str) -> Vec<Range<usize>> {
    let normal = Normalized::new(text);
    let found = normal.text().match_indices(typed);
    found
        .map(|(at, part)| normal.original(at, at + part.len()))
        .collect()
}

/// The documents with these very characters.
pub(super) fn literal(text: &str, target: Target) -> Query {
    let clause = Clause::literal(target, text);
    let group = Group {
        occur: Occur::Must,
        any: vec![clause],
    };
    Query {
        groups: vec![group],
        ..Query::default()
    }
}
