//! The two languages of the web page. In: `?lang=` and the Accept-Language header. Out: a [`Lang`] and its labels.
//! Never translates content: documents are shown as they were written.

use super::labels::{EN, Labels, ZH};
use crate::serve::verdict::SiteVerdict;

/// Language of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lang {
    /// Simplified Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

/// Languages of one header that are looked at; browsers send some five.
const HEADER_ENTRIES_MAX: usize = 16;

impl Lang {
    /// How a cycle went, in a sentence.
    pub(crate) fn verdict(self, verdict: &SiteVerdict) -> &str {
        match self {
            Lang::Zh => &verdict.text_zh,
            Lang::En => &verdict.text,
        }
    }

    /// The language named by `?lang=`.
    pub(crate) fn named(tag: &str) -> Option<Lang> {
        let primary = tag.trim().split(['-', '_']).next()?;
        if primary.eq_ignore_ascii_case("zh") {
            Some(Lang::Zh)
        } else if primary.eq_ignore_ascii_case("en") {
            Some(Lang::En)
        } else {
            None
        }
    }

    /// The language a browser prefers (RFC 9110 §12.5.4); English for those that name neither, Chinese for those
    /// that name nothing.
    pub(crate) fn preferred(accept_language: Option<&str>) -> Lang {
        let Some(header) = accept_language.filter(|h| !h.trim().is_empty()) else {
            return Lang::Zh;
        };
        let mut best: Option<(f32, Lang)> = None;
        for entry in header.split(',').take(HEADER_ENTRIES_MAX) {
            let mut parts = entry.split(';');
            let Some(lang) = parts.next().and_then(Lang::named) else {
                continue;
            };
            let weight = parts
                .find_map(|p| p.trim().strip_prefix("q="))
                .map_or(1.0, |q| q.trim().parse().unwrap_or(0.0));
            if weight > 0.0 && best.is_none_or(|(b, _)| weight > b) {
                best = Some((weight, lang));
            }
        }
        best.map_or(Lang::En, |(_, lang)| lang)
    }

    /// Value of the `lang` attribute.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Lang::Zh => "zh-CN",
            Lang::En => "en",
        }
    }

    /// Value of `?lang=`.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Lang::Zh => "zh",
            Lang::En => "en",
        }
    }

    /// The language that the switch leads to.
    pub(crate) fn other(self) -> Lang {
        match self {
            Lang::Zh => Lang::En,
            Lang::En => Lang::Zh,
        }
    }

    /// Labels in this language.
    pub(crate) fn labels(self) -> &'static Labels {
        match self {
            Lang::Zh => &ZH,
            Lang::En => &EN,
        }
    }

    /// Line above the hits.
    pub(crate) fn total(self, total: u64, took_ms: f64) -> String {
        let count = grouped(total);
        match (self, total) {
            (Lang::Zh, _) => format!("找到 {count} 条结果，用时 {took_ms:.1} 毫秒"),
            (Lang::En, 1) => format!("1 result in {took_ms:.1} ms"),
            (Lang::En, _) => format!("{count} results in {took_ms:.1} ms"),
        }
    }

    /// Which hits of a result are shown; `folded` when reprints stand behind one of them.
    pub(crate) fn range(self, first: usize, last: usize, folded: bool) -> String {
        match (self, folded) {
            (Lang::Zh, false) => format!("第 {first}–{last} 条"),
            (Lang::Zh, true) => format!("第 {first}–{last} 条，转载已合并"),
            (Lang::En, false) => format!("{first}–{last} shown"),
            (Lang::En, true) => format!("{first}–{last} shown, reprints as one"),
        }
    }

    /// A name and its value.
    pub(crate) fn labelled(self, name: &str, value: &str) -> String {
        match self {
            Lang::Zh => format!("{name}：{value}"),
            Lang::En => format!("{name}: {value}"),
        }
    }

    /// What a chip does, for those who do not see its cross.
    pub(crate) fn remove(self, label: &str) -> String {
        match self {
            Lang::Zh => format!("去掉“{label}”"),
            Lang::En => format!("Remove “{label}”"),
        }
    }

    /// Number of documents that can be found.
    pub(crate) fn documents(self, count: u64) -> String {
        let grouped = grouped(count);
        match (self, count) {
            (Lang::Zh, _) => format!("已收录 {grouped} 篇文档"),
            (Lang::En, 1) => "1 document indexed".to_owned(),
            (Lang::En, _) => format!("{grouped} documents indexed"),
        }
    }

    /// Link to the reprints of a hit.
    pub(crate) fn reprints(self, count: u64) -> String {
        let grouped = grouped(count);
        match (self, count) {
            (Lang::Zh, _) => format!("另有 {grouped} 家转载"),
            (Lang::En, 1) => "1 reprint".to_owned(),
            (Lang::En, _) => format!("{grouped} reprints"),
        }
    }

    /// Name of a bar of the chart.
    pub(crate) fn bar(self, date: &str, count: u64) -> String {
        let grouped = grouped(count);
        match (self, count) {
            (Lang::Zh, _) => format!("{date}：{grouped} 篇"),
            (Lang::En, 1) => format!("{date}: 1 document"),
            (Lang::En, _) => format!("{date}: {grouped} documents"),
        }
    }

    /// What the chart shows, for those who do not see it.
    pub(crate) fn chart(self, first: &str, last: &str, most: &str) -> String {
        match self {
            Lang::Zh => format!("{first} 至 {last} 的文档数，最多的是 {most}"),
            Lang::En => format!("Documents from {first} to {last}; the most on {most}"),
        }
    }

    /// Heading above the comments.
    pub(crate) fn comments(self, count: usize) -> String {
        match (self, count) {
            (Lang::Zh, _) => format!("{count} 条评论"),
            (Lang::En, 1) => "1 comment".to_owned(),
            (Lang::En, _) => format!("{count} comments"),
        }
    }

    /// Heading above the answers of a thread.
    pub(crate) fn replies(self, count: usize) -> String {
        match (self, count) {
            (Lang::Zh, _) => format!("{count} 条回帖"),
            (Lang::En, 1) => "1 reply".to_owned(),
            (Lang::En, _) => format!("{count} replies"),
        }
    }

    /// Documents of a site.
    pub(crate) fn count(self, count: u64) -> String {
        let grouped = grouped(count);
        match (self, count) {
            (Lang::Zh, _) => format!("{grouped} 篇"),
            (Lang::En, 1) => "1 document".to_owned(),
            (Lang::En, _) => format!("{grouped} documents"),
        }
    }

    /// New hits of a topic.
    pub(crate) fn new_hits(self, count: u64) -> String {
        let grouped = grouped(count);
        match self {
            Lang::Zh => format!("近 7 天 {grouped} 篇"),
            Lang::En => format!("{grouped} in 7 days"),
        }
    }

    /// When a site was crawled last.
    pub(crate) fn crawled(self, then_ms: Option<i64>, now_ms: i64) -> String {
        match (self, then_ms) {
            (Lang::Zh, Some(then)) => format!("{}抓取", self.relative(then, now_ms)),
            (Lang::En, Some(then)) => format!("crawled {}", self.relative(then, now_ms)),
            (Lang::Zh, None) => "尚未抓取".to_owned(),
            (Lang::En, None) => "not crawled yet".to_owned(),
        }
    }

    /// Sites that are configured, in an index that is empty.
    pub(crate) fn sites_waiting(self, count: usize) -> String {
        match (self, count) {
            (Lang::Zh, _) => format!("已配置 {count} 个站点，还没有抓取到文章。"),
            (Lang::En, 1) => {
                "One site is configured, and nothing of it was crawled yet.".to_owned()
            }
            (Lang::En, _) => {
                format!("{count} sites are configured, and nothing of them was crawled yet.")
            }
        }
    }

    /// Sites that the home page has no room for.
    pub(crate) fn more_sites(self, count: usize) -> String {
        match (self, count) {
            (Lang::Zh, _) => format!("另有 {count} 个站点"),
            (Lang::En, 1) => "1 more site".to_owned(),
            (Lang::En, _) => format!("{count} more sites"),
        }
    }

    /// A length of time in the largest unit that fits.
    pub(crate) fn span(self, span_ms: i64) -> String {
        let (number, zh, en) = largest_unit(span_ms);
        match self {
            Lang::Zh => format!("{number} {zh}"),
            Lang::En => format!("{number} {en}"),
        }
    }

    /// A moment seen from another, in the largest unit that fits: `3 分钟前`, `in 2 h`.
    pub(crate) fn relative(self, then_ms: i64, now_ms: i64) -> String {
        let distance = then_ms.saturating_sub(now_ms);
        let (number, zh, en) = largest_unit(distance);
        match (self, distance > 0) {
            (Lang::Zh, false) => format!("{number} {zh}前"),
            (Lang::Zh, true) => format!("{number} {zh}后"),
            (Lang::En, false) => format!("{number} {en} ago"),
            (Lang::En, true) => format!("in {number} {en}"),
        }
    }
}

/// A length of time as a number of a unit, with the unit's names.
fn largest_unit(span_ms: i64) -> (u64, &'static str, &'static str) {
    let seconds = span_ms.unsigned_abs() / 1_000;
    match seconds {
        0..60 => (seconds, "秒", "s"),
        60..3_600 => (seconds / 60, "分钟", "min"),
        3_600..172_800 => (seconds / 3_600, "小时", "h"),
        _ => (seconds / 86_400, "天", "d"),
    }
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
