//! What the words right before a date call it. In: those words. Out: published, modified, or nothing. Never reads the
//! date.

use std::sync::LazyLock;

use regex::Regex;

use crate::cues;
use crate::literals::Literals;

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
    cues::pattern(
        r"(?i)(?:^|[^\p{Han}]|<date.published.after>)(?:<date.published.alone>)|<date.published>",
    )
});
static MODIFIED: LazyLock<Regex> = LazyLock::new(|| cues::pattern("(?i)<date.modified>"));

/// One of them stands in every label of a date.
static ANY_LABEL: LazyLock<Literals> = LazyLock::new(|| {
    let sections = ["date.published", "date.published.alone", "date.modified"];
    cues::seen(&sections.map(|section| (section, 1)))
});

/// What the words right before a date call it.
pub(crate) fn label_before(before: &str) -> Label {
    /// Characters that may stand between label and date: `发布时间：`, `Published on`.
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
