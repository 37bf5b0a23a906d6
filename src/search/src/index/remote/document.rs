//! A document as the engine takes it. In: an entry and its group. Out: the fields of the mapping, with the texts cut into
//! terms by the tokenizers of the embedded index.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tantivy::schema::{Document as _, Field, OwnedValue};
use tantivy::tokenizer::{TokenStream, TokenizerManager};
use tantivy::{TantivyDocument, tokenizer::TextAnalyzer};

use super::super::entry::Entry;
use super::super::reprints::Placed;
use super::super::schema::Fields;
use super::hex;
use crate::analyze::{GRAMS, SINGLES, Singles};

/// Stands for a place without a term.
pub(super) const GAP: &str = "\u{E000}";
/// Stands between terms of one place.
pub(super) const SAME_PLACE: &str = "\u{E001}";
/// Stands for what the engine would take for a space.
const NO_SPACE: char = '\u{E002}';
/// Stands in a field of text without terms: a field that a document lacks is not counted in the engine, and its terms would
/// weigh less than they do in the embedded index.
const NO_TERM: &str = "\u{E003}";
/// Fields of text that are ranked.
const RANKED: [&str; 6] = [
    "title_singles",
    "title_grams",
    "body_singles",
    "body_grams",
    "comments_singles",
    "comments_grams",
];
/// Places between two values of a field, so that no phrase reaches over them.
const BETWEEN_VALUES: usize = 3;

/// Fields that the engine gives back with a hit. The texts are in the store.
pub(super) const KEPT: [&str; 9] = [
    "fingerprint",
    "seq",
    "fetched",
    "changed",
    "published",
    "site",
    "group",
    "original",
    "sketch",
];

/// A term as the engine has it: what fills it up in the embedded index is left out.
pub(super) fn written(term: &str) -> Cow<'_, str> {
    let term = term.trim_end_matches('\0');
    // What Java calls a space: more than what this program has made one.
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    match term.contains(is_space) {
        true => term.replace(is_space, &NO_SPACE.to_string()).into(),
        false => term.into(),
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

/// Cuts the texts of documents.
pub(super) struct Cutter {
    fields: Fields,
    singles: Singles,
    singles_of: TextAnalyzer,
    grams_of: TextAnalyzer,
    utc_offset_minutes: i32,
}

impl Cutter {
    pub(super) fn new(tokenizers: &TokenizerManager, utc_offset_minutes: i32) -> Self {
        let named = |name: &str| tokenizers.get(name).unwrap_or_default();
        Self {
            fields: Fields::new(),
            singles: Singles::default(),
            singles_of: named(SINGLES),
            grams_of: named(GRAMS),
            utc_offset_minutes,
        }
    }

    /// The fields of a document; `body` is its text as [`Entry::body`] gives it.
    pub(super) fn fields(
        &mut self,
        entry: &Entry<'_>,
        body: &str,
        placed: Option<Placed>,
    ) -> Value {
        let document = entry.fields_of(
            &self.fields,
            body,
            &mut self.singles,
            self.utc_offset_minutes,
        );
        let mut out = Map::new();
        let fields: Vec<Field> = self
            .fields
            .schema
            .fields()
            .map(|(field, _)| field)
            .collect();
        for field in fields {
            let name = self.fields.schema.get_field_name(field).to_owned();
            if let Some(value) = self.value(field, &name, &document) {
                out.insert(name, value);
            }
        }
        for name in RANKED {
            let terms = out.entry(name).or_insert_with(|| json!(NO_TERM));
            if terms == "" {
                *terms = json!(NO_TERM);
            }
        }
        out.insert("fingerprint".to_owned(), json!(hex(entry.fingerprint)));
        if let Some(Placed { group, sketch }) = placed {
            out.insert("group".to_owned(), json!(hex(group)));
            out.insert(
                "sketch".to_owned(),
                sketch.packed().map(hex).collect::<Vec<_>>().into(),
            );
        }
        Value::Object(out)
    }

    fn value(&mut self, field: Field, name: &str, document: &TantivyDocument) -> Option<Value> {
        let values: Vec<OwnedValue> = document
            .iter_fields_and_values()
            .filter(|(of, _)| *of == field)
            .map(|(_, value)| OwnedValue::from(value))
            .collect();
        match name {
            "site" | "places" | "kind" => {
                let text = |value: &OwnedValue| match value {
                    OwnedValue::Str(text) => Some(text.clone()),
                    _ => None,
                };
                let mut texts: Vec<String> = values.iter().filter_map(text).collect();
                match (name, texts.len()) {
                    (_, 0) => None,
                    ("site" | "kind", _) => texts.pop().map(Value::from),
                    _ => Some(texts.into()),
                }
            }
            _ => match values.first()? {
                OwnedValue::I64(number) => Some(json!(number)),
                OwnedValue::U64(number) => Some(json!(number)),
                OwnedValue::Bool(is) => Some(json!(is)),
                _ => Some(self.terms(name, &values).into()),
            },
        }
    }

    /// All values of a field of text, one behind the other.
    fn terms(&mut self, name: &str, values: &[OwnedValue]) -> String {
        let analyzer = match name.ends_with("_singles") {
            true => &mut self.singles_of,
            false => &mut self.grams_of,
        };
        let mut all: Vec<(usize, Cow<'_, str>)> = Vec::new();
        let mut begin = 0;
        for value in values {
            let before = all.len();
            match value {
                OwnedValue::Str(text) => {
                    let mut stream = analyzer.token_stream(text);
                    while stream.advance() {
                        let token = stream.token();
                        let term = written(&token.text).into_owned();
                        all.push((begin + token.position, term.into()));
                    }
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
}
