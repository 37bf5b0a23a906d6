//! Ranking against judged questions, and whether literal search finds all.

use std::path::{Path, PathBuf};

use taojin::serve::Calendar;
use taojin_search::analyze::Analyzer;
use taojin_search::index::Query;
use taojin_search::query::parse;

use crate::collection::{self, Engine};
use crate::corpus::{self, Question, Text};

/// Documents that answer nothing, put beside the documents of a set.
const NOISE: usize = 10_000;
const BEIJING: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: 0,
};

/// Sum of nDCG@10 and MRR@10 over questions.
#[derive(Default)]
pub(crate) struct Scores {
    ndcg: f64,
    mrr: f64,
    questions: f64,
}

impl Scores {
    /// Takes the first ten documents that a question got.
    pub(crate) fn add(&mut self, question: &Question, found: impl IntoIterator<Item = u64>) {
        let gain = |at: usize| 1.0 / ((at + 2) as f64).log2();
        let (mut gained, mut first) = (0.0, 0.0);
        for (at, fingerprint) in found.into_iter().take(10).enumerate() {
            if question.answers.contains(&fingerprint) {
                gained += gain(at);
                if first == 0.0 {
                    first = 1.0 / (at + 1) as f64;
                }
            }
        }
        let ideal: f64 = (0..question.answers.len().min(10)).map(gain).sum();
        self.ndcg += gained / ideal;
        self.mrr += first;
        self.questions += 1.0;
    }

    /// Mean nDCG of the first ten.
    pub(crate) fn ndcg(&self) -> f64 {
        self.ndcg / self.questions
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "nDCG@10 {:.4}  MRR@10 {:.4}",
            self.ndcg(),
            self.mrr / self.questions
        )
    }
}

/// Every `*_ir.json` of the folder: keyword sets alone, question sets with news as noise.
pub(crate) fn ranking(folder: &Path, scratch: &Path, analyzer: &Analyzer, news: &[Text]) {
    for (name, texts, questions) in sets(folder) {
        let noise = if name.contains("_kw_") { 0 } else { NOISE };
        for engine in Engine::all() {
            let dir = engine.folder(scratch, &name);
            let all = texts.iter().chain(news.iter().take(noise));
            collection::write(&dir, engine, all);
            let reader = collection::open(&dir, engine, analyzer);
            // The second half is for judging: nothing is ever tuned on it.
            let (mut scores, mut judged) = (Scores::default(), Scores::default());
            for (at, question) in questions.iter().enumerate() {
                let found = reader.search(&parse(&question.text, &BEIJING).query);
                let found = found.expect("an answer");
                // As a page shows them: what fits, then what fits less.
                let weaker = found.weaker.iter().flat_map(|weaker| &weaker.documents);
                let shown = found.documents.iter().chain(weaker);
                let shown: Vec<u64> = shown.map(|d| d.stored.fingerprint).collect();
                scores.add(question, shown.iter().copied());
                if at >= questions.len() / 2 {
                    judged.add(question, shown);
                }
            }
            println!("{name} (+ {noise} news), {engine:?}: {}", scores.line());
            println!("  its second half: {}", judged.line());
        }
    }
}

/// Name, texts and questions of each judged set.
pub(crate) fn sets(folder: &Path) -> Vec<(String, Vec<Text>, Vec<Question>)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.retain(|path| path.to_string_lossy().ends_with("_ir.json"));
    paths.sort();
    let set = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (texts, questions) = corpus::questions(path);
        (name.into_owned(), texts, questions)
    };
    paths.iter().map(set).collect()
}

/// How many of the queries have the same number of hits in each of the indexes.
pub(crate) fn totals(folder: &Path, indexes: &[(PathBuf, Engine)], analyzer: &Analyzer) {
    let queries = corpus::lines(&folder.join("queries200_latency.txt"));
    let totals = indexes.iter().map(|(dir, engine)| -> Vec<usize> {
        let reader = collection::open(dir, *engine, analyzer);
        let total = |query: &String| {
            let query = parse(query, &BEIJING).query;
            reader.search(&query).expect("an answer").total
        };
        queries.iter().map(total).collect()
    });
    let totals: Vec<Vec<usize>> = totals.collect();
    let [first, second] = &totals[..] else { return };
    let pairs = first.iter().zip(second);
    let differing = pairs.filter(|(one, other)| one != other);
    let shares = differing.map(|(one, other)| one.abs_diff(*other) as f64 / *one.max(&1) as f64);
    let shares: Vec<f64> = shares.collect();
    println!(
        "totals: {} of {} queries have the same in both, the largest difference is {:.1} %",
        queries.len() - shares.len(),
        queries.len(),
        100.0 * shares.into_iter().fold(0.0, f64::max),
    );
}

/// Whether quoted terms find every document that contains them.
pub(crate) fn literal(
    folder: &Path,
    (dir, engine): (&Path, Engine),
    analyzer: &Analyzer,
    news: &[Text],
) {
    let reader = collection::open(dir, engine, analyzer);
    let (mut there, mut found) = (0, 0);
    let terms = corpus::lines(&folder.join("queries300_terms.txt"));
    for term in &terms {
        let contains = news.iter().filter(|text| text.text.contains(term.as_str()));
        let expected = contains.count();
        let query = Query {
            limit: 0,
            ..parse(&format!("\"{term}\""), &BEIJING).query
        };
        let got = reader.search(&query).expect("an answer").total;
        if got < expected {
            println!("literal, {engine:?}: {term:?} finds {got} of {expected}");
        }
        there += expected;
        found += got.min(expected);
    }
    println!(
        "literal, {engine:?}: {} quoted terms find {found} of {there} documents: recall {:.4}",
        terms.len(),
        found as f64 / there as f64
    );
}
