//! Word documents of Office Open XML, and the XML of Word 2003, as Word shows them without marks of changes.
//!
//! Deleted, moved and hidden text is left out, and of several forms of a shape one is read. Paragraphs begin with their automatic
//! number. Cells of a table row are divided by tabs; a cell that others span keeps its place. Headers come first, then the text,
//! notes and footers.

use std::collections::HashMap;

use crate::draft::Draft;
use crate::drawing::{Alternatives, related_text};
use crate::numbering::Numbering;
use crate::opc::{OfficePackage, Relation};
use crate::xml::{Attributes, Node, walk};
use crate::{Budget, Heading, MAX_DEPTH, Place, Unreadable, heading};

/// Columns that one cell spans.
const MAX_SPAN: usize = 63;
/// Styles that styles are made from.
const MAX_STYLE_DEPTH: usize = 20;
/// Elements whose text is not shown.
const HIDDEN: &[&str] = &[
    "moveFrom",
    "del",
    "instrText",
    "delText",
    "delInstrText",
    // How a word is spoken.
    "rt",
    // What properties were before a change.
    "rPrChange",
    "pPrChange",
    "sectPrChange",
    "tblPrChange",
    "tblGridChange",
    "trPrChange",
    "tcPrChange",
    "tblPrExChange",
    "numberingChange",
    // Parts that stand in one document in the XML of Word 2003.
    "docOleData",
    "binData",
    "styles",
    "lists",
    "fonts",
    "docPr",
    "DocumentProperties",
];

/// Reads a document.
pub(crate) fn read(
    mut package: OfficePackage<'_>,
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let main = package.main_part(budget).ok_or(Unreadable::Damaged)?;
    let body = package.read(&main, budget)?;
    let relations = package.relations(&main, budget);
    let sources = Sources {
        styles: read_styles(&package.read_related(&relations, "styles", budget)),
        numbering: Numbering::parse(&package.read_related(&relations, "numbering", budget)),
        drawings: related_text(&mut package, &relations, budget),
        chunks: read_chunks(&mut package, &relations, depth, budget),
    };
    let mut reader = WordReader {
        sources,
        ..WordReader::default()
    };
    let text = reader.read_part(&body, true);
    let margins = std::mem::take(&mut reader.findings.margins);
    let mut read_margins = |kind: &str, reader: &mut WordReader, budget: &mut Budget| {
        let mut text = String::new();
        for relation in relations
            .iter()
            .filter(|relation| relation.kind == kind && margins.contains(&relation.id))
        {
            let part = package.read(&relation.part, budget).unwrap_or_default();
            text.push_str(&reader.read_part(&part, false));
        }
        text
    };
    let header = read_margins("header", &mut reader, budget);
    let footer = read_margins("footer", &mut reader, budget);
    let mut whole = header + &text;
    for kind in ["footnotes", "endnotes"] {
        let notes = package.read_related(&relations, kind, budget);
        whole.push_str(&reader.read_part(&notes, false));
    }
    whole.push_str(&footer);
    let mut draft = Draft {
        headings: reader.findings.headings,
        sections: reader.findings.sections,
        has_pictures: reader.findings.has_pictures,
        ..Draft::default()
    };
    package.read_properties(&mut draft, budget);
    draft.push(Place::Whole, whole);
    Ok(draft)
}

/// Reads the XML of Word 2003.
pub(crate) fn read_xml(xml: &[u8]) -> Draft {
    let mut reader = WordReader::default();
    reader.sources.styles = read_styles(xml);
    let text = reader.read_part(xml, true);
    let mut draft = Draft {
        headings: reader.findings.headings,
        sections: reader.findings.sections,
        has_pictures: reader.findings.has_pictures,
        ..Draft::default()
    };
    draft.push(Place::Whole, text);
    draft
}

/// Returns the text of documents of other kinds that stand in this one, by relation: programs put whole pages there.
fn read_chunks(
    package: &mut OfficePackage<'_>,
    relations: &[Relation],
    depth: usize,
    budget: &mut Budget,
) -> HashMap<String, String> {
    let mut chunks = HashMap::new();
    for relation in relations
        .iter()
        .filter(|relation| relation.kind == "aFChunk" && depth < MAX_DEPTH)
    {
        let Ok(part) = package.read(&relation.part, budget) else {
            continue;
        };
        let Some(left) = budget.members.checked_sub(1) else {
            break;
        };
        budget.members = left;
        if let Ok(read) = budget.read(&part, &relation.part, depth + 1) {
            chunks.insert(relation.id.clone(), read.text() + "\n");
        }
    }
    chunks
}

/// What of a style matters for the text.
#[derive(Debug, Clone, Default)]
struct Style {
    based_on: Option<String>,
    /// Level of a heading; 0 for what is none.
    heading: Option<u8>,
    is_centred: Option<bool>,
    is_hidden: Option<bool>,
    list: Option<String>,
    level: Option<usize>,
}

type Styles = HashMap<String, Style>;

fn read_styles(xml: &[u8]) -> Styles {
    let mut styles = Styles::new();
    let mut open: Option<(String, Style)> = None;
    walk(xml, |node| match node {
        Node::Start("style", tag) => open = tag.get("styleId").map(|id| (id, Style::default())),
        Node::End("style") => styles.extend(open.take()),
        Node::Start(name, tag) => {
            let Some((_, style)) = &mut open else { return };
            let value = tag.get("val");
            match name {
                "basedOn" => style.based_on = value,
                "name" => {
                    let name = value.unwrap_or_default().to_lowercase();
                    let mut starts = ["heading", "title", "标题"].iter();
                    let rest = starts.find_map(|start| name.strip_prefix(start));
                    style.heading = rest.map(|rest| rest.trim().parse().unwrap_or(1));
                }
                "outlineLvl" => style.heading = Some(outline_level(value.as_deref())),
                "jc" => style.is_centred = Some(value.as_deref() == Some("center")),
                "vanish" => style.is_hidden = Some(is_on(&tag)),
                "numId" | "ilfo" => style.list = value,
                "ilvl" => style.level = value.and_then(|level| level.parse().ok()),
                _ => {}
            }
        }
        _ => {}
    });
    styles
        .keys()
        .map(|id| (id.clone(), resolve_style(&styles, id)))
        .collect()
}

/// Level of a heading by the level of its outline, which counts from 0; 9 is for what is in none.
fn outline_level(value: Option<&str>) -> u8 {
    match value {
        Some("9") => 0,
        Some(level) => level.parse().map_or(1, |level: u8| level.saturating_add(1)),
        None => 1,
    }
}

/// Returns a style with what it takes from those that it is based on.
fn resolve_style(styles: &Styles, id: &str) -> Style {
    let mut resolved = Style::default();
    let mut next = Some(id);
    for _ in 0..MAX_STYLE_DEPTH {
        let Some(style) = next.and_then(|id| styles.get(id)) else {
            break;
        };
        resolved.heading = resolved.heading.or(style.heading);
        resolved.is_centred = resolved.is_centred.or(style.is_centred);
        resolved.is_hidden = resolved.is_hidden.or(style.is_hidden);
        resolved.list = resolved.list.or_else(|| style.list.clone());
        resolved.level = resolved.level.or(style.level);
        next = style.based_on.as_deref();
    }
    resolved
}

/// Whether a property that is on or off is on: without a value it is.
fn is_on(tag: &Attributes<'_>) -> bool {
    !matches!(tag.get("val").as_deref(), Some("0" | "false" | "off"))
}

/// Parts of a document that tell how its text is shown.
#[derive(Default)]
struct Sources {
    styles: Styles,
    numbering: Numbering,
    /// Text of SmartArt and charts, by relation.
    drawings: HashMap<String, String>,
    chunks: HashMap<String, String>,
}

/// What is found beside the text.
#[derive(Default)]
struct Findings {
    /// The text is read that may have headings.
    is_body: bool,
    /// Paragraphs and rows with text so far.
    blocks: usize,
    headings: Vec<String>,
    sections: Vec<Heading>,
    /// Relations of headers and footers that are used.
    margins: Vec<String>,
    has_pictures: bool,
}

#[derive(Default)]
struct WordReader {
    sources: Sources,
    findings: Findings,
    alternatives: Alternatives,
    /// Where text goes: the part itself, then cells and text boxes that are open.
    stories: Vec<String>,
    paragraphs: Vec<Paragraph>,
    rows: Vec<Row>,
    /// Fields that are open; whether each still tells what it is made from.
    fields: Vec<bool>,
    /// Elements open inside of one that is not shown, it included.
    skipped: u32,
    /// Properties that are open: `pPr`, `rPr`, `trPr`, `tcPr`.
    properties: Vec<&'static str>,
    run: Run,
    /// Bytes of text so far, to tell whether something was written.
    written: usize,
    /// Text of a paragraph that goes on in the next.
    carried: String,
}

#[derive(Default)]
struct Run {
    style: Option<String>,
    is_hidden: Option<bool>,
    /// A text is open.
    is_text: bool,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    /// Text boxes and drawings that hang on it.
    below: String,
    style: Option<String>,
    list: Option<String>,
    level: Option<usize>,
    /// Its number, where the file has it.
    number: Option<String>,
    is_centred: Option<bool>,
    /// Level of a heading; 0 for what is none.
    heading: u8,
    /// Its end is deleted or hidden: the next paragraph goes on in its line.
    is_joined: bool,
    /// Text was left out since it is hidden.
    has_hidden: bool,
}

#[derive(Default)]
struct Row {
    cells: Vec<String>,
    span: usize,
    is_covered: bool,
    is_hidden: bool,
    /// Tables in its cells.
    below: String,
}

impl WordReader {
    fn read_part(&mut self, xml: &[u8], is_body: bool) -> String {
        self.findings.is_body = is_body;
        self.stories = vec![String::new()];
        walk(xml, |node| self.read(&node));
        // What a damaged file leaves open.
        while let Some(paragraph) = self.paragraphs.pop() {
            self.close_paragraph(paragraph);
        }
        let carried = std::mem::take(&mut self.carried);
        let mut text = std::mem::take(&mut self.stories).concat();
        text.push_str(&carried);
        for row in self.rows.drain(..) {
            text.push_str(&row.cells.join("\t"));
        }
        self.skipped = 0;
        self.properties.clear();
        self.fields.clear();
        self.alternatives = Alternatives::default();
        text
    }

    fn read(&mut self, node: &Node<'_>) {
        if self.skipped > 0 {
            match node {
                Node::Start(..) => self.skipped += 1,
                Node::End(_) => self.skipped -= 1,
                Node::Text(_) => {}
            }
            return;
        }
        if self.alternatives.is_skipped(node, self.written) {
            return;
        }
        match node {
            Node::Start("pPr", _) => self.properties.push("pPr"),
            Node::Start("rPr", _) => self.properties.push("rPr"),
            Node::Start("trPr", _) => self.properties.push("trPr"),
            Node::Start("tcPr", _) => self.properties.push("tcPr"),
            Node::End("pPr" | "rPr" | "trPr" | "tcPr") => {
                self.properties.pop();
            }
            Node::Start(name, tag) if !self.properties.is_empty() => self.read_property(name, tag),
            Node::Start(name, _) if HIDDEN.contains(name) => self.skipped = 1,
            Node::Start(name, tag) => self.open(name, tag),
            Node::Text(text) if self.run.is_text => self.push(text),
            Node::End(name) => self.close(name),
            Node::Text(_) => {}
        }
    }

    fn read_property(&mut self, name: &str, tag: &Attributes<'_>) {
        let is_of_change = HIDDEN.contains(&name) && !matches!(name, "del" | "moveFrom");
        if is_of_change {
            self.skipped = 1;
            return;
        }
        let value = tag.get("val");
        if name == "headerReference" || name == "footerReference" {
            self.findings.margins.extend(tag.get("id"));
        }
        let is_mark = self.properties.len() > 1;
        match self.properties.last().copied() {
            Some("rPr") if is_mark => {
                if matches!(name, "del" | "moveFrom")
                    || (matches!(name, "vanish" | "specVanish") && is_on(tag))
                {
                    self.with_paragraph(|paragraph| paragraph.is_joined = true);
                }
            }
            Some("rPr") => match name {
                "rStyle" => self.run.style = value,
                "vanish" => self.run.is_hidden = Some(is_on(tag)),
                _ => {}
            },
            Some("pPr") => self.with_paragraph(|paragraph| match name {
                "pStyle" => paragraph.style = value,
                "numId" | "ilfo" => paragraph.list = value,
                "ilvl" => paragraph.level = value.and_then(|level| level.parse().ok()),
                "outlineLvl" => paragraph.heading = outline_level(value.as_deref()),
                "jc" => paragraph.is_centred = Some(value.as_deref() == Some("center")),
                // Word 2003 writes the number itself.
                "t" => paragraph.number = value,
                _ => {}
            }),
            Some("trPr") => {
                if let Some(row) = self.rows.last_mut() {
                    row.is_hidden |= name == "del" || (name == "hidden" && is_on(tag));
                    let skipped = if name == "gridBefore" {
                        value.and_then(|count| count.parse().ok())
                    } else {
                        None
                    };
                    row.cells.extend(std::iter::repeat_n(
                        String::new(),
                        skipped.unwrap_or(0).min(MAX_SPAN),
                    ));
                }
            }
            _ => {
                if let Some(row) = self.rows.last_mut() {
                    match name {
                        "gridSpan" => {
                            row.span = value.and_then(|span| span.parse().ok()).unwrap_or(1)
                        }
                        "vMerge" | "vmerge" | "hMerge" | "hmerge" => {
                            row.is_covered |= value.as_deref() != Some("restart")
                        }
                        "cellDel" => row.is_covered = true,
                        _ => {}
                    }
                }
            }
        }
    }

    fn with_paragraph(&mut self, change: impl FnOnce(&mut Paragraph)) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            change(paragraph);
        }
    }

    fn open(&mut self, name: &str, tag: &Attributes<'_>) {
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "r" => self.run = Run::default(),
            "t" => self.run.is_text = true,
            "tab" | "ptab" => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "txbxContent" | "tc" => self.stories.push(String::new()),
            "tr" => self.rows.push(Row {
                span: 1,
                ..Row::default()
            }),
            "fldChar" => match tag.get("fldCharType").as_deref() {
                Some("begin") => self.fields.push(true),
                Some("separate") => {
                    if let Some(is_code) = self.fields.last_mut() {
                        *is_code = false;
                    }
                }
                _ => {
                    self.fields.pop();
                }
            },
            "headerReference" | "footerReference" => self.findings.margins.extend(tag.get("id")),
            "blip" | "imagedata" => self.findings.has_pictures = true,
            "altChunk" => {
                let chunk = tag
                    .get("id")
                    .and_then(|id| self.sources.chunks.remove(&id))
                    .unwrap_or_default();
                self.written += chunk.len();
                self.push_block(&chunk);
            }
            // SmartArt names its text `dm`, a chart `id`.
            "relIds" | "chart" => {
                let id = tag.get("dm").or_else(|| tag.get("id")).unwrap_or_default();
                let text = self.sources.drawings.get(&id).cloned().unwrap_or_default();
                self.written += text.len();
                match self.paragraphs.last_mut() {
                    Some(paragraph) => paragraph.below.push_str(&text),
                    None => self.push_block(&text),
                }
            }
            // Lines between notes and text.
            "footnote" | "endnote" if tag.get("type").is_some_and(|kind| kind != "normal") => {
                self.skipped = 1
            }
            _ => {}
        }
    }

    /// Adds text to the open paragraph, unless it is hidden or tells what a field is made from.
    fn push(&mut self, text: &str) {
        if self.fields.contains(&true) {
            return;
        }
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        let styles = &self.sources.styles;
        let is_hidden = |id: &Option<String>| id.as_ref().and_then(|id| styles.get(id)?.is_hidden);
        let is_hidden = self
            .run
            .is_hidden
            .or_else(|| is_hidden(&self.run.style))
            .or_else(|| is_hidden(&paragraph.style));
        if is_hidden == Some(true) {
            paragraph.has_hidden = true;
        } else {
            paragraph.text.push_str(text);
            self.written += text.len();
        }
    }

    /// Adds lines to what is open.
    fn push_block(&mut self, lines: &str) {
        if let Some(story) = self.stories.last_mut() {
            story.push_str(lines);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.close_paragraph(paragraph);
                }
            }
            "t" => self.run.is_text = false,
            "r" => self.run = Run::default(),
            "txbxContent" if self.stories.len() > 1 => {
                let text = self.stories.pop().unwrap_or_default();
                match self.paragraphs.last_mut() {
                    Some(paragraph) => paragraph.below.push_str(&text),
                    None => self.push_block(&text),
                }
            }
            "tc" if self.stories.len() > 1 => {
                let text = self.stories.pop().unwrap_or_default();
                if let Some(row) = self.rows.last_mut() {
                    let is_covered = std::mem::take(&mut row.is_covered);
                    let span = std::mem::replace(&mut row.span, 1).clamp(1, MAX_SPAN);
                    row.cells.push(if is_covered {
                        String::new()
                    } else {
                        text.trim().replace(['\n', '\t'], " ")
                    });
                    row.cells
                        .extend(std::iter::repeat_n(String::new(), span - 1));
                }
            }
            "tr" => self.close_row(),
            _ => {}
        }
    }

    fn close_row(&mut self) {
        let Some(row) = self.rows.pop() else { return };
        self.findings.blocks += 1;
        if row.is_hidden {
            return;
        }
        let mut text = row.cells.join("\t");
        text.truncate(text.trim_end().len());
        text.push('\n');
        text.push_str(&row.below);
        // A table in a cell comes below the row of that cell.
        match self.rows.last_mut() {
            Some(outer) => outer.below.push_str(&text),
            None => self.push_block(&text),
        }
    }

    fn close_paragraph(&mut self, paragraph: Paragraph) {
        // A field that is never told to show anything must not hide the rest.
        self.fields.fill(false);
        let style = paragraph
            .style
            .as_ref()
            .and_then(|style| self.sources.styles.get(style))
            .cloned()
            .unwrap_or_default();
        let is_gone = paragraph.text.is_empty() && (paragraph.is_joined || paragraph.has_hidden);
        let number = if is_gone {
            String::new()
        } else {
            self.take_number(&paragraph, &style)
        };
        let mut text = std::mem::take(&mut self.carried);
        text.push_str(&number);
        // Programs indent by blanks and tabs.
        text.push_str(if text.is_empty() {
            paragraph.text.trim_start()
        } else {
            &paragraph.text
        });
        let is_in_table = !self.rows.is_empty() || self.stories.len() > 1;
        if !text.trim().is_empty() && self.findings.is_body && !is_in_table {
            self.findings.blocks += 1;
            let is_centred = paragraph.is_centred.or(style.is_centred) == Some(true);
            let level = match paragraph.heading {
                0 => style.heading.unwrap_or(0),
                level => level,
            };
            if level > 0 {
                heading::push_heading(level, &text, &mut self.findings.sections);
            }
            let is_marked = level > 0 || is_centred;
            heading::push_if_title(
                &text,
                is_marked,
                self.findings.blocks,
                &mut self.findings.headings,
            );
        }
        if paragraph.is_joined && paragraph.below.is_empty() {
            self.carried = text;
            return;
        }
        text.push('\n');
        text.push_str(&paragraph.below);
        self.push_block(&text);
    }

    fn take_number(&mut self, paragraph: &Paragraph, style: &Style) -> String {
        if let Some(number) = &paragraph.number {
            return format!("{number} ");
        }
        let Some(list) = paragraph
            .list
            .as_ref()
            .or(style.list.as_ref())
            .filter(|list| *list != "0")
        else {
            return String::new();
        };
        let of_style = || {
            paragraph
                .style
                .as_ref()
                .and_then(|style| self.sources.numbering.level_of_style(list, style))
        };
        let level = match (paragraph.level, &paragraph.list) {
            (Some(level), _) => level,
            (None, None) => of_style().or(style.level).unwrap_or(0),
            (None, Some(_)) => style.level.or_else(of_style).unwrap_or(0),
        };
        self.sources
            .numbering
            .advance(list, level)
            .unwrap_or_default()
    }
}
