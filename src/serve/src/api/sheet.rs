//! Writes hits, at most [`HITS_MAX`], and comparisons as tables: CSV that spreadsheets open as UTF-8, or an Excel workbook.
//!
//! No cell is ever run as a formula, whatever the text of a page begins with.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::{Datelike, Timelike};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, XlsxError};

use crate::api::problem::Problem;
use crate::pages::view::outward;
use crate::search::params::Params;
use crate::search::source::DocumentHit;
use crate::search::trends;
use crate::state::Server;

/// Longest name of a sheet, in characters, as Excel has it.
const NAME_CHARS_MAX: usize = 31;
/// Longest text of a cell, in characters, as Excel has it.
const CELL_CHARS_MAX: usize = 32_767;
/// Longest address that Excel takes as a link, in characters.
const LINK_CHARS_MAX: usize = 2_000;
/// Width of a column of texts, and of one of times, in characters.
const TEXT_WIDTH: f64 = 24.0;
const TIME_WIDTH: f64 = 16.0;

/// A text of a cell that begins so is run as a formula, or may be once a spreadsheet has left out blanks, or has taken signs of full
/// width, which Chinese and Japanese input makes, for the narrow ones.
const FORMULA_STARTS: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// One table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    /// What a workbook calls it.
    pub(crate) name: String,
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// From 0 to 1.
    Share(f64),
    /// A time in ISO 8601, as far as its text is one.
    Time(String),
    /// An address.
    Link(String),
    Empty,
}

impl Cell {
    /// The time of a page, if it names one.
    pub(crate) fn time(text: Option<String>) -> Cell {
        text.map_or(Cell::Empty, Cell::Time)
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Cell {
        text.map_or(Cell::Empty, Cell::Text)
    }
}

/// An answer that is saved as `taojin-NAME.csv` or `.xlsx`: CSV has the first table only.
pub(crate) fn answer(name: &str, format: trends::Format, sheets: &[Sheet]) -> Response {
    let (kind, extension, body) = match format {
        trends::Format::Xlsx => match workbook(sheets) {
            Ok(bytes) => (
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "xlsx",
                bytes,
            ),
            Err(error) => {
                tracing::error!(%error, "workbook failed");
                return axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
        },
        _ => {
            let text = sheets.first().map(csv).unwrap_or_default();
            ("text/csv; charset=utf-8", "csv", text.into_bytes())
        }
    };
    let file = format!("attachment; filename=\"taojin-{name}.{extension}\"");
    let disposition = HeaderValue::from_str(&file);
    let mut response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    if let Ok(disposition) = disposition {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// RFC 4180, with the mark of UTF-8 that Excel needs.
pub(crate) fn csv(sheet: &Sheet) -> String {
    let mut text = String::from("\u{feff}");
    let header: Vec<String> = sheet.columns.iter().map(|name| field(name)).collect();
    text.push_str(&header.join(","));
    text.push_str("\r\n");
    for row in &sheet.rows {
        let fields: Vec<String> = row
            .iter()
            .map(|cell| match cell {
                Cell::Text(text) | Cell::Time(text) | Cell::Link(text) => field(text),
                Cell::Count(n) => n.to_string(),
                Cell::Share(share) => format!("{share:.6}"),
                Cell::Empty => String::new(),
            })
            .collect();
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A text as a field. An apostrophe before what a spreadsheet would take for a formula.
fn field(text: &str) -> String {
    let text = if text.starts_with(FORMULA_STARTS) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

fn workbook(sheets: &[Sheet]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let (bold, as_shown) = (Format::new().set_bold(), |form: &str| {
        Format::new().set_num_format(form)
    });
    let percent = as_shown("0.00%");
    let (day, minute) = (as_shown("yyyy-mm-dd"), as_shown("yyyy-mm-dd hh:mm"));
    for sheet in sheets {
        let page = book.add_worksheet();
        let name: String = sheet.name.chars().take(NAME_CHARS_MAX).collect();
        page.set_name(name)?;
        page.set_freeze_panes(1, 0)?;
        for (column, name) in (0..).zip(&sheet.columns) {
            page.write_string_with_format(0, column, cut(name), &bold)?;
            let texts = |row: &Vec<Cell>| matches!(row.get(usize::from(column)), Some(Cell::Text(text)) if text.len() > 12);
            let is_time =
                |row: &Vec<Cell>| matches!(row.get(usize::from(column)), Some(Cell::Time(_)));
            if sheet.rows.iter().any(texts) {
                page.set_column_width(column, TEXT_WIDTH)?;
            } else if sheet.rows.iter().any(is_time) {
                page.set_column_width(column, TIME_WIDTH)?;
            }
        }
        if let (Ok(last), Some(column)) = (
            u32::try_from(sheet.rows.len()),
            sheet.columns.len().checked_sub(1),
        ) {
            page.autofilter(0, 0, last, u16::try_from(column).unwrap_or(u16::MAX))?;
        }
        for (at, row) in (1..).zip(&sheet.rows) {
            for (column, cell) in (0..).zip(row) {
                match cell {
                    Cell::Text(text) => page.write_string(at, column, cut(text))?,
                    Cell::Time(text) => match excel_time(text) {
                        Some((time, has_clock)) => {
                            let format = if has_clock { &minute } else { &day };
                            page.write_datetime_with_format(at, column, time, format)?
                        }
                        None => page.write_string(at, column, cut(text))?,
                    },
                    Cell::Link(text) => match outward(text) {
                        Some(url) if url.chars().count() <= LINK_CHARS_MAX => {
                            page.write_url_with_text(at, column, url.as_str(), cut(text))?
                        }
                        _ => page.write_string(at, column, cut(text))?,
                    },
                    Cell::Count(n) => page.write_number(at, column, *n as f64)?,
                    Cell::Share(share) => {
                        page.write_number_with_format(at, column, *share, &percent)?
                    }
                    Cell::Empty => page,
                };
            }
        }
    }
    book.save_to_buffer()
}

/// A time as a spreadsheet has it, without its zone, and whether it has a time of day; `None` for a text that is no time.
fn excel_time(text: &str) -> Option<(ExcelDateTime, bool)> {
    let clock = text.get(11..16);
    let written = format!("{} {}", text.get(..10)?, clock.unwrap_or("00:00"));
    let time = chrono::NaiveDateTime::parse_from_str(&written, "%Y-%m-%d %H:%M").ok()?;
    let [month, day, hour, minute] = [time.month(), time.day(), time.hour(), time.minute()]
        .map(|number| u8::try_from(number).unwrap_or_default());
    let date = ExcelDateTime::from_ymd(u16::try_from(time.year()).ok()?, month, day).ok()?;
    let time = date.and_hms(u16::from(hour), minute, 0).ok()?;
    Some((time, clock.is_some()))
}

fn cut(text: &str) -> String {
    text.chars().take(CELL_CHARS_MAX).collect()
}

/// Most hits of a file; `taojin export` has no limit.
pub(crate) const HITS_MAX: usize = 1_000;
/// Hits that are requested at once.
const PAGE: usize = 100;

/// The first `limit` hits as a table, and as a second one what was asked and how many there are.
pub(crate) async fn hits_sheets(
    server: &Server,
    params: &Params,
    limit: usize,
) -> Result<Vec<Sheet>, Problem> {
    let page = PAGE.min(server.config.limit_max);
    let (mut rows, mut total) = (Vec::new(), 0);
    // What lies deeper than a search may turn is not repeated in its place.
    while rows.len() < limit && params.offset + rows.len() <= server.config.offset_max() {
        let wanted = Params {
            offset: params.offset + rows.len(),
            limit: page.min(limit - rows.len()),
            ..params.clone()
        };
        let found = server.search(wanted.search_request(false, false)).await?;
        total = found.total;
        if found.hits.is_empty() {
            break;
        }
        rows.extend(found.hits.into_iter().map(row));
    }
    let columns = [
        "title",
        "site",
        "site_title",
        "published",
        "author",
        "source",
        "url",
        "reprints",
        "snippet",
        "id",
        "filetype",
    ];
    let count = |n: usize| Cell::Count(u64::try_from(n).unwrap_or(u64::MAX));
    let about = [
        ("query", Cell::Text(params.text.clone())),
        ("documents that match", Cell::Count(total)),
        ("rows in this file", count(rows.len())),
        ("most rows of a file", count(HITS_MAX)),
    ];
    let about = about.map(|(name, cell)| vec![Cell::Text(name.to_owned()), cell]);
    Ok(vec![
        Sheet {
            name: "hits".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows,
        },
        Sheet {
            name: "query".to_owned(),
            columns: ["what", "value"].map(str::to_owned).into(),
            rows: about.into(),
        },
    ])
}

fn row(hit: DocumentHit) -> Vec<Cell> {
    vec![
        Cell::Text(hit.title.text),
        hit.site.into(),
        hit.site_title.into(),
        Cell::time(hit.published),
        hit.author.into(),
        hit.source.into(),
        Cell::Link(hit.url),
        Cell::Count(hit.reprints.duplicates),
        Cell::Text(hit.snippet.text),
        Cell::Text(hit.id),
        hit.file.map(|file| file.format).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_pages_become_dates() {
        for (text, number) in [
            ("2026-05-01", Some((46_143.0, false))),
            ("2026-05-01T12:00:00+08:00", Some((46_143.5, true))),
            ("2026-05-01 06:00", Some((46_143.25, true))),
            ("2026-02-31", None),
            ("昨天 08:30", None),
            ("1066-10-14", None),
        ] {
            let time = excel_time(text).map(|(time, has_clock)| (time.to_excel(), has_clock));
            assert_eq!(time, number, "{text}");
        }
    }

    #[test]
    fn nothing_becomes_a_formula_and_fields_keep_their_bounds() {
        let text = |text: &str| Cell::Text(text.to_owned());
        let sheet = Sheet {
            name: "hits".to_owned(),
            columns: vec!["title".to_owned(), "documents".to_owned()],
            rows: vec![
                vec![text("=HYPERLINK(\"http://x\")"), Cell::Count(3)],
                vec![text("+86,\n\"内\""), Cell::Share(0.25)],
                vec![text("油价 -3%"), Cell::Empty],
                vec![text("-3.5"), Cell::Count(0)],
            ],
        };
        assert_eq!(
            csv(&sheet),
            "\u{feff}title,documents\r\n\"'=HYPERLINK(\"\"http://x\"\")\",3\r\n\"'+86,\n\"\"内\"\"\",0.250000\r\n油价 -3%,\r\n'-3.5,0\r\n"
        );
        let book = workbook(&[sheet]).expect("a workbook");
        assert!(book.starts_with(b"PK"), "a zip file");
    }

    #[test]
    fn field_guards_signs_of_any_width() {
        for start in ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\n', '\r'] {
            let written = field(&format!("{start}1+1"));
            assert_eq!(written.trim_matches('"'), format!("'{start}1+1"));
        }
        for plain in ["1＝1", "页岩气", "（＋3%）", "'＝1", ""] {
            assert_eq!(field(plain), plain);
        }
    }
}
