//! What a site calls itself. In: its front page, and one of its other pages if there is one. Out: its name for readers.
//! A page that says it (`og:site_name`) is believed; else it is what the titles of both have in common.

use std::sync::LazyLock;

use super::head::Head;
use super::title_parts::Parts;
use crate::cues;
use crate::page::Page;

/// Longer texts are slogans.
const MAX_CHARS: usize = 40;
/// Parts of titles that name no site; what stands before and behind the name in the title of a front page.
static WORDS: LazyLock<[Vec<String>; 3]> =
    LazyLock::new(|| ["site.general", "site.before", "site.after"].map(cues::words));

/// The name of the site that `page` is of, if it can be told.
pub fn site_title(page: &Page, other: Option<&Page>) -> Option<String> {
    let head = Head::of(page);
    if let Some(name) = head.site_name.and_then(name) {
        return Some(name);
    }
    let here = names(&head.title);
    if let Some(other) = other {
        let there = names(&Head::of(other).title);
        if let Some(common) = there.iter().rev().find(|name| here.contains(name)) {
            return Some(common.clone());
        }
    }
    let is_front = page.url.as_ref().is_some_and(|u| u.path_and_query() == "/");
    match is_front {
        true => here.into_iter().next(),
        false => here.into_iter().next_back(),
    }
}

/// The parts of a title that may be the name of a site.
fn names(title: &str) -> Vec<String> {
    let parts = Parts::of(title).parts;
    parts.iter().filter_map(|part| name(part)).collect()
}

fn name(text: &str) -> Option<String> {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut text = text.trim();
    if is_general(text) {
        return None;
    }
    let [_, before, after] = &*WORDS;
    for before in before {
        let begins = |head: &str| head.to_lowercase() == *before;
        let rest = text.split_at_checked(before.len());
        text = rest
            .filter(|(head, _)| begins(head))
            .map_or(text, |(_, rest)| rest);
    }
    for after in after {
        let rest = text.strip_suffix(after.as_str()).unwrap_or(text);
        // 新华网 is left of 新华网首页; of 一首页 nothing would be.
        text = if rest.chars().count() >= 2 {
            rest
        } else {
            text
        };
    }
    let text = text.trim();
    let fits = (2..=MAX_CHARS).contains(&text.chars().count());
    (fits && !is_general(text)).then(|| text.to_owned())
}

fn is_general(text: &str) -> bool {
    WORDS[0].contains(&text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;
    use taojin_uri::CrawlUri;

    fn page(url: &str, head: &str) -> Page {
        let hints = Hints {
            url: CrawlUri::parse(url).ok(),
            ..Hints::default()
        };
        Page::parse(
            format!("<head>{head}</head><body><p>油</p>").as_bytes(),
            hints,
        )
    }

    #[test]
    fn a_site_is_called_as_its_pages_say() {
        let article = "<title>塔里木油田日产创新高_新闻中心_西部油气网</title>";
        for (url, front, other, wanted) in [
            (
                "http://a.cn/",
                "<title>西部油气网</title>",
                "",
                Some("西部油气网"),
            ),
            (
                "http://a.cn/",
                "<title>首页 - 西部油气网</title>",
                "",
                Some("西部油气网"),
            ),
            (
                "http://a.cn/",
                "<title>西部油气网首页</title>",
                "",
                Some("西部油气网"),
            ),
            (
                "http://a.cn/",
                "<title>石油天然气门户_西部油气网</title>",
                article,
                Some("西部油气网"),
            ),
            (
                "http://a.cn/news/",
                "<title>新闻中心 | 西部油气网</title>",
                "",
                Some("西部油气网"),
            ),
            (
                "http://a.cn/",
                "<meta property=\"og:site_name\" content=\"Oil &amp; Gas\"><title>Front</title>",
                article,
                Some("Oil & Gas"),
            ),
            ("http://a.cn/", "<title>Home</title>", "", None),
            ("http://a.cn/", "", "", None),
        ] {
            let other = (!other.is_empty()).then(|| page("http://a.cn/1.html", other));
            let found = site_title(&page(url, front), other.as_ref());
            assert_eq!(found.as_deref(), wanted, "{front}");
        }
    }
}
