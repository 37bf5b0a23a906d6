//! A line as text. In: a line of a page. Out: its text with white space collapsed. Hidden and unreadable
//! elements inside the line are left out.

use super::Line;
use crate::page::{NodeId, Page, Tag, is_skipped};

/// Appends the text of nodes `first..end` to `out`, runs of white space as one space, trimmed.
pub(crate) fn node_text(page: &Page, first: NodeId, end: NodeId, out: &mut String) {
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
pub(crate) fn line_text(page: &Page, line: &Line, out: &mut String) {
    node_text(page, line.first, line.end, out);
}

/// The whole text of an element, visible or not, on one line.
pub(crate) fn element_text(page: &Page, id: NodeId) -> String {
    let mut out = String::new();
    node_text(page, id, page.node(id).end, &mut out);
    out
}
