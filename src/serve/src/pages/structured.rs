//! The text of a document, or of a post, as it is shown: with its headings, lists, tables, code, links and pictures, and the matches of
//! the search marked. Pictures are linked and never loaded.

use std::ops::Range;

use taojin_extract::Image;
use taojin_extract::structure::{Block, BlockKind, Element, ElementTree, Run, SpanKind, Structure};

use crate::pages::view::{Html, outward};
use crate::search::source::Marked;

/// Fewest headings that get a table of contents, and most that are listed there.
const LEAST_HEADINGS: usize = 4;
const MAX_HEADINGS: usize = 200;

/// A text with what is known of its paragraphs.
#[derive(Debug, Clone, Default)]
pub(crate) struct StructuredText {
    paragraphs: Vec<Marked>,
    blocks: Vec<Block>,
    images: Vec<Image>,
    /// Number of its first paragraph: of a part, in the whole.
    from: u32,
}

/// A heading in the table of contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentsEntry {
    pub(crate) anchor: String,
    pub(crate) label: String,
    /// 1 for the highest of the text.
    pub(crate) depth: u8,
}

impl StructuredText {
    /// Adds a paragraph behind the others.
    pub(crate) fn add(&mut self, paragraph: &Marked, block: Option<&Block>) {
        let at = count(self.paragraphs.len());
        self.blocks.extend(block.map(|block| Block {
            at,
            ..block.clone()
        }));
        self.paragraphs.push(paragraph.clone());
    }

    /// Adds a picture behind what is there already.
    pub(crate) fn show(&mut self, image: &Image) {
        self.images.push(Image {
            url: image.url.as_deref().and_then(outward),
            alt: image.alt.clone(),
            after: count(self.paragraphs.len()),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paragraphs.is_empty() && self.images.is_empty()
    }

    pub(crate) fn has_paragraphs(&self) -> bool {
        !self.paragraphs.is_empty()
    }

    /// Its first paragraphs without the others, which it keeps.
    pub(crate) fn split_to(&mut self, end: usize) -> StructuredText {
        let rest = self.paragraphs.split_off(end.min(self.paragraphs.len()));
        let end = count(self.paragraphs.len());
        let (first, behind): (Vec<Block>, Vec<Block>) =
            self.blocks.drain(..).partition(|block| block.at < end);
        let (shown, later): (Vec<Image>, Vec<Image>) =
            self.images.drain(..).partition(|image| image.after < end);
        let head = StructuredText {
            paragraphs: std::mem::replace(&mut self.paragraphs, rest),
            blocks: first,
            images: shown,
            from: self.from,
        };
        self.from += end;
        let moved = |at: u32| at.saturating_sub(end);
        self.blocks = behind
            .into_iter()
            .map(|block| Block {
                at: moved(block.at),
                ..block
            })
            .collect();
        self.images = later
            .into_iter()
            .map(|image| Image {
                after: moved(image.after),
                ..image
            })
            .collect();
        head
    }

    /// The headings, where there are enough of them to choose from. `prefix` is that of [`StructuredText::write`].
    pub(crate) fn contents(&self, prefix: &str) -> Vec<ContentsEntry> {
        let headings = self.blocks.iter().filter_map(|block| match block.kind {
            BlockKind::Heading(level) => Some((block.at, level)),
            _ => None,
        });
        let headings: Vec<(u32, u8)> = headings.take(MAX_HEADINGS).collect();
        if headings.len() < LEAST_HEADINGS {
            return Vec::new();
        }
        let highest = headings.iter().map(|(_, level)| *level).min().unwrap_or(1);
        let entry = |(at, level): (u32, u8)| ContentsEntry {
            anchor: format!("{prefix}{}", self.from + at),
            label: self.paragraph(at).text.clone(),
            depth: level - highest + 1,
        };
        headings.into_iter().map(entry).collect()
    }

    /// Writes it; the names of headings begin with `prefix`, and a picture without a text of its own is called `picture`.
    pub(crate) fn write(&self, prefix: &str, picture: &str) -> Html {
        let structure = Structure::new(self.blocks.clone());
        let tree = ElementTree::new(count(self.paragraphs.len()), &structure, &self.images);
        let mut writer = Writer {
            text: self,
            structure: &structure,
            prefix,
            picture,
            out: String::new(),
        };
        writer.write_all(&tree.elements);
        Html::written(writer.out)
    }

    fn paragraph(&self, at: u32) -> &Marked {
        static NONE: Marked = Marked {
            text: String::new(),
            marks: Vec::new(),
        };
        self.paragraphs.get(at as usize).unwrap_or(&NONE)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

struct Writer<'a> {
    text: &'a StructuredText,
    structure: &'a Structure,
    prefix: &'a str,
    picture: &'a str,
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
                // The title of the document is the heading of the first level.
                let level = level.saturating_add(1).min(6);
                let (prefix, at) = (self.prefix, *at);
                let number = self.text.from + at;
                self.out
                    .push_str(&format!("<h{level} id=\"{prefix}{number}\">"));
                self.write_paragraph(at);
                self.out.push_str(&format!("</h{level}>\n"));
            }
            Element::Paragraph(at) if self.text.paragraph(*at).text.trim().is_empty() => {}
            Element::Paragraph(at) => self.write_in("<p>", *at, "</p>\n"),
            Element::Caption(at) => self.write_in("<p class=\"caption\">", *at, "</p>\n"),
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

    fn write_in(&mut self, begin: &str, at: u32, end: &str) {
        self.out.push_str(begin);
        self.write_paragraph(at);
        self.out.push_str(end);
    }

    fn write_list(&mut self, first: Option<u32>, items: &[Vec<Element>]) {
        let (begin, end) = match first {
            None => ("<ul>\n".to_owned(), "</ul>\n"),
            Some(1) => ("<ol>\n".to_owned(), "</ol>\n"),
            Some(first) => (format!("<ol start=\"{first}\">\n"), "</ol>\n"),
        };
        self.out.push_str(&begin);
        for item in items {
            self.out.push_str("<li>");
            match item.as_slice() {
                [Element::Paragraph(at), rest @ ..] => {
                    self.write_paragraph(*at);
                    self.write_all(rest);
                }
                item => self.write_all(item),
            }
            self.out.push_str("</li>\n");
        }
        self.out.push_str(end);
    }

    fn write_code(&mut self, lines: Range<u32>) {
        self.out.push_str("<pre tabindex=\"0\"><code>");
        for (nth, at) in lines.enumerate() {
            let breaks = match nth {
                0 => 0,
                _ => self.structure.blank_lines(at) + 1,
            };
            self.out.push_str(&"\n".repeat(breaks));
            let whole = 0..self.text.paragraph(at).text.len();
            self.write_text(at, whole);
        }
        self.out.push_str("</code></pre>\n");
    }

    /// Writes a table, which scrolls by itself where it is wider than the page.
    fn write_table(&mut self, rows: Range<u32>) {
        self.out
            .push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n");
        for at in rows {
            let text = &self.text.paragraph(at).text;
            let is_head = self.structure.is_head_row(at);
            let name = if is_head { "th" } else { "td" };
            self.out.push_str("<tr>");
            for cell in self.structure.cells(at, text) {
                self.out.push_str(&format!("<{name}>"));
                self.write_runs(at, &self.structure.runs_within(at, text, cell));
                self.out.push_str(&format!("</{name}>"));
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</table></div>\n");
    }

    fn write_picture(&mut self, number: usize) {
        let Some(image) = self.text.images.get(number) else {
            return;
        };
        let alt = if image.alt.is_empty() {
            self.picture
        } else {
            &image.alt
        };
        self.out.push_str("<p class=\"picture\">");
        if let Some(url) = &image.url {
            self.begin_link(url);
        }
        self.out
            .push_str(&Html::marked(&Marked::from(alt)).into_string());
        self.out.push_str(if image.url.is_some() {
            "</a></p>\n"
        } else {
            "</p>\n"
        });
    }

    fn begin_link(&mut self, url: &str) {
        self.out.push_str("<a href=\"");
        self.out
            .push_str(&Html::marked(&Marked::from(url)).into_string());
        self.out
            .push_str("\" rel=\"noopener noreferrer external\">");
    }

    fn write_paragraph(&mut self, at: u32) {
        let text = &self.text.paragraph(at).text;
        self.write_runs(at, &self.structure.runs_of(at, text));
    }

    fn write_runs(&mut self, at: u32, runs: &[Run<'_>]) {
        for run in runs {
            let (kind, inside) = match run {
                Run::Text(range) => {
                    self.write_text(at, range.clone());
                    continue;
                }
                Run::Span(kind, _, inside) => (*kind, inside),
            };
            let end = match kind {
                SpanKind::Link(url) => {
                    self.begin_link(url);
                    "</a>"
                }
                SpanKind::Formula(formula) => {
                    let shown = Marked::from(format!("${formula}$").as_str());
                    self.out.push_str(&Html::marked(&shown).into_string());
                    continue;
                }
                SpanKind::Strong => self.begin("<strong>", "</strong>"),
                SpanKind::Emphasis => self.begin("<em>", "</em>"),
                SpanKind::Code => self.begin("<code>", "</code>"),
                SpanKind::Break => {
                    self.out.push_str("<br>");
                    continue;
                }
                SpanKind::Marker => "",
            };
            self.write_runs(at, inside);
            self.out.push_str(end);
        }
    }

    fn begin(&mut self, begin: &str, end: &'static str) -> &'static str {
        self.out.push_str(begin);
        end
    }

    /// Writes a range of a paragraph with what is marked in it.
    fn write_text(&mut self, at: u32, range: Range<usize>) {
        let paragraph = self.text.paragraph(at);
        let inside = |mark: &Range<usize>| {
            let (start, end) = (mark.start.max(range.start), mark.end.min(range.end));
            (start < end).then(|| start - range.start..end - range.start)
        };
        let part = Marked {
            text: paragraph
                .text
                .get(range.clone())
                .unwrap_or_default()
                .to_owned(),
            marks: paragraph.marks.iter().filter_map(inside).collect(),
        };
        self.out.push_str(&Html::marked(&part).into_string());
    }
}
