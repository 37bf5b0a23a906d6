//! Whether a lexicon of the field helps: hits, precision and nDCG without one, with the built-in one, and with what
//! `taojin terms discover` finds in the same texts; and the same with words alone, as Wang Du et al. 2018 (figures 6 and 7) searched.
//!
//! The judgements of the field are made by a rule before anything is searched. The first [`LEAD_CHARS`] characters of an
//! article, its headline and first sentence, are withheld from all indexes. A query is a term of the lexicon that the general
//! dictionary cuts in pieces, or two terms of which it cuts one, and relevant is each article whose lead has all of it. So an
//! article that has the term in its text counts only if it is about it, and one that is about it counts even if its text has
//! only the words. The rule sees no other wording of a term. Sets `*_kw_ir.json` are judged by people.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use taojin::serve::Calendar;
use taojin_search::analyze::{Analyzer, Dictionary, Lexicon, normalize};
use taojin_search::index::Query;
use taojin_search::query::parse;
use taojin_search::terms::{self, Found, Patterns, discover};

use crate::collection::{self, Engine};
use crate::compare::{Cutter, Plain, Words};
use crate::corpus::{self, Question, Text};
use crate::quality;

/// Characters of an article that are withheld, and judged by.
const LEAD_CHARS: usize = 100;
/// Articles that remain shorter than this are left out.
const MIN_CHARS: usize = 100;
/// What stands in fewer leads is not searched for.
const MIN_RELEVANT: usize = 2;
/// Most queries of a set.
const MAX_QUERIES: usize = 300;
/// Hits whose relevance is counted: more than any query of these sets has relevant documents.
const MAX_HITS: usize = 10_000;
const NOW: Calendar = Calendar {
    utc_offset_minutes: 480,
    now_ms: 0,
};

/// Texts with judged queries of several kinds.
struct JudgedTexts {
    name: String,
    texts: Vec<Text>,
    queries: Vec<(String, Vec<Question>)>,
}

impl JudgedTexts {
    /// Adds the queries of the first kind that a lexicon has: how it does where it can do something.
    fn add_found(&mut self, lexicon: &Lexicon) {
        let has = |question: &&Question| {
            let query = normalize(&question.text);
            lexicon.terms().any(|term| term.text == query)
        };
        let Some((kind, questions)) = self.queries.first() else {
            return;
        };
        let found = questions.iter().filter(has).cloned().collect();
        self.queries.push((format!("{kind}, found"), found));
    }
}

/// Measures each lexicon on the articles of the field and on the sets that people judged.
pub(crate) fn measure(folder: &Path, scratch: &Path, news: &[Text]) {
    let builtin = Lexicon::builtin("oil-gas").expect("built in");
    let own = std::fs::read_to_string(folder.join("lexicon.txt")).ok();
    let field = own.map_or(builtin.clone(), |text| {
        Lexicon::parse("lexicon.txt", &text).expect("a lexicon")
    });
    let mut sets = vec![judge_by_leads(news, &field)];
    for (name, texts, questions) in quality::sets(folder) {
        if name.contains("_kw_") {
            let queries = vec![("keywords".to_owned(), questions)];
            sets.push(JudgedTexts {
                name,
                texts,
                queries,
            });
        }
    }
    for mut set in sets {
        let found = discover_terms(&set.texts);
        let config = terms::Config::default();
        let entered = found.iter().filter(|found| found.is_sure(&config));
        let entered = lexicon_of(entered);
        let proposed = lexicon_of(found.iter());
        let lexicons = [
            ("none", None),
            ("of the field", Some(&field)),
            ("found, entered by itself", Some(&entered)),
            ("found, all proposed", Some(&proposed)),
        ];
        println!("\n{}: {} texts", set.name, set.texts.len());
        set.add_found(&proposed);
        for (kind, questions) in &set.queries {
            let relevant: usize = questions.iter().map(|q| q.answers.len()).sum();
            println!(
                "  {kind}: {} queries, {:.1} relevant texts each",
                questions.len(),
                relevant as f64 / questions.len().max(1) as f64
            );
            for (name, lexicon) in &lexicons {
                let terms: HashSet<&str> = lexicon
                    .iter()
                    .flat_map(|lexicon| lexicon.terms())
                    .map(|term| term.text.as_str())
                    .collect();
                let has = |question: &&Question| {
                    let query = normalize(&question.text);
                    query.split(' ').all(|word| terms.contains(word))
                };
                println!(
                    "    lexicon {name}: {} terms, among them {} of the queries",
                    terms.len(),
                    questions.iter().filter(has).count()
                );
            }
        }
        println!(
            "  queries | matching | lexicon | hits | of them relevant | relevant found | P@10 | nDCG@10"
        );
        for (at, (name, lexicon)) in lexicons.iter().enumerate() {
            let lexicon: Vec<Lexicon> = lexicon.iter().map(|&lexicon| lexicon.clone()).collect();
            let analyzer = Analyzer::new(&lexicon);
            let dir = scratch.join(format!("lexicon-{}-{at}", set.name));
            measure_search(&set, name, &dir, &analyzer);
            measure_words(&set, name, &dir.join("words"), &analyzer);
        }
    }
}

/// This program's search.
fn measure_search(set: &JudgedTexts, lexicon: &str, dir: &Path, analyzer: &Analyzer) {
    let engine = Engine::Embedded;
    collection::write_with(dir, engine, analyzer, set.texts.iter());
    let reader = collection::open(dir, engine, analyzer);
    for (kind, questions) in &set.queries {
        let mut scores = HitScores::default();
        for question in questions {
            let query = Query {
                limit: MAX_HITS,
                ..parse(&question.text, &NOW).query
            };
            let found = reader.search(&query).expect("an answer");
            let hits = found.documents.iter().map(|d| d.stored.fingerprint);
            let hits: Vec<u64> = hits.collect();
            // As a page shows them: what fits, then what fits less.
            let weaker = found.weaker.iter().flat_map(|weaker| &weaker.documents);
            let weaker: Vec<u64> = weaker.map(|d| d.stored.fingerprint).collect();
            scores.add(question, found.total, &hits, &weaker);
        }
        println!("  {kind} | taojin | {lexicon} | {}", scores.line());
    }
}

/// Words alone: any of a query's, or all of them, wherever they stand.
fn measure_words(set: &JudgedTexts, lexicon: &str, dir: &Path, analyzer: &Analyzer) {
    let words = Words::analyzer(Cutter::Dictionary(analyzer.dictionary()));
    let all: Vec<&Text> = set.texts.iter().collect();
    let plain = Plain::write(dir, &words, &all);
    for (kind, questions) in &set.queries {
        for (matching, is_all) in [("any word", false), ("all words", true)] {
            let mut scores = HitScores::default();
            for question in questions {
                let hits = plain.find(&words, &question.text, is_all, MAX_HITS);
                scores.add(question, hits.len(), &hits, &[]);
            }
            println!("  {kind} | {matching} | {lexicon} | {}", scores.line());
        }
    }
}

/// Sums over queries.
#[derive(Default)]
struct HitScores {
    ranking: quality::Scores,
    queries: f64,
    hits: usize,
    precision: f64,
    recall: f64,
    first_ten: f64,
}

impl HitScores {
    /// Takes the hits of a query, best first, and what is shown behind them.
    fn add(&mut self, question: &Question, total: usize, hits: &[u64], weaker: &[u64]) {
        let is_relevant = |hit: &&u64| question.answers.contains(*hit);
        let relevant = hits.iter().filter(is_relevant).count() as f64;
        let shown = hits.iter().chain(weaker);
        self.queries += 1.0;
        self.hits += total;
        self.precision += relevant / hits.len().max(1) as f64;
        self.recall += relevant / question.answers.len().max(1) as f64;
        self.first_ten += shown.clone().take(10).filter(is_relevant).count() as f64 / 10.0;
        self.ranking.add(question, shown.copied());
    }

    fn line(&self) -> String {
        let mean = |sum: f64| sum / self.queries.max(1.0);
        format!(
            "{:.1} | {:.3} | {:.3} | {:.3} | {:.3}",
            mean(self.hits as f64),
            mean(self.precision),
            mean(self.recall),
            mean(self.first_ten),
            self.ranking.ndcg(),
        )
    }
}

/// What is found in the texts without a lexicon, best first.
fn discover_terms(texts: &[Text]) -> Vec<Found> {
    let text = |text: &Text| terms::Text {
        document: text.id.clone(),
        title: String::new(),
        text: text.text.clone(),
    };
    let texts: Vec<terms::Text> = texts.iter().map(text).collect();
    let config = terms::Config::default();
    let (general, patterns) = (Dictionary::new(&[]), Patterns::builtin());
    discover(&texts, &general, patterns, &config, &mut || true).expect("nobody stops it")
}

fn lexicon_of<'f>(found: impl Iterator<Item = &'f Found>) -> Lexicon {
    let lines: Vec<&str> = found.map(|found| found.term.as_str()).collect();
    Lexicon::parse("found", &lines.join("\n")).expect("terms make a lexicon")
}

/// The articles without their leads, and the queries that these judge.
fn judge_by_leads(news: &[Text], lexicon: &Lexicon) -> JudgedTexts {
    let general = Dictionary::new(&[]);
    let is_cut = |term: &&str| general.words(term).len() > 1;
    let terms = lexicon.terms().map(|term| term.text.as_str());
    let (cut, whole): (Vec<&str>, Vec<&str>) = terms.partition(is_cut);
    let mut texts = Vec::new();
    let mut relevant: BTreeMap<Vec<&str>, HashSet<u64>> = BTreeMap::new();
    for article in news {
        let end = article.text.char_indices().nth(LEAD_CHARS);
        let Some((lead, text)) = end.and_then(|(at, _)| article.text.split_at_checked(at)) else {
            continue;
        };
        if text.chars().count() < MIN_CHARS {
            continue;
        }
        let lead = normalize(lead);
        let has = |term: &&&str| lead.contains(**term);
        let named: BTreeSet<&str> = cut.iter().filter(has).copied().collect();
        let others = whole.iter().filter(has).copied();
        let others: Vec<&str> = others.chain(named.iter().copied()).collect();
        let id = corpus::fingerprint(&article.id);
        let pairs = named
            .iter()
            .flat_map(|a| others.iter().map(move |b| (*a, *b)));
        // A term that is a part of the other says nothing besides.
        let pairs = pairs.filter(|(a, b)| !a.contains(b) && !b.contains(a));
        let pairs: BTreeSet<Vec<&str>> = pairs.map(|(a, b)| vec![a.min(b), a.max(b)]).collect();
        for query in named.iter().map(|term| vec![*term]).chain(pairs) {
            relevant.entry(query).or_default().insert(id);
        }
        let (id, text) = (article.id.clone(), text.to_owned());
        texts.push(Text { id, text });
    }
    let of = |words: usize| {
        let chosen = relevant
            .iter()
            .filter(|(query, articles)| query.len() == words && articles.len() >= MIN_RELEVANT);
        let question = |(query, articles): (&Vec<&str>, &HashSet<u64>)| Question {
            text: query.join(" "),
            answers: articles.clone(),
        };
        chosen.take(MAX_QUERIES).map(question).collect()
    };
    let queries = vec![
        ("a term".to_owned(), of(1)),
        ("two terms".to_owned(), of(2)),
    ];
    JudgedTexts {
        name: "field".to_owned(),
        texts,
        queries,
    }
}
