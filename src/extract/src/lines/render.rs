//! A line as text. In: a line of a page. Out: its text with white space collapsed. Hidden and unreadable
//! elements inside the line are left out.

use super::Line;
use crate::page::{NodeId, Page, Tag, is_skipped};

/// Appends the text of nodes `first..end` to `out`, runs of white space as one space, trimmed.
pub(crate) fn node_text(page: &Page, first: NodeId, end: NodeId, out: &mut String) {
    let start = out.len();
    let mut gap = false;
    let mut at = first;
    while at < end {
        let node = page.node(at);
        if node.tag != Tag::TEXT {
            let skip = is_skipped(node.tag) || page.is_hidden(at);
            // A line never begins inside a skipped element, so its end lies before the end of the line.
            at = if skip { node.end.max(at + 1) } else { at + 1 };
            continue;
        }
        let text = page.text(at);
        if is_tidy(text.as_bytes()) {
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

/// No white space but single blanks, as nearly all texts of a page are: they can be taken whole.
fn is_tidy(text: &[u8]) -> bool {
    // Nothing ends these two early, so that many bytes are looked at in one step.
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    let doubled = pairs.fold(0, |found, (a, b)| {
        found | u8::from(*a == b' ') & u8::from(*b == b' ')
    });
    doubled == 0
        && (0..text.len())
            .step_by(BLOCK)
            .all(|from| is_tidy_block(text, from))
}

/// Bytes that are looked at in one step.
const BLOCK: usize = 32;

/// The same, but for double blanks, of the next bytes from `from`.
fn is_tidy_block(text: &[u8], from: usize) -> bool {
    let rest = text.get(from..).unwrap_or_default();
    // Control characters, and the bytes that begin white space outside ASCII.
    let odd = |b: u8| u8::from(b < b' ') | u8::from(b == 0xC2) | u8::from(b.wrapping_sub(0xE1) < 3);
    if let Some(block) = rest.first_chunk::<BLOCK>()
        && block.iter().fold(0, |found, b| found | odd(*b)) == 0
    {
        return true;
    }
    let block = rest.iter().take(BLOCK).enumerate();
    !block
        .filter(|(_, b)| odd(**b) != 0)
        .any(|(at, _)| is_white(text, from + at))
}

/// Of the bytes that may begin white space: true if this one does. Control characters count as such.
fn is_white(text: &[u8], at: usize) -> bool {
    let (second, third) = (text.get(at + 1), text.get(at + 2));
    match text[at] {
        0xC2 => matches!(second, Some(0x85 | 0xA0)),
        0xE2 => matches!(second, Some(0x80 | 0x81)) && !is_mark(third),
        0xE3 => second == Some(&0x80) && third == Some(&0x80),
        _ => true,
    }
}

/// Third byte of the dashes, quotes and dots U+2010 to U+2027.
fn is_mark(third: Option<&u8>) -> bool {
    matches!(third, Some(0x90..=0x9E | 0xA0..=0xA7))
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
