//! A page gives one document, however often and wherever it is extracted: what a hash table's order or an earlier page
//! could decide shows here, since every table has a seed of its own.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::page::{Hints, Page};
use crate::{Context, extract};
use taojin_uri::CrawlUri;

/// Times that each thread extracts each page.
const ROUNDS: usize = 6;
/// 2026-11-20 10:00 in China.
const NOW_MS: i64 = 1_795_140_000_000;

/// One of the project's pages, with what a crawl knows of it.
struct Sample {
    name: String,
    bytes: Vec<u8>,
    hints: Hints,
}

/// All pages of `tests/pages`.
fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pages");
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".html").map(str::to_owned)
    });
    let mut samples: Vec<Sample> = names
        .map(|name| {
            let bytes = fs::read(folder.join(format!("{name}.html"))).unwrap();
            let json = fs::read(folder.join(format!("{name}.expected.json"))).unwrap();
            let json: Value = serde_json::from_slice(&json).unwrap();
            let text = |key: &str| json.get(key).and_then(Value::as_str);
            let hints = Hints {
                url: text("url").and_then(|url| CrawlUri::parse(url).ok()),
                charset: text("header_charset").map(str::to_owned),
                ..Hints::default()
            };
            Sample { name, bytes, hints }
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    samples
}

fn document(sample: &Sample) -> Value {
    let context = Context {
        now_ms: Some(NOW_MS),
        ..Context::default()
    };
    let page = Page::parse(&sample.bytes, sample.hints.clone());
    serde_json::to_value(extract(&page, &context)).unwrap()
}

#[test]
fn extract_same_in_threads() {
    let samples = samples();
    assert!(samples.len() > 100, "only {} pages", samples.len());
    let first: Vec<Value> = samples.iter().map(document).collect();
    let check = |thread: usize| {
        for round in 0..ROUNDS {
            // Every other round goes backwards, and each thread begins elsewhere: other pages come before each.
            for n in 0..samples.len() {
                let forth = (n + 50 * thread) % samples.len();
                let at = match round % 2 {
                    0 => forth,
                    _ => samples.len() - 1 - forth,
                };
                assert_eq!(document(&samples[at]), first[at], "{}", samples[at].name);
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let check = &check;
            scope.spawn(move || check(thread));
        }
    });
}
