//! What is no prose: footers, licence words, source lines. In: a sentence or a word in normal form. Out: where prose
//! ends, and whether a candidate is such a word. The words are data: `index/boilerplate.txt`. Never looks at a page:
//! the extraction has taken off what its place in the page gives away.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::analyze::normalize;

static LISTS: LazyLock<Lists> =
    LazyLock::new(|| Lists::parse(include_str!("../../../../index/boilerplate.txt")));

/// The groups of the file.
#[derive(Debug, Default)]
struct Lists {
    rest: Vec<String>,
    part: Vec<String>,
    whole: HashSet<String>,
    before: HashSet<String>,
    after: HashSet<String>,
}

impl Lists {
    fn parse(text: &str) -> Self {
        let mut lists = Self::default();
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
                    "[rest]" => lists.rest.push(word),
                    "[part]" => lists.part.push(word),
                    "[whole]" => drop(lists.whole.insert(word)),
                    "[before]" => drop(lists.before.insert(word)),
                    "[after]" => drop(lists.after.insert(word)),
                    other => unreachable!("{other} is no group of index/boilerplate.txt"),
                }
            }
        }
        lists
    }
}

/// The sentence up to the first word after which only boilerplate comes (`责任编辑:`).
pub(super) fn prose(sentence: &str) -> &str {
    let ends = LISTS
        .rest
        .iter()
        .filter_map(|word| sentence.find(word.as_str()));
    let end = ends.min().unwrap_or(sentence.len());
    sentence.get(..end).unwrap_or(sentence)
}

/// Whether a candidate (in normal form) is boilerplate whatever surrounds it.
pub(super) fn is_boilerplate(term: &str) -> bool {
    LISTS.whole.contains(term) || LISTS.part.iter().any(|part| term.contains(part.as_str()))
}

/// Whether a word right before a name makes it the source of a text (`来源`).
pub(super) fn names_source_after(word: &str) -> bool {
    LISTS.before.contains(word)
}

/// Whether a word right after a name makes it the source of a text (`讯`, `记者`).
pub(super) fn names_source_before(word: &str) -> bool {
    LISTS.after.contains(word)
}
