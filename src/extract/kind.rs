//! What a page is. In: its text, links and head data. Out: [`Kind`]. A guess that the crawler and the index
//! live by: hubs come back often, articles are searched.

use std::sync::LazyLock;

use regex::Regex;

use super::document::{Kind, Link, LinkKind};
use super::head::Head;
use super::outline::{Outline, is_prose};
use crate::page::Page;

/// Tokens of a text that is long enough to be an article whatever stands around it.
const LONG: u32 = 250;
/// Tokens below which a text is a caption at best.
const SHORT: u32 = 40;
/// Links to articles that make a page a list.
const MANY: usize = 15;

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\W*(404|403|500|502|503)\b|404 (not found|错误|页面)|\b(page|file|article|document|url) (was )?(not|cannot be) found|not found\W*$|页面(不存在|没有找到|未找到|找不到|已删除|丢失|出错|走丢)|(您|你)?(访问|查看|浏览|请求|要找)的?(页面|网页|内容|文章|资源).{0,6}(不存在|已删除|已被删除|找不到|未找到|出错)|文章(不存在|已删除|已被删除)|出错了|系统(错误|繁忙|维护)|access denied|forbidden\W*$|service unavailable|internal server error|bad gateway|無法找到|seite nicht gefunden|page introuvable|página no encontrada",
    )
    .expect("the pattern is a constant that a test compiles")
});

/// What decides about the kind.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    /// The page.
    pub page: &'a Page,
    /// Its lines.
    pub outline: &'a Outline,
    /// Its head data.
    pub head: &'a Head<'a>,
    /// Headline as chosen.
    pub title: Option<&'a str>,
    /// Lines of the main text.
    pub body: &'a [usize],
    /// F1 expected of the main text.
    pub confidence: f32,
    /// Links with kinds.
    pub links: &'a [Link],
}

/// The kind of a page.
pub(super) fn kind(e: &Evidence<'_>) -> Kind {
    let total = e.outline.total();
    let lines = || e.body.iter().map(|i| &e.outline.lines[*i]);
    let prose: u32 = lines().filter(|l| is_prose(l)).map(|l| l.all.tokens).sum();
    let error = |text: &str| text.chars().count() < 80 && ERROR.is_match(text);
    if prose < LONG
        && total.tokens < 3 * LONG
        && (error(&e.head.title) || e.title.is_some_and(error))
    {
        return Kind::Error;
    }
    if total.tokens == 0 {
        return Kind::Other;
    }
    let details = e
        .links
        .iter()
        .filter(|l| l.kind == LinkKind::Article)
        .count();
    let root = e.page.url.as_ref().is_some_and(|u| {
        matches!(
            u.path_and_query(),
            "/" | "/index.html" | "/index.shtml" | "/index.htm"
        )
    });
    let says_article = e.head.json.article
        || e.head
            .og_type
            .is_some_and(|t| t.eq_ignore_ascii_case("article"));
    let share = prose as f32 / total.tokens.max(1) as f32;
    let linked = total.linked as f32 / total.tokens.max(1) as f32;
    match () {
        () if root => Kind::Hub,
        () if prose >= LONG && (share > 0.3 || e.confidence > 0.85) => Kind::Article,
        () if prose >= SHORT
            && (e.confidence > 0.6 || says_article)
            && (share > 0.08 || details < MANY) =>
        {
            Kind::Article
        }
        () if says_article && prose > 0 && e.confidence > 0.4 => Kind::Article,
        () if details >= MANY && linked > 0.35 => Kind::Hub,
        () if prose >= SHORT && e.confidence > 0.45 => Kind::Article,
        () if details >= 5 && linked > 0.5 => Kind::Hub,
        () if prose > 0 && e.confidence > 0.5 && e.title.is_some() => Kind::Article,
        () => Kind::Other,
    }
}
