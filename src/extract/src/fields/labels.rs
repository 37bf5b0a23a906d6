//! Reads labelled fields: the table or list of a notice with index number, document number, office and days, and any other
//! table of labels and values. Running text is not read.

use super::label_words::{has_known_start, is_han, is_known, is_official, normalize_label};
use crate::document::Meta;
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::page::{NodeId, Page, Tag};

/// Most pairs of a page.
const MAX_PAIRS: usize = 64;
/// Most tables and lists that are checked.
const MAX_BLOCKS: usize = 256;
/// Longest value, in characters; a longer one is cut.
const MAX_VALUE: usize = 300;
/// Longest value, in tokens: what is longer is text.
const VALUE_TOKENS: u32 = 80;
/// Longest label in tokens.
const LABEL_TOKENS: u32 = 10;
/// Most cells of a row.
const MAX_CELLS: usize = 12;
/// Fewest pairs of a table or list, and of a notice's own labels among them from which it is that of a notice.
const FEWEST: usize = 2;
/// Of a table so many rows of five hold pairs.
const FITTING: usize = 4;
/// Lines between two pairs of one list.
const APART: usize = 3;

/// A table or list with what may be pairs.
#[derive(Debug, Default)]
struct LabelBlock {
    node: NodeId,
    pairs: Vec<(String, String)>,
    rows: usize,
    fitting: usize,
    official: usize,
}

impl LabelBlock {
    fn add(&mut self, label: String, value: String) {
        self.official += usize::from(is_official(&label));
        if !value.is_empty() {
            self.pairs.push((label, value));
        }
    }

    fn is_believed(&self) -> bool {
        self.pairs.len() >= FEWEST && self.fitting * 5 >= self.rows * FITTING
    }
}

/// Finds them.
pub(crate) fn read_labels(page: &Page, outline: &Outline) -> Meta {
    let reader = Reader { page, outline };
    let mut blocks: Vec<LabelBlock> = Vec::new();
    for (at, node) in page.nodes().iter().enumerate() {
        let id = at as NodeId;
        let around = match node.tag {
            Tag::TR => Tag::TABLE,
            Tag::DT => Tag::DL,
            _ => continue,
        };
        let around = page
            .ancestors(id)
            .take(4)
            .find(|above| page.node(*above).tag == around);
        let Some(around) = around else { continue };
        let known = blocks.iter().rposition(|block| block.node == around);
        let known = known.or_else(|| {
            (blocks.len() < MAX_BLOCKS).then(|| {
                blocks.push(LabelBlock {
                    node: around,
                    ..LabelBlock::default()
                });
                blocks.len() - 1
            })
        });
        let Some(block) = known.and_then(|at| blocks.get_mut(at)) else {
            break;
        };
        if node.tag == Tag::TR {
            reader.row(id, block);
        } else {
            reader.term(id, block);
        }
    }
    blocks.retain(LabelBlock::is_believed);
    reader.lists(&mut blocks);
    // What comes again is said of readers or goods, not of the page.
    let first = |block: &LabelBlock| block.pairs.first().map(|pair| pair.0.clone());
    let firsts: Vec<_> = blocks.iter().map(first).collect();
    blocks.retain(|block| {
        let same = firsts.iter().filter(|label| **label == first(block));
        block.official > 0 || same.count() == 1
    });
    blocks.sort_by_key(|block| block.node);
    let mut out = Meta::default();
    for block in blocks {
        for (label, value) in block.pairs {
            if out.len() < MAX_PAIRS {
                out.add(label, value);
            }
        }
    }
    out
}

struct Reader<'a> {
    page: &'a Page,
    outline: &'a Outline,
}

impl Reader<'_> {
    /// Reads the row of a table: label and value in turn.
    fn row(&self, row: NodeId, block: &mut LabelBlock) {
        let is_cell = |id: &NodeId| matches!(self.page.node(*id).tag, Tag::TD | Tag::TH);
        let cells = self.page.children(row).filter(is_cell);
        let cells: Vec<NodeId> = cells.take(MAX_CELLS + 1).collect();
        if cells.len() < 2 {
            return;
        }
        block.rows += 1;
        let fits = |pair: &[NodeId]| {
            let [label, value] = pair else { return None };
            let (text, is_marked) = self.label(*label)?;
            let heads =
                self.page.node(*label).tag == Tag::TH && self.page.node(*value).tag == Tag::TD;
            let is_label = is_marked || heads || is_known(&text);
            Some((is_label.then_some(text)?, self.value(*value)?))
        };
        let pairs: Option<Vec<_>> = cells.chunks(2).map(fits).collect();
        let Some(pairs) = pairs.filter(|_| cells.len() <= MAX_CELLS && !self.is_elsewhere(row))
        else {
            return;
        };
        block.fitting += 1;
        for (label, value) in pairs {
            block.add(label, value);
        }
    }

    /// Reads a term of a list and what follows it.
    fn term(&self, term: NodeId, block: &mut LabelBlock) {
        block.rows += 1;
        let next = self.page.node(term).end;
        let goes_on = self
            .page
            .nodes()
            .get(next as usize)
            .is_some_and(|n| n.tag == Tag::DD);
        let label = self
            .label(term)
            .filter(|_| goes_on && !self.is_elsewhere(term));
        let Some(((label, _), value)) = label.zip(goes_on.then(|| self.value(next)).flatten())
        else {
            return;
        };
        block.fitting += 1;
        block.add(label, value);
    }

    /// Reads the lines that begin with a label of notices: in lists, and where nothing but classes makes a table.
    fn lists(&self, blocks: &mut Vec<LabelBlock>) {
        let lines = self.outline.lines.iter().enumerate();
        let mut block = LabelBlock::default();
        let mut last = 0;
        for (at, line) in lines {
            let text = self.outline.text(self.page, line);
            if line.all.tokens > VALUE_TOKENS || !has_known_start(text) {
                continue;
            }
            if at > last + APART && !block.pairs.is_empty() {
                finish(std::mem::take(&mut block), blocks);
            }
            if self.in_block(blocks, line) || is_prose(line) && line.all.marks > 2 {
                continue;
            }
            let before = block.pairs.len();
            block.node = if before == 0 { line.block } else { block.node };
            for (label, value) in read_line(text) {
                // The value may be a line of its own.
                let next = self.outline.lines.get(at + 1);
                let next = next.filter(|next| value.is_empty() && next.all.tokens <= VALUE_TOKENS);
                let next = next.map(|next| self.outline.text(self.page, next));
                let behind =
                    next.filter(|text| !has_known_start(text) && !text.ends_with(['：', ':']));
                block.add(label, cut(behind.unwrap_or(&value)));
            }
            if block.pairs.len() > before {
                last = at;
            }
        }
        finish(block, blocks);
    }

    fn in_block(&self, blocks: &[LabelBlock], line: &Line) -> bool {
        let holds = |block: &LabelBlock| self.page.subtree(block.node).contains(&line.first);
        blocks.iter().any(|block| block.rows > 0 && holds(block))
    }

    /// The label that is all of an element, and whether a colon or brackets mark it as one.
    fn label(&self, id: NodeId) -> Option<(String, bool)> {
        let range = self.outline.range(self.page, id);
        let line = self
            .outline
            .lines
            .get(range.start)
            .filter(|_| range.len() == 1)?;
        if line.all.tokens > LABEL_TOKENS {
            return None;
        }
        let text = self.outline.text(self.page, line);
        let is_marked = text.ends_with(['：', ':', '】', ']']);
        Some((normalize_label(text)?, is_marked))
    }

    /// The value that is all of an element; empty if it holds nothing, `None` if it holds a text.
    fn value(&self, id: NodeId) -> Option<String> {
        let range = self.outline.range(self.page, id);
        if range.len() > 4 || self.outline.sum(range.clone()).tokens > VALUE_TOKENS {
            return None;
        }
        let lines = self.outline.lines.get(range)?.iter();
        let texts: Vec<&str> = lines
            .map(|line| self.outline.text(self.page, line))
            .collect();
        Some(cut(&texts.join(" ")))
    }

    /// In a part of the page that is none of the document.
    fn is_elsewhere(&self, id: NodeId) -> bool {
        const ELSEWHERE: Marks = Marks::NAV
            .with(Marks::FOOTER)
            .with(Marks::COMMENT)
            .with(Marks::RELATED)
            .with(Marks::POPUP);
        self.outline.marks_at(id).any(ELSEWHERE)
    }
}

/// Keeps a list of lines if it is that of a notice.
fn finish(block: LabelBlock, blocks: &mut Vec<LabelBlock>) {
    if block.official > 0 && block.pairs.len() >= FEWEST && blocks.len() < MAX_BLOCKS {
        blocks.push(block);
    }
}

/// The pairs of a line: each label is one of notices, or is behind a blank.
fn read_line(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut parts = text.split(['：', ':']);
    let mut label = parts.next().and_then(normalize_label);
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let (value, next) = match parts.peek() {
            None => (part, None),
            Some(_) => split_label(part),
        };
        match (label.take(), pairs.last_mut()) {
            (Some(label), _) => pairs.push((label, value.trim().to_owned())),
            // A colon of the value itself: that of a time.
            (None, Some((_, last))) => {
                last.push(':');
                last.push_str(value.trim_end());
            }
            (None, None) => {}
        }
        label = next;
    }
    pairs.retain(|(label, _)| is_known(label));
    pairs
}

/// Parts the label at the end of a text from the value before it.
fn split_label(text: &str) -> (&str, Option<String>) {
    let starts = text.char_indices().filter(|(at, _)| {
        let before = text
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        before.is_none_or(char::is_whitespace)
    });
    let found = starts
        .filter_map(|(at, _)| Some((text.get(..at)?, normalize_label(text.get(at..)?)?)))
        .filter(|(_, label)| label.chars().count() > 1 && label.chars().all(is_han))
        .find(|(before, label)| is_known(label) || !before.trim().is_empty());
    match found {
        Some((before, label)) => (before, Some(label)),
        None => (text, None),
    }
}

fn cut(text: &str) -> String {
    text.trim().chars().take(MAX_VALUE).collect()
}
