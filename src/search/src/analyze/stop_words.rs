//! Function words: they are indexed and ranked like others, but are neither demanded nor marked. Out: whether a
//! word in normal form is one. Never changes what is found.

use std::collections::HashSet;
use std::sync::LazyLock;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../../../index/stop-words.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// Whether a word (in normal form) says how a sentence is built and not what it is about.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}
