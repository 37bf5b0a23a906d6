//! Pinyin without tones, for the program and for its table of sounds (`build.rs`).

use pinyin::ToPinyin;

/// Syllables of a text without tones, other characters as they are: 页岩气 is `yeyanqi`.
pub(crate) fn syllables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.to_pinyin() {
            Some(syllable) => out.push_str(&syllable.plain().replace('ü', "v")),
            None => out.push(c),
        }
    }
    out
}
