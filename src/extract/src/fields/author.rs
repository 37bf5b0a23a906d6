//! Finds the author and the media source in head data and in the lines around headline and text. Names are kept as printed;
//! the text itself is not searched.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::head::Head;
use crate::cues::phrases::strip_signs;
use crate::cues::{self, compile_pattern};
use crate::date::Anchors;
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::lines::render::{render_element, render_line};
use crate::literals::{Beginnings, Literals};
use crate::page::measure::Measure;
use crate::page::{Attr, NodeId, Page};
use serde::Serialize;

/// Longest name, in characters.
const MAX_NAME: usize = 60;
/// Longest line that may name writer and source, in tokens.
const MAX_TOKENS: u32 = 60;

pub(crate) static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?:^|[\s|丨【\[（(\x3e])(?:<source.named>)\s*[：:丨]\s*([^\s|丨，,；;。】\]）)]{2,30})",
    )
});
pub(crate) static AUTHOR: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?:^|[\s|丨【\[（(/])(?:<author.desk>)*(?:<author.named>)\s*[：:/丨|]\s*([^\s|丨，,；;。:：】\]）)/]{2,20}(?:[ 、]\p{Han}{2,4}){0,4})",
    )
});
/// The photographer is the author of a picture story.
pub(crate) static PHOTOGRAPHER: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?:^|[\s|丨【\[（(])(?:<author.photographer>)\s*[：:/丨|]\s*(\p{Han}{2,4})(?:\s|$|[）)】\]])",
    )
});
/// A writer whose label has no sign behind it: the field ends with the name.
static BARE_AUTHOR: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?:^|[\s|丨·])(?:<author.bare>)\s*(\p{Han}{2,4})\s*(?:$|[\s|丨·])")
});
/// The same for the source, which is a field of its own.
static BARE_SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?:^|[\s|丨·])(?:<source.bare>)\s+([^\s|丨·，,；;。：:、（(]{2,20})\s*(?:$|[\s|丨·])",
    )
});
/// What is behind such a label and is no name.
static NO_NAME: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("author.not"));

/// A label before a name, or alone: `责任编辑：…`.
static LABEL_OF_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"^(?:(<source.named>)|(?:<author.desk>)*(?:<author.named>|<author.reporter>|<author.photographer>|<author.editor>))\s*(?:[：:丨|]\s*|$)",
    )
});

/// Reporters in brackets, before the first sentence or behind the last: `（记者 宋一帆 通讯员 白薇）`.
static REPORTER: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"[（(](?:[^（）()]{0,12}?[\s　])?(?:<author.desk>)*(?:<author.reporter>)[\s　：:]*((?:\p{Han}{2,4}[、，,\s　]?){1,4}?)[\s　]*(?:(?:<author.beside>)[^（）()]{0,30})?[）)]",
    )
});
/// Words that begin the next field of an information line; a name ends before them.
static NEXT_FIELD: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"[\s、]*(?:<author.next>).*$"));
pub(crate) static BY: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)^\W*(?:<author.by>)\s*:?\s+([\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]+(?:\s+(?:[\p{Lu}\p{Lo}][\p{L}\p{M}'’.-]*|de|von|van|der|la|and|und|et|y|&|,)){0,7})",
    )
});

/// The agency that a report begins with: `新华社北京11月19日电`, `新浪科技讯`.
static DATELINE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"^[\s（(【]*(\p{Han}{1,6}?(?:<agency.ends>))(?:\p{Han}{0,8}\s?\d{1,2}月\d{1,2}日\p{Han}{0,2}[电讯電訊]|[讯訊])(?:[\s　（(）)】，：:]|$)",
    )
});

/// The labels, by the pattern they are in: few lines have one, and the patterns are dear.
static LABEL_WORDS: LazyLock<Literals> = LazyLock::new(|| {
    cues::compile_seen(&[
        ("source.named", OF_SOURCE),
        ("author.named", OF_AUTHOR),
        ("author.photographer", OF_PHOTOGRAPHER),
        ("author.reporter", OF_REPORTER),
    ])
});
pub(crate) const OF_SOURCE: u32 = 1;
pub(crate) const OF_AUTHOR: u32 = 2;
pub(crate) const OF_PHOTOGRAPHER: u32 = 4;
const OF_REPORTER: u32 = 8;

/// Whether a line may have a label of this pattern.
pub(crate) fn may_label(line: &str, pattern: u32) -> bool {
    // All begin with a character of Chinese, Japanese or Korean, and a sign ends them.
    let eastern = |found, byte: &u8| found | u8::from(byte.wrapping_sub(0xE3) < 11);
    line.as_bytes().iter().fold(0, eastern) != 0
        && line.contains(['：', ':', '/', '丨', '|'])
        && LABEL_WORDS.seen(line.as_bytes()) & pattern != 0
}

/// What [`BY`] may begin with.
static BEFORE_NAME: LazyLock<Beginnings> = LazyLock::new(|| cues::compile_begun(&["author.by"]));

/// Whether a line may begin as [`BY`] does.
pub(crate) fn may_begin_by(line: &str) -> bool {
    BEFORE_NAME.of_text(strip_signs(line)).next().is_some()
}

/// 来源 of a line, if it names one.
pub(crate) fn find_source(line: &str) -> Option<String> {
    if !may_label(line, OF_SOURCE) {
        return None;
    }
    let name = SOURCE.captures(line)?.get(1)?.as_str();
    clean_name(&NEXT_FIELD.replace(name, ""))
}

/// Writer of a line, if it names one: 作者：…, By ….
pub(crate) fn find_author(line: &str) -> Option<String> {
    let labelled = may_label(line, OF_AUTHOR).then(|| AUTHOR.captures(line));
    let by = || may_begin_by(line).then(|| BY.captures(line))?;
    let found = labelled.flatten().or_else(by)?;
    clean_name(&NEXT_FIELD.replace(found.get(1)?.as_str(), ""))
}

/// Writer and source of a line whose labels have no sign behind them.
fn split_bare_names(line: &str) -> (Option<String>, Option<String>) {
    let name = |pattern: &Regex| {
        let name = clean_name(pattern.captures(line)?.get(1)?.as_str())?;
        (!NO_NAME.iter().any(|word| name.starts_with(word.as_str()))).then_some(name)
    };
    (name(&BARE_AUTHOR), name(&BARE_SOURCE))
}

/// A name without references and signs around it; `None` for URLs, numbers, attributes of markup and texts that are too
/// long to be a name.
pub(crate) fn clean_name(name: &str) -> Option<String> {
    let name = without_references(name);
    let name = trim_signs(&name);
    let length = name.chars().count();
    let address = name.contains("://") || name.contains('@') || name.starts_with("www.");
    let is_markup = name.contains("=\"") || name.contains(['<', '>']);
    let has_letter = name
        .chars()
        .any(|c| c.is_alphabetic() && !"年月日时分秒".contains(c));
    let is_name = (1..=MAX_NAME).contains(&length) && !address && !is_markup && has_letter;
    is_name.then(|| name.to_owned())
}

fn trim_signs(name: &str) -> &str {
    name.trim().trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '|' | '丨' | '-' | ':' | '：' | ',' | '，' | '(' | '（' | ')' | '）'
            )
    })
}

/// A text that was encoded once or twice, decoded.
fn without_references(text: &str) -> Cow<'_, str> {
    let once = htmlize::unescape(text);
    if !once.contains('&') {
        return once;
    }
    Cow::Owned(htmlize::unescape(&*once).into_owned())
}

/// The writer that a field of the head names, without the label that some sites write into it; `None` where the label is
/// one of the source, or stands alone.
fn clean_author(name: &str) -> Option<String> {
    let name = clean_name(name)?;
    let Some(label) = LABEL_OF_NAME.captures(&name) else {
        return Some(name);
    };
    let rest = name.get(label.get(0)?.end()..)?;
    let is_source = label.get(1).is_some();
    (!is_source).then(|| clean_name(rest)).flatten()
}

/// One candidate for a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameTrace {
    /// As printed.
    pub text: String,
    /// Where it comes from.
    pub origin: &'static str,
}

/// Candidates for writer and source, the most trusted first.
#[derive(Debug, Default)]
pub(crate) struct NameCandidates {
    /// Of the writer.
    pub authors: Vec<NameTrace>,
    /// Of the source.
    pub sources: Vec<NameTrace>,
}

/// Candidates for one name while they are searched for. Unless all are wanted, nothing is searched for once there is one.
struct NameSearch {
    all: bool,
    clean: fn(&str) -> Option<String>,
    found: Vec<NameTrace>,
}

impl NameSearch {
    fn offer(&mut self, origin: &'static str, look: impl FnOnce() -> Option<String>) {
        if self.all || self.found.is_empty() {
            let text = look().and_then(|text| (self.clean)(&text));
            self.found
                .extend(text.map(|text| NameTrace { text, origin }));
        }
    }
}

/// Writer and source of a page; with `all`, every candidate rather than the first.
pub(crate) fn find_names(
    page: &Page,
    outline: &Outline,
    head: &Head<'_>,
    anchors: Anchors,
    all: bool,
) -> NameCandidates {
    let search = |clean| NameSearch {
        all,
        clean,
        found: Vec::new(),
    };
    let (mut author, mut source) = (search(clean_author), search(clean_name));
    let mut photographer = search(clean_author);
    author.offer("json-ld", || {
        let written = head.json.authors.iter();
        let names: Vec<String> = written.filter_map(|name| clean_author(name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    });
    source.offer("meta", || head.source.and_then(clean_name));
    let anchor = anchors.title.or(anchors.body_start).unwrap_or(0);
    let start = anchors.body_start.unwrap_or(anchor).min(anchor + 40);
    let above = anchor.saturating_sub(6)..(start + 4).min(outline.lines.len());
    let below = anchors.body_end.saturating_sub(3)..(anchors.body_end + 6).min(outline.lines.len());
    let mut text = String::new();
    for line in above
        .clone()
        .chain(below)
        .filter_map(|i| outline.lines.get(i))
    {
        if line.all.tokens > MAX_TOKENS {
            continue;
        }
        text.clear();
        space_text(page, line, &mut text);
        author.offer("label in a line", || find_author(&text));
        photographer.offer("photographer", || {
            if !may_label(&text, OF_PHOTOGRAPHER) {
                return None;
            }
            Some(PHOTOGRAPHER.captures(&text)?[1].to_owned())
        });
        source.offer("label in a line", || find_source(&text));
    }
    let (mut bare_author, mut bare_source) = (None, None);
    let is_wanted = all || author.found.is_empty() || source.found.is_empty();
    let lines = above.clone().filter(|_| is_wanted);
    for line in lines.filter_map(|i| outline.lines.get(i)) {
        if line.all.tokens <= MAX_TOKENS
            && LABEL_WORDS.seen(outline.text(page, line).as_bytes()) != 0
        {
            text.clear();
            space_text(page, line, &mut text);
            let (author, source) = split_bare_names(&text);
            bare_author = bare_author.or(author);
            bare_source = bare_source.or(source);
        }
    }
    let (next_author, next_source) =
        find_in_next_cells(page, outline, anchor.saturating_sub(6)..start + 1);
    source.offer("label in the cell before", || next_source);
    source.offer("label without a sign", || bare_source);
    source.offer("agency in the first words", || {
        find_agency(page, outline.lines.get(anchors.body_start?)?)
    });
    author.offer("label in the cell before", || next_author);
    author.offer("reporter in brackets", || {
        find_reporter(page, outline, anchors)
    });
    author.offer("label without a sign", || bare_author);
    author.offer("meta", || head.authors.iter().find_map(|a| clean_author(a)));
    author.offer("element that calls itself author", || {
        find_named_author(page, outline, above)
    });
    source.offer("element of the account", || {
        find_account(page, outline, anchor)
    });
    if author.all || author.found.is_empty() {
        author.found.append(&mut photographer.found);
    }
    NameCandidates {
        authors: author.found,
        sources: source.found,
    }
}

/// The text of a line with a space between its text nodes: fields of an information line often are in
/// elements of their own without a space between them.
fn space_text(page: &Page, line: &Line, out: &mut String) {
    for id in line.first..line.end {
        let text = page.text(id).trim();
        if !text.is_empty() {
            out.push_str(text);
            out.push(' ');
        }
    }
}

/// The account that publishes the page on a platform of many: an element below the headline that is named so.
fn find_account(page: &Page, outline: &Outline, title: usize) -> Option<String> {
    /// Nodes below the headline.
    const NEAR: usize = 200;
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| cues::words("class.account"));
    let first = outline.lines.get(title)?.first;
    let end = (first as usize + NEAR).min(page.nodes().len()) as NodeId;
    let named = |id: &NodeId| {
        let of = |attr| {
            page.attr(*id, attr)
                .unwrap_or_default()
                .split_ascii_whitespace()
        };
        let mut words = of(Attr::Id).chain(of(Attr::Class));
        words.any(|word| NAMES.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    let element = (first..end).find(named)?;
    clean_name(&render_element(page, element))
}

/// The agency whose report the first line of the text begins; 本报讯 and 本网讯 name none.
fn find_agency(page: &Page, first: &Line) -> Option<String> {
    let mut text = String::new();
    render_line(page, first, &mut text);
    let name = DATELINE.captures(&text)?.get(1)?.as_str();
    (!name.starts_with('本')).then(|| name.to_owned())
}

/// Reporters that the first or the last lines of the text name in brackets.
fn find_reporter(page: &Page, outline: &Outline, anchors: Anchors) -> Option<String> {
    const LAST_LINES: usize = 3;
    /// A text names its reporters in its first words or in its last, in bytes.
    const NEAR: usize = 160;
    /// Bytes that may follow a bracket at the end.
    const BEHIND: usize = 8;
    let first = anchors.body_start?;
    let end = anchors.body_end.min(outline.lines.len());
    let mut text = String::new();
    let mut named = |i: usize, at_end: bool| -> Option<String> {
        text.clear();
        render_line(page, outline.lines.get(i)?, &mut text);
        // A paragraph is long, and most have no bracket there.
        let bracketed = if at_end {
            let from = text.len().saturating_sub(BEHIND + '）'.len_utf8());
            text.get(text.ceil_char_boundary(from)..)?
                .contains([')', '）'])
        } else {
            let until = text.floor_char_boundary(NEAR + '（'.len_utf8());
            text.get(..until)?.contains(['(', '（'])
        };
        bracketed.then_some(())?;
        (LABEL_WORDS.seen(text.as_bytes()) & OF_REPORTER != 0).then_some(())?;
        let found = REPORTER.captures_iter(&text).last()?;
        let whole = found.get(0)?;
        let near = if at_end {
            whole.end() + BEHIND >= text.len()
        } else {
            whole.start() <= NEAR
        };
        near.then(|| clean_name(found.get(1)?.as_str().trim_end_matches(['、', '，', ','])))
            .flatten()
    };
    let last = (end.saturating_sub(LAST_LINES).max(first)..end).rev();
    named(first, false).or_else(|| last.into_iter().find_map(|i| named(i, true)))
}

/// Labels that stand alone: the name is in the next cell.
static LABELS: LazyLock<[Vec<String>; 2]> =
    LazyLock::new(|| ["source.named", "author.named"].map(cues::words));

/// Author and source whose labels are in cells of their own.
fn find_in_next_cells(
    page: &Page,
    outline: &Outline,
    near: std::ops::Range<usize>,
) -> (Option<String>, Option<String>) {
    const CELL_TOKENS: u32 = 16;
    let (mut author, mut source) = (None, None);
    let (mut label, mut name) = (String::new(), String::new());
    for i in near {
        let (Some(line), Some(next)) = (outline.lines.get(i), outline.lines.get(i + 1)) else {
            break;
        };
        if line.all.tokens > 4 || next.all.tokens > CELL_TOKENS || line.block == next.block {
            continue;
        }
        label.clear();
        render_line(page, line, &mut label);
        let sign = |c: char| c.is_whitespace() || matches!(c, ':' | '：');
        let said: String = label.chars().filter(|c| !sign(*c)).collect();
        let says = |words: &[String]| words.contains(&said);
        let [sources, authors] = &*LABELS;
        let is_author = says(authors);
        if !is_author && !says(sources) {
            continue;
        }
        name.clear();
        render_line(page, next, &mut name);
        let value = clean_name(&name).filter(|n| !n.ends_with(['：', ':']));
        let slot = if is_author { &mut author } else { &mut source };
        *slot = slot.take().or(value);
    }
    (author, source)
}

/// The short text of an element near the headline that calls itself author.
fn find_named_author(
    page: &Page,
    outline: &Outline,
    near: std::ops::Range<usize>,
) -> Option<String> {
    const NAME_TOKENS: u32 = 8;
    let is_name =
        |m: &Measure| (1..=NAME_TOKENS).contains(&m.tokens) && m.numbers == 0 && m.marks == 0;
    let lines = near.clone().filter_map(|i| outline.lines.get(i));
    let whole = lines
        .filter(|l| l.marks.any(Marks::AUTHOR) && !l.marks.any(Marks::ELSEWHERE))
        .filter(|l| is_name(&l.all))
        .find_map(|l| {
            let mut text = String::new();
            render_line(page, l, &mut text);
            clean_name(&text)
        });
    // A part of a line: `11月20日 08:15 · <span class="author">林思远</span>`.
    let part = || {
        let inside = outline.marked.iter().filter(|m| m.marks.any(Marks::AUTHOR));
        inside
            .filter(|m| near.contains(&outline.line_of(page, m.node)))
            .filter(|m| {
                let line = outline.lines.get(outline.line_of(page, m.node));
                line.is_some_and(|l| !l.marks.any(Marks::ELSEWHERE))
            })
            .map(|m| render_element(page, m.node))
            .find(|text| is_name(&Measure::new(text)))
            .and_then(|text| clean_name(&text))
    };
    whole
        .or_else(part)
        .or_else(|| find_linked_author(page, outline, near))
}

/// The text of a link near the headline that leads to the author's page, or of an element that calls itself byline.
fn find_linked_author(
    page: &Page,
    outline: &Outline,
    near: std::ops::Range<usize>,
) -> Option<String> {
    /// Words of a name.
    const WORDS: std::ops::RangeInclusive<usize> = 1..=5;
    let first = outline.lines.get(near.start)?.first;
    let end = outline.lines.get(near.end.checked_sub(1)?)?.end;
    let has = |id: NodeId, attr, word: &str| {
        let words = page.attr(id, attr).unwrap_or_default();
        words
            .split_ascii_whitespace()
            .any(|w| w.eq_ignore_ascii_case(word))
    };
    let mut named =
        (first..end).filter(|id| has(*id, Attr::Rel, "author") || has(*id, Attr::Class, "byline"));
    named.find_map(|id| {
        let line = outline.lines.get(outline.line_of(page, id))?;
        let text = render_element(page, id);
        let is_name = !line.marks.any(Marks::ELSEWHERE)
            && WORDS.contains(&text.split_whitespace().count())
            && text.chars().all(|c| {
                c.is_alphabetic() || c.is_whitespace() || matches!(c, '.' | '\'' | '’' | '-' | '·')
            });
        clean_name(&text).filter(|_| is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_author_of_head() {
        for (written, name) in [
            ("林&#39;安", Some("林'安")),
            ("Ann &amp;amp; Bo", Some("Ann & Bo")),
            ("责任编辑：林安", Some("林安")),
            ("本报记者: 林安", Some("林安")),
            ("36号观察", Some("36号观察")),
            ("文静", Some("文静")),
            ("来源：东江日报", None),
            ("责任编辑", None),
            ("作者：", None),
            ("204871", None),
            ("2031年5月2日", None),
            ("size=\"14\"", None),
            ("&nbsp;", None),
        ] {
            assert_eq!(clean_author(written).as_deref(), name, "{written}");
        }
    }
}
