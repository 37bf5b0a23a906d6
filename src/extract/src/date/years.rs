//! Years that are not told by four digits. In: a text with a date. Out: the same with years as others write them: 民國108年,
//! 令和元年 and 二〇一九年九月七日 become 2019年…, so that the patterns of dates read them. Never says that there is a date.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::cues;
use crate::literals::compiled;

/// Eras of an emperor or a republic with the year before their first.
static ERAS: LazyLock<Vec<(&str, i32)>> = LazyLock::new(|| {
    let lines = cues::lines("eras").iter();
    let eras = lines.filter_map(|line| line.split_once(' '));
    eras.filter_map(|(year, era)| Some((era, year.parse().ok()?)))
        .collect()
});

/// How a year begins that is told by the characters of its digits.
const NUMERAL_YEARS: [&str; 6] = ["二〇", "二○", "二零", "一九", "二Ｏ", "二O"];

/// One of them stands in every year that is not told by four digits.
pub(crate) fn odd_years() -> impl Iterator<Item = &'static str> {
    ERAS.iter().map(|(era, _)| *era).chain(NUMERAL_YEARS)
}

static ERA: LazyLock<Regex> = LazyLock::new(|| {
    let eras: Vec<&str> = ERAS.iter().map(|(era, _)| *era).collect();
    compiled(&format!(r"({})\s?(\d{{1,3}}|元)\s?年", eras.join("|")))
});
static NUMERALS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"([一二][〇○零ＯO一二三四五六七八九]{3})\s?年\s?([一二三四五六七八九十]{1,3})\s?月(?:\s?([一二三四五六七八九十廿]{1,3})\s?[日号號])?",
    )
});

/// The text with common years; for texts with one of [`odd_years`].
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
        let year: String = c[1].chars().map(digit).collect();
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

static REPUBLIC_DAY: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(^|[^\d/.-])(1\d\d)([/.-])(\d{1,2})([/.-])(\d{1,2})($|[^\d/.-])"));

/// The text with common years in days such as 113/05/20: for pages of Taiwan, where a year of three digits is one of the
/// Republic.
pub(crate) fn with_republic_years(text: &str) -> Cow<'_, str> {
    REPUBLIC_DAY.replace_all(text, |c: &Captures<'_>| {
        let year = c[2].parse().unwrap_or(0) + REPUBLIC;
        let [before, sign, month, again, day, behind] = [1, 3, 4, 5, 6, 7].map(|i| &c[i]);
        format!("{before}{year}{sign}{month}{again}{day}{behind}")
    })
}

fn digit(numeral: char) -> char {
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
        n => sum + u32::from(digit(n)) - u32::from('0'),
    })
}
