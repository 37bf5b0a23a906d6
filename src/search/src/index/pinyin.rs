//! How Chinese text is typed. In: text in normal form. Out: its syllables and their first letters. A character
//! with several readings has its most common one. Never guesses a reading from the context.

use pinyin::ToPinyin;

/// Syllables of a text without tones, other characters as they are: 页岩气 is `yeyanqi`.
pub(super) fn syllables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.to_pinyin() {
            Some(syllable) => out.push_str(&syllable.plain().replace('ü', "v")),
            None => out.push(c),
        }
    }
    out
}

/// First letter of a character's syllable, or the character itself.
pub(super) fn initial(c: char) -> char {
    let syllable = c.to_pinyin().map(|syllable| syllable.plain());
    syllable.and_then(|s| s.chars().next()).unwrap_or(c)
}

/// Whether two texts of Chinese characters are typed alike.
pub(super) fn sound_alike(a: &str, b: &str) -> bool {
    a.chars().count() == b.chars().count()
        && a.chars().zip(b.chars()).all(|(a, b)| {
            a == b
                || match (a.to_pinyin(), b.to_pinyin()) {
                    (Some(a), Some(b)) => a.plain() == b.plain(),
                    _ => false,
                }
        })
}

/// Whether what was typed is the begin of a word, each of its characters typed as itself or as its first letter
/// (`页岩q`), or the whole by its syllables (`yeyanq`).
pub(super) fn begins(word: &str, syllables: &str, typed: &str) -> bool {
    let mut rest = word.chars();
    let by_character = typed
        .chars()
        .all(|t| rest.next().is_some_and(|c| c == t || initial(c) == t));
    by_character || (typed.is_ascii() && syllables.starts_with(typed))
}
