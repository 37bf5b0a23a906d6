//! Writes a text and its structure as HTML: a fragment of a closed set of elements, with no attribute but the address of a link
//! or picture, the text of a picture, and the number with which a list begins.

use std::ops::Range;

use super::inline::{Run, is_web_address};
use super::tree::{Element, ElementTree};
use super::{SpanKind, Structure};
use crate::document::Image;

/// The elements that are written.
pub const ELEMENTS: [&str; 22] = [
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "table",
    "tr",
    "th",
    "td",
    "a",
    "strong",
    "em",
    "img",
    "br",
];

/// Writes the text with its structure and its pictures, which are behind the paragraphs that they name.
pub(crate) fn write(text: &str, structure: &Structure, images: &[Image]) -> String {
    let paragraphs: Vec<&str> = text.lines().collect();
    let tree = ElementTree::new(paragraphs.len() as u32, structure, images);
    let mut writer = Writer {
        paragraphs: &paragraphs,
        structure,
        images,
        out: String::with_capacity(text.len() + text.len() / 4),
    };
    writer.write_all(&tree.elements);
    writer.out
}

struct Writer<'a> {
    paragraphs: &'a [&'a str],
    structure: &'a Structure,
    images: &'a [Image],
    out: String,
}

impl Writer<'_> {
    fn write_all(&mut self, elements: &[Element]) {
        for element in elements {
            self.write_element(element);
        }
    }

    fn write_element(&mut self, element: &Element) {
        match element {
            Element::Heading(level, at) => {
                let name = format!("h{level}");
                self.write_line(&name, *at);
            }
            Element::Paragraph(at) => self.write_line("p", *at),
            Element::Caption(at) => {
                self.out.push_str("<p><em>");
                self.write_paragraph(*at);
                self.out.push_str("</em></p>\n");
            }
            Element::Code(lines) => self.write_code(lines.clone()),
            Element::Table(rows) => self.write_table(rows.clone()),
            Element::Picture(number) => self.write_picture(*number),
            Element::Quote(inside) => {
                self.out.push_str("<blockquote>\n");
                self.write_all(inside);
                self.out.push_str("</blockquote>\n");
            }
            Element::List(first, items) => self.write_list(*first, items),
        }
    }

    fn write_line(&mut self, name: &str, at: u32) {
        for part in ["<", name, ">"] {
            self.out.push_str(part);
        }
        self.write_paragraph(at);
        for part in ["</", name, ">\n"] {
            self.out.push_str(part);
        }
    }

    fn write_list(&mut self, first: Option<u32>, items: &[Vec<Element>]) {
        let name = if first.is_some() { "ol" } else { "ul" };
        match first {
            Some(first) if first != 1 => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
            _ => self.out.push_str(&format!("<{name}>\n")),
        }
        for item in items {
            self.out.push_str("<li>");
            match item.as_slice() {
                [Element::Paragraph(at)] => self.write_paragraph(*at),
                [Element::Paragraph(at), list @ Element::List(..)] => {
                    self.write_paragraph(*at);
                    self.out.push('\n');
                    self.write_element(list);
                }
                item => self.write_all(item),
            }
            self.out.push_str("</li>\n");
        }
        self.out.push_str(&format!("</{name}>\n"));
    }

    fn write_code(&mut self, lines: Range<u32>) {
        self.out.push_str("<pre><code>");
        for (nth, at) in lines.enumerate() {
            let breaks = match nth {
                0 => 0,
                _ => self.structure.blank_lines(at) + 1,
            };
            self.out.push_str(&"\n".repeat(breaks));
            let text = self.paragraph(at);
            escape(text, &mut self.out);
        }
        self.out.push_str("</code></pre>\n");
    }

    fn write_table(&mut self, rows: Range<u32>) {
        self.out.push_str("<table>\n");
        for at in rows {
            let text = self.paragraph(at);
            let is_head = self.structure.is_head_row(at);
            let name = if is_head { "th" } else { "td" };
            self.out.push_str("<tr>");
            for cell in self.structure.cells(at, text) {
                self.out.push_str(&format!("<{name}>"));
                write_runs(
                    text,
                    &self.structure.runs_within(at, text, cell),
                    &mut self.out,
                );
                self.out.push_str(&format!("</{name}>"));
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</table>\n");
    }

    fn write_picture(&mut self, number: usize) {
        let Some(image) = self.images.get(number) else {
            return;
        };
        self.out.push_str("<p>");
        match image.url.as_deref().filter(|url| is_web_address(url)) {
            Some(url) => {
                self.out.push_str("<img src=\"");
                escape(url, &mut self.out);
                self.out.push_str("\" alt=\"");
                escape(&image.alt, &mut self.out);
                self.out.push_str("\">");
            }
            None => escape(&image.alt, &mut self.out),
        }
        self.out.push_str("</p>\n");
    }

    fn write_paragraph(&mut self, at: u32) {
        let text = self.paragraph(at);
        write_runs(text, &self.structure.runs_of(at, text), &mut self.out);
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

fn write_runs(text: &str, runs: &[Run<'_>], out: &mut String) {
    for run in runs {
        let (kind, inside) = match run {
            Run::Text(range) => {
                escape(text.get(range.clone()).unwrap_or_default(), out);
                continue;
            }
            Run::Span(kind, _, inside) => (*kind, inside),
        };
        let name = match kind {
            SpanKind::Link(url) => {
                out.push_str("<a href=\"");
                escape(url, out);
                out.push_str("\">");
                "a"
            }
            SpanKind::Formula(formula) => {
                for part in ["$", formula, "$"] {
                    escape(part, out);
                }
                continue;
            }
            SpanKind::Break => {
                out.push_str("<br>");
                continue;
            }
            SpanKind::Marker => {
                write_runs(text, inside, out);
                continue;
            }
            SpanKind::Strong => "strong",
            SpanKind::Emphasis => "em",
            SpanKind::Code => "code",
        };
        if name != "a" {
            out.push_str(&format!("<{name}>"));
        }
        write_runs(text, inside, out);
        out.push_str(&format!("</{name}>"));
    }
}

/// Writes a text, or the value of an attribute.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
}
