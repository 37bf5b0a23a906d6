//! Cutting by the most probable words. In: a text in normal form, the general dictionary and added words. Out: tokens
//! in order. The same cut as jieba's without its model for unknown words, which is what the tests hold it against:
//! of all ways to cut a run of characters into dictionary words the one with the greatest product of frequencies
//! (Viterbi, from the end), the longer word where two are equal. Never looks at what a word means.

use std::collections::HashMap;

use super::general;

/// The general dictionary and the words that lexicons add to it.
#[derive(Debug, Clone)]
pub(super) struct Segmenter {
    added: HashMap<String, u64>,
    /// Bytes of the longest added word.
    longest: usize,
    total: u64,
}

/// A token: bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A step of the best cut from one character on.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    log_probability: f64,
    /// Characters of the word.
    chars: usize,
}

impl Segmenter {
    /// The general dictionary alone.
    pub(super) fn new() -> Self {
        Self {
            added: HashMap::new(),
            longest: 0,
            total: general::total(),
        }
    }

    /// Adds a word, with the frequency at which it is just taken whole.
    pub(super) fn add(&mut self, word: &str) {
        let known = self.frequency(word);
        let log_total = (self.total as f64).ln();
        // A piece that is no word counts as one that occurs once.
        let log_pieces: f64 = self
            .cut(word)
            .iter()
            .filter_map(|token| word.get(token.start..token.end))
            .map(|piece| (self.frequency(piece).unwrap_or(1) as f64).ln() - log_total)
            .sum();
        let as_pieces = (log_pieces + log_total).exp() as u64 + 1;
        let frequency = as_pieces.max(known.unwrap_or(1));
        self.total = self.total + frequency - known.unwrap_or(0);
        self.longest = self.longest.max(word.len());
        self.added.insert(word.to_owned(), frequency);
    }

    fn frequency(&self, word: &str) -> Option<u64> {
        let added = self.added.get(word).copied();
        added.or_else(|| general::frequency(word))
    }

    /// Cuts a text: words, runs of Latin letters and digits, and single characters of everything else.
    pub(super) fn cut(&self, text: &str) -> Vec<Token> {
        let mut out = Vec::new();
        let mut chars: Vec<usize> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut letters = text.char_indices().peekable();
        while let Some((start, c)) = letters.next() {
            let mut end = start + c.len_utf8();
            if !can_be_in_word(c) {
                // The two characters of a line end are one token.
                if c == '\r' && letters.next_if(|(_, next)| *next == '\n').is_some() {
                    end += 1;
                }
                out.push(Token { start, end });
                continue;
            }
            chars.clear();
            chars.push(start);
            while let Some((at, next)) = letters.next_if(|(_, next)| can_be_in_word(*next)) {
                chars.push(at);
                end = at + next.len_utf8();
            }
            chars.push(end);
            self.best_cut(text, &chars, &mut steps);
            push_words(text, &chars, &steps, &mut out);
        }
        out
    }

    /// The best step from each character of a run; `chars` are the bytes where they begin, and the end of the run.
    fn best_cut(&self, text: &str, chars: &[usize], steps: &mut Vec<Step>) {
        let log_total = (self.total as f64).ln();
        let count = chars.len() - 1;
        let end = chars[count];
        steps.clear();
        steps.resize(count + 1, Step::default());
        for at in (0..count).rev() {
            let rest = text.get(chars[at]..end).unwrap_or_default();
            let mut best: Option<Step> = None;
            self.words_at(rest, |bytes, frequency| {
                let Ok(ahead) = chars[at..].binary_search(&(chars[at] + bytes)) else {
                    return;
                };
                let log_probability =
                    (frequency as f64).ln() - log_total + steps[at + ahead].log_probability;
                let step = Step {
                    log_probability,
                    chars: ahead,
                };
                let better =
                    best.is_none_or(|b| (log_probability, ahead) > (b.log_probability, b.chars));
                if better {
                    best = Some(step);
                }
            });
            steps[at] = best.unwrap_or(Step {
                log_probability: steps[at + 1].log_probability - log_total,
                chars: 1,
            });
        }
    }

    /// Calls `each` with the length in bytes and the frequency of every word at the beginning of a text.
    fn words_at(&self, text: &str, mut each: impl FnMut(usize, u64)) {
        general::words_at(text, |bytes, frequency| {
            let word = text.get(..bytes).unwrap_or_default();
            each(bytes, self.added.get(word).copied().unwrap_or(frequency));
        });
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        for end in ends.take_while(|end| *end <= self.longest) {
            let word = text.get(..end).unwrap_or_default();
            if let Some(frequency) = self.added.get(word) {
                each(end, *frequency);
            }
        }
    }
}

/// The words of the best cut; single Latin letters and digits beside each other are one token.
fn push_words(text: &str, chars: &[usize], steps: &[Step], out: &mut Vec<Token>) {
    let mut at = 0;
    let mut run: Option<usize> = None;
    while let Some(step) = steps.get(at).filter(|step| step.chars > 0) {
        let (start, end) = (chars[at], chars[at + step.chars]);
        let letter = text
            .as_bytes()
            .get(start)
            .is_some_and(u8::is_ascii_alphanumeric);
        if step.chars == 1 && letter {
            run.get_or_insert(start);
        } else {
            out.extend(run.take().map(|from| Token {
                start: from,
                end: start,
            }));
            out.push(Token { start, end });
        }
        at += step.chars;
    }
    let end = chars[at];
    out.extend(run.map(|start| Token { start, end }));
}

/// Whether the dictionary may have words with this character: Chinese, and what stands in product names.
fn can_be_in_word(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | 'a'..='z' | 'A'..='Z' | '0'..='9'
        | '+' | '#' | '&' | '.' | '_' | '%' | '-'
        | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}' | '\u{2B740}'..='\u{2B81F}' | '\u{2B820}'..='\u{2CEAF}'
        | '\u{2CEB0}'..='\u{2EBEF}' | '\u{2F800}'..='\u{2FA1F}')
}
