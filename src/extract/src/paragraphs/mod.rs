//! Joins the lines of a text to paragraphs, and notes what each of them is: a heading, an item, a row of a table, a line of code.

mod code;
pub(crate) mod formulas;
pub(crate) mod habits;
mod place;
mod spans;

use crate::lines::Line;
use crate::lines::outline::Outline;
use crate::lines::table::{RenderedRow, Tables};
use crate::page::{NodeId, Page, Tag};
use crate::structure::{Block, BlockKind, CodeLine, Row, Span, SpanKind, Structure};
use code::Listing;
use place::{Containers, Places};
use spans::SpanReader;

/// The lines of a text as paragraphs.
#[derive(Debug, Default)]
pub(crate) struct Paragraphs {
    /// One paragraph a line.
    pub(crate) text: String,
    /// For each line how many paragraphs there are with it.
    pub(crate) counts: Vec<u32>,
    /// What the paragraphs are.
    pub(crate) structure: Structure,
}

/// Joins the lines into one text; a row of a table of data is one paragraph with all of its cells, and each line of a `<pre>` one of
/// its own.
pub(crate) fn join_paragraphs(page: &Page, outline: &Outline, kept: &[usize]) -> Paragraphs {
    let mut joining = Joining {
        page,
        outline,
        kept,
        out: Paragraphs {
            counts: Vec::with_capacity(kept.len()),
            ..Paragraphs::default()
        },
        tables: Tables::new(page, outline),
        places: Places::new(page, outline, kept),
        spans: SpanReader::new(page, outline),
        count: 0,
        row: None,
        table: None,
        listing: None,
        coded: None,
    };
    for nth in 0..kept.len() {
        joining.add_line(nth);
        joining.out.counts.push(joining.count);
    }
    joining.out
}

/// The paragraphs so far.
struct Joining<'a> {
    page: &'a Page,
    outline: &'a Outline,
    kept: &'a [usize],
    out: Paragraphs,
    tables: Tables<'a>,
    places: Places<'a>,
    spans: SpanReader<'a>,
    count: u32,
    /// The row that was added last.
    row: Option<NodeId>,
    /// The table of the paragraph that was added last.
    table: Option<NodeId>,
    /// The `<pre>` of the line that was added last.
    listing: Option<Listing>,
    /// What holds the line of code that was added last, where that is no `<pre>`.
    coded: Option<NodeId>,
}

impl Joining<'_> {
    fn add_line(&mut self, nth: usize) {
        let (page, outline) = (self.page, self.outline);
        let line = &outline.lines[self.kept[nth]];
        let place = self.places.read(line.block);
        let row = self.tables.row_of(line.first);
        if row.is_some() && row == self.row {
            return;
        }
        if let (Some(pre), None) = (place.pre, row) {
            (self.row, self.table, self.coded) = (None, None, None);
            return self.add_code(self.kept[nth], pre, &place.containers);
        }
        self.listing = None;
        let start = self.begin();
        let mut block = Block::default();
        let mut coded = None;
        if let Some(row) = row {
            let rendered = self.tables.render_row(row, self.kept, &mut self.out.text);
            if let Some(rendered) = rendered {
                block = self.row_block(&rendered, start);
            }
        } else {
            let text = outline.text(page, line);
            self.out.text.push_str(text);
            coded = place.listing.or_else(|| self.find_listing(nth));
            if coded.is_some() {
                block.kind = BlockKind::Code(CodeLine {
                    first: coded != self.coded,
                    ..CodeLine::default()
                });
            } else {
                block.kind = place.kind;
                let spans = &mut block.spans;
                self.spans.add(line, text, 0, &place.around, spans);
            }
        }
        if self.end(start, block, place.containers) {
            (self.row, self.coded) = (row, coded);
        }
    }

    /// The element that holds a line of nothing but code and another one beside it: what colors code makes an element of each
    /// line.
    fn find_listing(&self, nth: usize) -> Option<NodeId> {
        let home = self.home_of_code(nth)?;
        let beside = [nth.checked_sub(1), Some(nth + 1)].into_iter().flatten();
        let mut homes = beside.filter(|at| *at < self.kept.len());
        homes
            .any(|at| self.home_of_code(at) == Some(home))
            .then_some(home)
    }

    /// The element around the block of a line that is nothing but code.
    fn home_of_code(&self, nth: usize) -> Option<NodeId> {
        let page = self.page;
        let line = &self.outline.lines[self.kept[nth]];
        let is_code = |id: NodeId| page.node(id).tag == Tag::CODE;
        let in_code = |text: NodeId| {
            let mut around = page.ancestors(text).take_while(|id| *id != line.block);
            around.any(is_code)
        };
        let texts = (line.first..line.end).filter(|id| page.node(*id).tag == Tag::TEXT);
        let mut shown = texts.filter(|id| !page.text(*id).trim().is_empty());
        shown.all(in_code).then(|| page.node(line.block).parent)
    }

    /// Begins a paragraph; gives where it begins.
    fn begin(&mut self) -> usize {
        if !self.out.text.is_empty() {
            self.out.text.push('\n');
        }
        self.out.text.len()
    }

    /// Ends the paragraph that begins at `start`; false if there is nothing in it.
    fn end(&mut self, start: usize, block: Block, containers: Containers) -> bool {
        if self.out.text.len() == start {
            self.out.text.truncate(start.saturating_sub(1));
            return false;
        }
        if !matches!(block.kind, BlockKind::Row(_)) {
            self.table = None;
        }
        let (containers, begins) = self.places.enter(containers);
        self.out.structure.push(Block {
            at: self.count,
            containers,
            begins,
            ..block
        });
        self.count += 1;
        true
    }

    fn row_block(&mut self, rendered: &RenderedRow, start: usize) -> Block {
        let (page, outline) = (self.page, self.outline);
        let paragraph = self.out.text.get(start..).unwrap_or_default();
        let row = Row {
            first: self.table != Some(rendered.table),
            head: rendered.is_head,
            ..Row::of_page(paragraph, &rendered.cells)
        };
        self.table = Some(rendered.table);
        let mut spans = Vec::new();
        for (line, from) in &rendered.lines {
            let line: &Line = &outline.lines[*line];
            let text = outline.text(page, line);
            self.spans.add(line, text, *from, &[], &mut spans);
        }
        let breaks = rendered.breaks.iter();
        spans.extend(breaks.map(|at| Span::new(*at..at + 1, SpanKind::Break)));
        spans.sort_by_key(|span| (span.0, std::cmp::Reverse(span.1)));
        Block {
            kind: BlockKind::Row(row),
            spans,
            ..Block::default()
        }
    }

    /// Adds the lines of code up to the end of a line of the page.
    fn add_code(&mut self, at: usize, pre: NodeId, containers: &Containers) {
        let lines = &self.outline.lines;
        let from = at.checked_sub(1).map_or(0, |before| lines[before].end);
        let same = self.listing.take().filter(|listing| listing.pre == pre);
        let mut listing = same.unwrap_or_else(|| Listing::new(self.page, pre));
        let text = listing.text_between(self.page, from, lines[at].end);
        for (line, kind) in listing.read(&text) {
            let start = self.begin();
            self.out.text.push_str(line);
            let block = Block {
                kind,
                ..Block::default()
            };
            self.end(start, block, containers.clone());
        }
        self.listing = Some(listing);
    }
}
