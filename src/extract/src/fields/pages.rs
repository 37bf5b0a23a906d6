//! Finds the other pages of an article that is printed over several: [`Pages`] holds the URLs of those that follow, or of
//! the first.
//!
//! Two signs must agree: the URL is that of the first page with a number (`a_2.html`, `a/2`, `?page=2`), and a link in the
//! text or right below it has that number or reads "next page". One alone is not enough: the next article has a number too,
//! and a list has a next page.

use std::sync::LazyLock;

use std::collections::HashSet;

use super::links::{PAGING_BYTES, Paging, classify_paging};
use crate::cues;
use crate::date::Anchors;
use crate::document::{Document, Link};
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{LinkRole, Page, RawLink};
use taojin_uri::CrawlUri;

/// Lines below the text among which a pager is: buttons, editors and an advertisement may be between.
const LINES_BELOW: usize = 25;
/// Most pages of an article that are listed; no pager shows more.
const MOST: usize = 200;
/// Digits of a page's number: what has more is a date or the number of an article.
const DIGITS: usize = 3;
/// Names of the number in a query.
static PARAMETERS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("query.page"));

/// What leads to the next page of an article, and from a list to each of its articles.
static CONTINUES: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("page.continues"));

/// The other pages of an article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    /// Those that follow, in order.
    pub following: Vec<String>,
    /// The first, where this is a later one.
    pub first: Option<String>,
}

impl Pages {
    /// The pages that the links of a page with a text mention.
    pub(crate) fn find(
        page: &Page,
        outline: &Outline,
        links: &[RawLink],
        anchors: Anchors,
    ) -> Self {
        let (Some(own), Some(start)) = (&page.url, anchors.body_start) else {
            return Self::default();
        };
        let end = anchors.body_end + LINES_BELOW;
        let stands_beside = |link: &&RawLink| {
            let at = outline.line_at(link.node);
            link.role == LinkRole::Part
                || link.role == LinkRole::Anchor
                    && (start..end).contains(&at)
                    && !outline.marks_at(link.node).any(Marks::ELSEWHERE)
        };
        let same_host = |link: &&RawLink| link.url.authority() == own.authority();
        let mut pager: Vec<(&RawLink, Paging)> = Vec::new();
        for link in links.iter().filter(same_host).filter(stands_beside) {
            let said = match link.role {
                LinkRole::Part => Some(Paging::Other),
                _ => read_label(page, link),
            };
            pager.extend(said.map(|said| (link, said)));
        }
        let called: Vec<&RawLink> = links
            .iter()
            .filter(same_host)
            .filter(|link| link.role == LinkRole::Pager)
            .collect();
        if !called.is_empty() {
            return Self::of_call(&called);
        }
        if pager.is_empty() {
            return Self::default();
        }
        read_numbers(own)
            .iter()
            .map(|own| own.pages(&pager))
            .max_by_key(|pages| (pages.first.is_some(), pages.following.len()))
            .unwrap_or_default()
    }

    /// Those that a script writes, each with its number.
    fn of_call(called: &[&RawLink]) -> Self {
        let address = |link: &&RawLink| link.url.as_str().to_owned();
        let is_first = |link: &&&RawLink| link.text == "1";
        Self {
            first: called.iter().find(is_first).map(address),
            following: called
                .iter()
                .filter(|link| !is_first(link))
                .map(address)
                .collect(),
        }
    }
}

/// What a link says of another page: the text of it, or the number in the pager where it has other words first.
fn read_label(page: &Page, link: &RawLink) -> Option<Paging> {
    classify_paging(&link.text)
        .or_else(|| classify_paging(&page.inline_text(link.numbered?)))
        .or_else(|| {
            let shown = link.text.trim_matches(|c: char| !c.is_alphanumeric());
            let is_short = shown.len() <= PAGING_BYTES;
            let shown = Some(shown).filter(|_| is_short)?;
            CONTINUES
                .contains(&shown.to_lowercase())
                .then_some(Paging::Rest)
        })
}

/// A URL read as that of one page of an article.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbered {
    /// The URL of the first page, without the number.
    first: String,
    number: usize,
    /// Articles of one directory may be numbered so too: only next to a link to the first is it a page's number.
    loose: bool,
}

impl Numbered {
    /// The pages of the same article among the links of a pager.
    fn pages(&self, pager: &[(&RawLink, Paging)]) -> Pages {
        let mut found: Vec<(usize, &RawLink)> = Vec::new();
        for (link, said) in pager {
            let same = |other: &Numbered| other.first == self.first;
            let Some(other) = read_numbers(&link.url).into_iter().find(same) else {
                continue;
            };
            let agrees = match said {
                Paging::Number(number) => *number == other.number,
                Paging::Next => other.number > self.number,
                // The words of a list for each of its articles too.
                Paging::Rest => other.number == self.number + 1 && !other.loose,
                Paging::Previous => other.number < self.number,
                Paging::Other => {
                    other.number.abs_diff(self.number) == 1 && link.role == LinkRole::Part
                }
            };
            if agrees && other.number != self.number {
                found.push((other.number, link));
            }
        }
        found.sort_by_key(|(number, _)| *number);
        found.dedup_by_key(|(number, _)| *number);
        let begins = found.first().is_some_and(|(number, _)| *number == 1);
        if self.number > 1 && self.loose && !begins {
            return Pages::default();
        }
        let address = |link: &RawLink| link.url.as_str().to_owned();
        let earlier = found.iter().find(|(number, _)| *number < self.number);
        let first = earlier.map(|(number, link)| match number {
            1 => address(link),
            _ => self.first.clone(),
        });
        let following = found.iter().filter(|(number, _)| *number > self.number);
        Pages {
            following: following
                .take(MOST)
                .map(|(_, link)| address(link))
                .collect(),
            first,
        }
    }
}

impl Document {
    /// Takes in the page on which an article continues. False, and nothing is taken, where that page says hardly anything new: a
    /// page of the comments shows the article again.
    pub fn append_page(&mut self, next: Document) -> bool {
        let known: HashSet<&str> = self.text.lines().collect();
        let is_new = |line: &&str| !known.contains(line);
        let new: usize = next.text.lines().filter(is_new).map(str::len).sum();
        if new * 2 <= next.text.len() {
            return false;
        }
        // What is above the text of each page: the lead, a note of the editor.
        let again = next.text.lines().take_while(|line| !is_new(line)).count();
        let paragraphs = self.text.lines().count();
        for mut image in next.images {
            let after = (image.after as usize).saturating_sub(again) + paragraphs;
            image.after = u32::try_from(after).unwrap_or(u32::MAX);
            if !self.images.iter().any(|known| known.url == image.url) {
                self.images.push(image);
            }
        }
        let moved = u32::try_from(paragraphs).unwrap_or(u32::MAX);
        self.structure.append(
            next.structure,
            u32::try_from(again).unwrap_or(u32::MAX),
            moved,
        );
        for line in next.text.lines().skip(again) {
            self.text.push('\n');
            self.text.push_str(line);
        }
        for comment in next.comments {
            if !self.comments.contains(&comment) {
                self.comments.push(comment);
            }
        }
        let known: HashSet<String> = self.links.iter().map(|link| link.url.clone()).collect();
        let is_new = |link: &Link| !known.contains(&link.url) && link.url != self.url;
        self.links.extend(next.links.into_iter().filter(is_new));
        self.pages.push(next.url);
        true
    }
}

/// What a URL may be: the first page, and where it has a number the page of that number.
fn read_numbers(url: &CrawlUri) -> Vec<Numbered> {
    let whole = url.as_str();
    let mut out = vec![Numbered {
        first: strip_index(whole).to_owned(),
        number: 1,
        loose: false,
    }];
    let mut add = |first: String, digits: &str, loose: bool| {
        let fits = (1..=DIGITS).contains(&digits.len()) && !digits.starts_with('0');
        // Of a loose number the first has none: `article-1` and `article-2` are two articles.
        let number = digits
            .parse()
            .ok()
            .filter(|number| fits && !(loose && *number == 1));
        if let Some(number) = number {
            let first = strip_index(&first).to_owned();
            out.push(Numbered {
                first,
                number,
                loose,
            });
        }
    };
    let (before, query) = whole.split_once('?').unwrap_or((whole, ""));
    for part in query.split('&') {
        let (name, digits) = part.split_once('=').unwrap_or_default();
        if PARAMETERS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
        {
            let rest: Vec<&str> = query.split('&').filter(|other| *other != part).collect();
            let mark = if rest.is_empty() { "" } else { "?" };
            add(format!("{before}{mark}{}", rest.join("&")), digits, false);
        }
    }
    if !query.is_empty() {
        return out;
    }
    let (folder, name) = before
        .trim_end_matches('/')
        .rsplit_once('/')
        .unwrap_or_default();
    let (stem, ending) = match name.rfind('.') {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = stem.get(letters.len()..).unwrap_or_default();
    if let Some(article) = letters.strip_suffix(['_', '-']) {
        add(
            format!("{folder}/{article}{ending}"),
            digits,
            letters.ends_with('-'),
        );
    }
    if ending.is_empty() && matches!(letters, "" | "p" | "page" | "page-" | "page_") {
        let folder = folder.strip_suffix("/page").unwrap_or(folder);
        add(folder.to_owned(), digits, true);
    }
    out
}

/// One spelling of a directory and its front page.
fn strip_index(address: &str) -> &str {
    let name = address.rsplit('/').next().unwrap_or_default();
    let is_index = name.starts_with("index.") || name.starts_with("default.");
    let folder = if is_index && !name.contains('?') {
        address.strip_suffix(name).unwrap_or(address)
    } else {
        address
    };
    folder.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;
    use crate::structure::{Block, BlockKind, Structure};
    use crate::{Context, extract};

    fn pages(url: &str, links: &str) -> (Vec<String>, Option<String>) {
        let text = "<p>记者从现场了解到，经过一百二十天的施工，改造工程日前通过验收，现场设备运行平稳。</p>";
        let more = "<p>项目负责人介绍，今年更换阀门七台，检修人员由三班增加到四班，夜间值守改为屏幕巡检。</p>";
        let html = format!(
            "<title>储气库投产</title><body><div><a href=/>首页</a> <a href=/b_2.html>2</a></div><h1>储气库投产</h1>\
             <p>2026-05-03 08:30</p>{text}{more}{text}{more}<div class=pager>{links}</div>"
        );
        let hints = Hints {
            url: CrawlUri::parse(url).ok(),
            ..Hints::default()
        };
        let found = extract(&Page::parse(html.as_bytes(), hints), &Context::default());
        (found.pages, found.part_of)
    }

    #[test]
    fn pages_following_by_number() {
        // Address: links => pages. Nothing behind `=>`: the next article, another number, words that are no paging,
        // another article's pages.
        let rows = "\
            a.html: a_2.html 2, a_3.html 3, a_2.html 下一页 => a_2.html a_3.html
            a.html: a_2.html 下一页 => a_2.html
            a.html: a_2.html 第2页 => a_2.html
            a?id=5: a?id=5&page=2 2 => a?id=5&page=2
            slug/: slug/2/ Next page => slug/2/
            slug: slug/page/2 2, slug/page/3 3 => slug/page/2 slug/page/3
            a/index.html: a/index_2.html 次へ => a/index_2.html
            a_2.html: a.html 1, a_3.html 3 => a_3.html
            a.html: a_2.html 余下全文, a.html 1, a_2.html 2, a_3.html 3 => a_2.html a_3.html
            a.html: a_2.html 继续阅读 => a_2.html
            a.html: a_3.html 阅读全文 =>
            list/: list/2 阅读全文, list/3 阅读全文 =>
            a-1.html: a-2.html 下一页 =>
            123: 124 下一页 =>
            a.html: a_2.html 3 =>
            a.html: a_2.html 高清图集 =>
            a.html: b_2.html 2 =>
            a.html: a_20260503.html 下一页 =>";
        for row in rows.lines() {
            let (case, want) = row.split_once("=>").unwrap();
            let (own, links) = case.trim().split_once(": ").unwrap();
            let links = links.split(", ").filter_map(|link| link.split_once(' '));
            let links: String = links
                .map(|(to, text)| format!("<a href='/{to}'>{text}</a> "))
                .collect();
            let (found, _) = pages(&format!("http://a.cn/{own}"), &links);
            assert_eq!(
                found.join(" ").replace("http://a.cn/", ""),
                want.trim(),
                "{row}"
            );
        }
    }

    #[test]
    fn pages_of_call() {
        let call =
            |current: usize| format!("<script>createPageHTML(3, {current}, 'a', 'html')</script>");
        let (following, first) = pages("http://a.cn/t/a.html", &call(0));
        assert_eq!(
            following,
            ["http://a.cn/t/a_1.html", "http://a.cn/t/a_2.html"]
        );
        assert_eq!(first, None);
        let (following, first) = pages("http://a.cn/t/a_1.html", &call(1));
        assert_eq!(following, ["http://a.cn/t/a_2.html"]);
        assert_eq!(first.as_deref(), Some("http://a.cn/t/a.html"));
    }

    #[test]
    fn append_page_continues_text() {
        let page = |url: &str, text: &str| Document {
            url: url.to_owned(),
            text: text.to_owned(),
            ..Document::default()
        };
        let heading = |at| Block {
            at,
            kind: BlockKind::Heading(2),
            ..Block::default()
        };
        let mut article = page("/a", "导语\n第一段写在第一页上");
        let second = Document {
            structure: Structure::new(vec![heading(0), heading(1)]),
            ..page("/a_2", "导语\n第二段写在第二页上")
        };
        assert!(article.append_page(second));
        assert_eq!(article.text, "导语\n第一段写在第一页上\n第二段写在第二页上");
        assert_eq!(article.structure.blocks(), [heading(2)]);
        // The article once more, with other comments below.
        assert!(!article.append_page(page("/a_3", "导语\n第一段写在第一页上")));
        assert!(!article.append_page(page("/a_4", "")));
        assert_eq!(article.pages, ["/a_2"]);
    }

    #[test]
    fn pages_first_from_later() {
        for (own, links, want) in [
            ("a_2.html", "<a href=a.html>上一页</a>", Some("a.html")),
            ("a_3.html", "<a href=a_2.html>上一页</a>", Some("a.html")),
            (
                "a_3.html",
                "<a href=a.html>1</a> <a href=a_2.html>2</a>",
                Some("a.html"),
            ),
            ("a?page=2", "<a href='a?page=1'>1</a>", Some("a?page=1")),
            ("a.html", "<a href=a_2.html>2</a>", None),
            (
                "a_2.html",
                "<a href=b.html>上一篇</a> <a href=/>首页</a>",
                None,
            ),
        ] {
            let (_, first) = pages(&format!("http://a.cn/{own}"), links);
            let want = want.map(|page| format!("http://a.cn/{page}"));
            assert_eq!(first, want, "{own} {links}");
        }
    }
}
