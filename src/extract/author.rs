//! Writer and media source. In: the head data and the lines around headline and text. Out: names as printed.
//! Never guesses from the text itself.

use std::sync::LazyLock;

use regex::Regex;

use super::date::Place;
use super::head::Head;
use super::lines::Line;
use super::marks::Marks;
use super::outline::Outline;
use super::render::line_text;
use crate::page::Page;

/// Longest name, in characters.
const MAX_NAME: usize = 60;
/// Longest line that may name writer and source, in tokens.
const MAX_TOKENS: u32 = 60;

static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s|丨【\[（(>])(?:文章来源|稿件来源|信息来源|新闻来源|消息来源|本文来源|来源|稿源|转自|來源)\s*[：:丨]\s*([^\s|丨，,；;。】\]）)]{2,30})")
        .expect("a constant pattern")
});
static AUTHOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s|丨【\[（(/])(?:文章作者|作者|撰文|(?:本报|本网|本刊|特约|见习|实习|全媒体)*(?:记者|通讯员)|文/图|图/文|采写|执笔|撰稿|作\s者|文)\s*[：:/丨|]\s*([^\s|丨，,；;。:：】\]）)/]{2,20}(?:[ 、]\p{Han}{2,4}){0,4})")
        .expect("a constant pattern")
});
/// The photographer is the author of a picture story.
static PHOTOGRAPHER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[\s|丨【\[（(])(?:摄影|供图|图片)\s*[：:/丨|]\s*(\p{Han}{2,4})(?:\s|$|[）)】\]])",
    )
    .expect("a constant pattern")
});
/// Words that begin the next field of an information line; a name ends before them.
static NEXT_FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\s、]*(?:阅读|字体|字号|来源|编辑|责编|责任|发布|发表|时间|点击|浏览|评论|校对|摄影|通讯员|分享|更新|审核|日期|稿源|访问|查看|关注|打印).*$")
        .expect("a constant pattern")
});
static BY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:written |posted |story |words |article )?(?:by|von|par|por|di|door|av|af)\s*:?\s+(\p{Lu}[\p{L}'’.-]+(?:\s+(?:\p{Lu}[\p{L}'’.-]*|de|von|van|der|la|and|und|et|y|&|,)){0,7})")
        .expect("a constant pattern")
});

/// 来源 of a line, if it names one.
pub(super) fn source_of(line: &str) -> Option<String> {
    let name = SOURCE.captures(line)?.get(1)?.as_str();
    clean(&NEXT_FIELD.replace(name, ""))
}

/// Writer of a line, if it names one: 作者：…, By ….
pub(super) fn author_of(line: &str) -> Option<String> {
    let found = AUTHOR.captures(line).or_else(|| BY.captures(line))?;
    clean(&NEXT_FIELD.replace(found.get(1)?.as_str(), ""))
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
    let mut photographer = None;
    let mut text = String::new();
    for line in above.chain(below).filter_map(|i| outline.lines.get(i)) {
        if line.all.tokens > MAX_TOKENS {
            continue;
        }
        text.clear();
        spaced_text(page, line, &mut text);
        author = author.or_else(|| author_of(&text));
        photographer = photographer.or_else(|| Some(PHOTOGRAPHER.captures(&text)?[1].to_owned()));
        source = source.or_else(|| source_of(&text));
    }
    let author = author.or_else(|| head.authors.iter().find_map(|a| clean(a)));
    let author = author.or_else(|| {
        let near = anchor.saturating_sub(6)..(start + 4).min(outline.lines.len());
        named_author(page, outline, near)
    });
    let author = author.or(photographer);
    (author.and_then(|a| clean(&a)), source)
}

/// The text of a line with a space between its text nodes: fields of an information line often stand in
/// elements of their own without a space between them.
fn spaced_text(page: &Page, line: &Line, out: &mut String) {
    for id in line.first..line.end {
        let text = page.text(id).trim();
        if !text.is_empty() {
            out.push_str(text);
            out.push(' ');
        }
    }
}

/// The short text of an element near the headline that calls itself author.
fn named_author(page: &Page, outline: &Outline, near: std::ops::Range<usize>) -> Option<String> {
    const NAME_TOKENS: u32 = 8;
    let mut text = String::new();
    near.filter_map(|i| outline.lines.get(i))
        .filter(|l| l.marks.any(Marks::AUTHOR) && !l.marks.any(Marks::COMMENT.with(Marks::RELATED)))
        .filter(|l| l.all.tokens <= NAME_TOKENS && l.all.numbers == 0 && l.all.marks == 0)
        .find_map(|l| {
            text.clear();
            line_text(page, l, &mut text);
            clean(&text)
        })
}
