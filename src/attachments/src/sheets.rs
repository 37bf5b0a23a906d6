//! Spreadsheets of Office Open XML, and the XML of Excel 2002 and 2003: cells as Excel shows them, row by row.
//!
//! Hidden sheets, rows and columns are left out. The cells of a row are divided by tabs, and an empty cell keeps its place; a cell of
//! several rows or columns stands where it begins. Columns that are empty in the whole sheet shrink to a few, so that a stray
//! cell at its far end costs nothing.

use std::collections::{BTreeSet, HashMap};

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use crate::draft::Draft;
use crate::drawing::{drawing_text, related_text};
use crate::number_format::{NumberFormat, built_in};
use crate::opc::OfficePackage;
use crate::xml::{Attributes, Node, walk};
use crate::{Budget, MAX_TEXT_BYTES, Place, Unreadable};

/// Empty columns that are kept between two others.
const MAX_EMPTY_COLUMNS: u32 = 8;
/// Columns of a sheet.
const MAX_COLUMNS: u32 = 16_384;
/// Cells that span others, of one sheet.
const MAX_MERGES: usize = 20_000;
/// Rows among which the title is looked for.
const TITLE_ROWS: usize = 3;

/// Reads a workbook.
pub(crate) fn read(
    mut package: OfficePackage<'_>,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let main = package.main_part(budget).ok_or(Unreadable::Damaged)?;
    let workbook = package.read(&main, budget)?;
    let relations = package.relations(&main, budget);
    let strings = read_strings(&package.read_related(&relations, "sharedStrings", budget));
    let mut book = Book {
        strings,
        formats: read_formats(&package.read_related(&relations, "styles", budget)),
        is_1904: false,
    };
    let mut sheets: Vec<(String, String)> = Vec::new();
    walk(&workbook, |node| match node {
        Node::Start("workbookPr", tag) => book.is_1904 = is_true(&tag, "date1904"),
        Node::Start("sheet", tag) => {
            let state = tag.get("state").unwrap_or_default();
            if !state.to_lowercase().contains("hidden") {
                // The attribute of the relation is `r:id`; `sheetId` is another.
                sheets.push((
                    unescape(&tag.get("name").unwrap_or_default()),
                    tag.get("id").unwrap_or_default(),
                ));
            }
        }
        _ => {}
    });
    let mut draft = Draft::default();
    package.read_properties(&mut draft, budget);
    draft.pages = u32::try_from(sheets.len()).ok();
    let typed = package.parts_of_type("worksheet+xml");
    for (index, (name, id)) in sheets.into_iter().enumerate() {
        let related = relations.iter().find(|relation| relation.id == id);
        if related.is_some_and(|relation| !relation.kind.ends_with("sheet")) {
            continue;
        }
        let Some(part) = related.map(|relation| &relation.part).or(typed.get(index)) else {
            continue;
        };
        let mut grid = match package.read(part, budget) {
            Ok(xml) => read_sheet(&xml, &book),
            Err(Unreadable::TooLarge) => return Err(Unreadable::TooLarge),
            Err(_) => continue,
        };
        for relation in package.relations(part, budget) {
            if relation.kind == "drawing" {
                let drawing = package.read(&relation.part, budget).unwrap_or_default();
                grid.below.push_str(&drawing_text(&drawing));
                let related = package.relations(&relation.part, budget);
                draft.has_pictures |= related.iter().any(|related| related.kind == "image");
                for (_, text) in related_text(&mut package, &related, budget) {
                    grid.below.push_str(&text);
                }
            }
        }
        grid.push_into(name, &mut draft);
    }
    Ok(draft)
}

/// What the sheets of a workbook share.
struct Book {
    strings: Vec<String>,
    /// Formats by the number of a style.
    formats: Vec<NumberFormat>,
    is_1904: bool,
}

impl Book {
    fn show(&self, value: &str, kind: &str, style: usize) -> String {
        let general = NumberFormat::default();
        let format = self.formats.get(style).unwrap_or(&general);
        match kind {
            "s" => {
                let index = value.trim().parse::<usize>().ok();
                let string = index.and_then(|index| self.strings.get(index));
                string
                    .map(|string| format.show_text(string))
                    .unwrap_or_default()
            }
            "str" | "inlineStr" => format.show_text(&unescape(value)),
            "b" => if value.trim() == "1" || value.trim() == "true" {
                "TRUE"
            } else {
                "FALSE"
            }
            .to_owned(),
            "e" => value.to_owned(),
            "d" => show_day(value, format),
            _ => match value.trim().parse::<f64>() {
                Ok(number) => format.show(number, self.is_1904),
                Err(_) => value.trim().to_owned(),
            },
        }
    }
}

/// Writes a time in ISO 8601 as the cell shows it.
fn show_day(value: &str, format: &NumberFormat) -> String {
    let value = value.trim().trim_end_matches('Z');
    let time = NaiveDateTime::parse_from_str(value, "%Y-%m-%dT%H:%M:%S%.f").ok();
    let time = time.or_else(|| Some(value.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN)));
    let first = NaiveDate::from_ymd_opt(1899, 12, 30).map(|day| day.and_time(NaiveTime::MIN));
    match (time, first) {
        (Some(time), Some(first)) if !format.is_general() => format.show(
            (time - first).num_milliseconds() as f64 / 86_400_000.0,
            false,
        ),
        _ => value.trim_end_matches("T00:00:00").to_owned(),
    }
}

/// Returns the strings that cells name by number, without how they are spoken.
fn read_strings(xml: &[u8]) -> Vec<String> {
    let mut strings = Vec::new();
    let mut string = RichText::default();
    walk(xml, |node| {
        string.read(&node);
        if let Node::End("si") = node {
            strings.push(unescape(&string.take()));
        }
    });
    strings
}

/// The text of a string with runs.
#[derive(Default)]
struct RichText {
    text: String,
    is_open: bool,
    /// In how it is spoken.
    is_phonetic: bool,
}

impl RichText {
    fn read(&mut self, node: &Node<'_>) {
        match node {
            Node::Start("rPh", _) => self.is_phonetic = true,
            Node::End("rPh") => self.is_phonetic = false,
            Node::Start("t", _) => self.is_open = !self.is_phonetic,
            Node::End("t") => self.is_open = false,
            Node::Text(text) if self.is_open => self.text.push_str(text),
            _ => {}
        }
    }

    fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

/// Returns the format of each style of cells.
fn read_formats(xml: &[u8]) -> Vec<NumberFormat> {
    let mut codes: HashMap<u16, String> = HashMap::new();
    let mut numbers: Vec<u16> = Vec::new();
    let mut is_cells = false;
    walk(xml, |node| match node {
        Node::Start("numFmt", tag) => {
            if let Some(id) = tag.get("numFmtId").and_then(|id| id.parse().ok()) {
                codes
                    .entry(id)
                    .or_insert(tag.get("formatCode").unwrap_or_default());
            }
        }
        Node::Start("cellXfs", _) => is_cells = true,
        Node::End("cellXfs") => is_cells = false,
        Node::Start("xf", tag) if is_cells => {
            numbers.push(
                tag.get("numFmtId")
                    .and_then(|id| id.parse().ok())
                    .unwrap_or_default(),
            );
        }
        _ => {}
    });
    // Workbooks of many years have thousands of styles, but few formats.
    let mut formats: HashMap<u16, NumberFormat> = HashMap::new();
    numbers
        .into_iter()
        .map(|number| {
            let code = codes.get(&number).map_or(built_in(number), |code| code);
            formats
                .entry(number)
                .or_insert_with(|| NumberFormat::new(code))
                .clone()
        })
        .collect()
}

fn read_sheet(xml: &[u8], book: &Book) -> Grid {
    let mut grid = Grid::default();
    let mut string = RichText::default();
    let (mut value, mut is_value) = (String::new(), false);
    let (mut kind, mut style) = (String::new(), 0);
    let (mut row, mut column, mut is_hidden) = (0_u32, 0, false);
    walk(xml, |node| {
        string.read(&node);
        match node {
            Node::Start("col", tag) if is_true(&tag, "hidden") || is_flat(&tag, "width") => {
                let number =
                    |name: &str| tag.get(name).and_then(|number| number.parse::<u32>().ok());
                let (first, last) = (number("min").unwrap_or(1), number("max").unwrap_or(1));
                grid.hidden.extend(first.max(1) - 1..last.min(MAX_COLUMNS));
            }
            Node::Start("row", tag) => {
                row = tag
                    .get("r")
                    .and_then(|row| row.trim().parse().ok())
                    .unwrap_or(row.saturating_add(1));
                is_hidden = is_true(&tag, "hidden") || is_flat(&tag, "ht");
                column = 0;
            }
            Node::Start("c", tag) => {
                let place = tag.get("r").and_then(|place| parse_place(&place));
                column = place.map_or(column, |(column, _)| column);
                kind = tag.get("t").unwrap_or_default();
                style = tag
                    .get("s")
                    .and_then(|style| style.parse().ok())
                    .unwrap_or(0);
                value.clear();
            }
            Node::Start("v", _) => is_value = true,
            Node::End("v") => is_value = false,
            Node::Text(text) if is_value => value.push_str(text),
            Node::End("c") => {
                let inline = string.take();
                let shown = if value.is_empty() && inline.is_empty() {
                    String::new()
                } else if value.is_empty() || kind == "inlineStr" {
                    book.show(
                        if inline.is_empty() { &value } else { &inline },
                        "inlineStr",
                        style,
                    )
                } else {
                    book.show(&value, &kind, style)
                };
                if !is_hidden {
                    grid.push(row, column, &shown);
                }
                column += 1;
            }
            Node::Start("mergeCell", tag) => {
                let range = tag.get("ref").unwrap_or_default();
                let (first, last) = range.split_once(':').unwrap_or((&range, &range));
                if let (Some(first), Some(last)) = (parse_place(first), parse_place(last)) {
                    grid.merge(first, last);
                }
            }
            _ => {}
        }
    });
    grid
}

/// Reads the XML of Excel 2002 and 2003 ("SpreadsheetML").
pub(crate) fn read_xml(xml: &[u8]) -> Draft {
    let mut draft = Draft::default();
    let mut formats: HashMap<String, NumberFormat> = HashMap::new();
    let (mut style, mut row_style, mut column_style) =
        (String::new(), String::new(), HashMap::new());
    let (mut name, mut grid, mut is_hidden_sheet) = (String::new(), Grid::default(), false);
    let (mut row, mut column, mut next, mut is_hidden, mut column_definition) =
        (0_u32, 0_u32, 0_u32, false, 0_u32);
    let (mut value, mut kind, mut is_value, mut is_comment) =
        (String::new(), String::new(), false, false);
    let number = |tag: &Attributes<'_>, name: &str| {
        tag.get(name).and_then(|number| number.parse::<u32>().ok())
    };
    walk(xml, |node| match node {
        Node::Start("Style", tag) => style = tag.get("ID").unwrap_or_default(),
        Node::Start("NumberFormat", tag) => {
            let code = tag.get("Format").unwrap_or_default();
            formats.insert(style.clone(), NumberFormat::new(named_format(&code)));
        }
        Node::Start("Worksheet", tag) => {
            (name, grid, is_hidden_sheet) =
                (tag.get("Name").unwrap_or_default(), Grid::default(), false);
            (row, column_definition) = (0, 0);
            column_style = HashMap::new();
        }
        Node::Start("Column", tag) => {
            let first = number(&tag, "Index")
                .map_or(column_definition, |index| index.saturating_sub(1))
                .min(MAX_COLUMNS);
            column_definition = first
                .saturating_add(1)
                .saturating_add(number(&tag, "Span").unwrap_or(0))
                .min(MAX_COLUMNS);
            if is_true(&tag, "Hidden") {
                grid.hidden.extend(first..column_definition);
            }
            if let Some(style) = tag.get("StyleID") {
                column_style
                    .extend((first..column_definition).map(|column| (column, style.clone())));
            }
        }
        Node::Start("Row", tag) => {
            row = number(&tag, "Index").unwrap_or(row.saturating_add(1));
            is_hidden = is_true(&tag, "Hidden");
            row_style = tag.get("StyleID").unwrap_or_default();
            next = 0;
        }
        Node::Start("Cell", tag) => {
            column = number(&tag, "Index")
                .map_or(next, |index| index.saturating_sub(1))
                .min(MAX_COLUMNS);
            let across = number(&tag, "MergeAcross").unwrap_or(0).min(MAX_COLUMNS);
            next = column + 1 + across;
            style = tag
                .get("StyleID")
                .or_else(|| column_style.get(&column).cloned())
                .unwrap_or_else(|| row_style.clone());
        }
        Node::Start("Comment", _) => is_comment = true,
        Node::End("Comment") => is_comment = false,
        Node::Start("Data", tag) if !is_comment => {
            (kind, is_value) = (tag.get("Type").unwrap_or_default(), true);
            value.clear();
        }
        Node::Text(text) if is_value => value.push_str(text),
        Node::End("Data") if is_value => {
            is_value = false;
            let general = NumberFormat::default();
            let format = formats.get(&style).unwrap_or(&general);
            let shown = match (&*kind, value.trim().parse::<f64>()) {
                ("Number", Ok(number)) => format.show(number, false),
                ("DateTime", _) => show_day(&value, format),
                ("Boolean", _) => if value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
                _ => format.show_text(&value),
            };
            if !is_hidden {
                grid.push(row, column, &shown);
            }
        }
        Node::Start("Visible", _) => {
            is_value = true;
            value.clear();
        }
        Node::End("Visible") => {
            is_value = false;
            is_hidden_sheet |= value.to_lowercase().contains("hidden");
        }
        Node::End("Worksheet") if !is_hidden_sheet => {
            std::mem::take(&mut grid).push_into(std::mem::take(&mut name), &mut draft);
        }
        _ => {}
    });
    draft.pages = u32::try_from(draft.parts.len()).ok();
    draft
}

/// Returns the code of a format that Excel 2003 names.
fn named_format(name: &str) -> &str {
    match name {
        "General Number" => "General",
        "Fixed" => "0.00",
        "Standard" | "Currency" | "Euro Currency" => "#,##0.00",
        "Percent" => "0.00%",
        "Scientific" => "0.00E+00",
        "Short Date" => "yyyy/m/d",
        "Medium Date" => "d-mmm-yy",
        "Long Date" => "yyyy\"年\"m\"月\"d\"日\"",
        "General Date" => "yyyy/m/d h:mm",
        "Short Time" => "h:mm",
        "Medium Time" => "h:mm AM/PM",
        "Long Time" => "h:mm:ss",
        code => code,
    }
}

/// The cells of a sheet that have text.
#[derive(Default)]
struct Grid {
    /// Row, column from 0, text.
    cells: Vec<(u32, u32, String)>,
    hidden: BTreeSet<u32>,
    /// First and last cells, column and row.
    merges: Vec<((u32, u32), (u32, u32))>,
    /// Text of what lies above the cells.
    below: String,
    bytes: usize,
    is_cut: bool,
}

impl Grid {
    fn push(&mut self, row: u32, column: u32, text: &str) {
        let text = text.trim();
        if self.bytes > MAX_TEXT_BYTES {
            self.is_cut = true;
        } else if !text.is_empty() && column < MAX_COLUMNS && !self.hidden.contains(&column) {
            self.bytes += text.len();
            self.cells
                .push((row, column, text.replace(['\r', '\n', '\t'], " ")));
        }
    }

    fn merge(&mut self, first: (u32, u32), last: (u32, u32)) {
        if self.merges.len() < MAX_MERGES {
            self.merges.push((first, last));
        }
    }

    /// Leaves out what lies under a cell that spans others: Excel does not show it.
    fn drop_covered(&mut self) {
        self.merges.sort_by_key(|((_, top), _)| *top);
        self.cells.sort_by_key(|(row, column, _)| (*row, *column));
        let mut next = 0;
        let mut open: Vec<((u32, u32), (u32, u32))> = Vec::new();
        let merges = &self.merges;
        self.cells.retain(|(row, column, _)| {
            while let Some(merge) = merges.get(next).filter(|((_, top), _)| top <= row) {
                open.push(*merge);
                next += 1;
            }
            open.retain(|(_, (_, bottom))| bottom >= row);
            !open.iter().any(|((left, top), (right, _))| {
                (left..=right).contains(&column) && (left, top) != (column, row)
            })
        });
    }

    /// Adds the rows to a draft, and what may be a title: a single cell above the others.
    fn push_into(mut self, name: String, draft: &mut Draft) {
        self.drop_covered();
        let columns: BTreeSet<u32> = self.cells.iter().map(|(_, column, _)| *column).collect();
        let mut places: HashMap<u32, usize> = HashMap::new();
        let (mut place, mut before) = (0, None);
        for column in columns {
            let visible_gap = before.map_or(0, |before| {
                let hidden = self.hidden.range(before + 1..column).count();
                (column - before) - u32::try_from(hidden).unwrap_or(0)
            });
            place += usize::try_from(visible_gap.min(MAX_EMPTY_COLUMNS + 1)).unwrap_or(1);
            places.insert(column, place);
            before = Some(column);
        }
        let mut text = String::new();
        let rows: Vec<_> = self.cells.chunk_by(|(a, ..), (b, ..)| a == b).collect();
        if draft.parts.is_empty() && rows.len() > 1 {
            let single = rows.iter().take(TITLE_ROWS).filter(|row| row.len() == 1);
            draft.headings.extend(single.map(|row| row[0].2.clone()));
        }
        for row in rows {
            let mut at = 0;
            for (_, column, cell) in row {
                let place = places.get(column).copied().unwrap_or(at);
                text.extend(std::iter::repeat_n('\t', place.saturating_sub(at)));
                at = place;
                text.push_str(cell);
            }
            text.push('\n');
            if text.len() > 2 * MAX_TEXT_BYTES {
                self.is_cut = true;
                break;
            }
        }
        text.push_str(&self.below);
        draft.is_cut |= self.is_cut;
        draft.push(Place::Sheet(name), text);
    }
}

/// Column, from 0, and row, from 1, of a cell's name such as `AB12`.
fn parse_place(place: &str) -> Option<(u32, u32)> {
    let place = place.trim().replace('$', "");
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, row) = place.split_at(letters);
    let mut column: u32 = 0;
    for letter in letters.bytes().take(4) {
        column = column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
    }
    let column = column
        .checked_sub(1)
        .filter(|column| *column < MAX_COLUMNS)?;
    Some((column, row.parse().ok()?))
}

fn is_true(tag: &Attributes<'_>, name: &str) -> bool {
    tag.get(name)
        .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

/// Whether a row or column has no height or width.
fn is_flat(tag: &Attributes<'_>, name: &str) -> bool {
    tag.get(name).and_then(|size| size.parse::<f64>().ok()) == Some(0.0)
}

/// Decodes characters that XML cannot have, such as `_x000D_`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("_x") {
        out.push_str(before);
        let escape = behind.split_at_checked(4).and_then(|(digits, behind)| {
            let is_code = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code)?;
            Some((code, behind.strip_prefix('_')?))
        });
        if let Some((code, behind)) = escape {
            // Half of a character outside the basic plane says nothing alone.
            out.extend(char::from_u32(code));
            rest = behind;
        } else {
            out.push_str("_x");
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_a_sheet_are_no_error() {
        let book = Book {
            strings: Vec::new(),
            formats: Vec::new(),
            is_1904: false,
        };
        let xml = b"<worksheet><sheetData><row r='4294967295'><c><v>1</v></c></row><row><c><v>2</v></c></row></sheetData></worksheet>";
        assert_eq!(read_sheet(xml, &book).cells.len(), 2);
        let xml = b"<Workbook><Worksheet Name='a'><Table><Column Index='9' Span='4294967295' Hidden='1'/>\
            <Row Index='4294967295'><Cell><Data Type='String'>x</Data></Cell></Row>\
            <Row><Cell><Data Type='String'>y</Data></Cell></Row></Table></Worksheet></Workbook>";
        assert_eq!(read_xml(xml).parts.len(), 1);
    }
}
