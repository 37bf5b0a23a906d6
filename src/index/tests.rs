use std::sync::LazyLock;

use super::*;
use crate::analyze::{Analyzer, Lexicon};
use crate::extract::{Document, Kind};

static ANALYZER: LazyLock<Analyzer> =
    LazyLock::new(|| Analyzer::new(&[Lexicon::builtin("oil-gas").unwrap()]));

fn document(url: &str, title: &str, text: &str) -> Document {
    Document {
        url: url.to_owned(),
        title: Some(title.to_owned()),
        text: text.to_owned(),
        kind: Kind::Article,
        ..Document::default()
    }
}

fn add(writer: &mut Writer, fingerprint: u64, document: &Document) {
    writer
        .upsert(&Entry {
            fingerprint,
            seq: fingerprint,
            fetched_ms: 1_700_000_000_000,
            document,
        })
        .unwrap();
}

fn literal(text: &str) -> Query {
    Query {
        groups: vec![Group {
            occur: Occur::Must,
            any: vec![Clause {
                target: Target::Anywhere,
                text: text.to_owned(),
                literal: true,
            }],
        }],
        ..Query::default()
    }
}

fn ids(reader: &Reader, query: &Query) -> Vec<u64> {
    let found = reader.search(query).unwrap();
    assert!(found.total >= found.documents.len());
    let mut ids: Vec<u64> = found
        .documents
        .iter()
        .map(|d| d.stored.fingerprint)
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn what_is_committed_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::default();
    let mut writer = Writer::open(dir.path(), &ANALYZER, &config).unwrap();
    let reader = Reader::open(dir.path(), &ANALYZER, &config).unwrap();
    add(
        &mut writer,
        1,
        &document(
            "https://a.example/1",
            "页岩气产量创新高",
            "四川盆地的頁巖氣田日产上升，小米SU7与ＣＯ２驱油同日发布。",
        ),
    );
    assert_eq!(reader.num_docs().unwrap(), 0);
    writer.commit(7).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 1);
    assert_eq!(reader.last_seq().unwrap(), 7);
    for text in [
        "页岩气",
        "頁岩氣田",
        "米SU7",
        "SU",
        "co2驱",
        "CO2",
        "气",
        "新",
        "高",
        "田日产上升,小米",
    ] {
        assert_eq!(ids(&reader, &literal(text)), [1], "{text}");
        assert_eq!(ids(&reader, &Query::plain(text)), [1], "{text}");
    }
    assert!(ids(&reader, &literal("产气")).is_empty());
}
