//! Why a document stands where it does, in words. In: a query and a document that it found. Out: what the document holds of
//! it. Reads the text that was found, not the index.

use super::query::Query;
use super::search::FoundDocument;
use super::stored::head;
use crate::analyze::{Dictionary, GramPhrase, gram_phrase, is_stop_word, normalize};

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
    let title = normalize(document.title.as_deref().unwrap_or_default());
    let text = normalize(head(&document.text, MAX_TEXT_BYTES));
    let mut asked: Vec<String> = vec![query.words.clone()];
    asked.extend(query.wanted().map(|clause| clause.text.clone()));
    let mut reasons = Vec::new();
    let typed = normalize(&query.words);
    let typed = typed.trim();
    if !typed.is_empty() && gram_phrase(typed) != GramPhrase::Nothing {
        let (title, text) = (title.contains(typed), text.contains(typed));
        if title || text {
            reasons.push(Reason::AsTyped { title, text });
        }
    }
    let mut words = Vec::new();
    for asked in &asked {
        let normal = normalize(asked);
        for word in dictionary.words(&normal) {
            let word = word.of(&normal).to_owned();
            if !is_stop_word(&word) && !words.contains(&word) && words.len() < MAX_WORDS {
                words.push(word);
            }
        }
    }
    let told = words.into_iter().map(|word| {
        let (times, title) = (text.matches(&word).count(), title.contains(&word));
        match times > 0 || title {
            true => Reason::Word { word, times, title },
            false => Reason::Missing { word },
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
