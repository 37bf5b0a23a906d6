//! Derives patterns from a lexicon, as Wang Du et al. 2018 (§2.3.2) did from 30,882 terms of oil and gas: how long terms are, and which
//! sequences of parts of speech they have. The terms are cut and tagged by the general dictionary, as the texts are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::corpus::tag_of;
use super::patterns::{MAX_CHARS, MAX_WORDS, MIN_CHARS, Pattern, Patterns};
use crate::analyze::{Dictionary, Lexicon};

/// A sequence of fewer terms, or of a smaller share of them, may be a mistake of the tagger.
const MIN_TERMS: usize = 2;
const MIN_SHARE: f64 = 0.002;
/// Share of the terms that may be shorter than the shortest candidate, and as many longer than the longest.
const MAX_CUT_OFF: f64 = 0.01;
/// Largest weight of a sequence, either way: that of the built-in patterns.
const MAX_WEIGHT: f64 = 1.5;

/// Lengths and parts of speech of the terms of a lexicon.
#[derive(Debug, Clone, PartialEq)]
pub struct LexiconProfile {
    /// Terms that were looked at.
    pub terms: usize,
    /// Terms that fit no pattern: too short or long, or with a word that stands in no term.
    pub without_pattern: usize,
    /// Terms by their number of characters.
    pub chars: BTreeMap<usize, usize>,
    /// Terms by their number of words.
    pub words: BTreeMap<usize, usize>,
    /// Sequences of parts of speech, the most frequent first.
    pub sequences: Vec<PatternShare>,
}

/// A sequence of parts of speech.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternShare {
    /// The classes of its words.
    pub pattern: Pattern,
    /// Terms that have it.
    pub terms: usize,
    /// The first of them, with spaces between its words.
    pub example: String,
}

impl LexiconProfile {
    /// Looks at all terms of a lexicon.
    pub fn new(lexicon: &Lexicon) -> Self {
        let (general, builtin) = (Dictionary::new(&[]), Patterns::builtin());
        let mut profile = Self {
            terms: 0,
            without_pattern: 0,
            chars: BTreeMap::new(),
            words: BTreeMap::new(),
            sequences: Vec::new(),
        };
        let mut sequences: BTreeMap<Pattern, (usize, String)> = BTreeMap::new();
        for term in lexicon.terms() {
            let tagged = general.tagged(&term.text);
            let tagged: Vec<_> = tagged.filter(|word| word.text != " ").collect();
            let words: Vec<&str> = tagged.iter().map(|word| word.text).collect();
            let classes = tagged.iter().map(|word| builtin.class_of(tag_of(word)));
            let classes: Vec<u8> = classes.collect();
            let chars = term.text.chars().filter(|c| *c != ' ').count();
            profile.terms += 1;
            *profile.chars.entry(chars).or_default() += 1;
            *profile.words.entry(words.len()).or_default() += 1;
            let is_candidate = (MIN_CHARS as usize..=MAX_CHARS as usize).contains(&chars)
                && (1..=MAX_WORDS).contains(&words.len())
                && !classes.contains(&0);
            if !is_candidate {
                profile.without_pattern += 1;
                continue;
            }
            let pattern = classes.into_iter().fold(Pattern::default(), Pattern::with);
            let counted = sequences.entry(pattern).or_default();
            counted.0 += 1;
            if counted.0 == 1 {
                counted.1 = words.join(" ");
            }
        }
        let sequences = sequences.into_iter();
        let sequences = sequences.map(|(pattern, (terms, example))| PatternShare {
            pattern,
            terms,
            example,
        });
        profile.sequences = sequences.collect();
        profile
            .sequences
            .sort_by_key(|sequence| std::cmp::Reverse(sequence.terms));
        profile
    }

    /// Sequences that enough terms have.
    fn kept(&self) -> impl Iterator<Item = &PatternShare> {
        let sequences = self.sequences.iter();
        sequences.filter(|s| s.terms >= MIN_TERMS && share(s.terms, self.terms) >= MIN_SHARE)
    }

    /// The file of patterns, with shares as comments. `source` names the lexicon. `None` if no sequence is frequent enough.
    pub fn render(&self, source: &str) -> Option<String> {
        let kept: Vec<&PatternShare> = self.kept().collect();
        if kept.is_empty() {
            return None;
        }
        let source: String = source.chars().filter(|c| !c.is_control()).collect();
        let mut out = format!(
            "# Part-of-speech patterns of {} terms, derived by `taojin terms patterns {source}`.\n\
             # {} terms fit no pattern. The number behind a pattern is the logarithm of its share of the terms over the mean\n\
             # share of the patterns here, -{MAX_WEIGHT} to {MAX_WEIGHT}; behind # its share, and a term.\n\n",
            self.terms, self.without_pattern
        );
        for (key, lengths, bounds) in [
            (
                "chars",
                &self.chars,
                (MIN_CHARS as usize, MAX_CHARS as usize),
            ),
            ("words", &self.words, (1, MAX_WORDS)),
        ] {
            let shares = lengths.iter().map(|(length, terms)| {
                format!("{length}: {:.1} %", 100.0 * share(*terms, self.terms))
            });
            let shares: Vec<String> = shares.collect();
            let (from, to) = usual(lengths, self.terms, bounds);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# {}\n{key} = {from}-{to}", shares.join(", "));
        }
        out.push('\n');
        for (letter, tags) in Patterns::builtin().classes() {
            let _ = writeln!(out, "{letter} = {}", tags.join(" "));
        }
        out.push('\n');
        let mean = kept.iter().map(|s| share(s.terms, self.terms)).sum::<f64>() / kept.len() as f64;
        for sequence in kept {
            let share = share(sequence.terms, self.terms);
            let weight = (share / mean).ln().clamp(-MAX_WEIGHT, MAX_WEIGHT);
            let _ = writeln!(
                out,
                "{} {weight:.2} # {:.1} %: {}",
                sequence.pattern.name(),
                100.0 * share,
                sequence.example
            );
        }
        Some(out)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Shortest and longest of the lengths of so many terms, without the few that are cut off at each end.
fn usual(
    lengths: &BTreeMap<usize, usize>,
    terms: usize,
    (least, most): (usize, usize),
) -> (usize, usize) {
    let may_go = (terms as f64 * MAX_CUT_OFF) as usize;
    let end = |lengths: &mut dyn Iterator<Item = (&usize, &usize)>| {
        let mut gone = 0;
        for (length, terms) in lengths {
            gone += terms;
            if gone > may_go {
                return Some((*length).clamp(least, most));
            }
        }
        None
    };
    let from = end(&mut lengths.iter()).unwrap_or(least);
    let to = end(&mut lengths.iter().rev()).unwrap_or(most);
    (from, to)
}
