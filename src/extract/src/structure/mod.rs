//! What the paragraphs of a text are: headings, items of lists, rows of tables, lines of code, and which ranges of them are
//! links or set off. The text itself stays plain; [`Document::markdown`] and [`Document::html`] are written from both.
//!
//! Whatever says so, a page or a file of somebody else, is not trusted: a block of a paragraph that there is not, a range that
//! no character begins at, and an address that is not `http` or `https` are passed over.
//!
//! [`Document::markdown`]: crate::Document::markdown
//! [`Document::html`]: crate::Document::html

pub(crate) mod html;
mod inline;
pub(crate) mod markdown;
mod notation;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};

pub use html::ELEMENTS;
pub use inline::Run;
pub use tree::{Element, ElementTree};

/// Deepest nesting of lists and quotations that is kept.
pub(crate) const MAX_DEPTH: usize = 8;
/// What is between the cells of a row in the text: of a page, and of a file.
pub(crate) const PAGE_CELLS: &str = " | ";
const FILE_CELLS: char = '\t';

/// The structure of a text: its paragraphs that are more than a plain one, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub struct Structure {
    /// At most one for each paragraph, sorted by its number.
    blocks: Vec<Block>,
}

/// What one paragraph is, where it is, and what ranges of it are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Number of the paragraph; the first is 0.
    pub at: u32,
    /// What it is.
    pub kind: BlockKind,
    /// The items and quotations that it is in, from the outermost.
    pub containers: Vec<Container>,
    /// How many of these, counted from the innermost, begin with it; the others go on from the paragraph before.
    pub begins: u8,
    /// Ranges of it, sorted by their beginning; of two that overlap one is inside the other and behind it.
    pub spans: Vec<Span>,
}

impl Block {
    /// The range of the number with which the text marks an item, where a list has a number of its own for it.
    fn marker(&self) -> Option<Range<usize>> {
        let is_item = self.begins > 0 && self.containers.last()?.is_item();
        let first = self.spans.first().filter(|_| is_item)?;
        (first.2 == SpanKind::Marker && first.0 == 0).then(|| first.range())
    }
}

/// What a paragraph is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BlockKind {
    /// A paragraph like others.
    #[default]
    Plain,
    /// A heading of this level, 1 to 6.
    Heading(u8),
    /// A row of a table.
    Row(Row),
    /// A line of code.
    Code(CodeLine),
    /// What is under a picture or above a table.
    Caption,
}

impl BlockKind {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// It is the first of its table.
    pub first: bool,
    /// Its cells are headings.
    pub head: bool,
    /// Where its cells are, in bytes of the paragraph; empty where they are what ` | ` or a tab parts.
    pub cells: Vec<(u32, u32)>,
}

impl Row {
    /// Where its cells are in the paragraph, empty ones too.
    pub fn ranges(&self, paragraph: &str) -> Vec<Range<usize>> {
        if self.cells.is_empty() {
            return split_cells(paragraph);
        }
        let cells = self.cells.iter();
        let range = |&(start, end): &(u32, u32)| start as usize..end as usize;
        let is_there = |cell: &Range<usize>| paragraph.get(cell.clone()).is_some();
        cells.map(range).filter(is_there).collect()
    }

    /// A row of the page with these cells.
    pub(crate) fn of_page(paragraph: &str, cells: &[Range<usize>]) -> Self {
        let as_split = split_cells(paragraph) == cells;
        let numbers = |cell: &Range<usize>| (cell.start as u32, cell.end as u32);
        Self {
            cells: if as_split {
                Vec::new()
            } else {
                cells.iter().map(numbers).collect()
            },
            ..Self::default()
        }
    }
}

/// The parts of a row between what parts cells: tabs where there are any.
fn split_cells(paragraph: &str) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = 0;
    let mut end_cell = |at: usize, next: usize| {
        cells.push(start..at.max(start));
        start = next;
    };
    if paragraph.contains(FILE_CELLS) {
        for (at, tab) in paragraph.match_indices(FILE_CELLS) {
            end_cell(at, at + tab.len());
        }
    } else {
        // An empty cell at either end leaves the bar without a blank.
        let bar = PAGE_CELLS.trim();
        let blank =
            |at: Option<usize>| at.is_none_or(|at| paragraph.as_bytes().get(at) == Some(&b' '));
        for (at, _) in paragraph.match_indices(bar) {
            let next = at + bar.len();
            let is_end = next == paragraph.len();
            if blank(at.checked_sub(1)) && (is_end || blank(Some(next))) {
                end_cell(at.saturating_sub(1), if is_end { next } else { next + 1 });
            }
        }
    }
    end_cell(paragraph.len(), paragraph.len());
    cells
}

/// A line of code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeLine {
    /// It is the first of its listing.
    pub first: bool,
    /// Empty lines before it, which the text does not have.
    pub blank: u8,
    /// Language of the listing, where the page names it, on its first line.
    pub language: Option<String>,
}

/// What paragraphs are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A quotation.
    Quote,
    /// An item of a list without numbers.
    Item,
    /// An item with this number.
    Number(u32),
}

impl Container {
    pub(crate) fn is_item(self) -> bool {
        self != Container::Quote
    }
}

/// A range of a paragraph and what it is; the range is in bytes and counts from the beginning of the paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span(pub u32, pub u32, pub SpanKind);

impl Span {
    pub(crate) fn new(range: Range<usize>, kind: SpanKind) -> Self {
        Self(range.start as u32, range.end as u32, kind)
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

/// What a range of a paragraph is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanKind {
    /// A link, with its absolute address.
    Link(String),
    /// Of weight: `<strong>`, `<b>`.
    Strong,
    /// Stressed: `<em>`, `<i>`.
    Emphasis,
    /// Words of a program: `<code>`, `<kbd>`, `<samp>`.
    Code,
    /// A formula, with what it is in LaTeX.
    Formula(String),
    /// The number with which the text itself marks the item that begins with it.
    Marker,
    /// The blank that is in place of a line break in a cell.
    Break,
}

impl Structure {
    /// The structure of these paragraphs, each named once, in order.
    pub fn new(blocks: Vec<Block>) -> Self {
        Self { blocks }
    }

    /// The paragraphs that are more than a plain one, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(crate) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// Whether all paragraphs are plain.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// What is known of a paragraph.
    pub fn block(&self, at: u32) -> Option<&Block> {
        let index = self.blocks.binary_search_by_key(&at, |block| block.at);
        self.blocks.get(index.ok()?)
    }

    /// Where the cells of a row are in its paragraph; what is no row is one cell.
    pub fn cells(&self, at: u32, paragraph: &str) -> Vec<Range<usize>> {
        match self.block(at).map(|block| &block.kind) {
            Some(BlockKind::Row(row)) => row.ranges(paragraph),
            _ => std::iter::once(0..paragraph.len()).collect(),
        }
    }

    /// Whether a paragraph is a row whose cells are headings.
    pub fn is_head_row(&self, at: u32) -> bool {
        let kind = self.block(at).map(|block| &block.kind);
        matches!(kind, Some(BlockKind::Row(row)) if row.head)
    }

    /// The empty lines before a line of code.
    pub fn blank_lines(&self, at: u32) -> usize {
        match self.block(at).map(|block| &block.kind) {
            Some(BlockKind::Code(line)) => usize::from(line.blank),
            _ => 0,
        }
    }

    /// The runs of a whole paragraph, without the number that a list has itself.
    pub fn runs_of(&self, at: u32, paragraph: &str) -> Vec<Run<'_>> {
        let marker = self.block(at).and_then(Block::marker);
        let start = marker.map_or(0, |marker| marker.end);
        self.runs_within(at, paragraph, start..paragraph.len())
    }

    /// The runs of a range of a paragraph, see [`Run`].
    pub fn runs_within(&self, at: u32, paragraph: &str, range: Range<usize>) -> Vec<Run<'_>> {
        let spans = self.block(at).map_or(&[][..], |block| &block.spans);
        inline::runs(paragraph, range, spans)
    }

    /// Adds the structure of a text that is appended behind `before` paragraphs without its first `left_out` ones.
    pub(crate) fn append(&mut self, other: Structure, left_out: u32, before: u32) {
        let rest = other.blocks.into_iter().filter_map(|block| {
            let at = block.at.checked_sub(left_out)?.checked_add(before)?;
            Some(Block { at, ..block })
        });
        self.blocks.extend(rest);
    }

    /// Forgets the paragraphs from this one on.
    pub(crate) fn truncate(&mut self, paragraphs: u32) {
        self.blocks.retain(|block| block.at < paragraphs);
    }

    /// Adds what is known of the paragraph behind all others, if that is anything.
    pub(crate) fn push(&mut self, block: Block) {
        let is_plain =
            block.kind.is_plain() && block.containers.is_empty() && block.spans.is_empty();
        if !is_plain {
            self.blocks.push(block);
        }
    }

    /// Moves the ranges of a text from which characters are taken out. `moved` says where a byte of a paragraph is after that.
    pub(crate) fn move_ranges(&mut self, moved: impl Fn(u32, u32) -> u32) {
        for block in &mut self.blocks {
            let at = block.at;
            for span in &mut block.spans {
                (span.0, span.1) = (moved(at, span.0), moved(at, span.1));
            }
            if let BlockKind::Row(row) = &mut block.kind {
                for cell in &mut row.cells {
                    *cell = (moved(at, cell.0), moved(at, cell.1));
                }
            }
        }
    }
}

impl Serialize for Structure {
    /// As the short text that `notation` describes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&notation::write(&self.blocks))
    }
}

impl TryFrom<String> for Structure {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        notation::read(&text).map(Self::new)
    }
}
