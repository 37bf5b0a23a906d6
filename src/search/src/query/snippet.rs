//! Cuts a snippet of a given width around the hits in a text, at sentences where that is possible. Never cuts a
//! character from its combining marks, nor a Latin word or a number.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::analyze::is_cjk;

/// Text and the byte ranges of it that matched: on character bounds, in order, not overlapping. A range that is not
/// so is left unmarked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marked {
    /// Plain text, as extracted: hostile until escaped.
    pub text: String,
    /// What to mark.
    pub marks: Vec<Range<usize>>,
}

impl From<&str> for Marked {
    fn from(text: &str) -> Marked {
        Marked {
            text: text.to_owned(),
            marks: Vec::new(),
        }
    }
}

/// Columns shown before the first hit when its sentence is too long to show.
const LEAD_COLUMNS: usize = 40;
/// Room that is not worth beginning another sentence for.
const LEAST_COLUMNS: usize = 24;

/// Sentences of a text with their closing marks, in order; together they are the text.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut ended = false;
    let mut after_stop = false;
    for (at, c) in text.char_indices() {
        // A full stop between digits or letters is none: `3.5`, `cnpc.com.cn`.
        ended |= after_stop && c.is_whitespace();
        after_stop = c == '.';
        let ends = matches!(c, '。' | '！' | '？' | '!' | '?' | '；' | '…' | '\n');
        if ended && !ends && !closes(c) {
            out.push(start..at);
            start = at;
            ended = false;
        }
        ended |= ends;
    }
    if start < text.len() || out.is_empty() {
        out.push(start..text.len());
    }
    out
}

/// Belongs to the sentence before it.
fn closes(c: char) -> bool {
    matches!(c, '”' | '’' | '」' | '』' | '）' | ')' | '"' | '》') || is_combining_mark(c)
}

/// The part to show: the best sentence with what fits around it, or the densest part of it. `marks` are sorted.
pub fn window(
    text: &str,
    sentences: &[Range<usize>],
    best: usize,
    marks: &[Range<usize>],
    columns: usize,
) -> Range<usize> {
    let Some(sentence) = sentences.get(best) else {
        return 0..0;
    };
    let own = trimmed(text, sentence);
    let mut used = width(text, &own);
    if used > columns {
        let start = lead(text, &own, marks, columns);
        return start..forward(text, start, own.end, columns);
    }
    let mut shown = own;
    let mut last = best;
    while let Some(next) = sentences.get(last + 1) {
        let more = width(text, &(shown.end..next.end));
        if used + more > columns {
            break;
        }
        shown.end = next.end;
        used += more;
        last += 1;
    }
    let rest = columns - used;
    if let Some(next) = sentences.get(last + 1) {
        if rest >= LEAST_COLUMNS {
            shown.end = forward(text, shown.end, next.end, rest);
        }
        return trimmed(text, &shown);
    }
    // The end of the text: fill up with what stands before.
    for before in sentences.iter().take(best).rev() {
        let more = width(text, &(before.start..shown.start));
        if used + more > columns {
            break;
        }
        shown.start = before.start;
        used += more;
    }
    trimmed(text, &shown)
}

/// Where to begin in a sentence that is too long: a little before the densest group of marks.
fn lead(text: &str, sentence: &Range<usize>, marks: &[Range<usize>], columns: usize) -> usize {
    let inside: Vec<&Range<usize>> = marks
        .iter()
        .filter(|mark| mark.start >= sentence.start && mark.end <= sentence.end)
        .collect();
    // In bytes: three to a Chinese character, which is two columns.
    let reach = columns.saturating_sub(LEAD_COLUMNS) * 3 / 2;
    let mut best = (0, sentence.start);
    let mut last = 0;
    for (first, mark) in inside.iter().enumerate() {
        while inside
            .get(last)
            .is_some_and(|m| m.end <= mark.start + reach)
        {
            last += 1;
        }
        let count = last.saturating_sub(first);
        if count > best.0 {
            best = (count, mark.start);
        }
    }
    if best.0 == 0 {
        best.1 = inside.first().map_or(sentence.start, |mark| mark.start);
    }
    backward(text, best.1, sentence.start, LEAD_COLUMNS)
}

/// End of what fits from `start` on, not after `limit`.
fn forward(text: &str, start: usize, limit: usize, columns: usize) -> usize {
    let Some(part) = text.get(start..limit) else {
        return start;
    };
    let (mut used, mut good, mut hard) = (0, None, start);
    for (i, c) in part.char_indices() {
        let at = start + i;
        if may_cut(text, at) {
            good = Some(at);
        }
        if !is_joined(c) {
            hard = at;
        }
        used += columns_of(c);
        if used > columns {
            return good.filter(|&at| at > start).unwrap_or(hard);
        }
    }
    limit
}

/// Start of what fits before `end`, not before `limit`; the begin of a clause if there is one.
fn backward(text: &str, end: usize, limit: usize, columns: usize) -> usize {
    let Some(part) = text.get(limit..end) else {
        return end;
    };
    let (mut used, mut good) = (0, end);
    for (i, c) in part.char_indices().rev() {
        used += columns_of(c);
        if used > columns {
            return good;
        }
        let at = limit + i;
        if matches!(c, '，' | ',' | '：' | '、') && used > columns / 2 {
            return at + c.len_utf8();
        }
        if may_cut(text, at) {
            good = at;
        }
    }
    limit
}

/// Whether a snippet may begin or end here.
fn may_cut(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let in_word = |c: char| c.is_alphanumeric() && !is_cjk(c);
    match (before.chars().next_back(), after.chars().next()) {
        (Some(a), Some(b)) => !(is_joined(b) || a == '\u{200D}' || in_word(a) && in_word(b)),
        _ => true,
    }
}

/// Is drawn together with the character before it.
fn is_joined(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{200D}' | '\u{FE00}'..='\u{FE0F}')
}

fn columns_of(c: char) -> usize {
    match c {
        c if c < '\u{1100}' => usize::from(!is_joined(c)),
        c if is_joined(c) => 0,
        _ => 2,
    }
}

fn width(text: &str, range: &Range<usize>) -> usize {
    text.get(range.clone())
        .unwrap_or_default()
        .chars()
        .map(columns_of)
        .sum()
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The part with its marks, line breaks as spaces, and `…` where a sentence is left unfinished.
pub fn dressed(text: &str, shown: Range<usize>, marks: &[Range<usize>]) -> Marked {
    let unfinished = |at: usize| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let after = text.get(at..).unwrap_or_default();
        let ends =
            |c: char| matches!(c, '。' | '！' | '？' | '!' | '?' | '；' | '…' | '.') || closes(c);
        let open = before.chars().next_back().is_some_and(|c| !ends(c));
        open && !after.trim_start().is_empty() && !after.starts_with('\n')
    };
    let line_start = text.get(..shown.start).is_some_and(|before| {
        before
            .trim_end_matches([' ', '\t', '\u{3000}'])
            .ends_with('\n')
    });
    let mut out = String::new();
    if !line_start && unfinished(shown.start) {
        out.push('…');
    }
    let shift = out.len();
    let part = text.get(shown.clone()).unwrap_or_default();
    out.extend(part.chars().map(|c| {
        if matches!(c, '\n' | '\r' | '\t') {
            ' '
        } else {
            c
        }
    }));
    if unfinished(shown.end) {
        out.push('…');
    }
    let marks = marks
        .iter()
        .filter(|mark| mark.start >= shown.start && mark.end <= shown.end)
        .map(|mark| mark.start - shown.start + shift..mark.end - shown.start + shift)
        .collect();
    Marked { text: out, marks }
}
