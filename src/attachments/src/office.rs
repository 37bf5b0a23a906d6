//! Word, Excel and PowerPoint, old and new.

use undoc::model::{RevisionType, TextAlignment};
use undoc::{Block, Document, Error, FormatType, Paragraph, Section, Table};

use crate::draft::Draft;
use crate::metadata::parse_time;
use crate::{Place, Unreadable, package};

/// Paragraphs and tables among which the title is looked for.
const TITLE_BLOCKS: usize = 12;
/// Length of a title that nothing marks as one, in characters.
const TITLE_CHARS: std::ops::RangeInclusive<usize> = 4..=50;
/// Tables in cells of tables.
const MAX_TABLE_DEPTH: usize = 8;

/// Reads a file of any of the six kinds.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, Unreadable> {
    let repacked = package::rename_members(bytes);
    let document =
        undoc::parse_bytes(repacked.as_deref().unwrap_or(bytes)).map_err(|error| match error {
            Error::Encrypted => Unreadable::Password,
            Error::UnsupportedFormat(_) | Error::UnknownFormat => {
                Unreadable::NotRead("of an unknown version".to_owned())
            }
            _ => Unreadable::Damaged,
        })?;
    let metadata = &document.metadata;
    let time = |time: &Option<String>| time.as_deref().and_then(parse_time);
    let is_text = matches!(document.format, FormatType::Docx | FormatType::Doc);
    let sections = u32::try_from(document.sections.len()).ok();
    let mut draft = Draft {
        declared_title: metadata.title.clone(),
        headings: find_headings(&document),
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
            FormatType::Xlsx | FormatType::Xls => {
                let name = section.name.clone().unwrap_or_else(|| number.to_string());
                draft.push(Place::Sheet(name), section_text(section, false));
            }
            FormatType::Pptx | FormatType::Ppt => {
                draft.push(Place::Slide(number), section_text(section, true))
            }
            FormatType::Docx | FormatType::Doc => {
                whole.push_str(&section_text(section, number == 1))
            }
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
                push_paragraphs(std::slice::from_ref(paragraph), &mut text)
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

fn push_table(table: &Table, depth: usize, text: &mut String) {
    for row in &table.rows {
        let mut nested = String::new();
        for (i, cell) in row.cells.iter().enumerate() {
            let mut content = String::new();
            push_paragraphs(&cell.content, &mut content);
            if i > 0 {
                text.push('\t');
            }
            text.push_str(&content.trim().replace('\n', " "));
            if depth < MAX_TABLE_DEPTH {
                cell.nested_tables
                    .iter()
                    .for_each(|table| push_table(table, depth + 1, &mut nested));
            }
        }
        text.push('\n');
        text.push_str(&nested);
    }
}

/// Returns what is shown as the title: headings, centred lines and a short line without a mark at the beginning, a first row of one cell, titles of the first slide.
fn find_headings(document: &Document) -> Vec<String> {
    let mut headings = Vec::new();
    let blocks = document
        .sections
        .first()
        .map_or(&[][..], |section| &section.content);
    let mut is_first = true;
    for block in blocks.iter().take(TITLE_BLOCKS) {
        match block {
            Block::Paragraph(paragraph) if !paragraph.is_empty() => {
                let text = paragraph.plain_text();
                let is_marked =
                    paragraph.heading.is_heading() || paragraph.alignment == TextAlignment::Center;
                if is_marked || (is_first && is_title_like(&text)) {
                    headings.push(text);
                }
                is_first = false;
            }
            Block::Table(table)
                if matches!(document.format, FormatType::Xlsx | FormatType::Xls) =>
            {
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

/// Whether a first line may be a title though nothing marks it: it is short, and neither a sentence nor a labelled value.
fn is_title_like(text: &str) -> bool {
    let text = text.trim();
    TITLE_CHARS.contains(&text.chars().count())
        && !text.contains(['。', '，', '；', '：', ':', '!', '！', '\n'])
}
