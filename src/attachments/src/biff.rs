//! The records of old Excel workbooks (BIFF 5 to 8), rewritten so that cells hold what Excel shows of them.
//!
//! The crate that reads workbooks writes numbers without their formats. Here each number becomes the text of its cell, and what is not
//! shown is left out: hidden sheets, rows and columns, comments. The rest of the stream stays as it is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{Cursor, Read as _, Write as _};

use encoding_rs::{Encoding, GBK, WINDOWS_1252};
use taojin_extract::page::decode_text;

use crate::number_format::{NumberFormat, built_in};
use crate::rtf::code_page;

const FORMULA: u16 = 0x0006;
const NOTE: u16 = 0x001c;
const DATE_MODE: u16 = 0x0022;
const FILE_PASS: u16 = 0x002f;
const CODE_PAGE: u16 = 0x0042;
const COLUMN_INFO: u16 = 0x007d;
const BOUND_SHEET: u16 = 0x0085;
const MULTIPLE_RK: u16 = 0x00bd;
const MULTIPLE_BLANK: u16 = 0x00be;
const RICH_STRING: u16 = 0x00d6;
const XF: u16 = 0x00e0;
const MERGED_CELLS: u16 = 0x00e5;
const LABEL_SST: u16 = 0x00fd;
const BLANK: u16 = 0x0201;
const NUMBER: u16 = 0x0203;
const LABEL: u16 = 0x0204;
const BOOLEAN_OR_ERROR: u16 = 0x0205;
const ROW: u16 = 0x0208;
const RK: u16 = 0x027e;
const FORMAT: u16 = 0x041e;
const BEGIN: u16 = 0x0809;
/// Version of Excel 97 to 2003, whose strings are Unicode.
const UNICODE_VERSION: u16 = 0x0600;
/// The code page in which the first versions of Excel 95 wrote Unicode.
const UTF_16: u16 = 1200;
/// Columns of a sheet.
const COLUMNS: u16 = 256;

/// Returns the compound file with the values as they are shown; `None` if it is no workbook of these versions.
pub(crate) fn show_values(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes.to_vec())).ok()?;
    let name = ["/Workbook", "/Book"]
        .into_iter()
        .find(|name| file.exists(name))?;
    let mut stream = Vec::new();
    file.open_stream(name).ok()?.read_to_end(&mut stream).ok()?;
    let shown = Workbook::parse(&stream)?.rewrite(&stream);
    file.create_stream(name).ok()?.write_all(&shown).ok()?;
    file.flush().ok()?;
    Some(file.into_inner().into_inner())
}

/// A record: its place in the stream, its kind, its data.
type Record<'a> = (usize, u16, &'a [u8]);

fn records(stream: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let kind = number(stream, start)?;
        let length = usize::from(number(stream, start + 2)?);
        let data = stream.get(start + 4..start + 4 + length)?;
        at = start + 4 + length;
        Some((start, kind, data))
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn float(bytes: &[u8], at: usize) -> Option<f64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(f64::from_le_bytes(bytes.try_into().ok()?))
}

/// What the whole workbook says of its cells.
struct Workbook {
    is_unicode: bool,
    encoding: &'static Encoding,
    is_1904: bool,
    /// Number of the format of each style.
    styles: Vec<u16>,
    formats: HashMap<u16, NumberFormat>,
}

impl Workbook {
    fn parse(stream: &[u8]) -> Option<Self> {
        let (_, kind, begin) = records(stream).next()?;
        if kind != BEGIN {
            return None;
        }
        let mut this = Self {
            is_unicode: number(begin, 0)? >= UNICODE_VERSION,
            encoding: WINDOWS_1252,
            is_1904: false,
            styles: Vec::new(),
            formats: HashMap::new(),
        };
        let mut codes: HashMap<u16, &[u8]> = HashMap::new();
        for (_, kind, data) in records(stream) {
            match kind {
                FILE_PASS => return None,
                CODE_PAGE => {
                    let page = number(data, 0).unwrap_or_default();
                    this.encoding = if page == UTF_16 {
                        GBK
                    } else {
                        code_page(page.into())
                    };
                }
                DATE_MODE => this.is_1904 = number(data, 0) == Some(1),
                XF => this.styles.push(number(data, 2).unwrap_or_default()),
                FORMAT => {
                    codes.insert(
                        number(data, 0).unwrap_or_default(),
                        data.get(2..).unwrap_or_default(),
                    );
                }
                _ => {}
            }
        }
        let used: HashSet<u16> = this.styles.iter().copied().collect();
        for format in used {
            let code = codes.get(&format).map(|code| this.decode(code));
            let parsed = NumberFormat::new(code.as_deref().unwrap_or(built_in(format)));
            this.formats.insert(format, parsed);
        }
        Some(this)
    }

    /// Decodes the string of a format: its length, and in Unicode a byte that tells its form, come first.
    fn decode(&self, string: &[u8]) -> String {
        match (self.is_unicode, string) {
            (true, [_, _, form, text @ ..]) if form & 1 == 1 => {
                decode_text(&[b"\xff\xfe", text].concat(), None)
            }
            (true, [_, _, _, text @ ..]) => text.iter().map(|byte| char::from(*byte)).collect(),
            (false, [_, text @ ..]) => self
                .encoding
                .decode_without_bom_handling(text)
                .0
                .into_owned(),
            _ => String::new(),
        }
    }

    fn rewrite(&self, stream: &[u8]) -> Vec<u8> {
        let mut out = Rewriting {
            bytes: Vec::with_capacity(stream.len()),
            ..Rewriting::default()
        };
        let mut taken = 0;
        for (start, kind, data) in records(stream) {
            taken = start + 4 + data.len();
            self.rewrite_record(start, kind, data, &mut out);
        }
        out.bytes
            .extend_from_slice(stream.get(taken..).unwrap_or_default());
        // Sheets have moved.
        for at in out.sheets {
            let Some(field) = out.bytes.get_mut(at..at + 4) else {
                continue;
            };
            let before = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
            if let Some(after) = out.begins.get(&before) {
                field.copy_from_slice(&after.to_le_bytes());
            }
        }
        out.bytes
    }

    fn rewrite_record(&self, start: usize, kind: u16, data: &[u8], out: &mut Rewriting) {
        let place = (
            number(data, 0).unwrap_or_default(),
            number(data, 2).unwrap_or_default(),
        );
        match kind {
            BEGIN => {
                let places = (
                    u32::try_from(start).ok(),
                    u32::try_from(out.bytes.len()).ok(),
                );
                if let (Some(before), Some(after)) = places {
                    out.begins.insert(before, after);
                }
                // A chart inside of a sheet has no rows.
                if number(data, 2) == Some(0x0010) {
                    out.hidden_rows.clear();
                    out.hidden_columns.clear();
                }
                out.push(kind, data);
            }
            BOUND_SHEET if data.get(4).is_some_and(|state| state & 3 != 0) => {}
            BOUND_SHEET => {
                out.sheets.push(out.bytes.len() + 4);
                out.push(kind, data);
            }
            ROW => {
                if number(data, 12).is_some_and(|flags| flags & 0x20 != 0) {
                    out.hidden_rows.insert(place.0);
                }
                out.push(kind, data);
            }
            COLUMN_INFO => {
                let is_hidden = number(data, 8).is_some_and(|flags| flags & 1 == 1)
                    || number(data, 4) == Some(0);
                if is_hidden {
                    out.hidden_columns
                        .extend(place.0..=place.1.min(COLUMNS - 1));
                }
                out.push(kind, data);
            }
            NOTE | BLANK | MULTIPLE_BLANK => {}
            MERGED_CELLS => {
                let mut moved = data.to_vec();
                for range in moved.get_mut(2..).unwrap_or_default().chunks_exact_mut(8) {
                    for at in [4, 6] {
                        let column = out.column(u16::from_le_bytes([range[at], range[at + 1]]));
                        range[at..at + 2].copy_from_slice(&column.to_le_bytes());
                    }
                }
                out.push(kind, &moved);
            }
            MULTIPLE_RK => {
                for (cell, column) in data
                    .get(4..)
                    .unwrap_or_default()
                    .chunks_exact(6)
                    .zip(place.1..)
                {
                    let value = rk(cell, 2).unwrap_or_default();
                    self.push_number(
                        (place.0, column),
                        number(cell, 0).unwrap_or_default(),
                        value,
                        out,
                    );
                }
            }
            NUMBER | RK | FORMULA | BOOLEAN_OR_ERROR | LABEL | LABEL_SST | RICH_STRING => {
                let style = number(data, 4).unwrap_or_default();
                let value = data.get(6..14).unwrap_or_default();
                match (kind, value) {
                    (FORMULA, [1, _, value, .., 0xff, 0xff]) => {
                        self.push_text(place, style, show_boolean(*value), out)
                    }
                    (FORMULA, [2, _, value, .., 0xff, 0xff]) => {
                        self.push_text(place, style, show_error(*value), out)
                    }
                    (BOOLEAN_OR_ERROR, _) => {
                        let (value, is_error) = (
                            data.get(6).copied().unwrap_or_default(),
                            data.get(7) == Some(&1),
                        );
                        let text = if is_error {
                            show_error(value)
                        } else {
                            show_boolean(value)
                        };
                        self.push_text(place, style, text, out);
                    }
                    (FORMULA, [.., 0xff, 0xff]) | (LABEL | LABEL_SST | RICH_STRING, _) => {
                        out.push_cell(place, kind, data.get(4..).unwrap_or_default());
                    }
                    (RK, _) => self.push_number(place, style, rk(data, 6).unwrap_or_default(), out),
                    _ => self.push_number(place, style, float(data, 6).unwrap_or_default(), out),
                }
            }
            _ => out.push(kind, data),
        }
    }

    fn push_number(&self, place: (u16, u16), style: u16, value: f64, out: &mut Rewriting) {
        let format = self
            .styles
            .get(usize::from(style))
            .and_then(|format| self.formats.get(format));
        let shown = format
            .unwrap_or(&NumberFormat::default())
            .show(value, self.is_1904);
        self.push_text(place, style, &shown, out);
    }

    fn push_text(&self, place: (u16, u16), style: u16, text: &str, out: &mut Rewriting) {
        let mut data = style.to_le_bytes().to_vec();
        if self.is_unicode {
            let units: Vec<u16> = text.encode_utf16().collect();
            data.extend(u16::try_from(units.len()).unwrap_or_default().to_le_bytes());
            data.push(1);
            data.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        } else {
            let bytes = self.encoding.encode(text).0;
            data.extend(u16::try_from(bytes.len()).unwrap_or_default().to_le_bytes());
            data.extend_from_slice(&bytes);
        }
        out.push_cell(place, LABEL, &data);
    }
}

/// The new stream.
#[derive(Default)]
struct Rewriting {
    bytes: Vec<u8>,
    /// Where the fields are that tell where sheets begin.
    sheets: Vec<usize>,
    /// Where sheets began and begin.
    begins: HashMap<u32, u32>,
    hidden_rows: HashSet<u16>,
    hidden_columns: BTreeSet<u16>,
}

impl Rewriting {
    fn push(&mut self, kind: u16, data: &[u8]) {
        let length = u16::try_from(data.len()).unwrap_or_default();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
        self.bytes
            .extend_from_slice(data.get(..usize::from(length)).unwrap_or_default());
    }

    /// Adds a cell if it is shown; `data` is what follows its place.
    fn push_cell(&mut self, (row, column): (u16, u16), kind: u16, data: &[u8]) {
        if self.hidden_rows.contains(&row) || self.hidden_columns.contains(&column) {
            return;
        }
        let place = [row.to_le_bytes(), self.column(column).to_le_bytes()].concat();
        self.push(kind, &[&place, data].concat());
    }

    /// Returns the number of a column among those that are shown.
    fn column(&self, column: u16) -> u16 {
        let hidden = self.hidden_columns.range(..column).count();
        column - u16::try_from(hidden).unwrap_or_default().min(column)
    }
}

/// Returns a number in the short form: the upper half of a float or a whole number, either perhaps a hundred times too large.
fn rk(bytes: &[u8], at: usize) -> Option<f64> {
    let raw = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    let value = if raw & 2 == 0 {
        f64::from_bits(u64::from(raw & !3) << 32)
    } else {
        f64::from(raw.cast_signed() >> 2)
    };
    Some(if raw & 1 == 0 { value } else { value / 100.0 })
}

fn show_boolean(value: u8) -> &'static str {
    if value == 0 { "FALSE" } else { "TRUE" }
}

fn show_error(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}
