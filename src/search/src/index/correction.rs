//! What was probably meant. In: a query that no document fits as it stands. Out: one that some do: pinyin and misspelled
//! words replaced by what sounds or looks like them, in the lexicons or in the nearest documents. Never replaces a word
//! that some document has.

use std::collections::HashMap;

use super::IndexError;
use super::query::{Form, Group, Occur, Query, Target};
use super::reader::Reader;
use super::search::{Found, FoundDocument};
use super::suggest::literal;
use crate::analyze::{alike, normalize};
use taojin_extract::Document;

/// Longest piece of a query that is corrected, in characters.
const MAX_PIECE_CHARS: usize = 16;
/// Pieces of a query that are corrected; a query with more is a text.
const MAX_PIECES: usize = 4;
/// Nearest documents in which a piece is looked for.
const NEAREST: usize = 10;
/// Characters of a document in which a piece is looked for.
const HEAD_CHARS: usize = 2_000;

impl Reader {
    /// A query like this one that some document fits, if it can be told; `found` is what the query itself found. Where that
    /// is something, only words that sound like a term are replaced.
    pub fn correction(&self, query: &Query, found: &Found) -> Result<Option<String>, IndexError> {
        let strict = found.total > 0;
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
        let weaker = found.weaker.as_ref().filter(|_| pieces.len() == 1);
        let nearest = weaker
            .filter(|weaker| weaker.documents.len() >= NEAREST.min(weaker.total))
            .map(|weaker| weaker.documents.as_slice());
        let mut corrected = Vec::with_capacity(pieces.len());
        let mut changed = false;
        for piece in pieces {
            let other = match piece.chars().count() <= MAX_PIECE_CHARS {
                true => self.replaced(piece, strict, nearest)?,
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
        let readings = self.analyzer().dictionary().typed().spelt(letters);
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

    /// What stands in documents where this piece should stand; `nearest` are those nearest to it, if they are known.
    fn replaced(
        &self,
        piece: &str,
        strict: bool,
        nearest: Option<&[FoundDocument]>,
    ) -> Result<Option<String>, IndexError> {
        // Another number is not what was meant.
        if piece.chars().any(char::is_numeric) {
            return Ok(None);
        }
        let dictionary = self.analyzer().dictionary();
        let terms = dictionary.typed();
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
            _ if piece.chars().count() < 3 => Ok(None),
            _ => match nearest {
                Some(nearest) => Ok(replaced_by_documents(piece, nearest)),
                None => Ok(replaced_by_documents(piece, &self.nearest(piece)?)),
            },
        }
    }

    /// The documents that share most with a piece.
    fn nearest(&self, piece: &str) -> Result<Vec<FoundDocument>, IndexError> {
        let found = self.search(&Query {
            limit: NEAREST,
            ..Query::plain(piece)
        })?;
        let weaker = found
            .weaker
            .map_or_else(Vec::new, |weaker| weaker.documents);
        Ok(found.documents.into_iter().chain(weaker).collect())
    }
}

/// What most of the nearest documents have where the piece differs least from them.
fn replaced_by_documents(piece: &str, nearest: &[FoundDocument]) -> Option<String> {
    let length = piece.chars().count();
    let mut votes: HashMap<String, (usize, usize)> = HashMap::new();
    for found in nearest.iter().take(NEAREST) {
        let Document { title, text, .. } = &found.stored.document;
        let text = format!("{}\n{text}", title.as_deref().unwrap_or_default());
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
    best.map(|(text, _)| text)
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
