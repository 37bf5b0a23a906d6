//! The tokenizers of the index: make tokens for tantivy from text in normal form, with positions counted in characters, or
//! from the characters of [`super::Singles`] and the words of [`super::Dictionary::index_words`]. Never normalise and never
//! cut into words: the writer does that once for all fields, next to the thread that these run in.
//!
//! Grams hold every word of two or more characters, in any lexicon, as a pair or a phrase of pairs. What they do
//! not hold is a single character that is a word of its own (`油 价`).

use tantivy::tokenizer::{NgramTokenizer, Token, TokenStream, Tokenizer, TokenizerManager};

use super::cut::{self, MAX_GRAM_BYTES, Word, push_gram_term};
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
    manager.register(WORDS, WordTokenizer::default());
    manager.register(SINGLES, singles);
    manager.register(GRAMS, GramTokenizer::default());
    manager
}

/// Tokens that are written and not read yet.
#[derive(Clone)]
struct Ready {
    tokens: Vec<Token>,
    /// The one that is being read.
    at: usize,
    filled: usize,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            tokens: vec![Token::default(); AHEAD],
            at: 0,
            filled: 0,
        }
    }
}

impl Ready {
    fn clear(&mut self) {
        (self.at, self.filled) = (0, 0);
    }

    /// Moves to the next token. `write` is called for each place when none is left; it returns whether it wrote one.
    fn advance(&mut self, write: impl FnMut(&mut Token) -> bool) -> bool {
        self.at += 1;
        if self.at >= self.filled {
            self.fill(write);
        }
        self.at < self.filled
    }

    /// Gives each token that is left to `sink`.
    fn process(&mut self, mut write: impl FnMut(&mut Token) -> bool, sink: &mut dyn FnMut(&Token)) {
        loop {
            self.fill(&mut write);
            self.tokens[..self.filled].iter().for_each(&mut *sink);
            if self.filled < AHEAD {
                return;
            }
        }
    }

    fn fill(&mut self, mut write: impl FnMut(&mut Token) -> bool) {
        let is_end = |token: &mut Token| !write(token);
        let filled = self.tokens.iter_mut().position(is_end);
        (self.at, self.filled) = (0, filled.unwrap_or(AHEAD));
    }
}

#[derive(Clone, Default)]
struct WordTokenizer {
    ready: Ready,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = CutWords<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> CutWords<'a> {
        self.ready.clear();
        CutWords {
            rest: text,
            ready: &mut self.ready,
        }
    }
}

/// Words with a space between them. Nobody asks for their places.
struct CutWords<'a> {
    rest: &'a str,
    ready: &'a mut Ready,
}

/// Writes the first of these words, without what it takes to look for the end of a long one.
fn write_word(rest: &mut &str, token: &mut Token) -> bool {
    let found = rest.trim_start_matches(' ');
    let length = found.bytes().position(|byte| byte == b' ');
    let (word, after) = found.split_at(length.unwrap_or(found.len()));
    *rest = after;
    token.text.clear();
    token.text.push_str(word);
    token.position = 0;
    !word.is_empty()
}

impl TokenStream for CutWords<'_> {
    fn advance(&mut self) -> bool {
        let rest = &mut self.rest;
        self.ready.advance(|token| write_word(rest, token))
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let rest = &mut self.rest;
        self.ready.process(|token| write_word(rest, token), sink);
    }

    fn token(&self) -> &Token {
        &self.ready.tokens[self.ready.at]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.ready.tokens[self.ready.at]
    }
}

#[derive(Clone, Default)]
struct GramTokenizer {
    words: Vec<Word>,
    ready: Ready,
}

impl Tokenizer for GramTokenizer {
    type TokenStream<'a> = Grams<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Grams<'a> {
        cut::grams(text, &mut self.words);
        self.ready.clear();
        Grams {
            text,
            rest: self.words.iter(),
            days: day_terms(text).into_iter(),
            ready: &mut self.ready,
        }
    }
}

struct Grams<'a> {
    text: &'a str,
    rest: std::slice::Iter<'a, Word>,
    /// Terms of days, behind all grams.
    days: std::vec::IntoIter<(usize, String)>,
    ready: &'a mut Ready,
}

impl Grams<'_> {
    /// Divides it into the buffer and what writes the next token to it.
    fn split(&mut self) -> (&mut Ready, impl FnMut(&mut Token) -> bool) {
        let (text, rest, days) = (self.text, &mut self.rest, &mut self.days);
        let is_short = |word: &&Word| word.end - word.start <= MAX_GRAM_BYTES;
        let write = move |token: &mut Token| {
            if let Some(word) = rest.find(is_short) {
                token.text.clear();
                push_gram_term(word.slice_of(text), &mut token.text);
                token.position = word.place;
                return true;
            }
            let Some((place, term)) = days.next() else {
                return false;
            };
            (token.text, token.position) = (term, place);
            true
        };
        (self.ready, write)
    }
}

impl TokenStream for Grams<'_> {
    fn advance(&mut self) -> bool {
        let (ready, write) = self.split();
        ready.advance(write)
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let (ready, write) = self.split();
        ready.process(write, sink);
    }

    fn token(&self) -> &Token {
        &self.ready.tokens[self.ready.at]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.ready.tokens[self.ready.at]
    }
}
