//! Texts as numbers: their words, tagged, each sentence once, without boilerplate, and where each sentence came from.
//! Never keeps more than it was allowed to read.
//!
//! What is no prose (footers, licence words, source lines) is told by the words of `index/boilerplate.txt`; the extraction
//! has taken off what its place in the page gives away.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use xxhash_rust::xxh3::xxh3_64;

use super::Text;
use super::hash::Hash;
use super::patterns::{Class, Patterns};
use crate::analyze::{Dictionary, Tagged, is_stop_word, normalize, normalize_document};

/// Shorter sentences are captions and headings, which repeat without being copied.
const MIN_ONCE_CHARS: usize = 8;
/// Longest word in bytes that can be part of a term: longer ones are encoded data.
const MAX_WORD_BYTES: usize = 48;
/// Documents between two questions to the caller.
const ASK_EVERY: usize = 16;
/// Characters at the begin and at the end of a longer text where source lines and footers stand.
const EDGE_CHARS: (usize, usize) = (40, 60);
/// Texts shorter than this have no edges: their begin is their matter.
const EDGED_CHARS: usize = 400;

/// A different word.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: Box<str>,
    pub(super) hash: Hash,
    pub(super) chars: u32,
    /// How often it occurs.
    pub(super) count: u32,
    /// 0 for what stands in no term.
    pub(super) class: Class,
    /// A noun, an adjective or a verb that says what a text is about.
    pub(super) is_content: bool,
    /// Makes a name before it the source of the text, or one after it.
    pub(super) source: (bool, bool),
    /// Stands right before names of persons, or right after them.
    pub(super) person: (bool, bool),
    /// The dictionary takes it for a name of a person.
    pub(super) is_name: bool,
    /// Begins no term, or ends none: what does is a piece of a sentence.
    pub(super) piece: (bool, bool),
    /// A number or a word that counts: what follows begins with a measure word.
    pub(super) is_number: bool,
}

/// A place in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Index of the word.
    pub(super) word: u32,
    /// Stands where source lines and footers stand.
    pub(super) edge: bool,
}

/// Where a sentence came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence {
    /// Its first token.
    pub(super) token: u32,
    /// Index of the text.
    pub(super) text: u32,
    /// The bytes of the text that it is; `None` for the title.
    pub(super) place: Option<(u32, u32)>,
}

/// The texts.
#[derive(Debug)]
pub(super) struct Corpus {
    /// What its candidates look like.
    pub(super) patterns: Patterns,
    pub(super) words: Vec<Word>,
    pub(super) tokens: Vec<Token>,
    pub(super) sentences: Vec<Sentence>,
}

impl Corpus {
    /// The tokens of each sentence with the index of its text.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u32, usize, &[Token])> {
        let ends = self.sentences.iter().skip(1).map(|s| s.token as usize);
        let ends = ends.chain([self.tokens.len()]);
        self.sentences.iter().zip(ends).map(|(sentence, end)| {
            let start = sentence.token as usize;
            (
                sentence.text,
                start,
                self.tokens.get(start..end).unwrap_or_default(),
            )
        })
    }

    /// The sentence of a token.
    pub(super) fn sentence_of(&self, token: u32) -> Option<Sentence> {
        let after = self.sentences.partition_point(|s| s.token <= token);
        self.sentences.get(after.checked_sub(1)?).copied()
    }

    pub(super) fn word(&self, token: Token) -> &Word {
        let word = self.words.get(token.word as usize);
        word.expect("every token names a word of the same corpus")
    }
}

/// Reads texts until `max_chars` characters; none if `go_on` says no.
pub(super) fn read(
    texts: &[Text],
    dictionary: &Dictionary,
    patterns: &Patterns,
    max_chars: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Corpus> {
    let mut reading = Reading {
        corpus: Corpus {
            patterns: patterns.clone(),
            words: Vec::new(),
            tokens: Vec::new(),
            sentences: Vec::new(),
        },
        ids: HashMap::new(),
        seen: HashSet::new(),
        letters: Vec::new(),
        dictionary,
    };
    let mut left = max_chars;
    for (index, text) in (0u32..).zip(texts) {
        if (index as usize).is_multiple_of(ASK_EVERY) && !go_on() {
            return None;
        }
        let chars = text.text.chars().count();
        reading.sentence(index, None, &text.title, false);
        let mut at = 0;
        for range in sentences(&text.text) {
            let part = text.text.get(range.clone()).unwrap_or_default();
            let here = part.chars().count();
            let (begin, end) = EDGE_CHARS;
            let edge = chars >= EDGED_CHARS && (at + here <= begin || at + end >= chars);
            reading.sentence(index, Some(range), part, edge);
            at += here;
        }
        left = left.saturating_sub(chars);
        if left == 0 {
            break;
        }
    }
    Some(reading.corpus)
}

struct Reading<'d> {
    corpus: Corpus,
    ids: HashMap<Box<str>, u32>,
    seen: HashSet<u64>,
    /// The sentence without its digits.
    letters: Vec<u8>,
    dictionary: &'d Dictionary,
}

impl Reading<'_> {
    /// Reads a sentence of a text: the bytes of this range, or the title.
    fn sentence(&mut self, text: u32, range: Option<Range<usize>>, part: &str, edge: bool) {
        let normal = normalize_document(part);
        let normal = prose(normal.trim());
        if normal.is_empty() || !self.is_new(normal) {
            return;
        }
        // Positions are 32 bits; a collection that large is cut off long before.
        let Ok(token) = u32::try_from(self.corpus.tokens.len()) else {
            return;
        };
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.corpus.sentences.push(Sentence {
            token,
            text,
            place: range.map(|range| (byte(range.start), byte(range.end))),
        });
        for tagged in self.dictionary.tagged(normal) {
            if tagged.text == " " {
                continue;
            }
            let word = self.word(&tagged);
            self.corpus.tokens.push(Token { word, edge });
        }
    }

    /// Whether the sentence was not read before: footers and reprints count once. Digits are not looked at.
    fn is_new(&mut self, normal: &str) -> bool {
        self.letters.clear();
        let letters = normal.bytes().filter(|byte| !byte.is_ascii_digit());
        self.letters.extend(letters);
        // Each character has one byte that continues none.
        let chars = self.letters.iter().filter(|byte| **byte & 0xC0 != 0x80);
        let chars = chars.take(MIN_ONCE_CHARS).count();
        chars < MIN_ONCE_CHARS || self.seen.insert(xxh3_64(&self.letters))
    }

    /// The index of a word. Its part of speech is that of the dictionary, so that all that is known of it is known of
    /// all its places.
    fn word(&mut self, tagged: &Tagged<'_>) -> u32 {
        let text = tagged.text;
        if let Some(&id) = self.ids.get(text) {
            if let Some(word) = self.corpus.words.get_mut(id as usize) {
                word.count += 1;
            }
            return id;
        }
        let tag = tag_of(tagged);
        let fits = text.len() <= MAX_WORD_BYTES
            && text.chars().any(char::is_alphabetic)
            && !is_function_word(text);
        let class = self.corpus.patterns.class_of(tag);
        // There are fewer words than tokens, which are counted in 32 bits.
        let id = u32::try_from(self.corpus.words.len()).unwrap_or(u32::MAX);
        let pieces = &LISTS.words.pieces;
        self.corpus.words.push(Word {
            text: text.into(),
            hash: Hash::new(text),
            chars: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            count: 1,
            class: if fits { class } else { 0 },
            is_content: fits && tag.starts_with(['n', 'a', 'v']),
            source: (names_source_before(text), names_source_after(text)),
            person: (is_title(text), follows_person(text)),
            is_name: tag.starts_with("nr"),
            piece: (pieces.0.contains(text), pieces.1.contains(text)),
            is_number: tag == "m" && ends_in_numeral(text),
        });
        self.ids.insert(text.into(), id);
        id
    }
}

/// The part of speech of a word, with Latin words and numbers told by their letters.
pub(super) fn tag_of<'t>(word: &Tagged<'t>) -> &'t str {
    let is_ascii = word.text.is_ascii() && word.text.chars().all(char::is_alphanumeric);
    match (is_ascii, word.text.chars().any(char::is_alphabetic)) {
        (true, true) => "eng",
        (true, false) => "m",
        _ => word.tag,
    }
}

static LISTS: LazyLock<Lists> =
    LazyLock::new(|| Lists::parse(include_str!("../../../../index/boilerplate.txt")));

/// The groups of the file. What is searched for anywhere in a text is one automaton.
#[derive(Debug)]
struct Lists {
    rest: AhoCorasick,
    part: AhoCorasick,
    words: WordLists,
}

/// The groups whose words are compared whole, or at an end.
#[derive(Debug, Default)]
struct WordLists {
    whole: HashSet<String>,
    before: HashSet<String>,
    after: HashSet<String>,
    titles: Vec<String>,
    honorifics: Vec<String>,
    says: HashSet<String>,
    does: HashSet<String>,
    surnames: HashSet<String>,
    labels: Vec<String>,
    /// What no candidate begins with, and what none ends with.
    pieces: (HashSet<String>, HashSet<String>),
}

impl Lists {
    fn parse(text: &str) -> Self {
        let (mut rest, mut part) = (Vec::new(), Vec::new());
        let mut lists = WordLists::default();
        let mut group = "";
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            if line.starts_with('[') {
                group = line;
                continue;
            }
            for word in line.split_whitespace() {
                let word = normalize(word).into_owned();
                match group {
                    "[rest]" => rest.push(word),
                    "[part]" => part.push(word),
                    "[whole]" => drop(lists.whole.insert(word)),
                    "[before]" => drop(lists.before.insert(word)),
                    "[after]" => drop(lists.after.insert(word)),
                    "[titles]" => lists.titles.push(word),
                    "[honorifics]" => lists.honorifics.push(word),
                    "[says]" => drop(lists.says.insert(word)),
                    "[does]" => drop(lists.does.insert(word)),
                    "[surnames]" => drop(lists.surnames.insert(word)),
                    "[labels]" => lists.labels.push(word),
                    "[begins]" => drop(lists.pieces.0.insert(word)),
                    "[ends]" => drop(lists.pieces.1.insert(word)),
                    other => unreachable!("{other} is no group of index/boilerplate.txt"),
                }
            }
        }
        Self {
            rest: automaton(&rest),
            part: automaton(&part),
            words: lists,
        }
    }
}

/// Finds the first of these words in a text. The lists are a few hundred words: a whole table is small and fastest.
fn automaton(words: &[String]) -> AhoCorasick {
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(AhoCorasickKind::DFA));
    builder.match_kind(MatchKind::LeftmostFirst);
    builder
        .build(words)
        .expect("the lists are part of the program")
}

/// The sentence up to the first word after which only boilerplate comes (`责任编辑:`).
pub(super) fn prose(sentence: &str) -> &str {
    let found = LISTS.rest.find(sentence);
    found.map_or(sentence, |word| {
        sentence.get(..word.start()).unwrap_or(sentence)
    })
}

/// Whether a candidate (in normal form) is boilerplate whatever surrounds it.
pub(super) fn is_boilerplate(term: &str) -> bool {
    LISTS.words.whole.contains(term) || LISTS.part.is_match(term)
}

/// Whether a word right before a name makes it the source of a text (`来源`).
pub(super) fn names_source_after(word: &str) -> bool {
    LISTS.words.before.contains(word)
}

/// Whether a word right after a name makes it the source of a text (`讯`, `记者`).
pub(super) fn names_source_before(word: &str) -> bool {
    LISTS.words.after.contains(word)
}

/// Whether a word of numbers has no measure word of its own (`一个`) and is no place in an order.
fn ends_in_numeral(word: &str) -> bool {
    let numerals =
        |c: char| c.is_ascii_digit() || "〇零一二两三四五六七八九十百千万亿几数多余半".contains(c);
    word.ends_with(numerals) && !word.starts_with('第')
}

/// Whether a word only builds sentences, or says that somebody speaks. Single characters may be parts of terms (`无 线`).
fn is_function_word(word: &str) -> bool {
    let is_long = word.chars().nth(1).is_some();
    (is_long && is_stop_word(word)) || LISTS.words.says.contains(word)
}

/// Whether a word stands before names of persons (`董事长`, `美国总统`).
pub(super) fn is_title(word: &str) -> bool {
    LISTS
        .words
        .titles
        .iter()
        .any(|title| word.ends_with(title.as_str()))
}

/// Whether a word stands after names of persons (`先生`, `表示`, `即位`).
fn follows_person(word: &str) -> bool {
    LISTS.words.says.contains(word)
        || LISTS.words.does.contains(word)
        || LISTS.words.honorifics.iter().any(|title| word == title)
}

/// Whether a candidate is how somebody is addressed (`李女士`).
pub(super) fn is_address(term: &str) -> bool {
    LISTS
        .words
        .honorifics
        .iter()
        .any(|title| term.ends_with(title.as_str()))
}

/// Whether a candidate may name a line (`报名电话`).
pub(super) fn may_be_label(term: &str) -> bool {
    LISTS
        .words
        .labels
        .iter()
        .any(|label| term.ends_with(label.as_str()))
}

/// What stands behind the surname of two characters or more that a word begins with.
pub(super) fn given_name(word: &str) -> Option<&str> {
    let ends = word.char_indices().map(|(at, _)| at).skip(2).take(2);
    let ends = ends.chain([word.len()]);
    let mut cuts = ends.filter_map(|end| word.split_at_checked(end));
    cuts.find_map(|(surname, given)| LISTS.words.surnames.contains(surname).then_some(given))
}

/// Longest sentence in characters: what goes on without an end is a table or data.
const MAX_CHARS: usize = 600;

/// The byte ranges of the sentences of a text, ends included.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut chars) = (0, 0);
    let mut all = text.char_indices().peekable();
    while let Some((at, c)) = all.next() {
        chars += 1;
        let end = at + c.len_utf8();
        // A full stop inside a number or an address ends nothing.
        let spaced = all.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = matches!(c, '。' | '！' | '？' | '!' | '?' | '；' | ';' | '\n' | '\r')
            || (c == '.' && spaced)
            || chars == MAX_CHARS;
        if ends {
            out.push(start..end);
            (start, chars) = (end, 0);
        }
    }
    if start < text.len() {
        out.push(start..text.len());
    }
    out
}
