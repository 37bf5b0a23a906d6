//! Offers of fields and days over a real index of fixed documents.

use std::collections::HashMap;
use std::sync::Arc;

use taojin_extract::Document;
use taojin_search::analyze::{Analyzer, Lexicon};
use taojin_search::index::{
    Config, DocumentSource, IndexWriter, Reader, SourceError, StoredDocument, Writer,
    parse_published,
};

use crate::{SearchRequest, SearchResults, search_corrected};

struct Documents(HashMap<u64, StoredDocument>);

impl DocumentSource for Documents {
    fn get(&self, fingerprint: u64, _: u64) -> Result<Option<StoredDocument>, SourceError> {
        Ok(self.0.get(&fingerprint).cloned())
    }

    fn find(&self, url: &str) -> Result<Option<u64>, SourceError> {
        let mut at = self
            .0
            .iter()
            .filter(|(_, stored)| stored.document.url == url);
        Ok(at.next().map(|(fingerprint, _)| *fingerprint))
    }
}

pub(super) fn index(documents: Vec<Document>) -> (tempfile::TempDir, Reader) {
    let stored = (1..).zip(documents).map(|(fingerprint, document)| {
        let stored = StoredDocument {
            fingerprint,
            seq: fingerprint,
            fetched_ms: 1,
            changed_ms: 1,
            document,
        };
        (fingerprint, stored)
    });
    let stored: HashMap<u64, StoredDocument> = stored.collect();
    let dir = tempfile::tempdir().unwrap();
    let analyzer = Analyzer::new(&[Lexicon::builtin("oil-gas").unwrap()]);
    let config = Config::default();
    let source = Arc::new(Documents(stored.clone()));
    let mut writer = Writer::open(dir.path(), &analyzer, &config, source.clone(), 1).unwrap();
    for stored in stored.values() {
        writer.upsert(stored).unwrap();
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let reader = Reader::open(dir.path(), &analyzer, &config, source).unwrap();
    (dir, reader)
}

fn document(author: &str, source: &str, published: &str, text: &str) -> Document {
    Document {
        url: "https://a.example/1".to_owned(),
        site: Some("石油商报".to_owned()),
        title: Some("快讯".to_owned()),
        author: Some(author.to_owned()),
        source: Some(source.to_owned()),
        published: Some(published.to_owned()),
        text: text.to_owned(),
        ..Document::default()
    }
}

fn search(reader: &Reader, text: &str) -> SearchResults {
    let request = SearchRequest {
        text: text.to_owned(),
        now_ms: parse_published("2026-11-20", 480).unwrap(),
        grouped: true,
        corrected: true,
        limit: 10,
        ..SearchRequest::default()
    };
    search_corrected(reader, &request).unwrap()
}

/// Each offer as the page writes it, and its query.
fn offered(reader: &Reader, text: &str) -> Vec<(String, String)> {
    let offers = search(reader, text).field_offers.into_iter();
    let shown = offers.map(|o| (format!("{}:{} ({})", o.field, o.value, o.total), o.text));
    shown.collect()
}

#[test]
fn field_offers_name_whole_values() {
    let mut notice = document("综合司", "国家能源局", "2026-11-10", "管道巡检的通知。");
    notice
        .meta
        .add("发布机构".to_owned(), "国家能源局".to_owned());
    notice.meta.add("井号".to_owned(), "NY-3".to_owned());
    let mut other = document("李明", "新华社", "2025-11-10", "NY-3井的管道投产。");
    other.meta.add("井号".to_owned(), "NY-3".to_owned());
    let (_dir, reader) = index(vec![
        document("记者 王建国 李明", "新华社", "2026-11-10", "管道投产。"),
        document("王建国", "中国石油报", "2026-11-11", "油价上涨。"),
        notice,
        other,
    ]);
    for (typed, expected) in [
        ("王建国", vec![("author:王建国 (2)", "author:王建国")]),
        (
            "王建国 管道",
            vec![("author:王建国 (1)", "管道 author:王建国")],
        ),
        ("新华社", vec![("source:新华社 (2)", "source:新华社")]),
        ("石油商报", vec![("site:石油商报 (4)", "site:石油商报")]),
        (
            "国家能源局",
            vec![
                ("source:国家能源局 (1)", "source:国家能源局"),
                ("发布机构:国家能源局 (1)", "发布机构:国家能源局"),
            ],
        ),
        ("NY-3", vec![("井号:NY-3 (2)", "井号:NY-3")]),
        // A part of a name is no name.
        ("建国", vec![]),
        ("石油", vec![]),
        ("author:王建国", vec![]),
        (
            "2026年11月10日",
            vec![("date:2026-11-10 (2)", "date:2026-11-10")],
        ),
        (
            "管道 11月10日",
            vec![("date:2026-11-10 (2)", "管道 date:2026-11-10")],
        ),
    ] {
        let expected: Vec<(String, String)> = expected
            .into_iter()
            .map(|(shown, text)| (shown.to_owned(), text.to_owned()))
            .collect();
        assert_eq!(offered(&reader, typed), expected, "{typed}");
    }
}

#[test]
fn name_is_never_searched_as_another() {
    let (_dir, reader) = index(vec![
        document("", "", "2026-11-10", "页岩气增产，天然气管道投产。"),
        document("", "", "2026-11-10", "天然气管道检修。"),
    ]);
    let replaced = search(&reader, "天燃气");
    assert_eq!(replaced.searched_instead.as_deref(), Some("天然气"));
    let name = search(&reader, "叶岩琪");
    assert_eq!((name.searched_instead, name.total), (None, 0));
    assert_eq!(name.did_you_mean.as_deref(), Some("页岩气"));
    // Nothing has all: the nearest, as a field of the answer.
    let weaker = search(&reader, "天然气 煤炭").weaker.unwrap();
    assert!(weaker.nearest && weaker.total == 2);
    assert!(
        !search(&reader, "页岩气 增产")
            .weaker
            .is_some_and(|w| w.nearest)
    );
}
