mod answers;
mod changed;
mod comments;
mod engine;
mod guidance;
mod labels;
mod matching;
pub(super) mod memory;
mod recovery;
mod recut;
mod reprints;
mod scan;
mod series;
mod stop;
mod synonyms;
mod threads;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use super::*;
use crate::analyze::{Analyzer, Lexicon, normalize};
use engine::{Engine, Keeping, TestIndex, on_each_engine};
use memory::MemoryDocuments;
use taojin_extract::{Document, Kind};

on_each_engine!(
    commit_makes_searchable,
    phrase_marks_count,
    upsert_replaces_document,
    filters_fields_and_order,
    rank_all_words_first,
    new_term_finds_old_documents,
    literal_finds_every_part,
);

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

/// Identity of the store that the indexes of the tests are of.
const STORE: i64 = 11;

/// The documents of the index in a directory.
fn documents_of(dir: &Path) -> Arc<MemoryDocuments> {
    static ALL: LazyLock<Mutex<HashMap<PathBuf, Arc<MemoryDocuments>>>> =
        LazyLock::new(Mutex::default);
    let mut all = ALL.lock().unwrap();
    Arc::clone(all.entry(dir.to_owned()).or_default())
}

fn open_writer(dir: &Path, config: &Config) -> Result<Keeping, IndexError> {
    Keeping::open(dir, &ANALYZER, config)
}

fn open_reader(dir: &Path, analyzer: &Analyzer, config: &Config) -> Result<Reader, IndexError> {
    Reader::open(dir, analyzer, config, documents_of(dir))
}

fn add(writer: &mut Keeping, fingerprint: u64, document: &Document) {
    writer
        .upsert(StoredDocument {
            fingerprint,
            seq: fingerprint,
            fetched_ms: 1_700_000_000_000,
            changed_ms: 1_700_000_000_000,
            document: document.clone(),
        })
        .unwrap();
}

fn literal(text: &str) -> Query {
    Query {
        groups: vec![Group {
            occur: Occur::Must,
            any: vec![Clause::literal(Target::Anywhere, text.to_owned())],
        }],
        ..Query::default()
    }
}

/// A generator of fixed seed: numbers below what it is given, the same in every run.
fn drawing() -> impl FnMut(usize) -> usize {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    }
}

/// Fingerprints of the hits, best first.
fn order(reader: &Reader, query: &Query) -> Vec<u64> {
    let found = reader.search(query).unwrap().documents;
    found.iter().map(|d| d.stored.fingerprint).collect()
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

fn commit_makes_searchable(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
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

fn phrase_marks_count(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    let texts = [
        "油价上涨３．５％，库存",
        "收于3-5%之间",
        "3.5元",
        "见13.5%",
        "油价，上涨",
    ];
    for (id, text) in (1..).zip(texts) {
        add(
            &mut writer,
            id,
            &document("https://a.example/1", "行情", text),
        );
    }
    writer.commit(5).unwrap();
    for (text, found) in [
        ("3.5%", vec![1]),
        ("3.5", vec![1, 3]),
        ("3-5%", vec![2]),
        ("涨3.5%,库", vec![1]),
        ("价上", vec![1]),
        ("油价,上涨", vec![5]),
        ("http://a.example/2", vec![]),
    ] {
        assert_eq!(ids(&reader, &literal(text)), found, "{text}");
    }
}

fn upsert_replaces_document(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for text in ["原油期货下跌", "天然气价格上涨", "天然气价格回落"] {
        add(
            &mut writer,
            1,
            &document("https://a.example/1", "行情", text),
        );
    }
    writer.commit(3).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 1);
    assert!(ids(&reader, &literal("原油期货")).is_empty());
    assert_eq!(ids(&reader, &literal("回落")), [1]);
    writer.delete(1, 4).unwrap();
    writer.commit(4).unwrap();
    assert_eq!(reader.num_docs().unwrap(), 0);
    assert!(reader.document(1).unwrap().is_none());
}

fn dated(n: u64, site: &str, published: Option<&str>) -> Document {
    Document {
        site: Some(site.to_owned()),
        published: published.map(str::to_owned),
        author: Some("李明".to_owned()),
        source: Some("新华社".to_owned()),
        ..document(
            &format!("https://news.oil.example/{n}"),
            "油价",
            "国际油价上涨",
        )
    }
}

fn filters_fields_and_order(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    add(&mut writer, 1, &dated(1, "甲", Some("2026-11-03")));
    add(
        &mut writer,
        2,
        &dated(2, "乙", Some("2026-11-05T00:30:00+08:00")),
    );
    add(&mut writer, 3, &dated(3, "甲", None));
    add(&mut writer, 4, &dated(4, "乙", Some("2026-11-04 12:00")));
    writer.commit(4).unwrap();
    let mut by_date = Query {
        sort: Sort::Date,
        ..Query::default()
    };
    assert_eq!(order(&reader, &by_date), [2, 4, 1, 3]);
    by_date.filter.since_ms = parse_published("2026-11-04", 480);
    assert_eq!(order(&reader, &by_date), [2, 4]);
    by_date.filter.until_ms = parse_published("2026-11-05", 480);
    assert_eq!(order(&reader, &by_date), [4]);
    let field = |target, text: &str| Query {
        groups: vec![Group {
            occur: Occur::Must,
            any: vec![Clause::words(target, text)],
        }],
        ..Query::default()
    };
    for site in [
        "甲",
        "oil.example",
        "NEWS.oil.example",
        "https://news.oil.example/x",
    ] {
        let expected: &[u64] = if site == "甲" {
            &[1, 3]
        } else {
            &[1, 2, 3, 4]
        };
        assert_eq!(ids(&reader, &field(Target::Site, site)), expected, "{site}");
    }
    assert!(ids(&reader, &field(Target::Site, "il.example")).is_empty());
    assert_eq!(ids(&reader, &field(Target::Author, "李明")).len(), 4);
    assert!(ids(&reader, &field(Target::Author, "李白")).is_empty());
    assert_eq!(ids(&reader, &field(Target::Source, "新华")).len(), 4);
    assert!(ids(&reader, &field(Target::Title, "上涨")).is_empty());
    let mut page = Query::plain("油价");
    (page.offset, page.limit) = (3, 2);
    let found = reader.search(&page).unwrap();
    assert_eq!((found.total, found.documents.len()), (4, 1));
    (page.offset, page.limit) = (usize::MAX, usize::MAX);
    assert!(reader.search(&page).unwrap().documents.is_empty());
}

fn rank_all_words_first(engine: Engine) {
    let (_index, mut writer, reader) = engine.new_index();
    for (n, title, text) in [
        (1, "简讯", "海上风电装机增长，风电，风电，风电，海上风电"),
        (2, "简讯", "页岩气开发提速，海上风电也在增长"),
        (3, "页岩气与海上风电", "两种能源"),
        (4, "简讯", "国内成品油调价"),
    ] {
        add(&mut writer, n, &document("https://a.example/", title, text));
    }
    writer.commit(1).unwrap();
    let found = reader.search(&Query::plain("页岩气 海上风电")).unwrap();
    let order: Vec<u64> = found
        .documents
        .iter()
        .map(|d| d.stored.fingerprint)
        .collect();
    assert_eq!(order, [3, 2]);
    let weaker = found.weaker.unwrap().documents;
    assert_eq!((weaker.len(), weaker[0].stored.fingerprint), (1, 1));
    for nothing in ["！！", "？", "\u{200B}"] {
        assert_eq!(
            reader.search(&Query::plain(nothing)).unwrap().total,
            0,
            "{nothing:?}"
        );
    }
    assert_eq!(reader.search(&Query::plain("  ")).unwrap().total, 4);
}

fn new_term_finds_old_documents(engine: Engine) {
    let index = engine.new_place();
    let analyzer = Analyzer::new(&[]);
    let mut writer = index.open_writer(&ANALYZER);
    add(
        &mut writer,
        1,
        &document("https://a.example/1", "简讯", "顺北八十四斜井获高产油气流"),
    );
    writer.commit(1).unwrap();
    let reader = index.open_reader(&analyzer);
    let term = "北八十四斜井";
    analyzer.replace(crate::analyze::Dictionary::new(&[Lexicon::parse(
        "t", term,
    )
    .unwrap()]));
    assert_eq!(ids(&reader, &Query::plain(term)), [1]);
    assert_eq!(ids(&reader, &literal(term)), [1]);
}

fn literal_finds_every_part(engine: Engine) {
    // An index costs OpenSearch a quarter of a second.
    let cases = match engine {
        Engine::Embedded => 24,
        Engine::OpenSearch(_) => 6,
    };
    let config = proptest::prelude::ProptestConfig::with_cases(cases);
    let text = "[石油氣田頁岩開發，。 \\-A-Cxy0-3Ａ１é]{1,40}";
    proptest::proptest!(config, |(
        texts in proptest::collection::vec(text, 1..8),
        cuts in proptest::collection::vec((0usize..40, 1usize..12), 12),
    )| {
        let (_index, mut writer, reader) = engine.new_index();
        for (n, text) in (0..).zip(&texts) {
            add(&mut writer, n, &document("https://a.example/", "", text));
        }
        writer.commit(1).unwrap();
        for (n, text) in (0..).zip(&texts) {
            for part in cuts.iter().filter_map(|cut| searchable_part(text, *cut)) {
                let mut query = literal(&part);
                query.limit = Query::MAX_LIMIT;
                proptest::prop_assert!(ids(&reader, &query).contains(&n), "{part:?} in {text:?}");
            }
        }
    });
}

/// A part of a text that is found as typed: letters and digits are found by whole words and numbers.
fn searchable_part(text: &str, (from, length): (usize, usize)) -> Option<String> {
    let normal: Vec<char> = normalize(text).chars().collect();
    let from = from % normal.len().max(1);
    let to = (from + length).min(normal.len());
    let cuts_run = |at: usize| {
        let class = |c: char| {
            let is_letter = c.is_alphabetic() && !crate::analyze::is_cjk(c);
            (is_letter, c.is_numeric())
        };
        let is_inside = 0 < at && at < normal.len();
        is_inside
            && class(normal[at - 1]) == class(normal[at])
            && class(normal[at]) != (false, false)
    };
    let part: String = normal[from..to].iter().collect();
    let is_whole = !cuts_run(from) && !cuts_run(to);
    (is_whole && part.chars().any(char::is_alphanumeric)).then_some(part)
}
