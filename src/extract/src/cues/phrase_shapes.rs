//! Phrases that are more than words: counts of comments, dates with what stands behind them, rows of tools. In: a line
//! without the signs that it begins with. Out: whether it is one. Each stands for a pattern, which the tests hold it to:
//! most short lines of a page are asked, and an automaton of so many words is in no cache when it is needed.

use crate::literals::is_sign;

/// `\d+\s*(条|个)?(评论|跟贴|跟帖|回复|人参与)|\d+ comments?|comments?\W*(\(?\d+\)?)?$` and
/// `(查看|全部|…)\S{0,6}(评论|跟贴|跟帖|留言)`.
pub(crate) fn counts_comments(text: &str) -> bool {
    const COUNTED: [&str; 5] = ["评论", "跟贴", "跟帖", "回复", "人参与"];
    const CALLS: [&str; 11] = [
        "查看",
        "全部",
        "最新",
        "精彩",
        "热门",
        "网友",
        "我来",
        "发表",
        "参与",
        "文明",
        "登录后",
    ];
    let behind = text.trim_start_matches(is_digit);
    if behind.len() < text.len() {
        let unit = behind.trim_start();
        let unit = unit.strip_prefix(['条', '个']).unwrap_or(unit);
        return begins_with_any(unit, &COUNTED) || begins_with(behind, " comment");
    }
    if begins_with(text, "comment") {
        return is_count(text.get("comment".len()..).unwrap_or_default());
    }
    let mut calls = CALLS.iter().filter_map(|call| text.strip_prefix(call));
    calls.any(asks_for_comments)
}

/// `s?\W*(\(?\d+\)?)?$`
fn is_count(text: &str) -> bool {
    let text = text.strip_prefix(['s', 'S']).unwrap_or(text);
    let number = text.trim_start_matches(is_sign);
    let behind = number.trim_start_matches(is_digit);
    number.is_empty() || (behind.len() < number.len() && matches!(behind, "" | ")"))
}

/// `\S{0,6}(评论|跟贴|跟帖|留言)`
fn asks_for_comments(text: &str) -> bool {
    const ASKED: [&str; 4] = ["评论", "跟贴", "跟帖", "留言"];
    /// Most characters before the word.
    const BEFORE: usize = 6;
    let shown = text.char_indices().take_while(|(_, c)| !c.is_whitespace());
    let mut places = shown.take(BEFORE + 1).map(|(at, _)| text.get(at..));
    places.any(|rest| rest.is_some_and(|rest| begins_with_any(rest, &ASKED)))
}

/// `(19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?` and behind it `[^。！？]{0,60}(来源|…)` or
/// `\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$`.
pub(crate) fn is_dated(text: &str) -> bool {
    let date = text
        .strip_prefix("19")
        .or_else(|| text.strip_prefix("20"))
        .and_then(|rest| digits(rest, 2..=2))
        .and_then(|rest| rest.strip_prefix(['-', '/', '.', '年']))
        .and_then(|rest| digits(rest, 1..=2))
        .and_then(|rest| rest.strip_prefix(['-', '/', '.', '月']));
    // The second digit of a day may be the hour.
    let days = [1..=2, 1..=1].map(|len| digits(date?, len));
    days.into_iter().flatten().any(|behind| {
        let behind = behind.strip_prefix('日').unwrap_or(behind);
        ends_in_time(behind) || goes_on_about(behind)
    })
}

/// `\s*(\d{1,2}[:：]\d\d([:：]\d\d)?)?\W*$`
fn ends_in_time(text: &str) -> bool {
    let pair = |rest| digits(strip_colon(rest)?, 2..=2);
    let text = text.trim_start();
    let time = digits(text, 1..=2).and_then(pair);
    let behind = time.map(|minutes| pair(minutes).unwrap_or(minutes));
    behind.unwrap_or(text).chars().all(is_sign)
}

/// `[^。！？]{0,60}(来源|作者|记者|阅读|字体|字号|浏览|点击|编辑)`
fn goes_on_about(text: &str) -> bool {
    const ABOUT: [&str; 9] = [
        "来源", "作者", "记者", "阅读", "字体", "字号", "浏览", "点击", "编辑",
    ];
    /// Most characters before the word.
    const BEFORE: usize = 60;
    let before = text.char_indices();
    let before = before.take_while(|(_, c)| !matches!(c, '。' | '！' | '？'));
    let mut places = before.take(BEFORE + 1).map(|(at, _)| text.get(at..));
    places.any(|rest| rest.is_some_and(|rest| begins_with_any(rest, &ABOUT)))
}

/// `大\s*中\s*小\W*$` and `(打印|收藏|…)\W+(打印|收藏|…)`.
pub(crate) fn is_row_of_tools(text: &str) -> bool {
    const TOOLS: [&str; 8] = ["打印", "收藏", "大", "中", "小", "关闭", "纠错", "字号"];
    if sizes(text).is_some_and(|behind| behind.chars().all(is_sign)) {
        return true;
    }
    let mut behind = TOOLS.iter().filter_map(|tool| text.strip_prefix(tool));
    behind.any(|behind| {
        let second = behind.trim_start_matches(is_sign);
        second.len() < behind.len() && begins_with_any(second, &TOOLS)
    })
}

/// `大\s*中\s*小`
fn sizes(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('大')?;
    for size in ['中', '小'] {
        rest = rest.trim_start().strip_prefix(size)?;
    }
    Some(rest)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// What stands behind as many digits as there are, if that is a number of them allowed here; of more, the most.
fn digits(text: &str, allowed: std::ops::RangeInclusive<usize>) -> Option<&str> {
    let all = text
        .bytes()
        .take(*allowed.end())
        .take_while(u8::is_ascii_digit);
    let len = all.count();
    allowed.contains(&len).then(|| text.get(len..))?
}

fn strip_colon(text: &str) -> Option<&str> {
    text.strip_prefix([':', '：'])
}

fn begins_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// True if the text begins with a word of ASCII, in any case.
fn begins_with(text: &str, word: &str) -> bool {
    let begin = text.get(..word.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}
