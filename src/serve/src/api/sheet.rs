//! Writes hits, at most [`HITS_MAX`], and comparisons as tables: CSV that spreadsheets open as UTF-8, or an Excel workbook.
//!
//! No cell is ever run as a formula, whatever the text of a page begins with.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rust_xlsxwriter::{Format, Workbook, XlsxError};

use crate::api::problem::Problem;
use crate::search::params::Params;
use crate::search::source::DocumentHit;
use crate::search::trends;
use crate::state::Server;

/// Longest name of a sheet, in characters, as Excel has it.
const NAME_CHARS_MAX: usize = 31;
/// Longest text of a cell, in characters, as Excel has it.
const CELL_CHARS_MAX: usize = 32_767;
/// Width of a column of texts, in characters.
const TEXT_WIDTH: f64 = 24.0;

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
    Empty,
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
                Cell::Text(text) => field(text),
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
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
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
    let (bold, percent) = (
        Format::new().set_bold(),
        Format::new().set_num_format("0.00%"),
    );
    for sheet in sheets {
        let page = book.add_worksheet();
        let name: String = sheet.name.chars().take(NAME_CHARS_MAX).collect();
        page.set_name(name)?;
        page.set_freeze_panes(1, 0)?;
        for (column, name) in (0..).zip(&sheet.columns) {
            page.write_string_with_format(0, column, cut(name), &bold)?;
            let texts = |row: &Vec<Cell>| matches!(row.get(usize::from(column)), Some(Cell::Text(text)) if text.len() > 12);
            if sheet.rows.iter().any(texts) {
                page.set_column_width(column, TEXT_WIDTH)?;
            }
        }
        for (at, row) in (1..).zip(&sheet.rows) {
            for (column, cell) in (0..).zip(row) {
                match cell {
                    Cell::Text(text) => page.write_string(at, column, cut(text))?,
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
        "published",
        "author",
        "source",
        "url",
        "reprints",
        "snippet",
        "id",
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
        hit.published.into(),
        hit.author.into(),
        hit.source.into(),
        Cell::Text(hit.url),
        Cell::Count(hit.duplicates),
        Cell::Text(hit.snippet.text),
        Cell::Text(hit.id),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ],
        };
        assert_eq!(
            csv(&sheet),
            "\u{feff}title,documents\r\n\"'=HYPERLINK(\"\"http://x\"\")\",3\r\n\"'+86,\n\"\"内\"\"\",0.250000\r\n油价 -3%,\r\n"
        );
        let book = workbook(&[sheet]).expect("a workbook");
        assert!(book.starts_with(b"PK"), "a zip file");
    }
}
