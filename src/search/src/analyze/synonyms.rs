//! Words that mean the same. Each line has a group of words, separated by commas; with `a, b => c` a search for `a` or
//! `b` finds `c` as well, but not the other way; `#` begins a comment. [`Synonyms`] return what else to search for.
//! Never reads a file: whoever configures synonyms also opens them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::cut::{Word, is_cjk};
use super::normalize::normalize;
use serde::Serialize;
use utoipa::ToSchema;

/// Synonyms that are part of the program: name and text.
const BUILTIN: &[(&str, &str)] = &[("oil-gas", include_str!("../../../../index/synonyms.txt"))];

/// Longest word in characters: longer ones are sentences.
const MAX_WORD_CHARS: usize = 40;
/// Most words of one line: each of them is searched for with every other one.
const MAX_GROUP: usize = 12;
/// Most words of one file: they are held in memory.
const MAX_WORDS: usize = 50_000;
/// Most words that a text is searched for by a deterministic automaton.
const MAX_DFA_WORDS: usize = 1_000;
/// Words that a text may be cut into for one of these: `liquefied natural gas` has three.
const MAX_PARTS: usize = 5;
/// Most words searched for next to one: files add up.
const MAX_OTHERS: usize = 16;

/// Why a text has no synonyms in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SynonymsError {
    /// A line is not what it should be.
    #[error("synonyms {name}, line {line}: {problem}")]
    Line {
        /// File, or name of the built-in ones.
        name: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it, and how to mend it.
        problem: String,
    },
    /// No synonyms of that name are part of the program.
    #[error("no built-in synonyms named {0} (there are oil-gas; a file is named by its path)")]
    Unknown(String),
}

/// A word and what is searched for next to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Expanded {
    /// As it stands in the query, in normal form.
    pub typed: String,
    /// The other words, as the file writes them.
    pub also: Vec<String>,
}

/// What to look for next to each word.
#[derive(Debug, Clone, Default)]
pub struct Synonyms {
    /// By the word in normal form; in order, so that equal files make equal synonyms.
    others: BTreeMap<String, Vec<String>>,
    words: usize,
    /// Finds the words that are of scripts without spaces, from when texts are first cut; none where these are too many.
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Synonyms {
    /// Reads the text of a file.
    pub fn parse(name: &str, text: &str) -> Result<Self, SynonymsError> {
        let mut synonyms = Self::default();
        for (at, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let added = group(line).map(|(from, to)| synonyms.add(&from, &to));
            let full = || format!("more than {MAX_WORDS} words in one file; leave some out");
            let added = added.and_then(|()| {
                if synonyms.words <= MAX_WORDS {
                    Ok(())
                } else {
                    Err(full())
                }
            });
            added.map_err(|problem| SynonymsError::Line {
                name: name.to_owned(),
                line: at + 1,
                problem,
            })?;
        }
        Ok(synonyms)
    }

    /// Synonyms that are part of the program.
    pub fn builtin(name: &str) -> Result<Self, SynonymsError> {
        let known = BUILTIN.iter().find(|(known, _)| *known == name);
        let (name, text) = known.ok_or_else(|| SynonymsError::Unknown(name.to_owned()))?;
        Self::parse(name, text)
    }

    /// Those of several files together.
    pub fn merged(all: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self::default();
        for synonyms in all {
            merged.words += synonyms.words;
            for (word, others) in synonyms.others {
                merged.push(word, others);
            }
        }
        merged
    }

    /// Words that have synonyms.
    pub fn len(&self) -> usize {
        self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// All words, in normal form.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let others = self.others.values().flatten().map(|word| normal(word));
        self.others.keys().cloned().chain(others).collect()
    }

    /// The longest word with synonyms that begins with a word of a text: how many words of the text it has, and its
    /// synonyms.
    pub(crate) fn at<'s>(&'s self, text: &str, words: &[Word]) -> Option<(usize, &'s [String])> {
        let start = words.first()?.start;
        (1..=words.len().min(MAX_PARTS)).rev().find_map(|count| {
            let end = words.get(count - 1)?.end;
            let others = self.others.get(text.get(start..end)?)?;
            Some((count, others.as_slice()))
        })
    }

    /// The synonyms, of scripts without spaces, that a text in normal form holds only across the borders of its words.
    pub(super) fn across_words<'t>(&self, text: &'t str, words: &[Word]) -> BTreeSet<&'t str> {
        let finder = self.finder.get_or_init(|| {
            let words = self.words().into_iter();
            let words: Vec<String> = words.filter(|word| word.chars().all(is_cjk)).collect();
            // It takes a fifth of the time, and some 6 kB a word.
            let kind = (words.len() <= MAX_DFA_WORDS).then_some(AhoCorasickKind::DFA);
            AhoCorasick::builder().kind(kind).build(words).ok()
        });
        let (mut across, mut between) = (BTreeSet::new(), BTreeSet::new());
        let found = finder
            .iter()
            .flat_map(|finder| finder.find_overlapping_iter(text));
        for range in found.map(|found| found.range()) {
            let is_between = is_between_words(&range, words);
            let kept = if is_between {
                &mut between
            } else {
                &mut across
            };
            kept.extend(text.get(range));
        }
        &across - &between
    }

    fn add(&mut self, from: &[String], to: &[String]) {
        self.words += from.len() + to.len();
        for word in from {
            let normal = normal(word);
            let others = to.iter().filter(|other| self::normal(other) != normal);
            let others: Vec<String> = others.cloned().collect();
            self.push(normal, others);
        }
    }

    fn push(&mut self, word: String, others: Vec<String>) {
        let known = self.others.entry(word).or_default();
        for other in others {
            let new = known.iter().all(|known| normal(known) != normal(&other));
            if new && known.len() < MAX_OTHERS {
                known.push(other);
            }
        }
    }
}

/// Whether a part of a text begins and ends where words do, or lies within one word.
fn is_between_words(part: &Range<usize>, words: &[Word]) -> bool {
    let last = words.get(words.partition_point(|word| word.end < part.end));
    let first = words.get(words.partition_point(|word| word.start < part.start));
    last.is_some_and(|last| {
        let begins = first.is_some_and(|first| first.start == part.start);
        last.start <= part.start || (begins && last.end == part.end)
    })
}

/// The words of a line: who asks for one of the first finds the second as well.
fn group(line: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let words = |part: &str| -> Result<Vec<String>, String> {
        let all = part.split([',', '，', '、']).map(str::trim);
        all.map(|word| checked(word).map(|()| word.to_owned()))
            .collect()
    };
    let (from, to) = match line.split_once("=>") {
        Some((from, to)) => (words(from)?, words(to)?),
        None => {
            let all = words(line)?;
            if all.len() < 2 {
                return Err(format!(
                    "\"{line}\" stands alone; write at least two words with a comma between them, or word => other"
                ));
            }
            (all.clone(), all)
        }
    };
    match from.len().max(to.len()) {
        many if many > MAX_GROUP => Err(format!(
            "{many} words; a line has {MAX_GROUP} at most, write them on several lines"
        )),
        _ => Ok((from, to)),
    }
}

/// What is wrong with a word, if anything is.
fn checked(word: &str) -> Result<(), String> {
    let normal = normal(word);
    if word.is_empty() {
        return Err("a word is missing beside a comma or an arrow".to_owned());
    }
    if word.contains("=>") {
        return Err("a line has one arrow at most".to_owned());
    }
    if !normal.chars().any(char::is_alphanumeric) {
        return Err(format!("\"{word}\" has no letter and no digit"));
    }
    if normal.chars().count() < 2 {
        return Err(format!(
            "\"{word}\" is one character, which is part of very many words; write a word"
        ));
    }
    if normal.chars().count() > MAX_WORD_CHARS {
        return Err(format!("a word has {MAX_WORD_CHARS} characters at most"));
    }
    Ok(())
}

fn normal(word: &str) -> String {
    normalize(word).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_error_names_line() {
        for (text, line, said) in [
            ("CO2, 二氧化碳\n天然气", 2, "stands alone"),
            ("# 气\n\n气, 天然气", 3, "one character"),
            ("CO2, , 二氧化碳", 1, "a word is missing"),
            ("CO2 =>", 1, "a word is missing"),
            ("a1 => b1 => c1", 1, "one arrow"),
            ("a1,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2,b3,b4", 1, "13 words"),
            ("——, 二氧化碳", 1, "no letter"),
        ] {
            let error = Synonyms::parse("s.txt", text).unwrap_err().to_string();
            let place = format!("synonyms s.txt, line {line}: ");
            assert!(error.starts_with(&place) && error.contains(said), "{error}");
        }
        assert!(Synonyms::builtin("oil").is_err());
    }

    #[test]
    fn synonyms_files_add_up() {
        let one = Synonyms::parse("a", "LNG, 液化天然气").unwrap();
        let two = Synonyms::parse("b", "ＬＮＧ，液化氣").unwrap();
        let merged = Synonyms::merged([one, two]);
        assert_eq!(merged.others["lng"], ["液化天然气", "液化氣"]);
        let builtin = Synonyms::builtin("oil-gas").unwrap();
        assert!(builtin.len() > 300, "{}", builtin.len());
        assert_eq!(builtin.others["co2"], ["二氧化碳", "碳酸气"]);
    }
}
