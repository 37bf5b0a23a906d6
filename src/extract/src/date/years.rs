//! Years that are not told by four digits. In: a text with a date. Out: the same with years as others write them: 民國108年,
//! 令和元年 and 二〇一九年九月七日 become 2019年…, so that the patterns of dates read them. Never says that there is a date.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::literals::compiled;

/// Years of an emperor or a republic with the year before their first.
const ERAS: [(&str, i32); 5] = [
    ("民國", 1911),
    ("民国", 1911),
    ("令和", 2018),
    ("平成", 1988),
    ("昭和", 1925),
];

/// One of them stands in every such year.
pub(crate) const ODD_YEARS: [&str; 11] = [
    "民國", "民国", "令和", "平成", "昭和", "二〇", "二○", "二零", "一九", "二Ｏ", "二O",
];
static ERA: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(民國|民国|令和|平成|昭和)\s?(\d{1,3}|元)\s?年"));
static NUMERALS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"([一二][〇○零ＯO一二三四五六七八九]{3})\s?年\s?([一二三四五六七八九十]{1,3})\s?月(?:\s?([一二三四五六七八九十廿]{1,3})\s?[日号號])?",
    )
});

/// The text with common years; for texts with one of [`ODD_YEARS`].
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
