use super::*;
use crate::index::storage::embedded::Opened;

on_each_engine!(query_single_characters_bounded, cancelled_search_is_error,);

/// `"油" OR "气" …` of so many characters.
fn singles(number: usize) -> Query {
    let clause = |c: char| Clause::literal(Target::Anywhere, c.to_string());
    let characters = "油气田井勘探开发储层页岩天然石".chars();
    Query {
        groups: vec![Group {
            occur: Occur::Must,
            any: characters.take(number).map(clause).collect(),
        }],
        ..Query::default()
    }
}

fn index_of(engine: Engine, number: usize) -> (TestIndex, Reader) {
    let (index, mut writer, reader) = engine.new_index();
    for at in 1..=number as u64 {
        let url = format!("http://a.example/{at}");
        let document = document(&url, "页岩气", "页岩气 产量 创新高 油气田 勘探 开发");
        add(&mut writer, at, &document);
    }
    writer.commit(number as u64).unwrap();
    writer.close().unwrap();
    (index, reader)
}

fn query_single_characters_bounded(engine: Engine) {
    let (_index, reader) = index_of(engine, 3);
    let found = reader.search(&singles(MAX_SINGLE_CHARACTERS)).unwrap();
    assert_eq!(found.total, 3);
    let error = reader.search(&singles(9)).unwrap_err();
    assert!(
        matches!(error, IndexError::TooCostly { found: 9 }),
        "{error}"
    );
    assert!(error.to_string().contains("8 are allowed"), "{error}");
    let scanned = reader.scan(&singles(9), Watermark::default(), |_| true);
    assert!(scanned.is_err() && reader.latest(&singles(9), 1).is_err());
}

fn cancelled_search_is_error(engine: Engine) {
    let (_index, reader) = index_of(engine, 3);
    for query in [Query::plain("页岩气"), singles(2), Query::default()] {
        let whole = reader.search(&query).unwrap();
        assert_eq!(whole.total, 3);
        let query = Query {
            facets: true,
            ..query
        };
        query.stop.stop();
        let error = reader.search(&query).unwrap_err();
        assert!(matches!(error, IndexError::Stopped), "{error}");
        assert!(reader.latest(&query, 1).is_err());
    }
}

#[test]
fn cancelled_search_ends_midway() {
    use tantivy::collector::{Collector as _, Count};
    use tantivy::query::{AllQuery, EnableScoring, Query as _};

    let (index, _) = index_of(Engine::Embedded, 200);
    let TestIndex::Folder(dir) = &index else {
        unreachable!("the embedded index is in a folder");
    };
    let opened = Opened::open(dir.path(), Parallelism::default()).unwrap();
    let searcher = opened.newest().unwrap().searcher;
    let stop = CancellationToken::default();
    let weight = AllQuery
        .weight(EnableScoring::disabled_from_searcher(&searcher))
        .unwrap();
    let segment = searcher.segment_reader(0);
    let counted = stop.with(Count).collect_segment(&*weight, 0, segment);
    assert_eq!(counted.unwrap(), 200);
    // Stopped by the first block that is collected: none of the others is.
    let stopping = Stopping { stop: stop.clone() };
    let ended = stop.with(stopping).collect_segment(&*weight, 0, segment);
    assert!(ended.is_err());
}

/// Stops the search it collects for.
struct Stopping {
    stop: CancellationToken,
}

impl tantivy::collector::Collector for Stopping {
    type Fruit = ();
    type Child = Stopping;

    fn for_segment(&self, _: u32, _: &tantivy::SegmentReader) -> tantivy::Result<Stopping> {
        let stop = self.stop.clone();
        Ok(Stopping { stop })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, _: Vec<()>) -> tantivy::Result<()> {
        Ok(())
    }
}

impl tantivy::collector::SegmentCollector for Stopping {
    type Fruit = ();

    fn collect(&mut self, _: u32, _: f32) {
        self.stop.stop();
    }

    fn harvest(self) {}
}
