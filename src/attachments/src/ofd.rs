//! OFD, the layout format of GB/T 33190: text objects with the place of each character, on pages, page templates and annotations.
//! The layout of lines, columns and titles is that of PDF.

use std::collections::HashMap;

use pdfboss_core::Rect;
use pdfboss_output::TextSpan;

use crate::draft::Draft;
use crate::metadata::parse_time;
use crate::package::{Package, resolve};
use crate::pdf::PageTaker;
use crate::xml::{Attributes, Node, find_texts, walk};
use crate::{Budget, Unreadable};

/// Points of PDF in a millimetre: what its layout is tuned to.
const POINTS_PER_MM: f32 = 72.0 / 25.4;
/// Height of a page, of which only differences matter.
const PAGE_MM: f32 = 10_000.0;
/// Pages that are read.
const MAX_PAGES: usize = 5000;
/// A longer run of one delta is an attack.
const MAX_RUN: usize = 10_000;

/// Reads all documents of a package, which are one as a rule.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Draft, Unreadable> {
    let mut package = Package::open(bytes)?;
    let root = package.read("OFD.xml", budget)?;
    let mut draft = Draft::default();
    for (name, text) in find_texts(&root, &["Title", "Author", "CreationDate", "ModDate"]) {
        match &*name {
            "Title" => draft.declared_title = Some(text),
            "Author" => draft.authors.push(text),
            "CreationDate" => draft.created = parse_time(&text),
            _ => draft.modified = parse_time(&text),
        }
    }
    for (_, path) in find_texts(&root, &["DocRoot"]) {
        read_document(&mut package, path.trim(), budget, &mut draft)?;
    }
    draft.pages = u32::try_from(draft.parts.len()).ok();
    Ok(draft)
}

fn read_document(
    package: &mut Package<'_>,
    path: &str,
    budget: &mut Budget,
    draft: &mut Draft,
) -> Result<(), Unreadable> {
    let document = package.read(path, budget)?;
    let (mut pages, mut templates, mut annotations) = (Vec::new(), HashMap::new(), String::new());
    let mut is_annotations = false;
    walk(&document, |node| match node {
        Node::Start("Page", tag) => {
            pages.push((tag.get("ID"), tag.get("BaseLoc").unwrap_or_default()))
        }
        Node::Start("TemplatePage", tag) => {
            templates.insert(
                tag.get("ID").unwrap_or_default(),
                tag.get("BaseLoc").unwrap_or_default(),
            );
        }
        Node::Start(name, _) => is_annotations = name == "Annotations",
        Node::Text(text) if is_annotations => annotations.push_str(text.trim()),
        Node::Text(_) => {}
        Node::End(_) => is_annotations = false,
    });
    let list_path = resolve(path, &annotations);
    let annotated = if annotations.is_empty() {
        Ok(Vec::new())
    } else {
        package.read(&list_path, budget)
    };
    let annotated = list_annotations(&annotated.unwrap_or_default());
    draft.is_cut |= pages.len() > MAX_PAGES;
    let mut taker = PageTaker::default();
    for (id, page) in pages.iter().take(MAX_PAGES) {
        let mut layers = Vec::new();
        let page = resolve(path, page);
        let content = package.read(&page, budget).or_else(only_if_missing)?;
        walk(&content, |node| {
            if let Node::Start("Template", tag) = node
                && let Some(template) = tag.get("TemplateID").and_then(|id| templates.get(&id))
            {
                layers.push(resolve(path, template));
            }
        });
        let on_page = annotated
            .iter()
            .filter(|(page, _)| Some(page) == id.as_ref());
        layers.extend(on_page.map(|(_, file)| resolve(&list_path, file)));
        let mut spans = PageSpans::default();
        spans.read(&content);
        for layer in layers {
            spans.read(&package.read(&layer, budget).or_else(only_if_missing)?);
        }
        draft.has_pictures |= spans.has_pictures;
        let index = draft.parts.len();
        taker.push(&spans.spans, index, draft);
    }
    draft.headings.extend(taker.find_headings());
    Ok(())
}

/// A layer that is missing or damaged leaves the others; what is too large ends the file.
fn only_if_missing(why: Unreadable) -> Result<Vec<u8>, Unreadable> {
    if why == Unreadable::TooLarge {
        Err(why)
    } else {
        Ok(Vec::new())
    }
}

/// Returns the page and the file of each list of annotations.
fn list_annotations(list: &[u8]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_path = false;
    walk(list, |node| match node {
        Node::Start("Page", tag) => {
            found.push((tag.get("PageID").unwrap_or_default(), String::new()))
        }
        Node::Start(name, _) => is_path = name == "FileLoc",
        Node::Text(text) if is_path => {
            if let Some((_, path)) = found.last_mut() {
                path.push_str(text.trim());
            }
        }
        Node::Text(_) => {}
        Node::End(_) => is_path = false,
    });
    found
}

/// Runs of text on a page.
#[derive(Default)]
struct PageSpans {
    spans: Vec<TextSpan>,
    has_pictures: bool,
    /// Left upper corner of what the objects are in: an annotation.
    origin: (f32, f32),
    object: TextObject,
    code: Option<TextCode>,
}

/// Attributes of the text object that is open.
#[derive(Default, Clone)]
struct TextObject {
    corner: (f32, f32),
    matrix: Vec<f32>,
    size: f32,
}

/// Attributes of the characters that are open.
struct TextCode {
    x: f32,
    y: f32,
    delta_x: Vec<f32>,
    delta_y: Vec<f32>,
    text: String,
}

impl PageSpans {
    fn read(&mut self, content: &[u8]) {
        self.origin = (0.0, 0.0);
        walk(content, |node| match node {
            Node::Start("Appearance", tag) => self.origin = corner(&tag),
            Node::Start("TextObject", tag) => {
                self.object = TextObject {
                    corner: corner(&tag),
                    matrix: tag.numbers("CTM"),
                    size: tag.numbers("Size").first().copied().unwrap_or(3.0),
                };
            }
            Node::Start("TextCode", tag) => {
                let number = |name| tag.numbers(name).first().copied();
                let last = self.code.take();
                self.code = Some(TextCode {
                    x: number("X")
                        .or(last.as_ref().map(|code| code.x))
                        .unwrap_or_default(),
                    y: number("Y").or(last.map(|code| code.y)).unwrap_or_default(),
                    delta_x: deltas(&tag, "DeltaX"),
                    delta_y: deltas(&tag, "DeltaY"),
                    text: String::new(),
                });
            }
            Node::Start("ImageObject", _) => self.has_pictures = true,
            Node::Start(..) => {}
            Node::Text(text) => {
                if let Some(code) = &mut self.code {
                    code.text.push_str(text);
                }
            }
            Node::End("TextCode") => self.push_code(),
            Node::End("Appearance") => self.origin = (0.0, 0.0),
            Node::End(_) => {}
        });
    }

    /// Adds the characters of a text code, a run for each line of them.
    fn push_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let (mut x, mut y) = (code.x, code.y);
        let mut run = String::new();
        let (mut start, mut end) = (x, x);
        for (i, c) in code.text.trim_matches(['\n', '\r']).chars().enumerate() {
            run.push(c);
            let step = code.delta_x.get(i).copied();
            let width = if c.is_ascii() {
                self.object.size / 2.0
            } else {
                self.object.size
            };
            end = x + step.filter(|step| *step > 0.0).unwrap_or(width);
            let usual = if code.delta_y.is_empty() { width } else { 0.0 };
            x += step.unwrap_or(usual);
            let down = code.delta_y.get(i).copied().unwrap_or_default();
            if down != 0.0 {
                self.push_run(std::mem::take(&mut run), start, end, y);
                start = x;
                y += down;
            }
        }
        self.push_run(run, start, end, y);
    }

    fn push_run(&mut self, text: String, start: f32, end: f32, y: f32) {
        if text.trim().is_empty() {
            return;
        }
        let object = &self.object;
        let [a, b, c, d, e, f] = *object.matrix else {
            return self.push_run_at(text, (start, y), (end, y), object.size);
        };
        let place = |x: f32| (a * x + c * y + e, b * x + d * y + f);
        self.push_run_at(
            text,
            place(start),
            place(end),
            object.size * (c * c + d * d).sqrt(),
        );
    }

    /// Adds a run from `start` to `end` in the space of its object, in millimetres from the left upper corner.
    fn push_run_at(&mut self, text: String, start: (f32, f32), end: (f32, f32), size: f32) {
        let (left, top) = (
            self.origin.0 + self.object.corner.0,
            self.origin.1 + self.object.corner.1,
        );
        let x = |x: f32| (left + x) * POINTS_PER_MM;
        let y = |y: f32| (PAGE_MM - top - y) * POINTS_PER_MM;
        let size = size.abs() * POINTS_PER_MM;
        let (x0, x1, base) = (x(start.0), x(end.0.max(start.0)), y(start.1));
        self.spans.push(TextSpan {
            logical: true,
            x: x0,
            y: base,
            end_x: x1,
            end_y: base,
            rotate: 0,
            glyph_x: Box::default(),
            size,
            font: String::new(),
            font_name: String::new(),
            page: 0,
            bbox: Rect::new(x0, base - size * 0.2, x1, base + size * 0.8),
            ascent: size * 0.8,
            descent: size * -0.2,
            bold: false,
            italic: false,
            monospace: false,
            serif: false,
            font_family: String::new(),
            font_stretch: None,
            font_weight: None,
            rise: 0.0,
            vertical: false,
            invisible: false,
            color: None,
            underline: false,
            strikethrough: false,
            highlight: false,
            highlight_color: None,
            artifact: None,
            structure: None,
            alt: None,
            lang: None,
            expansion: None,
            text,
        });
    }
}

/// Left upper corner of an object.
fn corner(tag: &Attributes<'_>) -> (f32, f32) {
    match *tag.numbers("Boundary") {
        [x, y, ..] => (x, y),
        _ => (0.0, 0.0),
    }
}

/// Distances from each character to the next: `3 g 2 1.5` is `3 1.5 1.5`.
fn deltas(tag: &Attributes<'_>, name: &str) -> Vec<f32> {
    let value = tag.get(name).unwrap_or_default();
    let mut words = value.split_whitespace();
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        let count = if word == "g" {
            words
                .next()
                .and_then(|count| count.parse().ok())
                .unwrap_or(1)
        } else {
            1
        };
        let number = if word == "g" {
            words.next()
        } else {
            Some(word)
        };
        let number: f32 = number
            .and_then(|number| number.parse().ok())
            .unwrap_or_default();
        out.extend(std::iter::repeat_n(number, MAX_RUN.min(count)));
        if out.len() > MAX_RUN {
            break;
        }
    }
    out
}
