//! What was probably meant. In: a query that no document fits as it stands. Out: one that some do: pinyin and misspelled
//! words replaced by what sounds or looks like them, in the lexicons or in the nearest documents. Never replaces a word
//! that some document has.

use std::collections::HashMap;

use super::IndexError;
use super::query::{Form, Group, Occur, Query, Target};
use super::reader::Reader;
use super::search::Found;
use super::suggest::literal;
use super::terms::alike;
use crate::analyze::normalize;

/// Longest piece of a query that is corrected, in characters.
const MAX_PIECE_CHARS: usize = 16;
/// Pieces of a query that are corrected; a query with more is a text.
const MAX_PIECES: usize = 4;
/// Nearest documents in which a piece is looked for.
const NEAREST: usize = 10;
/// Characters of a document in which a piece is looked for.
const HEAD_CHARS: usize = 2_000;

impl Reader {
    /// A query like this one that some document fits, if it can be told. `strict` says whether a document fits the
    /// query itself: then only words that sound like a term are replaced.
    pub fn correction(&self, query: &Query, strict: bool) -> Result<Option<String>, IndexError> {
        let typed = typed(query);
        let pieces: Vec<&str> = typed.split_whitespace().collect();
        // Syllables may be typed apart: `ye yan qi`.
        let letters = typed.replace([' ', '\''], "");
        if !strict && let Some(text) = self.spelt(&letters)? {
            return Ok(Some(text));
        }
        if pieces.is_empty() || pieces.len() > MAX_PIECES {
            return Ok(None);
        }
        let mut corrected = Vec::with_capacity(pieces.len());
        let mut changed = false;
        for piece in pieces {
            let other = match piece.chars().count() <= MAX_PIECE_CHARS {
                true => self.replaced(piece, strict)?,
                false => None,
            };
            changed |= other.is_some();
            corrected.push(other.unwrap_or_else(|| piece.to_owned()));
        }
        if changed {
            return Ok(Some(corrected.join(" ")));
        }
        // Nothing is misspelled: perhaps the words stand apart.
        let clauses = query.groups.iter().flat_map(Group::leaves);
        let apart = !strict && clauses.into_iter().any(|c| c.form == Form::Literal);
        let plain = Query {
            limit: 0,
            filter: query.filter.clone(),
            ..Query::plain(&typed)
        };
        Ok((apart && self.search(&plain)?.total > 0).then_some(typed))
    }

    fn count(&self, text: &str) -> Result<usize, IndexError> {
        let query = Query {
            limit: 0,
            ..literal(text, Target::Anywhere)
        };
        Ok(self.search(&query)?.total)
    }

    /// What letters that no document has are in pinyin: of terms that sound alike the one with most documents.
    fn spelt(&self, letters: &str) -> Result<Option<String>, IndexError> {
        let readings = self.terms().spelt(letters);
        if readings.is_empty() || self.count(letters)? > 0 {
            return Ok(None);
        }
        let mut best: Option<(usize, String)> = None;
        for text in readings {
            let documents = self.count(&text)?;
            if documents > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((documents, text));
            }
        }
        Ok(best.map(|(_, text)| text))
    }

    /// What stands in documents where this piece should stand.
    fn replaced(&self, piece: &str, strict: bool) -> Result<Option<String>, IndexError> {
        // Another number is not what was meant.
        if piece.chars().any(char::is_numeric) {
            return Ok(None);
        }
        let terms = self.terms();
        if let Some(text) = self.spelt(piece)? {
            return Ok(Some(text));
        }
        let sounding = terms.sounding(piece);
        if (strict && sounding.is_none()) || self.count(piece)? > 0 {
            return Ok(None);
        }
        if let Some((part, text)) = sounding
            && self.count(&part)? == 0
            && self.count(&text)? > 0
        {
            return Ok(Some(text));
        }
        if strict {
            return Ok(None);
        }
        match terms.like(piece) {
            Some(term) if self.count(term)? > 0 => Ok(Some(term.to_owned())),
            _ => self.replaced_by_documents(piece),
        }
    }

    /// What most of the nearest documents have where the piece differs least from them.
    fn replaced_by_documents(&self, piece: &str) -> Result<Option<String>, IndexError> {
        let nearest = Query {
            limit: NEAREST,
            ..Query::plain(piece)
        };
        let length = piece.chars().count();
        if length < 3 {
            return Ok(None);
        }
        let mut votes: HashMap<String, (usize, usize)> = HashMap::new();
        let Found {
            documents, weaker, ..
        } = self.search(&nearest)?;
        let weaker = weaker.map(|weaker| weaker.documents).unwrap_or_default();
        for found in documents.into_iter().chain(weaker) {
            let title = found.stored.document.title.unwrap_or_default();
            let text = format!("{title}\n{}", found.stored.document.text);
            let chars: Vec<char> = normalize(&text).chars().take(HEAD_CHARS).collect();
            let mut here: Option<(usize, String)> = None;
            for part in chars.windows(length) {
                let part: String = part.iter().collect();
                if alike(&part, piece) {
                    let distance = strsim::hamming(&part, piece).unwrap_or(length);
                    if here.as_ref().is_none_or(|(least, _)| distance < *least) {
                        here = Some((distance, part));
                    }
                }
            }
            if let Some((distance, part)) = here {
                let (count, _) = votes.entry(part).or_insert((0, distance));
                *count += 1;
            }
        }
        let best = votes.into_iter().max_by_key(|(text, (count, distance))| {
            (
                *count,
                std::cmp::Reverse(*distance),
                std::cmp::Reverse(text.clone()),
            )
        });
        Ok(best.map(|(text, _)| text))
    }
}

/// What was typed, without fields, quotes and refused words.
fn typed(query: &Query) -> String {
    let clauses = query
        .groups
        .iter()
        .filter(|group| group.occur == Occur::Must && group.any.len() == 1)
        .flat_map(|group| &group.any)
        .filter(|clause| matches!(clause.target, Target::Anywhere | Target::Title))
        .map(|clause| clause.text.as_str());
    let all: Vec<&str> = std::iter::once(query.words.as_str())
        .chain(clauses)
        .collect();
    normalize(&all.join(" ")).trim().to_owned()
}
