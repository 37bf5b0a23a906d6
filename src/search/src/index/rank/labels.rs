//! Labelled fields in the index, such as 字号:国发〔2026〕12号: the terms that are stored and those that search for them. A
//! gram of a value is stored with its label before it, so that a value is found under its own label only.

use std::collections::HashMap;
use std::sync::LazyLock;

use tantivy::tokenizer::{PreTokenizedString, Token};

use super::plan::Plan;
use crate::index::schema::Column;
use taojin_extract::Typed;

use crate::analyze::{gram_terms, normalize, normalize_document};

/// What stands between label and gram.
const BETWEEN: char = '\u{1f}';

const LABELS: &str = include_str!("../../../../../index/labels.txt");

/// Labels of notices, each with the one that it is indexed under.
static NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = LABELS.lines().filter_map(|line| line.split_once(" = "));
    let labels = groups.flat_map(|(name, same)| {
        let same = same.split_whitespace();
        same.chain([name]).map(move |label| (label, name))
    });
    labels.collect()
});

/// Whether a label is one of notices.
pub fn is_notice_label(label: &str) -> bool {
    NAMES.contains_key(tidy(label).as_str())
}

/// The labels that those of notices are indexed under.
pub fn notice_labels() -> impl Iterator<Item = &'static str> {
    let lines = LABELS.lines();
    lines.filter_map(|line| Some(line.split_once(" = ")?.0))
}

/// A label as it is indexed.
pub(crate) fn name_of(label: &str) -> String {
    let label = tidy(label);
    let name = NAMES.get(label.as_str());
    name.map_or(label.clone(), |name| (*name).to_owned())
}

fn tidy(label: &str) -> String {
    normalize(label)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

/// A value with brackets of one form: 〔2026〕, ［2026］ and (2026) are the same year.
fn value_of(value: &str) -> String {
    let bracket = |c| match c {
        '〔' | '[' | '【' | '〖' => '(',
        '〕' | ']' | '】' | '〗' => ')',
        other => other,
    };
    normalize_document(value).chars().map(bracket).collect()
}

/// A field as it is indexed.
pub(crate) fn tokens(label: &str, value: &str) -> PreTokenizedString {
    let name = name_of(label);
    let text = value_of(value);
    let token = |position: usize, term: &str| Token {
        position,
        text: format!("{name}{BETWEEN}{term}"),
        ..Token::default()
    };
    let grams = gram_terms(&text).into_iter();
    let mut tokens: Vec<Token> = grams.map(|(place, gram)| token(place, &gram)).collect();
    // Where the value is a number or a day, it is compared by this term.
    if let (Some(key), Some(first)) = (sort_key(value), tokens.first()) {
        tokens.insert(0, token(first.position, &key));
    }
    PreTokenizedString { text, tokens }
}

fn sort_key(value: &str) -> Option<String> {
    Typed::parse(value).and_then(|typed| typed.sort_key())
}

/// Ends of a comparison: `>120`, `<=2010-01-01`, `100..200`. As the texts of terms: from the first on, before the second.
fn range(value: &str) -> Option<(String, String)> {
    // Keys are of one length: this comes right behind one.
    let behind = |key: String| format!("{key}0");
    let value = value.trim();
    if let Some((first, last)) = value.split_once("..") {
        let (first, last) = (sort_key(first)?, sort_key(last)?);
        let same = first.get(..1) == last.get(..1);
        return same.then(|| (first, behind(last)));
    }
    let above = value.strip_prefix(['>', '＞']);
    let below = value.strip_prefix(['<', '＜']);
    let rest = above.or(below)?;
    let (is_equal, rest) = match rest.strip_prefix(['=', '＝']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let key = sort_key(rest)?;
    let (lowest, highest) = limits(&key);
    Some(match (above.is_some(), is_equal) {
        (true, true) => (key, highest),
        (true, false) => (behind(key), highest),
        (false, true) => (lowest, behind(key)),
        (false, false) => (lowest, key),
    })
}

/// What comes before and behind all keys of the kind of this one.
fn limits(key: &str) -> (String, String) {
    let kind = key.get(..1).unwrap_or_default();
    (kind.to_owned(), format!("{kind}~"))
}

/// Whether a value asked for under a label is a comparison.
pub fn is_comparison(value: &str) -> bool {
    range(value).is_some()
}

/// What asks for `label:value`; none if there is nothing to look for.
pub(crate) fn asked(text: &str) -> Option<Plan> {
    let (label, value) = text.split_once([':', '：'])?;
    let name = name_of(label);
    if let Some((from, until)) = range(value) {
        let term = |key: String| format!("{name}{BETWEEN}{key}");
        return Some(Plan::Between(Column::Meta, term(from), term(until)));
    }
    let term = |gram: &str| format!("{name}{BETWEEN}{gram}");
    let single = |single: &str| Plan::Begins(Column::Meta, term(single));
    Plan::grams(Column::Meta, &value_of(value), single, term)
}
