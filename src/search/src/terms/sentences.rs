//! Sentences. In: a text as it was extracted. Out: its sentences with their byte ranges. Never changes a text.

use std::ops::Range;

/// Longest sentence in characters: what goes on without an end is a table or data.
const MAX_CHARS: usize = 600;

/// The byte ranges of the sentences of a text, ends included.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut chars) = (0, 0);
    let mut all = text.char_indices().peekable();
    while let Some((at, c)) = all.next() {
        chars += 1;
        let end = at + c.len_utf8();
        // A full stop inside a number or an address ends nothing.
        let spaced = all.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = matches!(c, '。' | '！' | '？' | '!' | '?' | '；' | ';' | '\n' | '\r')
            || (c == '.' && spaced)
            || chars == MAX_CHARS;
        if ends {
            out.push(start..end);
            (start, chars) = (end, 0);
        }
    }
    if start < text.len() {
        out.push(start..text.len());
    }
    out
}
