//! Writes a text and its structure as Markdown: CommonMark 0.31 with the tables of GitHub. What would be syntax is escaped, no HTML is
//! written, and a reader gets the letters and digits of the text back in their order.

mod inline;

use std::ops::Range;

use super::inline::is_web_address;
use super::tree::{Element, ElementTree};
use super::{BlockKind, Structure};
use crate::document::Image;
use inline::{Inline, Place, can_be_set_off, escape, guard_start, write_address};

/// Writes the text with its structure and its pictures, which are behind the paragraphs that they name.
pub(crate) fn write(text: &str, structure: &Structure, images: &[Image]) -> String {
    let paragraphs: Vec<&str> = text.lines().collect();
    let tree = ElementTree::new(paragraphs.len() as u32, structure, images);
    let mut writer = Writer {
        paragraphs: &paragraphs,
        structure,
        images,
        out: String::with_capacity(text.len() + text.len() / 8),
        indent: String::new(),
    };
    writer.write_all(&tree.elements);
    writer.out
}

struct Writer<'a> {
    paragraphs: &'a [&'a str],
    structure: &'a Structure,
    images: &'a [Image],
    out: String,
    /// What each line begins with inside items and quotations.
    indent: String,
}

impl Writer<'_> {
    fn write_all(&mut self, elements: &[Element]) {
        // Lists that follow each other are one, unless their signs differ.
        let mut other_sign = false;
        for (at, element) in elements.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| elements.get(at));
            let is_list = |element: Option<&Element>| matches!(element, Some(Element::List(..)));
            other_sign = is_list(before) && is_list(Some(element)) && !other_sign;
            if at > 0 {
                self.blank_line();
            }
            self.write_element(element, other_sign);
        }
    }

    fn write_element(&mut self, element: &Element, other_sign: bool) {
        match element {
            Element::Heading(level, at) => {
                let signs = "#".repeat(usize::from(*level));
                self.out.push_str(&signs);
                self.out.push(' ');
                self.write_paragraph(*at, Place::Heading);
                self.out.push('\n');
            }
            Element::Paragraph(at) => {
                let start = self.out.len();
                self.write_paragraph(*at, Place::Line);
                guard_start(&mut self.out, start);
                self.out.push('\n');
            }
            Element::Caption(at) => {
                self.write_caption(*at);
                self.out.push('\n');
            }
            Element::Code(lines) => self.write_code(lines.clone()),
            Element::Table(rows) => self.write_table(rows.clone()),
            Element::Picture(number) => self.write_picture(*number),
            Element::Quote(inside) => {
                self.out.push_str("> ");
                self.write_inside("> ", inside);
            }
            Element::List(first, items) => self.write_list(*first, items, other_sign),
        }
    }

    fn write_list(&mut self, first: Option<u32>, items: &[Vec<Element>], other_sign: bool) {
        let is_tight = items.iter().all(|item| is_short(item));
        for (nth, item) in items.iter().enumerate() {
            if nth > 0 {
                if is_tight {
                    self.out.push_str(&self.indent);
                } else {
                    self.blank_line();
                }
            }
            let sign = match (first, other_sign) {
                (None, false) => "- ".to_owned(),
                (None, true) => "* ".to_owned(),
                // Nine digits are the most that a number of an item may have.
                (Some(first), _) => {
                    let number = (first.saturating_add(nth as u32)).min(999_999_999);
                    format!("{number}{} ", if other_sign { ')' } else { '.' })
                }
            };
            self.out.push_str(&sign);
            let indent = " ".repeat(sign.len());
            self.write_inside(&indent, item);
        }
    }

    fn write_inside(&mut self, indent: &str, elements: &[Element]) {
        let before = self.indent.len();
        self.indent.push_str(indent);
        if is_short(elements) {
            // The list of an item follows its line.
            for (nth, element) in elements.iter().enumerate() {
                if nth > 0 {
                    self.out.push_str(&self.indent);
                }
                self.write_element(element, false);
            }
        } else {
            self.write_all(elements);
        }
        self.indent.truncate(before);
    }

    fn blank_line(&mut self) {
        self.out.push_str(self.indent.trim_end());
        self.out.push('\n');
        self.out.push_str(&self.indent);
    }

    fn write_paragraph(&mut self, at: u32, place: Place) {
        let text = self.paragraph(at);
        let runs = self.structure.runs_of(at, text);
        Inline::new(text, place, &mut self.out).write(&runs);
    }

    /// Writes a caption as emphasis, where what it is in can be emphasized.
    fn write_caption(&mut self, at: u32) {
        let text = self.paragraph(at);
        let is_marked = self
            .structure
            .block(at)
            .is_some_and(|block| !block.spans.is_empty());
        let sign = if is_marked || !can_be_set_off(text, &(0..text.len())) {
            ""
        } else {
            "*"
        };
        let start = self.out.len();
        self.out.push_str(sign);
        self.write_paragraph(at, Place::Line);
        self.out.push_str(sign);
        guard_start(&mut self.out, start);
    }

    fn write_code(&mut self, lines: Range<u32>) {
        let fence = "`".repeat(self.longest_ticks(lines.clone()).max(2) + 1);
        self.out.push_str(&fence);
        for (nth, at) in lines.enumerate() {
            if nth == 0 {
                self.write_language(at);
                self.out.push('\n');
            }
            for _ in 0..self.structure.blank_lines(at) {
                self.out.push_str(self.indent.trim_end());
                self.out.push('\n');
            }
            self.out.push_str(&self.indent);
            let text = self.paragraph(at);
            self.out.push_str(text);
            self.out.push('\n');
        }
        self.out.push_str(&self.indent);
        self.out.push_str(&fence);
        self.out.push('\n');
    }

    /// Writes the language of a listing, if it is a name.
    fn write_language(&mut self, at: u32) {
        if let Some(BlockKind::Code(line)) = self.structure.block(at).map(|block| &block.kind) {
            let is_name = |c: &char| c.is_ascii_alphanumeric() || "+-#._".contains(*c);
            let language = line.language.as_deref().unwrap_or_default();
            self.out.extend(language.chars().take_while(is_name));
        }
    }

    fn longest_ticks(&self, lines: Range<u32>) -> usize {
        let texts = lines.map(|at| self.paragraph(at));
        let ticks = texts.flat_map(|text| text.split(|c| c != '`').map(str::len));
        ticks.max().unwrap_or_default()
    }

    /// Writes the rows; the first is the head, as a table of Markdown must have one, and is as wide as the widest.
    fn write_table(&mut self, rows: Range<u32>) {
        let cells = |at: u32| self.structure.cells(at, self.paragraph(at));
        let rows: Vec<(u32, Vec<Range<usize>>)> = rows.map(|at| (at, cells(at))).collect();
        let widest = rows
            .iter()
            .map(|(_, cells)| cells.len())
            .max()
            .unwrap_or_default();
        for (nth, (at, cells)) in rows.into_iter().enumerate() {
            if nth > 0 {
                self.out.push_str(&self.indent);
            }
            let missing = if nth == 0 { widest - cells.len() } else { 0 };
            self.out.push('|');
            for cell in cells {
                self.out.push(' ');
                let text = self.paragraph(at);
                let runs = self.structure.runs_within(at, text, cell);
                Inline::new(text, Place::Cell, &mut self.out).write(&runs);
                self.out.push_str(" |");
            }
            self.out.push_str(&"  |".repeat(missing));
            self.out.push('\n');
            if nth == 0 {
                self.out.push_str(&self.indent);
                self.out.push('|');
                self.out.push_str(&" --- |".repeat(widest));
                self.out.push('\n');
            }
        }
    }

    fn write_picture(&mut self, number: usize) {
        let image = self.images.get(number);
        let shown = image.and_then(|image| Some((image, image.url.as_deref()?)));
        if let Some((image, url)) = shown.filter(|(_, url)| is_web_address(url)) {
            self.out.push_str("![");
            escape(&image.alt, Place::Label, &mut self.out);
            self.out.push_str("](");
            write_address(url, &mut self.out);
            self.out.push(')');
        } else if let Some(image) = image {
            let start = self.out.len();
            escape(&image.alt, Place::Line, &mut self.out);
            guard_start(&mut self.out, start);
        }
        self.out.push('\n');
    }

    fn paragraph<'p>(&self, at: u32) -> &'p str
    where
        Self: 'p,
    {
        self.paragraphs
            .get(at as usize)
            .copied()
            .unwrap_or_default()
    }
}

/// Whether elements are on lines that follow each other without an empty one: a line, with a list below it at most.
fn is_short(elements: &[Element]) -> bool {
    match elements {
        [_] => true,
        // A list that begins with another number does not end a paragraph.
        [Element::Paragraph(_), Element::List(first, items)] => {
            matches!(first, None | Some(1)) && items.iter().all(|item| is_short(item))
        }
        _ => false,
    }
}
