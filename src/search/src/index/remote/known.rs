//! What the engine says of a document with a hit: all but its text.

use serde_json::Value;

use super::unhex;

/// What is known of a document without its text.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) fingerprint: u64,
    pub(super) seq: u64,
    pub(super) group: Option<u64>,
    pub(super) site: String,
    pub(super) original: bool,
    pub(super) published_ms: Option<i64>,
    pub(super) fetched_ms: i64,
}

impl Known {
    pub(super) fn of(hit: &Value) -> Option<Self> {
        let source = &hit["_source"];
        Some(Self {
            fingerprint: unhex(&source["fingerprint"])?,
            seq: source["seq"].as_u64().unwrap_or_default(),
            group: unhex(&source["group"]),
            site: source["site"].as_str().unwrap_or_default().to_owned(),
            original: source["original"].as_bool().unwrap_or_default(),
            published_ms: source["published"].as_i64(),
            fetched_ms: source["fetched"].as_i64().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_of_a_hit_is_all_that_is_asked_for() {
        let hit = json!({"_source": {
            "fingerprint": "00000000000000ff", "seq": 7, "group": "0000000000000001", "site": "甲",
            "original": true, "published": 5, "fetched": 6,
        }});
        let known = Known::of(&hit).unwrap();
        assert_eq!(
            (known.fingerprint, known.seq, known.group),
            (255, 7, Some(1))
        );
        for field in hit["_source"].as_object().unwrap().keys() {
            assert!(
                super::super::mapping::kept().contains(&field.as_str()),
                "{field}"
            );
        }
    }
}
