//! Classifies links: other pages by a [`LinkKind`], and files next to the text (附件1：…docx) as [`Attachment`]s. A kind is a
//! guess from text, place and URL.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::file_days::FileDays;
use crate::cues;
use crate::date::stamp::Clock;
use crate::document::{Attachment, Link, LinkKind};
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::address::{format_of_address, format_of_name, format_of_type};
use crate::page::measure::Measure;
use crate::page::{Attr, LinkRole, NodeId, Page, RawLink};

/// Longest link text kept, in characters.
const MAX_TEXT: usize = 200;
/// A link text of this many tokens is a headline.
const HEADLINE_TOKENS: u32 = 8;
/// So is one of more words or characters.
const PAGING_TOKENS: u32 = 8;
/// A longer text is no "next page", whatever signs are around it.
pub(crate) const PAGING_BYTES: usize = 60;
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
    /// 余下全文, continue reading: the next page of a text.
    Rest,
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
    /// Whether it leads to another page of the list it is in: "next", "下一页", a number.
    pub fn continues_list(&self) -> bool {
        let is_short = self.text.len() <= PAGING_BYTES;
        let said = classify_paging(&self.text).filter(|_| is_short);
        self.kind == LinkKind::Hub && !matches!(said, None | Some(Paging::Other))
    }
}

/// The links of a page with their kinds, and those that are attachments; `title` is the line of the headline.
pub(crate) fn classify_links(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    clock: &Clock,
    raw: Vec<RawLink>,
) -> (Vec<Link>, Vec<Attachment>) {
    let own = page.url.as_ref().map(|url| (url.host(), site(url.host())));
    let attachments = find_attachments(page, outline, title, clock, &raw);
    let links = raw
        .into_iter()
        .filter(|raw| raw.role != LinkRole::Canonical)
        .map(|raw| Link {
            kind: classify_link(own, outline, &raw),
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
fn classify_link(own: Option<(&str, &str)>, outline: &Outline, raw: &RawLink) -> LinkKind {
    match raw.role {
        LinkRole::Feed => return LinkKind::Feed,
        LinkRole::Part | LinkRole::Pager => return LinkKind::Hub,
        LinkRole::Refresh | LinkRole::Frame | LinkRole::Canonical | LinkRole::File => {
            return LinkKind::Other;
        }
        LinkRole::Anchor => {}
    }
    let path = raw.url.path_and_query();
    let said = classify_address(path);
    if said.useless {
        return LinkKind::Other;
    }
    let host = raw.url.host();
    let elsewhere = own.is_some_and(|own| own.0 != host && own.1 != site(host));
    let tokens = Measure::new(&raw.text).tokens;
    let may_page = !elsewhere && tokens <= PAGING_TOKENS && raw.text.len() <= PAGING_BYTES;
    if may_page && classify_paging(&raw.text).is_some() {
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
pub(crate) fn classify_paging(text: &str) -> Option<Paging> {
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

/// Endings of files that are no pages.
static FILES: WordList = WordList::new(&[
    "jpg", "jpeg", "png", "gif", "webp", "svg", "ico", "css", "js", "zip", "rar", "7z", "exe",
    "apk", "dmg", "mp3", "mp4", "avi", "mov", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
]);
/// Names of pages that serve the visitor or the site.
static SERVICES: WordList = WordList::new(&[
    "login", "logout", "signin", "signup", "register", "passport", "user", "account", "cart",
    "search", "share", "print", "feedback", "about", "contact", "privacy", "terms", "help",
    "download",
]);
/// Parameters that ask for another form of a page.
static FORMS: WordList = WordList::new(&["share", "replytocom", "print"]);
/// Names of lists.
static LISTS: WordList = WordList::new(&[
    "index", "list", "default", "node", "channel", "home", "category", "tag", "tags", "topic",
    "topics", "section", "page", "archive", "archives", "author",
]);
/// Parameters that count the pages of a list.
static PAGES: WordList = WordList::new(&["page", "p", "pn", "pageno", "start", "offset"]);
/// Names of the directories or files of detail pages, with a number behind them.
static DETAILS: WordList = WordList::new(&[
    "t", "c", "doc", "art", "content", "detail", "article", "news", "info", "post", "thread", "p",
    "a", "show", "item", "id",
]);
/// Parameters whose value is the number of a detail page.
static NUMBERS: WordList =
    WordList::new(&["id", "aid", "tid", "newsid", "articleid", "docid", "p"]);
/// Longest of the words that are searched for.
const LONGEST: usize = 10;

/// Words to compare with in any case.
struct WordList {
    words: &'static [&'static str],
    /// By the first letter of a word, a bit for each length: most of what is asked about needs no more.
    lengths: [u32; 32],
}

impl WordList {
    const fn new(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; 32];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            assert!(word.len() <= LONGEST, "a word is not found that is longer");
            lengths[(word[0] % 32) as usize] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    /// A bit for each length of the words that begin as `text` does.
    fn lengths(&self, text: &str) -> u32 {
        let first = text.bytes().next().unwrap_or_default();
        self.lengths[usize::from(first % 32)]
    }

    fn has(&self, word: &str) -> bool {
        word.len() <= LONGEST
            && self.lengths(word) >> word.len() & 1 == 1
            && self
                .words
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known))
    }
}

/// What a URL says of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressHints {
    /// A picture or another file, a page to log in, to share, to search.
    pub useless: bool,
    /// A list or one of its further pages.
    pub list: bool,
}

/// Reads path and query.
pub(crate) fn classify_address(path: &str) -> AddressHints {
    let dot = memchr::memrchr(b'.', path.as_bytes());
    let ending = dot.and_then(|dot| path.get(dot + 1..));
    let mut said = AddressHints {
        useless: ending.is_some_and(|ending| FILES.has(ending)),
        list: path.ends_with('/'),
    };
    for (word, rest) in words(path) {
        said.useless |= SERVICES.has(word) && is_end(rest, |b| matches!(b, b'/' | b'.' | b'?'));
        said.list |= LISTS.has(word) && {
            let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_');
            is_end(rest.trim_start_matches(number), |b| {
                matches!(b, b'/' | b'.')
            })
        };
    }
    let first = memchr::memchr2(b'?', b'&', path.as_bytes());
    let query = first.and_then(|at| path.get(at + 1..));
    let mut last_counts = false;
    for parameter in query.into_iter().flat_map(|query| query.split(['?', '&'])) {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        said.useless |= FORMS.has(name);
        let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        last_counts = is_number && PAGES.has(name);
    }
    said.list |= last_counts;
    said
}

/// Whether nothing is left, or what ends a word.
fn is_end(rest: &str, ends: impl Fn(u8) -> bool) -> bool {
    rest.bytes().next().is_none_or(ends)
}

/// The letters behind each slash, where they are no more than a word has, and all the rest.
fn words(path: &str) -> impl Iterator<Item = (&str, &str)> {
    memchr::memchr_iter(b'/', path.as_bytes()).filter_map(|slash| {
        let rest = path.get(slash + 1..)?;
        let letters = rest.bytes().take(LONGEST + 1);
        let len = letters.take_while(u8::is_ascii_alphabetic).count();
        (len <= LONGEST).then(|| rest.split_at(len))
    })
}

/// Whether path and query look like those of a detail page: with a date, a long number, a name of details with a number,
/// a slug of several words.
pub(crate) fn is_detail(path: &str) -> bool {
    let bytes = path.as_bytes();
    let file = last_segment(bytes);
    let folder = last_segment(bytes.strip_suffix(b"/").unwrap_or(bytes));
    let behind = |mark: usize| path.get(mark + 1..).unwrap_or_default();
    begins_with_number(file)
        || is_document(file)
        || is_slug(folder)
        || memchr::memchr_iter(b'/', bytes)
            .map(behind)
            .any(|rest| is_dated(rest.as_bytes()) || is_numbered(rest))
        || memchr::memchr2_iter(b'?', b'&', bytes)
            .map(behind)
            .any(has_page_number)
}

fn last_segment(path: &[u8]) -> &[u8] {
    let slash = memchr::memrchr(b'/', path);
    let segment = slash.and_then(|slash| path.get(slash + 1..));
    segment.unwrap_or_default()
}

/// `t20190907_123.html`, `12345`.
fn begins_with_number(file: &[u8]) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-');
    let letters = file.iter().take_while(|b| is_letter(b)).count();
    let number = file.get(letters..letters + 4);
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

/// A name that ends in `.html` or one of its kind.
fn is_document(file: &[u8]) -> bool {
    let endings = [&b".html"[..], b".htm", b".shtml", b".shtm"];
    endings.iter().any(|ending| {
        let stem = file.len().checked_sub(ending.len());
        let parts = stem.and_then(|stem| file.split_at_checked(stem));
        parts.is_some_and(|(stem, there)| {
            there.eq_ignore_ascii_case(ending) && stem.iter().any(u8::is_ascii_alphanumeric)
        })
    })
}

/// Four words or more with hyphens between.
fn is_slug(segment: &[u8]) -> bool {
    let (mut next, mut words) = (1, 1);
    for at in memchr::memchr_iter(b'-', segment) {
        if at >= next && at + 1 < segment.len() {
            next = at + 2;
            words += 1;
        }
    }
    words >= 4
}

/// A year and a month, or also a day, with something behind: `2019/09/07/x`, `201909/x`.
fn is_dated(text: &[u8]) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    if !(text.starts_with(b"19") || text.starts_with(b"20")) || !digit(2) || !digit(3) {
        return false;
    }
    let parts = |at: usize| matches!(text.get(at), Some(b'-' | b'/' | b'_'));
    let behind = |at: usize| at + usize::from(parts(at));
    // Where a number may end that has one digit, or two of which the first is at most `most`.
    let ends = |at: usize, most: u8| {
        let small = text.get(at).is_some_and(|b| (b'0'..=most).contains(b));
        let one = digit(at).then_some(at + 1);
        let two = (small && digit(at + 1)).then_some(at + 2);
        one.into_iter().chain(two)
    };
    let goes_on = |at: usize| parts(at) && text.get(at + 1).is_some_and(|b| *b != b'/');
    ends(behind(4), b'1').any(|month| goes_on(month) || ends(behind(month), b'3').any(goes_on))
}

/// A name of details with a number behind: `article/5f3a`, `id-1234`.
fn is_numbered(text: &str) -> bool {
    let is_code = |text: &[u8]| {
        let code = text.get(..4);
        code.is_some_and(|code| code.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-'))
    };
    let lengths = DETAILS.lengths(text);
    let mut lengths = (1..=LONGEST).filter(|len| lengths >> len & 1 == 1);
    lengths.any(|len| {
        let Some((name, rest)) = text.split_at_checked(len) else {
            return false;
        };
        let rest = rest.as_bytes();
        let parted = matches!(rest.first(), Some(b'-' | b'_' | b'/'));
        (is_code(rest) || (parted && rest.get(1..).is_some_and(is_code))) && DETAILS.has(name)
    })
}

/// A parameter whose value is the number of a page.
fn has_page_number(parameter: &str) -> bool {
    let name = parameter.bytes().take(LONGEST + 1).position(|b| b == b'=');
    let Some((name, value)) = name.and_then(|at| parameter.split_at_checked(at)) else {
        return false;
    };
    let number = value.as_bytes().get(1..3);
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) && NUMBERS.has(name)
}

/// Most attachments of a page.
const MAX_ATTACHMENTS: usize = 256;
/// Longest name, in characters.
const MAX_NAME: usize = 200;
/// What URLs have in them from which a program sends a file.
const SENDERS: [&str; 6] = [
    "download", "attach", "fujian", "filedown", "getfile", "/file",
];
/// What begins a list of attachments.
const HEADS: [&str; 5] = ["附件", "附表", "相关附件", "attachment", "附："];
/// Link texts that name no file.
static NAMELESS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("attachment.nameless"));

/// The attachments among the links of a page; `title` is the line of its headline.
pub(crate) fn find_attachments(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    clock: &Clock,
    links: &[RawLink],
) -> Vec<Attachment> {
    let mut out: Vec<Attachment> = Vec::new();
    // The link of each, and the line that it is in.
    let mut places: Vec<(NodeId, usize)> = Vec::new();
    // The line up to which a list of attachments goes.
    let mut list: Option<usize> = None;
    let first = outline
        .lines
        .get(title.unwrap_or(0))
        .map_or(0, |line| line.first);
    for link in links {
        let is_shown = link.role == LinkRole::File;
        if !is_shown && (link.role != LinkRole::Anchor || link.node < first) {
            continue;
        }
        let path = link.url.path_and_query();
        let declared = || format_of_type(page.attr(link.node, Attr::Type)?);
        let format = format_of_address(path)
            .or_else(|| format_of_name(&link.text))
            .or_else(declared);
        let at = outline.line_at(link.node);
        let at = match outline.lines.get(at) {
            // The link is inside of a line.
            Some(line) if line.first <= page.node(link.node).end => at,
            _ => at.saturating_sub(1),
        };
        let in_list = list.is_some_and(|last| at <= last + 1) || is_list_start(page, outline, at);
        let format = match format {
            Some(format) => format,
            // A program may send anything.
            None if is_shown || (in_list && is_sent(path)) => "",
            None => continue,
        };
        if in_list {
            list = Some(at);
        }
        let elsewhere = outline
            .lines
            .get(at)
            .is_some_and(|line| line.marks.any(ELSEWHERE));
        // A URL alone may be that of a paper which the text names.
        if elsewhere && !in_list && !is_shown {
            continue;
        }
        out.push(Attachment {
            url: link.url.as_str().to_owned(),
            name: name_attachment(page, outline, link, at),
            format: format.to_owned(),
            published: None,
        });
        places.push((link.node, at));
        if out.len() >= MAX_ATTACHMENTS {
            break;
        }
    }
    let files = places.iter().map(|(node, _)| *node).collect();
    let days = FileDays::new(page, outline, clock, files);
    for (file, (node, at)) in out.iter_mut().zip(places) {
        file.published = days.find(node, at).map(|day| day.iso(clock));
    }
    out
}

const ELSEWHERE: Marks = Marks::NAV
    .with(Marks::HEADER)
    .with(Marks::FOOTER)
    .with(Marks::ASIDE)
    .with(Marks::RELATED)
    .with(Marks::COMMENT)
    .with(Marks::PROMO);

/// Whether the URL has a word of one from which a program sends a file.
fn is_sent(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    SENDERS.iter().any(|word| lower.contains(word))
}

/// Whether the line, or the one before it that has no link, begins a list of attachments.
fn is_list_start(page: &Page, outline: &Outline, at: usize) -> bool {
    let begins = |at: usize| {
        let line = outline.lines.get(at)?;
        let text = outline
            .text(page, line)
            .trim_start_matches(['【', '[', '（', '(', '■', '●']);
        let head = HEADS.iter().find(|head| {
            text.get(..head.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(head))
        });
        head.map(|_| ())
    };
    begins(at).is_some() || at.checked_sub(1).and_then(begins).is_some()
}

/// What the file is called: the text of its link, the line around it, or the end of its URL.
fn name_attachment(page: &Page, outline: &Outline, link: &RawLink, at: usize) -> String {
    let names = |text: &str| {
        let core = text.trim_matches(|c: char| !c.is_alphanumeric());
        !core.is_empty() && !NAMELESS.iter().any(|word| core.eq_ignore_ascii_case(word))
    };
    let title = || {
        page.attr(link.node as NodeId, Attr::Title)
            .unwrap_or_default()
    };
    let line = || {
        let line = outline
            .lines
            .get(at)
            .filter(|line| line.links == 1 && !link.text.is_empty());
        let text = line
            .map(|line| outline.text(page, line))
            .unwrap_or_default();
        text.strip_suffix(link.text.trim()).unwrap_or(text).trim()
    };
    let file = || link.url.path().rsplit('/').next().unwrap_or_default();
    let text = link.text.trim();
    let found = [text, title().trim(), line()]
        .into_iter()
        .find(|text| names(text));
    let name = match found {
        Some(name) => name.into(),
        None => percent_encoding::percent_decode_str(file()).decode_utf8_lossy(),
    };
    name.chars().take(MAX_NAME).collect()
}
