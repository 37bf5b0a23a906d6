//! Speed and size of the index.

use std::path::Path;
use std::time::Instant;

use taojin_search::analyze::Analyzer;
use taojin_search::index::{Config, Entry, Reader, Writer};

use crate::corpus::{self, Text};

/// Documents between two commits, as `taojin import` makes them.
const COMMIT_DOCUMENTS: usize = 20_000;

/// Indexes the texts with one thread and prints documents a second and bytes against raw text.
pub(crate) fn build(dir: &Path, analyzer: &Analyzer, texts: &[Text]) {
    let raw: usize = texts.iter().map(|text| text.text.len()).sum();
    let config = Config::default();
    let documents: Vec<_> = texts.iter().map(corpus::document).collect();
    let (started, cpu) = (Instant::now(), corpus::cpu_s());
    let mut writer = Writer::open(dir, &config).expect("a new index");
    for (at, (text, document)) in texts.iter().zip(&documents).enumerate() {
        let entry = Entry {
            fingerprint: corpus::fingerprint(&text.id),
            seq: at as u64,
            fetched_ms: 0,
            document,
        };
        writer.upsert(&entry).expect("room on the disk");
        if at % COMMIT_DOCUMENTS == COMMIT_DOCUMENTS - 1 {
            writer.commit(at as u64).expect("a commit");
        }
    }
    writer.commit(texts.len() as u64).expect("a commit");
    let (wall_s, cpu_s) = (started.elapsed().as_secs_f64(), corpus::cpu_s() - cpu);
    let count = texts.len() as f64;
    println!(
        "index: {} documents, {:.1} MB: {:.0} a second ({:.0} a CPU second)",
        texts.len(),
        raw as f64 / 1e6,
        count / wall_s,
        count / cpu_s,
    );
    size(dir, analyzer, raw, "as written");
    writer.tidy().expect("a merge");
    writer.close().expect("an end");
    size(dir, analyzer, raw, "at rest");
}

fn size(dir: &Path, analyzer: &Analyzer, raw: usize, when: &str) {
    let reader = Reader::open(dir, analyzer, &Config::default()).expect("an index");
    let (all, stored) = reader.size_bytes().expect("its size");
    println!(
        "index {when}: {:.3} of the raw text without the stored documents, {:.3} with them",
        (all - stored) as f64 / raw as f64,
        all as f64 / raw as f64,
    );
}
