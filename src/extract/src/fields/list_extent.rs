//! Tells whether a list goes on where no address of its page leads: a script that asks for the rest is not run, so that
//! what is behind it is not read, and whoever reads the list should say so.

use std::sync::LazyLock;

use regex::Regex;

use super::links::{PAGING_BYTES, Paging, classify_paging};
use crate::cues;
use crate::document::{Document, LinkKind};
use crate::literals::compile_regex;
use crate::page::{Attr, NodeId, Page, Tag};

/// Texts of a page that are looked at, and nodes of what one of them is in.
const MAX_PLACES: usize = 400;
const MAX_NODES: usize = 40;
/// Longest text of a pager, in bytes.
const MAX_TEXT: usize = 240;
/// Bytes of a script's beginning that are looked at.
const MAX_SCRIPT: usize = 64 << 10;

/// `共 12 页`, `第 1 页 共 12 页`, `共 12 页 第 1 页`, `第 1/12 页`, `Page 1 of 12`: the current page, if it is there, and how many
/// there are.
static PAGES: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(concat!(
        r"(?i)(?:第?\s*(\d{1,5})\s*(?:[页頁]\s*[/／,，、|]?|[/／,，、|])\s*)?",
        r"(?:共|总共|总计|總共)[计有分計]?\s*(\d{1,5})\s*[页頁]",
        r"(?:\s*[/／,，、|]?\s*(?:当前|目前|當前)?(?:是|为)?第\s*(\d{1,5})\s*[页頁])?",
        r"|(?:第|页次|页码|頁次)[:：]?\s*(\d{1,5})\s*[/／]\s*(\d{1,5})",
        r"|\bpage\s+(\d{1,5})\s+of\s+(\d{1,5})|全\s*(\d{1,5})\s*ページ",
    ))
});
/// `共 118 条`, but of no comments.
static ITEMS: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"(?:共|总共|总计|总数|總共|全|找到|检索到|查询到)[计有約约计計]?\s*[:：]?\s*(\d{1,7})\s*(?:条|條|篇|项|項|则|則|件)(评论|評論|回复|回覆|跟帖|留言)?",
    )
});
/// How many pages and records a script says that there are.
static COUNTS: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(concat!(
        r#"(?i)(?:total_?pages?|page_?count|count_?pages?|page_?total)["']?\s*[:=>]\s*["']?(\d{1,5})\b"#,
        r#"|(?:total_?records?|record_?count|records?_?total)["']?\s*[:=>]\s*["']?(\d{1,7})\b"#,
    ))
});
/// Buttons that load more into the page.
static LOADING: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("page.loads"));

/// Whether a list shows that it has more than its page, and no link of it leads there.
pub fn is_list_cut(page: &Page, document: &Document) -> bool {
    let own = document.url.as_str();
    let leads_on = document.links.iter().any(|link| {
        let is_short = link.text.len() <= PAGING_BYTES;
        link.url != own
            && is_short
            && matches!(
                classify_paging(&link.text),
                Some(Paging::Number(_) | Paging::Next | Paging::Previous)
            )
    });
    if leads_on {
        return false;
    }
    let shown = document.links.iter();
    let shown = shown.filter(|link| link.kind == LinkKind::Article).count();
    let mut extent = Extent {
        shown,
        has_more: false,
        is_whole: false,
    };
    extent.read_texts(page);
    extent.read_scripts(page);
    extent.has_more && !extent.is_whole
}

/// Whether a link with an address goes to another page of the list. The first link to a page may have other words than its
/// number, the name of its section, and the links of the document have but those.
fn leads_to_a_page(page: &Page, id: NodeId) -> bool {
    const NODES: usize = 4;
    let href = page.attr(id, Attr::Href).map(str::trim).unwrap_or_default();
    let begins = |with: &str| {
        let begin = href.get(..with.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(with))
    };
    if href.is_empty() || begins("#") || begins("javascript:") || page.subtree(id).len() > NODES {
        return false;
    }
    let text = page.inline_text(id);
    text.len() <= PAGING_BYTES
        && matches!(
            classify_paging(&text),
            Some(Paging::Number(_) | Paging::Next | Paging::Previous)
        )
}

/// What a page says of its list.
struct Extent {
    /// Items that it shows.
    shown: usize,
    has_more: bool,
    /// It says that there is one page, or that this is the last.
    is_whole: bool,
}

impl Extent {
    fn read_texts(&mut self, page: &Page) {
        let mut places = 0;
        for (id, node) in page.nodes().iter().enumerate() {
            let id = id as NodeId;
            if node.tag == Tag::A && leads_to_a_page(page, id) {
                self.is_whole = true;
                return;
            }
            let is_button = matches!(node.tag, Tag::A | Tag::BUTTON)
                || (node.tag != Tag::TEXT && page.attr(id, Attr::OnClick).is_some());
            if is_button && places < MAX_PLACES && self.is_dead_end(page, id) {
                places += 1;
                self.has_more = true;
            }
            let may_count = node.tag == Tag::TEXT && {
                let text = page.text(id);
                text.len() <= MAX_TEXT && SIGNS.iter().any(|sign| text.contains(sign))
            };
            if may_count && places < MAX_PLACES {
                places += 1;
                let mut around = std::iter::once(id).chain(page.ancestors(id).take(2));
                // The number is mostly in an element of its own.
                let _ = around.any(|at| {
                    page.subtree(at).len() <= MAX_NODES && self.read_counts(&page.inline_text(at))
                });
            }
        }
    }

    /// Whether a text says how long the list is.
    fn read_counts(&mut self, text: &str) -> bool {
        if text.len() > 2 * MAX_TEXT {
            return false;
        }
        let number = |found: Option<regex::Match<'_>>| found?.as_str().parse::<usize>().ok();
        let mut reads = false;
        if let Some(found) = PAGES.captures(text) {
            let groups = [(1, 2), (4, 5), (6, 7), (1, 8)];
            let found = groups
                .into_iter()
                .find_map(|(at, of)| Some((number(found.get(at)), number(found.get(of))?)))
                .map(|(at, of)| (at.or(number(found.get(3))), of));
            if let Some((at, total)) = found {
                reads = true;
                self.is_whole |= total <= 1 || at == Some(total);
                self.has_more |= total > 1;
            }
        }
        if let Some(found) = ITEMS.captures(text).filter(|found| found.get(2).is_none()) {
            reads = true;
            self.has_more |= number(found.get(1)).is_some_and(|total| total > self.shown);
        }
        reads
    }

    /// Whether an element leads to the next page for who runs scripts.
    fn is_dead_end(&self, page: &Page, id: NodeId) -> bool {
        if page.subtree(id).len() > MAX_NODES {
            return false;
        }
        let href = page.attr(id, Attr::Href).map(str::trim);
        let is_clickable = page.attr(id, Attr::OnClick).is_some()
            || page.node(id).tag == Tag::BUTTON
            || href.is_some_and(|href| {
                let is_script = href
                    .get(..11)
                    .is_some_and(|begin| begin.eq_ignore_ascii_case("javascript:"));
                is_script || href.starts_with('#')
            });
        let class = page.attr(id, Attr::Class).unwrap_or_default();
        let is_off = ["disab", "inactive", "nolink", "no-link", "gray", "grey"];
        if !is_clickable || is_off.iter().any(|word| class.contains(word)) {
            return false;
        }
        let text = page.inline_text(id);
        let core = text.trim_matches(|c: char| !c.is_alphanumeric());
        text.len() <= PAGING_BYTES
            && !core.is_empty()
            && (classify_paging(&text) == Some(Paging::Next)
                || LOADING.contains(&core.to_lowercase()))
    }

    fn read_scripts(&mut self, page: &Page) {
        for script in page.scripts() {
            let text = &script.text;
            let head = text
                .get(..text.floor_char_boundary(MAX_SCRIPT))
                .unwrap_or_default();
            for found in COUNTS.captures_iter(head).take(MAX_PLACES) {
                let number = |at| found.get(at)?.as_str().parse::<usize>().ok();
                self.has_more |= number(1).is_some_and(|pages| pages > 1);
                self.has_more |= number(2).is_some_and(|records| records > self.shown);
            }
        }
    }
}

/// One of these is in each text that counts pages or items.
const SIGNS: [&str; 12] = [
    "共",
    "总",
    "總",
    "页",
    "頁",
    "全",
    "找到",
    "检索到",
    "查询到",
    "Page ",
    "page ",
    "PAGE ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;
    use crate::{Context, extract};
    use taojin_uri::CrawlUri;

    #[test]
    fn list_cut_by_what_it_shows() {
        let items: String = (0..9)
            .map(|n| format!("<li><a href='/art/2026/5/{n}/a_{n}00{n}.html'>第{n}号灌区春季检修工程公告发布</a> 2026-05-0{n}</li>"))
            .collect();
        for (below, want) in [
            ("<a href='javascript:go(2)'>下一页</a>", true),
            ("<button>加载更多</button>", true),
            ("<span>共<b>12</b>页</span> <a href='#'>尾页</a>", true),
            ("<div>共 118 条</div>", true),
            ("<div>Page 1 of 7</div>", true),
            ("<script>var totalPage = 6;</script>", true),
            (
                "<script type='text/xml'><totalrecord>118</totalrecord></script>",
                true,
            ),
            ("", false),
            ("<div>共 9 条</div>", false),
            ("<div>共 218 条评论</div>", false),
            (
                "<div>共 1 页 <a href='javascript:;'>下一页</a></div>",
                false,
            ),
            ("<div>第 4 页 / 共 4 页</div>", false),
            ("<div>第2页 共2页</div>", false),
            ("<div>共 2 页，当前第 2 页</div>", false),
            ("<div>第2页 共5页</div>", true),
            // The page is known by the name of its section.
            (
                "<a href='/tu/'>图片</a><div>共 3 页 <a href='/tu/'>1</a></div>",
                false,
            ),
            ("<a class='disabled' href='javascript:;'>下一页</a>", false),
            ("<span>下一页</span>", false),
            (
                "<div>共 12 页 <a href='/list_2.html'>下一页</a></div>",
                false,
            ),
            (
                "<div>共 12 页 <a href='/list_11.html'>上一页</a> <a href='#'>下一页</a></div>",
                false,
            ),
            (
                "<div>共 3 页</div><script>createPageHTML(3, 0, 'index', 'html')</script>",
                false,
            ),
        ] {
            let html = format!("<title>公告</title><h1>公告</h1><ul>{items}</ul>{below}");
            let hints = Hints {
                url: CrawlUri::parse("http://a.cn/").ok(),
                ..Hints::default()
            };
            let page = Page::parse(html.as_bytes(), hints);
            let document = extract(&page, &Context::default());
            assert_eq!(is_list_cut(&page, &document), want, "{below}");
        }
    }
}
