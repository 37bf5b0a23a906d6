//! What ranges of a line are: links, words that are set off, words of a program.

use std::ops::Range;

use taojin_uri::CrawlUri;

use super::formulas;
use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::page::{self, Attr, NodeId, Page, Tag};
use crate::structure::{Span, SpanKind};

/// Longest address of a link that is kept, in bytes.
const MAX_ADDRESS: usize = 2_048;
/// Elements around a text that are looked at.
const MAX_LEVELS: usize = 32;

/// What an element says of the text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A link, with its element.
    Link(NodeId),
    Strong,
    Emphasis,
    Code,
}

impl Mark {
    /// What an element says of the text in it.
    pub(super) fn of(page: &Page, id: NodeId) -> Option<Mark> {
        match page.node(id).tag {
            Tag::A if page.attr(id, Attr::Href).is_some() => Some(Mark::Link(id)),
            Tag::STRONG | Tag::B => Some(Mark::Strong),
            Tag::EM | Tag::I => Some(Mark::Emphasis),
            Tag::CODE | Tag::KBD | Tag::SAMP | Tag::TT => Some(Mark::Code),
            _ => None,
        }
    }

    fn is_kind(self, other: Mark) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// A range of a line, and what it is.
struct Found {
    range: Range<usize>,
    mark: Mark,
}

/// The ranges of one line so far, in the order in which they begin, an outer one before those in it.
#[derive(Default)]
struct LineSpans {
    found: Vec<Found>,
    /// Those whose elements are open: where they are, the element and its end.
    open: Vec<(usize, NodeId, NodeId)>,
}

impl LineSpans {
    /// Adds a text of a line: to what is open around it, and what begins with it.
    fn add_text(&mut self, page: &Page, block: NodeId, node: NodeId, range: &Range<usize>) {
        self.open.retain(|(_, _, end)| *end > node);
        for (at, ..) in &self.open {
            self.found[*at].range.end = range.end;
        }
        let innermost = self.open.last().map_or(block, |(_, element, _)| *element);
        let around = page.ancestors(node).take(MAX_LEVELS);
        let new = around.take_while(|id| *id != innermost && *id != block && *id != 0);
        let mut new: Vec<NodeId> = new.collect();
        while let Some(id) = new.pop() {
            let Some(mark) = Mark::of(page, id) else {
                continue;
            };
            // Inside one of its kind it says nothing more.
            let mut open = self.open.iter().map(|(at, ..)| self.found[*at].mark);
            if !open.any(|open| open.is_kind(mark)) {
                self.begin(mark, range.clone());
                self.open
                    .push((self.found.len() - 1, id, page.node(id).end));
            }
        }
    }

    fn begin(&mut self, mark: Mark, range: Range<usize>) {
        self.found.push(Found { range, mark });
    }

    /// The ranges; those of one kind that touch are one, as an editor often makes several.
    fn finish(self) -> Vec<Found> {
        let mut joined: Vec<Found> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let is_link = matches!(found.mark, Mark::Link(_));
            match joined.last_mut() {
                Some(last)
                    if !is_link
                        && last.mark == found.mark
                        && last.range.end == found.range.start =>
                {
                    last.range.end = found.range.end;
                }
                _ => joined.push(found),
            }
        }
        joined
    }
}

/// Reads the spans of lines.
pub(super) struct SpanReader<'a> {
    page: &'a Page,
    outline: &'a Outline,
    base: Option<Option<CrawlUri>>,
}

impl<'a> SpanReader<'a> {
    pub(super) fn new(page: &'a Page, outline: &'a Outline) -> Self {
        Self {
            page,
            outline,
            base: None,
        }
    }

    /// Adds the spans of a line whose text begins at `offset` of its paragraph. `around` is what the elements around its block
    /// say of all of it.
    pub(super) fn add(
        &mut self,
        line: &Line,
        text: &str,
        offset: usize,
        around: &[Mark],
        spans: &mut Vec<Span>,
    ) {
        let page = self.page;
        let formulas = formulas::find(page, self.outline, line);
        let has_signs = memchr::memchr(b'\\', text.as_bytes()).is_some();
        let is_plain = line.end == line.first + 1 && page.node(line.first).parent == line.block;
        if is_plain && around.is_empty() && formulas.is_empty() && !has_signs {
            return;
        }
        let from = spans.len();
        let mut line_spans = LineSpans::default();
        for mark in around {
            line_spans.begin(*mark, 0..text.len());
        }
        let mut texts = Vec::new();
        line.shown_texts(page, text, |node, range| {
            line_spans.add_text(page, line.block, node, &range);
            texts.push((node, range));
        });
        for Found { range, mark } in line_spans.finish() {
            let shown = text.get(range.clone()).unwrap_or_default();
            let start = range.start + (shown.len() - shown.trim_start().len());
            let shown = shown.trim();
            if shown.is_empty() {
                continue;
            }
            let kind = match mark {
                Mark::Link(id) => self.address(id).map(SpanKind::Link),
                Mark::Strong => Some(SpanKind::Strong),
                Mark::Emphasis => Some(SpanKind::Emphasis),
                Mark::Code => Some(SpanKind::Code),
            };
            let range = offset + start..offset + start + shown.len();
            spans.extend(kind.map(|kind| Span::new(range, kind)));
        }
        let mut placed = formulas::place(page, &formulas, &texts);
        if has_signs {
            placed.extend(formulas::find_delimited(text));
        }
        if !placed.is_empty() {
            let spans_of = placed.into_iter().map(|(range, formula)| {
                let range = offset + range.start..offset + range.end;
                Span::new(range, SpanKind::Formula(formula))
            });
            spans.extend(spans_of);
            spans[from..].sort_by_key(|span| (span.0, std::cmp::Reverse(span.1)));
        }
    }

    /// The absolute address of a link; one within the page leads nowhere.
    fn address(&mut self, id: NodeId) -> Option<String> {
        let page = self.page;
        let reference = page.attr(id, Attr::Href)?.trim();
        if reference.is_empty() || reference.starts_with('#') || reference.len() > MAX_ADDRESS {
            return None;
        }
        let base = self.base.get_or_insert_with(|| page::find_base(page));
        page::follow(page, base.as_ref(), reference)
    }
}
