//! Collects evidence for the best candidates: the sentences a reviewer decides by, and the way each term is mostly
//! written there. Never more than a few sentences for each.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::corpus::{Corpus, Sentence, TextKey};
use super::{Found, Text};
use crate::analyze::Normalized;

/// Sentences shown for a term.
const SENTENCES: usize = 3;
/// Characters of a sentence shown on each side of the term.
const SIDE_CHARS: usize = 60;
/// What some sites write before a text; it says nothing of the term.
const LABELS: [&str; 6] = ["正文", "内容", "摘要", "导语", "提要", "原文"];
/// Terms between two questions to the caller.
const ASK_EVERY: usize = 64;

/// A sentence that shows a term in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The text it is from, as [`Text::document`] names it.
    pub document: String,
    /// The sentence, cut to the neighbourhood of the term.
    pub sentence: String,
    /// Bytes of `sentence` at which the term begins and ends.
    pub mark: (usize, usize),
}

/// Adds evidence and the written form; none if `go_on` said no. `load` gives a text by its key, if it is still there.
pub(super) fn gather(
    load: &mut dyn FnMut(TextKey) -> Option<Text>,
    corpus: &Corpus,
    candidates: Vec<Candidate>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Found>> {
    let mut out = Vec::with_capacity(candidates.len());
    let mut texts: HashMap<TextKey, Option<Text>> = HashMap::new();
    for (number, candidate) in candidates.into_iter().enumerate() {
        if number.is_multiple_of(ASK_EVERY) && !go_on() {
            return None;
        }
        let mut forms: BTreeMap<String, usize> = BTreeMap::new();
        let mut evidence = Vec::new();
        for &token in &candidate.samples {
            let Some((sentence, key)) = corpus.sentence_of(token) else {
                continue;
            };
            let text = texts.entry(key).or_insert_with(|| load(key)).as_ref();
            let shown = text.and_then(|text| occurrence(text, sentence, &candidate.normal));
            let Some((document, written, shown)) = shown else {
                continue;
            };
            *forms.entry(written).or_default() += 1;
            if evidence.len() < SENTENCES {
                let (sentence, mark) = shown;
                evidence.push(Evidence {
                    document: document.to_owned(),
                    sentence,
                    mark,
                });
            }
        }
        // Of equally frequent forms the first in the alphabet: capitals before small letters.
        let most = forms
            .iter()
            .max_by_key(|(form, count)| (**count, std::cmp::Reverse(*form)));
        let term = most.map_or_else(|| candidate.normal.clone(), |(form, _)| form.clone());
        out.push(Found {
            term,
            candidate,
            evidence,
        });
    }
    Some(out)
}

type Shown = (String, (usize, usize));

/// The text, the term as written there, and the neighbourhood of the term.
fn occurrence<'t>(
    text: &'t Text,
    sentence: Sentence,
    term: &str,
) -> Option<(&'t str, String, Shown)> {
    let part = match sentence.place {
        Some((start, end)) => text.text.get(start as usize..end as usize)?,
        None => text.title.as_str(),
    };
    let normal = Normalized::new(part);
    let start = normal.text().find(term)?;
    let place = normal.original(start, start + term.len());
    let written = part.get(place.clone())?.trim();
    // A form with white space inside is a line that was broken there.
    let written = if written.chars().any(char::is_whitespace) {
        term.to_owned()
    } else {
        written.to_owned()
    };
    Some((&text.document, written, around(part, place)?))
}

/// The characters around a place of a sentence, and where the place is among them.
fn around(sentence: &str, place: Range<usize>) -> Option<Shown> {
    let (before, after) = (sentence.get(..place.start)?, sentence.get(place.end..)?);
    let from = before
        .char_indices()
        .rev()
        .nth(SIDE_CHARS - 1)
        .map_or(0, |(i, _)| i);
    let to = after
        .char_indices()
        .nth(SIDE_CHARS)
        .map_or(after.len(), |(i, _)| i);
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    shown.push_str(without_leftovers(before.get(from..)?));
    let start = shown.len();
    shown.push_str(sentence.get(place)?);
    let end = shown.len();
    shown.push_str(after.get(..to)?.trim_end());
    if to < after.len() {
        shown.push('…');
    }
    Some((shown, (start, end)))
}

/// What stands before a term, without the end of what stood before the sentence: marks that close something, and the
/// labels of a page.
pub(super) fn without_leftovers(before: &str) -> &str {
    let closes =
        |c: char| c.is_whitespace() || "，。、；：！？,.;:!?）)」』”’》〉】]·—…|/".contains(c);
    let mut rest = before.trim_start_matches(closes);
    while let Some(text) = LABELS.iter().find_map(|label| rest.strip_prefix(label))
        && let Some(text) = text.trim_start().strip_prefix(['：', ':'])
    {
        rest = text.trim_start_matches(closes);
    }
    rest
}
