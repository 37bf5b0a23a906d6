//! PDF, and the layout that OFD shares: positioned runs of text become lines, columns and tables.

use std::collections::BTreeMap;

use pdfboss_core::{Document, Error, FileSpec, ObjRef, Object};
use pdfboss_output::{Block, FontCache, Line, PageLayout, ReadingOrder, TextSpan};
use pdfboss_text::{extract_spans_reporting_cached, placed_images_reporting_cached};

use crate::draft::Draft;
use crate::mail::push_member;
use crate::metadata::sane_time;
use crate::{Budget, MAX_TEXT_BYTES, Place, Unreadable};

/// Pages that are read: the thickest reports have some thousand.
const MAX_PAGES: usize = 5000;
/// Pages whose pictures are looked for if there is no text.
const PICTURE_PAGES: usize = 5;
/// Pages that may show the title: a cover may have none.
const TITLE_PAGES: usize = 2;
/// Pages whose lines tell the size of the text.
const SAMPLE_PAGES: usize = 4;
/// A heading is so much larger than the text.
const HEADING_SCALE: f32 = 1.1;
/// Lines of one heading differ in size by less.
const SAME_SIZE: f32 = 0.05;
/// Lines of one heading.
const MAX_TITLE_LINES: usize = 4;
/// A line that ends so near to the right edge of its paragraph, in font sizes, was broken by it.
const FULL_LINE_MARGIN: f32 = 2.0;

/// So many words in a row tell that their characters are set apart; fewer may be columns.
const MIN_SPACED_WORDS: usize = 4;

/// Reads a PDF, and the files in it as members. It may be encrypted if it opens without a password.
pub(crate) fn read(bytes: &[u8], depth: usize, budget: &mut Budget) -> Result<Draft, Unreadable> {
    let document = Document::load(bytes.to_vec()).map_err(|error| match error {
        Error::Encrypted => Unreadable::Password,
        _ => Unreadable::Damaged,
    })?;
    let metadata = document.metadata();
    let pages = document.flattened_page_count();
    let mut draft = Draft {
        declared_title: metadata.title.clone(),
        authors: metadata.author.clone().into_iter().collect(),
        created: metadata.creation_date_parsed().and_then(unix_time),
        modified: metadata.mod_date_parsed().and_then(unix_time),
        pages: u32::try_from(pages).ok(),
        is_cut: pages > MAX_PAGES,
        ..Draft::default()
    };
    let fonts = FontCache::default();
    let mut taker = PageTaker::default();
    let mut text_bytes = 0;
    for index in 0..pages.min(MAX_PAGES) {
        let Ok(page) = document.page(index) else {
            continue;
        };
        let order = ReadingOrder::Content;
        let Ok((mut spans, _)) = extract_spans_reporting_cached(&document, &page, &fonts, order)
        else {
            continue;
        };
        pdfboss_output::retain_spans_on_page(&mut spans, &page);
        text_bytes += taker.push(&spans, index, &mut draft);
        if text_bytes > MAX_TEXT_BYTES {
            break;
        }
    }
    draft.headings = taker.find_headings();
    push_form(&document, &mut draft);
    push_files(&document, pages, depth, &mut draft, budget);
    let has_text = draft.parts.iter().any(|part| !part.text.trim().is_empty());
    for index in 0..pages.min(PICTURE_PAGES) {
        if has_text || draft.has_pictures {
            break;
        }
        let images = document
            .page(index)
            .and_then(|page| placed_images_reporting_cached(&document, &page, &fonts));
        draft.has_pictures = images.is_ok_and(|(images, _)| !images.is_empty());
    }
    if pages == 0 {
        Err(Unreadable::Damaged)
    } else {
        Ok(draft)
    }
}

fn unix_time(date: pdfboss_core::Date) -> Option<i64> {
    let day =
        chrono::NaiveDate::from_ymd_opt(date.year.into(), date.month.into(), date.day.into())?;
    let time = day.and_hms_opt(date.hour.into(), date.minute.into(), date.second.into())?;
    sane_time(time.and_utc().timestamp() - i64::from(date.utc_offset_minutes) * 60)
}

/// Adds the files that the document has with it, and those that are pinned to a page.
fn push_files(
    document: &Document,
    pages: usize,
    depth: usize,
    draft: &mut Draft,
    budget: &mut Budget,
) {
    let mut files: Vec<FileSpec> = Vec::new();
    files.extend(document.embedded_files().into_iter().map(|file| file.spec));
    for index in 0..pages.min(MAX_PAGES) {
        if let Ok(page) = document.page(index) {
            let pinned = document.annotations(&page).into_iter();
            files.extend(pinned.filter_map(|annotation| annotation.file));
        }
    }
    let mut taken: Vec<ObjRef> = Vec::new();
    for file in files {
        let Some(embedded) = file.embedded.filter(|embedded| !taken.contains(embedded)) else {
            continue;
        };
        if budget.members == 0 {
            draft.is_cut = true;
            break;
        }
        taken.push(embedded);
        if let Ok(content) = document.file_spec_data(&file)
            && budget.take_unpacked(content.len()).is_ok()
        {
            push_member(draft, file.name(), &content, depth, budget);
        }
    }
}

/// Adds what was filled into the fields of a form, which is drawn apart from the pages.
fn push_form(document: &Document, draft: &mut Draft) {
    let mut lines = Vec::new();
    for field in document.form_fields() {
        if let Some(Object::String(_)) = &field.value
            && let Some(value) = field.value.as_ref().and_then(Object::as_str_bytes)
        {
            lines.push(text_string(value));
        }
    }
    lines.retain(|line| {
        !draft
            .parts
            .iter()
            .any(|part| part.text.contains(line.trim()))
    });
    if !lines.is_empty() {
        draft.push(Place::Whole, lines.join("\n"));
    }
}

/// Decodes a text string of a PDF: UTF-16 with a mark, else nearly Latin-1.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0xef, 0xbb, 0xbf, ..] => {
            taojin_extract::page::decode_text(bytes, None)
        }
        bytes => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Takes pages into a draft: their text, and their largest lines as what may be the title.
#[derive(Default)]
pub(crate) struct PageTaker {
    /// Lines of the first pages: page, size, text.
    lines: Vec<(usize, f32, String)>,
}

impl PageTaker {
    /// Adds a page, `index` from 0; returns how much text it has.
    pub(crate) fn push(&mut self, spans: &[TextSpan], index: usize, draft: &mut Draft) -> usize {
        let layout = pdfboss_output::page_layout(spans, ReadingOrder::Content);
        if index < SAMPLE_PAGES {
            // Stamps run up the margin.
            let turned = spans.iter().filter(|span| span.rotate != 0).count();
            let is_turned = turned > spans.len() / 2;
            let upright: Vec<TextSpan> = spans
                .iter()
                .filter(|span| (span.rotate != 0) == is_turned)
                .cloned()
                .collect();
            let layout = pdfboss_output::page_layout(&upright, ReadingOrder::Content);
            let lines = layout.blocks.iter().flat_map(|block| match block {
                Block::Heading { lines, .. } | Block::Paragraph { lines, .. } => &lines[..],
                Block::List { .. } | Block::Table { .. } => &[],
            });
            self.lines
                .extend(lines.map(|line| (index, line.size, line_text(line))));
        }
        let text = page_text(&layout);
        let bytes = text.len();
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        draft.push(Place::Page(number), text);
        bytes
    }

    /// Returns the lines of the first pages that are larger than the text, by page and size. Neighbours of one size are one.
    pub(crate) fn find_headings(self) -> Vec<String> {
        let mut weights: BTreeMap<i32, usize> = BTreeMap::new();
        for (_, size, text) in &self.lines {
            *weights.entry((size * 2.0) as i32).or_default() += text.chars().count();
        }
        let body = weights
            .iter()
            .max_by_key(|(_, weight)| **weight)
            .map_or(0, |(size, _)| *size) as f32
            / 2.0;
        let mut headings: Vec<(usize, f32, Vec<String>)> = Vec::new();
        let is_date = |c: char| {
            c.is_ascii_digit() || c.is_whitespace() || "年月日./-〇一二三四五六七八九十".contains(c)
        };
        for (page, size, text) in self
            .lines
            .into_iter()
            .filter(|(_, _, text)| !text.chars().all(is_date))
        {
            let is_next = |(of, to, lines): &&mut (usize, f32, Vec<String>)| {
                *of == page
                    && (*to - size).abs() < size * SAME_SIZE
                    && lines.len() < MAX_TITLE_LINES
            };
            match headings.last_mut().filter(is_next) {
                Some((_, _, lines)) => lines.push(text),
                None => headings.push((page, size, vec![text])),
            }
        }
        headings.retain(|(page, size, _)| *page < TITLE_PAGES && *size > body * HEADING_SCALE);
        headings.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        headings
            .into_iter()
            .map(|(_, _, lines)| join(lines.iter().map(|line| (&**line, true))))
            .collect()
    }
}

fn page_text(layout: &PageLayout) -> String {
    let mut texts = Vec::new();
    for block in &layout.blocks {
        match block {
            Block::Heading { lines, .. } => texts.push(join_lines(lines, true)),
            Block::Paragraph { lines, .. } => texts.push(join_lines(lines, false)),
            Block::List { items, .. } => {
                texts.extend(items.iter().map(|item| join_lines(&item.lines, false)))
            }
            Block::Table { rows, .. } => {
                for row in rows {
                    let cells = row
                        .iter()
                        .map(|cell| cell.line.as_ref().map(line_text).unwrap_or_default());
                    texts.push(cells.collect::<Vec<_>>().join("\t").trim().to_owned());
                }
            }
        }
    }
    texts.join("\n")
}

fn line_text(line: &Line) -> String {
    let text: String = line.inlines.iter().map(|inline| &*inline.text).collect();
    close_spaced(&text)
}

/// Takes out the blanks of a line whose Han characters are set apart, as those of justified lines and of titles are: 目 录. Words that
/// stand apart, and the columns of a table, keep theirs.
fn close_spaced(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_han = |word: &&str| {
        let mut chars = word.chars();
        chars.clone().next().is_some_and(is_wide) && chars.next_back().is_some_and(is_wide)
    };
    let mut closed = String::with_capacity(text.len());
    for run in words.chunk_by(|a, b| is_han(a) && is_han(b)) {
        let is_single = |word: &&&str| word.chars().filter(|c| c.is_alphanumeric()).count() <= 1;
        let singles = run.iter().filter(is_single).count();
        // Two cells of a table that say the same are no word.
        let is_repeated = run.iter().all(|word| word == &run[0]);
        let is_alone = words.len() == run.len() && singles == run.len() && !is_repeated;
        let is_spaced = is_alone || (run.len() >= MIN_SPACED_WORDS && singles * 2 > run.len());
        if !closed.is_empty() || run.as_ptr() != words.as_ptr() {
            closed.push(' ');
        }
        closed.push_str(&run.join(if is_spaced { "" } else { " " }));
    }
    closed
}

fn is_wide(c: char) -> bool {
    ('\u{2e80}'..='\u{ffef}').contains(&c)
}

/// Joins lines that the edge of the page broke, or all.
fn join_lines(lines: &[Line], all: bool) -> String {
    let edge = lines.iter().map(|line| line.end_x).fold(f32::MIN, f32::max);
    let texts: Vec<String> = lines.iter().map(line_text).collect();
    let is_full = |line: &Line| all || line.end_x > edge - FULL_LINE_MARGIN * line.size;
    join(
        texts
            .iter()
            .zip(lines)
            .map(|(text, line)| (&**text, is_full(line))),
    )
}

/// Joins lines, of which some go on in the next. Han characters meet without a blank.
fn join<'a>(lines: impl Iterator<Item = (&'a str, bool)>) -> String {
    let is_wide = |c: Option<char>| c.is_some_and(is_wide);
    let mut text = String::new();
    let mut goes_on = false;
    for (line, is_full) in lines {
        let line = line.trim();
        if goes_on && !is_wide(text.chars().next_back()) && !is_wide(line.chars().next()) {
            text.push(' ');
        } else if !goes_on && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        goes_on = is_full;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::close_spaced;

    #[test]
    fn spaced_characters_are_closed() {
        for (line, closed) in [
            ("目 录", "目录"),
            ("水 库 的 蓄 水 位 在 六月升 高", "水库的蓄水位在六月升高"),
            (
                "2025 年 水 库 的 蓄 水 位， 上 升",
                "2025 年水库的蓄水位，上升",
            ),
            ("第一章 总则", "第一章 总则"),
            ("站名 水位 雨量 流量", "站名 水位 雨量 流量"),
            ("无 无", "无 无"),
            ("李四 男 汉 党员", "李四 男 汉 党员"),
            ("a b c d", "a b c d"),
            (" 水 位", " 水 位"),
        ] {
            assert_eq!(close_spaced(line), closed);
        }
    }
}
