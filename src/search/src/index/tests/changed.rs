//! Documents by the time of their last change.

use super::*;

on_each_engine!(filter_changed_range,);

fn filter_changed_range(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for n in 1..=4 {
        let document = dated(n, "甲", Some("2020-01-01"));
        let stored = StoredDocument {
            fingerprint: n,
            seq: n,
            fetched_ms: 1_000,
            changed_ms: 1_000 * i64::try_from(n).unwrap(),
            document,
        };
        writer.upsert(stored).unwrap();
    }
    writer.commit(4).unwrap();
    let found = |changed_since_ms, changed_until_ms| -> Vec<u64> {
        let filter = Filter {
            changed_since_ms,
            changed_until_ms,
            ..Filter::default()
        };
        let query = Query {
            filter,
            ..Query::default()
        };
        let found = reader.search(&query).unwrap().documents;
        let mut found: Vec<u64> = found.iter().map(|f| f.stored.fingerprint).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found(Some(2_000), None), [2, 3, 4]);
    assert_eq!(found(None, Some(3_000)), [1, 2]);
    assert_eq!(found(Some(2_000), Some(4_000)), [2, 3]);
    assert_eq!(found(Some(5_000), None), [0; 0]);
}
