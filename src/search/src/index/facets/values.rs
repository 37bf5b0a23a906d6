//! Values of fields that documents are counted by next to their site: author, source, kind, and what pages label.

use serde::Serialize;
use taojin_extract::{Document, Typed};
use utoipa::ToSchema;

use crate::analyze::normalize;
use crate::index::rank::labels::name_of;
use crate::index::rank::plan::Plan;
use crate::index::schema::Column;

/// What stands between the name of a field and the value.
const BETWEEN: char = '\u{1f}';
/// Longest value, in characters: a longer one is a text.
const VALUE_CHARS: usize = 40;
/// Labels of a document that are counted.
const LABELS: usize = 12;
/// Fields of a result, and values of each.
const FIELDS: usize = 7;
const VALUES: usize = 8;
/// Values that are looked at, most frequent first.
pub(crate) const MOST: usize = 2_000;

/// The fields that every document may have, in the order in which they are shown.
const COMMON: [&str; 4] = ["author", "source", "kind", FILE_TYPE];
/// What a file is that a document was read from.
const FILE_TYPE: &str = "filetype";

/// Documents of a result by the values of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldCounts {
    /// `author`, `source`, `kind`, `filetype`, or a label of pages such as 发布机构.
    pub field: String,
    /// The most frequent values.
    pub values: Vec<ValueCount>,
}

/// Documents with one value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ValueCount {
    /// As the pages have it.
    pub value: String,
    /// How many.
    pub documents: u64,
}

/// The values of a document as terms of the index. Numbers and days are not counted: hardly two documents have the same.
pub(crate) fn terms_of(document: &Document) -> Vec<String> {
    let is_counted = |value: &str| {
        let chars = value.chars().count();
        (1..=VALUE_CHARS).contains(&chars) && !value.contains(BETWEEN)
    };
    let common = [
        document.author.as_deref(),
        document.source.as_deref(),
        Some(document.kind.name()),
        document.file.as_ref().map(|file| file.format.as_str()),
    ];
    let common = COMMON.into_iter().zip(common);
    let common = common.filter_map(|(field, value)| Some((field.to_owned(), value?.trim())));
    let labels = document.meta.iter();
    let labels = labels.map(|(label, value)| (name_of(label), value.trim()));
    let labels = labels.filter(|(label, value)| {
        !COMMON.contains(&label.as_str()) && is_counted(label) && Typed::parse(value).is_none()
    });
    let all = common.chain(labels.take(LABELS));
    let all = all.filter(|(_, value)| is_counted(value));
    all.map(|(field, value)| term_of(&field, value)).collect()
}

fn term_of(field: &str, value: &str) -> String {
    format!("{field}{BETWEEN}{value}")
}

/// The documents that were read from files of a type, `pdf`.
pub(crate) fn of_file_type(file_type: &str) -> Plan {
    let value = normalize(file_type);
    let value = value.trim().trim_start_matches('.');
    Plan::Term(Column::Values, term_of(FILE_TYPE, value))
}

/// Counted terms by their fields: the common ones, then the labels that most documents have. A field whose every value is of one
/// document narrows nothing and is left out.
pub(crate) fn by_field(counted: Vec<(String, u64)>) -> Vec<FieldCounts> {
    let mut fields: Vec<(u64, FieldCounts)> = Vec::new();
    for (term, documents) in counted {
        let Some((field, value)) = term.split_once(BETWEEN) else {
            continue;
        };
        let known = fields.iter().position(|(_, known)| known.field == field);
        let at = known.unwrap_or(fields.len());
        if known.is_none() {
            let field = field.to_owned();
            let values = Vec::new();
            fields.push((0, FieldCounts { field, values }));
        }
        let (sum, counts) = &mut fields[at];
        *sum += documents;
        if counts.values.len() < VALUES {
            let value = value.to_owned();
            counts.values.push(ValueCount { value, documents });
        }
    }
    fields.retain(|(_, counts)| counts.values.iter().any(|value| value.documents > 1));
    let place = |field: &str| COMMON.iter().position(|common| *common == field);
    fields.sort_by_key(|(sum, counts)| {
        let place = place(&counts.field).unwrap_or(COMMON.len());
        (place, std::cmp::Reverse(*sum), counts.field.clone())
    });
    fields.truncate(FIELDS);
    fields.into_iter().map(|(_, counts)| counts).collect()
}
