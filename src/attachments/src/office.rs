//! Word, Excel and PowerPoint: finds the reader of a file, and reads the binary files of before 2007.

use taojin_extract::page::decode_text;
use undoc::model::{RevisionType, TextAlignment};
use undoc::{Block, Document, Error, FormatType, Paragraph, Section, Table};

use crate::draft::Draft;
use crate::metadata::parse_time;
use crate::opc::{OfficePackage, pack_flat, root_element};
use crate::package::Package;
use crate::{Budget, FileType, Heading, Place, Unreadable, biff, heading, sheets, slides, word};

/// Tables in cells of tables.
const MAX_TABLE_DEPTH: usize = 8;
/// Columns that one cell spans, as far as they are kept.
const MAX_SPAN: usize = 63;
/// First byte of a compound file.
const COMPOUND: u8 = 0xd0;

/// Reads a file of any of the six kinds, whichever form it has: compound file, package, or one XML file.
pub(crate) fn read(
    bytes: &[u8],
    file_type: FileType,
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    if bytes.first() == Some(&COMPOUND) {
        return read_binary(bytes, file_type);
    }
    let packed;
    let mut archive = bytes;
    if !bytes.starts_with(b"PK") {
        match &*root_element(bytes) {
            "Workbook" => return Ok(sheets::read_xml(bytes)),
            "wordDocument" => return Ok(word::read_xml(bytes)),
            _ => {}
        }
        packed = pack_flat(&decode_text(bytes, None)).ok_or(Unreadable::Damaged)?;
        archive = &packed;
    }
    let package =
        OfficePackage::open(Package::open(archive)?, budget).ok_or(Unreadable::Damaged)?;
    match file_type {
        FileType::Xlsx => sheets::read(package, budget),
        FileType::Pptx => slides::read(package, budget),
        _ => word::read(package, depth, budget),
    }
}

/// Reads a compound file.
fn read_binary(bytes: &[u8], file_type: FileType) -> Result<Draft, Unreadable> {
    let shown = (file_type == FileType::Xls)
        .then(|| biff::show_values(bytes))
        .flatten();
    let document =
        undoc::parse_bytes(shown.as_deref().unwrap_or(bytes)).map_err(|error| match error {
            Error::Encrypted => Unreadable::Password,
            Error::UnsupportedFormat(_) | Error::UnknownFormat => {
                Unreadable::NotRead("of an unknown version".to_owned())
            }
            _ => Unreadable::Damaged,
        })?;
    let metadata = &document.metadata;
    let time = |time: &Option<String>| time.as_deref().and_then(parse_time);
    let is_text = document.format == FormatType::Doc;
    let sections = u32::try_from(document.sections.len()).ok();
    let mut draft = Draft {
        declared_title: metadata.title.clone(),
        headings: find_headings(&document),
        sections: find_sections(&document),
        authors: metadata.author.clone().into_iter().collect(),
        created: time(&metadata.created),
        modified: time(&metadata.modified),
        pages: if is_text {
            metadata.page_count.filter(|pages| *pages > 0)
        } else {
            sections
        },
        has_pictures: !document.resources.is_empty(),
        ..Draft::default()
    };
    let mut whole = String::new();
    for (number, section) in (1..).zip(&document.sections) {
        match document.format {
            FormatType::Xls => {
                let name = section.name.clone().unwrap_or_else(|| number.to_string());
                draft.push(Place::Sheet(name), section_text(section, false));
            }
            FormatType::Ppt => draft.push(Place::Slide(number), section_text(section, true)),
            _ => whole.push_str(&section_text(section, number == 1)),
        }
    }
    if !whole.is_empty() {
        draft.push(Place::Whole, whole);
    }
    Ok(draft)
}

/// `with_margins`: also what stands above, below and beside: header, footer, notes.
fn section_text(section: &Section, with_margins: bool) -> String {
    let mut text = String::new();
    let margin = |paragraphs: &Option<Vec<Paragraph>>, text: &mut String| {
        if with_margins {
            push_paragraphs(paragraphs.as_deref().unwrap_or_default(), text);
        }
    };
    margin(&section.header, &mut text);
    for block in &section.content {
        match block {
            Block::Paragraph(paragraph) => {
                let mut line = String::new();
                push_paragraphs(std::slice::from_ref(paragraph), &mut line);
                // A tab at the beginning indents it; in a table it stands for an empty cell.
                text.push_str(line.trim_start_matches(['\t', ' ']));
            }
            Block::Table(table) => push_table(table, 0, &mut text),
            Block::Note { content, .. } => push_paragraphs(content, &mut text),
            Block::PageBreak | Block::SectionBreak | Block::Image { .. } => {}
        }
    }
    margin(&section.notes, &mut text);
    margin(&section.footer, &mut text);
    text
}

fn push_paragraphs(paragraphs: &[Paragraph], text: &mut String) {
    for paragraph in paragraphs {
        for run in paragraph
            .runs
            .iter()
            .filter(|run| run.revision != RevisionType::Deleted)
        {
            text.push_str(&run.text);
            if run.line_break {
                text.push('\n');
            }
        }
        text.push('\n');
    }
}

/// Adds the rows of a table. A cell of several rows or columns stands where it begins; the places that it covers are empty.
fn push_table(table: &Table, depth: usize, text: &mut String) {
    for (row, columns) in table.rows.iter().zip(table.cell_columns()) {
        let mut nested = String::new();
        let mut at = 0;
        let start = text.len();
        for (cell, column) in row.cells.iter().zip(columns) {
            let mut content = String::new();
            push_paragraphs(&cell.content, &mut content);
            let column = column.min(at + MAX_SPAN);
            text.extend(std::iter::repeat_n('\t', column - at.min(column)));
            at = column;
            text.push_str(&content.trim().replace(['\n', '\t'], " "));
            if depth < MAX_TABLE_DEPTH {
                cell.nested_tables
                    .iter()
                    .for_each(|table| push_table(table, depth + 1, &mut nested));
            }
        }
        text.truncate(text.trim_end_matches('\t').len().max(start));
        text.push('\n');
        text.push_str(&nested);
    }
}

/// The paragraphs that their style makes headings.
fn find_sections(document: &Document) -> Vec<Heading> {
    let mut headings = Vec::new();
    let blocks = document
        .sections
        .iter()
        .flat_map(|section| &section.content);
    for block in blocks {
        if let Block::Paragraph(paragraph) = block
            && paragraph.heading.is_heading()
            && !paragraph.is_empty()
        {
            let level = paragraph.heading.level();
            heading::push_heading(level, &paragraph.plain_text(), &mut headings);
        }
    }
    headings
}

/// Returns what is shown as the title: headings, centred lines and a short line without a mark at the beginning, a first row of one
/// cell, titles of the first slide.
fn find_headings(document: &Document) -> Vec<String> {
    let mut headings = Vec::new();
    let blocks = document
        .sections
        .first()
        .map_or(&[][..], |section| &section.content);
    let mut number = 0;
    for block in blocks.iter().take(heading::TITLE_BLOCKS) {
        match block {
            Block::Paragraph(paragraph) if !paragraph.is_empty() => {
                number += 1;
                let is_marked =
                    paragraph.heading.is_heading() || paragraph.alignment == TextAlignment::Center;
                heading::push_if_title(&paragraph.plain_text(), is_marked, number, &mut headings);
            }
            Block::Table(table) if document.format == FormatType::Xls => {
                let cells = table.rows.first().map_or(&[][..], |row| &row.cells);
                let filled: Vec<_> = cells.iter().filter(|cell| !cell.is_empty()).collect();
                if let [only] = *filled
                    && table.rows.len() > 1
                {
                    headings.push(only.plain_text());
                }
            }
            _ => {}
        }
    }
    headings
}
