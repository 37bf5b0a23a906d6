//! The general dictionary: some 350,000 Chinese words with their frequencies, those of jieba and the variants of
//! `index/variants.txt` in normal form. In: a word, or a text to find the words at its beginning. Out: frequencies.
//! It is a finite state transducer that lies in the program as it is used, so that nothing is read, unpacked or built
//! at the start: a search from the command line would wait a tenth of a second for that.
//! `cargo run --example make_tables` makes it.

use std::sync::LazyLock;

use fst::raw::{Fst, Output};

/// Words in UTF-8 and their frequencies; the empty word has the sum of all.
static WORDS: LazyLock<Fst<&[u8]>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!("../../index/general.fst");
    Fst::new(bytes).expect("the dictionary is part of the program")
});

/// How often a word (in normal form) occurs in the text that the frequencies were counted in.
pub(super) fn frequency(word: &str) -> Option<u64> {
    WORDS
        .get(word)
        .filter(|_| !word.is_empty())
        .map(Output::value)
}

/// Sum of all frequencies: the length of that text in words.
pub(super) fn total() -> u64 {
    WORDS.get("").map_or(1, Output::value)
}

/// Calls `each` with every word and its frequency.
#[cfg(test)]
pub(super) fn for_each(mut each: impl FnMut(&str, u64)) {
    use fst::Streamer;
    let mut words = WORDS.stream();
    while let Some((word, frequency)) = words.next() {
        let word = std::str::from_utf8(word).expect("words are UTF-8");
        if !word.is_empty() {
            each(word, frequency.value());
        }
    }
}

/// Calls `each` with the length in bytes and the frequency of every word at the beginning of a text, shortest first.
pub(super) fn words_at(text: &str, mut each: impl FnMut(usize, u64)) {
    let mut node = WORDS.root();
    let mut sum = Output::zero();
    for (at, byte) in text.bytes().enumerate() {
        let Some(found) = node.find_input(byte) else {
            return;
        };
        let step = node.transition(found);
        sum = sum.cat(step.out);
        node = WORDS.node(step.addr);
        if node.is_final() {
            each(at + 1, sum.cat(node.final_output()).value());
        }
    }
}
