//! Locates the headline: collects headings and head data as candidates, lets [`super::title`] choose, and returns the
//! headline with its line.

use std::borrow::Cow;

use super::head::Head;
use super::likeness::{Forms, normal_form, width};
use super::title;
use super::title::Evidence;
use super::title_candidate::{Compared, TitleCandidate, TitleOrigin};
use super::title_extent::Topic;
use super::title_parts::Title;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::lines::render::{render_element, render_node};
use crate::page::{NodeId, Page, Tag};

/// Most headings checked.
const MAX_HEADINGS: usize = 120;
/// Likeness from which a heading is taken for the headline before the text is known.
const SURE: f64 = 0.75;
/// A likeness up to this need not be known.
const LEAST: f64 = 0.74;

/// The headline.
#[derive(Debug, Default)]
pub(crate) struct Headline {
    /// Its text.
    pub text: Option<String>,
    /// Line where it is in the page, if it does.
    pub line: Option<usize>,
    /// What it was chosen from, best first.
    pub candidates: Vec<TitleCandidate<'static>>,
}

/// A heading, or an element that calls itself title.
#[derive(Debug)]
pub(crate) struct Heading {
    origin: TitleOrigin,
    node: NodeId,
    /// Its first line.
    line: usize,
    text: String,
    /// What the text is compared by.
    compared: Compared,
}

/// The headings of a page, in document order, compared with the parts of its `<title>`.
pub(crate) fn find_headings(page: &Page, outline: &Outline, forms: &Forms) -> Vec<Heading> {
    let marked = outline.marked.iter();
    let named = marked.filter(|m| m.marks.any(Marks::TITLE)).map(|m| m.node);
    let mut all: Vec<NodeId> = named.take(2 * MAX_HEADINGS).collect();
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag.is_heading() && all.len() < 2 * MAX_HEADINGS {
            all.push(at as NodeId);
        }
    }
    all.sort_unstable();
    all.dedup();
    let first = all.into_iter().take(MAX_HEADINGS);
    first
        .filter_map(|id| read_heading(page, outline, forms, id))
        .collect()
}

fn read_heading(page: &Page, outline: &Outline, forms: &Forms, id: NodeId) -> Option<Heading> {
    const MOST_LINES: usize = 4;
    let range = outline.range(page, id);
    if range.is_empty() || range.len() > MOST_LINES {
        return None;
    }
    let origin = if page.node(id).tag == Tag::H1 {
        TitleOrigin::H1
    } else {
        TitleOrigin::Heading
    };
    let text = render_element(page, id);
    Some(Heading {
        origin,
        node: id,
        line: range.start,
        compared: Compared::new(&text, forms),
        text,
    })
}

/// The text of a heading without labels before and counters behind a part of `<title>`, which does not have them; `letters`
/// are those of `<title>`.
fn strip_labels(page: &Page, id: NodeId, forms: &Forms, letters: &[char]) -> Option<String> {
    /// Most texts of a heading that are checked.
    const TEXTS: usize = 8;
    /// Narrowest headline behind a label.
    const LEAST: usize = 12;
    let texts = (id..page.node(id).end).filter(|id| page.node(*id).tag == Tag::TEXT);
    let texts = texts.filter(|id| !page.text(*id).trim().is_empty());
    let texts: Vec<NodeId> = texts.take(TEXTS + 1).collect();
    let [first, others @ .., last] = &texts[..] else {
        return None;
    };
    let cuts = || others.iter().chain([last]);
    let end = *last + 1;
    let render = |from: NodeId, end: NodeId| {
        let mut out = String::new();
        render_node(page, from, end, &mut out);
        out
    };
    let whole = letters_of(&normal_form(&render(*first, end)));
    if texts.len() > TEXTS || letters.windows(whole.len().max(1)).any(|w| w == whole) {
        return None;
    }
    let is_part = |text: &String| forms.contain(&normal_form(text));
    let behind = cuts().map(|cut| render(*cut, end)).find(is_part);
    behind
        .filter(|text| width(text.chars()) >= LEAST)
        .or_else(|| {
            let cuts = cuts().rev().filter(|cut| is_counter(&render(**cut, end)));
            cuts.map(|cut| render(*first, *cut)).find(is_part)
        })
}

/// True for a number with its label, and for brackets.
fn is_counter(text: &str) -> bool {
    /// Longest such text, in bytes.
    const MAX_BYTES: usize = 40;
    let ends = |c: char| c.is_ascii_digit() || c == ')';
    text.starts_with(['(', '（', '[']) || text.len() < MAX_BYTES && text.ends_with(ends)
}

fn letters_of(form: &[char]) -> Vec<char> {
    let letters = form.iter().copied().filter(|c| c.is_alphanumeric());
    letters.collect()
}

/// What the page is about, by its structured data: one of several things is none.
fn find_topic<'a>(head: &'a Head<'_>) -> Topic<'a> {
    const FILMS: [&str; 4] = ["movie", "tv_show", "video.movie", "video.tv_show"];
    let name = match &head.json.things[..] {
        [thing] => Some(thing.as_str()),
        _ => None,
    };
    let is_film = head.og_type.is_some_and(|kind| FILMS.contains(&kind));
    Topic { name, is_film }
}

/// The line that is most like a part of `<title>`, before the text is known.
pub(crate) fn guess_headline(
    page: &Page,
    outline: &Outline,
    forms: &Forms,
    headings: &[Heading],
) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for heading in headings {
        let Compared { form, likeness } = &heading.compared;
        let score = *likeness;
        if score >= SURE && form.len() >= 4 && best.is_none_or(|b| score > b.0) {
            best = Some((score, heading.line));
        }
    }
    best.map(|b| b.1)
        .or_else(|| find_line_like(page, outline, forms, outline.lines.len()))
}

/// The headline, now that the text is known.
pub(crate) fn find_headline(
    page: &Page,
    outline: &Outline,
    head: &Head<'_>,
    title: &Title,
    headings: &[Heading],
    lines: &[usize],
) -> Headline {
    let anchor = lines.first().copied().unwrap_or(0);
    let mut candidates = Vec::new();
    let letters = letters_of(&title.form);
    for heading in headings {
        let stripped = Some(heading.node)
            .filter(|node| page.node(*node).tag.is_heading())
            .and_then(|node| strip_labels(page, node, &title.forms, &letters));
        let (text, compared) = match stripped {
            Some(text) => (Cow::Owned(text), None),
            None => (
                Cow::Borrowed(heading.text.as_str()),
                Some(Cow::Borrowed(&heading.compared)),
            ),
        };
        candidates.push(TitleCandidate {
            distance: heading.line.abs_diff(anchor) as u32,
            above: heading.line <= anchor,
            compared,
            ..TitleCandidate::new(heading.origin, text)
        });
    }
    let json = head.json.headline.as_deref();
    candidates.extend(json.map(|text| TitleCandidate::new(TitleOrigin::JsonLd, text)));
    for (i, text) in head.titles.iter().enumerate() {
        candidates.push(TitleCandidate {
            distance: i as u32,
            ..TitleCandidate::new(TitleOrigin::Meta, *text)
        });
    }
    let line = find_line_in_title(page, outline, title, anchor);
    candidates.extend(line.map(|text| TitleCandidate::new(TitleOrigin::Line, text)));
    let evidence = Evidence {
        title,
        site_name: head.site_name,
        host: page.url.as_ref().map(|u| u.host()),
        candidates,
        topic: find_topic(head),
    };
    let (text, candidates) = title::choose(evidence);
    let form = Forms::new(text.as_deref().into_iter());
    let is_it = |form_of: &[char]| form.best(form_of, LEAST).is_some_and(|s| s >= SURE);
    let line = headings
        .iter()
        .filter(|heading| is_it(&heading.compared.form))
        .map(|heading| heading.line)
        .min_by_key(|line| line.abs_diff(anchor));
    let line = line.or_else(|| {
        let prose = |i: &&usize| is_prose(&outline.lines[**i]);
        let text = lines.iter().find(prose).copied();
        find_line_like(page, outline, &form, text.unwrap_or(anchor) + 2)
    });
    Headline {
        text,
        line,
        candidates: candidates
            .into_iter()
            .map(TitleCandidate::into_owned)
            .collect(),
    }
}

/// The longest line right above the text that `<title>` contains: a headline without a name or a heading's tag,
/// where the title has more around it than joints can show.
fn find_line_in_title(
    page: &Page,
    outline: &Outline,
    title: &Title,
    anchor: usize,
) -> Option<String> {
    const ABOVE: usize = 12;
    /// Shortest such line, Chinese characters counted twice.
    const WIDTH: usize = 12;
    let width = |form: &[char]| width(form.iter().copied());
    let least = width(&title.form).div_ceil(2).max(WIDTH);
    let mut best: Option<(usize, String)> = None;
    for line in outline.lines.get(anchor.saturating_sub(ABOVE)..=anchor)? {
        if line.linked.tokens == line.all.tokens || line.all.tokens > 60 {
            continue;
        }
        let text = outline.text(page, line);
        let form = normal_form(text);
        let longer = best.as_ref().is_none_or(|b| form.len() > b.0);
        if width(&form) >= least && longer && title.form.windows(form.len()).any(|w| w == form) {
            best = Some((form.len(), text.to_owned()));
        }
    }
    best.map(|b| b.1)
}

/// The line among the first `end` that is most like one of the forms: old pages set the headline in a `div` or
/// a table cell.
fn find_line_like(page: &Page, outline: &Outline, forms: &Forms, end: usize) -> Option<usize> {
    const LINES: usize = 300;
    const TOKENS: std::ops::Range<u32> = 4..60;
    let mut best: Option<(f64, usize)> = None;
    for (i, line) in outline.lines.iter().enumerate().take(end.min(LINES)) {
        if !TOKENS.contains(&line.all.tokens) || line.linked.tokens == line.all.tokens {
            continue;
        }
        let text = outline.text(page, line);
        let score = forms.best(&normal_form(text), LEAST).unwrap_or(0.0);
        if score >= SURE && best.is_none_or(|b| score > b.0) {
            best = Some((score, i));
        }
    }
    best.map(|b| b.1)
}
