//! Cuts text in normal form into spans, in order of their place: grams (CJK bigrams, whole Latin and digit runs) and
//! words (dictionary words and domain terms). Places are counted in characters without blanks, so that a phrase of grams is
//! the literal text whatever blanks stand in it: `GB/T 4754` is `GB/T4754`. Never looks at what a word means.
//!
//! Each two neighbouring CJK characters are a gram, a CJK character without such a neighbour is one alone. So a
//! literal text of two or more characters is a chain of grams at known distances, and one character is the
//! begin or the end of grams. A CJK character right next to a Latin or digit run is a gram of its own as well, so
//! that `Brent原` is found in `Brent原油`. So is a mark next to such a run: `3-5` is not `3/5`. A number is one run with
//! its decimal point: `28` is not in `40.28`.

use std::borrow::Cow;
use std::ops::Range;

use jieba_rs::Jieba;

use super::days::day_terms;
use super::normalize::{IDEOGRAPH_BYTES, ideographs_at_start};

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// Place of the first character, counted in characters; in grams without blanks.
    pub place: usize,
    /// Stands inside or next to another gram: the letters of a mixed run, a character or a mark next to a run.
    pub part: bool,
}

impl Word {
    /// The piece itself.
    pub fn slice_of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Scripts written without spaces: Chinese, kana, bopomofo, hangul.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '々' | '〇' | '\u{3041}'..='\u{30FF}'
        | '\u{3105}'..='\u{312F}' | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

/// What a character is for the cutting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of a script without spaces.
    Cjk,
    /// Letter or digit of another script.
    Run,
    /// A picture that says something by itself.
    Emoji,
    Other,
}

/// The class of a character; the frequent ones first.
fn class(c: char) -> Class {
    match c {
        '\u{4E00}'..='\u{9FFF}' => Class::Cjk,
        '\0'..='\u{7F}' if c.is_ascii_alphanumeric() => Class::Run,
        '\0'..='\u{7F}' | '\u{3001}'..='\u{3004}' | '\u{3008}'..='\u{3020}' => Class::Other,
        c if is_cjk(c) => Class::Cjk,
        c if c.is_alphanumeric() => Class::Run,
        c if is_emoji(c) => Class::Emoji,
        _ => Class::Other,
    }
}

/// Emoji and the signs that are used like them (☀, ★, ✔); no bullets and no arrows of lists.
pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{231A}' | '\u{231B}' | '\u{23E9}'..='\u{23FA}' | '\u{25B6}' | '\u{25C0}' | '\u{2600}'..='\u{27BF}'
        | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B07}' | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}' | '\u{2B55}'
        | '\u{1F000}'..='\u{1FAFF}')
}

fn is_run(c: char) -> bool {
    class(c) == Class::Run
}

/// Whether the byte at this place is a point between two digits.
fn is_decimal_point(text: &str, at: usize) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    bytes.get(at) == Some(&b'.')
        && digit(at.checked_sub(1).and_then(|before| bytes.get(before)))
        && digit(bytes.get(at + 1))
}

/// Signs that stand behind a number and belong to it.
const PERCENT: [char; 2] = ['%', '‰'];

/// A text in normal form that other texts are looked for in, whatever blanks stand in either.
#[derive(Debug)]
pub(crate) struct Haystack<'t> {
    text: Cow<'t, str>,
    /// Where blanks were left out, in bytes of `text`; rising.
    blanks: Vec<usize>,
}

impl<'t> Haystack<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut blanks = Vec::new();
        let text = without_blanks(text, &mut blanks);
        Self { text, blanks }
    }

    /// Where a text in normal form stands in this one, in bytes of the text as it was, not inside a Latin word or a number:
    /// `su` is not in `sun`, but in `su7`; `28` is not in `40.28`.
    pub(crate) fn occurrences<'a>(&'a self, part: &str) -> impl Iterator<Item = Range<usize>> + 'a {
        let part = without_blanks(part, &mut Vec::new()).into_owned();
        let text: &str = &self.text;
        let mut from = 0;
        let found = std::iter::from_fn(move || {
            let start = from + text.get(from..)?.find(&part)?;
            from = start + part.len().max(1);
            Some(start..start + part.len())
        });
        let whole = |at: &Range<usize>| {
            !at.is_empty() && !is_inside_run(text, at.start) && !is_inside_run(text, at.end)
        };
        found.filter(whole).map(|at| {
            let before = self.blanks.partition_point(|blank| *blank <= at.start);
            let inside = self.blanks.partition_point(|blank| *blank < at.end);
            at.start + before..at.end + inside
        })
    }
}

/// A text without the blanks that part neither two runs of a kind nor two ideographs; notes where they were.
fn without_blanks<'t>(text: &'t str, blanks: &mut Vec<usize>) -> Cow<'t, str> {
    if !text.contains(' ') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((piece, after)) = rest.split_once(' ') {
        out.push_str(piece);
        match (out.chars().next_back(), after.chars().next()) {
            (Some(a), Some(b)) if !parts(a, b) => blanks.push(out.len()),
            _ => out.push(' '),
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a blank between two characters says something.
fn parts(a: char, b: char) -> bool {
    let both = |class_of_both: Class| class(a) == class_of_both && class(b) == class_of_both;
    let is_point = a == '.' || b == '.';
    is_point || both(Class::Cjk) || (both(Class::Run) && a.is_numeric() == b.is_numeric())
}

/// Whether this place is inside a Latin word or a number, the decimal point included.
fn is_inside_run(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let (Some(a), Some(b)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    let both_run = is_run(a) && is_run(b) && a.is_numeric() == b.is_numeric();
    both_run || is_decimal_point(text, at) || (a == '.' && is_decimal_point(text, at - 1))
}

/// All grams of a text, for the index: `out` is cleared first.
pub(crate) fn grams(text: &str, out: &mut Vec<Word>) {
    out.clear();
    let mut before = Class::Other;
    // A CJK character, and what stood before it, until it is known what follows.
    let mut held: Option<(Word, Class)> = None;
    let mut run: Option<Word> = None;
    // A mark, until it is known whether a run follows.
    let mut mark: Option<Word> = None;
    let mut place = 0;
    let mut is_after_blank = false;
    let mut chars = text.chars();
    loop {
        let start = text.len() - chars.as_str().len();
        // Most of a Chinese text: ideographs right behind another one, where no run and no mark waits.
        if !is_after_blank && let Some(first) = held {
            let next = ideographs_at_start(chars.as_str());
            if !next.is_empty() {
                let end = start + next.len();
                held = Some(push_pairs(first, start..end, out));
                place += next.len() / IDEOGRAPH_BYTES;
                chars = text.get(end..).unwrap_or_default().chars();
                continue;
            }
        }
        let Some(c) = chars.next() else {
            break;
        };
        if c == ' ' {
            is_after_blank = true;
            continue;
        }
        let class = match c {
            '.' if is_decimal_point(text, start) => Class::Run,
            c => class(c),
        };
        let end = start + c.len_utf8();
        let word = Word {
            start,
            end,
            place,
            part: false,
        };
        // Behind a blank an ideograph makes no pair.
        let is_parted = std::mem::take(&mut is_after_blank) && class == before;
        if let Some(held) = held.take() {
            push_held(held, if is_parted { Class::Other } else { class }, end, out);
        }
        if is_parted && let Some(run) = run.take() {
            push_run(text, run, out);
        }
        if class == Class::Run {
            out.extend(mark.take());
            run.get_or_insert(word).end = end;
        } else {
            if let Some(run) = run.take() {
                push_run(text, run, out);
            }
            mark = (class == Class::Other).then_some(Word { part: true, ..word });
            match class {
                Class::Other if before == Class::Run => out.extend(mark.take()),
                Class::Emoji => out.push(word),
                Class::Cjk => held = Some((word, if is_parted { Class::Other } else { before })),
                _ => {}
            }
        }
        before = class;
        place += 1;
    }
    if let Some(held) = held {
        push_held(held, Class::Other, text.len(), out);
    }
    if let Some(run) = run {
        push_run(text, run, out);
    }
}

/// The pairs of a CJK character with the ideographs of the main block behind it, which are these bytes. Returns what waits for the
/// next character.
fn push_pairs(held: (Word, Class), run: Range<usize>, out: &mut Vec<Word>) -> (Word, Class) {
    let (first, count) = (held.0, run.len() / IDEOGRAPH_BYTES);
    push_held(held, Class::Cjk, run.start + IDEOGRAPH_BYTES, out);
    let nth = |n: usize, ideographs: usize| {
        let start = run.start + n * IDEOGRAPH_BYTES;
        Word {
            start,
            end: start + ideographs * IDEOGRAPH_BYTES,
            place: first.place + 1 + n,
            part: false,
        }
    };
    out.extend((0..count - 1).map(|n| nth(n, 2)));
    (nth(count - 1, 1), Class::Cjk)
}

/// A CJK character with the next one, up to `end`, or alone where none stands next to it; next to a run also alone.
fn push_held((word, before): (Word, Class), next: Class, end: usize, out: &mut Vec<Word>) {
    let beside_run = match next {
        Class::Cjk => before == Class::Run,
        _ => before == Class::Cjk && next == Class::Run,
    };
    if beside_run {
        out.push(Word { part: true, ..word });
    }
    match next {
        Class::Cjk => out.push(Word { end, ..word }),
        _ if before != Class::Cjk => out.push(word),
        _ => {}
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
    for c in run.slice_of(text).chars() {
        let digit = c.is_numeric() || c == '.';
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

/// Longest gram in bytes that is worth keeping: longer runs are encoded data.
pub(super) const MAX_GRAM_BYTES: usize = 128;

/// The grams of a text as they stand in the index and the terms of its days, each with its place.
pub(crate) fn gram_terms(text: &str) -> Vec<(usize, Cow<'_, str>)> {
    let mut all = Vec::new();
    grams(text, &mut all);
    let short = all
        .iter()
        .filter(|word| word.end - word.start <= MAX_GRAM_BYTES);
    let grams = short.map(|word| (word.place, gram_term(word.slice_of(text))));
    let days = day_terms(text).into_iter();
    grams
        .chain(days.map(|(place, term)| (place, Cow::Owned(term))))
        .collect()
}

/// Bytes of a pair of common ideographs.
const PAIR_BYTES: usize = 6;
/// What follows such a pair in the index.
const FILL: &str = "\0\0";

/// A gram as it stands in the index. Pairs of ideographs are filled up to eight bytes: the index's table of terms reads
/// keys by words of four bytes, which a processor takes straight out of the store before where one store holds the
/// whole word. Six bytes are copied by two stores that overlap, so each look-up would wait for the one before; filled
/// up, an index is written in five sixths of the time and is a fiftieth larger.
pub fn gram_term(gram: &str) -> Cow<'_, str> {
    if gram.len() == PAIR_BYTES {
        Cow::Owned([gram, FILL].concat())
    } else {
        Cow::Borrowed(gram)
    }
}

/// The gram that a term of the index is.
pub(crate) fn gram_of_term(term: &str) -> &str {
    term.strip_suffix(FILL).unwrap_or(term)
}

/// Writes a gram as it stands in the index.
pub(super) fn push_gram_term(gram: &str, out: &mut String) {
    out.push_str(gram);
    if gram.len() == PAIR_BYTES {
        out.push_str(FILL);
    }
}

/// Pattern of the grams, as they stand in the index, that end with this character and do not begin with it.
pub fn ending_pattern(single: &str) -> String {
    format!(".{single}({FILL})?")
}

/// What a literal text is in grams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GramPhrase<'t> {
    /// Nothing that can be searched: no letter, digit or ideograph.
    Nothing,
    /// One CJK character: every gram that begins or ends with it.
    Single(&'t str),
    /// Grams at these places, counted in characters without blanks.
    Chain(Vec<(usize, &'t str)>),
}

/// The grams of a literal text. A document that contains the text has them at the same distances. Single CJK
/// characters at the ends of the text are left out where they may go on in the document.
pub fn gram_phrase(text: &str) -> GramPhrase<'_> {
    let text = text.trim();
    let mut all = Vec::new();
    grams(text, &mut all);
    let all = smallest(&all, text);
    let marks = |word: &Word| word.slice_of(text).chars().next().map(class) == Some(Class::Other);
    if let [only] = all.as_slice()
        && is_single(only.slice_of(text))
    {
        return GramPhrase::Single(only.slice_of(text));
    }
    let mut chain = Vec::with_capacity(all.len());
    for (index, word) in all.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| all.get(i));
        let next = all.get(index + 1);
        let beside = before
            .is_some_and(|before| is_beside(text, before.end, word.start) && !marks(before))
            || next.is_some_and(|next| is_beside(text, word.end, next.start) && !marks(next));
        let inner = word.start > 0 && word.end < text.len();
        if !is_single(word.slice_of(text)) || beside || inner {
            chain.push((word.place, word.slice_of(text)));
        }
    }
    match (chain.is_empty(), all.first()) {
        (true, None) => GramPhrase::Nothing,
        (true, Some(first)) => GramPhrase::Single(first.slice_of(text)),
        (false, _) => GramPhrase::Chain(chain),
    }
}

/// Whether nothing stands between the end of one gram and the start of another, or a blank that does not part them.
fn is_beside(text: &str, end: usize, start: usize) -> bool {
    let is_cjk_at = |c: Option<char>| c.is_some_and(is_cjk);
    let is_parted = || {
        let (before, after) = (text.get(..end), text.get(start..));
        is_cjk_at(before.and_then(|text| text.chars().next_back()))
            && is_cjk_at(after.and_then(|text| text.chars().next()))
    };
    end == start || (text.get(end..start) == Some(" ") && !is_parted())
}

/// The grams that a longer text around this one has as well: of a mixed run its letters and its digits, because
/// the run may go on (`su` in `su7`), and no single characters next to a run that a pair covers.
fn smallest(all: &[Word], text: &str) -> Vec<Word> {
    let cjk = |word: &Word| word.slice_of(text).chars().next().is_some_and(is_cjk);
    let kept = |(index, word): (usize, &Word)| {
        let split = all
            .get(index + 1)
            .is_some_and(|next| next.part && next.start == word.start);
        let keep = if cjk(word) {
            !word.part
        } else {
            word.part || !split
        };
        keep.then_some(*word)
    };
    all.iter().enumerate().filter_map(kept).collect()
}

pub(crate) fn is_single(gram: &str) -> bool {
    let mut chars = gram.chars();
    chars.next().is_some_and(is_cjk) && chars.next().is_none()
}

/// The grams of a query that is not literal: bigrams and whole runs, no single CJK characters.
pub fn whole_grams(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    grams(text, &mut all);
    all.iter()
        .filter(|word| !word.part)
        .map(|word| word.slice_of(text))
        .filter(|gram| !is_single(gram))
        .collect()
}

/// All words of a text: dictionary words, domain terms, whole Latin and digit runs, and what these are joined to:
/// numbers with their percent (`10.3%`) and codes (`ny-3097`, `9-1`).
pub(crate) fn words(text: &str, dictionary: &Jieba) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for token in dictionary.cut(text, false) {
        let mut word = Word {
            start: token.byte_start,
            end: token.byte_end,
            place: token.start,
            part: false,
        };
        // Most words of a Chinese text: neither letters of a run nor behind those of a longer one.
        if token.word.starts_with(is_cjk) {
            out.push(word);
            continue;
        }
        let cjk = token.word.chars().any(is_cjk);
        let run = !cjk && token.word.chars().all(is_run);
        match out.last_mut() {
            // Letters outside ASCII arrive one by one: join what belongs together.
            Some(last)
                if run && last.end == word.start && !last.slice_of(text).chars().any(is_cjk) =>
            {
                last.end = word.end;
            }
            // A term that begins with letters (`lng船`) is not in a longer run of them (`flng船`).
            Some(last)
                if cjk && last.end == word.start && last.slice_of(text).chars().all(is_run) =>
            {
                let lead = token.word.chars().take_while(|c| is_run(*c));
                for c in lead {
                    word.start += c.len_utf8();
                    word.place += 1;
                }
                last.end = word.start;
                out.push(word);
            }
            _ if cjk || run => out.push(word),
            _ => {}
        }
    }
    with_codes(text, &out)
}

/// Words with runs made one where marks join them to a number or a code.
fn with_codes(text: &str, words: &[Word]) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(first) = words.get(at) {
        if is_surely_alone(first.slice_of(text)) {
            out.push(*first);
            at += 1;
            continue;
        }
        let mut last = at;
        while is_joined(text, words.get(last), words.get(last + 1)) {
            last += 1;
        }
        let end = words.get(last).map_or(first.end, |last| last.end);
        let mut word = Word { end, ..*first };
        let rest = text.get(end..).unwrap_or_default();
        if text.get(..end).is_some_and(ends_with_digit)
            && let Some(sign) = rest.chars().next().filter(|c| PERCENT.contains(c))
        {
            word.end += sign.len_utf8();
        }
        // Without a digit (`wi-fi`) each run is a word.
        if word.slice_of(text).bytes().any(|b| b.is_ascii_digit()) {
            out.push(word);
        } else {
            out.extend(words.get(at..=last).into_iter().flatten());
        }
        at = last + 1;
    }
    out
}

/// Whether a word is ideographs at both ends, as most words are: then no mark joins it to another one.
fn is_surely_alone(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(is_cjk) && chars.next_back().is_none_or(is_cjk)
}

fn ends_with_digit(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
}

/// Whether a mark joins two words to one number or code.
fn is_joined(text: &str, first: Option<&Word>, second: Option<&Word>) -> bool {
    let (Some(first), Some(second)) = (first, second) else {
        return false;
    };
    let (a, b) = (first.slice_of(text), second.slice_of(text));
    let mark = text.get(first.end..second.start).unwrap_or_default();
    let runs = !a.chars().any(is_cjk) && !b.chars().any(is_cjk);
    runs && match mark {
        "-" | "_" => true,
        "." | "," | "/" | ":" | "~" => {
            ends_with_digit(a) && b.starts_with(|c: char| c.is_ascii_digit())
        }
        // ℃ in normal form.
        "°" => ends_with_digit(a),
        _ => false,
    }
}
