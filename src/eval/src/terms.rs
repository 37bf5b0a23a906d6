//! Evaluates domain terms on texts with keywords assigned by people: what is found with and without part-of-speech patterns,
//! by our ranking and by simpler ones. Keywords are not read before the ranking is complete.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::tokens::harmonic_mean;

use taojin_search::analyze::{Dictionary, normalize};
use taojin_search::terms::{Config, Found, Patterns, Text, discover};

/// Keywords that occur less often in the texts cannot be found by counting, and are not requested.
const MIN_OCCURRENCES: u32 = 3;
/// The C-value from which on Wang Du et al. 2018 (§2.3.2) take a candidate for a term.
const MIN_C_VALUE: f64 = 3.0;
/// The termhood of a candidate that is more likely a term than not.
const MIN_TERMHOOD: f64 = 0.5;

/// What candidates are ranked by, and which of them are taken for terms.
struct Ranking {
    name: &'static str,
    worth: fn(&Found) -> f64,
    /// Candidates of a greater worth are terms.
    above: f64,
}

const RANKINGS: [Ranking; 4] = [
    Ranking {
        name: "taojin",
        worth: |found| found.candidate.termhood,
        above: MIN_TERMHOOD,
    },
    Ranking {
        name: "NC-value",
        worth: |found| found.candidate.nested.nc_value,
        above: MIN_C_VALUE,
    },
    Ranking {
        name: "C-value",
        worth: |found| found.candidate.nested.c_value,
        above: MIN_C_VALUE,
    },
    Ranking {
        name: "frequency",
        worth: |found| f64::from(found.candidate.occurrences),
        above: 0.0,
    },
];

/// One ranking of the candidates of one set of patterns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermTable {
    /// What makes a run of words a candidate: `none`, `derived` or `built-in` patterns.
    pub patterns: &'static str,
    /// What the candidates are ranked by.
    pub ranking: &'static str,
    /// What a candidate that is taken for a term has more of.
    pub above: f64,
    /// Candidates that are taken for terms.
    pub terms: usize,
    /// Share of these that are keywords.
    pub precision: f64,
    /// Share of all keywords that occur three times that is among these.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f: f64,
    /// Keywords among the first 100, 500 and 1,000, as a share.
    pub p100: f64,
    /// Of 500.
    pub p500: f64,
    /// Of 1,000.
    pub p1000: f64,
    /// Share of all keywords that occur three times that is among the first 3,000.
    pub r3000: f64,
}

/// Finds terms in the texts (id → text, keywords) without a lexicon, by no patterns, by `derived` ones and by the built-in ones,
/// and judges them by the keywords.
pub fn rank_terms(
    gold: &HashMap<String, (String, Vec<String>)>,
    derived: &Patterns,
) -> Vec<TermTable> {
    let mut ids: Vec<&String> = gold.keys().collect();
    ids.sort();
    let texts: Vec<Text> = ids
        .into_iter()
        .map(|id| Text {
            document: id.clone(),
            title: String::new(),
            text: gold
                .get(id)
                .map(|(text, _)| text.clone())
                .unwrap_or_default(),
        })
        .collect();
    let keywords = gold.values().flat_map(|(_, keywords)| keywords);
    let keywords: HashSet<String> = keywords.map(|word| normalize(word).into_owned()).collect();
    let all: Vec<String> = texts
        .iter()
        .map(|text| normalize(&text.text).into_owned())
        .collect();
    let frequent = keywords
        .iter()
        .filter(|word| count_occurrences(&all, word) >= MIN_OCCURRENCES);
    let wanted = frequent.count();
    let config = Config {
        max_terms: usize::MAX,
        min_count: MIN_OCCURRENCES,
        ..Config::default()
    };
    let general = Dictionary::new(&[]);
    let mut rows = Vec::new();
    for (name, patterns) in [
        ("none", &Patterns::any()),
        ("derived", derived),
        ("built-in", Patterns::builtin()),
    ] {
        let found = discover(&texts, &general, patterns, &config, &mut || true);
        let found = found.unwrap_or_default();
        let score = |ranking| score_ranking(name, ranking, &found, &keywords, wanted);
        rows.extend(RANKINGS.iter().map(score));
    }
    rows
}

fn score_ranking(
    patterns: &'static str,
    ranking: &Ranking,
    found: &[Found],
    keywords: &HashSet<String>,
    wanted: usize,
) -> TermTable {
    let worth = ranking.worth;
    let mut ranked: Vec<&Found> = found.iter().collect();
    ranked.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    let right = |first: usize| {
        let head = ranked.iter().take(first);
        head.filter(|found| keywords.contains(&found.candidate.normal))
            .count() as f64
    };
    let terms = ranked.partition_point(|found| worth(found) > ranking.above);
    let wanted = wanted.max(1) as f64;
    let precision = right(terms) / terms.max(1) as f64;
    let recall = right(terms) / wanted;
    TermTable {
        patterns,
        ranking: ranking.name,
        above: ranking.above,
        terms,
        precision,
        recall,
        f: harmonic_mean(precision, recall),
        p100: right(100) / 100.0,
        p500: right(500) / 500.0,
        p1000: right(1_000) / 1_000.0,
        r3000: right(3_000) / wanted,
    }
}

/// Occurrences of a word in all texts, up to as many as are requested.
fn count_occurrences(texts: &[String], word: &str) -> u32 {
    let found = texts.iter().flat_map(|text| text.matches(word));
    u32::try_from(found.take(MIN_OCCURRENCES as usize).count()).unwrap_or(u32::MAX)
}
