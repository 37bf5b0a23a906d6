//! Writer and media source. In: the head data and the lines around headline and text. Out: names as printed.
//! Never guesses from the text itself.

use std::sync::LazyLock;

use regex::Regex;

use super::date::Place;
use super::head::Head;
use super::outline::Outline;
use super::render::line_text;
use crate::page::Page;

/// Longest name, in characters.
const MAX_NAME: usize = 60;
/// Longest line that may name writer and source, in tokens.
const MAX_TOKENS: u32 = 60;

static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s|丨【\[（(>])(?:文章来源|稿件来源|信息来源|新闻来源|消息来源|本文来源|来源|稿源|转自|來源)\s*[：:丨]?\s*[：:丨]\s*([^\s|丨，,；;。】\]）)]{2,30})")
        .expect("a constant pattern")
});
static AUTHOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s|丨【\[（(/])(?:作者|撰文|记者|文/图|图/文|采写|执笔|撰稿|作\s者|文)\s*[：:/丨|]\s*([^\s|丨，,；;。:：】\]）)]{2,20}(?:[ 、]\p{Han}{2,4}){0,4})")
        .expect("a constant pattern")
});
static BY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:written |posted |story |words |article )?(?:by|von|par|por|di|door|av|af)\s*:?\s+(\p{Lu}[\p{L}'’.-]+(?:\s+(?:\p{Lu}[\p{L}'’.-]*|de|von|van|der|la|and|und|et|y|&|,)){0,7})")
        .expect("a constant pattern")
});

/// 来源 of a line, if it names one.
pub(super) fn source_of(line: &str) -> Option<String> {
    let name = SOURCE.captures(line)?.get(1)?.as_str();
    clean(name)
}

/// Writer of a line, if it names one: 作者：…, By ….
pub(super) fn author_of(line: &str) -> Option<String> {
    let found = AUTHOR.captures(line).or_else(|| BY.captures(line))?;
    clean(found.get(1)?.as_str())
}

/// A name without signs around it; `None` for addresses and texts that are too long to be a name.
pub(super) fn clean(name: &str) -> Option<String> {
    let name = name.trim().trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '|' | '丨' | '-' | ':' | '：' | ',' | '，' | '(' | '（' | ')' | '）'
            )
    });
    let length = name.chars().count();
    let address = name.contains("://") || name.contains('@') || name.starts_with("www.");
    ((1..=MAX_NAME).contains(&length) && !address).then(|| name.to_owned())
}

/// Writer and source of a page.
pub(super) fn names(
    page: &Page,
    outline: &Outline,
    head: &Head<'_>,
    place: Place,
) -> (Option<String>, Option<String>) {
    let mut author = (!head.json.authors.is_empty()).then(|| head.json.authors.join(", "));
    let mut source = head.source.and_then(clean);
    let anchor = place.title.or(place.body_start).unwrap_or(0);
    let start = place.body_start.unwrap_or(anchor).min(anchor + 40);
    let above = anchor.saturating_sub(6)..(start + 4).min(outline.lines.len());
    let below = place.body_end.saturating_sub(3)..(place.body_end + 6).min(outline.lines.len());
    let mut text = String::new();
    for line in above.chain(below).filter_map(|i| outline.lines.get(i)) {
        if line.all.tokens > MAX_TOKENS {
            continue;
        }
        text.clear();
        line_text(page, line, &mut text);
        author = author.or_else(|| author_of(&text));
        source = source.or_else(|| source_of(&text));
    }
    let author = author.or_else(|| head.authors.iter().find_map(|a| clean(a)));
    (author.and_then(|a| clean(&a)), source)
}
