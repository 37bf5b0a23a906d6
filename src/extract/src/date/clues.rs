//! What other than digits a date is told by. In: a text. Out: [`Clues`]: which steps on the way to its dates may be left
//! out. Never says that there is a date.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::years::odd_years;
use crate::literals::Literals;

/// Words of times that are told from the fetch.
const FROM_NOW: u32 = 1;
/// Digits and signs that are read as those of ASCII.
const WIDE: u32 = 1 << 1;
/// Years that are not told by four digits.
const ODD: u32 = 1 << 2;
/// Characters without which a text that has no digit of ASCII is not looked at.
const DAY: u32 = 1 << 3;

static CLUES: LazyLock<Literals> = LazyLock::new(|| {
    let from_now = ["前", "ago", "今", "昨", "刚", "剛", "yesterday", "just now"];
    let days = [
        "天", "日", "半", "刚", "剛", "０", "１", "２", "٠", "١", "٢", "۲",
    ];
    let words = from_now.iter().map(|word| (*word, FROM_NOW));
    let words = words.chain(days.iter().map(|word| (*word, DAY)));
    let words = words.chain(odd_years().map(|word| (word, ODD)));
    let words = words.map(|(word, bits)| (word.to_owned(), bits));
    let wide = ('\u{80}'..='\u{ffff}').filter(|c| is_wide(*c) || is_eastern(*c));
    Literals::of(words.chain(wide.map(|c| (c.to_string(), WIDE))))
});

fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{ff10}'..='\u{ff1a}' | '\u{ff0d}' | '\u{ff0f}' | '\u{3000}' | '\u{a0}'
    )
}

fn is_eastern(c: char) -> bool {
    matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

/// What a text is to be looked through for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clues(u32);

impl Clues {
    pub(crate) fn of(text: &str) -> Self {
        Self(CLUES.seen(text.as_bytes()))
    }

    /// True if a text without digits may tell a date.
    pub(crate) fn tell_without_digits(self, text: &str) -> bool {
        self.has(FROM_NOW | WIDE | ODD) && (self.has(DAY) || text.contains("esterday"))
    }

    /// True if a time may be told from the fetch.
    pub(crate) fn tell_from_now(self) -> bool {
        self.has(FROM_NOW)
    }

    /// True if a year may be told by other signs than digits.
    pub(crate) fn tell_odd_years(self) -> bool {
        self.has(ODD)
    }

    /// True if the text is to be read as [`half_width`] says.
    pub(crate) fn are_wide(self) -> bool {
        self.has(WIDE)
    }

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}

/// Full width forms as half width, Arabic and Persian digits as ASCII.
pub(crate) fn half_width(text: &str) -> String {
    let digit = |c: char| match c {
        c if is_eastern(c) => char::from_digit(u32::from(c) & 0xf, 10).unwrap_or(c),
        c => c,
    };
    text.nfkc().map(digit).collect()
}
