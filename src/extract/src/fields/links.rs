//! What the links of a page lead to. In: the raw links and where they stand. Out: [`Link`]s with a kind.
//! Never fetches; a kind is a guess from text, place and address.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::attachments::attachments;
use super::link_address::{is_detail, said};
use crate::cues;
use crate::document::{Attachment, Link, LinkKind};
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::measure::Measure;
use crate::page::{LinkRole, Page, RawLink};

/// Longest link text kept, in characters.
const MAX_TEXT: usize = 200;
/// A link text of this many tokens is a headline.
const HEADLINE_TOKENS: u32 = 8;
/// So is one of more words or characters.
const PAGING_TOKENS: u32 = 8;
/// A longer text is no "next page", whatever signs stand around it.
const PAGING_BYTES: usize = 60;
/// Digits of the number of a page.
const PAGING_DIGITS: usize = 4;

/// What a link to another page of a list or text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paging {
    /// The number of a page.
    Number(usize),
    /// 下一页, next.
    Next,
    /// 上一页, previous.
    Previous,
    /// 首页, last, more.
    Other,
}

/// What the texts of such links say.
struct PagingWords {
    /// Each in lower case, `#` standing for a number.
    says: HashMap<String, Paging, RandomState>,
    /// Bytes of the longest.
    longest: usize,
}

static PAGING: LazyLock<PagingWords> = LazyLock::new(|| {
    let sections = [
        ("page.number", Paging::Number(0)),
        ("page.next", Paging::Next),
        ("page.previous", Paging::Previous),
        ("page.other", Paging::Other),
    ];
    let words = |(section, paging)| cues::words(section).into_iter().map(move |w| (w, paging));
    let says: HashMap<_, _, RandomState> = sections.into_iter().flat_map(words).collect();
    let longest = says.keys().map(String::len).max().unwrap_or(0);
    PagingWords { says, longest }
});

impl Link {
    /// Whether it leads to another page of the list it stands in: "next", "下一页", a number.
    pub fn continues_list(&self) -> bool {
        let is_short = self.text.len() <= PAGING_BYTES;
        let said = paging(&self.text).filter(|_| is_short);
        self.kind == LinkKind::Hub && !matches!(said, None | Some(Paging::Other))
    }
}

/// The links of a page with their kinds, and those that are attachments; `title` is the line of the headline.
pub(crate) fn links(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    raw: Vec<RawLink>,
) -> (Vec<Link>, Vec<Attachment>) {
    let own = page.url.as_ref().map(|url| (url.host(), site(url.host())));
    let attachments = attachments(page, outline, title, &raw);
    let links = raw
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
    if may_page && paging(&raw.text).is_some() {
        return LinkKind::Hub;
    }
    let marks = outline.marks_at(raw.node);
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

/// What a text says of another page, if it says nothing else.
pub(crate) fn paging(text: &str) -> Option<Paging> {
    let core = text.trim_matches(|c: char| !c.is_alphanumeric());
    if core.is_empty() {
        let signs = [
            ('»', Paging::Next),
            ('›', Paging::Next),
            ('>', Paging::Next),
        ];
        let signs = signs
            .into_iter()
            .chain([('«', Paging::Previous), ('‹', Paging::Previous)]);
        return signs
            .into_iter()
            .find_map(|(sign, says)| text.contains(sign).then_some(says));
    }
    if core.len() > PAGING_BYTES {
        return None;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let behind = core.trim_start_matches(|c| !is_digit(c));
    let words = behind.trim_start_matches(is_digit);
    let digits = behind.get(..behind.len() - words.len()).unwrap_or_default();
    if digits.len() == core.len() {
        return (digits.len() <= PAGING_DIGITS).then(|| digits.parse().ok().map(Paging::Number))?;
    }
    // Most links are headlines: they are longer than any of the words.
    let blanks: usize = core.matches(char::is_whitespace).map(str::len).sum();
    if core.len() - digits.len() > PAGING.longest + blanks {
        return None;
    }
    let key = match digits {
        "" => core.to_lowercase(),
        _ => {
            let before = core.get(..core.len() - behind.len()).unwrap_or_default();
            let chars = before.chars().chain(['#']).chain(words.chars());
            let shown = chars.filter(|c| !c.is_whitespace());
            shown.flat_map(char::to_lowercase).collect()
        }
    };
    match PAGING.says.get(&key)? {
        Paging::Number(_) => digits.parse().ok().map(Paging::Number),
        says => Some(*says),
    }
}

/// The registered part of a host: hosts of one site share it.
fn site(host: &str) -> &str {
    taojin_uri::registrable_domain(host).unwrap_or(host)
}
