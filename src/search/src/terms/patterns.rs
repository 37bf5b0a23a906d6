//! Part-of-speech patterns: maps ICTCLAS tags to classes of words, and rates how much the pattern of a run of them
//! speaks for a term. The patterns are data: `index/term-patterns.txt`, or a file that [`LexiconProfile`] derived from a
//! lexicon.
//!
//! [`LexiconProfile`]: super::LexiconProfile

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _};
use serde::{Deserialize, Serialize};

/// Words of the longest pattern.
pub(super) const MAX_WORDS: usize = 5;
/// Longest candidate in characters.
pub(super) const MAX_CHARS: u32 = 16;
/// Characters of the shortest one: a single character is hardly ever a term, and never needs a lexicon.
pub(super) const MIN_CHARS: u32 = 2;
/// Bits of one class in a pattern.
const CLASS_BITS: u32 = 5;
/// Most patterns of a file: a lexicon of 30,000 terms has some hundred.
const MAX_PATTERNS: usize = 10_000;
/// Largest weight of a pattern, either way: beyond it, no other measure would count.
const MAX_WEIGHT: f64 = 10.0;

static BUILTIN: LazyLock<Patterns> = LazyLock::new(|| {
    let patterns = Patterns::parse(include_str!("../../../../index/term-patterns.txt"));
    patterns.expect("index/term-patterns.txt has patterns")
});

/// Class of a word; 0 for one that stands in no term.
pub(super) type Class = u8;

/// The class of all words where no pattern is required.
const ANY_CLASS: Class = 24;

/// A sequence of classes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Pattern(u32);

impl Pattern {
    /// The pattern with one more word.
    pub(super) fn with(self, class: Class) -> Self {
        Self((self.0 << CLASS_BITS) | u32::from(class))
    }

    /// Its classes as the file writes them, for example `NVN`.
    pub fn name(self) -> String {
        let classes = (0..MAX_WORDS as u32).rev();
        let letters = classes
            .map(|i| (self.0 >> (i * CLASS_BITS)) & ((1 << CLASS_BITS) - 1))
            .filter(|class| *class > 0);
        letters
            .filter_map(|class| char::from_u32(class + u32::from('A') - 1))
            .collect()
    }
}

/// A pattern, and how much it speaks for a term.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RatedPattern {
    /// The classes of the words.
    pub pattern: Pattern,
    /// In units of log-odds beside the other measures.
    pub weight: f64,
}

/// What runs of words may be terms: by parts of speech, and by length.
#[derive(Debug, Clone, PartialEq)]
pub struct Patterns {
    classes: HashMap<String, Class>,
    weights: HashMap<Pattern, f64>,
    /// Whether all runs fit, whatever their parts of speech.
    is_any: bool,
    chars: RangeInclusive<u32>,
    words: RangeInclusive<usize>,
}

/// Why a text is no file of patterns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternsError {
    /// A line is none of those that such a file has.
    #[error("line {line}: {problem}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// Without patterns nothing could be found.
    #[error("it has no pattern, a line such as `NN 0.5`")]
    Empty,
}

/// What is wrong with a line of a file of patterns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Neither a class nor a length nor a pattern.
    #[error("neither a class (`N = n nz`) nor a length (`chars = 2-8`) nor a pattern (`NN 0.5`)")]
    Form,
    /// A length that no candidate can have.
    #[error(
        "a length is two numbers such as `2-5`: `chars` from {MIN_CHARS} to {MAX_CHARS}, `words` from 1 to {MAX_WORDS}"
    )]
    Length,
    /// A part of speech that belongs to another class already.
    #[error("the part of speech {0} is in two classes")]
    TagTwice(String),
    /// A pattern of a class that no line above names.
    #[error("{0} is no class of the lines above")]
    NoClass(char),
    /// A pattern that is too long.
    #[error("a pattern has 1 to {MAX_WORDS} words")]
    TooLong,
    /// A weight that is none.
    #[error("the weight {0} is no number from -{MAX_WEIGHT} to {MAX_WEIGHT}")]
    Weight(String),
    /// More patterns than are needed.
    #[error("more than {MAX_PATTERNS} patterns")]
    TooMany,
}

impl Patterns {
    /// Those that are part of the program.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// All runs of words, whatever they are.
    pub fn any() -> Self {
        Self {
            is_any: true,
            ..Self::empty()
        }
    }

    fn empty() -> Self {
        Self {
            classes: HashMap::new(),
            weights: HashMap::new(),
            is_any: false,
            chars: MIN_CHARS..=MAX_CHARS,
            words: 1..=MAX_WORDS,
        }
    }

    /// Reads lines `N = n nz …`, `NVN 0.61`, `chars = 2-8` and `words = 1-4`; `#` begins a comment.
    pub fn parse(text: &str) -> Result<Self, PatternsError> {
        let mut patterns = Self::empty();
        for (number, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                patterns.add(line).map_err(|problem| PatternsError::Line {
                    line: number + 1,
                    problem,
                })?;
            }
        }
        if patterns.weights.is_empty() {
            return Err(PatternsError::Empty);
        }
        Ok(patterns)
    }

    fn add(&mut self, line: &str) -> Result<(), LineProblem> {
        if let Some((key, value)) = line.split_once('=') {
            match key.trim() {
                "chars" => self.chars = length(value, MIN_CHARS, MAX_CHARS)?,
                "words" => self.words = length(value, 1, MAX_WORDS)?,
                letter => {
                    let class = class_named(letter).ok_or(LineProblem::Form)?;
                    for tag in value.split_whitespace() {
                        let before = self.classes.insert(tag.to_owned(), class);
                        if before.is_some_and(|before| before != class) {
                            return Err(LineProblem::TagTwice(tag.to_owned()));
                        }
                    }
                }
            }
            return Ok(());
        }
        let mut parts = line.split_whitespace();
        let (Some(letters), Some(weight), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err(LineProblem::Form);
        };
        if letters.chars().count() > MAX_WORDS {
            return Err(LineProblem::TooLong);
        }
        let mut pattern = Pattern::default();
        for letter in letters.chars() {
            let class = class_named(letter.encode_utf8(&mut [0; 4]));
            let class = class.filter(|class| self.classes.values().any(|known| known == class));
            pattern = pattern.with(class.ok_or(LineProblem::NoClass(letter))?);
        }
        let number = weight.parse().ok();
        let number = number.filter(|number: &f64| number.abs() <= MAX_WEIGHT);
        let number = number.ok_or_else(|| LineProblem::Weight(weight.to_owned()))?;
        self.weights.insert(pattern, number);
        if self.weights.len() > MAX_PATTERNS {
            return Err(LineProblem::TooMany);
        }
        Ok(())
    }

    /// The class of a part of speech; 0 for none.
    pub(super) fn class_of(&self, tag: &str) -> Class {
        if self.is_any {
            return ANY_CLASS;
        }
        self.classes.get(tag).copied().unwrap_or_default()
    }

    /// How much a pattern speaks for a term, in units of log-odds; `None` if no term has it.
    pub(super) fn weight(&self, pattern: Pattern) -> Option<f64> {
        if self.is_any {
            return Some(0.0);
        }
        self.weights.get(&pattern).copied()
    }

    /// Whether a candidate may have so many characters and words.
    pub(super) fn fit_length(&self, chars: u32, words: usize) -> bool {
        self.chars.contains(&chars) && self.words.contains(&words)
    }

    /// Parts of speech by the letter of their class, in order.
    pub(super) fn classes(&self) -> Vec<(char, Vec<&str>)> {
        let mut all: Vec<(Class, &str)> = Vec::new();
        all.extend(
            self.classes
                .iter()
                .map(|(tag, class)| (*class, tag.as_str())),
        );
        all.sort_unstable();
        let classes = all.chunk_by(|a, b| a.0 == b.0).map(|tags| {
            let letter = tags.first().map_or(0, |(class, _)| *class);
            let tags = tags.iter().map(|(_, tag)| *tag).collect();
            (char::from(b'A' + letter.saturating_sub(1)), tags)
        });
        classes.collect()
    }
}

/// Two numbers with a hyphen, neither outside the bounds.
fn length<N: std::str::FromStr + PartialOrd>(
    text: &str,
    least: N,
    most: N,
) -> Result<RangeInclusive<N>, LineProblem> {
    let (from, to) = text.split_once('-').ok_or(LineProblem::Length)?;
    let number = |text: &str| text.trim().parse::<N>().map_err(|_| LineProblem::Length);
    let (from, to) = (number(from)?, number(to)?);
    if from < least || to > most || from > to {
        return Err(LineProblem::Length);
    }
    Ok(from..=to)
}

/// `A` is 1, `Z` 26.
fn class_named(letter: &str) -> Option<Class> {
    match letter.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(letter - b'A' + 1),
        _ => None,
    }
}
