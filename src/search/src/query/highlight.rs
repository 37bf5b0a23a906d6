//! Finds the words of a query in a text: the places to mark, or its best part. Works on the original text through the
//! offset map of its normal form: `页岩气` marks `頁岩氣`. Reads a bounded part of a text and needs no index.

use std::ops::Range;

use super::snippet;
use super::snippet::Marked;
use crate::analyze::{
    Day, Dictionary, Haystack, Normalized, find_days, is_emoji, is_stop_word, normalize,
    normalize_document, whole_grams,
};
use crate::index::{Form, Query, expanded};

/// Bytes of a text that are looked through: about 20,000 characters.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Most different texts to look for.
const MAX_NEEDLES: usize = 48;
/// Most hits marked in one text.
const MAX_MARKS: usize = 2_000;
/// What a repeated needle adds to its sentence.
const REPEAT_WEIGHT: f32 = 0.05;

/// Finds the words of one query in texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Highlighter {
    /// What to mark, in normal form, longest first.
    needles: Vec<Needle>,
    /// What to mark in a text that has none of the needles.
    grams: Vec<Needle>,
}

#[derive(Debug, Clone, PartialEq)]
struct Needle {
    text: String,
    weight: f32,
    /// The day that the text names: any form of it is a hit.
    day: Option<Day>,
}

/// A hit in a text: bytes, and which needle it was.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit {
    bytes: Range<usize>,
    needle: usize,
}

impl Highlighter {
    /// Takes from a query what can be marked: phrases as they are, plain text whole and in its words.
    pub fn new(query: &Query, dictionary: &Dictionary) -> Self {
        let mut needles = Vec::new();
        let mut grams = Vec::new();
        for clause in query.wanted() {
            match &clause.form {
                Form::Words => plain(&clause.text, dictionary, &mut needles, &mut grams),
                form => {
                    push(&mut needles, normalize_document(&clause.text).trim());
                    push(&mut needles, normalize(&clause.text).trim());
                    if let Form::Near { other, .. } = form {
                        push(&mut needles, normalize(other).trim());
                    }
                }
            }
        }
        plain(&query.words, dictionary, &mut needles, &mut grams);
        for expanded in expanded(query, dictionary) {
            for other in &expanded.also {
                push(&mut needles, normalize(other).trim());
            }
        }
        needles.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        needles.truncate(MAX_NEEDLES);
        grams.truncate(MAX_NEEDLES);
        Self { needles, grams }
    }

    /// The whole text with all hits marked.
    pub fn mark(&self, text: &str) -> Marked {
        let hits = self.hits(head(text));
        Marked {
            text: text.to_owned(),
            marks: merged(hits.iter().map(|hit| hit.bytes.clone())),
        }
    }

    /// The best part of a text, at most `columns` wide (a Chinese character takes two), cut at sentences where
    /// that is possible and with `…` where a sentence is left unfinished.
    pub fn snippet(&self, text: &str, columns: usize) -> Marked {
        self.snippet_at(text, columns).0
    }

    /// The same with the number of the paragraph (the first is 0) in which its first match, or else its beginning, stands.
    pub fn snippet_at(&self, text: &str, columns: usize) -> (Marked, u32) {
        let text = head(text);
        let hits = self.hits(text);
        let sentences = snippet::sentences(text);
        let best = self.best(&sentences, &hits);
        let marks = merged(hits.into_iter().map(|hit| hit.bytes));
        let shown = snippet::window(text, &sentences, best, &marks, columns);
        let inside = marks.iter().find(|mark| mark.start >= shown.start);
        let at = inside.map_or(shown.start, |mark| mark.start.min(shown.end));
        let before = text.get(..at).unwrap_or_default();
        let paragraph = before.bytes().filter(|b| *b == b'\n').count();
        let marked = snippet::dressed(text, shown, &marks);
        (marked, u32::try_from(paragraph).unwrap_or(u32::MAX))
    }

    /// The sentence with the heaviest different needles, the first of equals.
    fn best(&self, sentences: &[Range<usize>], hits: &[Hit]) -> usize {
        let mut best = (0, 0.0f32);
        let mut rest = hits;
        for (index, sentence) in sentences.iter().enumerate() {
            let inside = rest.partition_point(|hit| hit.bytes.start < sentence.end);
            let (here, after) = rest.split_at_checked(inside).unwrap_or((rest, &[]));
            rest = after;
            let mut seen = [false; MAX_NEEDLES];
            let mut score = 0.0;
            for hit in here {
                let weight = self
                    .needles
                    .get(hit.needle)
                    .map_or(1.0, |needle| needle.weight);
                match seen.get_mut(hit.needle) {
                    Some(seen) if !*seen => {
                        *seen = true;
                        score += weight;
                    }
                    _ => score += weight * REPEAT_WEIGHT,
                }
            }
            if score > best.1 {
                best = (index, score);
            }
        }
        best.0
    }

    fn hits(&self, text: &str) -> Vec<Hit> {
        if self.needles.is_empty() {
            return Vec::new();
        }
        let normal = Normalized::new(text);
        let mut hits = find(&normal, &self.needles);
        if hits.is_empty() {
            hits = find(&normal, &self.grams);
        }
        hits.sort_by_key(|hit| hit.bytes.start);
        hits
    }
}

fn plain(text: &str, dictionary: &Dictionary, needles: &mut Vec<Needle>, grams: &mut Vec<Needle>) {
    let normal = normalize(text);
    for piece in normal.split(' ') {
        let is_mark = |c: char| !c.is_alphanumeric() && !is_emoji(c);
        let piece = piece.trim_start_matches(is_mark);
        let piece = piece.trim_end_matches(|c: char| is_mark(c) && c != '%');
        push(needles, piece);
        let days = find_days(piece);
        for day in &days {
            let text = piece.get(day.start..day.end).unwrap_or_default();
            needles.retain(|known| known.text != text);
            needles.push(Needle {
                day: Some(*day),
                ..Needle::new(text)
            });
        }
        for word in dictionary.words(piece) {
            if days
                .iter()
                .any(|day| (day.start..day.end).contains(&word.start))
            {
                continue;
            }
            let word = word.slice_of(piece);
            let alone = word.chars().nth(1).is_none();
            if !alone && !is_stop_word(word) {
                push(needles, word);
            }
        }
        for gram in whole_grams(piece) {
            if grams.iter().all(|known| known.text != gram) {
                grams.push(Needle {
                    weight: 1.0,
                    ..Needle::new(gram)
                });
            }
        }
    }
}

impl Needle {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            // Longer is rarer; the square root keeps one long name from hiding three short words.
            weight: (text.chars().count() as f32).sqrt(),
            day: None,
        }
    }
}

fn push(needles: &mut Vec<Needle>, text: &str) {
    if !text.is_empty() && needles.iter().all(|known| known.text != text) {
        needles.push(Needle::new(text));
    }
}

fn find(normal: &Normalized, needles: &[Needle]) -> Vec<Hit> {
    let text = normal.text();
    let haystack = Haystack::new(text);
    let mut hits = Vec::new();
    for (index, needle) in needles.iter().enumerate() {
        let found: Vec<Range<usize>> = match &needle.day {
            Some(day) => {
                let days = find_days(text).into_iter();
                let meant = days.filter(|found| found.agrees_with(day));
                meant.map(|found| found.start..found.end).collect()
            }
            None => {
                let found = haystack.occurrences(&needle.text);
                found.take(MAX_MARKS).collect()
            }
        };
        for found in found {
            hits.push(Hit {
                bytes: normal.original(found.start, found.end),
                needle: index,
            });
            if hits.len() >= MAX_MARKS {
                return hits;
            }
        }
    }
    hits
}

/// Sorted, with overlapping and touching ranges made one.
fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<Range<usize>> = ranges.filter(|range| !range.is_empty()).collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// The part of a text that is looked through.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES))
        .unwrap_or_default()
}
