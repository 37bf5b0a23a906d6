//! The files that a page offers beside its text: 附件1：…docx. In: the links of a page and where they stand. Out:
//! [`Attachment`]s in the order of the page. Never fetches: what a file is tell its address, its name, or the list it stands in.

use std::sync::LazyLock;

use crate::cues;
use crate::document::Attachment;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::page::{LinkRole, NodeId, Page, RawLink};

/// Most attachments of a page.
const MAX_ATTACHMENTS: usize = 64;
/// Longest name, in characters.
const MAX_NAME: usize = 200;
/// Endings of files that are documents or hold some.
const FORMATS: [&str; 20] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "ofd", "wps", "et", "dps", "rtf", "csv",
    "zip", "rar", "7z", "caj", "odt", "ods", "epub",
];
/// What addresses have in them from which a program sends a file.
const SENDERS: [&str; 6] = [
    "download", "attach", "fujian", "filedown", "getfile", "/file",
];
/// What begins a list of attachments.
const HEADS: [&str; 5] = ["附件", "附表", "相关附件", "attachment", "附："];
/// Link texts that name no file.
static NAMELESS: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("attachment.nameless"));

/// The attachments among the links of a page; `title` is the line of its headline.
pub(crate) fn attachments(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    links: &[RawLink],
) -> Vec<Attachment> {
    let mut out: Vec<Attachment> = Vec::new();
    // The line up to which a list of attachments goes.
    let mut list: Option<usize> = None;
    let first = outline
        .lines
        .get(title.unwrap_or(0))
        .map_or(0, |line| line.first);
    for link in links
        .iter()
        .filter(|link| link.role == LinkRole::Anchor && link.node >= first)
    {
        let path = link.url.path_and_query();
        let by_address = format_of_address(path);
        let format = by_address.or_else(|| format_of_name(&link.text));
        let at = outline.line_at(link.node);
        let at = match outline.lines.get(at) {
            // The link stands inside of a line.
            Some(line) if line.first <= page.node(link.node).end => at,
            _ => at.saturating_sub(1),
        };
        let in_list = list.is_some_and(|last| at <= last + 1) || begins_list(page, outline, at);
        let format = match format {
            Some(format) => format,
            // A program may send anything.
            None if in_list && is_sent(path) => "",
            None => continue,
        };
        if in_list {
            list = Some(at);
        }
        let elsewhere = outline
            .lines
            .get(at)
            .is_some_and(|line| line.marks.any(ELSEWHERE));
        // An address alone may be that of a paper which the text names.
        if elsewhere && !in_list {
            continue;
        }
        out.push(Attachment {
            url: link.url.as_str().to_owned(),
            name: name(page, outline, link, at),
            format: format.to_owned(),
        });
        if out.len() >= MAX_ATTACHMENTS {
            break;
        }
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

/// Whether the address has a word of one from which a program sends a file.
fn is_sent(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    SENDERS.iter().any(|word| lower.contains(word))
}

/// Whether the line, or the one before it that has no link, begins a list of attachments.
fn begins_list(page: &Page, outline: &Outline, at: usize) -> bool {
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

/// The ending of the file that an address names, in its path or in a parameter.
fn format_of_address(path: &str) -> Option<&'static str> {
    path.split(['?', '&', '=', '#', ';'])
        .find_map(|part| format_of_name(part))
}

/// The ending of a file's name, which may be followed by its size in brackets.
fn format_of_name(name: &str) -> Option<&'static str> {
    let (_, rest) = name.rsplit_once('.')?;
    let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (ending, behind) = rest.split_at(len);
    let ends = behind
        .trim_start()
        .chars()
        .next()
        .is_none_or(|c| "（([【］]）)>》\"”".contains(c));
    let format = FORMATS
        .iter()
        .find(|format| ending.eq_ignore_ascii_case(format));
    format.copied().filter(|_| ends)
}

/// What the file is called: the text of its link, the line around it, or the end of its address.
fn name(page: &Page, outline: &Outline, link: &RawLink, at: usize) -> String {
    let names = |text: &str| {
        let core = text.trim_matches(|c: char| !c.is_alphanumeric());
        !core.is_empty() && !NAMELESS.iter().any(|word| core.eq_ignore_ascii_case(word))
    };
    let title = || {
        page.attr(link.node as NodeId, crate::page::Attr::Title)
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
