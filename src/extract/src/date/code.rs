//! Reads dates from the code of a page: its URL, its scripts, and elements that are made to hold a date. Running text is
//! read only for the label of a date.

use std::sync::LazyLock;

use regex::Regex;

use super::clues::Label;
use super::stamp::{Clock, Stamp};
use super::text::{find_dates, parse_iso_value, parse_value};
use super::{Anchors, DateCandidate, DateOrigin, MAX_CANDIDATES, find_near};
use crate::lines::hints::Marks;
use crate::lines::outline::Outline;
use crate::lines::render::render_element;
use crate::literals::compile_regex;
use crate::page::{Attr, NodeId, Page, Tag};

/// A name of the time of publication with its value, or a value alone. WeChat says `ct` and `createTime`; elsewhere the latter
/// is a time of anything, unless it is a variable.
static IN_SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    let names = [
        r"publish(?:ed)?_?(?:time|date|at)",
        r"pub_?(?:time|date)",
        r"release_?(?:time|date)",
        r"date_?published",
        r"deployDt",
        r"ori_?create_?time",
        r"(?:var|let|const)\s+create_?time",
        r"\.create_?time",
    ];
    let names = names.join("|");
    compile_regex(&format!(
        r#"(?i)(?:{names})["']?\s*[:=]\s*["']?(\d[\dTZ:+./ -]{{8,30}})|\bct\s*=\s*["'](1\d{{9}})["']|["']((?:1\d{{9}}(?:\d{{3}})?)|20\d\d-\d\d-\d\d[^"']{{0,20}})["']"#,
    ))
});

/// The value that follows the name, else the first quoted date or Unix time next to it; of several that fall on
/// one day the one with a time of day.
pub(crate) fn from_script(script: &str, clock: &Clock) -> Option<Stamp> {
    let values = IN_SCRIPT.captures_iter(script).filter_map(|c| {
        let named = c.get(1).or(c.get(2));
        let value = named.or(c.get(3))?.as_str();
        let named = named.is_some();
        Some((named, parse_value(value, clock)?))
    });
    let values: Vec<(bool, Stamp)> = values.take(8).collect();
    let best = values.iter().find(|v| v.0).map(|v| v.1);
    // Without a name the bare day is what the page shows; a Unix time next to it may be that of the server.
    let day = values.iter().find(|v| v.1.time.is_none()).map(|v| v.1);
    let best = best.or(day).or_else(|| values.first().map(|v| v.1))?;
    let timed = values
        .iter()
        .find(|v| v.1.date == best.date && v.1.time.is_some());
    Some(timed.map_or(best, |v| v.1))
}

static IN_URL: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"(?:\D|^)(19[89]\d|20[0-4]\d)(?:([/_-])([01]?\d)[/_-]([0-3]?\d)|[/_-]?([01]\d)[/_-]?([0-3]\d))(?:\D|$)",
    )
});

/// The day in the path of a URL.
pub(crate) fn from_url(url: &str, clock: &Clock) -> Option<Stamp> {
    let rest = url.split_once("://").map_or(url, |(_, r)| r);
    let path = rest.split_once('/').map_or("", |(_, p)| p);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    IN_URL.captures_iter(path).find_map(|c| {
        let part =
            |a: usize, b: usize| -> Option<u32> { c.get(a).or(c.get(b))?.as_str().parse().ok() };
        Stamp::day(c[1].parse().ok()?, part(3, 5)?, part(4, 6)?).filter(|s| clock.plausible(s.date))
    })
}

/// Dates of elements that are made to hold one.
pub(crate) fn from_elements(
    page: &Page,
    outline: &Outline,
    anchors: Anchors,
    clock: &Clock,
) -> Vec<DateCandidate> {
    let mut out = Vec::new();
    let props = page.has_attr(Attr::Itemprop);
    for (at, node) in page.nodes().iter().enumerate() {
        // The class names of hAtom stand on any element, and its times in the title of an abbreviation.
        let is_time = matches!(node.tag, Tag::TIME | Tag::ABBR);
        if !(is_time || props) || node.tag == Tag::TEXT || node.tag == Tag::META {
            continue;
        }
        let id = at as NodeId;
        let prop = page.attr(id, Attr::Itemprop).unwrap_or_default();
        let declared = prop.eq_ignore_ascii_case("datePublished");
        if !(is_time || declared) {
            continue;
        }
        let value = page
            .attr(id, Attr::Datetime)
            .or_else(|| page.attr(id, Attr::Content));
        let stamp = if node.tag == Tag::ABBR && !declared {
            page.attr(id, Attr::Title)
                .and_then(|v| parse_iso_value(v, clock))
        } else {
            value
                .and_then(|v| parse_value(v, clock))
                .or_else(|| parse_value(&render_element(page, id), clock))
        };
        let Some(stamp) = stamp else { continue };
        let class = page.attr(id, Attr::Class).unwrap_or_default();
        // The begin and end of an event.
        if node.tag == Tag::ABBR && (class.contains("dtstart") || class.contains("dtend")) {
            continue;
        }
        let changed = prop.eq_ignore_ascii_case("dateModified")
            || class.contains("modified")
            || class.contains("updated") && !class.contains("published");
        let marks = outline.marks_at(id);
        let elsewhere = marks.any(Marks::ELSEWHERE.with(Marks::FOOTER));
        let (from, to) = find_near(anchors, outline.lines.len());
        let origin = match (declared, elsewhere) {
            (true, false) => DateOrigin::Declared,
            (false, false) if class.contains("published") || class.contains("entry-date") => {
                DateOrigin::Declared
            }
            (false, false) if (from..to).contains(&outline.line_at(id)) => DateOrigin::Time,
            _ => DateOrigin::OtherTime,
        };
        let holding = outline.line_of(page, id);
        let labelled = || find_line_label(page, outline, holding, clock) == Label::Modified;
        let origin = if changed || origin != DateOrigin::Declared && labelled() {
            DateOrigin::Modified
        } else {
            origin
        };
        if origin == DateOrigin::Modified && elsewhere {
            continue;
        }
        out.push(DateCandidate { stamp, origin });
        if out.len() >= MAX_CANDIDATES {
            break;
        }
    }
    out
}

fn find_line_label(page: &Page, outline: &Outline, line: usize, clock: &Clock) -> Label {
    let Some(line) = outline.lines.get(line).filter(|l| l.all.tokens < 30) else {
        return Label::None;
    };
    find_dates(outline.text(page, line), clock)
        .first()
        .map_or(Label::None, |f| f.label)
}
