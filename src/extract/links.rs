//! What the links of a page lead to. In: the raw links and where they stand. Out: [`Link`]s with a kind.
//! Never fetches; a kind is a guess from text, place and address.

use std::sync::LazyLock;

use regex::{Regex, bytes};

use super::document::{Link, LinkKind};
use super::link_address::said;
use super::marks::Marks;
use super::measure::Measure;
use super::outline::Outline;
use crate::page::{self, LinkRole, Page, RawLink};

/// Longest link text kept, in characters.
const MAX_TEXT: usize = 200;
/// A link text of this many tokens is a headline.
const HEADLINE_TOKENS: u32 = 8;
/// So is one of more words or characters.
const PAGING_TOKENS: u32 = 8;
/// A longer text is no "next page", whatever signs stand around it.
const PAGING_BYTES: usize = 200;

static PAGING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\W*(上一?页|下一?页|首页|末页|尾页|前页|后页|第\s*\d+\s*页|\d{1,4}|更多|更多>*|查看更多|more|next( page)?|prev(ious)?( page)?|older( posts)?|newer( posts)?|first|last|»|›|>|>>|«)\W*$",
    )
    .expect("the pattern is a constant that a test compiles")
});
/// Paths of detail pages: a date, a long number, a document name with a number, a slug of several words.
static DETAIL: LazyLock<bytes::Regex> = LazyLock::new(|| {
    bytes::Regex::new(
        r"(?i-u)(/(19|20)\d{2}[-/_]?[01]?\d([-/_]?[0-3]?\d)?[/_-][^/]*[^/]|/[a-z_-]*\d{4,}[^/]*(\.s?html?|\.php|\.jsp|\.aspx?)?$|/(t|c|doc|art|content|detail|article|news|info|post|thread|p|a|show|item|id)[-_/]?[\da-f-]{4,}|[?&](id|aid|tid|newsid|articleid|docid|p)=\d{2,}|/[^/]+-[^/]+-[^/]+-[^/]+/?$|/[^/]*[a-z\d][^/]*\.s?html?$)",
    )
    .expect("the pattern is a constant that a test compiles")
});

/// The links of a page with their kinds, at most `limit`.
pub(super) fn links(page: &Page, outline: &Outline, limit: usize) -> Vec<Link> {
    let own = page.url.as_ref().map(|url| (url.host(), site(url.host())));
    page::links(page, limit)
        .into_iter()
        .filter(|raw| raw.role != LinkRole::Canonical)
        .map(|raw| Link {
            kind: kind(own, outline, &raw),
            nofollow: raw.nofollow,
            url: raw.url.into(),
            text: cut(raw.text),
        })
        .collect()
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

/// What a link seems to lead to; `own` is the page's host and the registered part of it. The patterns are dear, so each
/// is asked only where its answer counts.
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
    if may_page && may_be_paging(&raw.text) && PAGING.is_match(&raw.text) {
        return LinkKind::Hub;
    }
    let marks = outline
        .lines
        .get(outline.line_at(raw.node))
        .map(|l| l.marks)
        .unwrap_or_default();
    let headline = tokens >= HEADLINE_TOKENS;
    let menu = !headline && marks.any(Marks::NAV.with(Marks::HEADER).with(Marks::FOOTER));
    let detail = || DETAIL.is_match(path.as_bytes());
    let unlisted = !menu && !said.list;
    match () {
        () if unlisted && (headline || detail()) => LinkKind::Article,
        () if headline && detail() => LinkKind::Article,
        () if elsewhere => LinkKind::Other,
        () if !unlisted || (1..=6).contains(&tokens) => LinkKind::Hub,
        () => LinkKind::Other,
    }
}

/// What [`PAGING`] needs: the first letter of a text is the first of one of its words.
fn may_be_paging(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_punctuation() || c == ' ';
    match text.trim_start_matches(is_sign).chars().next() {
        Some(han @ '\u{4E00}'..='\u{9FFF}') => "上下首末尾前后第更查".contains(han),
        Some(letter @ ('a'..='z' | 'A'..='Z')) => "mnpofl".contains(letter.to_ascii_lowercase()),
        // Digits, arrows and what else is rare.
        _ => true,
    }
}

/// The registered part of a host: hosts of one site share it.
fn site(host: &str) -> &str {
    let domain = psl::domain_str(host);
    domain.unwrap_or(host)
}
