//! The tokenizers of the index: make tokens for tantivy from text in normal form, with positions counted in characters, or
//! from the characters of [`super::Singles`] and the words of [`super::Dictionary::index_words`]. Never normalise and never
//! cut into words: the writer does that once for all fields, next to the thread that these run in.
//!
//! Grams hold every word of two or more characters, in any lexicon, as a pair or a phrase of pairs. What they do
//! not hold is a single character that is a word of its own (`油 价`).

use tantivy::tokenizer::{
    NgramTokenizer, Token, TokenStream, Tokenizer, TokenizerManager, WhitespaceTokenizer,
};

use super::cut::{self, MAX_GRAM_BYTES, Word, gram_fill};
use super::days::day_terms;

/// Name of the tokenizer of words that are cut already, with spaces between them.
pub const WORDS: &str = "words";
/// Name of the tokenizer of single CJK characters that are words of their own.
pub const SINGLES: &str = "singles";
/// Name of the tokenizer that cuts into grams.
pub const GRAMS: &str = "grams";

/// Tokens written before the first of them is read: a processor reads at once only what it has not just written.
const AHEAD: usize = 16;

/// A manager with these tokenizers, to be set on an index right after it is opened.
pub fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    let singles = NgramTokenizer::new(1, 1, false).expect("one character is a gram");
    manager.register(WORDS, WhitespaceTokenizer::default());
    manager.register(SINGLES, singles);
    let ready = vec![Token::default(); AHEAD];
    let words = Vec::new();
    manager.register(GRAMS, GramTokenizer { words, ready });
    manager
}

#[derive(Clone)]
struct GramTokenizer {
    words: Vec<Word>,
    ready: Vec<Token>,
}

impl Tokenizer for GramTokenizer {
    type TokenStream<'a> = Grams<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Grams<'a> {
        cut::grams(text, &mut self.words);
        Grams {
            text,
            rest: self.words.iter(),
            days: day_terms(text).into_iter(),
            ready: &mut self.ready,
            at: 0,
            filled: 0,
        }
    }
}

struct Grams<'a> {
    text: &'a str,
    rest: std::slice::Iter<'a, Word>,
    /// Terms of days, behind all grams.
    days: std::vec::IntoIter<(usize, String)>,
    ready: &'a mut [Token],
    at: usize,
    filled: usize,
}

impl Grams<'_> {
    /// Writes the next tokens.
    fn fill(&mut self) {
        (self.at, self.filled) = (0, 0);
        let short = |word: &&Word| word.end - word.start <= MAX_GRAM_BYTES;
        for (token, word) in self.ready.iter_mut().zip(self.rest.by_ref().filter(short)) {
            let gram = word.slice_of(self.text);
            token.text.clear();
            token.text.push_str(gram);
            token.text.push_str(gram_fill(gram));
            token.position = word.place;
            token.offset_from = word.start;
            token.offset_to = word.end;
            self.filled += 1;
        }
        let rest = self.ready.iter_mut().skip(self.filled);
        for (token, (place, term)) in rest.zip(self.days.by_ref()) {
            token.text = term;
            token.position = place;
            (token.offset_from, token.offset_to) = (0, 0);
            self.filled += 1;
        }
    }
}

impl TokenStream for Grams<'_> {
    fn advance(&mut self) -> bool {
        self.at += 1;
        if self.at >= self.filled {
            self.fill();
        }
        self.at < self.filled
    }

    fn token(&self) -> &Token {
        &self.ready[self.at]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.ready[self.at]
    }
}
