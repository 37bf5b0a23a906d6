//! Writes the text of one paragraph, heading or cell: links, what is set off, code and formulas, and escapes in all else.

use std::ops::Range;

use crate::structure::SpanKind;
use crate::structure::inline::Run;

/// Where a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a line of its own; [`guard_start`] looks at its beginning.
    Line,
    /// In a heading, behind its signs.
    Heading,
    /// In a cell of a table.
    Cell,
    /// Between brackets.
    Label,
}

/// Writes the runs of one paragraph.
pub(super) struct Inline<'a> {
    text: &'a str,
    place: Place,
    out: &'a mut String,
    in_link: bool,
    /// The sign that ends what is set off has just been written.
    has_closed: bool,
}

impl<'a> Inline<'a> {
    pub(super) fn new(text: &'a str, place: Place, out: &'a mut String) -> Self {
        Self {
            text,
            place,
            out,
            in_link: false,
            has_closed: false,
        }
    }

    pub(super) fn write(&mut self, runs: &[Run<'_>]) {
        for run in runs {
            match run {
                Run::Text(range) => self.write_text(range),
                Run::Span(kind, range, inside) => self.write_span(kind, range, inside),
            }
        }
    }

    fn write_text(&mut self, range: &Range<usize>) {
        let escaping = Escaping {
            place: self.place,
            in_label: self.in_link || self.place == Place::Label,
        };
        escaping.write(self.text, range.clone(), self.out);
        self.went_on();
    }

    /// Something was written that is not the end of what is set off.
    fn went_on(&mut self) {
        self.has_closed = false;
    }

    fn write_span(&mut self, kind: &SpanKind, range: &Range<usize>, inside: &[Run<'_>]) {
        let sign = match kind {
            SpanKind::Link(url) => return self.write_link(url, inside),
            SpanKind::Code => return self.write_code(range, inside),
            SpanKind::Formula(formula) => return self.write_formula(formula, range, inside),
            SpanKind::Marker | SpanKind::Break => return self.write(inside),
            SpanKind::Strong => "**",
            SpanKind::Emphasis => "*",
        };
        // Signs that touch would be read as others.
        if self.place == Place::Heading || self.has_closed || !is_set_off(self.text, range, inside)
        {
            return self.write(inside);
        }
        self.out.push_str(sign);
        self.went_on();
        self.write(inside);
        self.out.push_str(sign);
        self.has_closed = true;
    }

    fn write_link(&mut self, url: &str, inside: &[Run<'_>]) {
        self.out.push('[');
        self.went_on();
        self.in_link = true;
        self.write(inside);
        self.in_link = false;
        self.out.push_str("](");
        write_address(url, self.out);
        self.out.push(')');
        self.has_closed = false;
    }

    fn write_code(&mut self, range: &Range<usize>, inside: &[Run<'_>]) {
        // A link inside code goes around it where that is the same, else before it.
        match inside {
            [Run::Span(SpanKind::Link(url), range, _)] => {
                return self.write_link(
                    url,
                    &[Run::Span(&SpanKind::Code, range.clone(), Vec::new())],
                );
            }
            _ if inside.iter().any(holds_link) => return self.write(inside),
            _ => {}
        }
        let text = self.text.get(range.clone()).unwrap_or_default();
        let blank_if = |is_there: bool| if is_there { " " } else { "" };
        let before = blank_if(text.starts_with(char::is_whitespace));
        let behind = blank_if(text.ends_with(char::is_whitespace));
        let text = text.trim();
        if self.out.ends_with('`') && !self.out.ends_with("\\`") {
            return self.write_text(range);
        }
        let ticks = text
            .split(|c| c != '`')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(ticks + 1);
        let blank = blank_if(text.starts_with('`') || text.ends_with('`'));
        let text = match self.place {
            Place::Cell => text.replace('|', "\\|"),
            _ => text.to_owned(),
        };
        for part in [before, &fence, blank, &text, blank, &fence, behind] {
            self.out.push_str(part);
        }
        self.went_on();
    }

    fn write_formula(&mut self, formula: &str, range: &Range<usize>, inside: &[Run<'_>]) {
        if !is_plain_formula(formula) {
            return self.write(inside);
        }
        let formula = match self.place {
            Place::Cell => formula.replace('|', "\\vert "),
            _ => formula.to_owned(),
        };
        let is_word = |c: char| c.is_ascii_alphanumeric();
        if self.out.ends_with(is_word) {
            self.out.push(' ');
        }
        for part in ["$", formula.trim(), "$"] {
            self.out.push_str(part);
        }
        if self
            .text
            .get(range.end..)
            .is_some_and(|rest| rest.starts_with(is_word))
        {
            self.out.push(' ');
        }
        self.went_on();
    }
}

/// Whether a formula is read back as it is: nothing in it is taken for code, a link, an element or the end of the formula.
fn is_plain_formula(formula: &str) -> bool {
    let is_bad = |(at, c): (usize, char)| {
        let rest = formula.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            '$' | '`' => true,
            '<' => rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)),
            ']' => rest.starts_with(['(', '[', ':']),
            '&' => begins_reference(rest),
            c => c.is_control(),
        }
    };
    !formula.is_empty() && !formula.char_indices().any(is_bad)
}

fn holds_link(run: &Run<'_>) -> bool {
    match run {
        Run::Text(_) => false,
        Run::Span(SpanKind::Link(_), ..) => true,
        Run::Span(_, _, inside) => inside.iter().any(holds_link),
    }
}

/// Whether signs around a range of a text are read as such: between a letter and a sign they are not, as
/// `**“重点”**之后`. See "left-flanking" and "right-flanking delimiter run" in CommonMark.
pub(super) fn can_be_set_off(text: &str, range: &Range<usize>) -> bool {
    let inside = [Run::Text(range.clone())];
    is_set_off(text, range, &inside)
}

fn is_set_off(text: &str, range: &Range<usize>, inside: &[Run<'_>]) -> bool {
    let inner = text.get(range.clone()).unwrap_or_default();
    let before = text
        .get(..range.start)
        .and_then(|text| text.chars().next_back());
    let behind = text.get(range.end..).and_then(|text| text.chars().next());
    let edge = |run: Option<&Run<'_>>, char: Option<char>| match run {
        Some(Run::Span(..)) => Some('['),
        _ => char,
    };
    let first = edge(inside.first(), inner.chars().next());
    let last = edge(inside.last(), inner.chars().next_back());
    let flanks = |inner: Option<char>, outer: Option<char>| {
        let Some(inner) = inner.filter(|c| !c.is_whitespace()) else {
            return false;
        };
        !is_punctuation(inner) || outer.is_none_or(|c| c.is_whitespace() || is_punctuation(c))
    };
    flanks(first, before) && flanks(last, behind)
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}

/// Writes a text that is no syntax.
pub(super) fn escape(text: &str, place: Place, out: &mut String) {
    let escaping = Escaping {
        place,
        in_label: place == Place::Label,
    };
    escaping.write(text, 0..text.len(), out);
}

struct Escaping {
    place: Place,
    /// Between brackets.
    in_label: bool,
}

impl Escaping {
    /// Writes a range of a text; what follows it in the text counts too.
    fn write(&self, text: &str, range: Range<usize>, out: &mut String) {
        let shown = text.get(range.clone()).unwrap_or_default();
        let mut before = out.chars().next_back();
        for (at, c) in shown.char_indices() {
            let rest = text
                .get(range.start + at + c.len_utf8()..)
                .unwrap_or_default();
            // A sign may follow that the text does not have.
            let is_last = at + c.len_utf8() == shown.len();
            let joins = is_last && (c == '\\' || c == '!' && !rest.is_empty());
            if joins || self.is_syntax(c, before, rest) {
                out.push('\\');
            }
            // A line break would end what it is in.
            out.push(if c.is_control() { ' ' } else { c });
            before = Some(c);
        }
    }

    fn is_syntax(&self, c: char, before: Option<char>, rest: &str) -> bool {
        let next = rest.chars().next();
        match c {
            '*' | '`' | '~' => true,
            '_' => {
                let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                !(is_letter(before) && is_letter(next))
            }
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation()),
            '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c)),
            '&' => begins_reference(rest),
            '[' => self.in_label,
            ']' => self.in_label || next.is_some_and(|c| "([:".contains(c)),
            '|' => self.place == Place::Cell,
            '#' => self.place == Place::Heading,
            _ => false,
        }
    }
}

/// Escapes the beginning of a line that was written from `start` on, where it would begin a heading, a list, a quotation or a rule.
pub(super) fn guard_start(out: &mut String, start: usize) {
    let line = out.get(start..).unwrap_or_default();
    let blank = line.len() - line.trim_start().len();
    out.replace_range(start..start + blank, "");
    let line = out.get(start..).unwrap_or_default();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..).unwrap_or_default();
    let sign = rest.chars().next().unwrap_or_default();
    let behind = rest.get(sign.len_utf8()..).unwrap_or_default();
    let ends_word = behind.chars().next().is_none_or(char::is_whitespace);
    let is_sign = match sign {
        '.' | ')' => digits > 0 && ends_word,
        '+' => digits == 0 && ends_word,
        '-' | '#' | '>' | '=' | ':' => digits == 0,
        _ => false,
    };
    if is_sign {
        out.insert(start + digits, '\\');
    }
}

/// Whether an ampersand with this behind it means a character, or might.
fn begins_reference(rest: &str) -> bool {
    let word = rest.strip_prefix('#').unwrap_or(rest);
    let end = word.find(|c: char| !c.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && word.as_bytes().get(end) == Some(&b';'))
}

/// Writes the address of a link or picture.
pub(super) fn write_address(url: &str, out: &mut String) {
    let has_brackets = url.contains(['(', ')']);
    out.push_str(if has_brackets { "<" } else { "" });
    for (at, c) in url.char_indices() {
        match c {
            '\\' => out.push_str("%5C"),
            '|' => out.push_str("%7C"),
            '&' if begins_reference(url.get(at + 1..).unwrap_or_default()) => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out.push_str(if has_brackets { ">" } else { "" });
}
