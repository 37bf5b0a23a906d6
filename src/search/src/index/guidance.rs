//! What a person is told next to the hits. While typing: terms of the lexicons that begin so, typed in characters, syllables or
//! first letters, frequent words, and titles that contain it ([`Suggestion`]). Of a query that no document fits: one that
//! some do, with pinyin and misspelled words replaced by words that sound or look like them ([`Correction`]); what some
//! document has is replaced only where very many have a word that sounds like it. Of a hit: what it holds of the query ([`Reason`]).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::Serialize;
use utoipa::ToSchema;

use super::IndexError;
use super::query::{Clause, Form, Group, Occur, Query, Sort, Target};
use super::reader::Reader;
use super::schema::Column;
use super::search::{Found, FoundDocument};
use super::stored::head;
use super::view::reckoned;
use crate::analyze::{
    Day, Dictionary, GramPhrase, Haystack, Normalized, Word, alike, begins, find_days,
    frequent_beginning, gram_phrase, gram_term, is_cjk, is_person_name, is_stop_word, normalize,
    normalize_document, sound_alike, syllables, whole_grams,
};
use taojin_extract::Document;

/// Longest text that is completed, in characters: after that one knows what one wants.
const MAX_TYPED_CHARS: usize = 32;
/// Terms whose documents are counted, shortest first.
const COUNTED: usize = 24;
/// Words of the general dictionary that are looked up in the index, and those whose documents are counted.
const LOOKED_UP: usize = 200;
const FREQUENT_WORDS: usize = 12;
/// Titles looked at for each one given: the same title stands in many documents.
const TITLES_READ: usize = 3;

/// What is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Suggested {
    /// A term of a lexicon, or a word that documents have.
    Term,
    /// The title of a document.
    Title,
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Suggestion {
    /// Text for the query box.
    pub text: String,
    /// What it is.
    pub kind: Suggested,
    /// Documents that have the term; 1 for a title.
    pub documents: u64,
    /// Id for `/api/docs/{id}`, for a title.
    pub id: Option<String>,
    /// The parts of the text that were typed: first character and the one after the last, counted in Unicode code points.
    pub marks: Vec<[usize; 2]>,
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
        let terms = dictionary.typed().beginning(typed, COUNTED);
        let mut terms: Vec<(bool, String)> = terms
            .into_iter()
            .map(|(is_first, term)| (is_first, term.to_owned()))
            .collect();
        let mut words = frequent_beginning(typed);
        words.truncate(LOOKED_UP);
        words.retain(|word| !dictionary.is_term(word));
        let words = self.most_frequent(words, FREQUENT_WORDS)?;
        terms.extend(words.into_iter().map(|word| (true, word)));
        for (is_first, term) in terms {
            let documents = self.count(&term)?;
            if documents > 0 {
                let suggestion = Suggestion {
                    marks: in_characters(&term, typed_part(&term, typed)),
                    text: term,
                    kind: Suggested::Term,
                    documents: documents as u64,
                    id: None,
                };
                out.push((!is_first, suggestion));
            }
        }
        out.sort_by_key(|(inside, s)| (*inside, std::cmp::Reverse(s.documents)));
        Ok(out.into_iter().map(|(_, suggestion)| suggestion).collect())
    }

    /// Those of these words that most documents may have, most first.
    fn most_frequent(&self, words: Vec<String>, most: usize) -> Result<Vec<String>, IndexError> {
        let view = self.view()?;
        let frequencies = reckoned(view.as_ref(), |statistics| -> Vec<u64> {
            let grams = |word: &String| {
                let grams = whole_grams(word).into_iter();
                let frequency = |gram| statistics.frequency(Column::BodyGrams, &gram_term(gram));
                grams.map(frequency).min().unwrap_or(0)
            };
            words.iter().map(grams).collect()
        })?;
        let mut ranked: Vec<(u64, String)> = frequencies.into_iter().zip(words).collect();
        ranked.retain(|(frequency, _)| *frequency > 0);
        ranked.sort_by_key(|(frequency, _)| std::cmp::Reverse(*frequency));
        ranked.truncate(most);
        Ok(ranked.into_iter().map(|(_, word)| word).collect())
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
                    marks: in_characters(&title, typed_places(&title, typed)),
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

fn in_characters(text: &str, marks: Vec<Range<usize>>) -> Vec<[usize; 2]> {
    let chars = |bytes: usize| text.get(..bytes).unwrap_or_default().chars().count();
    let marks = marks.into_iter();
    marks.map(|m| [chars(m.start), chars(m.end)]).collect()
}

/// The part of a term that was typed: the text itself, or the characters that its letters stand for.
fn typed_part(term: &str, typed: &str) -> Vec<Range<usize>> {
    let found = typed_places(term, typed);
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
fn typed_places(text: &str, typed: &str) -> Vec<Range<usize>> {
    let normal = Normalized::new(text);
    let found = normal.text().match_indices(typed);
    found
        .map(|(at, part)| normal.original(at, at + part.len()))
        .collect()
}

/// The documents with these very characters.
pub(crate) fn literal(text: &str, target: Target) -> Query {
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

/// Longest piece of a query that is corrected, in characters.
const MAX_PIECE_CHARS: usize = 16;
/// Pieces of a query that are corrected; a query with more is a text.
const MAX_PIECES: usize = 4;
/// Nearest documents in which a piece is searched for.
const NEAREST: usize = 10;
/// Characters of a document in which a piece is searched for.
const HEAD_CHARS: usize = 2_000;
/// Of the nearest documents so many must have what stands in its place, unless it sounds the same: one may misspell it.
const LEAST_VOTES: usize = 2;

/// Occurrences among a million words of general text up to which a word may be a misspelling.
const SELDOM: f64 = 0.08;
/// So many times more documents have the right word.
const OUTNUMBERED: usize = 20;

/// A query that some document fits, for one that none does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The query.
    pub text: String,
    /// Whether it may be searched without asking: not where the name of a person would be another one.
    pub is_sure: bool,
}

impl Reader {
    /// A query like this one that some document fits, if it can be told; `found` is what the query itself found. Where that
    /// is something, only words that sound like another one are replaced.
    pub fn correction(
        &self,
        query: &Query,
        found: &Found,
    ) -> Result<Option<Correction>, IndexError> {
        let strict = found.total > 0;
        let speller = Speller { reader: self };
        let sure = |text: String| Correction {
            text,
            is_sure: true,
        };
        let typed = typed(query);
        let pieces: Vec<&str> = typed.split_whitespace().collect();
        // Syllables may be typed apart: `ye yan qi`.
        let letters = typed.replace([' ', '\''], "");
        if !strict && let Some(text) = speller.spelt(&letters)? {
            return Ok(Some(sure(text)));
        }
        if pieces.is_empty() || pieces.len() > MAX_PIECES {
            return Ok(None);
        }
        let weaker = found.weaker.as_ref().filter(|_| pieces.len() == 1);
        let nearest = weaker
            .filter(|weaker| weaker.documents.len() >= NEAREST.min(weaker.total))
            .map(|weaker| weaker.documents.as_slice());
        let mut corrected = Vec::with_capacity(pieces.len());
        let (mut changed, mut is_sure) = (false, true);
        for piece in pieces {
            let other = if piece.chars().count() <= MAX_PIECE_CHARS {
                speller.replaced(piece, strict, nearest)?
            } else {
                None
            };
            if let Some(other) = &other {
                changed = true;
                is_sure &= other.is_sure
                    && (!is_person_name(piece) || is_same_but_surname(piece, &other.text));
            }
            corrected.push(other.map_or_else(|| piece.to_owned(), |other| other.text));
        }
        if changed {
            let text = corrected.join(" ");
            return Ok(Some(Correction { text, is_sure }));
        }
        // Nothing is misspelled: perhaps the words stand apart.
        let clauses = query.groups.iter().flat_map(Group::leaves);
        let apart = !strict && clauses.into_iter().any(|c| c.form == Form::Literal);
        let plain = Query {
            limit: 0,
            filter: query.filter.clone(),
            ..Query::plain(&typed)
        };
        Ok((apart && self.search(&plain)?.total > 0).then(|| sure(typed)))
    }

    /// Whether a document has these very characters.
    pub fn has_text(&self, text: &str) -> Result<bool, IndexError> {
        Ok(self.count(text)? > 0)
    }

    fn count(&self, text: &str) -> Result<usize, IndexError> {
        let query = Query {
            limit: 0,
            ..literal(text, Target::Anywhere)
        };
        Ok(self.search(&query)?.total)
    }
}

/// Finds what was meant by a piece of a query.
struct Speller<'r> {
    reader: &'r Reader,
}

impl Speller<'_> {
    /// Of several texts the one with most documents.
    fn best_of(&self, texts: Vec<String>) -> Result<Option<String>, IndexError> {
        let mut best: Option<(usize, String)> = None;
        for text in texts {
            let documents = self.reader.count(&text)?;
            if documents > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((documents, text));
            }
        }
        Ok(best.map(|(_, text)| text))
    }

    /// What letters that no document has are in pinyin: of words that sound alike the one with most documents.
    fn spelt(&self, letters: &str) -> Result<Option<String>, IndexError> {
        let readings = self.reader.analyzer().dictionary().typed().spelt(letters);
        if readings.is_empty() || self.reader.count(letters)? > 0 {
            return Ok(None);
        }
        self.best_of(readings)
    }

    /// Of the Latin words of documents that are spelt nearly like one that no document has the nearest, of several the one
    /// with most documents.
    fn nearly_spelt(&self, word: &str) -> Result<Option<String>, IndexError> {
        let most_edits = match word.len() {
            0..4 => return Ok(None),
            4..8 => 1,
            _ => 2,
        };
        let view = self.reader.view()?;
        let mut similar = view.similar(Column::BodyGrams, word, most_edits)?;
        similar.extend(view.similar(Column::TitleGrams, word, most_edits)?);
        similar.retain(|(other, _)| other.chars().all(char::is_alphabetic));
        let best = similar.into_iter().min_by_key(|(other, documents)| {
            let edits = strsim::osa_distance(other, word);
            (edits, std::cmp::Reverse(*documents), other.clone())
        });
        Ok(best.map(|(other, _)| other))
    }

    /// What stands in the place of a word of Latin letters that no document has: a word that is spelt nearly so or, where
    /// nothing else was found, what is suggested to who types it.
    fn meant_by_letters(&self, word: &str, strict: bool) -> Result<Option<String>, IndexError> {
        let is_known = reckoned(self.reader.view()?.as_ref(), |statistics| {
            let has = |column| statistics.frequency(column, &gram_term(word)) > 0;
            [Column::BodyGrams, Column::TitleGrams]
                .map(has)
                .contains(&true)
        })?;
        if is_known {
            return Ok(None);
        }
        let similar = self.nearly_spelt(word)?;
        if strict || similar.is_some() {
            return Ok(similar);
        }
        let suggested = self.reader.terms_like(word)?.into_iter().next();
        Ok(suggested.map(|suggestion| suggestion.text))
    }

    /// What stands in documents where this piece should stand; `nearest` are those nearest to it, if they are known.
    fn replaced(
        &self,
        piece: &str,
        strict: bool,
        nearest: Option<&[FoundDocument]>,
    ) -> Result<Option<Correction>, IndexError> {
        let sure = |text: String| {
            Some(Correction {
                text,
                is_sure: true,
            })
        };
        // Another number is not what was meant.
        if piece.chars().any(char::is_numeric) {
            return Ok(None);
        }
        let dictionary = self.reader.analyzer().dictionary();
        let terms = dictionary.typed();
        if let Some(text) = self.spelt(piece)? {
            return Ok(sure(text));
        }
        if piece.bytes().all(|b| b.is_ascii_lowercase())
            && let Some(text) = self.meant_by_letters(piece, strict)?
        {
            return Ok(sure(text));
        }
        let sounding = terms.sounding(piece, strict);
        if strict && sounding.is_none() {
            return Ok(None);
        }
        let own = self.reader.count(piece)?;
        if let Some((part, texts)) = sounding
            && let Some(text) = self.best_of(texts)?
        {
            let is_misspelled = if part == piece {
                own == 0 || self.is_outnumbered(piece, own, &text)?
            } else {
                own == 0 && self.reader.count(&part)? == 0
            };
            if is_misspelled {
                return Ok(sure(text));
            }
        }
        if strict || own > 0 {
            return Ok(None);
        }
        match terms.like(piece) {
            Some(term) if self.reader.count(term)? > 0 => Ok(sure(term.to_owned())),
            // What documents have in the place of a name is another person.
            _ if piece.chars().count() < 3 || is_person_name(piece) => Ok(None),
            _ => {
                let nearest = match nearest {
                    Some(nearest) => Cow::Borrowed(nearest),
                    None => Cow::Owned(self.nearest(piece)?),
                };
                let voted = replaced_by_documents(piece, &nearest, &dictionary);
                Ok(voted
                    .and_then(sure)
                    .or_else(|| one_other_character(piece, &nearest)))
            }
        }
    }

    /// Whether few documents have a piece that is neither a known word nor a name, and very many have what sounds like it:
    /// some write 天燃气.
    fn is_outnumbered(&self, piece: &str, own: usize, other: &str) -> Result<bool, IndexError> {
        let dictionary = self.reader.analyzer().dictionary();
        let is_known = dictionary.per_million(piece).unwrap_or(0.0) > SELDOM;
        if is_known || is_person_name(piece) {
            return Ok(false);
        }
        Ok(self.reader.count(other)? > own * OUTNUMBERED)
    }

    /// The documents that share most with a piece.
    fn nearest(&self, piece: &str) -> Result<Vec<FoundDocument>, IndexError> {
        let found = self.reader.search(&Query {
            limit: NEAREST,
            ..Query::plain(piece)
        })?;
        let weaker = found
            .weaker
            .map_or_else(Vec::new, |weaker| weaker.documents);
        Ok(found.documents.into_iter().chain(weaker).collect())
    }
}

/// Whether a word of three or more characters is another one with the first replaced by a surname that sounds like it: 叶岩气
/// is 页岩气.
fn is_same_but_surname(piece: &str, other: &str) -> bool {
    let tail = |text: &str| text.chars().skip(1).collect::<String>();
    piece.chars().count() > 2 && sound_alike(piece, other) && tail(piece) == tail(other)
}

/// What most of the nearest documents have where the piece differs least from them. Only whole words: a piece of a name
/// between other characters is none.
fn replaced_by_documents(
    piece: &str,
    nearest: &[FoundDocument],
    dictionary: &Dictionary,
) -> Option<String> {
    let length = piece.chars().count();
    let mut votes: HashMap<String, (usize, usize)> = HashMap::new();
    for found in nearest.iter().take(NEAREST) {
        let text = beginning(found);
        let mut here: Option<(usize, &str)> = None;
        for part in word_spans(&text, &dictionary.words(&text), length) {
            let distance = strsim::hamming(part, piece).unwrap_or(length);
            if alike(part, piece) && here.is_none_or(|(least, _)| distance < least) {
                here = Some((distance, part));
            }
        }
        if let Some((distance, part)) = here {
            let (count, _) = votes.entry(part.to_owned()).or_insert((0, distance));
            *count += 1;
        }
    }
    votes.retain(|text, (count, _)| *count >= LEAST_VOTES || sound_alike(text, piece));
    let best = votes.into_iter().max_by_key(|(text, (count, distance))| {
        (
            *count,
            std::cmp::Reverse(*distance),
            std::cmp::Reverse(text.clone()),
        )
    });
    best.map(|(text, _)| text)
}

/// Shortest piece that one other character leaves beyond doubt enough to be offered.
const MIN_ONE_OTHER_CHARS: usize = 5;

/// What some of the nearest documents have that differs from a piece of Chinese in one character. It is only offered.
fn one_other_character(piece: &str, nearest: &[FoundDocument]) -> Option<Correction> {
    let piece: Vec<char> = piece.chars().collect();
    if piece.len() < MIN_ONE_OTHER_CHARS || !piece.iter().copied().all(is_cjk) {
        return None;
    }
    let mut votes: HashMap<String, usize> = HashMap::new();
    for found in nearest.iter().take(NEAREST) {
        let text: Vec<char> = beginning(found).chars().collect();
        let differs_once = |part: &&[char]| {
            let pairs = part.iter().zip(&piece);
            pairs.filter(|(a, b)| a != b).count() == 1 && part.iter().copied().all(is_cjk)
        };
        if let Some(part) = text.windows(piece.len()).find(differs_once) {
            *votes.entry(part.iter().collect()).or_default() += 1;
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|(text, count)| (*count, std::cmp::Reverse(text.clone())));
    best.map(|(text, _)| Correction {
        text,
        is_sure: false,
    })
}

/// Title and text in normal form as far as a piece is searched for in them.
fn beginning(found: &FoundDocument) -> String {
    let Document { title, text, .. } = &found.stored.document;
    let text = format!(
        "{}\n{}",
        title.as_deref().unwrap_or_default(),
        head(text, MAX_TEXT_BYTES)
    );
    normalize_document(&text).chars().take(HEAD_CHARS).collect()
}

/// The parts of a text of so many characters that are whole words, one or several next to each other; no single character is
/// one of them.
fn word_spans<'t>(text: &'t str, words: &[Word], chars: usize) -> Vec<&'t str> {
    let mut spans = Vec::new();
    for (at, first) in words.iter().enumerate() {
        let (mut end, mut count) = (first.start, 0);
        for word in words.iter().skip(at) {
            let own = word.slice_of(text).chars().count();
            if word.start != end || own < 2 || count >= chars {
                break;
            }
            (end, count) = (word.end, count + own);
        }
        if count == chars {
            spans.extend(text.get(first.start..end));
        }
    }
    spans
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

/// Bytes of a text that are looked through.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// Most words that are told of.
const MAX_WORDS: usize = 16;

/// One reason, in order of its weight; printed in English, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The query stands there as typed.
    #[error("holds the query as typed, {}", places(*.title, *.text))]
    AsTyped {
        /// In the title.
        title: bool,
        /// In the text.
        text: bool,
    },
    /// It has all words of the query.
    #[error("has all words of the query")]
    AllWords,
    /// It has this word.
    #[error("{word}: {} times in the text{}", .times, if *.title { ", and in the title" } else { "" })]
    Word {
        /// In normal form.
        word: String,
        /// How often the text has it.
        times: usize,
        /// Whether the title has it.
        title: bool,
    },
    /// It does not have this word.
    #[error("{word}: missing")]
    Missing {
        /// In normal form.
        word: String,
    },
}

fn places(title: bool, text: bool) -> &'static str {
    match (title, text) {
        (true, true) => "in the title and the text",
        (true, false) => "in the title",
        _ => "in the text",
    }
}

/// What a document holds of a query.
pub fn reasons(query: &Query, dictionary: &Dictionary, found: &FoundDocument) -> Vec<Reason> {
    let document = &found.stored.document;
    let title = normalize_document(document.title.as_deref().unwrap_or_default());
    let text = normalize_document(head(&document.text, MAX_TEXT_BYTES));
    let (in_title, in_text) = (Haystack::new(&title), Haystack::new(&text));
    let mut asked: Vec<String> = vec![query.words.clone()];
    asked.extend(query.wanted().map(|clause| clause.text.clone()));
    let mut reasons = Vec::new();
    let typed = normalize_document(&query.words);
    let typed = typed.trim();
    if !typed.is_empty() && gram_phrase(typed) != GramPhrase::Nothing {
        let holds = |text: &Haystack<'_>| text.occurrences(typed).next().is_some();
        let (title, text) = (holds(&in_title), holds(&in_text));
        if title || text {
            reasons.push(Reason::AsTyped { title, text });
        }
    }
    let mut words: Vec<(String, Option<Day>)> = Vec::new();
    for asked in &asked {
        let normal = normalize(asked);
        let days = find_days(&normal);
        for word in dictionary.words(&normal) {
            let day = days
                .iter()
                .find(|day| (day.start..day.end).contains(&word.start));
            let text = match day {
                Some(day) => normal.get(day.start..day.end).unwrap_or_default(),
                None => word.slice_of(&normal),
            };
            let known = words.iter().any(|(known, _)| known == text);
            if !is_stop_word(text) && !known && words.len() < MAX_WORDS {
                words.push((text.to_owned(), day.copied()));
            }
        }
    }
    let (title_days, text_days) = (find_days(&title), find_days(&text));
    let told = words.into_iter().map(|(word, day)| {
        let (times, title) = match day {
            Some(day) => {
                let is_meant = |found: &&Day| found.agrees_with(&day);
                let times = text_days.iter().filter(is_meant).count();
                (times, title_days.iter().any(|found| is_meant(&found)))
            }
            None => {
                let times = in_text.occurrences(&word).count();
                (times, in_title.occurrences(&word).next().is_some())
            }
        };
        if times > 0 || title {
            Reason::Word { word, times, title }
        } else {
            Reason::Missing { word }
        }
    });
    let told: Vec<Reason> = told.collect();
    let whole = told
        .iter()
        .all(|reason| matches!(reason, Reason::Word { .. }));
    if whole && told.len() > 1 {
        reasons.push(Reason::AllWords);
    }
    reasons.extend(told);
    reasons
}
