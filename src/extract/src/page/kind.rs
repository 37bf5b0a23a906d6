//! Classifies a page from its shape, its URL, its head and the status of the response. Words count only on error pages.
//!
//! Signs are added up; each is worth about as much as it parted articles from lists on saved pages. An article does
//! not need much text: a picture story has one sentence, but its headline is in the title and is no link.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::walk::{Shown, count_chars, shown_texts};
use super::{Attr, NodeId, Page, Shape, Tag};
use crate::literals::Literals;
use crate::{cues, times};

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A detail page: one text with a title.
    Article,
    /// A list or directory page: its worth is its links.
    Hub,
    /// No page but a file that one offers: PDF, Word, a table.
    Attachment,
    /// An error page, whatever its status code says.
    Error,
    /// None of these.
    #[default]
    Other,
}

impl Kind {
    /// The word that is printed, logged and indexed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Article => "article",
            Kind::Hub => "hub",
            Kind::Attachment => "attachment",
            Kind::Error => "error",
            Kind::Other => "other",
        }
    }
}

/// The signs that decide, for explaining a decision. Points for an article are positive, for a hub negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindSigns {
    /// The page calls itself an article, or something else that is no list.
    pub declared: i32,
    /// The URL looks like one of a detail page or of a list.
    pub address: i32,
    /// Prose in one column.
    pub prose: i32,
    /// Text is mostly links.
    pub links: i32,
    /// A headline outside links is in the title.
    pub headline: i32,
    /// Dates: one or two belong to an article, many to a list.
    pub dates: i32,
}

impl KindSigns {
    /// Sum of all signs.
    pub fn sum(&self) -> i32 {
        self.declared + self.address + self.prose + self.links + self.headline + self.dates
    }
}

/// Prose of this many units (see [`Shape`]) in one column is a whole text; 1,200 is about 120 Chinese characters.
const COLUMN_UNITS: [(u32, i32); 3] = [(2500, 3), (1200, 2), (500, 1)];
/// When all prose is this many times that of the largest column, it is scattered: summaries under headlines.
const SCATTERED: u32 = 5;
/// Fewer links than this make no list.
pub(crate) const HUB_LINKS: u32 = 12;

/// A page's kind with what it was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judged {
    /// The kind.
    pub kind: Kind,
    /// How the page divides into prose and links.
    pub shape: Shape,
    /// The signs.
    pub signs: KindSigns,
}

/// Judges a page; `status` is that of the response, if there was one.
pub fn kind(page: &Page, status: Option<u16>) -> Kind {
    classify_page(page, status).kind
}

/// Judges a page and says by what.
pub fn classify_page(page: &Page, status: Option<u16>) -> Judged {
    let texts = shown_texts(page);
    let shape = Shape::new(page, &texts);
    let declared = read_declared_type(page);
    let signs = sum_signs(page, &texts, &shape, declared);
    let kind =
        if status.is_some_and(|status| status >= 400) || has_error_words(page, &texts, &shape) {
            Kind::Error
        } else if page.nodes().is_empty()
            || shape.text == 0
            || declared == Some(Declared::Talk)
            || is_talk_address(page)
        {
            Kind::Other
        } else if signs.sum() > 0 && !is_board_address(page) {
            Kind::Article
        } else if shape.links >= HUB_LINKS && declared != Some(Declared::Product) {
            Kind::Hub
        } else {
            Kind::Other
        };
    Judged { kind, shape, signs }
}

/// The signs of a page of this shape.
fn sum_signs(page: &Page, texts: &[Shown], shape: &Shape, declared: Option<Declared>) -> KindSigns {
    let prose = COLUMN_UNITS
        .iter()
        .find(|(units, _)| shape.column >= *units)
        .map_or(-1, |(_, points)| *points);
    let share = shape.link_share();
    let links = match () {
        () if shape.headlines >= 8 && share > 0.7 && shape.column < 1200 => -3,
        () if shape.headlines >= 8 && share > 0.5 && shape.column < 2500 => -1,
        () if shape.prose_blocks >= 8 && shape.column * SCATTERED < shape.prose => -2,
        () if shape.links >= HUB_LINKS && shape.column * 4 < shape.link_text => -1,
        () => 0,
    };
    KindSigns {
        declared: match declared {
            Some(Declared::Article) => 2,
            Some(Declared::Product) => -4,
            Some(Declared::Talk) | None => 0,
        },
        address: rate_address(page),
        prose,
        links,
        headline: if has_headline_in_title(page, texts) {
            3
        } else {
            0
        },
        dates: match count_dates(page, texts) {
            1..=3 => 1,
            8.. => -1,
            _ => 0,
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Article,
    Product,
    /// A thread of a forum, or a question with its answers.
    Talk,
}

/// What the page calls itself in `og:type`, JSON-LD or microdata.
fn read_declared_type(page: &Page) -> Option<Declared> {
    let mut found = None;
    for (id, node) in page.nodes().iter().enumerate() {
        let id = id as NodeId;
        match node.tag {
            Tag::META => {
                let name = page
                    .attr(id, Attr::Property)
                    .or_else(|| page.attr(id, Attr::Name))
                    .unwrap_or_default();
                let content = page.attr(id, Attr::Content).unwrap_or_default();
                match name {
                    "og:type" if content.contains("product") => found = Some(Declared::Product),
                    "og:type" if content.trim() == "article" => found = Some(Declared::Article),
                    "article:published_time" => found = Some(Declared::Article),
                    _ => {}
                }
            }
            Tag::SCRIPT => {
                let text = page.children(id).next().map(|t| page.text(t));
                match text.and_then(read_json_type) {
                    // Articles name the products they write of.
                    Some(Declared::Product) => found = found.or(Some(Declared::Product)),
                    Some(other) => return Some(other),
                    None => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// The `@type` that decides in a piece of JSON-LD; searched as text, since half of it does not parse.
fn read_json_type(json: &str) -> Option<Declared> {
    let mut found = None;
    for (at, _) in json.match_indices("\"@type\"") {
        let after = json.get(at + 7..).unwrap_or_default().trim_start();
        let after = after.strip_prefix(':').unwrap_or(after).trim_start();
        let mut names = after.trim_start_matches('[').trim_start().split('"');
        match names.nth(1).unwrap_or_default() {
            "Product" => found = found.or(Some(Declared::Product)),
            "DiscussionForumPosting" | "QAPage" => return Some(Declared::Talk),
            "Article" | "NewsArticle" | "BlogPosting" | "ReportageNewsArticle" => {
                found = Some(Declared::Article);
            }
            _ => {}
        }
    }
    found
}

/// Bytes of nine characters outside ASCII at least.
const SHORTEST_BYTES: usize = 18;

/// A line of the page outside links that the title contains, and that is long enough to be no site's name.
fn has_headline_in_title(page: &Page, texts: &[Shown]) -> bool {
    let Some(title) = page.title_text() else {
        return false;
    };
    let title: String = title.chars().filter(|c| !c.is_whitespace()).collect();
    let enough = |text: &str| {
        let wide = text.chars().filter(|c| !c.is_ascii()).count();
        wide >= 9 || text.len() >= 28
    };
    for shown in texts.iter().filter(|shown| shown.link == 0) {
        let text = page.text(shown.id);
        // Blanks are single, so a text in the title is not twice as long.
        if !(SHORTEST_BYTES..=400.min(2 * title.len() + 2)).contains(&text.len()) {
            continue;
        }
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if enough(&text) && title.contains(&text) {
            return true;
        }
    }
    false
}

/// Short shown texts outside links with a whole date in them.
fn count_dates(page: &Page, texts: &[Shown]) -> usize {
    texts
        .iter()
        .filter(|shown| {
            let text = page.text(shown.id);
            text.len() <= 160 && times::holds_whole_day(text)
        })
        .take(20)
        .count()
}

/// An error page has less than this in one column: news about errors has more.
const ERROR_COLUMN_UNITS: u32 = 1500;
/// And if the error is stated in the text and not in the title, less than this on the whole page.
const ERROR_TEXT_UNITS: u32 = 3000;
/// A longer text is a story.
const MAX_STATEMENT_BYTES: usize = 300;
/// Of a title or heading with a number that stands for the status.
const MAX_STATUS_CHARS: usize = 40;
/// With more links a page may name the error only in its title or in a heading.
const MAX_LINKS: u32 = 40;
/// Elements checked around a text for a heading or an item of a list.
const MAX_CLIMB: usize = 6;

/// What error pages say that are served as if all were well, and words next to which the number 404 is a status and does not
/// count anything.
static WORDS: LazyLock<Literals> =
    LazyLock::new(|| cues::compile_seen(&[("error.says", SAYS), ("error.status", STATUS)]));
const SAYS: u32 = 1;
const STATUS: u32 = 2;

/// Whether the page says that there is no such page. `texts` are its shown texts.
pub(super) fn has_error_words(page: &Page, texts: &[Shown], shape: &Shape) -> bool {
    if shape.column >= ERROR_COLUMN_UNITS {
        return false;
    }
    if page.title_text().is_some_and(|title| says(&title)) {
        return true;
    }
    let short = shape.text - shape.link_text.min(shape.text) < ERROR_TEXT_UNITS / 2
        && shape.text < ERROR_TEXT_UNITS;
    short
        && texts.iter().any(|shown| {
            let text = page.text(shown.id);
            shown.link == 0
                && text.len() <= MAX_STATEMENT_BYTES
                && says(text)
                && match find_standing(page, shown.id) {
                    TextRole::Heading => true,
                    TextRole::Item => false,
                    TextRole::Text => shape.links <= MAX_LINKS,
                }
        })
}

/// Whether a title, heading or sentence says that there is no such page.
fn says(text: &str) -> bool {
    WORDS.seen(text.as_bytes()) & SAYS != 0 || has_status_words(text)
}

/// Whether the number 404 stands for a status: alone, before a dash, or next to a word of errors. "R404", "No. 404" and
/// "第404期" are other numbers.
fn has_status_words(text: &str) -> bool {
    if !text.contains("404") || count_chars(text) > MAX_STATUS_CHARS {
        return false;
    }
    text.match_indices("404").any(|(at, number)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + number.len()..).unwrap_or_default();
        let joined =
            |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        if joined(before.chars().next_back())
            || before.ends_with('第')
            || after.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            return false;
        }
        let leads = before.trim().is_empty()
            && !after
                .trim_start()
                .starts_with(|c: char| c.is_alphanumeric());
        leads || WORDS.seen(text.as_bytes()) & STATUS != 0
    })
}

/// What part of the page a text is.
enum TextRole {
    Heading,
    /// One of several of its kind.
    Item,
    Text,
}

fn find_standing(page: &Page, text: NodeId) -> TextRole {
    let (mut at, mut standing) = (text, TextRole::Text);
    for _ in 0..MAX_CLIMB {
        at = page.node(at).parent;
        match page.node(at).tag {
            Tag::H1 | Tag::H2 | Tag::H3 => standing = TextRole::Heading,
            Tag::LI | Tag::DT | Tag::DD | Tag::OPTION => return TextRole::Item,
            Tag::BODY => break,
            _ => {}
        }
    }
    standing
}

/// Threads of forums are neither articles nor lists.
pub(super) fn is_talk_address(page: &Page) -> bool {
    let Some(url) = &page.url else {
        return false;
    };
    let host = url.host();
    let path = url.path().to_ascii_lowercase();
    let last = path.trim_end_matches('/').rsplit('/').next();
    if last.is_none_or(is_board) {
        return false;
    }
    if host.starts_with("forum") || host.starts_with("bbs.") {
        return true;
    }
    let numbered = last.is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
    path.split('/').any(|segment| {
        let (name, rest) = segment
            .find(['.', '-'])
            .and_then(|at| segment.split_at_checked(at))
            .unwrap_or((segment, ""));
        // `thread-12-1-1.html` is a thread, `forum-of-nations` is not.
        let rest = rest.strip_prefix('-').unwrap_or("0");
        let is_talk = matches!(
            name,
            "forum"
                | "forums"
                | "thread"
                | "threads"
                | "topic"
                | "discussion"
                | "discussions"
                | "questions"
                | "bbs"
                | "viewtopic"
                | "showthread"
        );
        (is_talk && rest.starts_with(|c: char| c.is_ascii_digit())) || (segment == "t" && numbered)
    })
}

/// The list of threads of a board is no thread, and no article either.
pub(super) fn is_board_address(page: &Page) -> bool {
    let path = page.url.as_ref().map(|url| url.path().to_ascii_lowercase());
    let last = path.as_deref().and_then(|path| path.rsplit('/').next());
    last.is_some_and(|last| !last.is_empty() && is_board(last))
}

/// A board, or the start page of all: `forum-12-1.html`, `viewforum.php`.
fn is_board(last: &str) -> bool {
    last.is_empty()
        || ["forum-", "forumdisplay", "viewforum"]
            .iter()
            .any(|name| last.starts_with(name))
}

/// Points of the URL: `/2016/05/09/0015.shtml` is a detail page, `/` and `/list_2.html` are not.
pub(super) fn rate_address(page: &Page) -> i32 {
    let Some(url) = &page.url else {
        return 0;
    };
    let path = url.path();
    let query_digits = query_number(url.query().unwrap_or_default());
    let mut segments = path.split('/').filter(|segment| !segment.is_empty()).rev();
    let last = segments.next().unwrap_or_default();
    if last.is_empty() {
        return if query_digits >= 3 { 0 } else { -4 };
    }
    let stem = stem(last);
    if is_list_word(&stem) {
        let above = segments.next().unwrap_or_default();
        return if digits(above) >= 6 || words(above) >= 4 {
            1
        } else {
            -3
        };
    }
    let in_list = path.split('/').any(|part| {
        matches!(
            part,
            "tag" | "tags" | "category" | "categories" | "page" | "author"
        )
    });
    if in_list {
        return -2;
    }
    let digits = digits(path) + query_digits;
    if digits >= 5 || words(&stem) >= 4 {
        2
    } else {
        i32::from(digits >= 3) - i32::from(path.ends_with('/') && words(&stem) < 3)
    }
}

fn stem(segment: &str) -> String {
    segment
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Digits of the longest number of the query whose name ends in `id`.
fn query_number(query: &str) -> usize {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter(|(name, value)| {
            name.to_ascii_lowercase().ends_with("id") && value.bytes().all(|b| b.is_ascii_digit())
        })
        .map(|(_, value)| value.len())
        .max()
        .unwrap_or(0)
}

fn words(text: &str) -> usize {
    text.split(['-', '_'])
        .filter(|word| !word.is_empty())
        .count()
}

/// `index`, `list_2` and the like.
fn is_list_word(stem: &str) -> bool {
    let name = stem.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    matches!(
        name,
        "index" | "list" | "default" | "home" | "category" | "tag" | "channel" | "more"
    )
}

/// First bytes of formats that are no text, and what a person calls them.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"{\\rtf", "an RTF document"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office document",
    ),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"ID3", "an MP3 file"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a FLAC file"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"OTTO", "a font"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
];

/// The same for formats that are recognised by bytes further on: place, bytes, name.
const INNER_SIGNATURES: &[(usize, &[u8], &str)] = &[
    (8, b"WEBP", "a WebP picture"),
    (8, b"WAVE", "a WAV file"),
    (8, b"AVI ", "a video"),
    (4, b"ftypavif", "an AVIF picture"),
    (4, b"ftyphei", "a HEIC picture"),
    (4, b"ftyp", "a video"),
    (257, b"ustar", "a tar archive"),
];

/// Bytes of a file that are checked.
pub const HEAD_BYTES: usize = 1024;
/// One byte in so many may be one that text never has: a stray one is common in pages.
const STRAY: usize = 20;

/// What a file is that begins so, if it is neither HTML nor text in any encoding.
pub fn detect_foreign_format(head: &[u8]) -> Option<&'static str> {
    let head = head.get(..head.len().min(HEAD_BYTES)).unwrap_or_default();
    let outer = SIGNATURES.iter().find(|(bytes, _)| head.starts_with(bytes));
    let inner = INNER_SIGNATURES.iter().find(|(at, bytes, _)| {
        let there = head.get(*at..).unwrap_or_default();
        there.starts_with(bytes)
    });
    outer
        .map(|(_, name)| *name)
        .or(inner.map(|(_, _, name)| *name))
        .or(is_binary(head).then_some("binary data"))
}

/// Whether these bytes are no text: too many that text never has (the "binary data bytes" of the WHATWG's MIME
/// sniffing), or too many zeros that are not those of UTF-16, which are in every other place.
fn is_binary(head: &[u8]) -> bool {
    if head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]) {
        return false;
    }
    let control = |b: &u8| matches!(b, 0x01..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let controls = head.iter().filter(|b| control(b)).count();
    let zeros = |first: usize| {
        head.iter()
            .skip(first)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let stray_zeros = even.min(odd);
    let only_zeros = even + odd == head.len() && !head.is_empty();
    (controls + stray_zeros) * STRAY > head.len() || only_zeros
}

#[cfg(test)]
mod tests {
    use super::detect_foreign_format;

    #[test]
    fn foreign_format_named() {
        for (head, name) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], Some("a PNG picture")),
            (b"%PDF-1.7\n1 0 obj <<", Some("a PDF document")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("a WebP picture")),
            (b"\0\0\0 ftypisom", Some("a video")),
            (b"\0\0\0\0\0\0\0\0", Some("binary data")),
            (b"<p>\0\x01\x02\x03\x04", Some("binary data")),
            (
                b"<!DOCTYPE html><p>PK\x03\x04 is the beginning of a ZIP file",
                None,
            ),
            (b"plain text", None),
            (b"", None),
        ] {
            assert_eq!(detect_foreign_format(head), name, "{head:?}");
        }
    }

    #[test]
    fn foreign_format_text_any_encoding() {
        let text = "<title>页\u{b}岩气</title><p>水平井\t产量\r\n".repeat(9);
        let (gbk, _, _) = encoding_rs::GBK.encode(&text);
        assert_eq!(detect_foreign_format(text.as_bytes()), None);
        assert_eq!(detect_foreign_format(&gbk), None);
        let utf16: Vec<u8> = "<html><head><title>t"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(detect_foreign_format(&utf16), None);
        let with_mark: Vec<u8> = "\u{feff}一丁七万丈三上下"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(detect_foreign_format(&with_mark), None);
    }
}
