//! What tantivy's own means give on the same texts: words of jieba alone, bigrams alone. Unquoted text is OR of its
//! tokens, which is the best one can set up by hand; the library's query parser makes a phrase of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use jieba_rs::Jieba;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::{LowerCaser, NgramTokenizer, TextAnalyzer, Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, TantivyDocument, Term};

use taojin_search::analyze::Dictionary;

use crate::corpus::{self, Text};
use crate::quality::{self, Scores};

const MEMORY_BYTES: usize = 64 << 20;
const COMMIT_DOCUMENTS: usize = 5_000;
const NOISE: usize = 10_000;

/// An index with one text field.
pub(crate) struct Plain {
    index: Index,
    reader: IndexReader,
    id: Field,
    text: Field,
}

/// The same figures as for this program, for both set-ups.
pub(crate) fn measure(folder: &Path, scratch: &Path, news: &[Text]) {
    let words = Words::analyzer(Cutter::Jieba(Arc::new(Jieba::new())));
    let bigrams = NgramTokenizer::new(2, 2, false).expect("two characters");
    let bigrams = TextAnalyzer::builder(bigrams).filter(LowerCaser).build();
    for (name, analyzer) in [("words", words), ("bigrams", bigrams)] {
        for (set, texts, questions) in quality::sets(folder) {
            let noise = if set.contains("_kw_") { 0 } else { NOISE };
            let dir = scratch.join(format!("{name}-{set}"));
            let all: Vec<&Text> = texts.iter().chain(news.iter().take(noise)).collect();
            let plain = Plain::write(&dir, &analyzer, &all);
            let mut scores = Scores::default();
            for question in &questions {
                scores.add(question, plain.best(&analyzer, &question.text));
            }
            println!("{set} (+ {noise} news): tantivy {name} {}", scores.line());
        }
        let dir = scratch.join(format!("{name}-news"));
        let all: Vec<&Text> = news.iter().collect();
        let (started, cpu) = (Instant::now(), corpus::cpu_s());
        let plain = Plain::write(&dir, &analyzer, &all);
        let (wall_s, cpu_s) = (started.elapsed().as_secs_f64(), corpus::cpu_s() - cpu);
        let raw: usize = news.iter().map(|text| text.text.len()).sum();
        println!(
            "index: tantivy {name} {:.0} documents a second ({:.0} a CPU second), {:.3} of the raw text",
            all.len() as f64 / wall_s,
            all.len() as f64 / cpu_s,
            plain.bytes() as f64 / raw as f64,
        );
        plain.literal(folder, &analyzer, name, news);
        let mut ms = Vec::new();
        for query in corpus::lines(&folder.join("queries200_latency.txt")) {
            let started = Instant::now();
            plain.best(&analyzer, &query);
            ms.push(started.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "latency: tantivy {name}, in process, no snippets: {}",
            corpus::percentiles(&mut ms)
        );
    }
}

impl Plain {
    pub(crate) fn write(dir: &Path, analyzer: &TextAnalyzer, texts: &[&Text]) -> Self {
        std::fs::create_dir_all(dir).expect("a folder");
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("it")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let id = schema.add_u64_field("id", FAST | STORED);
        let text = schema.add_text_field(
            "text",
            TextOptions::default().set_indexing_options(indexing),
        );
        let index = Index::create_in_dir(dir, schema.build()).expect("a new index");
        index.tokenizers().register("it", analyzer.clone());
        let mut writer = index
            .writer_with_num_threads(1, MEMORY_BYTES)
            .expect("a writer");
        for (at, one) in texts.iter().enumerate() {
            let mut document = TantivyDocument::new();
            document.add_u64(id, corpus::fingerprint(&one.id));
            document.add_text(text, &one.text);
            writer.add_document(document).expect("room");
            if at % COMMIT_DOCUMENTS == COMMIT_DOCUMENTS - 1 {
                writer.commit().expect("a commit");
            }
        }
        writer.commit().expect("a commit");
        writer.wait_merging_threads().expect("an end");
        let reader = index.reader().expect("a reader");
        Self {
            index,
            reader,
            id,
            text,
        }
    }

    fn tokens(analyzer: &TextAnalyzer, text: &str) -> Vec<(usize, String)> {
        let mut analyzer = analyzer.clone();
        let mut stream = analyzer.token_stream(text);
        let mut all = Vec::new();
        while stream.advance() {
            all.push((stream.token().position, stream.token().text.clone()));
        }
        all
    }

    fn best(&self, analyzer: &TextAnalyzer, text: &str) -> Vec<u64> {
        self.find(analyzer, text, false, 10)
    }

    /// The best documents with any token of a text, or with all of them.
    pub(crate) fn find(
        &self,
        analyzer: &TextAnalyzer,
        text: &str,
        is_all: bool,
        limit: usize,
    ) -> Vec<u64> {
        let occur = if is_all { Occur::Must } else { Occur::Should };
        let term = |token: &str| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.text, token);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            (occur, Box::new(query))
        };
        let tokens = Self::tokens(analyzer, text).into_iter();
        let tokens = tokens.filter(|(_, token)| !token.trim().is_empty());
        let clauses: Vec<_> = tokens.map(|(_, token)| term(&token)).collect();
        let searcher = self.reader.searcher();
        let top = (TopDocs::with_limit(limit).order_by_score(), Count);
        let (found, _) = searcher
            .search(&BooleanQuery::new(clauses), &top)
            .expect("an answer");
        let id = |(_, at)| {
            let document: TantivyDocument = searcher.doc(at).expect("a document");
            document
                .get_first(self.id)
                .and_then(|value| value.as_u64())
                .expect("an id")
        };
        found.into_iter().map(id).collect()
    }

    fn literal(&self, folder: &Path, analyzer: &TextAnalyzer, name: &str, news: &[Text]) {
        let (mut there, mut found) = (0, 0);
        for term in corpus::lines(&folder.join("queries300_terms.txt")) {
            let expected = news
                .iter()
                .filter(|t| t.text.contains(term.as_str()))
                .count();
            // One token can stand at several places of a text: positions of bigrams are those of the library.
            let tokens: Vec<(usize, Term)> = Self::tokens(analyzer, &term)
                .into_iter()
                .map(|(place, token)| (place, Term::from_field_text(self.text, &token)))
                .collect();
            let query: Box<dyn Query> = match tokens.as_slice() {
                [] => continue,
                [(_, only)] => Box::new(TermQuery::new(only.clone(), IndexRecordOption::Basic)),
                _ => Box::new(PhraseQuery::new(
                    tokens.into_iter().map(|(_, term)| term).collect(),
                )),
            };
            let got = self
                .reader
                .searcher()
                .search(&query, &Count)
                .expect("an answer");
            there += expected;
            found += got.min(expected);
        }
        println!(
            "literal: tantivy {name} phrases: recall {:.4}",
            found as f64 / there as f64
        );
    }

    fn bytes(&self) -> u64 {
        let usage = self
            .index
            .reader()
            .map(|reader| reader.searcher().space_usage());
        usage
            .expect("a reader")
            .expect("its size")
            .total()
            .get_bytes()
    }
}

/// What cuts a text in words.
#[derive(Clone)]
pub(crate) enum Cutter {
    /// jieba as it comes, which is the usual way into tantivy.
    Jieba(Arc<Jieba>),
    /// This program's, with a lexicon.
    Dictionary(Arc<Dictionary>),
}

/// Words as tokens.
#[derive(Clone)]
pub(crate) struct Words {
    cutter: Cutter,
}

impl Words {
    pub(crate) fn analyzer(cutter: Cutter) -> TextAnalyzer {
        TextAnalyzer::builder(Self { cutter })
            .filter(LowerCaser)
            .build()
    }

    /// First byte and the byte behind it of each word.
    fn cut(&self, text: &str) -> Vec<(usize, usize)> {
        match &self.cutter {
            Cutter::Jieba(jieba) => {
                let words = jieba.cut(text, false).into_iter();
                words.map(|word| (word.byte_start, word.byte_end)).collect()
            }
            Cutter::Dictionary(dictionary) => {
                let words = dictionary.words(text).into_iter();
                words.map(|word| (word.start, word.end)).collect()
            }
        }
    }
}

pub(crate) struct WordStream {
    tokens: Vec<Token>,
    at: usize,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        let token = |(position, (start, end)): (usize, (usize, usize))| Token {
            offset_from: start,
            offset_to: end,
            position,
            text: text.get(start..end).unwrap_or_default().to_owned(),
            position_length: 1,
        };
        let words = self.cut(text);
        WordStream {
            tokens: words.into_iter().enumerate().map(token).collect(),
            at: 0,
        }
    }
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        self.at += 1;
        self.at <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.at - 1]
    }
}
