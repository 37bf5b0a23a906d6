//! The words and signs that identify dates. [`Clues`] says which steps of reading dates a text needs; other functions
//! return what the words before a date call it, and the month of a name, and rewrite years that are not written with four
//! digits (民國108年, 令和元年, 二〇一九年九月七日) as 2019年…, so that the patterns of dates match them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_normalization::UnicodeNormalization;

use crate::cues;
use crate::literals::{Literals, compile_regex};
use crate::page::measure::is_eastern_digit;

/// Words of times that are relative to the fetch.
const FROM_NOW: u32 = 1;
/// Digits and signs that are read as those of ASCII.
const WIDE: u32 = 1 << 1;
/// Years that are not stated by four digits.
const ODD: u32 = 1 << 2;
/// Characters without which a text that has no digit of ASCII is not checked.
const DAY: u32 = 1 << 3;

static CLUES: LazyLock<Literals> = LazyLock::new(|| {
    let from_now = ["前", "ago", "今", "昨", "刚", "剛", "yesterday", "just now"];
    let days = [
        "天", "日", "半", "刚", "剛", "０", "１", "２", "٠", "١", "٢", "۲",
    ];
    let words = from_now.iter().map(|word| (*word, FROM_NOW));
    let words = words.chain(days.iter().map(|word| (*word, DAY)));
    let words = words.chain(rewrite_odd_years().map(|word| (word, ODD)));
    let words = words.map(|(word, bits)| (word.to_owned(), bits));
    let wide = ('\u{80}'..='\u{ffff}').filter(|c| is_wide(*c) || is_eastern_digit(*c));
    Literals::new(words.chain(wide.map(|c| (c.to_string(), WIDE))))
});

fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{ff10}'..='\u{ff1a}' | '\u{ff0d}' | '\u{ff0f}' | '\u{3000}' | '\u{a0}'
    )
}

/// What a text is to be looked through for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clues(u32);

impl Clues {
    pub(crate) fn new(text: &str) -> Self {
        Self(CLUES.seen(text.as_bytes()))
    }

    /// True if a text without digits may contain a date.
    pub(crate) fn tell_without_digits(self, text: &str) -> bool {
        self.has(FROM_NOW | WIDE | ODD) && (self.has(DAY) || text.contains("esterday"))
    }

    /// True if a time may be relative to the fetch.
    pub(crate) fn tell_from_now(self) -> bool {
        self.has(FROM_NOW)
    }

    /// True if a year may be recognised by other signs than digits.
    pub(crate) fn tell_odd_years(self) -> bool {
        self.has(ODD)
    }

    /// True if the text is to be read as [`to_half_width`] says.
    pub(crate) fn are_wide(self) -> bool {
        self.has(WIDE)
    }

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}

/// Full width forms as half width, Arabic and Persian digits as ASCII.
pub(crate) fn to_half_width(text: &str) -> String {
    let digit = |c: char| match c {
        c if is_eastern_digit(c) => char::from_digit(u32::from(c) & 0xf, 10).unwrap_or(c),
        c => c,
    };
    text.nfkc().map(digit).collect()
}

/// What the words before a date call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// 发布, published, posted.
    Published,
    /// 更新, modified, updated.
    Modified,
    /// Nothing that is known.
    None,
}

static PUBLISHED: LazyLock<Regex> = LazyLock::new(|| {
    cues::compile_pattern(
        r"(?i)(?:^|[^\p{Han}]|<date.published.after>)(?:<date.published.alone>)|<date.published>",
    )
});
static MODIFIED: LazyLock<Regex> = LazyLock::new(|| cues::compile_pattern("(?i)<date.modified>"));

/// One of them is in every label of a date.
static ANY_LABEL: LazyLock<Literals> = LazyLock::new(|| {
    let sections = ["date.published", "date.published.alone", "date.modified"];
    cues::compile_seen(&sections.map(|section| (section, 1)))
});

/// What the words right before a date call it.
pub(crate) fn find_label_before(before: &str) -> Label {
    /// Characters that may be between label and date: `发布时间：`, `Published on`.
    const BETWEEN: usize = 10;
    let start = before.char_indices().rev().nth(29).map_or(0, |(i, _)| i);
    let near = before.get(start..).unwrap_or_default();
    if !ANY_LABEL.stand_in(near) {
        return Label::None;
    }
    let last = |regex: &Regex| {
        let end = regex.find_iter(near).last()?.end();
        let between = near.get(end..).unwrap_or_default();
        (between.chars().count() <= BETWEEN).then_some(end)
    };
    match (last(&PUBLISHED), last(&MODIFIED)) {
        (None, None) => Label::None,
        (published, modified) if published >= modified => Label::Published,
        _ => Label::Modified,
    }
}

/// Names and short forms in small letters, without the dot of a short form.
static MONTHS: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let lines = cues::lines("months").iter();
    let months = lines.filter_map(|line| {
        let (number, names) = line.split_once(' ')?;
        Some((number.parse().ok()?, names))
    });
    let named =
        |(month, names): (u32, &'static str)| names.split('|').map(move |name| (name, month));
    months.flat_map(named).collect()
});

/// The month of a name in any of the languages, in whatever case.
pub(crate) fn parse_month(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    MONTHS.get(lower.trim_end_matches('.')).copied()
}

/// Eras of an emperor or a republic with the year before their first.
static ERAS: LazyLock<Vec<(&str, i32)>> = LazyLock::new(|| {
    let lines = cues::lines("eras").iter();
    let eras = lines.filter_map(|line| line.split_once(' '));
    eras.filter_map(|(year, era)| Some((era, year.parse().ok()?)))
        .collect()
});

/// How a year begins that is recognised by the characters of its digits.
const NUMERAL_YEARS: [&str; 6] = ["二〇", "二○", "二零", "一九", "二Ｏ", "二O"];

/// One of them is in every year that is not stated by four digits.
pub(crate) fn rewrite_odd_years() -> impl Iterator<Item = &'static str> {
    ERAS.iter().map(|(era, _)| *era).chain(NUMERAL_YEARS)
}

static ERA: LazyLock<Regex> = LazyLock::new(|| {
    let eras: Vec<&str> = ERAS.iter().map(|(era, _)| *era).collect();
    compile_regex(&format!(r"({})\s?(\d{{1,3}}|元)\s?年", eras.join("|")))
});
static NUMERALS: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"([一二][〇○零ＯO一二三四五六七八九]{3})\s?年\s?([一二三四五六七八九十]{1,3})\s?月(?:\s?([一二三四五六七八九十廿]{1,3})\s?[日号號])?",
    )
});

/// The text with common years; for texts with one of [`rewrite_odd_years`].
pub(crate) fn with_common_years(text: &str) -> Cow<'_, str> {
    if !text.contains('年') {
        return text.into();
    }
    let eras = ERA.replace_all(text, |c: &Captures<'_>| {
        let first = ERAS
            .iter()
            .find(|(era, _)| *era == &c[1])
            .map_or(0, |e| e.1);
        let count: i32 = if &c[2] == "元" {
            1
        } else {
            c[2].parse().unwrap_or(0)
        };
        format!("{}年", first + count)
    });
    let common = NUMERALS.replace_all(&eras, |c: &Captures<'_>| {
        let year: String = c[1].chars().map(parse_digit).collect();
        let mut out = format!("{year}年{}月", number(&c[2]));
        if let Some(day) = c.get(3) {
            out.push_str(&format!("{}日", number(day.as_str())));
        }
        out
    });
    common.into_owned().into()
}

/// The year before the first of the Republic.
const REPUBLIC: i32 = 1911;

static REPUBLIC_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(r"(^|[^\d/.-])(1\d\d)([/.-])(\d{1,2})([/.-])(\d{1,2})($|[^\d/.-])")
});

/// The text with common years in days such as 113/05/20: for pages of Taiwan, where a year of three digits is one of the
/// Republic.
pub(crate) fn with_republic_years(text: &str) -> Cow<'_, str> {
    REPUBLIC_DAY.replace_all(text, |c: &Captures<'_>| {
        let year = c[2].parse().unwrap_or(0) + REPUBLIC;
        let [before, sign, month, again, day, behind] = [1, 3, 4, 5, 6, 7].map(|i| &c[i]);
        format!("{before}{year}{sign}{month}{again}{day}{behind}")
    })
}

fn parse_digit(numeral: char) -> char {
    let mut digits = "〇一二三四五六七八九".chars().zip('0'..='9');
    digits
        .find_map(|(n, d)| (n == numeral).then_some(d))
        .unwrap_or('0')
}

/// A number below a hundred: 七, 十一, 二十, 三十一, 廿三.
fn number(numerals: &str) -> u32 {
    numerals.chars().fold(0, |sum, numeral| match numeral {
        '十' => sum.max(1) * 10,
        '廿' => 20,
        n => sum + u32::from(parse_digit(n)) - u32::from('0'),
    })
}
