//! Texts as numbers: their words, tagged, each sentence once, without boilerplate, and where each sentence came from.
//! Never keeps more than it was allowed to read.
//!
//! What is no prose (footers, licence words, source lines) is told by the words of `index/boilerplate.txt`; the extraction
//! has taken off what its place in the page gives away.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Text;
use super::hash::Hash;
use super::patterns::{Class, Patterns};
use crate::analyze::{Dictionary, Tagged, is_stop_word, normalize, normalize_document};

/// Shorter sentences are captions and headings, which repeat without being copied.
const MIN_ONCE_CHARS: usize = 8;
/// Longest word in bytes that can be part of a term: longer ones are encoded data.
const MAX_WORD_BYTES: usize = 48;
/// Characters at the begin and at the end of a longer text where source lines and footers stand.
const EDGE_CHARS: (usize, usize) = (40, 60);
/// Texts shorter than this have no edges: their begin is their matter.
const EDGED_CHARS: usize = 400;

/// Which text, and in which version: what changed is another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextKey {
    /// Which one.
    pub id: u64,
    /// The number of its last change.
    pub version: u64,
}

/// A different word.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: Box<str>,
    /// Its part of speech.
    tag: Box<str>,
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
    /// Begins no term, or ends none: what does is a piece of a sentence.
    pub(super) piece: (bool, bool),
    /// A number or a word that counts: what follows begins with a measure word.
    pub(super) is_number: bool,
}

impl Word {
    fn new(text: Box<str>, tag: Box<str>, patterns: &Patterns) -> Self {
        let fits = text.len() <= MAX_WORD_BYTES
            && text.chars().any(char::is_alphabetic)
            && !is_function_word(&text);
        let pieces = &LISTS.words.pieces;
        Self {
            hash: Hash::new(&text),
            chars: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
            count: 0,
            class: if fits { patterns.class_of(&tag) } else { 0 },
            is_content: fits && tag.starts_with(['n', 'a', 'v']),
            source: (names_source_before(&text), names_source_after(&text)),
            person: (is_title(&text), follows_person(&text)),
            piece: (pieces.0.contains(&*text), pieces.1.contains(&*text)),
            is_number: &*tag == "m" && ends_in_numeral(&text),
            text,
            tag,
        }
    }

    /// Whether the dictionary takes it for a name of a person.
    pub(super) fn is_name(&self) -> bool {
        self.tag.starts_with("nr")
    }
}

/// A place in a sentence.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Token {
    /// Index of the word.
    pub(super) word: u32,
    /// Stands where source lines and footers stand.
    pub(super) edge: bool,
}

/// Where a sentence came from.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Sentence {
    /// Its first token.
    pub(super) token: u32,
    /// Index of the text.
    pub(super) text: u32,
    /// The bytes of the text that it is; `None` for the title.
    pub(super) place: Option<(u32, u32)>,
    /// The hash of its letters; `None` if it is too short to be known again.
    letters: Option<u64>,
}

/// A text that was read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ReadText {
    key: TextKey,
    chars: u32,
}

/// What a file keeps of a [`Corpus`]. All else follows from it.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Text and part of speech.
    words: Vec<(Box<str>, Box<str>)>,
    tokens: Vec<Token>,
    sentences: Vec<Sentence>,
    texts: Vec<ReadText>,
}

/// Texts cut into words, from which [`Corpus::discover`] finds terms. It can be kept as bytes, so that the next search
/// for terms cuts only what is new.
#[derive(Debug)]
pub struct Corpus {
    /// What its candidates look like.
    patterns: Patterns,
    words: Vec<Word>,
    tokens: Vec<Token>,
    sentences: Vec<Sentence>,
    texts: Vec<ReadText>,
    ids: HashMap<Box<str>, u32>,
    /// Hashes of the sentences.
    seen: HashSet<u64>,
    /// A sentence without its digits, while it is read.
    letters: Vec<u8>,
}

impl Corpus {
    /// Without texts.
    pub fn new(patterns: Patterns) -> Self {
        Self {
            patterns,
            words: Vec::new(),
            tokens: Vec::new(),
            sentences: Vec::new(),
            texts: Vec::new(),
            ids: HashMap::new(),
            seen: HashSet::new(),
            letters: Vec::new(),
        }
    }

    /// Reads one more text, cut by this dictionary, and returns its number of characters.
    pub fn read(&mut self, key: TextKey, text: &Text, dictionary: &Dictionary) -> usize {
        let index = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let chars = text.text.chars().count();
        self.texts.push(ReadText {
            key,
            chars: u32::try_from(chars).unwrap_or(u32::MAX),
        });
        self.read_sentence((index, None), &text.title, false, dictionary);
        let mut at = 0;
        for range in sentences(&text.text) {
            let part = text.text.get(range.clone()).unwrap_or_default();
            let here = part.chars().count();
            let (begin, end) = EDGE_CHARS;
            let edge = chars >= EDGED_CHARS && (at + here <= begin || at + end >= chars);
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let place = Some((byte(range.start), byte(range.end)));
            self.read_sentence((index, place), part, edge, dictionary);
            at += here;
        }
        chars
    }

    /// The texts, in the order in which they were read.
    pub fn keys(&self) -> impl Iterator<Item = TextKey> {
        self.texts.iter().map(|text| text.key)
    }

    /// Keeps the current texts, and of these the last ones up to so many characters.
    pub fn retain(&mut self, max_chars: usize, is_current: impl Fn(TextKey) -> bool) {
        let mut left = max_chars;
        let mut is_kept = vec![false; self.texts.len()];
        for (kept, text) in is_kept.iter_mut().zip(&self.texts).rev() {
            if is_current(text.key) {
                let Some(rest) = left.checked_sub(text.chars as usize) else {
                    break;
                };
                (left, *kept) = (rest, true);
            }
        }
        if is_kept.iter().all(|kept| *kept) {
            return;
        }
        let mut new = Self::new(std::mem::replace(&mut self.patterns, Patterns::any()));
        let mut index_of = vec![None; self.texts.len()];
        for ((index, kept), text) in index_of.iter_mut().zip(is_kept).zip(&self.texts) {
            if kept {
                *index = u32::try_from(new.texts.len()).ok();
                new.texts.push(*text);
            }
        }
        let old = std::mem::replace(self, new);
        let mut word_of = vec![None; old.words.len()];
        for (sentence, (_, _, tokens)) in old.sentences.iter().zip(old.runs()) {
            let Some(text) = index_of.get(sentence.text as usize).copied().flatten() else {
                continue;
            };
            self.begin_sentence((text, sentence.place), sentence.letters);
            for token in tokens {
                let word = old.word(*token);
                let Some(known) = word_of.get_mut(token.word as usize) else {
                    continue;
                };
                let id = *known.get_or_insert_with(|| self.word_id(&word.text, &word.tag));
                self.push_token(id, token.edge);
            }
        }
    }

    /// As bytes for [`Corpus::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.words.iter().map(|w| (w.text.clone(), w.tag.clone()));
        let kept = Kept {
            words: words.collect(),
            tokens: self.tokens.clone(),
            sentences: self.sentences.clone(),
            texts: self.texts.clone(),
        };
        postcard::to_stdvec(&kept).expect("numbers and texts can be written into memory")
    }

    /// What [`Corpus::to_bytes`] wrote; `None` if these bytes are not that.
    pub fn from_bytes(bytes: &[u8], patterns: Patterns) -> Option<Self> {
        let kept: Kept = postcard::from_bytes(bytes).ok()?;
        let mut corpus = Self::new(patterns);
        for (text, tag) in &kept.words {
            corpus.word_id(text, tag);
        }
        let is_whole = corpus.words.len() == kept.words.len()
            && kept
                .sentences
                .first()
                .is_none_or(|sentence| sentence.token == 0)
            && kept.sentences.is_sorted_by_key(|sentence| sentence.token)
            && kept
                .sentences
                .iter()
                .all(|s| (s.text as usize) < kept.texts.len())
            && u32::try_from(kept.tokens.len()).is_ok();
        if !is_whole {
            return None;
        }
        for token in &kept.tokens {
            corpus.words.get_mut(token.word as usize)?.count += 1;
        }
        corpus.seen = kept.sentences.iter().filter_map(|s| s.letters).collect();
        (corpus.tokens, corpus.sentences, corpus.texts) = (kept.tokens, kept.sentences, kept.texts);
        Some(corpus)
    }

    /// What its candidates look like.
    pub(super) fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// The different words.
    pub(super) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Number of tokens.
    pub(super) fn size(&self) -> usize {
        self.tokens.len()
    }

    /// So many tokens from one on.
    pub(super) fn tokens(&self, first: u32, count: u8) -> &[Token] {
        let first = first as usize;
        let tokens = self.tokens.get(first..first + usize::from(count));
        tokens.unwrap_or_default()
    }

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

    /// The sentence of a token, and its text.
    pub(super) fn sentence_of(&self, token: u32) -> Option<(Sentence, TextKey)> {
        let after = self.sentences.partition_point(|s| s.token <= token);
        let sentence = self.sentences.get(after.checked_sub(1)?).copied()?;
        Some((sentence, self.texts.get(sentence.text as usize)?.key))
    }

    pub(super) fn word(&self, token: Token) -> &Word {
        let word = self.words.get(token.word as usize);
        word.expect("every token names a word of the same corpus")
    }

    /// Reads a sentence of a text, which stands at these bytes of it.
    fn read_sentence(
        &mut self,
        at: (u32, Option<(u32, u32)>),
        part: &str,
        edge: bool,
        dictionary: &Dictionary,
    ) {
        let normal = normalize_document(part);
        let normal = prose(normal.trim());
        let letters = self.hash_letters(normal);
        // Footers and reprints count once.
        let is_new = letters.is_none_or(|letters| !self.seen.contains(&letters));
        if normal.is_empty() || !is_new || !self.begin_sentence(at, letters) {
            return;
        }
        for tagged in dictionary.tagged(normal) {
            if tagged.text != " " {
                let word = self.word_id(tagged.text, tag_of(&tagged));
                self.push_token(word, edge);
            }
        }
    }

    /// Whether there is room: positions are 32 bits, and a collection that large is cut off long before.
    fn begin_sentence(
        &mut self,
        (text, place): (u32, Option<(u32, u32)>),
        letters: Option<u64>,
    ) -> bool {
        let Ok(token) = u32::try_from(self.tokens.len()) else {
            return false;
        };
        self.seen.extend(letters);
        self.sentences.push(Sentence {
            token,
            text,
            place,
            letters,
        });
        true
    }

    /// By what a sentence is known again, whatever its digits; `None` for a short one.
    fn hash_letters(&mut self, normal: &str) -> Option<u64> {
        self.letters.clear();
        let letters = normal.bytes().filter(|byte| !byte.is_ascii_digit());
        self.letters.extend(letters);
        // Each character has one byte that continues none.
        let chars = self.letters.iter().filter(|byte| **byte & 0xC0 != 0x80);
        (chars.take(MIN_ONCE_CHARS).count() == MIN_ONCE_CHARS).then(|| xxh3_64(&self.letters))
    }

    /// The index of a word. Its part of speech is that of the dictionary, so that all that is known of it is known of
    /// all its places.
    fn word_id(&mut self, text: &str, tag: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        // There are fewer words than tokens, which are counted in 32 bits.
        let id = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words
            .push(Word::new(text.into(), tag.into(), &self.patterns));
        self.ids.insert(text.into(), id);
        id
    }

    fn push_token(&mut self, word: u32, edge: bool) {
        if let Some(word) = self.words.get_mut(word as usize) {
            word.count += 1;
        }
        self.tokens.push(Token { word, edge });
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
