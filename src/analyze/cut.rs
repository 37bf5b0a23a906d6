//! Cutting. In: text in normal form. Out: spans of it, in order of their place: grams (CJK bigrams, whole Latin
//! and digit runs) and words (dictionary words, domain terms and their parts). Places are counted in
//! characters, so that a phrase of grams is the literal text. Never looks at what a word means.
//!
//! Every CJK character starts a gram: the bigram with the next CJK character, or itself alone at the end of a
//! run. So a literal text of two or more characters is a chain of grams at known distances, and one character is
//! a prefix of grams. A character right behind a Latin or digit run is a gram of its own as well, so that
//! `Brent原` is found in `Brent原油`.

use super::dictionary::Dictionary;

/// Longest word (in characters) whose parts are looked up; longer ones are titles of works and the like.
const MAX_PARTS_OF: usize = 16;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// Place of the first character, counted in characters.
    pub place: usize,
    /// A dictionary word inside a longer one, or the letters or digits of a mixed run.
    pub part: bool,
}

impl Word {
    /// The piece itself.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Scripts written without spaces: Chinese, kana, bopomofo, hangul.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '々' | '〇' | '\u{3041}'..='\u{30FF}'
        | '\u{3105}'..='\u{312F}' | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

fn is_run(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric() && !is_cjk(c))
}

/// All grams of a text, for the index: `out` is cleared first.
pub(crate) fn grams(text: &str, out: &mut Vec<Word>) {
    out.clear();
    let mut chars = text.char_indices().enumerate().peekable();
    let mut after_run = false;
    while let Some((place, (start, c))) = chars.next() {
        let mut word = Word {
            start,
            end: start + c.len_utf8(),
            place,
            part: false,
        };
        if is_cjk(c) {
            let next = chars.peek().map(|&(_, (_, next))| next);
            if let Some(next) = next.filter(|&next| is_cjk(next)) {
                if after_run {
                    out.push(Word { part: true, ..word });
                }
                word.end += next.len_utf8();
            }
            out.push(word);
            after_run = false;
        } else if is_run(c) {
            while let Some(&(_, (i, next))) = chars.peek() {
                if !is_run(next) {
                    break;
                }
                word.end = i + next.len_utf8();
                chars.next();
            }
            push_run(text, word, out);
            after_run = true;
        } else {
            after_run = false;
        }
    }
}

/// A run whole and, when it mixes letters and digits (`su7`, `co2`), each side of it.
fn push_run(text: &str, run: Word, out: &mut Vec<Word>) {
    let Word {
        start, end, place, ..
    } = run;
    out.push(run);
    let mut from = (start, place);
    let mut digits = None;
    let mut at = (start, place);
    for c in run.of(text).chars() {
        let digit = c.is_numeric();
        if digits.is_some_and(|before| before != digit) {
            out.push(Word {
                start: from.0,
                end: at.0,
                place: from.1,
                part: true,
            });
            from = at;
        }
        digits = Some(digit);
        at = (at.0 + c.len_utf8(), at.1 + 1);
    }
    if from.0 > start {
        out.push(Word {
            start: from.0,
            end,
            place: from.1,
            part: true,
        });
    }
}

/// What a literal text is in grams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GramPhrase<'t> {
    /// Nothing that can be searched: no letter, digit or ideograph.
    Nothing,
    /// One CJK character: every gram that begins with it.
    Prefix(&'t str),
    /// Grams at these places, counted in characters.
    Chain(Vec<(usize, &'t str)>),
}

/// The grams of a literal text. A document that contains the text has them at the same distances.
pub fn gram_phrase(text: &str) -> GramPhrase<'_> {
    let text = text.trim();
    let mut all = Vec::new();
    grams(text, &mut all);
    all.retain(|word| !word.part);
    let mut chain: Vec<Word> = Vec::with_capacity(all.len());
    for &word in &all {
        let single = is_single(word.of(text));
        let last = word.end == text.len();
        let before = chain.last();
        // The last character of a run is in the bigram before it, unless the run is that character alone.
        let covered = single && before.is_some_and(|before| before.end == word.end);
        // At the end of the text it may go on in the document: then it is a gram only behind a run.
        let open = single && last && before.is_none_or(|before| before.end != word.start);
        if open && all.len() == 1 {
            return GramPhrase::Prefix(word.of(text));
        }
        if !covered && !open {
            chain.push(word);
        }
    }
    if chain.is_empty() {
        return GramPhrase::Nothing;
    }
    GramPhrase::Chain(chain.iter().map(|w| (w.place, w.of(text))).collect())
}

fn is_single(gram: &str) -> bool {
    let mut chars = gram.chars();
    chars.next().is_some_and(is_cjk) && chars.next().is_none()
}

/// The grams of a query that is not literal: bigrams and whole runs, no single CJK characters.
pub fn whole_grams(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    grams(text, &mut all);
    all.iter()
        .filter(|word| !word.part)
        .map(|word| word.of(text))
        .filter(|gram| !is_single(gram))
        .collect()
}

/// All words of a text with their parts, for the index and for queries: `out` is cleared first.
pub(crate) fn words(text: &str, dictionary: &Dictionary, out: &mut Vec<Word>) {
    out.clear();
    let mut run: Option<Word> = None;
    for token in dictionary.jieba().cut(text, false) {
        let word = Word {
            start: token.byte_start,
            end: token.byte_end,
            place: token.start,
            part: false,
        };
        let (mut any_cjk, mut any_run) = (false, false);
        for c in token.word.chars() {
            any_cjk |= is_cjk(c);
            any_run |= is_run(c);
        }
        if any_run && !any_cjk && token.word.chars().all(is_run) {
            // Letters outside ASCII arrive one by one: join what belongs together.
            match &mut run {
                Some(run) if run.end == word.start => run.end = word.end,
                _ => {
                    flush_run(text, &mut run, out);
                    run = Some(word);
                }
            }
            continue;
        }
        flush_run(text, &mut run, out);
        if any_cjk {
            out.push(word);
            let length = token.end - token.start;
            if (3..=MAX_PARTS_OF).contains(&length) {
                push_parts(token.word, word, dictionary, out);
            }
        }
    }
    flush_run(text, &mut run, out);
}

fn flush_run(text: &str, run: &mut Option<Word>, out: &mut Vec<Word>) {
    if let Some(run) = run.take() {
        push_run(text, run, out);
    }
}

/// Dictionary words of two or more characters inside a longer word.
fn push_parts(word: &str, whole: Word, dictionary: &Dictionary, out: &mut Vec<Word>) {
    let mut bounds = [0usize; MAX_PARTS_OF + 1];
    let mut count = 0;
    for (slot, (i, _)) in bounds.iter_mut().zip(word.char_indices()) {
        *slot = i;
        count += 1;
    }
    if let Some(slot) = bounds.get_mut(count) {
        *slot = word.len();
    }
    for first in 0..count {
        for last in first + 2..=count {
            if last - first == count {
                continue;
            }
            let (Some(&from), Some(&to)) = (bounds.get(first), bounds.get(last)) else {
                continue;
            };
            if word
                .get(from..to)
                .is_some_and(|part| dictionary.jieba().has_word(part))
            {
                out.push(Word {
                    start: whole.start + from,
                    end: whole.start + to,
                    place: whole.place + first,
                    part: true,
                });
            }
        }
    }
}
