//! The two tokenizers of the index. In: text that already is in normal form. Out: tokens of [`super::cut`] as
//! tantivy wants them, their positions counted in characters. Never normalises: the writer does that once for
//! both fields.
//!
//! Grams hold every word of two or more characters, in any lexicon, as a pair or a phrase of pairs. What they do
//! not hold is a single character that is a word of its own (`油 价`): that is the second tokenizer's work.

use std::sync::{Arc, LazyLock};

use jieba_rs::Jieba;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

use super::cut::{self, Word};
use super::dictionary::Analyzer;

/// Name of the tokenizer that finds single CJK characters that are words of their own.
pub const SINGLES: &str = "singles";
/// Name of the tokenizer that cuts into grams.
pub const GRAMS: &str = "grams";

/// Longest token in bytes that is worth keeping: longer runs are encoded data.
const MAX_TOKEN_BYTES: usize = 128;

/// A manager with both tokenizers, to be set on an index right after it is opened.
pub fn tokenizers(analyzer: &Analyzer) -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(
        SINGLES,
        SingleTokenizer {
            general: analyzer.general(),
            words: Vec::new(),
        },
    );
    manager.register(GRAMS, GramTokenizer { words: Vec::new() });
    manager
}

#[derive(Clone)]
struct SingleTokenizer {
    general: &'static LazyLock<Arc<Jieba>>,
    words: Vec<Word>,
}

impl Tokenizer for SingleTokenizer {
    type TokenStream<'a> = Words<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words<'a> {
        cut::singles(text, self.general, &mut self.words);
        Words::new(text, &self.words)
    }
}

#[derive(Clone)]
struct GramTokenizer {
    words: Vec<Word>,
}

impl Tokenizer for GramTokenizer {
    type TokenStream<'a> = Words<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words<'a> {
        cut::grams(text, &mut self.words);
        Words::new(text, &self.words)
    }
}

struct Words<'a> {
    text: &'a str,
    rest: std::slice::Iter<'a, Word>,
    token: Token,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, words: &'a [Word]) -> Self {
        Self {
            text,
            rest: words.iter(),
            token: Token::default(),
        }
    }
}

impl TokenStream for Words<'_> {
    fn advance(&mut self) -> bool {
        for word in self.rest.by_ref() {
            if word.end - word.start > MAX_TOKEN_BYTES {
                continue;
            }
            self.token.text.clear();
            self.token.text.push_str(word.of(self.text));
            self.token.position = word.place;
            self.token.offset_from = word.start;
            self.token.offset_to = word.end;
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
