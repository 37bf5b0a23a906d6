//! The main text. In: an [`Outline`] and a log-odds for each line that it is text. Out: the lines kept and
//! how sure that is. Never looks at words.
//!
//! Two steps. The container is the element whose lines have the greatest `Σ tokens · (p - θ)`: a long text
//! outweighs the noise around it, and an element that takes in more noise than text loses (maximum
//! subsequence segmentation, Pasternack and Roth, WWW 2009, over subtrees instead of ranges). Inside it, lines
//! are kept by their own odds and those of their neighbours and siblings.

use super::Config;
use super::author::author_of;
use super::date_text::{Form, find_dates};
use super::features::View;
use super::guided;
use super::likeness::{likeness_from, normal_form};
use super::marks::Marks;
use super::measure::ends_sentence;
use super::odds;
use super::outline::{Outline, is_prose};
use super::phrases::{Phrase, phrase_of};
use super::render::line_text;
use super::second::Second;
use super::stamp::Clock;
use crate::page::{NodeId, Page, Tag};
use crate::template::Guide;

/// A line counts for an element when it is likelier than this to be text: half of the F1 aimed at.
const THETA: f32 = 0.45;

/// Longest line that is looked at as a note about the text, in tokens.
const NOTE_TOKENS: u32 = 60;
/// Kept lines at the head of the text among which notes may stand below a first sentence.
const HEAD_LINES: usize = 4;
/// Longest line of date and names above the text, in tokens.
const BYLINE_TOKENS: u32 = 24;
/// Expected F1 from which a page is clear; this and the next two by cross-validation over sites.
const CLEAR: f32 = 0.8;
/// Odds that a line of a clear page must have before it counts as likely.
const DOUBT: f32 = 0.3;
/// Factor on the odds of a clear page.
const SHARPER: f32 = 2.0;
/// Fewer tokens than this are no text.
const LEAST_TOKENS: u32 = 4;
/// Longest cell of a data table, in tokens; longer ones are paragraphs of a layout.
const CELL_TOKENS: u32 = 40;
/// Most cells of a table that is completed.
const TABLE_LINES: usize = 400;
/// Most attachments below a text.
const ATTACHMENTS: usize = 20;
/// Lines below these odds are never kept, however poor the page.
const FLOOR: f32 = -3.0;

/// The element that holds the main text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Container {
    /// The element.
    pub node: NodeId,
    /// `Σ tokens · (p - θ)` over its lines.
    pub value: f32,
}

/// Probability of log-odds.
pub(super) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// The element with the greatest value; of equals the innermost. `None` for a page without lines.
pub(super) fn container(page: &Page, outline: &Outline, odds: &[f32]) -> Option<Container> {
    let mut sums = Vec::with_capacity(odds.len() + 1);
    let mut sum = 0.0f32;
    sums.push(sum);
    for (line, odds) in outline.lines.iter().zip(odds) {
        sum += line.all.tokens as f32 * (probability(*odds) - THETA);
        sums.push(sum);
    }
    let mut best: Option<Container> = None;
    for (at, node) in page.nodes().iter().enumerate() {
        if node.tag == Tag::TEXT {
            continue;
        }
        let range = outline.range(page, at as NodeId);
        if range.is_empty() {
            continue;
        }
        let value = sums[range.end] - sums[range.start];
        if best.is_none_or(|b| value >= b.value) {
            best = Some(Container {
                node: at as NodeId,
                value,
            });
        }
    }
    best
}

/// The main text.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Lines kept, in order.
    pub lines: Vec<usize>,
    /// Which way decided.
    pub method: &'static str,
    /// 0 to 1.
    pub confidence: f32,
}

/// The lines to keep, and the F1 to be expected of them. A clear page is cut a second time with sharpened odds:
/// what is doubtful beside a clear text is rarely part of it.
pub(super) fn select(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let (lines, expected) = cut(tokens, odds);
    if expected < CLEAR {
        return (lines, expected);
    }
    let sharp: Vec<f32> = odds.iter().map(|o| (o - DOUBT) * SHARPER).collect();
    (cut(tokens, &sharp).0, expected)
}

/// Of all cuts through the lines in order of odds, the one with the greatest expected F1,
/// `2 Σ kept t·p / (Σ kept t + Σ all t·p)`: a page of clear odds is cut near one half; on a page where every
/// line is doubtful the likeliest ones stay.
fn cut(tokens: &[u32], odds: &[f32]) -> (Vec<usize>, f32) {
    let mut order: Vec<usize> = (0..odds.len()).filter(|i| odds[*i] > FLOOR).collect();
    order.sort_by(|a, b| odds[*b].total_cmp(&odds[*a]).then(a.cmp(b)));
    let weight = |i: usize| tokens[i] as f32 * probability(odds[i]);
    let wanted: f32 = (0..odds.len()).map(weight).sum();
    let (mut hit, mut kept) = (0.0f32, 0.0f32);
    let mut best = (0.0f32, 0);
    for (n, i) in order.iter().enumerate() {
        hit += weight(*i);
        kept += tokens[*i] as f32;
        let expected = 2.0 * hit / (kept + wanted).max(1.0);
        if expected >= best.0 {
            best = (expected, n + 1);
        }
    }
    let mut lines = order;
    lines.truncate(best.1);
    lines.sort_unstable();
    (lines, best.0)
}

/// The main text of a page. `title` is the line of the headline, if it was found.
pub(super) fn main_text(
    page: &Page,
    outline: &Outline,
    title: Option<usize>,
    config: &Config,
    guide: Option<Guide<'_>>,
) -> Body {
    let view = View::of(page, outline, title);
    let first = odds::first(&view);
    let Some(best) = container(page, outline, &first) else {
        return Body {
            method: "none",
            ..Body::default()
        };
    };
    let second = odds::second(&Second::of(&view, &first, Some(best)), first.len());
    let (mut lines, expected, method) = match &guide {
        Some(guide) => guided::choose(page, outline, &second, guide),
        None => {
            let tokens: Vec<u32> = outline.lines.iter().map(|l| l.all.tokens).collect();
            let (lines, expected) = select(&tokens, &second);
            (lines, expected, "ratio+blocks")
        }
    };
    complete(page, &view, &mut lines);
    let kept = lines.iter().fold((0u32, 0u32), |sum, i| {
        let line = &outline.lines[*i];
        (sum.0 + line.all.tokens, sum.1 + line.linked.tokens)
    });
    // Kept links are a list, however clearly it stands out.
    let plain = 1.0 - kept.1 as f32 / kept.0.max(1) as f32;
    let short = 0.5 + 0.5 * (kept.0 as f32 / (2 * config.min_tokens).max(1) as f32).min(1.0);
    let confidence = expected * plain * short;
    Body {
        lines,
        method,
        confidence,
    }
}

/// Adds what belongs to kept lines though it does not read like text: the other rows of a table, attachments
/// named right below. Drops what is too little to be one.
fn complete(page: &Page, view: &View<'_>, lines: &mut Vec<usize>) {
    let outline = view.outline;
    let prose = |i: &&usize| is_prose(&outline.lines[**i]);
    let first = lines.iter().find(prose).copied().unwrap_or(usize::MAX);
    let last = lines.iter().rfind(prose).copied().unwrap_or(0);
    let mut more: Vec<usize> = Vec::new();
    let mut last_table = None;
    for i in lines.iter().filter(|i| (first..=last).contains(*i)) {
        let line = &outline.lines[*i];
        let inside = line.marks.any(Marks::TABLE) && line.all.tokens <= CELL_TOKENS;
        let table = inside
            .then(|| {
                page.ancestors(line.first)
                    .take(6)
                    .find(|a| page.node(*a).tag == Tag::TABLE)
            })
            .flatten();
        if let Some(table) = table.filter(|t| last_table != Some(*t)) {
            last_table = Some(table);
            let range = outline.range(page, table);
            let sum = outline.sum(range.clone());
            let small = sum.tokens <= CELL_TOKENS * sum.lines.max(1);
            let within = first < range.start && range.end <= last;
            if within && small && sum.linked * 3 < sum.tokens && range.len() <= TABLE_LINES {
                more.extend(range);
            }
        }
    }
    if let Some(last) = lines.last().copied() {
        let below = (last + 1..outline.lines.len()).take(ATTACHMENTS);
        more.extend(below.take_while(|i| view.phrases[*i] == Some(Phrase::Attachment)));
    }
    lines.extend(more);
    lines.sort_unstable();
    lines.dedup();
}

/// Drops lines that are about the text: the headline itself, date and source, editor, share bar, notes of
/// rights. Only short lines, and most kinds only above the first or below the last prose.
pub(super) fn drop_notes(
    page: &Page,
    outline: &Outline,
    headline: Option<&str>,
    clock: &Clock,
    lines: &mut Vec<usize>,
) {
    let mut text = String::new();
    let phrases: Vec<Option<Phrase>> = lines
        .iter()
        .map(|i| {
            text.clear();
            line_text(page, &outline.lines[*i], &mut text);
            phrase_of(&text)
        })
        .collect();
    let bylines: Vec<bool> = (0..lines.len().min(HEAD_LINES))
        .map(|n| {
            let line = &outline.lines[lines[n]];
            text.clear();
            line_text(page, line, &mut text);
            line.all.tokens <= BYLINE_TOKENS && is_byline(&text, clock)
        })
        .collect();
    let byline = |n: usize| bylines.get(n) == Some(&true);
    let prose = |n: &usize| is_prose(&outline.lines[lines[*n]]) && phrases[*n].is_none();
    let first = (0..lines.len())
        .find(|n| prose(n) && !byline(*n))
        .map_or(usize::MAX, |n| lines[n]);
    let last = (0..lines.len()).rev().find(prose).map_or(0, |n| lines[n]);
    let headline = headline.map(normal_form);
    let mut next = 0;
    lines.retain(|i| {
        let phrase = phrases[next];
        next += 1;
        let line = &outline.lines[*i];
        if line.all.tokens > NOTE_TOKENS {
            return true;
        }
        text.clear();
        line_text(page, line, &mut text);
        let outside = *i < first || *i > last || next <= HEAD_LINES;
        let above = *i <= first;
        if above && headline.as_ref().is_some_and(|h| repeats(h, &text)) {
            return false;
        }
        if *i < first && byline(next - 1) {
            return false;
        }
        match phrase {
            Some(Phrase::Editor | Phrase::Tools | Phrase::Paging) => false,
            Some(
                Phrase::Source | Phrase::Footer | Phrase::Comments | Phrase::Crumbs | Phrase::Tags,
            ) => !outside,
            Some(Phrase::Legal | Phrase::Related | Phrase::Promo) => !outside || *i < first,
            Some(Phrase::OriginalTitle | Phrase::Attachment) | None => true,
        }
    });
    let tokens: u32 = lines.iter().map(|i| outline.lines[*i].all.tokens).sum();
    if tokens < LEAST_TOKENS {
        lines.clear();
    }
}

/// True for a line that says the same as the headline.
fn repeats(headline: &[char], text: &str) -> bool {
    const SAME: f64 = 0.9;
    let chars = text.chars().count();
    // NFKC and dropped quotes do not change a length by more.
    chars <= 4 * headline.len() + 16
        && likeness_from(headline, &normal_form(text), usize::MAX, SAME).is_some()
}

/// True for a line that gives the day or the writer and is no sentence.
fn is_byline(text: &str, clock: &Clock) -> bool {
    !ends_sentence(text)
        && (author_of(text).is_some()
            || find_dates(text, clock).iter().any(|d| d.form == Form::Full))
}
