//! Bytes as a text of words: each byte chooses a piece from a list, so that random input reaches deep into a parser,
//! and small changes of the input are small changes of the text. The lists are in `tests/dictionaries`, in the form of
//! libFuzzer's dictionaries: one piece a line, in quotes, with `\xNN` for a byte.

use std::sync::LazyLock;

/// Pieces to choose from, read when they are first used.
pub(super) type Words = LazyLock<Vec<String>>;

/// Pieces of pages.
pub(super) static MARKUP: Words =
    Words::new(|| read(include_str!("../../dictionaries/markup.dict")));

/// The pieces in the text of a dictionary.
pub(super) fn read(dictionary: &str) -> Vec<String> {
    let lines = dictionary.lines().filter(|line| !line.starts_with('#'));
    lines.map(word).collect()
}

fn word(line: &str) -> String {
    let quoted = line.strip_prefix('"').and_then(|l| l.strip_suffix('"'));
    let mut rest = quoted.expect("a piece in quotes");
    let mut bytes = Vec::new();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let length = if escape.starts_with("\\x") { 4 } else { 2 };
        let (escape, after) = escape.split_at(length);
        bytes.push(match escape.strip_prefix("\\x") {
            Some(digits) => u8::from_str_radix(digits, 16).expect("two digits"),
            None => escape.as_bytes()[1],
        });
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).expect("UTF-8")
}

/// The text that `bytes` choose from `words`. A byte past the list stands for itself.
pub(super) fn spell(bytes: &[u8], words: &Words) -> Vec<u8> {
    let mut text = Vec::new();
    for &byte in bytes {
        match words.get(usize::from(byte)) {
            Some(word) => text.extend_from_slice(word.as_bytes()),
            None => text.push(byte),
        }
    }
    text
}

/// The same as text; what is not UTF-8 is replaced.
pub(super) fn spell_text(bytes: &[u8], words: &Words) -> String {
    String::from_utf8_lossy(&spell(bytes, words)).into_owned()
}

#[test]
fn dictionary_escapes_are_read() {
    let words = read("# About\n\"a\\x0d\\x0a\"\n\"\\\\ \\\"中\"\n");
    assert_eq!(words, ["a\r\n", "\\ \"中"]);
}
