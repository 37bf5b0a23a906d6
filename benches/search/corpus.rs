//! Reading the corpora. In: a folder. Out: texts, questions and terms.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use taojin_extract::{Document, Kind};

/// A text and its name.
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A question and the texts that answer it.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) answers: HashSet<u64>,
}

pub(crate) fn fingerprint(id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(id.as_bytes())
}

/// A text as a document of one of 40 sites.
pub(crate) fn document(text: &Text) -> Document {
    let site = fingerprint(&text.id) % 40;
    Document {
        url: format!("https://news{site}.example/{}", text.id),
        text: text.text.clone(),
        kind: Kind::Article,
        ..Document::default()
    }
}

pub(crate) fn news(folder: &Path) -> Vec<Text> {
    let file = std::fs::File::open(folder.join("news.jsonl.gz")).expect("news.jsonl.gz");
    let mut all = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut all)
        .expect("gzip of UTF-8");
    let text = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("a JSON object a line");
        Text {
            id: value["id"].as_str().expect("id").to_owned(),
            text: value["text"].as_str().expect("text").to_owned(),
        }
    };
    all.lines().map(text).collect()
}

/// Texts and questions of `NAME_ir.json`.
pub(crate) fn questions(path: &Path) -> (Vec<Text>, Vec<Question>) {
    let all: Value = serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON");
    let texts = all["docs"].as_object().expect("docs").iter();
    let texts = texts.map(|(id, text)| Text {
        id: id.clone(),
        text: text.as_str().expect("text").to_owned(),
    });
    let name = |value: &Value| fingerprint(value.as_str().expect("id"));
    let question = |value: &Value| Question {
        text: value[1].as_str().expect("question").to_owned(),
        answers: match &value[2] {
            Value::Array(ids) => ids.iter().map(name).collect(),
            id => [name(id)].into(),
        },
    };
    let questions = all["queries"].as_array().expect("queries");
    (texts.collect(), questions.iter().map(question).collect())
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a text file");
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// CPU seconds of this process so far, all threads.
pub(crate) fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// Median, 95th, 99th percentile and maximum, in order.
pub(crate) fn percentiles(ms: &mut [f64]) -> String {
    ms.sort_by(f64::total_cmp);
    let at = |share: usize| ms[(ms.len() * share / 100).min(ms.len() - 1)];
    format!(
        "p50 {:.2}  p95 {:.2}  p99 {:.2}  max {:.2} ms",
        at(50),
        at(95),
        at(99),
        ms[ms.len() - 1]
    )
}
