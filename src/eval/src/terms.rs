//! Evaluates domain terms on texts with keywords assigned by people: precision and recall of our ranking and of simpler
//! ones over the same candidates. Keywords are not read before the ranking is complete.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use taojin_search::analyze::{Dictionary, normalize};
use taojin_search::terms::{Config, Found, Text, discover};

/// Keywords that occur less often in the texts cannot be found by counting, and are not requested.
const MIN_OCCURRENCES: u32 = 3;

/// What a candidate is ranked by.
type RankBy = fn(&Found) -> f64;

/// One ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermTable {
    /// What the candidates are ranked by.
    pub ranking: &'static str,
    /// Keywords among the first 100, 500 and 1,000, as a share.
    pub p100: f64,
    /// Of 500.
    pub p500: f64,
    /// Of 1,000.
    pub p1000: f64,
    /// Share of all keywords that occur three times that is among the first 3,000.
    pub r3000: f64,
}

/// Finds terms in the texts (id → text, keywords) without a lexicon, and judges them by the keywords.
pub fn rank_terms(gold: &HashMap<String, (String, Vec<String>)>) -> Vec<TermTable> {
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
    let found = discover(&texts, &Dictionary::new(&[]), &config, &mut || true).unwrap_or_default();
    let rankings: [(&'static str, RankBy); 3] = [
        ("taojin", |found| found.candidate.termhood),
        ("C-value", |found| found.candidate.nested.c_value),
        ("frequency", |found| f64::from(found.candidate.occurrences)),
    ];
    rankings
        .into_iter()
        .map(|(ranking, worth)| score_ranking(ranking, &found, worth, &keywords, wanted))
        .collect()
}

fn score_ranking(
    ranking: &'static str,
    found: &[Found],
    worth: RankBy,
    keywords: &HashSet<String>,
    wanted: usize,
) -> TermTable {
    let mut ranked: Vec<&Found> = found.iter().collect();
    ranked.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    let right = |first: usize| {
        let head = ranked.iter().take(first);
        head.filter(|found| keywords.contains(&found.candidate.normal))
            .count() as f64
    };
    TermTable {
        ranking,
        p100: right(100) / 100.0,
        p500: right(500) / 500.0,
        p1000: right(1_000) / 1_000.0,
        r3000: right(3_000) / wanted.max(1) as f64,
    }
}

/// Occurrences of a word in all texts, up to as many as are requested.
fn count_occurrences(texts: &[String], word: &str) -> u32 {
    let found = texts.iter().flat_map(|text| text.matches(word));
    u32::try_from(found.take(MIN_OCCURRENCES as usize).count()).unwrap_or(u32::MAX)
}
