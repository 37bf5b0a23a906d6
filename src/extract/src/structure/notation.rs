//! A structure as a short text, for stores and exports: the words of its JSON would take more than what they say.
//!
//! Blocks are in order, a `;` between them. A block is the number of paragraphs since the block before (since the beginning for the
//! first; left out where it is 1), what the paragraph is, what it is in, and its spans:
//!
//! | part | written |
//! |---|---|
//! | kind | `h` and the level; `k` caption; `r` row, then `f` first of its table, `t` head, `(0-3,4-9)` its cells where they are given; `c` code, then `f` first of its listing, a number of empty lines, `<language>`; nothing for a plain paragraph |
//! | containers | `/`, then `q` quotation, `i` item, `n` and a number for each, from the outermost; then `^` and how many begin, where that is not 1 |
//! | spans | a blank, bytes since the beginning of the span before, `+`, length, then `a<address>` link, `s` strong, `e` emphasis, `c` code, `x<LaTeX>` formula, `m` marker, `b` break |
//!
//! In angle brackets `>` is `%3E`, and in a formula and a language `%` is `%25`.

use std::fmt::Write;

use super::{Block, BlockKind, CodeLine, Container, Row, Span, SpanKind};

/// Writes blocks, which are in order.
pub(super) fn write(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut before = 0;
    for (nth, block) in blocks.iter().enumerate() {
        if nth > 0 {
            out.push(';');
        }
        let step = block.at.wrapping_sub(before);
        before = block.at;
        if step != 1 {
            put(&mut out, step);
        }
        write_kind(&block.kind, &mut out);
        write_containers(block, &mut out);
        let mut from = 0;
        for span in &block.spans {
            out.push(' ');
            put(&mut out, span.0.wrapping_sub(from));
            out.push('+');
            put(&mut out, span.1.wrapping_sub(span.0));
            from = span.0;
            write_span(&span.2, &mut out);
        }
    }
    out
}

fn put(out: &mut String, number: u32) {
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok(), "a text takes all");
}

fn write_kind(kind: &BlockKind, out: &mut String) {
    match kind {
        BlockKind::Plain => {}
        BlockKind::Heading(level) => {
            out.push('h');
            put(out, u32::from(*level));
        }
        BlockKind::Caption => out.push('k'),
        BlockKind::Row(row) => {
            out.push('r');
            out.push_str(if row.first { "f" } else { "" });
            out.push_str(if row.head { "t" } else { "" });
            for (nth, (start, end)) in row.cells.iter().enumerate() {
                out.push(if nth == 0 { '(' } else { ',' });
                put(out, *start);
                out.push('-');
                put(out, *end);
            }
            out.push_str(if row.cells.is_empty() { "" } else { ")" });
        }
        BlockKind::Code(line) => {
            out.push('c');
            out.push_str(if line.first { "f" } else { "" });
            if line.blank > 0 {
                put(out, u32::from(line.blank));
            }
            if let Some(language) = &line.language {
                put_text(&language.replace('%', "%25"), out);
            }
        }
    }
}

fn write_containers(block: &Block, out: &mut String) {
    for (nth, container) in block.containers.iter().enumerate() {
        out.push_str(if nth == 0 { "/" } else { "" });
        match container {
            Container::Quote => out.push('q'),
            Container::Item => out.push('i'),
            Container::Number(number) => {
                out.push('n');
                put(out, *number);
            }
        }
    }
    if block.begins != u8::from(!block.containers.is_empty()) {
        out.push('^');
        put(out, u32::from(block.begins));
    }
}

fn write_span(kind: &SpanKind, out: &mut String) {
    match kind {
        SpanKind::Link(url) => {
            out.push('a');
            put_text(url, out);
        }
        SpanKind::Formula(formula) => {
            out.push('x');
            put_text(&formula.replace('%', "%25"), out);
        }
        SpanKind::Strong => out.push('s'),
        SpanKind::Emphasis => out.push('e'),
        SpanKind::Code => out.push('c'),
        SpanKind::Marker => out.push('m'),
        SpanKind::Break => out.push('b'),
    }
}

fn put_text(text: &str, out: &mut String) {
    out.push('<');
    out.push_str(&text.replace('>', "%3E"));
    out.push('>');
}

/// Reads what [`write`] wrote; what is wrong with any other text.
pub(super) fn read(text: &str) -> Result<Vec<Block>, String> {
    let mut reader = Reader { rest: text };
    let mut blocks: Vec<Block> = Vec::new();
    if text.is_empty() {
        return Ok(blocks);
    }
    loop {
        let before = blocks.last().map_or(0, |block| block.at);
        let is_behind = !blocks.is_empty();
        let block = reader.block(before).ok_or_else(|| reader.complaint())?;
        if is_behind && block.at <= before {
            return Err(format!(
                "paragraph {} stands behind paragraph {before}",
                block.at
            ));
        }
        blocks.push(block);
        if reader.rest.is_empty() {
            return Ok(blocks);
        }
        reader.take(';').ok_or_else(|| reader.complaint())?;
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn complaint(&self) -> String {
        let rest: String = self.rest.chars().take(20).collect();
        format!("a structure does not go on with `{rest}`")
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn number(&mut self) -> Option<u32> {
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (number, rest) = self.rest.split_at(digits);
        let number = number.parse().ok()?;
        self.rest = rest;
        Some(number)
    }

    /// A text in angle brackets.
    fn text(&mut self) -> Option<String> {
        self.take('<')?;
        let (text, rest) = self.rest.split_once('>')?;
        self.rest = rest;
        Some(text.replace("%3E", ">"))
    }

    fn block(&mut self, before: u32) -> Option<Block> {
        let has_step = self.rest.starts_with(|c: char| c.is_ascii_digit());
        let step = if has_step { self.number()? } else { 1 };
        let at = before.checked_add(step)?;
        let kind = self.kind()?;
        let mut containers = Vec::new();
        if self.take('/').is_some() {
            while self.rest.starts_with(['q', 'i', 'n']) {
                containers.push(self.container()?);
            }
        }
        let begins = match self.take('^') {
            Some(()) => u8::try_from(self.number()?).ok()?,
            None => u8::from(!containers.is_empty()),
        };
        let mut spans = Vec::new();
        let mut from = 0_u32;
        while self.take(' ').is_some() {
            from = from.checked_add(self.number()?)?;
            self.take('+')?;
            let end = from.checked_add(self.number()?)?;
            spans.push(Span(from, end, self.span()?));
        }
        Some(Block {
            at,
            kind,
            containers,
            begins,
            spans,
        })
    }

    fn kind(&mut self) -> Option<BlockKind> {
        if self.take('h').is_some() {
            return Some(BlockKind::Heading(u8::try_from(self.number()?).ok()?));
        }
        if self.take('k').is_some() {
            return Some(BlockKind::Caption);
        }
        if self.take('r').is_some() {
            let (first, head) = (self.take('f').is_some(), self.take('t').is_some());
            let mut cells = Vec::new();
            if self.take('(').is_some() {
                loop {
                    let start = self.number()?;
                    self.take('-')?;
                    cells.push((start, self.number()?));
                    if self.take(',').is_none() {
                        break;
                    }
                }
                self.take(')')?;
            }
            return Some(BlockKind::Row(Row { first, head, cells }));
        }
        if self.take('c').is_some() {
            let first = self.take('f').is_some();
            let has_blank = self.rest.starts_with(|c: char| c.is_ascii_digit());
            let blank = if has_blank {
                u8::try_from(self.number()?).ok()?
            } else {
                0
            };
            let language = self.rest.starts_with('<').then(|| self.text());
            let language = match language {
                Some(text) => Some(text?.replace("%25", "%")),
                None => None,
            };
            return Some(BlockKind::Code(CodeLine {
                first,
                blank,
                language,
            }));
        }
        Some(BlockKind::Plain)
    }

    fn container(&mut self) -> Option<Container> {
        if self.take('q').is_some() {
            return Some(Container::Quote);
        }
        if self.take('i').is_some() {
            return Some(Container::Item);
        }
        self.take('n')?;
        self.number().map(Container::Number)
    }

    fn span(&mut self) -> Option<SpanKind> {
        let kind = self.rest.chars().next()?;
        self.take(kind)?;
        Some(match kind {
            'a' => SpanKind::Link(self.text()?),
            'x' => SpanKind::Formula(self.text()?.replace("%25", "%")),
            's' => SpanKind::Strong,
            'e' => SpanKind::Emphasis,
            'c' => SpanKind::Code,
            'm' => SpanKind::Marker,
            'b' => SpanKind::Break,
            _ => return None,
        })
    }
}
