//! Part-of-speech patterns: maps ICTCLAS tags to classes of words, and rates how much the pattern of a run of them
//! speaks for a term. The patterns are data: `index/term-patterns.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Words of the longest pattern.
pub(super) const MAX_WORDS: usize = 5;
/// Bits of one class in a pattern.
const CLASS_BITS: u32 = 5;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../../../../index/term-patterns.txt")));

/// Class of a word; 0 for one that stands in no term.
pub(super) type Class = u8;

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

    /// How much it speaks for a term, in units of log-odds; none if a term has no such pattern.
    pub(super) fn weight(self) -> Option<f64> {
        TABLE.weights.get(&self).copied()
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

/// The class of a part of speech; 0 for none.
pub(super) fn class_of(tag: &str) -> Class {
    TABLE.classes.get(tag).copied().unwrap_or_default()
}

struct Table {
    classes: HashMap<&'static str, Class>,
    weights: HashMap<Pattern, f64>,
}

impl Table {
    /// Lines `N = n nz …` and `NVN 0.61`.
    fn parse(text: &'static str) -> Self {
        let mut table = Self {
            classes: HashMap::new(),
            weights: HashMap::new(),
        };
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some((letter, tags)) = line.split_once('=') {
                let class = class_named(letter.trim());
                table
                    .classes
                    .extend(tags.split_whitespace().map(|tag| (tag, class)));
            } else if let Some((letters, weight)) = line.split_once(' ') {
                let pattern = letters.chars().fold(Pattern::default(), |pattern, letter| {
                    pattern.with(class_named(letter.encode_utf8(&mut [0; 4])))
                });
                let weight = weight.trim().parse();
                let weight = weight.expect("index/term-patterns.txt has a number behind a pattern");
                table.weights.insert(pattern, weight);
            }
        }
        table
    }
}

/// `A` is 1, `Z` 26.
fn class_named(letter: &str) -> Class {
    match letter.as_bytes() {
        [letter @ b'A'..=b'Z'] => letter - b'A' + 1,
        _ => unreachable!("{letter} is no class of index/term-patterns.txt"),
    }
}
