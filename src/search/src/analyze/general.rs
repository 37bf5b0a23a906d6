//! The general dictionary without loading it: the words of jieba and the variants of `index/variants.txt` in normal
//! form, some 350,000, with their frequencies. Returns the frequency of a word, or a jieba with the words of one text
//! alone, which cuts it as the whole one would.
//!
//! jieba itself takes a tenth of a second to load, longer than a search. The table of its words (`build.rs` makes it
//! from its own dictionary) is a finite state transducer that lies in the program as it is used.

use std::collections::HashMap;
use std::sync::LazyLock;

use fst::raw::{Fst, Output};
use fst::{IntoStreamer, Map, Streamer};
use jieba_rs::Jieba;

use super::normalize::normalize;

/// Words of jieba in UTF-8 and their frequencies; the empty word has the sum of all.
static TABLE: LazyLock<Fst<&[u8]>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/general.fst"));
    Fst::new(bytes).expect("the table is part of the program")
});

/// The more frequent words of jieba, each behind its syllables and a zero byte, with its frequency.
static SOUNDS: LazyLock<Map<&[u8]>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sounds.fst"));
    Map::new(bytes).expect("the table is part of the program")
});

/// Words looked at for one beginning: those of two letters.
const MAX_LOOKED_AT: usize = 20_000;

/// The frequent words whose syllables are, or begin with, these letters; the most frequent first.
pub(super) fn words_by_sound(letters: &str, is_whole: bool) -> Vec<String> {
    let mut from = letters.to_owned();
    if is_whole {
        from.push('\0');
    }
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut keys = SOUNDS.range().ge(&from).into_stream();
    while let Some((key, frequency)) = keys.next() {
        if !key.starts_with(from.as_bytes()) || found.len() == MAX_LOOKED_AT {
            break;
        }
        let word = key.split(|byte| *byte == 0).next_back();
        let word = word.and_then(|word| std::str::from_utf8(word).ok());
        let normal = word.filter(|word| normalize(word) == *word);
        found.extend(normal.map(|word| (frequency, word.to_owned())));
    }
    most_frequent(found)
}

/// The words that begin with a text and are longer; the most frequent first.
pub(super) fn words_beginning(text: &str) -> Vec<String> {
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut words = TABLE.range().gt(text).into_stream();
    while let Some((word, frequency)) = words.next() {
        if !word.starts_with(text.as_bytes()) || found.len() == MAX_LOOKED_AT {
            break;
        }
        let word = std::str::from_utf8(word).ok();
        found.extend(word.map(|word| (frequency.value(), word.to_owned())));
    }
    most_frequent(found)
}

fn most_frequent(mut words: Vec<(u64, String)>) -> Vec<String> {
    words.sort_unstable_by(|a, b| b.cmp(a));
    words.into_iter().map(|(_, word)| word).collect()
}

/// Dictionary words whose normal form is another word: they are added in that form.
const VARIANTS: &str = include_str!("../../../../index/variants.txt");

/// Stands for all words that a text does not have. No token is this: characters that are neither Chinese nor ASCII
/// are tokens one by one.
const ALL_OTHERS: &str = "\u{E000}\u{E000}";

/// The general dictionary, without a lexicon.
pub(super) static GENERAL: LazyLock<Words> = LazyLock::new(|| {
    let jieba = Words {
        added: HashMap::new(),
        longest: 0,
        total: TABLE.get("").map_or(1, count),
    };
    jieba.with(&normal_variants())
});

/// The words that the general dictionary has beyond jieba's: variants whose normal form is another word.
pub(super) fn normal_variants() -> Vec<String> {
    let variants = VARIANTS
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    variants
        .filter(|variant| normalize(variant) != *variant)
        .map(|variant| normalize(variant).into_owned())
        .collect()
}

/// The words of jieba and words that were added to them, with their frequencies.
#[derive(Debug, Clone)]
pub(super) struct Words {
    added: HashMap<String, usize>,
    /// Bytes of the longest added word.
    longest: usize,
    total: usize,
}

impl Words {
    /// These words and others, added one after the other with the frequency at which jieba just keeps each whole.
    pub(super) fn with(&self, others: &[String]) -> Self {
        let mut all = self.clone();
        let mut jieba = self.jieba(others.iter().map(String::as_str));
        for word in others {
            let frequency = jieba.add_word(word, None, None);
            all.total = all.total + frequency - all.frequency(word).unwrap_or(0);
            all.longest = all.longest.max(word.len());
            all.added.insert(word.clone(), frequency);
        }
        all
    }

    /// A jieba that cuts these texts as one with all words does, and gives words the same frequencies when they are
    /// added to it. For the cut jieba compares products of (frequency of a word / sum of all frequencies) over the
    /// words that stand in the text: this one has all of those, and one more word that makes up the sum.
    pub(super) fn jieba<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Jieba {
        let mut jieba = Jieba::empty();
        let mut given = 0;
        for text in texts {
            for (at, _) in text.char_indices() {
                self.each_at(text.get(at..).unwrap_or_default(), |word, frequency| {
                    if !jieba.has_word(word) {
                        given += jieba.add_word(word, Some(frequency), None);
                    }
                });
            }
        }
        jieba.add_word(ALL_OTHERS, Some(self.total.saturating_sub(given)), None);
        jieba
    }

    /// Calls `each` with every word at the beginning of a text and its frequency; with an added one perhaps twice.
    fn each_at<'t>(&self, text: &'t str, mut each: impl FnMut(&'t str, usize)) {
        let mut node = TABLE.root();
        let mut sum = Output::zero();
        for (at, byte) in text.bytes().enumerate() {
            let Some(found) = node.find_input(byte) else {
                break;
            };
            let step = node.transition(found);
            sum = sum.cat(step.out);
            node = TABLE.node(step.addr);
            if let Some(word) = text.get(..=at).filter(|_| node.is_final()) {
                let frequency = count(sum.cat(node.final_output()));
                each(word, self.added.get(word).copied().unwrap_or(frequency));
            }
        }
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        for end in ends.take_while(|end| *end <= self.longest) {
            let word = text.get(..end).unwrap_or_default();
            if let Some(frequency) = self.added.get(word) {
                each(word, *frequency);
            }
        }
    }

    /// Whether this is a word.
    pub(super) fn has(&self, word: &str) -> bool {
        !word.is_empty() && (TABLE.contains_key(word) || self.added.contains_key(word))
    }

    /// How often a word occurs in the text that the frequencies were counted in.
    pub(super) fn frequency(&self, word: &str) -> Option<usize> {
        let added = self.added.get(word).copied();
        added.or_else(|| TABLE.get(word).filter(|_| !word.is_empty()).map(count))
    }

    /// Sum of all frequencies: the length of that text in words.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The words of jieba that occur more often than this among a million words.
    pub(super) fn commoner_than(&self, per_million: f64) -> foldhash::HashSet<String> {
        use fst::Streamer;
        let least = self.total as f64 * per_million / 1e6;
        let mut common = foldhash::HashSet::default();
        let mut words = TABLE.stream();
        while let Some((word, frequency)) = words.next() {
            if count(frequency) as f64 > least && !word.is_empty() {
                common.extend(std::str::from_utf8(word).map(str::to_owned));
            }
        }
        common
    }

    /// All words of jieba and the added ones.
    #[cfg(test)]
    pub(super) fn all(&self) -> std::collections::BTreeMap<String, usize> {
        let mut all = std::collections::BTreeMap::new();
        let mut words = TABLE.stream();
        while let Some((word, frequency)) = words.next() {
            let word = std::str::from_utf8(word).expect("words are UTF-8");
            all.insert(word.to_owned(), count(frequency));
        }
        all.remove("");
        all.extend(self.added.clone());
        all
    }
}

fn count(frequency: Output) -> usize {
    usize::try_from(frequency.value()).unwrap_or(usize::MAX)
}
