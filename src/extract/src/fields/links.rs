//! What the links of a page lead to. In: the raw links and where they stand. Out: [`Link`]s with a kind.
//! Never fetches; a kind is a guess from text, place and address.

use std::sync::LazyLock;

use regex::Regex;

use super::attachments::attachments;
use super::link_address::{is_detail, said};
use crate::document::{Attachment, Link, LinkKind};
use crate::lines::hints::Marks;
use crate::lines::measure::Measure;
use crate::lines::outline::Outline;
use crate::page;
use crate::page::{LinkRole, Page, RawLink};

/// Longest link text kept, in characters.
const MAX_TEXT: usize = 200;
/// A link text of this many tokens is a headline.
const HEADLINE_TOKENS: u32 = 8;
/// So is one of more words or characters.
const PAGING_TOKENS: u32 = 8;
/// A longer text is no "next page", whatever signs stand around it.
const PAGING_BYTES: usize = 200;

/// What links to another part of a list or text say.
pub(crate) static PAGING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\W*(上一?页|下一?页|首页|末页|尾页|前页|后页|第\s*\d+\s*页|\d{1,4}|更多|更多>*|查看更多|more|next( page)?|prev(ious)?( page)?|older( posts)?|newer( posts)?|first|last|»|›|>|>>|«)\W*$",
    )
    .expect("the pattern is a constant that a test compiles")
});
/// The same without numbers and signs.
const PAGING_WORDS: [&str; 24] = [
    "上页",
    "上一页",
    "下页",
    "下一页",
    "首页",
    "末页",
    "尾页",
    "前页",
    "后页",
    "更多",
    "查看更多",
    "more",
    "next",
    "next page",
    "prev",
    "prev page",
    "previous",
    "previous page",
    "older",
    "older posts",
    "newer",
    "newer posts",
    "first",
    "last",
];

impl Link {
    /// Whether it leads to another page of the list it stands in: "next", "下一页", a number.
    pub fn continues_list(&self) -> bool {
        let elsewhere = |text: &str| {
            let lower = text.to_lowercase();
            ["更多", "more", "首页"].iter().any(|w| lower.contains(w))
        };
        let is_short = self.text.len() <= PAGING_BYTES;
        self.kind == LinkKind::Hub && is_short && is_paging(&self.text) && !elsewhere(&self.text)
    }
}

/// The links of a page with their kinds, at most `limit`, and those that are attachments; `title` is the line of the headline.
pub(crate) fn links(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    limit: usize,
) -> (Vec<Link>, Vec<Attachment>) {
    let own = page.url.as_ref().map(|url| (url.host(), site(url.host())));
    let links = page::links(page, limit);
    let attachments = attachments(page, outline, title, &links);
    let links = links
        .into_iter()
        .filter(|raw| raw.role != LinkRole::Canonical)
        .map(|raw| Link {
            kind: kind(own, outline, &raw),
            nofollow: raw.nofollow,
            url: raw.url.into(),
            text: cut(raw.text),
        })
        .collect();
    (links, attachments)
}

/// The first characters of a link's text.
fn cut(mut text: String) -> String {
    // Most texts have not even as many bytes.
    if text.len() > MAX_TEXT
        && let Some((end, _)) = text.char_indices().nth(MAX_TEXT)
    {
        text.truncate(end);
    }
    text
}

/// What a link seems to lead to; `own` is the page's host and the registered part of it.
fn kind(own: Option<(&str, &str)>, outline: &Outline, raw: &RawLink) -> LinkKind {
    match raw.role {
        LinkRole::Feed => return LinkKind::Feed,
        LinkRole::Part => return LinkKind::Hub,
        LinkRole::Refresh | LinkRole::Frame | LinkRole::Canonical => return LinkKind::Other,
        LinkRole::Anchor => {}
    }
    let path = raw.url.path_and_query();
    let said = said(path);
    if said.useless {
        return LinkKind::Other;
    }
    let host = raw.url.host();
    let elsewhere = own.is_some_and(|own| own.0 != host && own.1 != site(host));
    let tokens = Measure::of(&raw.text).tokens;
    let may_page = !elsewhere && tokens <= PAGING_TOKENS && raw.text.len() <= PAGING_BYTES;
    if may_page && is_paging(&raw.text) {
        return LinkKind::Hub;
    }
    let marks = outline
        .lines
        .get(outline.line_at(raw.node))
        .map(|l| l.marks)
        .unwrap_or_default();
    let headline = tokens >= HEADLINE_TOKENS;
    let menu = !headline && marks.any(Marks::NAV.with(Marks::HEADER).with(Marks::FOOTER));
    let detail = || is_detail(path);
    let unlisted = !menu && !said.list;
    match () {
        () if unlisted && (headline || detail()) => LinkKind::Article,
        () if headline && detail() => LinkKind::Article,
        () if elsewhere => LinkKind::Other,
        () if !unlisted || (1..=6).contains(&tokens) => LinkKind::Hub,
        () => LinkKind::Other,
    }
}

/// What [`PAGING`] says of a text; it is asked itself only about letters and signs that are rare.
pub(crate) fn is_paging(text: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric() || is_han(c);
    let is_usual = |c: char| c.is_ascii() || is_han(c) || matches!(c, '»' | '›' | '«');
    let core = text.trim_matches(|c| is_usual(c) && !is_word(c));
    let may_begin = match core.chars().next() {
        None => return text.contains(['»', '›', '>', '«']),
        Some(han) if is_han(han) => "上下首末尾前后第更查".contains(han),
        Some(letter @ ('a'..='z' | 'A'..='Z')) => "mnpofl".contains(letter.to_ascii_lowercase()),
        Some(_) => true,
    };
    if !may_begin {
        return false;
    }
    if !core.chars().all(is_usual) {
        return PAGING.is_match(text);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let counted = core.strip_prefix('第').and_then(|c| c.strip_suffix('页'));
    (is_number(core) && core.len() <= 4)
        || counted.is_some_and(|counted| is_number(counted.trim()))
        || PAGING_WORDS.iter().any(|w| core.eq_ignore_ascii_case(w))
}

/// A Chinese character of those in use.
fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FA5}')
}

/// The registered part of a host: hosts of one site share it.
fn site(host: &str) -> &str {
    let domain = psl::domain_str(host);
    domain.unwrap_or(host)
}
