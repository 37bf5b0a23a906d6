//! Renders lines and elements as text: white space collapsed, hidden and unreadable elements excluded; and joins lines to
//! paragraphs.

use super::Line;
use super::outline::Outline;
use super::table::Tables;
use crate::page::{NodeId, Page, Tag, is_skipped};

/// Appends the text of nodes `first..end` to `out`, runs of white space as one space, trimmed.
pub(crate) fn render_node(page: &Page, first: NodeId, end: NodeId, out: &mut String) {
    let start = out.len();
    let mut gap = false;
    let mut at = first;
    let counted = page.texts().partition_point(|text| text.node < first);
    let mut counted = page.texts().iter().skip(counted).peekable();
    while at < end {
        let node = page.node(at);
        if node.tag != Tag::TEXT {
            let skip = is_skipped(node.tag) || page.is_hidden(at);
            // A line never begins inside a skipped element, so its end lies before the end of the line.
            at = if skip { node.end.max(at + 1) } else { at + 1 };
            continue;
        }
        let text = page.text(at);
        while counted.next_if(|text| text.node < at).is_some() {}
        // As nearly all texts of a page are: they can be taken whole.
        if counted
            .next_if(|text| text.node == at && text.is_tidy)
            .is_some()
        {
            let words = text.trim_matches(' ');
            gap |= text.starts_with(' ');
            if !words.is_empty() {
                if gap && out.len() > start {
                    out.push(' ');
                }
                out.push_str(words);
            }
            gap = text.ends_with(' ');
            at += 1;
            continue;
        }
        gap |= text.starts_with(char::is_whitespace);
        for word in text.split(char::is_whitespace).filter(|w| !w.is_empty()) {
            if gap && out.len() > start {
                out.push(' ');
            }
            out.push_str(word);
            gap = true;
        }
        gap = text.ends_with(char::is_whitespace);
        at += 1;
    }
}

/// Appends the text of a line.
pub(crate) fn render_line(page: &Page, line: &Line, out: &mut String) {
    render_node(page, line.first, line.end, out);
}

/// The whole text of an element, visible or not, on one line.
pub(crate) fn render_element(page: &Page, id: NodeId) -> String {
    let mut out = String::new();
    render_node(page, id, page.node(id).end, &mut out);
    out
}

/// Joins the lines into one text, one paragraph a line; a row of a table of data is one paragraph with all of its cells.
/// Returns for each line how many paragraphs there are with it.
pub(crate) fn join_paragraphs(
    page: &Page,
    outline: &Outline,
    kept: &[usize],
) -> (String, Vec<u32>) {
    let mut out = String::new();
    let mut count = 0;
    let mut counts = Vec::with_capacity(kept.len());
    let mut tables = Tables::new(page, outline);
    let mut last_row: Option<NodeId> = None;
    for line in kept.iter().map(|i| &outline.lines[*i]) {
        let row = tables.row_of(line.first);
        if row.is_some() && row == last_row {
            counts.push(count);
            continue;
        }
        let start = out.len();
        if start > 0 {
            out.push('\n');
        }
        let text_start = out.len();
        match row {
            Some(row) => tables.render_row(row, kept, &mut out),
            None => out.push_str(outline.text(page, line)),
        }
        if out.len() == text_start {
            out.truncate(start);
        } else {
            last_row = row;
            count += 1;
        }
        counts.push(count);
    }
    (out, counts)
}
