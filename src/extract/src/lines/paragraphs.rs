//! Lines as the paragraphs of a text. In: the lines kept. Out: the text. Never leaves a line out.

use super::Line;
use super::outline::Outline;
use crate::page::{NodeId, Page, Tag};

/// Joins the lines into one text, one paragraph a line; cells of one table row stand on one line. Tells of each line how
/// many paragraphs there are with it.
pub(crate) fn paragraphs(page: &Page, outline: &Outline, kept: &[usize]) -> (String, Vec<u32>) {
    let mut out = String::new();
    let mut count = 0;
    let mut counts = Vec::with_capacity(kept.len());
    let mut row: Option<NodeId> = None;
    for line in kept.iter().map(|i| &outline.lines[*i]) {
        let this = row_of(page, outline, line);
        let joined = this.is_some() && this == row;
        let start = out.len();
        if start > 0 {
            out.push_str(if joined { " | " } else { "\n" });
        }
        let text_start = out.len();
        out.push_str(outline.text(page, line));
        if out.len() == text_start {
            out.truncate(start);
        } else {
            row = this;
            count += u32::from(!joined);
        }
        counts.push(count);
    }
    (out, counts)
}

/// The table row of a line that is all of a short cell. Cells with more lines are there for the layout.
fn row_of(page: &Page, outline: &Outline, line: &Line) -> Option<NodeId> {
    const CELL_TOKENS: u32 = 40;
    if line.all.tokens > CELL_TOKENS {
        return None;
    }
    let mut above = page.ancestors(line.first).take(6);
    let cell = above.find(|id| matches!(page.node(*id).tag, Tag::TD | Tag::TH))?;
    let row = above.next().filter(|id| page.node(*id).tag == Tag::TR)?;
    (outline.range(page, cell).len() == 1).then_some(row)
}
