//! What two texts are compared by: bags of shingles, titles without their typography, days.
//!
//! Shingles as in the article extraction benchmark of scrapinghub (github.com/scrapinghub/article-extraction-benchmark):
//! runs of four tokens, compared as bags, with each CJK character a token of its own.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

/// Tokens in a shingle of a body text.
pub const BODY_SHINGLE: usize = 4;

/// A CJK character, kana or hangul syllable, else a run of letters, digits and underscores. Combining marks part
/// words, as they do in Python's `\w`; Rust's own `\w` takes them in.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    const CJK: &str =
        r"\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}\u{f900}-\u{faff}\u{3040}-\u{30ff}\u{ac00}-\u{d7af}";
    Regex::new(&format!(r"[{CJK}]|[\p{{L}}\p{{N}}_--[{CJK}]]+"))
        .expect("a constant that a test compiles")
});

static DAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(\d{4})\D?(\d{1,2})\D?(\d{1,2})").expect("a constant that a test compiles")
});

static DIGIT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d").expect("a constant that a test compiles"));

/// The tokens of a text.
pub(super) fn tokenize(text: &str) -> impl Iterator<Item = &str> {
    TOKEN.find_iter(text).map(|token| token.as_str())
}

/// Up to four numbers of tokens; a text shorter than a shingle is one short shingle, padded with [`NONE`].
type Shingle = [u32; BODY_SHINGLE];

/// The number of no token.
const NONE: u32 = u32::MAX;

/// Numbers of the tokens of the texts that are compared with each other.
#[derive(Debug, Default)]
pub struct TokenNumbers<'a>(HashMap<&'a str, u32>);

/// Shingles of a text, each as often as it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bag(Vec<Shingle>);

impl Bag {
    /// Shingles of `size` tokens, 1 to [`BODY_SHINGLE`], of `text`. Bags can be compared if they share `numbers`.
    pub fn new<'a>(text: &'a str, size: usize, numbers: &mut TokenNumbers<'a>) -> Self {
        let size = size.clamp(1, BODY_SHINGLE);
        let tokens: Vec<u32> = tokenize(text)
            .map(|token| {
                let next = numbers.0.len() as u32;
                *numbers.0.entry(token).or_insert(next)
            })
            .collect();
        let shingle = |window: &[u32]| {
            let mut shingle = [NONE; BODY_SHINGLE];
            for (to, from) in shingle.iter_mut().zip(window) {
                *to = *from;
            }
            shingle
        };
        let mut shingles: Vec<Shingle> = if tokens.is_empty() || tokens.len() >= size {
            tokens.windows(size).map(shingle).collect()
        } else {
            vec![shingle(&tokens)]
        };
        shingles.sort_unstable();
        Self(shingles)
    }

    /// How this bag, the gold, agrees with what was extracted.
    pub fn overlap(&self, extracted: &Self) -> Overlap {
        let (gold, other) = (&self.0, &extracted.0);
        let (mut i, mut j, mut both) = (0, 0, 0);
        while let (Some(a), Some(b)) = (gold.get(i), other.get(j)) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    (i, j, both) = (i + 1, j + 1, both + 1);
                }
            }
        }
        Overlap {
            right: both as f64,
            extra: (other.len() - both) as f64,
            missed: (gold.len() - both) as f64,
        }
    }
}

/// True positives, false positives and false negatives, counted or as shares.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Overlap {
    /// In both.
    pub right: f64,
    /// Only in what was extracted.
    pub extra: f64,
    /// Only in the gold.
    pub missed: f64,
}

impl Overlap {
    /// Precision, recall and F1. Nothing expected and nothing given is right: 1, 1, 1.
    pub fn rates(&self) -> (f64, f64, f64) {
        let given = self.right + self.extra;
        let wanted = self.right + self.missed;
        let precision = match () {
            () if given > 0.0 => self.right / given,
            () if self.missed > 0.0 => 0.0,
            () => 1.0,
        };
        let recall = if wanted > 0.0 {
            self.right / wanted
        } else {
            1.0
        };
        (precision, recall, harmonic_mean(precision, recall))
    }

    /// The last of [`Overlap::rates`].
    pub fn f1(&self) -> f64 {
        self.rates().2
    }

    /// Counts as shares of their sum; all zero if there is nothing.
    pub fn shares(&self) -> Self {
        let sum = (self.right + self.extra + self.missed).max(1.0);
        Self {
            right: self.right / sum,
            extra: self.extra / sum,
            missed: self.missed / sum,
        }
    }
}

/// F1 of a precision and a recall; 0 if both are.
pub(super) fn harmonic_mean(precision: f64, recall: f64) -> f64 {
    let sum = precision + recall;
    if sum > 0.0 {
        2.0 * precision * recall / sum
    } else {
        0.0
    }
}

/// A title without what typography may change: NFKC, no white space, no quotes.
pub fn normalize_title(title: &str) -> String {
    // Python's white space has the four separators of ASCII too.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    title
        .nfkc()
        .filter(|c| !is_space(*c) && !"\"'“”‘’「」『』".contains(*c))
        .collect()
}

/// Year, month and day as they are written at the first place where a text has them, in any digits; `None` for a time
/// without a year.
pub fn parse_day(published: &str) -> Option<(u32, u32, u32)> {
    let found = DAY.captures(published)?;
    let number = |group: usize| {
        found.get(group).map_or(0, |digits| {
            let chars = digits.as_str().chars();
            chars.fold(0, |number, c| number * 10 + parse_digit(c))
        })
    };
    Some((number(1), number(2), number(3)))
}

/// Value of a decimal digit of any script. The digits of a script are in a row from zero, and rows that touch are
/// whole: the place in the run shows the value.
fn parse_digit(c: char) -> u32 {
    let is_digit = |code: u32| {
        char::from_u32(code).is_some_and(|c| DIGIT.is_match(c.encode_utf8(&mut [0; 4])))
    };
    c.to_digit(10).unwrap_or_else(|| {
        let code = u32::from(c);
        let before = (1..=code).take_while(|back| is_digit(code - back)).count();
        before as u32 % 10
    })
}
