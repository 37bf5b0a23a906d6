//! Links with a guess of where they lead. In: a [`Page`]. Out: [`Link`]s in document order. The guess is made from the
//! link's text and the shape of its address alone; the crawler follows all of them and learns what they are.

use super::document::{Link, LinkKind};
use crate::page::{self, LinkRole, Page, RawLink};
use crate::uri::CrawlUri;

/// Headlines are longer than the names of sections.
const HEADLINE_CHARS: usize = 8;
/// Digits in a row that number an article or are its date.
const NUMBER_DIGITS: usize = 4;
/// What turns the pages of a list.
const TURNING: &[&str] = &[
    "下一页",
    "上一页",
    "下页",
    "上页",
    "首页",
    "尾页",
    "末页",
    "更多",
    "更多>>",
    "more",
    "next",
    "previous",
    "prev",
    "older",
    "newer",
    ">",
    ">>",
    "»",
    "›",
    "<",
    "<<",
    "«",
    "‹",
];

/// The links of a page, at most `limit`, without its canonical address and what is shown inside it.
pub(super) fn links(page: &Page, limit: usize) -> Vec<Link> {
    let raw = page::links(page, limit);
    let followed = raw
        .into_iter()
        .filter(|l| !matches!(l.role, LinkRole::Canonical));
    followed
        .map(|link| Link {
            kind: kind(&link),
            url: link.url.as_str().to_owned(),
            text: link.text,
            nofollow: link.nofollow,
        })
        .collect()
}

fn kind(link: &RawLink) -> LinkKind {
    match link.role {
        LinkRole::Feed => LinkKind::Feed,
        LinkRole::Part => LinkKind::Hub,
        _ if turns_pages(&link.text) => LinkKind::Hub,
        _ if is_numbered(&link.url) => LinkKind::Article,
        _ if link.text.chars().count() >= HEADLINE_CHARS && !is_directory(&link.url) => {
            LinkKind::Article
        }
        _ if is_directory(&link.url) => LinkKind::Hub,
        _ => LinkKind::Other,
    }
}

/// `下一页`, `»`, or a page number.
fn turns_pages(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let is_number = !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    is_number || TURNING.contains(&text.as_str())
}

/// The last segment or the query holds a number or a date, as articles have it.
fn is_numbered(uri: &CrawlUri) -> bool {
    let last = uri.path_and_query().rsplit('/').next().unwrap_or_default();
    let digits = last
        .split(|c: char| !c.is_ascii_digit())
        .map(str::len)
        .max();
    digits.unwrap_or(0) >= NUMBER_DIGITS
}

/// The address of a directory, or of its index.
fn is_directory(uri: &CrawlUri) -> bool {
    let last = uri.path_and_query().rsplit('/').next().unwrap_or_default();
    last.is_empty()
        || last.starts_with("index")
        || last.starts_with("list")
        || last.starts_with("default")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    #[test]
    fn links_are_told_apart_by_text_and_address() {
        let html = r#"<link rel="alternate" type="application/rss+xml" href="/rss.xml"><link rel=canonical href=/x>
            <a href="/news/">新闻</a><a href="/news/2016/0509/100123.html">世界石油大会在京召开</a>
            <a href="/news/list_2.html">下一页</a><a href="/about">关于我们</a><a href="?page=3">3</a>
            <a href="/a/well-drilled-in-the-north">Well drilled in the north</a>"#;
        let hints = Hints {
            url: CrawlUri::parse("http://a.example/").ok(),
            ..Hints::default()
        };
        let found: Vec<_> = links(&Page::parse(html.as_bytes(), hints), 100)
            .into_iter()
            .map(|l| (l.url.replace("http://a.example", ""), l.kind))
            .collect();
        let expected = [
            ("/rss.xml", LinkKind::Feed),
            ("/news/", LinkKind::Hub),
            ("/news/2016/0509/100123.html", LinkKind::Article),
            ("/news/list_2.html", LinkKind::Hub),
            ("/about", LinkKind::Other),
            ("/?page=3", LinkKind::Hub),
            ("/a/well-drilled-in-the-north", LinkKind::Article),
        ];
        let expected: Vec<_> = expected.map(|(u, k)| (u.to_owned(), k)).into();
        assert_eq!(found, expected);
    }
}
