//! OpenDocument (text, tables, slides) and EPUB: XML in a ZIP archive.

use crate::draft::Draft;
use crate::metadata::parse_time;
use crate::package::{Package, resolve};
use crate::xml::{Node, find_texts, walk};
use crate::{Budget, Place, Unreadable, heading, text};

/// Blanks that one element stands for.
const MAX_BLANKS: usize = 100;

/// Reads a text, a spreadsheet or a presentation.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Draft, Unreadable> {
    let (content, meta) = if bytes.starts_with(b"PK") {
        let mut package = Package::open(bytes)?;
        let manifest = package
            .read("META-INF/manifest.xml", budget)
            .unwrap_or_default();
        let mut is_encrypted = false;
        walk(&manifest, |node| {
            is_encrypted |= matches!(node, Node::Start("encryption-data", _))
        });
        if is_encrypted {
            return Err(Unreadable::Password);
        }
        let content = package.read("content.xml", budget)?;
        (
            content,
            package.read("meta.xml", budget).unwrap_or_default(),
        )
    } else {
        // All of it in one XML file.
        (bytes.to_vec(), bytes.to_vec())
    };
    let mut reader = ContentReader::default();
    walk(&content, |node| reader.read(&node));
    reader.close(Place::Whole);
    let mut draft = reader.draft;
    for (name, text) in find_texts(
        &meta,
        &[
            "title",
            "creator",
            "initial-creator",
            "creation-date",
            "date",
        ],
    ) {
        match &*name {
            "title" => draft.declared_title = Some(text),
            "creation-date" => draft.created = parse_time(&text),
            "date" => draft.modified = parse_time(&text),
            _ => draft.authors.push(text),
        }
    }
    walk(&meta, |node| {
        if let Node::Start("document-statistic", tag) = node {
            draft.pages = tag.get("page-count").and_then(|pages| pages.parse().ok());
        }
    });
    Ok(draft)
}

#[derive(Default)]
struct ContentReader {
    draft: Draft,
    text: String,
    /// Open elements whose text is not shown.
    hidden: u32,
    /// Open paragraphs, headings among them.
    paragraphs: u32,
    /// Where the heading that is open begins in `text`, and its level.
    heading: Option<(usize, u8)>,
    sheet: String,
    slides: u32,
}

impl ContentReader {
    fn read(&mut self, node: &Node<'_>) {
        match node {
            Node::Start("tracked-changes" | "annotation" | "shape-styles", _) => self.hidden += 1,
            Node::End("tracked-changes" | "annotation" | "shape-styles") => {
                self.hidden = self.hidden.saturating_sub(1)
            }
            _ if self.hidden > 0 => {}
            Node::Start("spreadsheet", _) => self.sheet = "1".to_owned(),
            Node::Start("table", tag) if !self.sheet.is_empty() => {
                self.sheet = tag.get("name").unwrap_or_else(|| self.sheet.clone());
            }
            Node::End("table") if !self.sheet.is_empty() => {
                self.close(Place::Sheet(self.sheet.clone()))
            }
            Node::End("page") => {
                self.slides += 1;
                self.close(Place::Slide(self.slides));
            }
            Node::Start("p", _) => self.paragraphs += 1,
            Node::Start("h", tag) => {
                let level = tag
                    .get("outline-level")
                    .and_then(|level| level.parse().ok());
                self.paragraphs += 1;
                self.heading = Some((self.text.len(), level.unwrap_or(1)));
            }
            Node::End(name @ ("p" | "h")) => {
                if let Some((start, level)) = self.heading.take_if(|_| *name == "h") {
                    let text = self.text.get(start..).unwrap_or_default();
                    heading::push_heading(level, text, &mut self.draft.sections);
                    if self.draft.headings.is_empty() {
                        self.draft.headings.push(text.to_owned());
                    }
                }
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.text.push('\n');
            }
            Node::End("table-cell" | "covered-table-cell") => {
                self.text.truncate(self.text.trim_end_matches('\n').len());
                self.text.push('\t');
            }
            Node::End("table-row") => {
                self.text.truncate(self.text.trim_end_matches('\t').len());
                self.text.push('\n');
            }
            Node::Start("s", tag) => {
                let blanks = tag
                    .get("c")
                    .and_then(|count| count.parse().ok())
                    .unwrap_or(1);
                self.text
                    .extend(std::iter::repeat_n(' ', MAX_BLANKS.min(blanks)));
            }
            Node::Start("tab", _) => self.text.push('\t'),
            Node::Start("line-break", _) => self.text.push('\n'),
            Node::Start("image", _) => self.draft.has_pictures = true,
            Node::Text(text) if self.paragraphs > 0 => self.text.push_str(text),
            _ => {}
        }
    }

    fn close(&mut self, place: Place) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.draft.push(place, text);
        }
    }
}

/// Reads a book in the order of its spine.
pub(crate) fn read_book(bytes: &[u8], budget: &mut Budget) -> Result<Draft, Unreadable> {
    let mut package = Package::open(bytes)?;
    let container = package.read("META-INF/container.xml", budget)?;
    let mut path = String::new();
    walk(&container, |node| {
        if let Node::Start("rootfile", tag) = node {
            path = tag.get("full-path").unwrap_or_default();
        }
    });
    let book = package.read(&path, budget)?;
    let mut draft = Draft::default();
    for (name, text) in find_texts(&book, &["title", "creator", "date"]) {
        match &*name {
            "title" => draft.declared_title = draft.declared_title.take().or(Some(text)),
            "creator" => draft.authors.push(text),
            _ => draft.created = draft.created.or(parse_time(&text)),
        }
    }
    let (mut files, mut spine) = (std::collections::HashMap::new(), Vec::new());
    walk(&book, |node| match node {
        Node::Start("item", tag) => {
            files.insert(tag.get("id"), tag.get("href").unwrap_or_default());
        }
        Node::Start("itemref", tag) => spine.push(tag.get("idref")),
        _ => {}
    });
    let mut is_locked = false;
    for (number, id) in (1..).zip(spine) {
        let Some(file) = files.get(&id) else { continue };
        let file = percent_decode(file.split('#').next().unwrap_or_default());
        match package.read(&resolve(&path, &file), budget) {
            Err(Unreadable::TooLarge) => return Err(Unreadable::TooLarge),
            Err(_) => {}
            Ok(page) => {
                let page = text::read_html(&page, None);
                draft
                    .parts
                    .extend(page.parts.into_iter().map(|part| crate::Part {
                        place: Place::Chapter(number),
                        ..part
                    }));
            }
        }
        is_locked |= package.contains("META-INF/rights.xml");
    }
    if is_locked {
        Err(Unreadable::Password)
    } else {
        Ok(draft)
    }
}

fn percent_decode(text: &str) -> String {
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(text).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
