//! Speed and size of the store of documents and the index.

use std::path::Path;
use std::time::Instant;

use taojin_search::analyze::Analyzer;

use crate::collection::{self, Collection, Engine};
use crate::corpus::{self, Text};

/// Documents between two commits.
const COMMIT_DOCUMENTS: usize = 20_000;

/// Stores and indexes the texts with one thread and prints documents a second and bytes against raw text.
pub(crate) fn build(dir: &Path, engine: Engine, analyzer: &Analyzer, texts: &[Text]) {
    let raw: usize = texts.iter().map(|text| text.text.len()).sum();
    let (started, cpu) = (Instant::now(), corpus::cpu_s());
    let mut collection = Collection::open(dir, engine);
    for (at, text) in texts.iter().enumerate() {
        collection.add_text(text);
        if at % COMMIT_DOCUMENTS == COMMIT_DOCUMENTS - 1 {
            collection.commit();
        }
    }
    collection.commit();
    let (wall_s, cpu_s) = (started.elapsed().as_secs_f64(), corpus::cpu_s() - cpu);
    let count = texts.len() as f64;
    println!(
        "store and index, {engine:?}: {} documents, {:.1} MB: {:.0} a second ({:.0} a CPU second)",
        texts.len(),
        raw as f64 / 1e6,
        count / wall_s,
        count / cpu_s,
    );
    size(dir, engine, analyzer, raw, "as written");
    collection.close(true);
    size(dir, engine, analyzer, raw, "at rest");
}

fn size(dir: &Path, engine: Engine, analyzer: &Analyzer, raw: usize, when: &str) {
    let index = collection::open(dir, engine, analyzer).size_bytes();
    let index = index.expect("its size") as f64 / raw as f64;
    let store = std::fs::metadata(dir.join("crawl.sqlite")).expect("the store");
    let store = store.len() as f64 / raw as f64;
    println!(
        "{when}, against the raw text: index {index:.3}, store {store:.3}, both {:.3}",
        index + store
    );
}
