//! How the engine keeps documents: its settings and mappings.

use serde_json::{Map, Value, json};

use super::super::schema::{Column, FORMAT, Type};
use super::document::{GAP, SAME_PLACE};

/// Longest token in characters: the grams that begin at one place.
const MAX_TOKEN_CHARS: u32 = 2_000;
/// An index is searched so long after it was written at most, if nobody refreshes it before.
const REFRESH: &str = "30s";

/// Of the index of documents. Texts are terms with spaces between them; a [`GAP`] moves the place on, and [`SAME_PLACE`]
/// joins terms that stand at one place. The score is that of the embedded index: BM25 with k1 1.2, b .75 and the factor
/// k1 + 1, over all terms of a field.
pub(super) fn of_documents(similarity: &str, shards: u32, replicas: u32) -> Value {
    let text = |options: &str| json!({"type": "text", "analyzer": "taojin", "similarity": "taojin", "index_options": options});
    let property = |column: &Column| match column.kind() {
        Type::Key | Type::CountedName | Type::Name => json!({"type": "keyword"}),
        Type::Counter | Type::Time => json!({"type": "long"}),
        Type::Flag => json!({"type": "boolean"}),
        Type::Sketch => json!({"type": "keyword", "index": false, "doc_values": false}),
        Type::Singles => text("freqs"),
        Type::Grams | Type::Line => text("positions"),
    };
    let named = |column: &Column| (column.name().to_owned(), property(column));
    let properties: Map<String, Value> = Column::ALL.iter().map(named).collect();
    json!({
        "settings": {
            "number_of_shards": shards,
            "number_of_replicas": replicas,
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

/// Name of BM25 with the factor k1 + 1. OpenSearch has given the plain name to the one without it since version 3; other
/// engines and versions have one only.
pub(super) fn similarity(engine: &Value) -> &'static str {
    let version = &engine["version"];
    let major = version["number"]
        .as_str()
        .and_then(|number| number.split('.').next());
    let major: u32 = major.and_then(|major| major.parse().ok()).unwrap_or(0);
    match version["distribution"] == "opensearch" && major >= 3 {
        true => "LegacyBM25",
        false => "BM25",
    }
}

/// Of the index that says how far the other one is.
pub(super) fn of_state(replicas: u32) -> Value {
    json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": replicas},
        "mappings": {"dynamic": false},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_has_the_same_factor_everywhere() {
        let opensearch =
            |number| json!({"version": {"distribution": "opensearch", "number": number}});
        assert_eq!(similarity(&opensearch("2.19.1")), "BM25");
        assert_eq!(similarity(&opensearch("3.0.0")), "LegacyBM25");
        assert_eq!(similarity(&opensearch("10.1.0")), "LegacyBM25");
        assert_eq!(
            similarity(&json!({"version": {"number": "8.11.4"}})),
            "BM25"
        );
    }
}
