//! Tables as rows of cells: where each cell stands, as the table model of the HTML standard says it (section 4.9.12), so
//! that an empty cell and one of several rows or columns keep their places; and which tables hold data, of which a row is
//! one paragraph, and which only lay the page out.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::outline::Outline;
use super::render::render_node;
use crate::page::{Attr, NodeId, Page, Tag};

/// Most tokens of a short cell.
const CELL_TOKENS: u32 = 40;
/// Most tokens and lines of a cell of a table of data.
const LONG_TOKENS: u32 = 300;
const MOST_LINES: usize = 10;
/// Elements between a text and the cell that it is in.
const LEVELS: usize = 6;
/// Most columns and rows that a cell is believed to take, and most places that cells of several take in one page, those
/// behind the last cell of a row again: past that each takes one.
const MAX_SPAN: usize = 200;
const MAX_SPANNED: usize = 20_000;

/// What is at one place of a row.
type Place = Option<NodeId>;

/// One row of a table.
#[derive(Debug, Default)]
struct Row {
    /// A place for each column: the cell that begins there, or nothing where an earlier one goes on.
    places: Vec<Place>,
    /// Each cell is one short line, or empty.
    is_short: bool,
    /// The table that it is of.
    table: NodeId,
    /// All of its cells are headings.
    is_head: bool,
}

/// A row of data as it was rendered.
#[derive(Debug)]
pub(crate) struct RenderedRow {
    /// The table that it is of.
    pub(crate) table: NodeId,
    /// All of its cells are headings.
    pub(crate) is_head: bool,
    /// Where each cell is, in bytes of what was rendered.
    pub(crate) cells: Vec<Range<usize>>,
    /// The lines in them, each with where it begins.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Where a blank is between two lines of a cell.
    pub(crate) breaks: Vec<usize>,
}

impl Row {
    fn cells(&self) -> impl Iterator<Item = NodeId> {
        self.places.iter().flatten().copied()
    }
}

/// What the cells of a table are like.
#[derive(Debug, Default)]
struct Cells {
    /// Cells with a text, and those with more than a short one.
    filled: usize,
    long: usize,
    /// One of them holds more than a cell of data does.
    has_layout: bool,
}

/// The tables of a page that were asked for.
pub(crate) struct Tables<'a> {
    page: &'a Page,
    outline: &'a Outline,
    /// The rows of data by their element; those of other tables are not here.
    rows: HashMap<NodeId, Row, RandomState>,
    /// The tables that were read, and whether each holds data.
    read: HashMap<NodeId, bool, RandomState>,
    /// Places that cells of several rows or columns may still take.
    spans: usize,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(page: &'a Page, outline: &'a Outline) -> Self {
        Self {
            page,
            outline,
            rows: HashMap::default(),
            read: HashMap::default(),
            spans: MAX_SPANNED,
        }
    }

    /// The row of data that `node` is in.
    pub(crate) fn row_of(&mut self, node: NodeId) -> Option<NodeId> {
        let page = self.page;
        let mut above = page.ancestors(node);
        let in_cell = above.by_ref().take(LEVELS).any(|id| is_cell(page, id));
        let row = above
            .next()
            .filter(|id| in_cell && page.node(*id).tag == Tag::TR)?;
        let table = above.take(2).find(|id| page.node(*id).tag == Tag::TABLE)?;
        self.holds_data(table);
        self.rows.contains_key(&row).then_some(row)
    }

    /// Appends the cells of a row that [`Tables::row_of`] gave, ` | ` between them. `kept` are the lines of the text, in order.
    pub(crate) fn render_row(
        &self,
        row: NodeId,
        kept: &[usize],
        out: &mut String,
    ) -> Option<RenderedRow> {
        let row = self.rows.get(&row)?;
        let mut rendered = RenderedRow {
            table: row.table,
            is_head: row.is_head,
            cells: Vec::with_capacity(row.places.len()),
            lines: Vec::new(),
            breaks: Vec::new(),
        };
        let start = out.len();
        for (at, place) in row.places.iter().enumerate() {
            if at > 0 {
                let is_apart = out.len() == start || out.ends_with(' ');
                out.push_str(if is_apart { "| " } else { " | " });
            }
            let from = out.len() - start;
            if let Some(cell) = *place {
                let lines = self.outline.range(self.page, cell);
                if lines.is_empty() {
                    // It may hold a sign: a dash, a tick.
                    render_node(self.page, cell, self.page.node(cell).end, out);
                }
                let shown = lines.filter(|line| kept.binary_search(line).is_ok());
                for (nth, line) in shown.enumerate() {
                    if nth > 0 {
                        rendered.breaks.push(out.len() - start);
                        out.push(' ');
                    }
                    rendered.lines.push((line, out.len() - start));
                    out.push_str(self.outline.text(self.page, &self.outline.lines[line]));
                }
            }
            rendered.cells.push(from..out.len() - start);
        }
        let shown = out.trim_end().len();
        out.truncate(shown);
        for cell in &mut rendered.cells {
            *cell = cell.start.min(shown - start)..cell.end.min(shown - start);
        }
        Some(rendered)
    }

    /// Whether a table holds data: rows of several cells, few of which are long.
    pub(crate) fn holds_data(&mut self, table: NodeId) -> bool {
        if let Some(known) = self.read.get(&table) {
            return *known;
        }
        let is_data = self.read_table(table);
        self.read.insert(table, is_data);
        is_data
    }

    /// Reads the rows of a table, and whether it holds data. One with a table inside it is there for the layout.
    fn read_table(&mut self, table: NodeId) -> bool {
        let page = self.page;
        let (mut rows, mut cells) = (Vec::new(), Cells::default());
        // For each column the rows that a cell above goes on for.
        let mut going_on: Vec<usize> = Vec::new();
        for at in table + 1..page.node(table).end {
            match page.node(at).tag {
                Tag::TABLE => return false,
                Tag::TR => {
                    let row = self.read_row((table, at), &mut going_on, &mut cells);
                    rows.push((at, row));
                }
                // A cell ends with the part of the table that it is in.
                Tag::TBODY | Tag::THEAD | Tag::TFOOT => going_on.clear(),
                _ => {}
            }
        }
        let several = rows
            .iter()
            .filter(|(_, row)| row.cells().count() > 1)
            .count();
        let is_data = several > 1 && !cells.has_layout && cells.long * 3 <= cells.filled;
        let is_row = |row: &Row| row.places.len() > 1 && (is_data || row.is_short);
        // A cell that is all of a row is a heading or a note.
        let is_alone =
            |row: &Row| row.places.first().is_some_and(Option::is_some) && row.cells().count() == 1;
        rows.retain(|(_, row)| is_row(row) && !is_alone(row));
        self.rows.extend(rows);
        is_data
    }

    fn read_row(
        &mut self,
        (table, row): (NodeId, NodeId),
        going_on: &mut Vec<usize>,
        all: &mut Cells,
    ) -> Row {
        let page = self.page;
        let mut out = Row {
            places: Vec::new(),
            is_short: true,
            table,
            is_head: true,
        };
        let mut next: Vec<usize> = Vec::new();
        let from_above = |at: usize| going_on.get(at).copied().unwrap_or(0);
        for cell in page.children(row).filter(|id| is_cell(page, *id)) {
            while from_above(next.len()) > 0 {
                next.push(from_above(next.len()) - 1);
                out.places.push(None);
            }
            self.measure(cell, &mut out, all);
            out.is_head &= page.node(cell).tag == Tag::TH;
            let mut rows = self.span(cell, Attr::Rowspan);
            for column in 0..self.span(cell, Attr::Colspan) {
                if column > 0 && self.spans == 0 {
                    break;
                }
                self.spans = self.spans.saturating_sub(usize::from(column > 0));
                out.places.push((column == 0).then_some(cell));
                rows = rows.min(self.spans + 1);
                self.spans -= rows - 1;
                next.push(rows - 1);
            }
        }
        // Behind the last cell, up to the last column that goes on.
        let last = going_on.iter().rposition(|rows| *rows > 0);
        for at in next.len()..last.map_or(0, |last| last + 1) {
            if self.spans == 0 {
                break;
            }
            self.spans -= 1;
            next.push(from_above(at).saturating_sub(1));
            out.places.push(None);
        }
        *going_on = next;
        out
    }

    fn measure(&self, cell: NodeId, row: &mut Row, all: &mut Cells) {
        let page = self.page;
        let lines = self.outline.range(page, cell);
        let (count, tokens) = (lines.len(), self.outline.sum(lines).tokens);
        let is_long = tokens > CELL_TOKENS;
        row.is_short &= count <= 1 && !is_long;
        all.filled += usize::from(count > 0);
        all.long += usize::from(is_long);
        all.has_layout |= count > MOST_LINES || tokens > LONG_TOKENS || is_long && count > 1;
    }

    /// The rows or columns that a cell says that it takes; 0 rows are all that follow.
    fn span(&self, cell: NodeId, attribute: Attr) -> usize {
        let value = self.page.attr(cell, attribute).unwrap_or("1").trim();
        let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match value.get(..digits).map(str::parse::<usize>) {
            Some(Ok(0)) if attribute == Attr::Rowspan => MAX_SPAN,
            Some(Ok(count)) => count.clamp(1, MAX_SPAN),
            _ => 1,
        }
    }
}

fn is_cell(page: &Page, id: NodeId) -> bool {
    matches!(page.node(id).tag, Tag::TD | Tag::TH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Hints;

    #[test]
    fn places_behind_the_last_cell_are_bounded() {
        const CELLS: usize = 3_000;
        let wide = format!("<tr>{}<td rowspan=65534>末", "<td>5".repeat(CELLS));
        let html = format!("<table>{wide}{}</table>", "<tr><td>甲<td>乙".repeat(150));
        let page = Page::parse(html.as_bytes(), Hints::default());
        let outline = Outline::new(&page, false);
        let table = page.nodes().iter().position(|node| node.tag == Tag::TABLE);
        let mut tables = Tables::new(&page, &outline);
        assert!(tables.holds_data(table.unwrap() as NodeId));
        let places: usize = tables.rows.values().map(|row| row.places.len()).sum();
        assert!(places <= CELLS + 1 + 2 * 150 + MAX_SPANNED, "{places}");
    }
}
