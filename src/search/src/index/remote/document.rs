//! A document as the engine takes it, and the settings and mappings of its index. Texts are cut into terms by the
//! tokenizers of the embedded index.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tantivy::TantivyDocument;
use tantivy::schema::{Document as _, OwnedValue, Value as _};

use super::super::duplicates::reprints::Placed;
use super::super::schema::{Column, FORMAT, Type};
use super::{Layout, hex};
use crate::analyze::gram_terms;

/// Stands for a place without a term.
pub(super) const GAP: &str = "\u{E000}";
/// Stands between terms of one place.
pub(super) const SAME_PLACE: &str = "\u{E001}";
/// Stands for what the engine would take for a space.
const NO_SPACE: char = '\u{E002}';
/// Stands in a field of text without terms: a field that a document lacks is not counted in the engine, and its terms would
/// weigh less than they do in the embedded index.
const NO_TERM: &str = "\u{E003}";
/// A term that no document has.
pub(super) const NOWHERE: &str = "\u{E004}";
/// Places between two values of a field, so that no phrase reaches over them.
const BETWEEN_VALUES: usize = 3;

/// A term as the engine has it: what fills it up in the embedded index is left out.
pub(super) fn written(term: &str) -> Cow<'_, str> {
    let term = term.trim_end_matches('\0');
    // What Java calls a space: more than what this program has made one.
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    if term.contains(is_space) {
        term.replace(is_space, &NO_SPACE.to_string()).into()
    } else {
        term.into()
    }
}

/// Terms at their places, as the analyzer of the mapping reads them.
pub(super) fn placed<'t>(terms: impl Iterator<Item = (usize, Cow<'t, str>)>) -> String {
    let mut out = String::new();
    let mut next = 0;
    for (place, term) in terms {
        if place < next {
            out.push_str(SAME_PLACE);
        }
        while place >= next {
            if !out.is_empty() {
                out.push(' ');
            }
            if place > next {
                out.push_str(GAP);
            }
            next += 1;
        }
        out.push_str(&term);
    }
    out
}

/// A document as JSON, with its place among the reprints.
pub(super) fn fields(document: &TantivyDocument, placed: Option<Placed>) -> Value {
    let mut out = Map::new();
    for column in Column::ALL {
        let mut value = value(*column, document);
        if column.is_ranked() && value.as_ref().is_none_or(|terms| terms == "") {
            value = Some(json!(NO_TERM));
        }
        if *column == Column::Fingerprint {
            value = value.and_then(|number| Some(json!(hex(number.as_u64()?))));
        }
        out.extend(value.map(|value| (column.name().to_owned(), value)));
    }
    if let Some(Placed { group, sketch }) = placed {
        out.insert("group".to_owned(), json!(hex(group)));
        out.insert(
            "sketch".to_owned(),
            sketch.packed().map(hex).collect::<Vec<_>>().into(),
        );
    }
    Value::Object(out)
}

fn value(column: Column, document: &TantivyDocument) -> Option<Value> {
    let values: Vec<OwnedValue> = document
        .iter_fields_and_values()
        .filter(|(field, _)| *field == column.field())
        .map(|(_, value)| OwnedValue::from(value))
        .collect();
    let first = values.first()?;
    match column.kind() {
        Type::Words => {
            let texts = values.iter().filter_map(|value| value.as_str());
            let words: Vec<_> = texts.flat_map(str::split_whitespace).map(written).collect();
            Some(words.join(" ").into())
        }
        Type::Singles => {
            let texts = values.iter().filter_map(|value| value.as_str());
            let singles: Vec<String> = texts.flat_map(str::chars).map(String::from).collect();
            Some(singles.join(" ").into())
        }
        Type::Grams | Type::Line => Some(terms(&values).into()),
        _ if values.len() > 1 => serde_json::to_value(&values).ok(),
        _ => serde_json::to_value(first).ok(),
    }
}

/// Returns all values of a field of text, one behind the other.
fn terms(values: &[OwnedValue]) -> String {
    let mut all: Vec<(usize, Cow<'_, str>)> = Vec::new();
    let mut begin = 0;
    for value in values {
        let before = all.len();
        match value {
            OwnedValue::Str(text) => {
                all.extend(gram_terms(text).into_iter().map(|(place, gram)| {
                    let term = written(&gram).into_owned();
                    (begin + place, term.into())
                }))
            }
            OwnedValue::PreTokStr(cut) => all.extend(cut.tokens.iter().map(|token| {
                let term = written(&token.text).into_owned();
                (begin + token.position, term.into())
            })),
            _ => {}
        }
        let last = all[before..].iter().map(|(place, _)| *place).max();
        begin = last.map_or(begin, |last| last + BETWEEN_VALUES);
    }
    all.sort_by_key(|(place, _)| *place);
    placed(all.into_iter())
}

/// Longest token in characters: the grams that begin at one place.
const MAX_TOKEN_CHARS: u32 = 2_000;
/// An index is searched so long after it was written at most, if nobody refreshes it before.
const REFRESH: &str = "30s";

/// Of the index of documents. Texts are terms with spaces between them; a [`GAP`] moves the place on, and [`SAME_PLACE`]
/// joins terms that stand at one place. The score is that of the embedded index: BM25 with k1 1.2, b .75 and the factor
/// k1 + 1, over all terms of a field.
pub(super) fn of_documents(similarity: &str, layout: Layout) -> Value {
    let text = |options: &str| json!({"type": "text", "analyzer": "taojin", "similarity": "taojin", "index_options": options});
    let property = |column: &Column| match column.kind() {
        Type::Key | Type::CountedName | Type::Name => json!({"type": "keyword"}),
        Type::Counter | Type::Time => json!({"type": "long"}),
        Type::Flag => json!({"type": "boolean"}),
        Type::Sketch => json!({"type": "keyword", "index": false, "doc_values": false}),
        Type::Words => text("docs"),
        Type::Singles => text("freqs"),
        Type::Grams | Type::Line => text("positions"),
    };
    let named = |column: &Column| (column.name().to_owned(), property(column));
    let properties: Map<String, Value> = Column::ALL.iter().map(named).collect();
    json!({
        "settings": {
            "number_of_shards": layout.shards,
            "number_of_replicas": layout.replicas,
            "refresh_interval": REFRESH,
            "similarity": {"taojin": {"type": similarity, "k1": 1.2, "b": 0.75, "discount_overlaps": false}},
            "analysis": {
                "tokenizer": {"taojin": {"type": "whitespace", "max_token_length": MAX_TOKEN_CHARS}},
                "filter": {
                    "taojin_gap": {"type": "stop", "stopwords": [GAP]},
                    "taojin_same_place": {
                        "type": "pattern_capture",
                        "preserve_original": false,
                        "patterns": [format!("([^{SAME_PLACE}]+)")],
                    },
                },
                "analyzer": {
                    "taojin": {
                        "type": "custom",
                        "tokenizer": "taojin",
                        "filter": ["taojin_gap", "taojin_same_place"],
                    },
                },
            },
        },
        "mappings": {
            "dynamic": false,
            "_meta": {"format": FORMAT},
            "_source": {"includes": kept()},
            "properties": properties,
        },
    })
}

/// Names of the fields that the engine gives back with a hit. The texts are in the store.
pub(super) fn kept() -> Vec<&'static str> {
    let fast = Column::ALL.iter().filter(|column| column.is_fast());
    fast.map(|column| column.name()).collect()
}

/// Of the index that says how far the other one is.
pub(super) fn of_state(replicas: u32) -> Value {
    json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": replicas},
        "mappings": {"dynamic": false},
    })
}
