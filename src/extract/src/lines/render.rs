//! Renders lines and elements as text: white space collapsed, hidden and unreadable elements excluded.

use std::ops::Range;

use super::Line;
use crate::page::{NodeId, Page, Tag, is_skipped};

/// Appends the text of nodes `first..end` to `out`, runs of white space as one space, trimmed.
pub(crate) fn render_node(page: &Page, first: NodeId, end: NodeId, out: &mut String) {
    render_texts(page, first..end, out, |_, _| {});
}

/// The same, and says of each text that shows something where in `out` that is.
pub(crate) fn render_texts(
    page: &Page,
    nodes: Range<NodeId>,
    out: &mut String,
    mut shown: impl FnMut(NodeId, Range<usize>),
) {
    let Range { start: first, end } = nodes;
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
                let from = out.len();
                out.push_str(words);
                shown(at, from..out.len());
            }
            gap = text.ends_with(' ');
            at += 1;
            continue;
        }
        gap |= text.starts_with(char::is_whitespace);
        let mut from = None;
        for word in text.split(char::is_whitespace).filter(|w| !w.is_empty()) {
            if gap && out.len() > start {
                out.push(' ');
            }
            from = from.or(Some(out.len()));
            out.push_str(word);
            gap = true;
        }
        if let Some(from) = from {
            shown(at, from..out.len());
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
