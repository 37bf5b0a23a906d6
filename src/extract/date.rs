//! The time of first publication. In: the head data, the lines near the headline and the text, the URL. Out:
//! the chosen date with every candidate. The time of the last change is never taken for it.
//!
//! Order of trust: structured data, the URL's day, text near the headline, text anywhere. A time of day is
//! taken over from a less trusted candidate of the same day.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::date_label::Label;
use super::date_text::{Form, Found, find_dates, parse_value};
use super::head::Head;
use super::marks::Marks;
use super::outline::Outline;
use super::render::line_text;
use super::stamp::{Clock, Stamp};
use crate::literals::compiled;
use crate::page::{Attr, NodeId, Page, Tag};

/// Lines above the headline that may hold the date.
const LINES_ABOVE: usize = 8;
/// Lines below the headline, or into the text, that may hold the date.
const LINES_BELOW: usize = 12;
/// Longest line that is looked at for a date away from the headline, in bytes.
const SHORT_LINE: usize = 160;
/// Longest line whose dates are counted when nothing else is known, in tokens.
const FREQUENT_TOKENS: u32 = 80;
/// Linked tokens from which a line with a date is a link to another article.
const TEASER_TOKENS: u32 = 9;
/// Most candidates kept.
const MAX_CANDIDATES: usize = 200;

/// Names of meta elements that do not say which date they mean.
const WEAK_META: &[&str] = &[
    "date",
    "dc.date",
    "dcterms.date",
    "created",
    "datecreated",
    "eprints.date",
    "citation_date",
    "release_date",
    "og:release_date",
    "video:release_date",
    "date.release",
    "releasedate",
];

/// Where a date comes from, in order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Origin {
    /// JSON-LD `datePublished`.
    JsonLd,
    /// A meta element.
    Meta,
    /// `itemprop=datePublished`, `time pubdate`.
    Declared,
    /// Text near the headline that is called the publication.
    Labelled,
    /// `<time datetime>` near the headline.
    Time,
    /// Year, month and day in the URL.
    Url,
    /// Text between headline and main text.
    Near,
    /// A value that a script calls the time of publication.
    Script,
    /// A meta element that may as well mean the last change or the day of an event: `date`, `DC.date`.
    WeakMeta,
    /// An element elsewhere that calls itself date or source.
    About,
    /// `<time datetime>` elsewhere.
    OtherTime,
    /// Month and day without a year, or a time told from now, near the headline.
    Vague,
    /// The last lines of the text.
    Signature,
    /// `<title>` or the description.
    Head,
    /// The date that most short lines have.
    Frequent,
}

impl Origin {
    /// Trust in the place, 1 for the first of the list, falling evenly.
    pub(super) fn trust(self) -> f64 {
        1.0 - self as u8 as f64 / (Origin::Frequent as u8 + 1) as f64
    }
}

/// One candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The date.
    pub stamp: Stamp,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where headline and text stand, as line indexes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Line of the headline.
    pub title: Option<usize>,
    /// First line of the main text.
    pub body_start: Option<usize>,
    /// One past the last line of the main text.
    pub body_end: usize,
}

/// The best date and all candidates in order of trust.
pub(super) fn choose(
    page: &Page,
    outline: &Outline,
    head: &Head<'_>,
    place: Place,
    clock: &Clock,
) -> (Option<Stamp>, Vec<Candidate>) {
    let mut all: Vec<Candidate> = Vec::new();
    let value = |text: &Option<String>| text.as_deref().and_then(|v| parse_value(v, clock));
    let url = page
        .url
        .as_ref()
        .map(|u| u.as_str())
        .or(head.canonical)
        .unwrap_or_default();
    all.extend(of(Origin::JsonLd, value(&head.json.published)));
    all.extend(head.published.iter().filter_map(|(name, v)| {
        let weak = WEAK_META.contains(name);
        let origin = if weak { Origin::WeakMeta } else { Origin::Meta };
        of(origin, parse_value(v, clock))
    }));
    all.extend(of(Origin::Url, from_url(url, clock)));
    let script = head.scripts.iter().find_map(|s| from_script(s, clock));
    all.extend(of(Origin::Script, script));
    all.extend(from_elements(page, outline, place, clock));
    all.extend(from_lines(page, outline, place, clock));
    if all.is_empty() {
        all.extend(of(Origin::JsonLd, value(&head.json.created)));
    }
    if all.is_empty() {
        let texts = [Some(head.title.as_str()), head.description];
        let first = |text: &str| {
            find_dates(text, clock)
                .into_iter()
                .find(|f| f.form == Form::Full)
        };
        let found = texts.into_iter().flatten().find_map(first);
        all.extend(of(Origin::Head, found.map(|f| f.stamp)));
    }
    if all.is_empty() {
        all.extend(of(Origin::Frequent, most_frequent(page, outline, clock)));
    }
    all.truncate(MAX_CANDIDATES);
    all.sort_by_key(|c| c.origin);
    (all.first().map(|best| with_time_of(*best, &all)), all)
}

fn of(origin: Origin, stamp: Option<Stamp>) -> Option<Candidate> {
    stamp.map(|stamp| Candidate { stamp, origin })
}

/// The chosen date with the time of day of the most trusted candidate of that day.
fn with_time_of(best: Candidate, all: &[Candidate]) -> Stamp {
    let mut stamp = best.stamp;
    if stamp.time.is_none() {
        let timed = all
            .iter()
            .find(|c| c.stamp.date == stamp.date && c.stamp.time.is_some());
        if let Some(timed) = timed {
            stamp = timed.stamp;
        }
    }
    stamp
}

static IN_SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?:publish_?time|publish_?date|pub_?time|pub_?date|datePublished|deployDt)["']?\s*[:=]\s*["']?([\d][\dT:+./ -]{8,30})|["']((?:1\d{9}(?:\d{3})?)|20\d\d-\d\d-\d\d[^"']{0,20})["']"#,
    )
});

/// The value that follows the name, else the first quoted date or Unix time beside it; of several that fall on
/// one day the one with a time of day.
fn from_script(script: &str, clock: &Clock) -> Option<Stamp> {
    let values = IN_SCRIPT.captures_iter(script).filter_map(|c| {
        let named = c.get(1).is_some();
        let value = c.get(1).or(c.get(2))?.as_str();
        Some((named, parse_value(value, clock)?))
    });
    let values: Vec<(bool, Stamp)> = values.take(8).collect();
    let best = values.iter().find(|v| v.0).map(|v| v.1);
    // Without a name the bare day is what the page shows; a Unix time beside it may be that of the server.
    let day = values.iter().find(|v| v.1.time.is_none()).map(|v| v.1);
    let best = best.or(day).or_else(|| values.first().map(|v| v.1))?;
    let timed = values
        .iter()
        .find(|v| v.1.date == best.date && v.1.time.is_some());
    Some(timed.map_or(best, |v| v.1))
}

static IN_URL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?:\D|^)(19[89]\d|20[0-4]\d)(?:([/_-])([01]?\d)[/_-]([0-3]?\d)|[/_-]?([01]\d)[/_-]?([0-3]\d))(?:\D|$)",
    )
});

/// The day in the path of a URL.
pub(super) fn from_url(url: &str, clock: &Clock) -> Option<Stamp> {
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
fn from_elements(page: &Page, outline: &Outline, place: Place, clock: &Clock) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (at, node) in page.nodes().iter().enumerate() {
        let id = at as NodeId;
        let prop = page.attr(id, Attr::Itemprop);
        let declared = prop.is_some_and(|p| p.eq_ignore_ascii_case("datePublished"));
        if prop.is_some_and(|p| p.eq_ignore_ascii_case("dateModified"))
            || (node.tag != Tag::TIME && !declared)
        {
            continue;
        }
        if node.tag == Tag::META {
            continue;
        }
        let value = page
            .attr(id, Attr::Datetime)
            .or_else(|| page.attr(id, Attr::Content));
        let stamp = value
            .and_then(|v| parse_value(v, clock))
            .or_else(|| parse_value(&super::render::element_text(page, id), clock));
        let Some(stamp) = stamp else { continue };
        let class = page.attr(id, Attr::Class).unwrap_or_default();
        if class.contains("modified") || class.contains("updated") && !class.contains("published") {
            continue;
        }
        let line = outline.line_at(id);
        let marks = outline.lines.get(line).map(|l| l.marks).unwrap_or_default();
        let elsewhere = marks.any(
            Marks::COMMENT
                .with(Marks::RELATED)
                .with(Marks::ASIDE)
                .with(Marks::FOOTER),
        );
        let (from, to) = near(place, outline.lines.len());
        let origin = match (declared, elsewhere) {
            (true, false) => Origin::Declared,
            (false, false) if class.contains("published") || class.contains("entry-date") => {
                Origin::Declared
            }
            (false, false) if (from..to).contains(&line) => Origin::Time,
            _ => Origin::OtherTime,
        };
        let labelled = label_of_line(page, outline, line, clock) == Label::Modified;
        if labelled && origin != Origin::Declared {
            continue;
        }
        out.push(Candidate { stamp, origin });
        if out.len() >= MAX_CANDIDATES {
            break;
        }
    }
    out
}

fn label_of_line(page: &Page, outline: &Outline, line: usize, clock: &Clock) -> Label {
    let Some(line) = outline.lines.get(line).filter(|l| l.all.tokens < 30) else {
        return Label::None;
    };
    let mut text = String::new();
    line_text(page, line, &mut text);
    find_dates(&text, clock)
        .first()
        .map_or(Label::None, |f| f.label)
}

/// Lines that count as near the headline.
fn near(place: Place, lines: usize) -> (usize, usize) {
    let anchor = place.title.or(place.body_start).unwrap_or(0);
    let body = place.body_start.filter(|b| *b >= anchor).unwrap_or(anchor);
    let to = body.min(anchor + 4 * LINES_BELOW) + LINES_BELOW;
    (anchor.saturating_sub(LINES_ABOVE), to.min(lines))
}

/// Dates in the text of lines.
fn from_lines(page: &Page, outline: &Outline, place: Place, clock: &Clock) -> Vec<Candidate> {
    let mut out: Vec<(u32, Origin, Stamp)> = Vec::new();
    let (from, to) = near(place, outline.lines.len());
    let anchor = place.title.or(place.body_start).unwrap_or(0);
    let mut text = String::new();
    for (i, line) in outline.lines.iter().enumerate() {
        let close = (from..to).contains(&i);
        let about = line.marks.any(Marks::ABOUT);
        let signature = i + 3 >= place.body_end && i < place.body_end + 4;
        // Right under the headline a date is the headline's, whatever the box around both calls itself.
        let under_title = place.title.is_some_and(|t| i > t && i <= t + 3);
        // A headline that links and a date: another article.
        let above_text = place.body_start.is_some_and(|b| i < b && i + 4 >= b);
        let teaser = line.linked.tokens >= TEASER_TOKENS && !under_title && !above_text;
        if teaser || line.all.numbers == 0 && line.all.cjk == 0 || !(close || about || signature) {
            continue;
        }
        text.clear();
        line_text(page, line, &mut text);
        if text.len() > 4 * SHORT_LINE || (text.len() > SHORT_LINE && !close) {
            continue;
        }
        let elsewhere = !under_title
            && line.marks.any(
                Marks::COMMENT
                    .with(Marks::RELATED)
                    .with(Marks::ASIDE)
                    .with(Marks::NAV),
            );
        let in_text = place.body_start.is_some_and(|b| i >= b) && line.all.tokens > 30;
        for found in find_dates(&text, clock) {
            // A text may begin with its date: `01.02.2022 | …`.
            let begins = found.form == Form::Full && found.at < 6 && place.body_start == Some(i);
            let in_text = in_text && !begins;
            if let Some(origin) = origin_of(
                &found,
                close && !elsewhere,
                about && !elsewhere,
                signature,
                in_text,
            ) {
                let distance = if i >= anchor {
                    2 * (i - anchor)
                } else {
                    3 * (anchor - i)
                };
                out.push((distance as u32, origin, found.stamp));
            }
        }
    }
    out.sort_by_key(|(distance, origin, _)| (*origin, *distance));
    out.into_iter()
        .map(|(_, origin, stamp)| Candidate { stamp, origin })
        .collect()
}

fn origin_of(
    found: &Found,
    close: bool,
    about: bool,
    signature: bool,
    in_text: bool,
) -> Option<Origin> {
    match (found.label, found.form) {
        (Label::Modified, _) => None,
        _ if in_text => None,
        (Label::Published, Form::Full) if close || about => Some(Origin::Labelled),
        (_, Form::Full) if close => Some(Origin::Near),
        (_, Form::Full) if about => Some(Origin::About),
        (_, Form::NoYear | Form::Relative) if close => Some(Origin::Vague),
        (_, Form::Full) if signature => Some(Origin::Signature),
        _ => None,
    }
}

/// The full date that most short lines have, the earliest of equals.
fn most_frequent(page: &Page, outline: &Outline, clock: &Clock) -> Option<Stamp> {
    let mut counts: HashMap<chrono::NaiveDate, (u32, usize, Stamp)> = HashMap::new();
    let mut text = String::new();
    for (i, line) in outline
        .lines
        .iter()
        .enumerate()
        .filter(|(_, l)| l.all.numbers > 0 && l.all.tokens < FREQUENT_TOKENS)
    {
        text.clear();
        line_text(page, line, &mut text);
        for found in find_dates(&text, clock)
            .iter()
            .filter(|f| f.form == Form::Full && f.label != Label::Modified)
        {
            counts
                .entry(found.stamp.date)
                .or_insert((0, i, found.stamp))
                .0 += 1;
        }
    }
    counts
        .into_values()
        .max_by_key(|(n, at, _)| (*n, std::cmp::Reverse(*at)))
        .map(|(_, _, stamp)| stamp)
}
