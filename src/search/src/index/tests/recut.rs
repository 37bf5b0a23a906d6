//! Words that come and go: documents are found at once, and cut again behind that.

use super::*;
use crate::analyze::{Dictionary, Lexicon};
use crate::index::RecutProgress;
use crate::index::schema::{BODY, Column, TITLE};
use crate::index::view::reckoned;

on_each_engine!(recut_follows_terms, recut_remembers_terms_between,);

/// A word that no dictionary has.
const TERM: &str = "顺北斜井";

fn dictionary(terms: &str) -> Dictionary {
    Dictionary::new(&[Lexicon::parse("test", terms).unwrap()])
}

/// Documents whose words hold this one, as readers see it now.
fn with_word(reader: &Reader, column: Column, word: &str) -> u64 {
    let view = reader.view().unwrap();
    reckoned(view.as_ref(), |statistics| {
        statistics.frequency(column, word)
    })
    .unwrap()
}

/// Cuts one document at a time until all are done.
fn cut_all(writer: &mut Keeping) -> Vec<RecutProgress> {
    let mut all = Vec::new();
    while let Some(progress) = writer.recut(1).unwrap() {
        all.push(progress);
        assert!(all.len() < 100, "it comes to an end");
    }
    all
}

fn article(n: u64) -> Document {
    let text = format!("{TERM}第{n}次投产。塔里木的油气田在{n}月增产。");
    document(&format!("https://a.example/{n}"), "日报", &text)
}

fn recut_follows_terms(engine: Engine) {
    let index = engine.new_place();
    let analyzer = Analyzer::new(&[]);
    let open = || index.open_writer(&analyzer);
    let mut writer = open();
    for n in 1..=3 {
        add(&mut writer, n, &article(n));
    }
    writer.commit(3).unwrap();
    assert_eq!(writer.recut(10).unwrap(), None, "nothing has changed");
    let reader = index.open_reader(&analyzer);
    let words = || with_word(&reader, BODY.words, TERM);
    let groups = |reader: &Reader| {
        let view = reader.view().unwrap();
        [1, 2, 3].map(|n| view.placed(view.find(n).unwrap().unwrap()).unwrap())
    };
    let placed = groups(&reader);
    assert_eq!((words(), ids(&reader, &literal(TERM)).len()), (0, 3));

    // The term acts at once, and on the words of what comes from now on.
    analyzer.replace(dictionary(TERM));
    add(&mut writer, 4, &article(4));
    writer.commit(4).unwrap();
    assert_eq!((words(), ids(&reader, &literal(TERM)).len()), (1, 4));
    // The newest first.
    let first = writer.recut(2).unwrap().unwrap();
    assert_eq!((first.reached, first.last), (3, 4));
    writer.commit(4).unwrap();
    assert_eq!(words(), 2);
    // A kill costs what was not committed.
    assert!(writer.recut(1).unwrap().is_some());
    drop(writer);
    writer = open();
    let rest = cut_all(&mut writer);
    assert_eq!(rest.first().map(|at| at.reached), Some(2), "{rest:?}");
    assert_eq!((words(), reader.num_docs().unwrap()), (4, 4));
    assert_eq!(groups(&reader), placed, "reprints stay what they were");

    // It goes, while nobody looks.
    drop(writer);
    analyzer.replace(dictionary(""));
    writer = open();
    assert_eq!(words(), 4);
    cut_all(&mut writer);
    assert_eq!(words(), 0);
}

/// What came and went again before anything was cut was in documents in between.
fn recut_remembers_terms_between(engine: Engine) {
    let index = engine.new_place();
    let analyzer = Analyzer::new(&[]);
    let mut writer = index.open_writer(&analyzer);
    add(&mut writer, 1, &article(1));
    analyzer.replace(dictionary(TERM));
    add(&mut writer, 2, &article(2));
    analyzer.replace(dictionary("塔里木的油"));
    add(&mut writer, 3, &article(3));
    // Changed before its turn comes: the newer version stays.
    writer.commit(3).unwrap();
    let mut newer = article(2);
    newer.title = Some(format!("{TERM}停产"));
    let reader = index.open_reader(&analyzer);
    assert_eq!(with_word(&reader, BODY.words, TERM), 1);
    assert!(writer.recut(1).unwrap().is_some());
    writer
        .upsert(StoredDocument {
            fingerprint: 2,
            seq: 4,
            fetched_ms: 0,
            changed_ms: 0,
            document: newer,
        })
        .unwrap();
    cut_all(&mut writer);
    writer.commit(4).unwrap();
    assert_eq!(with_word(&reader, BODY.words, TERM), 0);
    assert_eq!(with_word(&reader, TITLE.words, TERM), 0);
    assert_eq!(with_word(&reader, BODY.words, "塔里木的油"), 3);
    assert_eq!(ids(&reader, &literal("停产")), [2]);
}

/// A state that cannot be read: every document is cut again.
#[test]
fn recut_without_state() {
    let dir = tempfile::tempdir().unwrap();
    let open = || open_writer(dir.path(), &Config::default()).unwrap();
    let mut writer = open();
    let reader = open_reader(dir.path(), &ANALYZER, &Config::default()).unwrap();
    for n in 1..=3 {
        add(&mut writer, n, &article(n));
    }
    writer.commit(3).unwrap();
    drop(writer);
    std::fs::write(dir.path().join("words.json"), "{").unwrap();
    let mut writer = open();
    let steps = cut_all(&mut writer);
    assert_eq!((steps.len(), reader.num_docs().unwrap()), (2, 3));
    drop(writer);
    let mut writer = open();
    assert_eq!(writer.recut(1).unwrap(), None, "it is known again");
}
