//! The runs of a paragraph: its spans as a tree without any that are not sound.

use std::ops::Range;

use super::{Span, SpanKind};

/// A part of a paragraph: a range of its text, or a span with what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run<'s> {
    /// Plain text, in bytes of the paragraph.
    Text(Range<usize>),
    /// A span and the runs in it.
    Span(&'s SpanKind, Range<usize>, Vec<Run<'s>>),
}

/// The runs of a range of a paragraph, in order. Spans that leave the range, cut a character or another span, or are of a kind that is
/// open already are passed over.
pub(super) fn runs<'s>(paragraph: &str, range: Range<usize>, spans: &'s [Span]) -> Vec<Run<'s>> {
    let (start, end) = (range.start, range.end);
    // A row of many cells asks for each of them.
    let first = spans.partition_point(|span| span.range().start < start);
    let within = spans
        .iter()
        .skip(first)
        .take_while(|span| span.range().start <= end);
    let mut spans = within.filter(|span| span.range().end <= end && is_sound(paragraph, span));
    let mut next = spans.next();
    let mut open: Vec<&SpanKind> = Vec::new();
    read_runs(range, &mut next, &mut spans, &mut open)
}

fn read_runs<'s>(
    range: Range<usize>,
    next: &mut Option<&'s Span>,
    spans: &mut impl Iterator<Item = &'s Span>,
    open: &mut Vec<&'s SpanKind>,
) -> Vec<Run<'s>> {
    let mut runs = Vec::new();
    let mut at = range.start;
    // A formula that is a picture is between two characters, or behind the last.
    let begins_in = |span: &&Span| {
        let inner = span.range();
        inner.start < range.end || inner.is_empty() && inner.start == range.end
    };
    while let Some(span) = next.filter(begins_in) {
        *next = spans.next();
        let inner = span.range();
        // Each kind is open once at most, so that this goes no deeper than there are kinds.
        let is_open = open.iter().any(|kind| is_same(kind, &span.2));
        if inner.start < at || inner.end > range.end || is_open {
            continue;
        }
        if inner.start > at {
            runs.push(Run::Text(at..inner.start));
        }
        open.push(&span.2);
        let inside = read_runs(inner.clone(), next, spans, open);
        open.pop();
        at = inner.end;
        runs.push(Run::Span(&span.2, inner, inside));
    }
    if at < range.end {
        runs.push(Run::Text(at..range.end));
    }
    runs
}

fn is_same(one: &SpanKind, other: &SpanKind) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether a span is of the paragraph, and its address one that may be followed.
fn is_sound(paragraph: &str, span: &Span) -> bool {
    let text = paragraph.get(span.range());
    let is_followed = match &span.2 {
        SpanKind::Link(url) => is_web_address(url),
        _ => true,
    };
    let may_be_blank = matches!(span.2, SpanKind::Formula(_) | SpanKind::Break);
    text.is_some_and(|text| may_be_blank || !text.trim().is_empty()) && is_followed
}

/// Whether an address is absolute, of the web, and has nothing that would end it where it is written.
pub(crate) fn is_web_address(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"');
    rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(is_bad)
}
