use std::time::Duration;

use super::*;
use crate::index::storage::embedded::Opened;

fn parallel(threads: usize) -> Config {
    Config {
        parallelism: Parallelism {
            threads,
            docs_per_thread: 5,
        },
        ..Config::default()
    }
}

/// 60 documents in six segments, some of them reprints, some replaced.
fn fill(dir: &Path) {
    let texts = [
        "四川盆地页岩气勘探取得重大突破，日产气超过百万立方米",
        "塔里木油田页岩气产量创新高，勘探开发并重",
        "国际油价上涨，布伦特原油期货收于每桶八十五美元",
        "海上风电与油气田联合开发，页岩气配套管网投产",
        "勘探院士谈天然气储量，页岩气页岩气页岩气",
    ];
    let mut writer = open_writer(dir, &parallel(1)).unwrap();
    writer.embedded().allow_merges(false);
    for at in 0..60_u64 {
        let text = texts[at as usize * 7 % texts.len()].repeat(1 + at as usize % 4);
        let host = at % 7;
        let document = Document {
            published: (at % 5 > 0).then(|| format!("2026-11-{:02}", at % 28 + 1)),
            ..document(
                &format!("https://s{host}.example/{at}"),
                "页岩气日报",
                &text,
            )
        };
        add(&mut writer, at + 1, &document);
        if at % 10 == 9 {
            add(&mut writer, at.saturating_sub(14) + 1, &document);
            writer.commit(at + 1).unwrap();
        }
    }
    assert_eq!(writer.embedded().segments().unwrap(), 6);
    writer.close().unwrap();
}

#[test]
fn threads_change_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let [one, three] = [1, 3].map(|n| open_reader(dir.path(), &ANALYZER, &parallel(n)).unwrap());
    let mut queries = vec![Query::default(), literal("气"), literal("页岩气勘探")];
    for words in ["页岩气", "油价 布伦特", "开发并重的油田", "气", "没有这个"] {
        queries.push(Query::plain(words));
    }
    for query in queries {
        for sort in [Sort::Relevance, Sort::Date, Sort::Both] {
            for (grouped, offset) in [(false, 0), (true, 0), (false, 20)] {
                let query = Query {
                    sort,
                    grouped,
                    offset,
                    facets: true,
                    now_ms: 1_795_000_000_000,
                    ..query.clone()
                };
                let answers = [&one, &three].map(|reader| Found {
                    took: Duration::ZERO,
                    ..reader.search(&query).unwrap()
                });
                assert_eq!(answers[0], answers[1], "{query:?}");
            }
        }
    }
    let found = three.search(&Query::plain("页岩气")).unwrap();
    assert!(found.total > 20, "{}", found.total);
}

#[test]
fn stopped_search_in_threads_is_error() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let reader = open_reader(dir.path(), &ANALYZER, &parallel(3)).unwrap();
    for query in [Query::plain("页岩气"), literal("气"), Query::default()] {
        query.stop.stop();
        let error = reader.search(&query).unwrap_err();
        assert!(matches!(error, IndexError::Stopped), "{error}");
    }
}

#[test]
fn tidy_makes_parts_and_reclaims_deleted() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let open = || open_writer(dir.path(), &parallel(3)).unwrap();
    let mut writer = open();
    assert!(writer.embedded().tidy().unwrap());
    writer.close().unwrap();
    let mut writer = open();
    assert_eq!(writer.embedded().segments().unwrap(), 3);
    assert!(!writer.embedded().tidy().unwrap());
    for fingerprint in (1..=60).step_by(2) {
        writer.delete(fingerprint, 61).unwrap();
    }
    writer.commit(61).unwrap();
    writer.close().unwrap();
    let opened = Opened::open(dir.path(), Parallelism::default()).unwrap();
    let searcher = opened.newest().unwrap().searcher;
    let deleted = |s: &tantivy::SegmentReader| s.num_deleted_docs();
    assert_eq!(searcher.num_docs(), 30);
    assert_eq!(searcher.segment_readers().len(), 3);
    let deleted: u32 = searcher.segment_readers().iter().map(deleted).sum();
    assert_eq!(deleted, 0);
}

#[test]
fn close_removes_merged_segments() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let mut writer = open_writer(dir.path(), &parallel(1)).unwrap();
    // The second is in vain, and begins while the segments of the first are still there.
    assert!(writer.embedded().tidy().unwrap());
    writer.embedded().tidy().unwrap();
    writer.close().unwrap();
    let opened = Opened::open(dir.path(), Parallelism::default()).unwrap();
    let live = opened.newest().unwrap().searcher.segment_readers().len();
    let files = std::fs::read_dir(dir.path()).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: Vec<String> = files.filter(|name| name.ends_with(".idx")).collect();
    assert_eq!(files.len(), live, "{files:?}");
}
